//! Why is it not faster? From the ceiling that politeness sets down to the pages that come, step by
//! step, each with its cause, and what would change it.

use crate::figures::{count, percent, rate, time};
use crate::page::{Bar, CellText, HtmlTable, PageBlock};
use crate::tables::of_first;
use rhumb_node::watch::status::CrawlStatus;
use rhumb_node::watch::view::{LostRate, PaceView, SpeedView};

/// What is not explained of the ceiling is told beyond this share of it.
const UNEXPLAINED_MIN: f64 = 0.01;
const WIDTH: f64 = 1000.0;
/// Causes of which it is said what would change them.
const CHANGES_MAX: usize = 6;

pub fn blocks(view: &SpeedView, status: &CrawlStatus) -> Vec<PageBlock> {
    let mut blocks = vec![PageBlock::Lead(lead(view, status))];
    if let Some(pace) = view.pace.as_ref().filter(|pace| pace.ceiling_per_s > 0.0) {
        let what = format!("From the ceiling to the pages, in the last {}", time(pace.seconds));
        blocks.push(PageBlock::Heading(what));
        blocks.push(PageBlock::Bars(steps(pace)));
        blocks.extend(unexplained(pace));
    }
    blocks.push(PageBlock::Heading("What would change it".to_owned()));
    let changes = changes(view);
    blocks.push(match changes.is_empty() {
        true => PageBlock::Note("Nothing: there is no work.".to_owned()),
        false => PageBlock::List(changes),
    });
    if let Some(pace) = view.pace.as_ref().filter(|pace| pace.requests_per_s > 0.0) {
        blocks.push(PageBlock::Heading("How much of each part is used".to_owned()));
        blocks.push(PageBlock::Bars(parts(pace)));
        blocks.push(PageBlock::Heading("What the loop does with its time".to_owned()));
        blocks.push(PageBlock::Bars(of_loop(pace)));
    }
    if !view.causes.is_empty() {
        let what = "What sets the delays, and what they allow";
        blocks.push(PageBlock::Heading(what.to_owned()));
        blocks.push(PageBlock::Bars(delays(view)));
    }
    blocks.push(PageBlock::Heading("Who needs longest".to_owned()));
    blocks.push(PageBlock::Table(holding(view)));
    blocks.extend(of_first(view.of_first, "hosts"));
    blocks.push(PageBlock::Heading("Hosts that have work and are not counted".to_owned()));
    blocks.push(PageBlock::Table(apart(view, status)));
    blocks
}

fn hosts(number: u64, verb: (&str, &str)) -> String {
    match number {
        1 => format!("1 host {}", verb.0),
        number => format!("{} hosts {}", count(number), verb.1),
    }
}

fn lead(view: &SpeedView, status: &CrawlStatus) -> String {
    let why = status.why_nothing_is_fetched.as_deref();
    if view.hosts_with_work == 0 && view.pace.is_none() {
        return format!("Nothing can be faster: {}.", why.unwrap_or("no host has work"));
    }
    let have = hosts(view.hosts_with_work, ("has", "have"));
    let needs =
        format!(" The queue needs at least {}: the slowest host decides.", time(view.needs_s));
    let Some(pace) = &view.pace else {
        let now = status.report.run.pages_per_s_now;
        let reached = match status.running {
            true => format!("{} pages came in the last seconds.", rate(now)),
            false => "It does not run.".to_owned(),
        };
        let ceiling = rate(view.ceiling_per_s);
        return format!("{have} work; at their delays {ceiling} is the most. {reached}{needs}");
    };
    let most = match pace.lost.first() {
        Some(lost) if lost.per_s > 0.05 * pace.ceiling_per_s => {
            format!(" Most of the rest, {}, is lost to this: {}.", rate(lost.per_s), lost.what)
        }
        _ => " Nothing but their delays and their answers holds it up.".to_owned(),
    };
    let idle = why.map(|why| format!(" Now nothing is fetched: {why}.")).unwrap_or_default();
    format!(
        "{have} work; at their delays {} is the most. It was {}, of which {} were pages.{most}\
         {idle}{needs}",
        rate(pace.ceiling_per_s),
        rate(pace.requests_per_s),
        rate(pace.pages_per_s),
    )
}

/// Each bar begins where the one above it ends: what is left after all losses is what was made.
fn steps(pace: &PaceView) -> Vec<Bar> {
    let all = pace.ceiling_per_s.max(pace.requests_per_s).max(f64::MIN_POSITIVE);
    let at = |per_s: f64| (WIDTH * (per_s / all).clamp(0.0, 1.0)).round() as u32;
    let whole = |name: &str, per_s: f64, colour| Bar {
        name: name.to_owned(),
        value: rate(per_s),
        from: 0,
        width: at(per_s),
        colour,
    };
    let mut left = pace.ceiling_per_s;
    let mut bars = vec![whole("what delays allow", pace.ceiling_per_s, "accent")];
    let mut lose = |name: String, per_s: f64, left: &mut f64| {
        let from = at(*left - per_s);
        let width = at(*left).saturating_sub(from).max(2);
        *left -= per_s;
        bars.push(Bar { name, value: format!("−{}", rate(per_s)), from, width, colour: "warm" });
    };
    for lost in &pace.lost {
        lose(named(lost), lost.per_s, &mut left);
    }
    if pace.unexplained_per_s > UNEXPLAINED_MIN * all {
        lose("not explained".to_owned(), pace.unexplained_per_s, &mut left);
    }
    bars.push(whole("requests made", pace.requests_per_s, "accent"));
    let mut left = pace.requests_per_s;
    for none in &pace.no_page {
        let (from, name) = (at(left - none.per_s), none.what.clone());
        let width = at(left).saturating_sub(from).max(2);
        left -= none.per_s;
        let value = format!("−{}", rate(none.per_s));
        bars.push(Bar { name, value, from, width, colour: "soft" });
    }
    bars.push(whole("pages", pace.pages_per_s, "accent"));
    bars
}

fn named(lost: &LostRate) -> String {
    match lost.hosts.round() as u64 {
        0 => lost.what.clone(),
        1 => format!("{} (1 host)", lost.what),
        hosts => format!("{} ({} hosts)", lost.what, count(hosts)),
    }
}

fn unexplained(pace: &PaceView) -> Option<PageBlock> {
    let share = pace.unexplained_per_s / pace.ceiling_per_s;
    let what = if share > UNEXPLAINED_MIN {
        "Not explained: answers that took longer than the host's last one, and hosts that ran out \
         of work in between."
    } else if share < -UNEXPLAINED_MIN {
        "More was done than these steps leave: answers came sooner than the host's last one, or \
         hosts that slept out a long delay were asked."
    } else {
        return None;
    };
    Some(PageBlock::Note(what.to_owned()))
}

fn changes(view: &SpeedView) -> Vec<String> {
    let pace = view.pace.iter().flat_map(|pace| &pace.lost);
    let lost = pace.filter(|lost| !lost.change.is_empty()).take(CHANGES_MAX);
    let changes =
        lost.map(|lost| format!("{}: {}, for {}", lost.change, lost.what, rate(lost.per_s)));
    changes.chain(view.advice.iter().cloned()).collect()
}

fn parts(pace: &PaceView) -> Vec<Bar> {
    let used = |per_s: f64| pace.requests_per_s / per_s.max(f64::MIN_POSITIVE);
    let bar = |part: &rhumb_node::watch::view::PartCeiling| Bar {
        name: part.what.clone(),
        value: format!("{} of {}", percent(used(part.per_s).min(1.0)), rate(part.per_s)),
        from: 0,
        width: (WIDTH * used(part.per_s).clamp(0.0, 1.0)).round() as u32,
        colour: if used(part.per_s) > 0.9 { "warm" } else { "accent" },
    };
    pace.allowed.iter().map(bar).collect()
}

fn of_loop(pace: &PaceView) -> Vec<Bar> {
    let mut from = 0.0;
    let mut bars = Vec::new();
    for part in &pace.of_loop {
        let name = match part.work.as_str() {
            "engine" => "decides",
            "archive" => "writes records",
            "commit" => "commits to the store",
            _ => "has the disk sync",
        };
        bars.push(share(name, from, part.share, "accent"));
        from += part.share;
    }
    bars.push(share("waits for something to do", from, (1.0 - from).max(0.0), "soft"));
    bars
}

fn share(name: &str, from: f64, share: f64, colour: &'static str) -> Bar {
    let at = |share: f64| (WIDTH * share.clamp(0.0, 1.0)).round() as u32;
    let width = at(from + share).saturating_sub(at(from));
    Bar { name: name.to_owned(), value: percent(share), from: at(from), width, colour }
}

fn delays(view: &SpeedView) -> Vec<Bar> {
    let bar = |cause: &rhumb_node::watch::view::DelayCause| Bar {
        name: hosts(cause.hosts, ("by ", "by ")) + &cause.cause,
        value: rate(cause.pages_per_s),
        from: 0,
        width: (WIDTH * cause.pages_per_s / view.ceiling_per_s.max(1e-9)).min(WIDTH) as u32,
        colour: "accent",
    };
    view.causes.iter().map(bar).collect()
}

fn holding(view: &SpeedView) -> HtmlTable {
    let rows = view.holding.iter().map(|host| {
        vec![
            CellText::link(&host.host, "/host", "key"),
            CellText::number(count(host.queued)),
            CellText::number(percent(host.share)),
            CellText::number(time(host.delay_s)),
            CellText::plain(host.cause.clone()),
            CellText::number(time(host.needs_s)),
        ]
    });
    HtmlTable {
        head: vec!["host", "URLs", "of the queue", "delay", "set by", "needs"],
        rows: rows.collect(),
        empty: "No host has work.",
    }
}

fn apart(view: &SpeedView, status: &CrawlStatus) -> HtmlTable {
    let report = &status.report;
    let opens = report.opens.as_ref().map(|opens| format!("the next hours begin at {opens}"));
    let kinds = [
        (
            "they fail, and rest",
            (view.resting_hosts.max(report.hosts_failing), view.resting_queued),
            "the next run tries them at once".to_owned(),
        ),
        (
            "their hours have not begun, or their sites have had their share of names",
            (
                view.held_hosts.max(report.hosts_held + report.hosts_spent + report.hosts_closed),
                view.held_queued,
            ),
            opens.unwrap_or_else(|| "the next run asks more names of a site".to_owned()),
        ),
        (
            "nothing of theirs is due: retries and revisits",
            (view.later_hosts, view.later_queued),
            "they come when they are due".to_owned(),
        ),
    ];
    let rows = kinds.into_iter().filter(|(_, (hosts, _), _)| *hosts > 0);
    let rows = rows.map(|(why, (hosts, queued), then)| {
        let (hosts, queued) = (CellText::number(count(hosts)), CellText::number(count(queued)));
        vec![CellText::plain(why), hosts, queued, CellText::plain(then)]
    });
    HtmlTable {
        head: vec!["why", "hosts", "URLs", "then"],
        rows: rows.collect(),
        empty: "None: all hosts with work are counted.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_lead_from_the_ceiling_down_to_the_pages() {
        let lost = |what: &str, per_s| LostRate {
            what: what.to_owned(),
            hosts: per_s,
            per_s,
            ..LostRate::default()
        };
        let pace = PaceView {
            ceiling_per_s: 100.0,
            requests_per_s: 40.0,
            pages_per_s: 30.0,
            lost: vec![lost("slots", 50.0), lost("address", 10.0)],
            no_page: vec![lost("redirects", 10.0)],
            ..PaceView::default()
        };
        let drawn: Vec<(u32, u32)> =
            steps(&pace).iter().map(|bar| (bar.from, bar.from + bar.width)).collect();
        let expected = [(0, 1000), (500, 1000), (400, 500), (0, 400), (300, 400), (0, 300)];
        assert_eq!(drawn, expected);
        assert!(unexplained(&pace).is_none());
    }
}
