//! `rhumb extract`: the main text of pages, and what they say about themselves.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_page::media::{self, Kind};
use rhumb_page::url::Url;
use rhumb_page::{charset, document};
use serde_json::Value;

use super::ended::{Ended, Trouble};
use super::json;
use crate::extract::contained::{self, Contained};
use crate::extract::{Row, Wish, run_corpus};
use crate::settings::{Word, Words, open_input};

/// Bytes of a single page that are read.
const PAGE_BYTES_MAX: u64 = 256 << 20;
const BUFFER_BYTES: usize = 1 << 20;

/// Extract the main text of a page, or of many.
///
/// An HTML file is printed as text, Markdown or JSON. JSON lines {"id", "html", "url"} become JSON
/// lines in the same order, one for each; a page that failed has text "" and an error.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb extract page.html
  rhumb extract page.html --url https://example.org/a --format markdown
  rhumb extract corpus.jsonl.zst --threads 4 > extracted.jsonl
  curl -s https://example.org/ | rhumb extract - --format json")]
pub struct Flags {
    /// An HTML file, or JSON lines; - is standard input; .gz and .zst are read as such
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// What to print of an HTML file
    #[arg(long, value_name = "text|markdown|json", default_value = "text")]
    format: Word<Format>,

    /// The address the HTML file came from
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Also give the whole text, and all metadata with sources and confidence
    #[arg(long)]
    all: bool,

    /// Threads for JSON lines
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// The same as --format json
    #[arg(long)]
    json: bool,

    /// Be the process that reads a document for another; INPUT is its media type then
    #[arg(long, hide = true)]
    contained: bool,
}

/// How a page is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Markdown,
    Json,
}

impl Words for Format {
    const WHAT: &'static str = "format";
    const WORDS: &'static [(&'static str, Format)] =
        &[("text", Format::Text), ("markdown", Format::Markdown), ("json", Format::Json)];
}

pub fn run(flags: &Flags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.contained {
        contained::serve(&flags.input.to_string_lossy(), &address(flags)?, out)?;
        return Ok(Ended::Done);
    }
    let unread = |error| Trouble::Usage(format!("{}: {error}", flags.input.display()));
    if flags.threads == 0 {
        return Err(Trouble::Usage("--threads must be at least 1".to_owned()));
    }
    let mut input =
        BufReader::with_capacity(BUFFER_BYTES, open_input(&flags.input).map_err(unread)?);
    if is_lines(&flags.input, input.fill_buf().map_err(unread)?) {
        let wish = Wish { keeps_all: flags.all, markdown: flags.format.0 == Format::Markdown };
        let done = run_corpus(&mut input, out, flags.threads, wish)?;
        let is_bad = done.failed > 0 && done.failed == done.rows;
        return Ok(if is_bad { Ended::Failed } else { Ended::Done });
    }
    let mut body = Vec::new();
    input.take(PAGE_BYTES_MAX).read_to_end(&mut body).map_err(unread)?;
    print_page(flags, &body, out)
}

/// The media type that a file's name stands for; HTML, if it tells nothing.
fn media_type(path: &Path) -> Option<&'static str> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".zst").trim_end_matches(".gz");
    Some(match name.rsplit('.').next()? {
        "pdf" => "application/pdf",
        "txt" | "md" | "text" => "text/plain",
        "json" => "application/json",
        "xml" => "application/xml",
        "rss" => "application/rss+xml",
        "atom" => "application/atom+xml",
        _ => "text/html",
    })
}

/// JSON lines are told by their name, or by how they begin.
fn is_lines(path: &Path, head: &[u8]) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".zst").trim_end_matches(".gz");
    if [".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending)) {
        return true;
    }
    let is_page = [".html", ".htm", ".xhtml", ".json"].iter().any(|end| name.ends_with(end));
    !is_page && head.trim_ascii_start().starts_with(b"{")
}

/// The address that was given, or one that leads nowhere.
fn address(flags: &Flags) -> Result<Url, Trouble> {
    let text = flags.url.as_deref().unwrap_or("http://page.invalid/");
    Url::parse(text).map_err(|_| Trouble::Usage(format!("{text} is no URL")))
}

/// Prints a document that is no HTML.
fn print_document(flags: &Flags, read: &Contained, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.json || flags.format.0 == Format::Json {
        json::print(out, read)?;
    } else {
        writeln!(out, "{}", read.text.trim_end())?;
        out.flush()?;
    }
    for oddity in &read.oddities {
        eprintln!("rhumb: {}: {oddity}", flags.input.display());
    }
    let is_nothing = read.text.is_empty() && read.links.is_empty() && !read.oddities.is_empty();
    Ok(if is_nothing { Ended::Failed } else { Ended::Done })
}

fn print_page(flags: &Flags, body: &[u8], out: &mut impl Write) -> Result<Ended, Trouble> {
    let url = address(flags)?;
    match media::kind(media_type(&flags.input), body) {
        Kind::Html => (),
        Kind::Pdf => {
            let read = contained::read(body, "application/pdf", &url)
                .map_err(|error| Trouble::Failed(format!("{}: {error}", flags.input.display())))?;
            return print_document(flags, &read, out);
        }
        _ => {
            let Some(read) = document::read(media_type(&flags.input), body, &url) else {
                let name = flags.input.display();
                return Err(Trouble::Usage(format!("{name}: no format that can be read")));
            };
            return print_document(flags, &Contained::from(read), out);
        }
    }
    let html = charset::decode(body, None, None).text;
    let format = if flags.json { Format::Json } else { flags.format.0 };
    let is_markdown = format == Format::Markdown;
    let id = Value::String(flags.input.display().to_string());
    let row = Row::of(id, &html, flags.url.as_deref(), flags.all, is_markdown);
    if let Some(error) = &row.error {
        return Err(Trouble::Failed(error.clone()));
    }
    match format {
        Format::Json => json::print(out, &row)?,
        Format::Markdown => writeln!(out, "{}", row.markdown.unwrap_or_default())?,
        Format::Text => writeln!(out, "{}", row.text)?,
    }
    out.flush()?;
    Ok(Ended::Done)
}
