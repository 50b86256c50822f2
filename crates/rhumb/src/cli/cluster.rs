//! `rhumb cluster`: a crawl on many machines, from anywhere.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use rhumb_node::cluster::{
    Asked, ClusterStatus, CrawlOrder, SEEDS_OF_ORDER_MAX, back_up, check, create, export_to, give,
    status,
};
use rhumb_node::settings::{WrittenSettings, read_seeds};
use rhumb_node::watch::counted;

use super::ended::{Ended, Trouble};
use super::json;

/// Partitions of a crawl, for up to as many nodes.
const PARTITIONS: u32 = 16;

/// Make a crawl on many machines, and steer it from anywhere.
///
/// The crawl lies in an object store. `rhumb node` joins it, on as many machines as wanted. What is
/// asked for here becomes an order in the store, which all nodes obey, also those that come later:
/// a pause lasts until it is resumed, whatever is restarted.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb cluster create news --store s3://bucket/crawls --partitions 16 --config crawl.toml
  rhumb cluster seed news --store s3://bucket/crawls https://example.org/
  rhumb node --store s3://bucket/crawls --crawl news
  rhumb cluster status news --store s3://bucket/crawls
  rhumb cluster set news --store s3://bucket/crawls --max-pages 1000000
  rhumb cluster pause news --store s3://bucket/crawls
  rhumb cluster backup news --store s3://bucket/crawls --to news-monday
  rhumb cluster export news --store s3://bucket/crawls --dir news

Stores are s3://BUCKET/PREFIX, gs://, az:// and file:///DIRECTORY; endpoint and keys are the usual
variables, AWS_* and the like.")]
pub struct ClusterFlags {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Make a crawl; nothing is fetched before nodes join it and it has seeds
    #[command(
        after_help = "Example:\n  rhumb cluster create news --store s3://bucket/crawls --scope any"
    )]
    Create(Box<Create>),
    /// Add seeds; a crawl that is over goes on
    #[command(
        after_help = "Example:\n  rhumb cluster seed news --store s3://bucket/crawls https://example.org/"
    )]
    Seed(Seeds),
    /// Tell how it is doing
    #[command(
        after_help = "Example:\n  rhumb cluster status news --store s3://bucket/crawls --json"
    )]
    Status(Status),
    /// Begin no further request, on any machine, until it is resumed
    #[command(after_help = "Example:\n  rhumb cluster pause news --store s3://bucket/crawls")]
    Pause(At),
    /// Go on, after a pause or after the end
    #[command(after_help = "Example:\n  rhumb cluster resume news --store s3://bucket/crawls")]
    Resume(At),
    /// Change settings; limits at once, others as partitions are opened anew
    #[command(
        after_help = "Example:\n  rhumb cluster set news --store s3://b/crawls --max-pages 900"
    )]
    Set(Box<Set>),
    /// Stop, for good unless it is resumed: nodes write all out and end
    #[command(after_help = "Example:\n  rhumb cluster stop news --store s3://bucket/crawls")]
    Stop(At),
    /// Copy a crawl that is paused or over to another name
    #[command(after_help = "Example:\n  rhumb cluster backup news --store s3://b/crawls --to copy")]
    Backup(Backup),
    /// Write what is whole into a directory that other commands read
    #[command(
        after_help = "Example:\n  rhumb cluster export news --store s3://bucket/crawls --dir news"
    )]
    Export(Export),
    /// Look whether the store can hold the crawl, and whether all is there
    #[command(after_help = "Example:\n  rhumb cluster check news --store s3://bucket/crawls")]
    Check(At),
}

/// Which crawl.
#[derive(Args)]
struct At {
    /// The crawl's name
    #[arg(value_name = "NAME")]
    name: String,

    /// The object store: s3://BUCKET/PREFIX, gs://, az:// or file:///DIRECTORY
    #[arg(long, value_name = "URL")]
    store: String,
}

impl At {
    fn open(&self) -> Result<Asked, Trouble> {
        Ok(Asked::open(&self.store, &self.name)?)
    }
}

#[derive(Args)]
struct Create {
    #[command(flatten)]
    at: At,

    /// Settings in TOML, as of rhumb crawl; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    written: WrittenSettings,
}

#[derive(Args)]
struct Set {
    #[command(flatten)]
    at: At,

    /// Settings in TOML, as of rhumb crawl; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    written: WrittenSettings,
}

#[derive(Args)]
struct Seeds {
    #[command(flatten)]
    at: At,

    /// URLs to begin with; `example.com` is taken as http://example.com/
    #[arg(value_name = "SEED")]
    seeds: Vec<String>,

    /// Seeds: one URL a line, perhaps a weight after it, # comments; - is standard input; .gz
    /// and .zst are read as such; repeatable
    #[arg(long = "seeds", value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Args)]
struct Status {
    #[command(flatten)]
    at: At,

    /// As one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Backup {
    #[command(flatten)]
    at: At,

    /// The copy's name
    #[arg(long, value_name = "NAME")]
    to: String,
}

#[derive(Args)]
struct Export {
    #[command(flatten)]
    at: At,

    /// Where to write
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

pub fn run(flags: ClusterFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let told = match flags.verb {
        Verb::Create(flags) => return run_create(*flags, out),
        Verb::Status(flags) => return run_status(&flags, out),
        Verb::Check(at) => return run_check(&at, out),
        Verb::Set(flags) => run_set(*flags)?,
        Verb::Seed(flags) => run_seed(&flags)?,
        Verb::Pause(at) => ordered(&at, &CrawlOrder::Pause)?,
        Verb::Resume(at) => ordered(&at, &CrawlOrder::Resume)?,
        Verb::Stop(at) => ordered(&at, &CrawlOrder::Stop)?,
        Verb::Backup(flags) => {
            let copied = back_up(&flags.at.open()?, &flags.to)?;
            format!("{} rows and {} files are in {}", copied.rows, copied.files, flags.to)
        }
        Verb::Export(flags) => {
            let (files, bytes) = export_to(&flags.at.open()?, &flags.dir)?;
            format!("{files} WARC files, {bytes} bytes, are in {}", flags.dir.display())
        }
    };
    writeln!(out, "{told}")?;
    out.flush()?;
    Ok(Ended::Done)
}

fn ordered(at: &At, order: &CrawlOrder) -> Result<String, Trouble> {
    let number = give(&at.open()?, order)?;
    Ok(format!("order {number} is given: nodes obey it within seconds"))
}

fn run_create(flags: Create, out: &mut impl Write) -> Result<Ended, Trouble> {
    let Create { at, config, mut written } = flags;
    let partitions = written.partitions.take();
    let mut settings = match &config {
        Some(path) => written.over(WrittenSettings::read(path)?),
        None => written,
    };
    let partitions = partitions.or(settings.partitions.take()).unwrap_or(PARTITIONS);
    create(&at.open()?, settings, partitions)?;
    let At { name, store } = at;
    writeln!(out, "crawl {name} is made, with {partitions} partitions")?;
    writeln!(out, "next: rhumb cluster seed {name} --store {store} https://example.org/")?;
    writeln!(out, "then, on each machine: rhumb node --store {store} --crawl {name}")?;
    out.flush()?;
    Ok(Ended::Done)
}

fn run_set(flags: Set) -> Result<String, Trouble> {
    let Set { at, config, written } = flags;
    let set = match &config {
        Some(path) => written.over(WrittenSettings::read(path)?),
        None => written,
    };
    if set == WrittenSettings::default() {
        let what = "nothing to set: say a setting of rhumb crawl, as in --max-pages 1000";
        return Err(Trouble::Usage(what.to_owned()));
    }
    ordered(&at, &CrawlOrder::Set(set.to_toml()))
}

fn run_seed(flags: &Seeds) -> Result<String, Trouble> {
    let seeds = read_seeds(&flags.seeds, &flags.files)?;
    if seeds.is_empty() {
        return Err(Trouble::Usage("no seeds: name a URL or --seeds FILE".to_owned()));
    }
    let asked = flags.at.open()?;
    for lines in seeds.chunks(SEEDS_OF_ORDER_MAX) {
        let lines = lines.iter().map(|seed| format!("{} {}", seed.url, seed.weight)).collect();
        give(&asked, &CrawlOrder::Seed(lines))?;
    }
    Ok(counted(seeds.len() as u64, "seed is added", "seeds are added"))
}

fn run_check(at: &At, out: &mut impl Write) -> Result<Ended, Trouble> {
    let wrong = check(&at.open()?)?;
    for line in &wrong {
        writeln!(out, "{line}")?;
    }
    if wrong.is_empty() {
        writeln!(out, "all is well")?;
    }
    out.flush()?;
    Ok(if wrong.is_empty() { Ended::Done } else { Ended::Failed })
}

fn run_status(flags: &Status, out: &mut impl Write) -> Result<Ended, Trouble> {
    let status = status(&flags.at.open()?.gather()?);
    if flags.json {
        json::print(out, &status)?;
        return Ok(Ended::Done);
    }
    let ClusterStatus { pages, queued, owned, partitions, .. } = status;
    let state = match &status.stopped_because {
        Some(reason) => format!("over ({reason})"),
        None if status.paused => "paused".to_owned(),
        None => format!("{:.1} pages/s", status.pages_per_s),
    };
    writeln!(out, "{}: {state}", flags.at.name)?;
    writeln!(out, "pages {pages}, waiting {queued}, partitions owned {owned} of {partitions}")?;
    match status.coverage {
        Some(coverage) => writeln!(out, "coverage {:.1} % for certain", 100.0 * coverage)?,
        None => writeln!(out, "coverage not known yet")?,
    }
    for node in &status.nodes {
        let owned: Vec<String> = node.partitions.iter().map(u32::to_string).collect();
        writeln!(
            out,
            "node {} at {}: {:.1} pages/s, heard {} s ago, partitions {}",
            node.id,
            node.address,
            node.pages_per_s,
            node.heard_s,
            if owned.is_empty() { "none".to_owned() } else { owned.join(" ") }
        )?;
    }
    for line in &status.stuck {
        writeln!(out, "stuck: {line}")?;
    }
    out.flush()?;
    Ok(Ended::Done)
}
