//! `rhumb search`

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_node::copies::{CopyCapture, captures_of_each};
use rhumb_node::index::INDEX_DIR;
use rhumb_node::settings::open_input;
use rhumb_page::url::Url;
use rhumb_search::{Index, Omitted, SearchAnswer, SearchOptions, Shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ended::{Ended, Trouble};
use super::json;

/// Results of one query.
const LIMIT_MAX: usize = rhumb_search::ranking::DEPTH;

/// Search an index, or a crawl that has one.
///
/// Words are stemmed by the languages of the index, and pages with any of them are found, those
/// with more and rarer ones first. "Quotes" find words as they stand, -word leaves pages out, OR
/// asks for either side, and so do site:, host:, inurl:, intitle:, lang:, type:, before:, after:
/// and similar:URL for what they say. No query is wrong: what was understood is told. Of pages that
/// are nearly the same one is shown, and of a host two. In a crawl's directory each result has its
/// last copy, as a record in a WARC file, and its other captures.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb search rhumb-crawl 'spring tides'
  rhumb search rhumb-crawl '\"spring tide\" -neap site:example.org after:2024' --json
  rhumb search corpus-index moon --unfold --explain
  rhumb search corpus-index --batch queries.jsonl --limit 100 > found.jsonl")]
pub struct SearchFlags {
    /// An index, or a crawl's directory
    #[arg(value_name = "INDEX|DIR")]
    index: PathBuf,

    /// What to look for
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: Option<String>,

    /// More of it, where the shell has cut it into words
    #[arg(value_name = "WORDS", hide = true)]
    more: Vec<String>,

    /// Results, at most 1000
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// Show near-duplicates, and all pages of a host
    #[arg(long)]
    all: bool,

    /// List the pages that each result stands for, how alike they are and which words differ
    #[arg(long)]
    unfold: bool,

    /// Show the terms of each score
    #[arg(long)]
    explain: bool,

    /// JSON lines {"id", "query"} in, {"id", "results": [{"id", "score"}]} out, in the same order;
    /// - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    batch: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &SearchFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if !(1..=LIMIT_MAX).contains(&flags.limit) {
        return Err(Trouble::Usage(format!("--limit {}: from 1 to {LIMIT_MAX}", flags.limit)));
    }
    if flags.batch.is_none() && flags.query.is_none() {
        return Err(Trouble::Usage("what to look for? give a query, or --batch FILE".to_owned()));
    }
    let query: Vec<&str> = flags.query.iter().chain(&flags.more).map(String::as_str).collect();
    if !flags.index.is_dir() {
        let name = flags.index.display();
        return Err(Trouble::Usage(format!("{name}: no such directory")));
    }
    let failed = |error: rhumb_search::SearchError| Trouble::Failed(error.to_string());
    let index = Index::open(&flags.index).map_err(failed)?;
    let wanted = SearchOptions {
        limit: flags.limit,
        all: flags.all,
        snippets: flags.batch.is_none(),
        explain: flags.explain,
        unfold: flags.unfold,
    };
    if let Some(path) = &flags.batch {
        let unread = |error| Trouble::Usage(format!("{}: {error}", path.display()));
        let input = BufReader::new(open_input(path).map_err(unread)?);
        return batch(&index, input, &wanted, out);
    }
    let response = index.search(&query.join(" "), &wanted).map_err(failed)?;
    let response = with_copies(&flags.index, response)?;
    if flags.json {
        json::print(out, &response)?;
    } else {
        print(&response, out)?;
    }
    Ok(Ended::Done)
}

/// An answer with the captures that a crawl's directory has of each result.
#[derive(Serialize)]
struct AnswerOfCrawl {
    query: String,
    understood: String,
    total: usize,
    results: Vec<ShownOfCrawl>,
}

#[derive(Serialize)]
struct ShownOfCrawl {
    #[serde(flatten)]
    shown: Shown,
    /// In the order of time: the last one that has a body is the copy that was indexed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    captures: Vec<CopyCapture>,
}

/// Looks up what was kept of each result. An index that lies elsewhere tells of no captures.
fn with_copies(dir: &Path, answer: SearchAnswer) -> Result<AnswerOfCrawl, Trouble> {
    let SearchAnswer { query, understood, total, results } = answer;
    let urls: Vec<Option<Url>> =
        results.iter().map(|shown| Url::parse(&shown.url).ok().filter(|_| is_crawl(dir))).collect();
    let known: Vec<Url> = urls.iter().flatten().cloned().collect();
    let captures = match known.is_empty() {
        true => Vec::new(),
        false => captures_of_each(dir, &known)?,
    };
    let mut captures = captures.into_iter();
    let results = results.into_iter().zip(urls).map(|(shown, url)| {
        let captures = url.and_then(|_| captures.next()).unwrap_or_default();
        ShownOfCrawl { shown, captures }
    });
    let results = results.collect();
    Ok(AnswerOfCrawl { query, understood, total, results })
}

fn is_crawl(dir: &Path) -> bool {
    dir.join("warc").is_dir() && dir.join(INDEX_DIR).is_dir()
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    id: Value,
    query: String,
}

#[derive(Serialize)]
struct Answered<'a> {
    id: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    results: Vec<Scored<'a>>,
}

#[derive(Serialize)]
struct Scored<'a> {
    id: &'a str,
    score: f32,
}

/// Answers query after query. A line that is none is answered by an error.
fn batch(
    index: &Index,
    input: impl BufRead,
    wanted: &SearchOptions,
    out: &mut impl Write,
) -> Result<Ended, Trouble> {
    let mut ended = Ended::Done;
    for line in input.split(b'\n') {
        let line = line.map_err(|error| Trouble::Failed(format!("queries: {error}")))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let asked = serde_json::from_slice::<Asked>(&line).map_err(|error| error.to_string());
        let id = asked.as_ref().map_or(Value::Null, |asked| asked.id.clone());
        let answer = asked.and_then(|asked| {
            index.search(&asked.query, wanted).map_err(|error| error.to_string())
        });
        let (results, error) = match answer {
            Ok(response) => (response.results, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        if error.is_some() {
            ended = Ended::Failed;
        }
        let scored = results.iter().map(|shown| Scored { id: &shown.id, score: shown.score });
        let answered = Answered { id: &id, error, results: scored.collect() };
        serde_json::to_writer(&mut *out, &answered).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ended)
}

fn print(response: &AnswerOfCrawl, out: &mut impl Write) -> Result<(), Trouble> {
    let pages = if response.total == 1 { "page" } else { "pages" };
    writeln!(out, "{}: {} {pages}", response.understood, response.total)?;
    for (n, shown) in response.results.iter().enumerate() {
        writeln!(out)?;
        print_one(n + 1, &shown.shown, out)?;
        print_copies(&shown.captures, out)?;
    }
    out.flush()?;
    Ok(())
}

fn print_one(rank: usize, shown: &Shown, out: &mut impl Write) -> std::io::Result<()> {
    let title = if shown.title.is_empty() { &shown.id } else { &shown.title };
    writeln!(out, "{rank:>3}  {title}")?;
    let place = if shown.url.is_empty() { &shown.id } else { &shown.url };
    let mut facts = vec![place.clone()];
    facts.extend(shown.day.clone());
    facts.extend(Some(shown.language.clone()).filter(|language| !language.is_empty()));
    facts.extend(shown.similarity.map(|alike| format!("{alike:.2} alike")));
    writeln!(out, "     {}", facts.join("  "))?;
    if !shown.snippet.is_empty() {
        writeln!(out, "     {}", shown.snippet)?;
    }
    if let Some(terms) = &shown.explain {
        writeln!(
            out,
            "     score {:.2} = bm25 {:.2} + importance {:.2} + closeness {:.2} + url {:.2} + \
             depth {:.2}",
            shown.score, terms.bm25, terms.importance, terms.closeness, terms.url, terms.depth
        )?;
    }
    if shown.omitted > 0 {
        writeln!(out, "     and {} nearly the same", shown.omitted)?;
    }
    for near in &shown.near {
        print_near(near, out)?;
    }
    if shown.crowded > 0 {
        writeln!(out, "     and {} more of its host", shown.crowded)?;
    }
    Ok(())
}

/// Where the last copy of a page is, and how many others there are.
fn print_copies(captures: &[CopyCapture], out: &mut impl Write) -> std::io::Result<()> {
    let has_body = |capture: &&CopyCapture| !capture.is_revisit;
    let Some(copy) = captures.iter().rfind(has_body) else { return Ok(()) };
    let CopyCapture { timestamp, file, offset, bytes, .. } = copy;
    write!(out, "     copy {timestamp} in warc/{file} at {offset}, {bytes} bytes")?;
    match captures.len() - 1 {
        0 => writeln!(out),
        1 => writeln!(out, "; 1 other capture"),
        others => writeln!(out, "; {others} other captures"),
    }
}

fn print_near(near: &Omitted, out: &mut impl Write) -> std::io::Result<()> {
    let place = if near.url.is_empty() { &near.id } else { &near.url };
    write!(out, "       {:.2}  {place}", near.similarity)?;
    for (sign, words) in [("+", &near.added), ("-", &near.missing)] {
        if !words.is_empty() {
            write!(out, "  {sign} {}", words.join(" "))?;
        }
    }
    writeln!(out)
}
