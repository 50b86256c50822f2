//! `rhumb dedup INPUT`

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use clap::Args;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use rhumb_neardup::{batch, shingle};

use super::ended::{Ended, Trouble};
use super::notice::notice;
use super::{interrupts, json};
use crate::dedup::{self, Clustering, DedupFailure, DedupJob, DedupReport, Watch};
use rhumb_node::settings::{NamedValue, NamedValues, Size};

/// Complaints shown one by one; the rest are counted.
const COMPLAINTS_SHOWN: usize = 20;
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Sets, keys and pairs of some millions of pages.
const MEMORY_DEFAULT: &str = "1GiB";

/// Find near-duplicates: pairs, clusters, mirrors.
///
/// INPUT is JSON lines {id, text or html, url}, a WARC file, or a crawl's directory. Two documents
/// are as alike as their sets of shingles, runs of four words: shared ones divided by all. Pairs
/// are verified exactly. A document that cannot be read is named and left out.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb dedup pages.jsonl.zst --pairs pairs.tsv --clusters clusters.tsv
  rhumb dedup rhumb-crawl --mirrors mirrors.tsv --json
  rhumb dedup huge.jsonl.zst --clusters clusters.tsv --memory 256MB --tmp /var/tmp
  rhumb dedup huge.jsonl.zst --pairs pairs.tsv --journal /var/tmp/huge.journal")]
pub struct DedupFlags {
    /// JSON lines, a WARC file, or a crawl's directory; - is standard input
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// Least similarity of near-duplicates
    #[arg(long, value_name = "X", default_value_t = 0.8)]
    threshold: f64,

    /// Words in a shingle
    #[arg(long, value_name = "N", default_value_t = shingle::WORDS_DEFAULT)]
    shingle: usize,

    /// Write all pairs: a, b, similarity
    #[arg(long, value_name = "OUT.tsv")]
    pairs: Option<PathBuf>,

    /// Write the cluster of every document, named after its first one
    #[arg(long, value_name = "OUT.tsv")]
    clusters: Option<PathBuf>,

    /// Join whatever is connected by pairs, or only what resembles one leader
    #[arg(long, value_name = "single-link|leader", default_value = "single-link")]
    cluster: NamedValue<Clustering>,

    /// Write pairs of hosts of which one holds 30 % or more of the other
    #[arg(long, value_name = "OUT.tsv")]
    mirrors: Option<PathBuf>,

    /// Write pairs of paths of hosts of which one holds 30 % or more of the other
    #[arg(long, value_name = "OUT.tsv")]
    collections: Option<PathBuf>,

    /// Leave out shingles that are in more than this share of the texts (0.01 is one in a hundred);
    /// similarity is then that of what is left
    #[arg(long, value_name = "SHARE")]
    common_shingles: Option<f64>,

    /// Memory for sets, keys and pairs; beyond it they go to disk
    #[arg(long, value_name = "SIZE", default_value = MEMORY_DEFAULT)]
    memory: Size,

    /// Where temporary files go
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,

    /// Keep in this file what is done: interrupted, the same command goes on; removed at the end
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Threads; all cores by default
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

impl NamedValues for Clustering {
    const WHAT: &'static str = "clustering";
    const WORDS: &'static [(&'static str, Clustering)] =
        &[("single-link", Clustering::SingleLink), ("leader", Clustering::Leader)];
}

pub fn run(flags: DedupFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let json = flags.json;
    let job = job(flags)?;
    // Temporary files and outputs have no names until they are whole: nothing is left behind but
    // the journal, if there is one (docs/decisions/0011-dedup-journal.md).
    interrupts::exit_at_once()?;
    let watch = Watch::default();
    let mut complaints = 0;
    let mut complain = |what: &str| {
        complaints += 1;
        if complaints <= COMPLAINTS_SHOWN {
            notice(what);
        } else if complaints == COMPLAINTS_SHOWN + 1 {
            notice("more such lines are only counted");
        }
    };
    let report = thread::scope(|scope| {
        if !quiet && std::io::stderr().is_terminal() {
            scope.spawn(|| draw(&watch));
        }
        let report = dedup::run(&job, &watch, &mut complain);
        watch.done.store(true, Ordering::Release);
        report
    });
    let report = report.map_err(|DedupFailure(what)| Trouble::Failed(what))?;
    if json {
        json::print(out, &report)?;
    } else {
        print(&report, out)?;
    }
    Ok(Ended::Done)
}

fn job(flags: DedupFlags) -> Result<DedupJob, Trouble> {
    let usage = |what: String| Err(Trouble::Usage(what));
    if !(flags.threshold > 0.0 && flags.threshold <= 1.0) {
        return usage(format!("--threshold {}: above 0 and up to 1", flags.threshold));
    }
    if !(1..=shingle::WORDS_MAX).contains(&flags.shingle) {
        return usage(format!("--shingle {}: from 1 to {}", flags.shingle, shingle::WORDS_MAX));
    }
    if let Some(share) = flags.common_shingles.filter(|share| !(*share > 0.0 && *share < 1.0)) {
        return usage(format!("--common-shingles {share}: above 0 and below 1"));
    }
    if flags.threads == Some(0) {
        return usage("--threads 0: at least one".to_owned());
    }
    if flags.input.as_os_str() != "-" && !flags.input.exists() {
        return usage(format!("{}: no such file or directory", flags.input.display()));
    }
    if flags.journal.is_some() && flags.input.as_os_str() == "-" {
        return usage("--journal: standard input cannot be read again, name a file".to_owned());
    }
    let dir = flags.tmp.unwrap_or_else(std::env::temp_dir);
    if !dir.is_dir() {
        return usage(format!("--tmp {}: no such directory", dir.display()));
    }
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    Ok(DedupJob {
        input: flags.input,
        settings: batch::BatchSettings {
            threshold: flags.threshold,
            words: flags.shingle,
            memory_bytes: usize::try_from(flags.memory.0).unwrap_or(usize::MAX),
            dir,
            threads: flags.threads.unwrap_or_else(cores),
        },
        pairs: flags.pairs,
        clusters: flags.clusters,
        clustering: flags.cluster.0,
        mirrors: flags.mirrors,
        collections: flags.collections,
        common_shingles: flags.common_shingles,
        journal: flags.journal,
    })
}

fn draw(watch: &Watch) {
    let style = ProgressStyle::with_template("{spinner} {msg}");
    let bar = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    while !watch.done.load(Ordering::Acquire) {
        bar.set_message(watch.words());
        bar.tick();
        thread::sleep(DRAW_EVERY);
    }
    bar.finish_and_clear();
}

fn print(report: &DedupReport, out: &mut impl Write) -> Result<(), Trouble> {
    let DedupReport { documents, exact_duplicates, empty, skipped, seconds, .. } = report;
    writeln!(out, "{documents} documents: {exact_duplicates} exact duplicates, {empty} empty")?;
    if *skipped > 0 {
        writeln!(out, "{skipped} left out, see above")?;
    }
    if let Some(common) = &report.common_shingles {
        let dedup::CommonReport { share, shingles, occurrences, emptied } = common;
        writeln!(out, "without {shingles} shingles that are in more than {share} of the texts")?;
        writeln!(out, "  they stood {occurrences} times; {emptied} texts have no others")?;
    }
    if let Some(pairs) = report.pairs {
        writeln!(out, "{pairs} pairs at {} or above", report.threshold)?;
    }
    if let Some(clusters) = &report.clusters {
        let (count, inside) = (clusters.count, clusters.documents);
        writeln!(out, "{count} clusters of two or more, with {inside} documents")?;
        if clusters.chains > 0 {
            writeln!(out, "{} of them are chains: their ends differ", clusters.chains)?;
        }
        for cluster in clusters.largest.iter().take(5) {
            let least = cluster.resemblance_min;
            let chain = if cluster.chain { "  a chain" } else { "" };
            let sample = cluster.sample.join(", ");
            writeln!(out, "  {:>8}  ends {least:.2} alike{chain}  ({sample})", cluster.documents)?;
        }
    }
    if report.cut_short > 0 {
        let cut = report.cut_short;
        writeln!(
            out,
            "{cut} comparisons within crowded buckets were cut short: links may be missing"
        )?;
    }
    if let Some(mirrors) = report.mirrors {
        writeln!(out, "{mirrors} pairs of mirrors")?;
    }
    if let Some(collections) = report.collections {
        writeln!(out, "{collections} pairs of collections")?;
    }
    let rate = report.mb_per_s;
    let memory = HumanBytes(report.peak_rss_bytes);
    writeln!(out, "{seconds:.1} s, {rate:.0} MB/s of text, at most {memory} of memory")?;
    out.flush()?;
    Ok(())
}
