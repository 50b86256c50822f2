//! `rhumb urls DIR`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::ended::{Ended, Trouble};
use rhumb_node::settings::NamedValue;
use rhumb_node::watch::printable;
use rhumb_node::watch::urls::{self, HostPattern, UrlLine, UrlQuery, UrlState};

/// List the URLs of a crawl, running or not, by state.
///
/// One line a URL: its state, the cause, the URL and the page that it was found on, with tabs
/// between them and - for none. A broken-link report is --state gone,failed. Causes are http_404
/// and the like for what is gone or moved, the rule for what was refused, and the kind of failure.
/// What waits at a host that fails is listed as failed, though the next run tries it again.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb urls rhumb-crawl --state gone,failed
  rhumb urls rhumb-crawl --state refused --host example.org --limit 20
  rhumb urls rhumb-crawl --state queued --json

With --json a line is {\"url\", \"state\", \"cause\", \"found_on\", \"depth\", \"status\"}.")]
pub struct UrlsFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Only these: fetched, queued, refused, failed, gone, moved, duplicate
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    state: Vec<NamedValue<UrlState>>,

    /// Only this host: example.org, example.org:8080 or https://example.org
    #[arg(long, value_name = "HOST")]
    host: Option<HostPattern>,

    /// No more than this many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,

    /// Print JSON lines
    #[arg(long)]
    json: bool,
}

pub fn run(flags: UrlsFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let query = UrlQuery {
        states: flags.state.into_iter().map(|word| word.0).collect(),
        host: flags.host,
        limit: flags.limit,
    };
    let mut written = Ok(());
    urls::list_dir(&flags.dir, &query, &mut |line| {
        written = print(out, &line, flags.json);
        written.is_ok()
    })?;
    written?;
    out.flush()?;
    Ok(Ended::Done)
}

fn print(out: &mut impl Write, line: &UrlLine, json: bool) -> io::Result<()> {
    match json {
        true => {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")
        }
        false => writeln!(out, "{}", printable(&line.text())),
    }
}
