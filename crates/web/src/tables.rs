//! The pages below the overview: from a view of the crawl to blocks.

use crate::figures::{bytes, count, percent, rate, time};
use crate::overview::share_bar;
use crate::page::{Bar, Block, Bubble, Cell, Field, Figure, Form, Table, Text, encoded};
use rhumb_node::watch::status::{Status, UrlStatus};
use rhumb_node::watch::view::{
    AlikeView, FrontierView, HostView, HostsView, SpeedView, WhatIfView,
};
use serde_json::Value;

/// Hosts that are drawn.
const BUBBLES_MAX: usize = 200;
/// Room that the bubbles fill, of a picture of 1000 × 700.
const BUBBLES_AREA: f64 = 260_000.0;
/// Where a label can be read.
const LABEL_RADIUS_MIN: f64 = 28.0;

fn figure(name: &str, value: String) -> Figure {
    Figure { id: "", name: name.to_owned(), value }
}

fn of_first(rows: Option<u64>, what: &str) -> Vec<Block> {
    let note = |rows| Block::Note(format!("Of the first {} {what} alone.", count(rows)));
    rows.map(note).into_iter().collect()
}

pub fn speed(view: &SpeedView, status: &Status) -> Vec<Block> {
    let now = status.report.run.pages_per_s_now;
    let lead = if view.hosts_with_work == 0 {
        let why = status.why_nothing_is_fetched.as_deref().unwrap_or("no host has work");
        format!("Nothing can be faster: {why}.")
    } else {
        format!(
            "{} hosts have work; at their delays {} is the most; it is {} now. The queue needs at \
             least {}: the slowest host decides.",
            count(view.hosts_with_work),
            rate(view.ceiling_per_s),
            rate(now),
            time(view.needs_s)
        )
    };
    let share = |per_s: f64| (1000.0 * per_s / view.ceiling_per_s.max(1e-9)).min(1000.0) as u32;
    let mut bars: Vec<Bar> = view
        .causes
        .iter()
        .map(|cause| Bar {
            name: format!("{} hosts by {}", count(cause.hosts), cause.cause),
            value: rate(cause.pages_per_s),
            from: 0,
            width: share(cause.pages_per_s),
            colour: "accent",
        })
        .collect();
    bars.push(Bar {
        name: "reached now".to_owned(),
        value: rate(now),
        from: 0,
        width: share(now),
        colour: "warm",
    });
    let rows = view.holding.iter().map(|host| {
        vec![
            Text::link(&host.host, "/host", "key"),
            Text::number(count(host.queued)),
            Text::number(percent(host.share)),
            Text::number(time(host.delay_s)),
            Text::plain(host.cause.clone()),
            Text::number(time(host.needs_s)),
        ]
    });
    let table = Table {
        head: vec!["host", "URLs", "of the queue", "delay", "set by", "needs"],
        rows: rows.collect(),
        empty: "No host has work.",
    };
    let mut blocks = vec![Block::Lead(lead)];
    if view.hosts_with_work > 0 {
        blocks.push(Block::Heading("What politeness allows, by what sets the delay".to_owned()));
        blocks.push(Block::Bars(bars));
    }
    blocks.push(Block::Heading("What would change it".to_owned()));
    blocks.push(match view.advice.is_empty() {
        true => Block::Note("Nothing: there is no work.".to_owned()),
        false => Block::List(view.advice.clone()),
    });
    blocks.push(Block::Heading("Who needs longest".to_owned()));
    blocks.push(Block::Table(table));
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks
}

pub fn frontier(view: &FrontierView) -> Vec<Block> {
    let lead = format!(
        "{} hosts have work: {} are due, {} wait out their delay, {} fail and rest.",
        count(view.hosts_with_work),
        count(view.hosts_due),
        count(view.hosts_waiting),
        count(view.hosts_resting)
    );
    let cells = view.cells.iter().map(|cell| Cell {
        title: format!(
            "{}: {} URLs, {}{}",
            cell.host,
            count(cell.queued),
            cell.state,
            if cell.wait_s > 0.0 { format!(" for {}", time(cell.wait_s)) } else { String::new() }
        ),
        state: match cell.state.as_str() {
            "due" => "due",
            "resting" => "resting",
            _ => "waiting",
        },
        href: format!("/host?key={}", encoded(&cell.host)),
        filled: filled(cell.wait_s, cell.delay_s),
    });
    let all = view.classes.iter().sum::<u64>().max(1);
    let classes = view.classes.iter().enumerate().filter(|(_, urls)| **urls > 0);
    let bars = classes.map(|(class, urls)| Bar {
        value: count(*urls),
        ..share_bar(&format!("class {class}"), *urls as f64 / all as f64, "accent")
    });
    let mut blocks = vec![
        Block::Lead(lead),
        Block::Heading("Hosts, the first to be due first".to_owned()),
        Block::Grid(cells.collect()),
        Block::Note("Filled: due. Pale: waits out its delay. Orange: fails and rests.".to_owned()),
    ];
    blocks.extend(of_first(view.hosts_of_first, "hosts"));
    blocks.push(Block::Heading("URLs that wait, the best class first".to_owned()));
    blocks.push(Block::Bars(bars.collect()));
    blocks.extend(of_first(view.urls_of_first, "URLs"));
    blocks
}

/// How much of its delay a host still has to wait, in steps of a quarter.
fn filled(wait_s: f64, delay_s: f64) -> u32 {
    let share = (wait_s / delay_s.max(1e-3)).clamp(0.0, 1.0);
    5 * (4.0 * share).ceil() as u32
}

pub fn hosts(view: &HostsView) -> Vec<Block> {
    let rows = view.hosts.iter().map(|host| {
        vec![
            Text::link(&host.host, "/host", "key"),
            Text::number(count(host.pages)),
            Text::number(count(host.queued)),
            Text::number(bytes(host.bytes)),
            Text::number(format!("{} ms", count(host.last_took_ms))),
            Text::number(time(host.delay_s)),
            Text::plain(host.delay_cause.clone()),
            Text::plain(match &host.failing {
                Some(kind) => format!("{kind}, {} in a row", host.failures),
                None => String::new(),
            }),
        ]
    });
    let table = Table {
        head: vec!["host", "pages", "wait", "bytes", "last answer", "delay", "set by", "fails"],
        rows: rows.collect(),
        empty: "No host of that kind.",
    };
    let by = ["pages", "queued", "slowest", "failures", "bytes"];
    let orders = by.iter().map(|by| {
        vec![Text {
            text: format!("by {by}"),
            href: Some(format!("/hosts?by={by}")),
            is_number: false,
        }]
    });
    let orders = Table { head: vec!["order"], rows: orders.collect(), empty: "" };
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks.push(Block::Table(orders));
    blocks
}

pub fn host(view: &HostView) -> Vec<Block> {
    let form = Block::Form(Form {
        action: "/host",
        fields: vec![Field {
            name: "key",
            label: "a host",
            value: view.host.clone(),
            hint: "https://example.org",
        }],
        button: "Look up",
    });
    let Some(known) = &view.known else {
        return vec![form, Block::Lead("Nothing is known of this host.".to_owned())];
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    let figures = vec![
        figure("pages", count(known.pages)),
        figure("URLs that wait", count(known.queued)),
        figure("answers", count(known.answers)),
        figure("received", bytes(known.bytes)),
        figure("last answer took", format!("{} ms", count(known.last_took_ms))),
        figure("delay", time(view.delay_s)),
        figure("delay set by", view.delay_cause.clone()),
        figure("no request before", or_none(&known.not_before)),
        figure("robots.txt good until", or_none(&known.robots_until)),
        figure("failures in a row", count(u64::from(known.failures_in_a_row))),
        figure("fails by", or_none(&known.failing)),
    ];
    let rows = view.queue.iter().map(|url| vec![Text::link(url, "/url", "url")]);
    let queue =
        Table { head: vec!["next URLs"], rows: rows.collect(), empty: "Nothing waits here." };
    let mut blocks = vec![form, Block::Figures(figures)];
    if !view.sitemaps.is_empty() {
        blocks.push(Block::Heading("Sitemaps that its robots.txt names".to_owned()));
        blocks.push(Block::List(view.sitemaps.clone()));
    }
    blocks.push(Block::Table(queue));
    blocks
}

/// All that `rhumb status --url` says, in its words.
pub fn url(status: Option<&UrlStatus>, typed: &str) -> Vec<Block> {
    let form = Block::Form(Form {
        action: "/url",
        fields: vec![Field {
            name: "url",
            label: "a URL",
            value: typed.to_owned(),
            hint: "https://example.org/page",
        }],
        button: "Look up",
    });
    let Some(status) = status else {
        let what = "Each URL has a life: where it was found, which rule decided, \
                    its place in the queue, its fetches, what it repeats, its next visit.";
        return vec![form, Block::Note(what.to_owned())];
    };
    let lead = Block::Lead(format!("{}: {}.", status.state, status.meaning));
    let rows = match serde_json::to_value(status) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "meaning" | "state" | "known" | "host"))
            .filter_map(|(name, value)| Some((name, as_text(value)?)))
            .map(|(name, text)| match name.as_str() {
                "found_on" | "duplicate_of" | "near_duplicate_of" => {
                    vec![Text::plain(name.replace('_', " ")), Text::link(&text, "/url", "url")]
                }
                _ => vec![Text::plain(name.replace('_', " ")), Text::plain(text)],
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut blocks = vec![form, lead, Block::Table(Table { head: vec!["", ""], rows, empty: "" })];
    if let Some(host) = &status.host {
        let link = vec![vec![Text::link(&host.host, "/host", "key")]];
        blocks.push(Block::Table(Table { head: vec!["its host"], rows: link, empty: "" }));
    }
    blocks
}

/// None for what is not there.
fn as_text(value: &Value) -> Option<String> {
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

pub fn duplicates(view: &AlikeView) -> Vec<Block> {
    let mut blocks = vec![Block::Lead(format!(
        "{} pages are repeated by others.",
        count(view.clusters.len() as u64)
    ))];
    blocks.extend(of_first(view.of_first, "URLs"));
    let rows = view.clusters.iter().flat_map(|cluster| {
        let leader = vec![
            Text::link(&cluster.leader, "/url", "url"),
            Text::number(count(cluster.exact)),
            Text::number(count(cluster.near)),
            Text::plain("leads"),
        ];
        let members = cluster.members.iter().map(|member| {
            let link = Text::link(&member.url, "/url", "url");
            let none = Text::plain("");
            vec![link, none.clone(), none, Text::plain(percent(member.resemblance))]
        });
        std::iter::once(leader).chain(members)
    });
    blocks.push(Block::Table(Table {
        head: vec!["page", "exact copies", "nearly the same", "resemblance"],
        rows: rows.collect(),
        empty: "No page repeats another.",
    }));
    blocks
}

pub fn web(view: &HostsView) -> Vec<Block> {
    let shown: Vec<_> = view.hosts.iter().take(BUBBLES_MAX).collect();
    let size = |pages: u64, queued: u64| (pages + queued).max(1) as f64;
    let all: f64 = shown.iter().map(|host| size(host.pages, host.queued).sqrt()).sum();
    // Areas by the square root of sizes: one host of a million pages leaves room for others.
    let radii: Vec<f64> = shown
        .iter()
        .map(|host| {
            let area = BUBBLES_AREA * size(host.pages, host.queued).sqrt() / all.max(1.0);
            (area / std::f64::consts::PI).sqrt().clamp(4.0, 150.0)
        })
        .collect();
    let places = packed(&radii);
    let bubbles = shown.iter().zip(&radii).zip(places).map(|((host, r), (x, y))| {
        let share = host.pages as f64 / size(host.pages, host.queued);
        let name = host.host.split("://").last().unwrap_or(&host.host);
        let letters = (r / 3.6) as usize;
        Bubble {
            title: format!(
                "{}: {} pages, {} wait",
                host.host,
                count(host.pages),
                count(host.queued)
            ),
            label: match *r >= LABEL_RADIUS_MIN {
                true => name.chars().take(letters).collect(),
                false => String::new(),
            },
            href: format!("/host?key={}", encoded(&host.host)),
            x: format!("{x:.1}"),
            y: format!("{y:.1}"),
            r: format!("{r:.1}"),
            tenth: (10.0 * share).round() as u32,
        }
    });
    let note = "A circle is a host: its area grows with the root of its pages, its colour says \
                how many of them are fetched.";
    let mut blocks = vec![Block::Bubbles(bubbles.collect()), Block::Note(note.to_owned())];
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks
}

/// Places for circles without overlap: each, the greatest first, at the first free place of a
/// spiral from the middle.
fn packed(radii: &[f64]) -> Vec<(f64, f64)> {
    const TURNS_MAX: usize = 20_000;
    let mut placed: Vec<(f64, f64, f64)> = Vec::new();
    for r in radii {
        let mut place = (0.0, 0.0);
        for step in 0..TURNS_MAX {
            let angle = step as f64 * 0.25;
            let out = 0.9 * angle;
            // The picture is wider than high.
            place = (1.35 * out * angle.cos(), out * angle.sin());
            let is_free = placed
                .iter()
                .all(|(x, y, other)| (x - place.0).hypot(y - place.1) >= r + other + 2.0);
            if is_free {
                break;
            }
        }
        placed.push((place.0, place.1, *r));
    }
    placed.into_iter().map(|(x, y, _)| (x, y)).collect()
}

pub fn freshness(status: &Status) -> Vec<Block> {
    let report = &status.report;
    let Some(kept) = &report.collection else {
        let what = "This crawl visits each page once. With --continuous it learns how often \
                    pages change, and places visits where they pay.";
        return vec![Block::Lead(what.to_owned())];
    };
    let figures = vec![
        figure("pages kept fresh", count(kept.pages)),
        figure("believed fresh", percent(kept.freshness)),
        figure("mean age of copies", time(kept.age_s)),
        figure("changes unseen, a page", format!("{:.2}", kept.delay)),
        figure("visits come late by", time(kept.late_s)),
        figure("requests so far", count(kept.asked)),
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
            Text::link(&url, "/url", "url"),
            Text::plain(words.collect::<Vec<_>>().join("; ")),
        ])
    });
    vec![
        Block::Figures(figures),
        Block::Note("Beliefs are estimated from a sample of the pages.".to_owned()),
        Block::Heading("The most overdue".to_owned()),
        Block::Table(Table {
            head: vec!["page", ""],
            rows: rows.collect(),
            empty: "No page is overdue.",
        }),
    ]
}

pub fn what_if(view: &WhatIfView) -> Vec<Block> {
    let form = Block::Form(Form {
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
    });
    let mut blocks = vec![form];
    if let Some(mistake) = &view.mistake {
        blocks.push(Block::Lead(format!("That is no pattern: {mistake}.")));
    } else if view.exclude.as_deref().is_some_and(|pattern| !pattern.is_empty()) {
        let share = view.queued_matched as f64 / view.queued.max(1) as f64;
        blocks.push(Block::Lead(format!(
            "{} of {} URLs that wait would be refused ({}); {} pages of the kind were fetched \
             already.",
            count(view.queued_matched),
            count(view.queued),
            percent(share),
            count(view.fetched_matched)
        )));
        blocks.extend(of_first(view.of_first, "URLs"));
        let rows = view.examples.iter().map(|url| vec![Text::link(url, "/url", "url")]);
        let table = Table { head: vec!["some of them"], rows: rows.collect(), empty: "" };
        if view.queued_matched > 0 {
            blocks.push(Block::Table(table));
        }
    }
    if let (Some(then), Some(needs)) = (view.ceiling_per_s_then, view.needs_s_then) {
        blocks.push(Block::Lead(format!(
            "At that delay {} would be the most instead of {}; the queue would need at least {} \
             instead of {}.",
            rate(then),
            rate(view.ceiling_per_s),
            time(needs),
            time(view.needs_s)
        )));
    }
    blocks.push(Block::Note("Nothing is changed by trying.".to_owned()));
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bubbles_do_not_overlap() {
        let radii: Vec<f64> = (0..60).map(|n| 60.0 / f64::from(n + 1).sqrt()).collect();
        let places = packed(&radii);
        for a in 0..radii.len() {
            for b in 0..a {
                let apart = (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
                assert!(apart + 1e-9 >= radii[a] + radii[b], "{a} and {b}");
            }
        }
    }
}
