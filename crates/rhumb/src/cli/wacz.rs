//! `rhumb wacz`: a crawl in one file that browsers replay.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use rhumb_export::source::CrawlSource;
use rhumb_export::wacz::{PLAIN_INDEX_BYTES_MAX, WaczJob, WaczSigner, write};
use rhumb_node::settings::Size;
use rhumb_node::watch::coverage::certificate;
use rhumb_node::watch::report::CrawlReport;
use serde_json::{Value, json};

use super::ended::{Ended, Trouble};
use super::export::{moment_of_export, new, threads, trouble};
use super::json;
use super::notice::notice;

/// Pack a crawl as WACZ 1.1.1: WARC files, index and pages in one file that browsers replay.
///
/// The package also says how complete the crawl is: rhumb/rhumb.json in it has the share of all
/// importance that is covered for certain, what robots.txt forbade, and how many duplicates there
/// are. A crawl of several packages becomes a directory with a datapackage.json that names them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb wacz rhumb-crawl
  rhumb wacz rhumb-crawl -o crawl.wacz --title 'Example, May 2026' --sign key.pem
  rhumb wacz big --max-size 4GB -o big-packages")]
pub struct WaczFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The package to write; a directory if there are several [DIR.wacz]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Begin a new package beyond this size; no WARC file is divided
    #[arg(long, value_name = "SIZE", default_value = "10GB")]
    max_size: Size,

    /// What the package is called [the directory's name]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Sign with this private key: ECDSA P-384 in PEM, PKCS #8
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,

    /// Threads that read pages [as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: WaczFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let output = flags.output.unwrap_or_else(|| {
        // `.` has a name, too.
        let dir = flags.dir.canonicalize().unwrap_or_else(|_| flags.dir.clone());
        let mut name = match flags.dir.file_name() {
            Some(_) => flags.dir.components().as_path().as_os_str().to_owned(),
            None => dir.into_os_string(),
        };
        name.push(".wacz");
        name.into()
    });
    new(&output)?;
    let signer = flags.sign.as_deref().map(WaczSigner::read).transpose().map_err(trouble)?;
    let threads = threads(flags.threads)?;
    let source = CrawlSource::open(&flags.dir, &output).map_err(trouble)?;
    for gap in &source.gaps {
        notice(format_args!("warning: {gap}"));
    }
    let job = WaczJob {
        output,
        size_max: flags.max_size.0,
        plain_index_bytes_max: PLAIN_INDEX_BYTES_MAX,
        threads,
        title: flags.title,
        signer,
        created: moment_of_export(),
        facts: facts(&source)?,
    };
    let made = write(&source, &job).map_err(trouble)?;
    if flags.json {
        json::print(out, &made)?;
        return Ok(Ended::Done);
    }
    for file in &made.files {
        writeln!(out, "{}", file.display())?;
    }
    writeln!(out, "{} captures, {} pages, {} bytes", made.captures, made.pages, made.bytes)?;
    out.flush()?;
    Ok(Ended::Done)
}

/// What the crawl says of itself.
fn facts(source: &CrawlSource) -> Result<Value, Trouble> {
    let report = CrawlReport::read(&source.dir)?.unwrap_or_default();
    let coverage = source.state.as_ref().map(certificate).transpose()?;
    let coverage = match coverage.filter(|covered| !covered.is_empty()) {
        Some(covered) => Some(covered),
        None => report.coverage,
    };
    Ok(json!({
        "software": format!("rhumb {}", env!("CARGO_PKG_VERSION")),
        "coverage": coverage,
        "order": report.order,
        "stopped_because": report.stopped_because,
        "pages": report.pages,
        "known_urls": report.known_urls,
        "queued": report.queued,
        "robots_denied": report.robots_denied,
        "refused": report.refused,
        "failed": report.failed,
        "gone": report.gone,
        "exact_duplicates": report.exact_duplicates,
        "near_duplicates": report.near_duplicates,
        "noindex": report.noindex,
        "gaps": source.gaps,
        "docs": "coverage.bound is the share of all importance (personalised PageRank from the \
                 seeds) that the crawled pages have for certain, whatever the rest of the web is",
    }))
}
