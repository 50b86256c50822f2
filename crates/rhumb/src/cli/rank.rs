//! `rhumb rank`: PageRank of a link graph or of a crawl, or personalised for the pages one trusts.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_graph::bv;
use rhumb_graph::rank::{Jump, pagerank};
use rhumb_graph::{Graph, GraphError, GraphErrorKind, Loaded, PageNumber};
use rhumb_lab::order::{DAMPING, TRUTH_ERROR, TrustWeights, trust};

use super::ended::{Ended, Trouble};
use super::json;
use super::new_files::NewFiles;
use super::notice::notice;
use super::rank_crawl::LinksOfCrawl;

/// Ending of the list of URLs beside a graph.
const URLS: &str = "urls";

/// Rank the pages of a link graph or of a crawl by PageRank, or by personalised PageRank.
///
/// Of a crawl's directory, all URLs within its rules are pages, and the links are those that its
/// pages had when they were last fetched; `--trust seeds` ranks by what the crawl calls importance.
/// Graphs are WG1 files, lists of links (a line `page target`) or graphs that --save wrote; .zst
/// and .gz are unpacked, `-` is standard input. Values are exact to 1e-12 (L1).
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb rank rhumb-crawl --trust seeds --top 20
  rhumb rank rhumb-crawl --export-bv links
  rhumb rank --graph cnr-2000.wg1.zst --top 20
  rhumb rank --graph links.txt --first 1 --urls urls.txt --trust 1,2
  rhumb rank --graph links.txt --export-bv links")]
pub struct RankFlags {
    /// A crawl's directory, in the place of --graph
    #[arg(value_name = "DIR", conflicts_with_all = ["graph", "first", "urls"])]
    dir: Option<PathBuf>,

    #[command(flatten)]
    graph: GraphFlags,

    /// The pages that the surfer jumps to; all if not given. Or `top1`, `top10`, `root`, `every:N`;
    /// of a crawl also `seeds`, by their weights
    #[arg(long, value_name = "ID,…")]
    trust: Option<String>,

    /// How many pages to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// URLs of the pages: lines `page url`
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,

    /// Also write the graph for WebGraph's tools: NAME.graph, NAME.offsets, NAME.properties; of a
    /// crawl also NAME.urls, lines `page url`. What exists is not replaced
    #[arg(long, value_name = "NAME")]
    export_bv: Option<PathBuf>,

    /// Print one JSON value: [[page, value], …]; of a crawl [[url, value], …]
    #[arg(long)]
    json: bool,
}

/// Which graph; shared by all verbs that read one.
#[derive(Args)]
pub(super) struct GraphFlags {
    /// The link graph; `-` is standard input
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,

    /// The number of the first page in lists of links and URLs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) first: PageNumber,

    /// Also keep the graph in a new file that can be mapped, and use that
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
}

impl GraphFlags {
    pub(super) fn read(&self) -> Result<Graph, Trouble> {
        let Some(path) = &self.graph else {
            return Err(Trouble::Usage("which graph? name one with --graph FILE".to_owned()));
        };
        let loaded = self.saved(|into| rhumb_graph::read(path, self.first, into).map_err(trouble));
        let Loaded { graph, left_out, .. } = loaded?;
        if left_out.self_links + left_out.repeated > 0 {
            notice(format_args!(
                "left out: {} links of pages to themselves, {} repeated links",
                left_out.self_links, left_out.repeated
            ));
        }
        Ok(graph)
    }

    /// Reads a graph into the file of `--save`, if that is asked for.
    fn saved<T>(
        &self,
        read: impl FnOnce(Option<&Path>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let Some(save) = &self.save else { return read(None) };
        let files = NewFiles::begin(save, vec![save.clone()])?;
        let loaded = read(Some(&files.part(save)))?;
        files.finish()?;
        Ok(loaded)
    }

    /// Who is meant by `--trust`, in the numbers of the graph.
    pub(super) fn trusted(&self, graph: &Graph, text: &str) -> Result<TrustWeights, Trouble> {
        let usage = |what: String| Trouble::Usage(format!("--trust {text}: {what}"));
        let pages: Vec<PageNumber> = match text.split_once(':') {
            _ if text == "root" => trust::root(graph).into_iter().collect(),
            _ if text == "top1" => trust::most_linked(graph, 1),
            _ if text == "top10" => trust::most_linked(graph, 10),
            Some(("every", n)) => {
                let step = n.parse().ok().filter(|n: &usize| *n > 0);
                let step = step.ok_or_else(|| usage("every how many pages?".to_owned()))?;
                (0..graph.pages()).step_by(step).collect()
            }
            _ => {
                let numbers = text.split(',').map(|page| page.trim().parse::<PageNumber>());
                let numbers = numbers.map(|page| page.ok()?.checked_sub(self.first));
                let numbers: Option<Vec<PageNumber>> = numbers.collect();
                numbers.ok_or_else(|| usage("not a list of pages".to_owned()))?
            }
        };
        TrustWeights::evenly(graph, &pages).map_err(|error| usage(error.to_string()))
    }
}

/// A file that is not there is wrong usage; one that is broken is a failed job.
pub(super) fn trouble(error: GraphError) -> Trouble {
    match error.kind {
        GraphErrorKind::Io => Trouble::Usage(error.what),
        GraphErrorKind::Broken | GraphErrorKind::TooLarge => Trouble::Failed(error.what),
    }
}

pub fn run(flags: &RankFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let crawl = flags.dir.as_deref().map(LinksOfCrawl::open).transpose()?;
    let graph = match &crawl {
        Some(crawl) => flags.graph.saved(|into| crawl.graph(into))?,
        None => flags.graph.read()?,
    };
    if graph.pages() == 0 {
        notice("warning: the graph has no pages");
    }
    if let Some(name) = &flags.export_bv {
        write_bv(&graph, crawl.as_ref(), name)?;
    }
    let trusted = |text: &String| match &crawl {
        Some(crawl) if text == "seeds" => crawl.seeds(&graph),
        _ => flags.graph.trusted(&graph, text),
    };
    let trust = flags.trust.as_ref().map(trusted).transpose()?;
    let jump = trust.as_ref().map_or(Jump::Anywhere, |trust| Jump::To(trust.weights()));
    let values = pagerank(&graph, DAMPING, jump, TRUTH_ERROR).values;
    let mut pages: Vec<PageNumber> = (0..graph.pages()).collect();
    let by_value = |one: &PageNumber, other: &PageNumber| {
        values[*other as usize].total_cmp(&values[*one as usize]).then(one.cmp(other))
    };
    pages.sort_unstable_by(by_value);
    pages.truncate(flags.top);
    if let Some(crawl) = &crawl {
        return print_urls(flags, &crawl.named(&pages)?, &values, out);
    }
    let rows = pages.iter().map(|page| (page + flags.graph.first, values[*page as usize]));
    if flags.json {
        json::print(out, &rows.collect::<Vec<_>>())?;
        return Ok(Ended::Done);
    }
    let urls = urls(flags.urls.as_deref(), flags.graph.first)?;
    for (page, value) in rows {
        let url = urls.get((page - flags.graph.first) as usize).map_or("", String::as_str);
        writeln!(out, "{}", format!("{page:>10}  {value:.12}  {url}").trim_end())?;
    }
    out.flush()?;
    Ok(Ended::Done)
}

/// Writes the files for WebGraph's tools; they appear when all are whole.
fn write_bv(graph: &Graph, crawl: Option<&LinksOfCrawl>, name: &Path) -> Result<(), Trouble> {
    let endings = bv::ENDINGS.into_iter().chain(crawl.map(|_| URLS));
    let files = NewFiles::begin(name, endings.map(|end| bv::with_ending(name, end)).collect())?;
    let made = files.part(name);
    bv::write(graph, &made).map_err(trouble)?;
    if let Some(crawl) = crawl {
        crawl.write_urls(&bv::with_ending(&made, URLS))?;
    }
    files.finish()
}

fn print_urls(
    flags: &RankFlags,
    pages: &[(PageNumber, String)],
    values: &[f64],
    out: &mut impl Write,
) -> Result<Ended, Trouble> {
    let rows = pages.iter().map(|(page, url)| (url, values[*page as usize]));
    if flags.json {
        json::print(out, &rows.collect::<Vec<_>>())?;
        return Ok(Ended::Done);
    }
    for (url, value) in rows {
        writeln!(out, "{value:.12}  {url}")?;
    }
    out.flush()?;
    Ok(Ended::Done)
}

fn urls(path: Option<&Path>, first: PageNumber) -> Result<Vec<String>, Trouble> {
    let Some(path) = path else { return Ok(Vec::new()) };
    let mut file = rhumb_graph::source::open(path).map_err(trouble)?;
    let urls = rhumb_graph::edges::read_urls(&mut *file, first);
    urls.map_err(|error| trouble(error.of(path)))
}
