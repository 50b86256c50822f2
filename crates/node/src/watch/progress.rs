//! Progress for people, on standard error: a live display on a terminal, a plain line every ten
//! seconds elsewhere, nothing if asked to be quiet; and the summary at the end. Never a URL.

use super::coverage::{Covered, percent};
use super::live::LiveMoment;
use super::moment::short;
use super::report::CrawlReport;
use super::summary;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rhumb_engine::outcome::FailKind;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// Ten times a second is smooth.
const DRAW_EVERY: Duration = Duration::from_millis(100);
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Between looks when no one watches: for the report alone.
const QUIET_EVERY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressKind {
    /// Drawn over itself on a terminal.
    Drawn,
    /// A line now and then.
    Lines,
    Quiet,
}

impl ProgressKind {
    pub fn for_stderr(quiet: bool) -> ProgressKind {
        match (quiet, io::stderr().is_terminal()) {
            (true, _) => ProgressKind::Quiet,
            (false, true) => ProgressKind::Drawn,
            (false, false) => ProgressKind::Lines,
        }
    }
}

pub struct CrawlProgress {
    shape: Shape,
    out: Box<dyn Write + Send>,
}

enum Shape {
    Drawn(ProgressBar),
    /// When the next line is due, since the start of the run, and which kinds of failure were told:
    /// a new one is told at once.
    Lines {
        due: Duration,
        told: u32,
    },
    Quiet,
}

impl CrawlProgress {
    /// `out` takes the lines and the summary; what is drawn goes to the terminal itself.
    pub fn new(kind: ProgressKind, out: Box<dyn Write + Send>) -> CrawlProgress {
        let shape = match kind {
            ProgressKind::Drawn => Shape::Drawn(drawing()),
            ProgressKind::Lines => Shape::Lines { due: LINE_EVERY, told: 0 },
            ProgressKind::Quiet => Shape::Quiet,
        };
        CrawlProgress { shape, out }
    }

    /// How long to wait before the next tick.
    pub fn every(&self) -> Duration {
        if matches!(self.shape, Shape::Drawn(_)) { DRAW_EVERY } else { QUIET_EVERY }
    }

    pub fn tick(&mut self, now: &LiveMoment) {
        match &mut self.shape {
            Shape::Drawn(bar) => bar.set_message(drawn(now)),
            Shape::Lines { due, told } => {
                let kinds = kinds(now);
                if now.elapsed >= *due || kinds != *told {
                    (*due, *told) = (now.elapsed + LINE_EVERY, kinds);
                    self.say(&line(now));
                }
            }
            Shape::Quiet => {}
        }
    }

    pub fn finish(&mut self, report: &CrawlReport) {
        match &self.shape {
            Shape::Drawn(bar) => bar.finish_and_clear(),
            Shape::Lines { .. } => {}
            Shape::Quiet => return,
        }
        self.say(&summary::at_end(report));
    }

    fn say(&mut self, text: &str) {
        // Nobody can be told that nobody can be told.
        let _ = writeln!(self.out, "{text}");
    }
}

fn drawing() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg}").expect("the template is ours");
    bar.set_style(style);
    bar
}

/// The display: two or three short lines.
fn drawn(now: &LiveMoment) -> String {
    let counters = &now.snapshot.counters;
    let mut text = format!(
        "{} pages  {:.1} pages/s  {}  {}",
        of_max(counters.pages, now.about.pages_max),
        now.pages_per_s,
        HumanBytes(counters.bytes),
        short(now.elapsed),
    );
    if let Some(eta) = now.eta() {
        text += &format!("  ETA {}", short(eta));
    }
    text += &format!(
        "\n  queue {}  hosts {} of {} active  {} in flight  {} errors",
        HumanCount(counters.queued),
        HumanCount(now.snapshot.hosts_awake as u64),
        HumanCount(counters.hosts),
        now.snapshot.in_flight,
        HumanCount(counters.errors.iter().sum()),
    );
    if let Some(kinds) = by_kind(now) {
        text += &format!(" ({kinds})");
    }
    if let Some(coverage) = covered(now) {
        let (bound, frontier) = (percent(coverage.bound), percent(coverage.frontier));
        text += &format!("\n  {bound} of importance covered for certain, {frontier} waits");
    }
    if let Some(topic) = &now.snapshot.topic {
        let (bound, frontier) = (percent(topic.bound), percent(topic.frontier));
        text += &format!(
            "\n  {bound} of the topic covered for certain, {} relevant pages, {frontier} waits",
            HumanCount(topic.relevant_pages)
        );
    }
    if let Some(why) = now.snapshot.why_idle() {
        text += &format!("\n  nothing is being fetched: {why}");
    }
    text
}

/// One line of `name=value` pairs, for logs.
fn line(now: &LiveMoment) -> String {
    let counters = &now.snapshot.counters;
    let mut text = format!(
        "elapsed={} pages={} pages_per_s={:.1} bytes={} queue={} hosts_active={} in_flight={} \
         errors={}",
        short(now.elapsed),
        counters.pages,
        now.pages_per_s,
        counters.bytes,
        counters.queued,
        now.snapshot.hosts_awake,
        now.snapshot.in_flight,
        counters.errors.iter().sum::<u64>(),
    );
    if let Some(kinds) = by_kind(now) {
        text += &format!(" errors_by_kind={kinds:?}");
    }
    if let Some(coverage) = covered(now) {
        text += &format!(" coverage={:.4}", coverage.bound);
    }
    if let Some(topic) = &now.snapshot.topic {
        text += &format!(" topic={:.4} relevant={}", topic.bound, topic.relevant_pages);
    }
    if let Some(eta) = now.eta() {
        text += &format!(" eta={}", short(eta));
    }
    if let Some(why) = now.snapshot.why_idle() {
        text += &format!(" idle={why:?}");
    }
    text
}

/// Where seeds lead nowhere there is nothing to measure it by.
fn covered(now: &LiveMoment) -> Option<Covered> {
    let coverage = now.snapshot.coverage.as_ref()?;
    Some(Covered::of(coverage, "")).filter(|covered| !covered.is_empty())
}

/// The kinds of failure that occurred, as bits.
fn kinds(now: &LiveMoment) -> u32 {
    let errors = now.snapshot.counters.errors.iter().zip(0..);
    errors.filter(|(count, _)| **count > 0).map(|(_, kind)| 1 << kind).sum()
}

/// `tls_expired 3, timeout 1`: requests that failed, tried again or not; none if none did.
fn by_kind(now: &LiveMoment) -> Option<String> {
    let errors = FailKind::ALL.iter().zip(now.snapshot.counters.errors);
    let named: BTreeMap<String, u64> =
        errors.map(|(kind, count)| (kind.word().to_owned(), count)).collect();
    Some(summary::causes(&named, &[])).filter(|text| !text.is_empty())
}

fn of_max(pages: u64, max: Option<u64>) -> String {
    match max {
        Some(max) => format!("{} of {}", HumanCount(pages), HumanCount(max)),
        None => HumanCount(pages).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::live::{About, Live};
    use rhumb_engine::config::Order;
    use rhumb_engine::counters::Counters;
    use std::sync::{Arc, Mutex};

    #[test]
    fn away_from_a_terminal_progress_is_a_plain_line_every_ten_seconds() {
        let page = Page::default();
        let mut progress = CrawlProgress::new(ProgressKind::Lines, Box::new(page.clone()));
        (1..=35).for_each(|second| progress.tick(&at(second)));
        let text = page.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(
            lines[1],
            "elapsed=12.0s pages=120 pages_per_s=10.0 bytes=2400 queue=90 hosts_active=3 \
             in_flight=2 errors=1 errors_by_kind=\"dns_not_found 1\" eta=1m28s"
        );
        assert!(
            lines[0].starts_with("elapsed=2.0s ") && lines[0].contains("dns_not_found"),
            "{text}"
        );
        assert!(!text.contains('\x1b') && !text.contains('\r'), "{text:?}");

        progress.finish(&CrawlReport::ended(&at(36), "finished".to_owned()));
        assert!(page.text().contains("finished"), "{}", page.text());
    }

    #[test]
    fn the_quiet_are_told_nothing() {
        let page = Page::default();
        let mut progress = CrawlProgress::new(ProgressKind::Quiet, Box::new(page.clone()));
        (0..=35).for_each(|second| progress.tick(&at(second)));
        progress.finish(&CrawlReport::ended(&at(36), "finished".to_owned()));
        assert_eq!(page.text(), "");
    }

    #[test]
    fn the_display_says_why_nothing_is_being_fetched() {
        let mut now = at(10);
        assert!(!drawn(&now).contains("nothing is being fetched"));
        now.snapshot.in_flight = 0;
        now.snapshot.hosts_resolving = 4;
        let text = drawn(&now);
        assert!(text.ends_with("nothing is being fetched: 4 hosts wait for the name server"));
    }

    fn at(second: u64) -> LiveMoment {
        let about = About {
            dir: "/nowhere".into(),
            order: Order::Bfs,
            pages_max: Some(1000),
            bytes_max: None,
            time_max: None,
            own_sites: Vec::new(),
            insecure: Vec::new(),
        };
        let mut now = Live::new(about, &Counters::default()).get();
        now.elapsed = Duration::from_secs(second);
        now.pages_per_s = 10.0;
        now.snapshot.hosts_awake = 3;
        now.snapshot.in_flight = 2;
        let counters = &mut now.snapshot.counters;
        (counters.pages, counters.bytes, counters.queued) = (second * 10, second * 200, 90);
        counters.errors[0] = u64::from(second > 1);
        now
    }

    /// What was written, for all to read.
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Page {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
