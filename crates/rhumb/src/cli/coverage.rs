//! `rhumb coverage DIR`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::ended::{Ended, Trouble};
use super::json;
use rhumb_node::watch::coverage::percent;
use rhumb_node::watch::status;

/// Prove how much of all importance a crawl covers, whatever its order was.
///
/// Importance is personalised PageRank with the seeds as the trusted pages, by their weights. The
/// bound is made of the stored links alone and holds for any web that the pages not crawled may
/// lead to: the crawled pages have at least this share. The ceiling is what the bound could reach
/// if everything that waits were fetched; the rest is lost, by cause. Of a crawl with a topic all
/// of these are shares of the topic, as its model sees it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb coverage rhumb-crawl
  rhumb coverage rhumb-crawl --json")]
pub struct CoverageFlags {
    /// The crawl's directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &CoverageFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let covered = status::certificate_of_dir(&flags.dir)?;
    if flags.json {
        json::print(out, &covered)?;
        return Ok(Ended::Done);
    }
    if covered.is_empty() {
        writeln!(out, "{}", covered.dead_ends().unwrap_or_default())?;
        out.flush()?;
        return Ok(Ended::Done);
    }
    let of_topic = covered.relevant_pages.map(|pages| {
        let pages = format!("{} relevant pages", indicatif::HumanCount(pages));
        format!(" of the topic, as its model sees it; {pages}")
    });
    let of_topic = of_topic.unwrap_or_default();
    writeln!(out, "covered for certain   {:>9}{of_topic}", percent(covered.bound))?;
    writeln!(out, "on URLs that wait     {:>9}", percent(covered.frontier))?;
    writeln!(out, "ceiling               {:>9}", percent(covered.ceiling))?;
    let losses = covered.losses();
    if !losses.is_empty() {
        writeln!(out, "lost to {losses}")?;
    }
    if let Some(warning) = covered.dead_ends() {
        writeln!(out, "warning: {warning}")?;
    }
    out.flush()?;
    Ok(Ended::Done)
}
