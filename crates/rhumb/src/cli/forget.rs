//! `rhumb forget`: takes URLs and hosts down.

use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use rhumb_node::forget::{self, list::TakedownTarget};
use rhumb_node::watch::counted;

use super::ended::{Ended, Trouble};
use super::json;

/// Take URLs or hosts down: out of archive, index, search and text, and out of all later runs.
///
/// Their records in the WARC files are overwritten where they lie by ones that say so; nothing else
/// in these files moves. Pages with the same bytes are kept by themselves. What was exported before
/// is not touched. The crawl must not be running. A takedown that was cut short is finished by
/// running it again, with or without a target.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb forget rhumb-crawl https://example.org/private/letter.html
  rhumb forget rhumb-crawl example.org www.example.org
  rhumb forget rhumb-crawl")]
pub struct ForgetFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// A URL with its scheme, or the name of a host, for all that is on it
    #[arg(value_name = "URL|HOST")]
    targets: Vec<String>,

    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &ForgetFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let targets: Result<Vec<TakedownTarget>, String> =
        flags.targets.iter().map(|t| t.parse()).collect();
    let targets = targets.map_err(Trouble::Usage)?;
    if targets.is_empty() && forget::check_whole(&flags.dir).is_ok() {
        let hint = "nothing to forget: name a URL or a host, as in rhumb forget DIR example.org";
        return Err(Trouble::Usage(hint.to_owned()));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let done = forget::forget(&flags.dir, &targets, now.as_micros() as u64)?;
    if flags.json {
        json::print(out, &done)?;
        return Ok(Ended::Done);
    }
    writeln!(
        out,
        "{} taken down: {} overwritten, {} of text removed; {} kept by themselves",
        counted(done.urls, "URL", "URLs"),
        counted(done.records, "record", "records"),
        counted(done.rows, "row", "rows"),
        counted(done.kept_anew, "page that had their bytes is", "pages that had their bytes are"),
    )?;
    Ok(Ended::Done)
}
