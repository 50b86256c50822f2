//! `rhumb bench soak`: whether anything grows while a crawl goes on for hours.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;
use rhumb_lab::bench::soak::{self, Soak, Soaked};
use rhumb_node::settings::{NamedValue, Period};

/// A crawl that goes on, over a web on loopback that changes, fails and misleads, for hours: its
/// memory, handles, threads, queue, state and rate, and how fast each of them grows.
///
/// Slopes are those of the second half of the time, by least squares: the first fills buffers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb bench soak --time 1h --plot soak.svg
  rhumb bench soak --time 20m --web hostile --json")]
pub struct SoakFlags {
    /// How long the crawl goes on
    #[arg(long, value_name = "DUR", default_value = "1h")]
    time: Period,

    /// From one look to the next
    #[arg(long, value_name = "DUR", default_value = "5s")]
    every: Period,

    /// About as odd as the real web, or one site for each kind of misbehaviour
    #[arg(long, value_name = "usual|hostile", default_value = "usual")]
    web: NamedValue<Soaked>,

    /// Pages of the usual web
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pages: u32,

    /// Draw the series
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,

    /// Where the crawl is written meanwhile: a disk that counts
    #[arg(long, value_name = "DIR", default_value = ".")]
    tmp: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &SoakFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let options = soak::SoakOptions {
        web: flags.web.0,
        pages: flags.pages,
        time: flags.time.0,
        every: flags.every.0,
        plot: flags.plot.clone(),
        tmp: flags.tmp.clone(),
    };
    let soaked = soak::run(&options, |sample| {
        if !quiet {
            notice(format_args!(
                "{:>6.0} s {:>5} MiB {:>5} handles {:>8} queued {:>6.0} answers/s",
                sample.seconds,
                sample.rss_bytes >> 20,
                sample.handles,
                sample.queued,
                sample.answers_per_s
            ));
        }
    })?;
    if flags.json {
        json::print(out, &soaked)?;
    } else {
        writeln!(out, "{}", text(&soaked))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn text(soak: &Soak) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["", "first quarter", "last quarter", "second half", "growth/hour"];
    table.set_header(head.map(right));
    for trend in &soak.trends {
        table.add_row([
            Cell::new(trend.what),
            right(&format!("{:.0}", trend.first_quarter)),
            right(&format!("{:.0}", trend.last_quarter)),
            right(&format!("{:.0}", trend.mean)),
            right(&format!("{:+.0}", trend.slope_per_hour)),
        ]);
    }
    let ended = soak.stopped_because.as_deref().unwrap_or("without a word");
    format!(
        "{}\n{:.0} s, {} answers, {} pages, ended: {ended}",
        table.trim_fmt(),
        soak.seconds,
        soak.answers,
        soak.pages
    )
}
