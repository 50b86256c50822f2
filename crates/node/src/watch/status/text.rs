//! Status for people.

use super::belief::UrlBelief;
use super::hosts::HostLine;
use super::overdue::OverduePage;
use super::pattern::MostFetched;
use super::url::{HostStatus, NextVisit, QUEUE_LOOK_MAX, UrlHistory, UrlStatus};
use super::{CrawlStatus, StatusHosts};
use crate::watch::counted;
use crate::watch::failing::FailingHost;
use crate::watch::moment::{self, short};
use crate::watch::summary::{causes, table};
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{HumanBytes, HumanCount};
use std::time::Duration;

pub fn of_status(status: &CrawlStatus) -> String {
    let mut text = format!("{}: {}\n", status.dir, headline(status));
    if let Some(why) = &status.why_nothing_is_fetched {
        text += &format!("nothing is being fetched: {why}\n");
    }
    if let Some(closed) = status.report.closed(moment::now()).filter(|_| status.running) {
        text += &format!("{closed}\n");
    }
    if status.report.hosts_held > 0 {
        let held = counted(status.report.hosts_held, "host", "hosts");
        text += &format!(
            "held back: {held} of sites that have more of them than their pages are worth \
             (--lift-traps names lets them in)\n"
        );
    }
    if status.report.hosts_spent > 0 {
        let spent = HumanCount(status.report.hosts_spent);
        text += &format!(
            "held back: {spent} hosts of sites that have had the pages or bytes that they are \
             worth (--lift-traps site_budget lets them go on)\n"
        );
    }
    if status.report.links_beyond > 0 {
        let beyond = counted(status.report.links_beyond, "link", "links");
        text += &format!("not followed: {beyond} beyond the first of pages with too many\n");
    }
    if let Some(hint) = &status.report.hint {
        text += &format!("hint: {hint}\n");
    }
    if let Some(most) = status.shown.as_ref().and_then(|hosts| hosts.most_fetched.as_ref()) {
        text += &of_most_fetched(most);
    }
    text += &format!("\n{}\n", table(&status.report));
    if let Some(hosts) = &status.shown {
        text += &of_hosts(hosts);
        text += &of_failing(hosts, &status.report.failing_hosts);
    }
    if !status.report.most_overdue.is_empty() {
        text += &format!("\nmost overdue\n{}\n", overdue_table(&status.report.most_overdue));
    }
    text
}

fn of_most_fetched(most: &MostFetched) -> String {
    let MostFetched { host, pattern, exclude, .. } = most;
    let [fetched, of, fresh] = [most.fetched, most.of, most.fresh].map(HumanCount);
    format!(
        "most of what was fetched, {fetched} of {of}, is {host}{pattern}, and {fresh} of these \
         brought something new; to leave them out: --exclude '{exclude}'\n"
    )
}

fn overdue_table(pages: &[OverduePage]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    table.set_header([
        Cell::new("page"),
        right("overdue by".to_owned()),
        right("visits".to_owned()),
        Cell::new("last visit"),
    ]);
    for page in pages {
        let overdue = Duration::try_from_secs_f64(page.overdue_s).unwrap_or_default();
        table.add_row([
            Cell::new(&page.url),
            right(short(overdue)),
            right(HumanCount(u64::from(page.visits)).to_string()),
            Cell::new(page.visited.as_deref().unwrap_or_default()),
        ]);
    }
    table.trim_fmt()
}

fn headline(status: &CrawlStatus) -> String {
    let report = &status.report;
    match (status.running, &report.stopped_because) {
        (true, _) if status.shown.is_none() => {
            format!("in use, but nobody answers; its last report, of {}, says", report.written)
        }
        (true, _) => format!(
            "running, {} in flight, {} active, {:.1} pages/s",
            report.in_flight,
            counted(report.hosts_awake, "host", "hosts"),
            report.run.pages_per_s_now
        ),
        (false, Some(because)) => format!("not running; the last run ended: {because}"),
        (false, None) => "not running; the last run did not end by itself".to_owned(),
    }
}

fn of_hosts(hosts: &StatusHosts) -> String {
    let mut text = String::new();
    for (title, lines) in
        [("largest hosts", &hosts.largest_hosts), ("slowest hosts", &hosts.slowest_hosts)]
    {
        if !lines.is_empty() {
            text += &format!("\n{title}\n{}\n", host_table(lines));
        }
    }
    text
}

fn of_failing(hosts: &StatusHosts, named: &[FailingHost]) -> String {
    if hosts.failing.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for FailingHost { host, kind, queued } in named {
        let waiting = format!("{} waiting", HumanCount(*queued));
        table.add_row([Cell::new(host), Cell::new(waiting), Cell::new(kind)]);
    }
    let why = causes(&hosts.failing, &[]);
    format!("\nhosts that fail: {why}\n{}\n", table.trim_fmt())
}

fn host_table(lines: &[HostLine]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["pages", "waiting", "bytes", "last took"].map(str::to_owned).map(right);
    table.set_header([Cell::new("host")].into_iter().chain(head));
    for line in lines {
        table.add_row([
            Cell::new(&line.host),
            right(HumanCount(line.pages).to_string()),
            right(HumanCount(line.queued).to_string()),
            right(HumanBytes(line.bytes).to_string()),
            right(short(Duration::from_millis(line.last_took_ms))),
        ]);
    }
    table.trim_fmt()
}

pub fn of_url_status(status: &UrlStatus) -> String {
    let mut facts = Facts::default();
    facts.add("state", &status.state);
    facts.add("meaning", &status.meaning);
    if let Some(record) = &status.record {
        add_history(&mut facts, record);
    }
    let mut text = format!("{}\n{}", status.url, facts.0);
    match &status.host {
        Some(host) => text += &format!("\n{}\n{}", host.host, host_facts(host).0),
        None => text += "\nits host is not known either\n",
    }
    text
}

fn add_history(facts: &mut Facts, record: &UrlHistory) {
    facts.add_some("duplicate of", record.duplicate_of.as_deref());
    facts.add_some("near-duplicate of", record.near_duplicate_of.as_deref());
    facts.add_some("resemblance", record.resemblance.map(|r| format!("{r:.2}")).as_deref());
    facts.add_some("marks", (!record.marks.is_empty()).then(|| record.marks.join(", ")).as_deref());
    facts.add_some("found on", record.found_on.as_deref());
    facts.add("depth", &record.depth.to_string());
    if record.hops > 0 {
        facts.add("redirects on the way", &record.hops.to_string());
    }
    let mass = record.mass.map(|mass| format!("{mass:.3e} of all, for certain"));
    facts.add_some("importance", mass.as_deref());
    facts.add("tries", &record.tries.to_string());
    facts.add("visits", &record.visits.to_string());
    facts.add_some("HTTP status", record.http_status.map(|s| s.to_string()).as_deref());
    facts.add("found", &record.found);
    facts.add_some("visited", record.visited.as_deref());
    facts.add_some("changed", record.changed.as_deref());
    let next = match &record.next_visit {
        NextVisit::Never => "never".to_owned(),
        NextVisit::At(at) => at.clone(),
        NextVisit::InTurn { ahead: Some(0) } => "the next of its host".to_owned(),
        NextVisit::InTurn { ahead: Some(n) } => {
            format!("after {} of its host", counted(*n, "other", "others"))
        }
        NextVisit::InTurn { ahead: None } => {
            format!("after more than {QUEUE_LOOK_MAX} others of its host")
        }
    };
    facts.add("next visit", &next);
    if let Some(belief) = &record.belief {
        add_belief(facts, belief);
    }
    facts.add_some("ETag", record.etag.as_deref());
    facts.add_some("Last-Modified", record.last_modified.as_deref());
    facts.add_some("content", record.content.as_deref());
}

fn add_belief(facts: &mut Facts, belief: &UrlBelief) {
    let (rate, doubt) = (belief.changes_per_day, belief.uncertain_per_day);
    facts.add("changes a day", &format!("{rate:.3}, give or take {doubt:.3}"));
    let age = Duration::try_from_secs_f64(belief.age_s).unwrap_or_default();
    let fresh = belief.fresh * 100.0;
    facts.add("our copy", &format!("right with {fresh:.0} %, {} old on average", short(age)));
    let recent = format!("{} (x: found a change)", belief.recent);
    facts.add_some("last visits", (!belief.recent.is_empty()).then_some(recent).as_deref());
    facts.add_some("announced change", belief.announced.as_deref());
}

fn host_facts(host: &HostStatus) -> Facts {
    let mut facts = Facts::default();
    facts.add("pages", &host.pages.to_string());
    facts.add("waiting", &host.queued.to_string());
    facts.add("answers", &host.answers.to_string());
    facts.add("bytes", &HumanBytes(host.bytes).to_string());
    facts.add("last took", &short(Duration::from_millis(host.last_took_ms)));
    if host.failures_in_a_row > 0 {
        facts.add("failures in a row", &host.failures_in_a_row.to_string());
    }
    facts.add("robots.txt good until", host.robots_until.as_deref().unwrap_or("not fetched"));
    if !host.trust.validators {
        facts.add("validators", "not believed: pages changed and they did not");
    }
    facts.add_some("crawl delay", host.crawl_delay_s.map(|s| format!("{s} s")).as_deref());
    facts.add_some("no request before", host.not_before.as_deref());
    facts.add_some("last failure", host.failing.as_deref());
    facts
}

/// Lines of a name and a value.
#[derive(Default)]
struct Facts(String);

impl Facts {
    /// What servers sent may hold anything; the terminal is to see no control characters.
    fn add(&mut self, name: &str, value: &str) {
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        self.0 += &format!("  {name:<22} {value}\n");
    }

    fn add_some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}
