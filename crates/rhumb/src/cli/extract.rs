//! `rhumb extract`: the main text of pages, and what they say about themselves.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_disk::{Durable, replace};
use rhumb_extract::document;
use rhumb_page::charset;
use rhumb_page::media::{self, MediaKind};
use rhumb_page::url::Url;
use serde_json::Value;

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;
use crate::dedup::input::{Input, Raw, is_warc};
use rhumb_node::extract::contained::{self, Contained};
use rhumb_node::extract::{CorpusDone, CorpusRun, ExtractedRow, Wish, run_lines, run_records};
use rhumb_node::settings::{NamedValue, NamedValues, TOKEN_DEFAULT, open_input};
use rhumb_node::watch::printable;

/// Bytes of a single page that are read.
const PAGE_BYTES_MAX: u64 = 256 << 20;
const BUFFER_BYTES: usize = 1 << 20;

/// Extract the main text of a page, or of many.
///
/// An HTML file is printed as text, Markdown or JSON; so are PDF and office documents, without
/// Markdown. JSON lines {"id", "html", "url"} become JSON
/// lines in the same order, one for each; a page that failed has text "" and an error. So do the
/// pages in a WARC file or a crawl's directory; blocks that recur on their hosts count for less.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb extract page.html
  rhumb extract page.html --url https://example.org/a --format markdown
  rhumb extract corpus.jsonl.zst --threads 4 > extracted.jsonl
  rhumb extract news --out news/extract.jsonl.zst
  curl -s https://example.org/ | rhumb extract - --format json")]
pub struct ExtractFlags {
    /// An HTML file or another document, JSON lines, a WARC file, or a crawl's directory; - is
    /// standard input; .gz and .zst are read as such
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// What to print of an HTML file
    #[arg(long, value_name = "text|markdown|json", default_value = "text")]
    format: NamedValue<PrintFormat>,

    /// The address the HTML file came from
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// Also give the whole text, and all metadata with sources and confidence
    #[arg(long)]
    all: bool,

    /// Threads for JSON lines and archives
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,

    /// Let what recurs on the pages of a host count for less [true for archives]
    #[arg(long, value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    templates: Option<bool>,

    /// Write rows here, whole or not at all; compressed if the name ends in .zst
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// The same as --format json
    #[arg(long)]
    json: bool,

    /// Be the process that reads a document for another; INPUT is its media type then
    #[arg(long, hide = true)]
    contained: bool,
}

/// How a page is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintFormat {
    Text,
    Markdown,
    Json,
}

impl NamedValues for PrintFormat {
    const WHAT: &'static str = "format";
    const WORDS: &'static [(&'static str, PrintFormat)] = &[
        ("text", PrintFormat::Text),
        ("markdown", PrintFormat::Markdown),
        ("json", PrintFormat::Json),
    ];
}

pub fn run(flags: &ExtractFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.contained {
        contained::serve(&flags.input.to_string_lossy(), &address(flags)?, out)?;
        return Ok(Ended::Done);
    }
    let unread = |error| Trouble::Usage(format!("{}: {error}", flags.input.display()));
    if flags.threads == 0 {
        return Err(Trouble::Usage("--threads must be at least 1".to_owned()));
    }
    let is_archive = flags.input.is_dir() || is_warc(&flags.input);
    let run = CorpusRun {
        threads: flags.threads,
        wish: wish(flags),
        token: TOKEN_DEFAULT,
        templates: flags.templates.unwrap_or(is_archive),
    };
    if is_archive {
        let input = Input::open(&flags.input).map_err(unread)?;
        return into(flags.out.as_deref(), out, |out| archive_rows(input, out, run));
    }
    let mut input =
        BufReader::with_capacity(BUFFER_BYTES, open_input(&flags.input).map_err(unread)?);
    if is_lines(&flags.input, input.fill_buf().map_err(unread)?) {
        return into(flags.out.as_deref(), out, |out| run_lines(&mut input, out, run));
    }
    if flags.out.is_some() {
        let name = flags.input.display();
        return Err(Trouble::Usage(format!("{name}: --out is for JSON lines and archives")));
    }
    let mut body = Vec::new();
    input.take(PAGE_BYTES_MAX).read_to_end(&mut body).map_err(unread)?;
    print_page(flags, &body, out)
}

fn wish(flags: &ExtractFlags) -> Wish {
    Wish { keeps_all: flags.all, markdown: flags.format.0 == PrintFormat::Markdown }
}

fn archive_rows(mut input: Input, out: &mut dyn Write, run: CorpusRun) -> io::Result<CorpusDone> {
    let mut waiting = Vec::new().into_iter();
    let next = || loop {
        if let Some(record) = waiting.next() {
            return Ok(Some(record));
        }
        let Some(portion) = input.next()? else { return Ok(None) };
        portion.problems.iter().for_each(|problem| notice(format_args!("rhumb: {problem}")));
        if let Raw::Records(records) = portion.raw {
            waiting = records.into_iter();
        }
    };
    run_records(next, out, run)
}

/// Has rows written to standard output, or to a file that is there when it is whole.
fn into(
    path: Option<&Path>,
    out: &mut impl Write,
    rows: impl FnOnce(&mut dyn Write) -> io::Result<CorpusDone>,
) -> Result<Ended, Trouble> {
    let done = match path {
        None => rows(out)?,
        Some(path) => written(path, rows)
            .map_err(|error| Trouble::Failed(format!("{}: {error}", path.display())))?,
    };
    let is_bad = done.failed > 0 && done.failed == done.rows;
    Ok(if is_bad { Ended::Failed } else { Ended::Done })
}

fn written(
    path: &Path,
    rows: impl FnOnce(&mut dyn Write) -> io::Result<CorpusDone>,
) -> io::Result<CorpusDone> {
    const LEVEL: i32 = 3;
    replace(path, Durable::Name, |file| {
        if path.extension().is_none_or(|ending| ending != "zst") {
            return rows(file);
        }
        let mut encoder = zstd::Encoder::new(file, LEVEL)?;
        let done = rows(&mut encoder)?;
        encoder.finish()?;
        Ok(done)
    })
}

/// The media type that a file's name stands for; HTML, if it tells nothing.
fn media_type(path: &Path) -> Option<&'static str> {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".zst").trim_end_matches(".gz");
    Some(match name.rsplit('.').next()? {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt" | "ods" | "odp" => "application/vnd.oasis.opendocument.text",
        "epub" => "application/epub+zip",
        "rtf" => "application/rtf",
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
    let pages = [".html", ".htm", ".xhtml", ".json", ".rtf"];
    let is_page = pages.iter().any(|end| name.ends_with(end));
    !is_page && head.trim_ascii_start().starts_with(b"{")
}

/// The address that was given, or one that leads nowhere.
fn address(flags: &ExtractFlags) -> Result<Url, Trouble> {
    let text = flags.url.as_deref().unwrap_or("http://page.invalid/");
    Url::parse(text).map_err(|_| Trouble::Usage(format!("{text} is no URL")))
}

/// Prints a document that is no HTML.
fn print_document(
    flags: &ExtractFlags,
    read: &Contained,
    out: &mut impl Write,
) -> Result<Ended, Trouble> {
    if flags.json || flags.format.0 == PrintFormat::Json {
        json::print(out, read)?;
    } else {
        writeln!(out, "{}", printable(read.text.trim_end()))?;
        out.flush()?;
    }
    for oddity in &read.oddities {
        notice(format_args!("rhumb: {}: {oddity}", flags.input.display()));
    }
    let is_nothing = read.text.is_empty() && read.links.is_empty() && !read.oddities.is_empty();
    Ok(if is_nothing { Ended::Failed } else { Ended::Done })
}

fn print_page(flags: &ExtractFlags, body: &[u8], out: &mut impl Write) -> Result<Ended, Trouble> {
    let url = address(flags)?;
    match media::kind(media_type(&flags.input), body) {
        MediaKind::Html => (),
        MediaKind::Pdf => {
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
    let format = if flags.json { PrintFormat::Json } else { flags.format.0 };
    let id = Value::String(flags.input.display().to_string());
    let row = ExtractedRow::of(id, &html, flags.url.as_deref(), wish(flags));
    if let Some(error) = &row.error {
        return Err(Trouble::Failed(error.clone()));
    }
    match format {
        PrintFormat::Json => json::print(out, &row)?,
        PrintFormat::Markdown => writeln!(out, "{}", printable(&row.markdown.unwrap_or_default()))?,
        PrintFormat::Text => writeln!(out, "{}", printable(&row.text))?,
    }
    out.flush()?;
    Ok(Ended::Done)
}
