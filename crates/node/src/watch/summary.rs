//! What came of a crawl, in a table for people: the block at its end, and the counts of its status.

use super::counted;
use super::coverage::{Covered, percent};
use super::failing;
use super::moment::short;
use super::report::CrawlReport;
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{HumanBytes, HumanCount};
use std::time::Duration;

/// How the last run ended, and what the crawl has come to.
pub fn at_end(report: &CrawlReport) -> String {
    let seconds = Duration::try_from_secs_f64(report.run.seconds).unwrap_or_default();
    let because = report.stopped_because.as_deref().unwrap_or("still running");
    let warning = report.coverage.as_ref().and_then(Covered::dead_ends);
    let warning = warning.map_or_else(String::new, |text| format!("\nwarning: {text}"));
    let failing = failing::at_end(report);
    format!("{because} after {}\n{}{warning}{failing}", short(seconds), table(report))
}

pub fn table(report: &CrawlReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut row = |name: &str, value: String, note: String| {
        table.add_row([
            Cell::new(name),
            Cell::new(value).set_alignment(CellAlignment::Right),
            Cell::new(note),
        ]);
    };
    let count = |n: u64| HumanCount(n).to_string();
    row("pages", count(report.pages), pages_note(report));
    row("bytes", HumanBytes(report.bytes).to_string(), String::new());
    row("hosts", count(report.hosts), String::new());
    row(
        "known URLs",
        count(report.known_urls),
        counted(report.queued, "still waits", "still wait"),
    );
    if report.sitemaps > 0 {
        let note = format!("list {}", counted(report.listed_by_sitemaps, "URL", "URLs"));
        row("sitemaps", count(report.sitemaps), note);
    }
    if report.requisites + report.requisites_waiting + report.requisites_beyond > 0 {
        row("requisites", count(report.requisites), requisites_note(report));
    }
    row("denied by robots.txt", count(report.robots_denied), String::new());
    row("refused by our rules", count(report.filtered), causes(&report.refused, &["robots"]));
    row("failed", count(report.failed_in_all()), causes(&report.failed, &[]));
    let errors = report.errors.values().sum();
    if errors > 0 {
        row("requests that failed", count(errors), causes(&report.errors, &[]));
    }
    row("moved, gone", format!("{}, {}", count(report.moved), count(report.gone)), denied(report));
    if report.nofollow + report.noindex > 0 {
        let both = format!("{}, {}", count(report.nofollow), count(report.noindex));
        row("nofollow, noindex", both, "pages that ask for it".to_owned());
    }
    if report.scripted > 0 {
        let note = "pages with next to no text without them".to_owned();
        row("made by scripts", count(report.scripted), note);
    }
    row("exact duplicates", count(report.exact_duplicates), String::new());
    row("near-duplicates", count(report.near_duplicates), String::new());
    if let Some(covered) = &report.coverage {
        row("covered for certain", percent(covered.bound), coverage_note(covered));
    }
    if let Some(topic) = &report.topic {
        row("covered for certain", percent(topic.bound), topic.note());
    }
    if let Some(kept) = &report.collection {
        row("fresh, estimated", percent(kept.freshness), kept.note());
        row("changes seen", count(kept.changes_seen), String::new());
        row("asked lately", count(kept.budget.asked), kept.budget.note());
    }
    if report.unchanged > 0 {
        row("unchanged", count(report.unchanged), String::new());
    }
    if report.peak_rss_bytes > 0 {
        row("peak memory", HumanBytes(report.peak_rss_bytes).to_string(), String::new());
    }
    table.trim_fmt()
}

/// `401: 3, 403: 1`: how many of those that are gone want a login, or are forbidden.
/// Requisites that were not fetched.
fn requisites_note(report: &CrawlReport) -> String {
    let (waiting, beyond) = (report.requisites_waiting, report.requisites_beyond);
    let mut notes = Vec::new();
    if waiting > 0 {
        notes.push(counted(waiting, "still waits", "still wait"));
    }
    if beyond > 0 {
        let told = format!("{} beyond --max-requisites-per-page", HumanCount(beyond));
        notes.push(told);
    }
    notes.join(", ")
}

fn denied(report: &CrawlReport) -> String {
    let counts = [("401", report.unauthorized), ("403", report.forbidden)];
    let some = counts.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(status, count)| format!("{status}: {}", HumanCount(count)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A run's own share, where there were others before it.
fn pages_note(report: &CrawlReport) -> String {
    let rate = format!("{:.1}/s", report.run.pages_per_s);
    if report.run.pages == report.pages {
        return rate;
    }
    format!("{} in the last run, {rate}", HumanCount(report.run.pages))
}

fn coverage_note(covered: &Covered) -> String {
    let losses = covered.losses();
    let lost = if losses.is_empty() { String::new() } else { format!("; lost to {losses}") };
    format!("of importance; {} on URLs that wait{lost}", percent(covered.frontier))
}

/// `timeout 3, tls 1`: what occurred, most frequent first.
pub fn causes(by_name: &std::collections::BTreeMap<String, u64>, but: &[&str]) -> String {
    let mut some: Vec<(&str, u64)> = by_name
        .iter()
        .map(|(name, &n)| (name.as_str(), n))
        .filter(|&(name, n)| n > 0 && !but.contains(&name))
        .collect();
    some.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    let words: Vec<String> =
        some.iter().map(|(name, n)| format!("{name} {}", HumanCount(*n))).collect();
    words.join(", ")
}
