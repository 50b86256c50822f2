//! `rhumb demo`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use indicatif::{HumanBytes, HumanCount};

use super::dashboard::{Door, Listen, RightsFlags};
use super::ended::{Ended, Trouble};
use super::notice::notice;
use super::{interrupts, json};
use rhumb_lab::demo::{self, Demo, DemoOptions, Finds, PAGES_MAX, PAGES_MIN};
use rhumb_node::run::StopHandle;
use rhumb_node::watch::ProgressKind;

/// Crawl a synthetic web on this machine and check what came of it.
///
/// Serves some thousand pages over hundreds of hosts on loopback, with a name server of its own:
/// robots.txt, sitemaps, duplicates, redirects, traps, hosts that fail. Crawls them for real, from
/// 20 front pages, and compares with what the server saw and knows. Takes about twenty seconds,
/// needs no network and leaves its directory.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb demo
  rhumb demo --dashboard
  rhumb demo --dir /tmp/demo --pages 500 --seed 7")]
pub struct DemoFlags {
    /// Where to; DIR-2, DIR-3, … if something is there: nothing is ever deleted
    #[arg(long, value_name = "DIR", default_value = "./rhumb-demo")]
    dir: PathBuf,

    /// Pages of the web
    #[arg(long, value_name = "N", default_value_t = 3_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(PAGES_MIN as i64..=PAGES_MAX as i64))]
    pages: u32,

    /// Another number, another web
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Show it in a browser, also when it has ended, until Ctrl-C: where to listen, or auto
    #[arg(long, value_name = "ADDR|auto", num_args = 0..=1, default_missing_value = "auto")]
    dashboard: Option<Listen>,

    #[command(flatten)]
    rights: RightsFlags,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &DemoFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let door = flags.dashboard.map(|listen| Door::take(listen, &flags.rights)).transpose()?;
    let DemoFlags { dir, pages, seed, .. } = flags;
    let options =
        DemoOptions { dir: dir.clone(), pages: *pages, seed: *seed, index: door.is_some() };
    let mut serving = None;
    let stop = StopHandle::default();
    interrupts::stop_a_crawl(&stop, &flags.dir)?;
    let watched = (ProgressKind::for_stderr(quiet), &stop);
    let demo = demo::run(&options, watched, |settings, web| {
        if let Some(door) = door {
            notice(format_args!("dashboard: {}", door.address()));
            serving = Some(door.open(&settings.dir));
        }
        if !quiet {
            notice(format_args!(
                "crawling {} pages of {} sites on loopback, from {} seeds, into {}",
                HumanCount(web.pages.into()),
                web.sites,
                settings.seeds.len(),
                settings.dir.display()
            ));
        }
    })?;
    if flags.json {
        json::print(out, &demo)?;
    } else {
        write!(out, "{}", text(&demo))?;
        out.flush()?;
    }
    if let Some(serving) = serving.transpose()?.filter(|_| demo.complete) {
        notice("\nthe dashboard is still there; Ctrl-C ends it");
        interrupts::wait_for_one()?;
        drop(serving);
    }
    Ok(match (demo.complete, demo.holds()) {
        (false, _) => Ended::Interrupted,
        (true, true) => Ended::Done,
        (true, false) => Ended::Failed,
    })
}

fn text(demo: &Demo) -> String {
    let mut text = counts(demo);
    text += &examples(&demo.finds);
    if !demo.checks.is_empty() {
        text += "\nchecked against the web's own truth and the server's log\n";
    }
    for check in &demo.checks {
        let mark = if check.holds { "✓" } else { "✗" };
        text += &format!("  {mark} {}\n", check.what);
    }
    text + &files(demo) + &next(demo)
}

fn counts(demo: &Demo) -> String {
    let report = &demo.report;
    let count = |n: u64| HumanCount(n).to_string();
    let refused = |why: &str| count(report.refused.get(why).copied().unwrap_or(0));
    let failed: Vec<String> = report.failed.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let rows = [
        (
            "pages",
            format!(
                "{} from {} hosts, {} in {:.1} s",
                count(report.pages),
                count(report.hosts),
                HumanBytes(report.bytes),
                report.seconds
            ),
        ),
        (
            "duplicates",
            format!("{} pages had the bytes of another", count(report.exact_duplicates)),
        ),
        ("redirects", format!("{} followed, through frontier and robots.txt", count(report.moved))),
        ("robots.txt", format!("{} URLs denied", count(report.robots_denied))),
        (
            "traps",
            format!(
                "{} URLs refused by shape, {} by depth, {} by a filter",
                refused("trap"),
                refused("depth"),
                refused("filter")
            ),
        ),
        ("gone", format!("{} URLs", count(report.gone))),
        ("failed", if failed.is_empty() { "none".to_owned() } else { failed.join(", ") }),
    ];
    let lines = rows.iter().map(|(name, what)| format!("  {name:<12}{what}\n"));
    "\nfound\n".to_owned() + &lines.collect::<String>()
}

fn examples(finds: &Finds) -> String {
    let mut text = String::from("\nfor example\n");
    if let Some(pair) = &finds.duplicate {
        text += &format!("  {}\n    is the same as {}\n", pair.url, pair.of);
    }
    if let Some(denied) = &finds.denied {
        text += &format!("  {}\n    is denied", denied.url);
        if let (Some(line), Some(rule)) = (denied.line, &denied.rule) {
            text += &format!(" by line {line} of its robots.txt: {rule}");
        }
        text += "\n";
    }
    if let Some(url) = &finds.trap {
        text += &format!("  {url}\n    looks like a trap\n");
    }
    if let Some(failed) = &finds.failed {
        text += &format!("  {}\n    failed: {}\n", failed.url, failed.kind);
    }
    text
}

fn files(demo: &Demo) -> String {
    let mut text = format!("\nleft in {}\n", demo.dir.display());
    for file in &demo.finds.files {
        let size = HumanBytes(file.bytes).to_string();
        text += &format!("  {size:>12}  {}\n", file.path.display());
    }
    text
}

fn next(demo: &Demo) -> String {
    let dir = demo.dir.display();
    let mut text = format!("\nto try next\n  rhumb status {dir}\n");
    if let Some(denied) = &demo.finds.denied {
        text += &format!("  rhumb status {dir} --url '{}'\n", denied.url);
    }
    text + &format!("  warcio check {dir}/warc/*.warc.gz    (pip install warcio)\n")
}
