//! `rhumb export`: a crawl as Parquet tables, WET records or JSON lines.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_export::ExportFailure;
use rhumb_export::every::{ExportOutputs, ExportedFiles, export};
use rhumb_export::source::CrawlSource;
use rhumb_node::watch::moment;

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;

/// Export a crawl for queries and corpora: Parquet tables, WET records, JSON lines.
///
/// Parquet is a directory with captures/ (the columns of Common Crawl's index, then importance,
/// cluster, change rate), pages/ (texts and what pages say about themselves), links/ and
/// host_links/, all sorted by SURT. WET and Dolma are one file with the texts. Each appears under
/// its name when it is whole, and nothing that exists is replaced.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb export rhumb-crawl --parquet tables
  duckdb -c \"SELECT text FROM 'tables/pages/*.parquet' WHERE is_leader AND confidence > .8\"
  rhumb export rhumb-crawl --wet crawl.warc.wet.gz --dolma crawl.jsonl.zst")]
pub struct ExportFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Write Parquet tables into this new directory
    #[arg(long, value_name = "OUT")]
    parquet: Option<PathBuf>,

    /// Write texts as WARC conversion records, gzipped
    #[arg(long, value_name = "OUT")]
    wet: Option<PathBuf>,

    /// Write texts as JSON lines {id, text, source, added, created, metadata}; compressed if the
    /// name ends in .gz or .zst
    #[arg(long, value_name = "OUT")]
    dolma: Option<PathBuf>,

    /// Threads that read pages; all pages of a host are read by one [as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: ExportFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let outputs = ExportOutputs { parquet: flags.parquet, wet: flags.wet, dolma: flags.dolma };
    let paths = outputs.paths();
    let Some(first) = paths.first() else {
        let what = "nothing to write: name --parquet OUT, --wet OUT or --dolma OUT";
        return Err(Trouble::Usage(what.to_owned()));
    };
    let places: Vec<PathBuf> = paths.iter().map(|path| place_of(path)).collect();
    if let Some(twice) = (1..places.len()).find(|at| places[..*at].contains(&places[*at])) {
        return Err(Trouble::Usage(format!("{}: is asked for twice", paths[twice].display())));
    }
    for path in &paths {
        new(path)?;
    }
    let threads = threads(flags.threads)?;
    let source = CrawlSource::open(&flags.dir, first).map_err(trouble)?;
    for gap in &source.gaps {
        notice(format_args!("warning: {gap}"));
    }
    let done = export(&source, &outputs, threads, &moment_of_export()).map_err(trouble)?;
    match flags.json {
        true => json::print(out, &done)?,
        false => print(out, &done)?,
    }
    out.flush()?;
    Ok(Ended::Done)
}

fn print(out: &mut impl Write, done: &ExportedFiles) -> std::io::Result<()> {
    let ExportedFiles { captures, pages, text_bytes, without_text, .. } = done;
    writeln!(out, "captures      {captures:>12}")?;
    writeln!(out, "pages         {pages:>12}  {text_bytes} bytes of text")?;
    writeln!(out, "without text  {without_text:>12}")?;
    if let Some(rows) = &done.parquet {
        writeln!(out, "links         {:>12}", rows.links)?;
    }
    Ok(())
}

/// An output by the directory that it will be in, however that is named.
fn place_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    parent.join(path.file_name().unwrap_or_default())
}

/// What exists is refused before anything is read.
pub(super) fn new(path: &Path) -> Result<(), Trouble> {
    match path.symlink_metadata() {
        Ok(_) => {
            let what = "exists already; name another output, or remove it first";
            Err(Trouble::Usage(format!("{}: {what}", path.display())))
        }
        Err(_) => Ok(()),
    }
}

pub(super) fn threads(asked: Option<usize>) -> Result<usize, Trouble> {
    match asked {
        Some(0) => Err(Trouble::Usage("--threads must be at least 1".to_owned())),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// `2026-05-01T10:00:00Z`
pub(super) fn moment_of_export() -> String {
    let now = moment::rfc3339(moment::now());
    format!("{}Z", &now[.."2026-05-01T10:00:00".len()])
}

pub(super) fn trouble(failure: ExportFailure) -> Trouble {
    match failure {
        ExportFailure::Usage(what) => Trouble::Usage(what),
        ExportFailure::Failed(what) => Trouble::Failed(what),
    }
}
