//! `rhumb bench`: measurements, side by side in one run, and the crawl of a hostile web.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{HumanBytes, HumanCount};

use super::bench_hostile::{self, HostileFlags};
use super::bench_soak::{self, SoakFlags};
use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;
use rhumb_lab::bench::crawl::{self, CrawlFigures};
use rhumb_lab::bench::memory::{self, Level};
use rhumb_node::settings::{ArchiveKind, NamedValue, NamedValues};

/// Measure this machine and this program, side by side in one run.
#[derive(Args)]
#[command(after_help = "Example:\n  rhumb bench crawl --rounds 3")]
#[command(arg_required_else_help = true)]
pub struct BenchFlags {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Crawl(CrawlFlags),
    Memory(MemoryFlags),
    Hostile(HostileFlags),
    Soak(SoakFlags),
}

/// The whole crawl beside a plain client over the same web on loopback.
///
/// The plain client knows its URLs, keeps connections alive and throws bodies away; the crawl finds
/// the same pages by itself, in a process of its own: as people crawl, and *simply*, breadth first
/// and without comparing texts, as other crawlers do. GNU wget2 and wrk are measured as well if
/// they are installed. The plain client runs before and after each of the others, which are
/// compared with its mean. Rounds take turns and medians are told: compare ratios, not numbers of
/// different runs, and let the machine do nothing else meanwhile.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb bench crawl
  rhumb bench crawl --pages 20000 --archive none --rounds 5 --json
  rhumb bench crawl --against /usr/bin/rhumb --rounds 9 --alone
  rhumb bench crawl -- --order bfs")]
struct CrawlFlags {
    /// Pages of the web
    #[arg(long, value_name = "N", default_value_t = 60_000)]
    pages: u32,

    /// Hosts they are spread over
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    hosts: u32,

    /// Mean size of a page
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    page_bytes: u32,

    /// Which crawls
    #[arg(long, value_name = "both|none|warc", default_value = "both")]
    archive: NamedValue<Archives>,

    /// Requests in flight of the crawl
    #[arg(long, value_name = "N", default_value_t = 256)]
    concurrency: usize,

    /// Each contender runs so many times
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,

    /// Leave wget2 and wrk out, installed or not
    #[arg(long)]
    alone: bool,

    /// Another build of rhumb, to crawl in turns with this one instead of simple crawls: what a
    /// change costs
    #[arg(long, value_name = "PROGRAM")]
    against: Option<PathBuf>,

    /// Where crawls are written meanwhile: a disk that counts
    #[arg(long, value_name = "DIR", default_value = ".")]
    tmp: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,

    /// Flags of `rhumb crawl`: crawls with these are measured instead
    #[arg(last = true, value_name = "FLAG")]
    crawl_flags: Vec<String>,
}

/// What a known URL costs in memory, and how long a resume takes.
///
/// For each number a crawl of its own reads lists of URLs until it knows so many, is killed as kill
/// -9 does, and is started again. Hosts never answer, so nearly all of the URLs wait.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb bench memory
  rhumb bench memory --urls 1000000,10000000 --json")]
struct MemoryFlags {
    /// Numbers of URLs, rising
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1000000,2000000")]
    urls: Vec<u64>,

    /// Where crawls are written meanwhile: a disk that counts
    #[arg(long, value_name = "DIR", default_value = ".")]
    tmp: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Archives {
    Both,
    None,
    Warc,
}

impl NamedValues for Archives {
    const WHAT: &'static str = "archive";
    const WORDS: &'static [(&'static str, Archives)] =
        &[("both", Archives::Both), ("none", Archives::None), ("warc", Archives::Warc)];
}

pub fn run(flags: &BenchFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    match &flags.what {
        What::Crawl(flags) => run_crawl(flags, quiet, out),
        What::Memory(flags) => run_memory(flags, quiet, out),
        What::Hostile(flags) => bench_hostile::run(flags, out),
        What::Soak(flags) => bench_soak::run(flags, quiet, out),
    }
}

fn run_crawl(flags: &CrawlFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let archives = match flags.archive.0 {
        Archives::Both => vec![ArchiveKind::None, ArchiveKind::Warc],
        Archives::None => vec![ArchiveKind::None],
        Archives::Warc => vec![ArchiveKind::Warc],
    };
    let options = crawl::CrawlOptions {
        pages: flags.pages,
        hosts: flags.hosts,
        page_bytes: flags.page_bytes,
        concurrency: flags.concurrency,
        rounds: flags.rounds.into(),
        archives,
        alone: flags.alone,
        against: flags.against.clone(),
        crawl_flags: flags.crawl_flags.clone(),
        tmp: flags.tmp.clone(),
    };
    let outcome = crawl::run(&options, |contender, lap| {
        if !quiet {
            notice(format_args!("{:<18} {:>6.0} pages/s", contender.word(), lap.pages_per_s));
        }
    })?;
    if flags.json {
        json::print(out, &outcome)?;
    } else {
        write!(out, "{}", text(&outcome))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn text(outcome: &CrawlFigures) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["", "pages", "pages/s", "of plain", "CPU µs/page", "server µs/page", "peak memory"];
    table.set_header(head.map(right));
    for standing in &outcome.standings {
        let lap = &standing.median;
        let memory = match lap.peak_rss_bytes {
            0 => String::new(),
            bytes => HumanBytes(bytes).to_string(),
        };
        table.add_row([
            Cell::new(standing.contender.word()),
            right(&HumanCount(lap.pages).to_string()),
            right(&HumanCount(lap.pages_per_s as u64).to_string()),
            right(&format!("{:.2}", lap.ratio)),
            right(&format!("{:.1}", lap.client_cpu_us_per_page)),
            right(&format!("{:.1}", lap.server_cpu_us_per_page)),
            right(&memory),
        ]);
    }
    let mut text = format!("{}\n", table.trim_fmt());
    for standing in &outcome.standings {
        let (got, there) = (standing.median.pages, u64::from(outcome.pages));
        if got < there {
            let verdict = match got * 10 < there * 9 {
                true => ": its numbers do not compare",
                false => "",
            };
            text += &format!(
                "{} fetched {} of {} pages{verdict}\n",
                standing.contender.word(),
                HumanCount(got),
                HumanCount(there)
            );
        }
    }
    for ratio in &outcome.against {
        text += &format!(
            "{}: {:.3} of the other build's CPU per page, {:.3} of its memory\n",
            ratio.contender.word(),
            ratio.client_cpu_us_per_page,
            ratio.peak_rss_bytes
        );
    }
    if let Some(wrk) = &outcome.beside_wrk {
        text += &format!(
            "one page over and over: plain client {:.0} pages/s, wrk {:.0}: {:.2} of it\n",
            wrk.plain_pages_per_s, wrk.wrk_pages_per_s, wrk.ratio
        );
    }
    for program in &outcome.absent {
        text += &format!("{program} is not installed: not measured\n");
    }
    text
}

fn run_memory(flags: &MemoryFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let options = memory::MemoryOptions { urls: flags.urls.clone(), tmp: flags.tmp.clone() };
    let levels = memory::run(&options, |level| {
        if !quiet {
            notice(format_args!(
                "{} URLs known after {:.0} s",
                HumanCount(level.known_urls),
                level.seconds
            ));
        }
    })?;
    if flags.json {
        json::print(out, &levels)?;
    } else {
        writeln!(out, "{}", memory_text(&levels))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn memory_text(levels: &[Level]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["known URLs", "seconds", "peak memory", "per further URL", "resume", "its memory"];
    table.set_header(head.map(right));
    for level in levels {
        let further = level.bytes_per_further_url.map_or(String::new(), |n| format!("{n:.0} B"));
        table.add_row([
            right(&HumanCount(level.known_urls).to_string()),
            right(&format!("{:.1}", level.seconds)),
            right(&HumanBytes(level.peak_rss_bytes).to_string()),
            right(&further),
            right(&format!("{:.2} s", level.resume_seconds)),
            right(&HumanBytes(level.resumed_peak_rss_bytes).to_string()),
        ]);
    }
    table.trim_fmt()
}
