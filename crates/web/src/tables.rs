//! The pages below the overview: from a view of the crawl to blocks.

use crate::figures::{bytes, count, percent, rate, time};
use crate::overview::share_bar;
use crate::page::{
    Bar, Cell, CellText, Field, HtmlForm, HtmlTable, NamedNumber, PageBlock, encoded,
};
use crate::steer;
use rhumb_node::watch::status::CrawlStatus;
use rhumb_node::watch::view::{
    AlikeView, ClassLine, FrontierView, HostCell, HostsView, WhatIfView,
};
use serde_json::Value;
use std::path::Path;

pub fn figure(name: &str, value: String) -> NamedNumber {
    NamedNumber { id: "", name: name.to_owned(), value }
}

pub fn of_first(rows: Option<u64>, what: &str) -> Vec<PageBlock> {
    let note = |rows| PageBlock::Note(format!("Of the first {} {what} alone.", count(rows)));
    rows.map(note).into_iter().collect()
}

pub fn frontier(view: &FrontierView) -> Vec<PageBlock> {
    let mut lead = format!(
        "{} hosts have work: {} are due, {} wait for a moment, {} fail and rest.",
        count(view.hosts_with_work),
        count(view.hosts_due),
        count(view.hosts_waiting),
        count(view.hosts_resting)
    );
    if view.is_awake {
        lead += &format!(
            " {} are awake, with the heads of their queues in memory.",
            count(view.hosts_awake)
        );
    }
    let cells = view.cells.iter().map(cell).collect();
    let (heading, legend) = match view.is_awake {
        true => (
            "Hosts awake",
            "Full: due. Outlined: being asked. Filling up: waits out its delay. Dotted: its \
             robots.txt is asked for. Grey: held up, or nothing of it is due. Orange: fails.",
        ),
        false => (
            "Hosts, the first to be due first",
            "Full: due. Filling up: waits out its delay. Grey: nothing of it is due. Orange: \
             fails and rests.",
        ),
    };
    let mut blocks = vec![
        PageBlock::Lead(lead),
        PageBlock::Heading(heading.to_owned()),
        PageBlock::Grid(cells),
        PageBlock::Note(legend.to_owned()),
    ];
    blocks.extend(of_first(view.hosts_of_first, "hosts"));
    if !view.fronts.is_empty() {
        blocks.push(PageBlock::Heading("Front queues: hosts that are due, by class".to_owned()));
        blocks.push(PageBlock::Bars(fronts(view)));
    }
    let all = view.classes.iter().sum::<u64>().max(1);
    let classes = view.classes.iter().enumerate().filter(|(_, urls)| **urls > 0);
    let bars = classes.map(|(class, urls)| Bar {
        value: count(*urls),
        ..share_bar(&format!("class {class}"), *urls as f64 / all as f64, "accent")
    });
    blocks.push(PageBlock::Heading("URLs that wait, the best class first".to_owned()));
    blocks.push(PageBlock::Bars(bars.collect()));
    blocks.extend(of_first(view.urls_of_first, "URLs"));
    let rows = view.sleeping.iter().map(|host| {
        let link = CellText::link(&host.host, "/host", "key");
        vec![link, CellText::number(time(host.wait_s)), CellText::number(count(host.queued))]
    });
    blocks.push(PageBlock::Heading("Hosts asleep until a moment, the first first".to_owned()));
    blocks.push(PageBlock::Table(HtmlTable {
        head: vec!["host", "due in", "URLs"],
        rows: rows.collect(),
        empty: "No host sleeps until a moment.",
    }));
    blocks
}

fn cell(cell: &HostCell) -> Cell {
    let doing = match (cell.state.as_str(), cell.holdup.as_deref()) {
        ("held", Some(holdup)) => format!("held up: {}", holdup.replace('_', " ")),
        ("robots", _) => "its robots.txt is asked for".to_owned(),
        (state, _) => state.replace('_', " "),
    };
    let wait =
        if cell.wait_s > 0.0 { format!(" for {}", time(cell.wait_s)) } else { String::new() };
    let state = match cell.state.as_str() {
        "due" => "due",
        "fetching" => "fetching",
        "robots" => "robots",
        "waiting" => "waiting",
        "resting" | "backing_off" => "resting",
        _ => "held",
    };
    let millis = |seconds: f64| (1000.0 * seconds.clamp(0.0, 1e6)) as u64;
    Cell {
        title: format!("{}: {} URLs, {doing}{wait}", cell.host, count(cell.queued)),
        state,
        href: format!("/host?key={}", encoded(&cell.host)),
        filled: filled(cell.wait_s, cell.delay_s),
        wait_ms: millis(cell.wait_s),
        delay_ms: millis(cell.delay_s),
    }
}

fn fronts(view: &FrontierView) -> Vec<Bar> {
    let most = view.fronts.iter().map(|line| line.due + line.asleep).max().unwrap_or(0).max(1);
    let bar = |line: &ClassLine| Bar {
        value: match line.asleep {
            0 => count(line.due),
            asleep => format!("{} and {} asleep", count(line.due), count(asleep)),
        },
        ..share_bar(
            &format!("class {}", line.class),
            (line.due + line.asleep) as f64 / most as f64,
            "accent",
        )
    };
    view.fronts.iter().map(bar).collect()
}

/// How much of its delay a host still has to wait, of 20.
fn filled(wait_s: f64, delay_s: f64) -> u32 {
    let share = (wait_s / delay_s.max(1e-3)).clamp(0.0, 1.0);
    (20.0 * share).ceil() as u32
}

pub fn hosts(view: &HostsView) -> Vec<PageBlock> {
    let rows = view.hosts.iter().map(|host| {
        vec![
            CellText::link(&host.host, "/host", "key"),
            CellText::number(count(host.pages)),
            CellText::number(count(host.queued)),
            CellText::number(bytes(host.bytes)),
            CellText::number(format!("{} ms", count(host.last_took_ms))),
            CellText::number(time(host.delay_s)),
            CellText::plain(host.delay_cause.clone()),
            CellText::plain(match &host.failing {
                Some(kind) => format!("{kind}, {} in a row", host.failures),
                None => String::new(),
            }),
        ]
    });
    let table = HtmlTable {
        head: vec!["host", "pages", "wait", "bytes", "last answer", "delay", "set by", "fails"],
        rows: rows.collect(),
        empty: "No host of that kind.",
    };
    let by = ["pages", "queued", "slowest", "failures", "bytes"];
    let orders = by.map(|by| CellText::way(&format!("by {by}"), format!("/hosts?by={by}")));
    let mut blocks = vec![PageBlock::Links(orders.to_vec()), PageBlock::Table(table)];
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks
}

/// None for what is not there.
pub fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(values) if values.is_empty() => None,
        Value::Array(values) => {
            Some(values.iter().filter_map(as_text).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let parts = fields.iter().filter_map(|(name, value)| {
                Some(format!("{}: {}", name.replace('_', " "), as_text(value)?))
            });
            Some(parts.collect::<Vec<_>>().join("; "))
        }
        other => Some(other.to_string()),
    }
}

pub fn duplicates(view: &AlikeView) -> Vec<PageBlock> {
    let mut blocks = vec![PageBlock::Lead(format!(
        "{} pages are repeated by others.",
        count(view.clusters.len() as u64)
    ))];
    blocks.extend(of_first(view.of_first, "URLs"));
    let rows = view.clusters.iter().flat_map(|cluster| {
        let leader = vec![
            CellText::link(&cluster.leader, "/url", "url"),
            CellText::number(count(cluster.exact)),
            CellText::number(count(cluster.near)),
            CellText::plain("leads"),
        ];
        let members = cluster.members.iter().map(|member| {
            let link = CellText::link(&member.url, "/url", "url");
            let none = CellText::plain("");
            let (a, b) = (encoded(&cluster.leader), encoded(&member.url));
            let beside = CellText::way(&percent(member.resemblance), format!("/pair?a={a}&b={b}"));
            vec![link, none.clone(), none, beside]
        });
        std::iter::once(leader).chain(members)
    });
    blocks.push(PageBlock::Table(HtmlTable {
        head: vec!["page", "exact copies", "nearly the same", "alike, side by side"],
        rows: rows.collect(),
        empty: "No page repeats another.",
    }));
    blocks.push(PageBlock::Heading("Mirrors: hosts that hold the same pages".to_owned()));
    let rows = view.mirrors.iter().map(|mirror| {
        vec![
            CellText::link(&mirror.a, "/host", "key"),
            CellText::link(&mirror.b, "/host", "key"),
            CellText::number(count(mirror.pages)),
            CellText::number(percent(mirror.share)),
        ]
    });
    blocks.push(PageBlock::Table(HtmlTable {
        head: vec!["host", "and host", "pages in common", "of the smaller one"],
        rows: rows.collect(),
        empty: "No two hosts have enough pages in common.",
    }));
    blocks
}

pub fn freshness(status: &CrawlStatus) -> Vec<PageBlock> {
    let report = &status.report;
    let Some(kept) = &report.collection else {
        let what = "This crawl visits each page once. With --continuous it learns how often \
                    pages change, and places visits where they pay.";
        return vec![PageBlock::Lead(what.to_owned())];
    };
    let figures = vec![
        figure("pages kept fresh", count(kept.pages)),
        figure("believed fresh", percent(kept.freshness)),
        figure("mean age of copies", time(kept.age_s)),
        figure("changes unseen, a page", format!("{:.2}", kept.delay)),
        figure("visits come late by", time(kept.late_s)),
        figure("requests so far", count(kept.asked)),
        figure(
            "budget",
            format!("{} in {}", count(kept.budget.requests), time(kept.budget.period_s)),
        ),
        figure("asked of it", count(kept.budget.asked)),
        figure("changes seen", count(kept.changes_seen)),
        figure("changes announced", count(kept.announced)),
    ];
    let rows = report.most_overdue.iter().filter_map(|page| {
        let value = serde_json::to_value(page).ok()?;
        let url = value.get("url")?.as_str()?.to_owned();
        let rest = value.as_object()?.iter().filter(|(name, _)| *name != "url");
        let words = rest.filter_map(|(name, value)| {
            Some(format!("{}: {}", name.replace('_', " "), as_text(value)?))
        });
        Some(vec![
            CellText::link(&url, "/url", "url"),
            CellText::plain(words.collect::<Vec<_>>().join("; ")),
        ])
    });
    let used = kept
        .budget
        .used
        .map(|used| PageBlock::Bars(vec![share_bar("used of the budget so far", used, "accent")]));
    let mut blocks = vec![PageBlock::Figures(figures)];
    blocks.extend(used);
    blocks.extend([
        PageBlock::Note("Beliefs are estimated from a sample of the pages.".to_owned()),
        PageBlock::Heading("The most overdue".to_owned()),
        PageBlock::Table(HtmlTable {
            head: vec!["page", ""],
            rows: rows.collect(),
            empty: "No page is overdue.",
        }),
    ]);
    blocks
}

fn try_form(view: &WhatIfView) -> PageBlock {
    PageBlock::Form(HtmlForm {
        action: "/what-if",
        fields: vec![
            Field {
                name: "exclude",
                label: "what if URLs were excluded that match",
                value: view.exclude.clone().unwrap_or_default(),
                hint: r"\?sort=",
            },
            Field {
                name: "delay",
                label: "what if --delay were, in seconds",
                value: view.delay_s.map(|delay| delay.to_string()).unwrap_or_default(),
                hint: "0.5",
            },
        ],
        button: "Try",
    })
}

pub fn what_if(view: &WhatIfView, form: Option<&str>, dir: &Path) -> Vec<PageBlock> {
    let mut blocks = vec![try_form(view)];
    if let Some(mistake) = &view.mistake {
        blocks.push(PageBlock::Lead(format!("That is no pattern: {mistake}.")));
    } else if view.exclude.as_deref().is_some_and(|pattern| !pattern.is_empty()) {
        let share = view.queued_matched as f64 / view.queued.max(1) as f64;
        blocks.push(PageBlock::Lead(format!(
            "{} of {} URLs that wait would be refused ({}); {} pages of the kind were fetched \
             already.",
            count(view.queued_matched),
            count(view.queued),
            percent(share),
            count(view.fetched_matched)
        )));
        blocks.extend(view.sampled.map(|urls| {
            PageBlock::Note(format!(
                "Of {} URLs in {} places all over the store: there are too many to try all.",
                count(urls),
                count(view.places)
            ))
        }));
        if let (Some(now), Some(then)) = (view.coverage_ceiling, view.coverage_ceiling_then) {
            let about = if view.coverage_is_estimated { "about " } else { "" };
            blocks.push(PageBlock::Lead(format!(
                "Coverage could then become {about}{} at most, instead of {}.",
                percent(then),
                percent(now)
            )));
        }
        let rows = view.examples.iter().map(|url| vec![CellText::link(url, "/url", "url")]);
        let table = HtmlTable { head: vec!["some of them"], rows: rows.collect(), empty: "" };
        if let (Some(secret), Some(pattern)) = (form, &view.exclude) {
            let apply = steer::button(secret, "exclude", pattern, "Exclude these");
            blocks.push(PageBlock::Hands(vec![apply]));
        }
        if view.queued_matched > 0 {
            blocks.push(PageBlock::Table(table));
        }
    }
    if let (Some(then), Some(needs)) = (view.ceiling_per_s_then, view.needs_s_then) {
        blocks.push(PageBlock::Lead(format!(
            "At that delay {} would be the most instead of {}; the queue would need at least {} \
             instead of {}.",
            rate(then),
            rate(view.ceiling_per_s),
            time(needs),
            time(view.needs_s)
        )));
        let delay = view.delay_s.unwrap_or_default();
        blocks.push(PageBlock::Note(format!(
            "To apply it, end the run and say: rhumb crawl --dir {} --delay {delay}s",
            dir.display()
        )));
    }
    blocks.push(PageBlock::Note("Nothing is changed by trying.".to_owned()));
    blocks
}
