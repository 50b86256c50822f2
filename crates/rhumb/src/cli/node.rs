//! `rhumb node`

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rhumb_engine::time::Span;
use rhumb_node::cluster::{Leaver, NodeEnd, NodeOptions, run as run_node};
use rhumb_node::settings::Period;

use super::ended::{Ended, Trouble};
use super::interrupts;
use super::notice::notice;

/// Join a crawl on many machines, and do a share of it.
///
/// The crawl lies in an object store, made there by `rhumb cluster create`. Nodes come and go at
/// any time, and share its partitions among themselves. A node ends when the crawl is over, or when
/// it is told to leave by SIGTERM or Ctrl-C: its partitions go to others, within 25 s whatever
/// happens. With --rejoin and its own --dir they wait for it instead, so that a restart moves
/// nothing.
///
/// It exits 0 when the crawl is over or it has left, and 3 when others had to give it up. What is
/// sent between nodes is not encrypted: let them share a network of your own.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb node --store s3://bucket/crawls --crawl news
  rhumb node --store s3://bucket/crawls --crawl news --dir /var/lib/rhumb --rejoin 60s \\
      --listen 0.0.0.0:7700 --advertise 10.0.0.7:7700
  rhumb node --store file:///tmp/bucket --crawl news --dir node-1

The store's endpoint and keys are the usual variables, AWS_* and the like. The listener answers
/metrics, /healthz, /readyz and /status.")]
pub struct NodeFlags {
    /// The object store: s3://BUCKET/PREFIX, gs://, az:// or file:///DIRECTORY
    #[arg(long, value_name = "URL")]
    store: String,

    /// The crawl's name there
    #[arg(long, value_name = "NAME")]
    crawl: String,

    /// What this node keeps on its own disk; with it, a restart is quick
    #[arg(long, value_name = "DIR", default_value = "./rhumb-node")]
    dir: PathBuf,

    /// The node's name, unlike all others; made at first, and kept in --dir
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// Where other nodes and scrapers connect to
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// What others are told to connect to, where that is not --listen
    #[arg(long, value_name = "HOST:PORT")]
    advertise: Option<String>,

    /// Where this node is, for those who look at its status
    #[arg(long, value_name = "NAME")]
    region: Option<String>,

    /// When it is stopped, its partitions wait so long for it to come back
    #[arg(long, value_name = "DUR")]
    rejoin: Option<Period>,
}

pub fn run(flags: NodeFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let options = NodeOptions {
        store: flags.store,
        crawl: flags.crawl,
        dir: flags.dir,
        id: flags.id,
        listen: flags.listen,
        advertise: flags.advertise,
        region: flags.region,
        rejoin: flags.rejoin.map(|period| Span(period.0.as_micros() as u64)),
    };
    let leaver = Leaver::default();
    let asked = leaver.clone();
    let first = move || {
        notice("leaving: partitions go to other nodes (again to end at once)");
        asked.ask();
    };
    interrupts::listen(first, || notice("ended at once"))?;
    let began = |id: &str, address: &str| {
        if !quiet {
            notice(format_args!("node {id} answers at http://{address}/status"));
        }
    };
    match run_node(&options, &leaver, began)? {
        NodeEnd::Finished(reason) => {
            writeln!(out, "the crawl is over: {}", reason.word())?;
            out.flush()?;
            Ok(Ended::Done)
        }
        NodeEnd::Left | NodeEnd::Restart => Ok(Ended::Done),
        NodeEnd::Fenced(why) => {
            notice(format_args!("error: fenced: {why}"));
            Ok(Ended::Fenced)
        }
    }
}
