//! `rhumb bench hostile`: one crawl over a web of misbehaving servers, and what came of each.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{HumanBytes, HumanCount};

use super::ended::{Ended, Trouble};
use super::json;
use rhumb_lab::bench::hostile::{HostileBenchOptions, outcome};
use rhumb_lab::hostile::kinds::{GROUPS, HEALTHY_PAGES};
use rhumb_lab::hostile::run::HostileOutcome;
use rhumb_node::settings::Period;

/// Crawl a web of misbehaving servers, and judge by what they saw.
///
/// One site for each kind of misbehaviour, each at a loopback address of its own, beside a healthy
/// one of 200 pages; their own name server; one crawl in a process of its own, with --delay 50ms
/// --scope any --max-pages-per-host 300 --allow-private. What is expected of each kind is data;
/// what came otherwise is printed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb bench hostile
  rhumb bench hostile --only gzbomb,rbnever --time 10s
  rhumb bench hostile --list")]
pub struct HostileFlags {
    /// How long the crawl may run (its --max-time)
    #[arg(long, value_name = "DUR", default_value = "40s")]
    time: Period,

    /// These kinds beside the healthy one
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    only: Vec<String>,

    /// Print the kinds and what is expected of them, and crawl nothing
    #[arg(long)]
    list: bool,

    /// Write the crawl into this new directory and leave it there
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Where the crawl is written meanwhile
    #[arg(long, value_name = "DIR", default_value = ".")]
    tmp: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,

    /// Flags of `rhumb crawl` besides
    #[arg(last = true, value_name = "FLAG")]
    crawl_flags: Vec<String>,
}

pub fn run(flags: &HostileFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.list {
        write!(out, "{}", list())?;
        out.flush()?;
        return Ok(Ended::Done);
    }
    let options = HostileBenchOptions {
        time: flags.time.0,
        only: flags.only.clone(),
        keep: flags.keep.clone(),
        tmp: flags.tmp.clone(),
        crawl_flags: flags.crawl_flags.clone(),
    };
    let outcome = outcome(&options)?;
    if flags.json {
        json::print(out, &outcome)?;
    } else {
        write!(out, "{}", text(&outcome))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn list() -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["group", "kind", "what it does", "a good crawler", "requests"]);
    for (group, kinds) in GROUPS {
        for kind in *kinds {
            let requests = kind.expected.requests_max.to_string();
            table.add_row([*group, kind.name, kind.does, kind.good, &requests]);
        }
    }
    format!("{}\n", table.trim_fmt())
}

fn text(outcome: &HostileOutcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["", "kind", "pages", "robots", "names", "open", "lookups", "sent", "failures"];
    table.set_header(head.map(Cell::new));
    for kind in &outcome.kinds {
        let failures: Vec<String> =
            kind.failures.iter().map(|(failure, count)| format!("{failure} {count}")).collect();
        table.add_row([
            Cell::new(if kind.faults.is_empty() { "✓" } else { "✗" }),
            Cell::new(kind.kind),
            right(&HumanCount(kind.requests).to_string()),
            right(&HumanCount(kind.robots_requests).to_string()),
            right(&kind.names.to_string()),
            right(&kind.open_max.to_string()),
            right(&kind.lookups.to_string()),
            right(&HumanBytes(kind.sent_bytes).to_string()),
            Cell::new(failures.join(", ")),
        ]);
    }
    let mut text = format!("{}\n\n", table.trim_fmt());
    for kind in &outcome.kinds {
        for fault in &kind.faults {
            text += &format!("✗ {}: {fault}\n", kind.kind);
        }
    }
    for fault in &outcome.faults {
        text += &format!("✗ {fault}\n");
    }
    let fine = outcome.kinds.iter().filter(|kind| kind.faults.is_empty()).count();
    text += &format!(
        "{fine} of {} kinds as expected; {} of {HEALTHY_PAGES} healthy pages; {} at most; {} \
         connections open to one address; {} after {:.1} s, {:.1} s after the limit\n",
        outcome.kinds.len(),
        outcome.healthy_pages,
        HumanBytes(outcome.peak_rss_bytes),
        outcome.open_connections_max,
        outcome.stopped_because,
        outcome.seconds,
        outcome.stop_seconds
    );
    text
}
