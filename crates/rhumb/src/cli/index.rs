//! `rhumb index`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use indicatif::HumanBytes;
use rhumb_search::check_place;

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;
use crate::index::{IndexReport, index_crawl, index_lines};

/// Lines that are no page and are named one by one; of more, the number is told.
const COMPLAINTS_SHOWN: u64 = 20;

/// Make a search index, of a crawl or of any texts.
///
/// Of a crawl's directory it goes to DIR/search and is made from the archive: what an index there
/// has already is kept, and deleting it loses nothing. Pages that ask for noindex are left out.
///
/// Of JSON lines {"id", "title", "text" or "html", "url"}; all but id and one of text and html may
/// be absent. Rows of rhumb extract are such lines. Near-duplicates are found while indexing. An
/// index that is there is replaced when the new one is whole. A directory that holds anything else
/// is refused.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb index rhumb-crawl
  rhumb search rhumb-crawl 'spring tides'
  rhumb index corpus.jsonl.zst --out corpus-index
  rhumb search corpus-index 'spring tides'")]
pub struct IndexFlags {
    /// A crawl's directory, or JSON lines; - is standard input; .gz and .zst are read as such
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// Where the index goes [DIR/search of a crawl]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &IndexFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let name = flags.input.display();
    if flags.input.as_os_str() != "-" && !flags.input.exists() {
        return Err(Trouble::Usage(format!("{name}: no such file or directory")));
    }
    if flags.input.is_dir() {
        let report = index_crawl(&flags.input, flags.out.as_deref()).map_err(trouble)?;
        report.gaps.iter().for_each(|gap| notice(format_args!("warning: {gap}")));
        return told(flags, &report, out);
    }
    let Some(dir) = &flags.out else {
        return Err(Trouble::Usage("--out DIR is needed: where the index goes".to_owned()));
    };
    check_place(dir).map_err(|error| Trouble::Usage(format!("--out {error}")))?;
    let mut complaints = 0;
    let mut complain = |what: &str| {
        complaints += 1;
        if complaints <= COMPLAINTS_SHOWN {
            notice(format_args!("rhumb: {what}"));
        } else if complaints == COMPLAINTS_SHOWN + 1 {
            notice("rhumb: more such lines are only counted");
        }
    };
    let report = index_lines(&flags.input, dir, &mut complain).map_err(Trouble::Failed)?;
    if report.replaced > 0 {
        notice(format_args!(
            "rhumb: {} ids occur more than once: the last line of each is found",
            report.replaced
        ));
    }
    told(flags, &report, out)?;
    Ok(if report.pages == 0 && report.skipped > 0 { Ended::Failed } else { Ended::Done })
}

/// A place that holds something else is wrong usage.
fn trouble(error: io::Error) -> Trouble {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Trouble::Usage(format!("--out {error}")),
        _ => Trouble::Failed(error.to_string()),
    }
}

fn told(flags: &IndexFlags, report: &IndexReport, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.json {
        json::print(out, report)?;
    } else {
        print(report, out)?;
    }
    Ok(Ended::Done)
}

fn print(report: &IndexReport, out: &mut impl Write) -> Result<(), Trouble> {
    let IndexReport { pages, near_duplicates, skipped, .. } = report;
    writeln!(out, "{pages} pages, of which {near_duplicates} nearly repeat another")?;
    if *skipped > 0 {
        writeln!(out, "{skipped} lines left out, see above")?;
    }
    writeln!(
        out,
        "{} of text in {:.1} s: {:.1} MB a CPU second; index {}, pages {}",
        HumanBytes(report.text_bytes),
        report.seconds,
        report.mb_per_cpu_s,
        HumanBytes(report.index_bytes),
        HumanBytes(report.store_bytes),
    )?;
    out.flush()?;
    Ok(())
}
