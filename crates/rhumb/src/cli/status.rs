//! `rhumb status DIR`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use rhumb_page::url::Url;

use super::ended::{Ended, Trouble};
use rhumb_node::watch::{printable, status};

/// Show what a crawl knows and does, running or not.
///
/// Counts, the largest and the slowest hosts, and why nothing is being fetched if nothing is; of a
/// crawl that goes on, how fresh its pages are believed to be, what it spent of its budget, and the
/// pages that are most overdue. With --url, all that is known of one URL: its state, its history,
/// how often it is believed to change, its next visit.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb status rhumb-crawl
  rhumb status rhumb-crawl --json
  rhumb status rhumb-crawl --url https://example.org/a")]
pub struct StatusFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Tell all about this URL
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &StatusFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if let Some(url) = &flags.url {
        Url::parse(url).map_err(|error| Trouble::Usage(format!("{url:?}: {error}")))?;
    }
    let text = status::describe(&flags.dir, flags.url.as_deref(), flags.json)?;
    out.write_all(printable(&text).as_bytes())?;
    out.flush()?;
    Ok(Ended::Done)
}
