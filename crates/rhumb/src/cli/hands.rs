//! `rhumb pause`, `resume`, `stop`, `seed`, `exclude`, `rest` and `fetch-now`: hands on a crawl
//! that runs.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use rhumb_node::settings::Period;
use rhumb_node::watch::steering::{HandRequest, ask_dir};

use super::ended::{Ended, Trouble};

/// Have a running crawl make no further request, until it is resumed.
///
/// What is in flight still comes. A pause ends with its run: starting the crawl again resumes it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb pause rhumb-crawl
  rhumb resume rhumb-crawl")]
pub struct Pause {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Have a crawl that was paused go on.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb resume rhumb-crawl")]
pub struct Resume {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Have a running crawl stop cleanly, as Ctrl-C does.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb stop rhumb-crawl")]
pub struct StopFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Add seeds to a running crawl, and to its later runs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb seed rhumb-crawl https://example.org/
  rhumb seed rhumb-crawl 'https://example.org/ 2' https://example.net/")]
pub struct SeedFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// URLs, each perhaps with a weight behind it
    #[arg(value_name = "SEED", required = true)]
    seeds: Vec<String>,
}

/// Have a running crawl, and its later runs, leave out what a pattern matches.
///
/// What waits is refused when its turn comes. What was fetched stays. Try the pattern before, on
/// the dashboard's page "What if".
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb exclude rhumb-crawl '\\?sort='")]
pub struct Exclude {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// A regular expression, as of --exclude
    #[arg(value_name = "RE")]
    pattern: String,
}

/// Have a running crawl ask a host for nothing for some time.
///
/// A rest outlasts the run. It can be made longer, not shorter.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb rest rhumb-crawl example.org 2h")]
pub struct Rest {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// example.org, or https://example.org
    #[arg(value_name = "HOST")]
    host: String,

    /// How long, up to 30d
    #[arg(value_name = "DUR")]
    time: Period,
}

/// Have a running crawl fetch a URL next, also if it was fetched before.
///
/// It is fetched as soon as its host may be asked, if the scope and robots.txt admit it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb fetch-now rhumb-crawl https://example.org/news")]
pub struct FetchNow {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The URL
    #[arg(value_name = "URL")]
    url: String,
}

/// A verb that is a hand.
pub trait IsHand {
    fn request(self) -> (PathBuf, HandRequest);
}

impl IsHand for Pause {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::Pause)
    }
}

impl IsHand for Resume {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::Resume)
    }
}

impl IsHand for StopFlags {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::Stop)
    }
}

impl IsHand for SeedFlags {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::Seed(self.seeds))
    }
}

impl IsHand for Exclude {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::Exclude(self.pattern))
    }
}

impl IsHand for Rest {
    fn request(self) -> (PathBuf, HandRequest) {
        let seconds = self.time.0.as_secs();
        (self.dir, HandRequest::Rest { host: self.host, seconds })
    }
}

impl IsHand for FetchNow {
    fn request(self) -> (PathBuf, HandRequest) {
        (self.dir, HandRequest::FetchNow(self.url))
    }
}

pub fn run(hand: impl IsHand, out: &mut impl Write) -> Result<Ended, Trouble> {
    let (dir, request) = hand.request();
    let told = ask_dir(&dir, request)?;
    writeln!(out, "{told}")?;
    out.flush()?;
    Ok(Ended::Done)
}
