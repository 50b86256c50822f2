//! `rhumb crawl`

use std::io::Write;
use std::path::Path;

use clap::Args;
use rhumb_engine::event::StopReason;

use super::dashboard::{Door, Listen, RightsFlags};
use super::ended::{Ended, Trouble};
use super::notice::notice;
use super::{interrupts, json};
use rhumb_node::run::{self, Crawled, StopHandle};
use rhumb_node::settings::Typed;
use rhumb_node::watch::{ProgressKind, moment, printable};

/// Crawl from seeds into a directory.
///
/// Running it again on the same directory goes on where it stopped, also after a crash; new seeds
/// are added, a changed scope, filter or depth is applied to what waits and to what was refused
/// before, too, and what failed is tried again, once in each run. Settings of the last run are kept
/// in the directory's crawl.toml: flags win over --config, and that over crawl.toml. Only
/// --max-pages, --max-bytes, --max-time, --coverage and --retry-failed hold for one run; any other
/// bound is lifted with `none`.
///
/// Ctrl-C stops cleanly and exits 130; twice stops at once, and nothing is lost either way. A crawl
/// whose directory holds no page at the end exits 1 and says why.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb crawl https://example.org/ --max-pages 1000
  rhumb crawl --dir news --seeds seeds.txt --scope any --max-time 2h
  rhumb crawl --dir news --max-depth none
  rhumb crawl https://example.org/ --coverage 0.98
  rhumb crawl https://example.org/ --topic words:tides,moon --coverage 0.8
  rhumb crawl https://example.org/ --extract
  rhumb crawl https://example.org/ --events events.jsonl
  rhumb crawl https://example.org/ --dashboard auto

Durations are 300ms, 5s, 10m, 2h, 7d; sizes 500kB, 64MB, 1GiB. A configuration has the names of
the flags with _ for - (max_pages = 1000), seeds = [\"https://example.org/ 2\"], the sections
[retry], [traps] and [limits], and rules [[priority]] with pattern, class and weight; crawl.toml in
the directory of a crawl shows them all.")]
pub struct CrawlVerbFlags {
    #[command(flatten)]
    typed: Typed,

    /// Show this run in a browser: where to listen, or auto for a free port on loopback
    #[arg(long, value_name = "ADDR|auto", help_heading = "Watching")]
    dashboard: Option<Listen>,

    #[command(flatten)]
    rights: RightsFlags,
}

pub fn run(flags: CrawlVerbFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let settings = flags.typed.settings()?;
    for note in settings.notes.iter().filter(|_| !quiet) {
        notice(note);
    }
    // The address is taken before anything begins, and served from the crawl's own socket.
    let door = flags.dashboard.map(|listen| Door::take(listen, &flags.rights)).transpose()?;
    let serving = door
        .map(|door| {
            notice(format_args!("dashboard: {}", door.address()));
            door.open(&settings.dir)
        })
        .transpose()?;
    let stop = StopHandle::default();
    interrupts::stop_a_crawl(&stop, &settings.dir)?;
    let crawled = run::crawl(&settings, ProgressKind::for_stderr(quiet), &stop)?;
    drop(serving);
    if settings.json {
        json::print(out, &crawled.report)?;
    }
    let is_empty = crawled.report.pages == 0;
    if is_empty {
        notice(format_args!("error: no page was fetched: {}", printable(&why_empty(&crawled))));
    } else if let Some(hint) = crawled.report.hint.as_deref().filter(|_| !quiet) {
        notice(format_args!("hint: {}", printable(hint)));
    }
    // What is to be done about hosts that fail was said, if nothing else came.
    let is_said = is_empty && crawled.reason == StopReason::HostsFailing;
    if let Some(hint) = how_to_go_on(crawled.reason, &settings.dir).filter(|_| !quiet && !is_said) {
        notice(hint);
    }
    Ok(match crawled.reason {
        StopReason::Interrupted => Ended::Interrupted,
        _ if is_empty => Ended::Failed,
        StopReason::Finished
        | StopReason::HostsFailing
        | StopReason::Pages
        | StopReason::Bytes
        | StopReason::Time
        | StopReason::Coverage
        | StopReason::CoverageOutOfReach => Ended::Done,
    })
}

fn why_empty(crawled: &Crawled) -> String {
    let report = &crawled.report;
    let stopped = || match report.closed(moment::now()) {
        Some(closed) => format!("{closed} ([[hours]])"),
        None => format!("the run stopped before ({})", crawled.reason.word()),
    };
    report.hint.clone().unwrap_or_else(stopped)
}

/// One line for people, if there is more to do.
fn how_to_go_on(reason: StopReason, dir: &Path) -> Option<String> {
    let stopped = match reason {
        StopReason::Finished => return None,
        StopReason::HostsFailing => "only hosts that fail have URLs left, which is not for good",
        StopReason::Interrupted => "interrupted, nothing is lost",
        StopReason::Pages => "stopped at --max-pages",
        StopReason::Bytes => "stopped at --max-bytes",
        StopReason::Time => "stopped at --max-time",
        StopReason::Coverage => "stopped at --coverage",
        StopReason::CoverageOutOfReach => "--coverage is out of reach",
    };
    Some(format!("{stopped}; to go on: {}", run::resume_command(dir)))
}
