//! `rhumb get`: some pages, now, to standard output.

use std::cell::RefCell;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use rhumb_extract::PageWanted;
use rhumb_fetch::decode::DecodedBody;
use rhumb_node::extract::{ExtractBody, ExtractedRow, Wish};
use rhumb_node::run::{self, GetOutcome, Got, Rendering};
use rhumb_node::settings::{
    CookieJar, HeaderLine, LoginLine, NamedValue, NamedValues, OptionalBound, Period, ProxyLine,
    Settings, Typed, UserAgent, WrittenSettings,
};
use rhumb_node::watch::printable;
use rhumb_page::media::MediaKind;
use rhumb_page::robots::Directives;
use rhumb_page::url::{NamedHost, Url};
use serde::Serialize;

use super::ended::{Ended, Trouble};
use super::notice::notice;

/// What is lacking of a page whose content did not come.
const SCRIPTED: &str = "its scripts make what it says, and rhumb runs none; --format html prints \
                        it as it came";

/// More is a crawl, which can be interrupted and gone on with.
const URLS_MAX: usize = 100_000;

/// Fetch pages and print what they say.
///
/// By the same rules as a crawl: robots.txt, a delay between requests to one host, no private
/// addresses, limits on time and size. Nothing is kept. Of many pages those of different hosts are
/// fetched at the same time, and printed in the order in which they are named. Exits 0 if all
/// came, 1 if any did not, or came without what it says because its scripts make that; standard
/// error says why, one line for each.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb get https://example.org/article
  rhumb get https://example.org/ --format json | jq .title
  rhumb get --seeds urls.txt --format json > pages.jsonl
  rhumb get https://example.org/ --format warc > page.warc
  rhumb get https://wiki.example.org/ --auth wiki.example.org=ann:password.txt

Markdown and text are of the main content. html is the body as it came, without codings. json is
one line for each URL, the row of rhumb extract with url, status and links; with an error instead,
if the page did not come, and scripted if its scripts make it. warc has the records of each
request, redirects among them. robots.txt is a request, so a page takes a second at least
(--delay).")]
pub struct GetFlags {
    /// The pages; `example.com` is taken as http://example.com/
    #[arg(value_name = "URL")]
    urls: Vec<String>,

    /// More of them: one a line, # comments; - is standard input; repeatable
    #[arg(long = "seeds", value_name = "FILE")]
    seeds_files: Vec<PathBuf>,

    /// What to print of each page
    #[arg(long, value_name = "markdown|text|html|json|warc", default_value = "markdown")]
    format: NamedValue<Format>,

    /// Settings in TOML, as for rhumb crawl; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    rules: Rules,
}

/// Those of a crawl's settings that have a meaning here.
#[derive(Args)]
struct Rules {
    /// Stop after this time
    #[arg(long, value_name = "DUR")]
    max_time: Option<OptionalBound<Period>>,

    /// From the end of a response to the next request to that host, at least [1s]
    #[arg(long, value_name = "DUR", help_heading = "Politeness")]
    delay: Option<Period>,

    /// … and so many times as long as the last response took [5]
    #[arg(long, value_name = "F", help_heading = "Politeness")]
    delay_factor: Option<f64>,

    /// Product token and contact, as in "mybot/1.0 (+https://example.org/bot)"
    #[arg(long, value_name = "NAME", help_heading = "Politeness")]
    user_agent: Option<UserAgent>,

    /// DNS server to ask [the system's]
    #[arg(long, value_name = "IP:PORT", help_heading = "Network")]
    resolver: Option<OptionalBound<SocketAddr>>,

    /// Permit loopback and private addresses
    #[arg(long, value_name = "true|false", help_heading = "Network")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    allow_private: Option<bool>,

    /// A header for these sites alone, 'Name: value'; repeatable
    #[arg(long, value_name = "HEADER", help_heading = "Access")]
    header: Option<Vec<OptionalBound<HeaderLine>>>,

    /// Cookies for these sites, in the file format of Netscape
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    cookies: Option<OptionalBound<PathBuf>>,

    /// Send the cookies back that sites set meanwhile, each site's to it alone [off]
    #[arg(long, value_name = "on|off", help_heading = "Access")]
    cookie_jar: Option<NamedValue<CookieJar>>,

    /// A login for one host, HOST=USER:PASSWORD_FILE; repeatable
    #[arg(long, value_name = "LOGIN", help_heading = "Access")]
    auth: Option<Vec<OptionalBound<LoginLine>>>,

    /// A host that is your own: its robots.txt is not obeyed; repeatable
    #[arg(long, value_name = "HOST", help_heading = "Access")]
    own_site: Option<Vec<OptionalBound<NamedHost>>>,

    /// Trust the certificates in this PEM file, too
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    ca_file: Option<OptionalBound<PathBuf>>,

    /// Do not verify the certificate of this host; repeatable
    #[arg(long, value_name = "HOST", help_heading = "Access")]
    insecure: Option<Vec<OptionalBound<NamedHost>>>,

    /// Fetch through http://, https://, socks5:// or socks5h://[USER:PASSWORD@]HOST:PORT, or none
    #[arg(long, value_name = "URL|none", help_heading = "Access")]
    proxy: Option<ProxyLine>,

    /// Connect from this address of ours
    #[arg(long, value_name = "ADDR", help_heading = "Access")]
    bind: Option<OptionalBound<IpAddr>>,
}

impl Rules {
    fn written(self) -> WrittenSettings {
        WrittenSettings {
            max_time: self.max_time,
            delay: self.delay,
            delay_factor: self.delay_factor,
            user_agent: self.user_agent,
            resolver: self.resolver,
            allow_private: self.allow_private,
            header: self.header,
            cookies: self.cookies,
            cookie_jar: self.cookie_jar,
            auth: self.auth,
            own_site: self.own_site,
            ca_file: self.ca_file,
            insecure: self.insecure,
            proxy: self.proxy,
            bind: self.bind,
            ..WrittenSettings::default()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Markdown,
    Text,
    Html,
    Json,
    Warc,
}

impl NamedValues for Format {
    const WHAT: &'static str = "format";
    const WORDS: &'static [(&'static str, Format)] = &[
        ("markdown", Format::Markdown),
        ("text", Format::Text),
        ("html", Format::Html),
        ("json", Format::Json),
        ("warc", Format::Warc),
    ];
}

pub fn run(flags: GetFlags, quiet: bool, out: &mut impl Write) -> Result<Ended, Trouble> {
    let typed = Typed {
        seeds: flags.urls,
        seeds_files: flags.seeds_files,
        config: flags.config,
        written: flags.rules.written(),
        ..Typed::default()
    };
    let settings = typed.settings_of_get()?;
    if settings.seeds.len() > URLS_MAX {
        let wrong = format!("more than {URLS_MAX} URLs: rhumb crawl --max-depth 0 fetches them");
        return Err(Trouble::Usage(wrong));
    }
    for note in settings.notes.iter().filter(|_| !quiet) {
        notice(note);
    }
    print(&settings, flags.format.0, out)
}

fn print(settings: &Settings, format: Format, out: &mut impl Write) -> Result<Ended, Trouble> {
    let is_many = settings.seeds.len() > 1;
    let token = settings.user_agent.token.as_str();
    let render = |got: &Got<'_>| rendered(got, format, token);
    let mut failed = 0;
    let is_unread = RefCell::new(false);
    let mut hand_over = |asked: &Url, outcome: GetOutcome<'_>| {
        let written = match outcome {
            GetOutcome::Rendered(bytes, lack) => {
                if let Some(lack) = lack {
                    failed += 1;
                    notice(format_args!("rhumb: {asked}: {lack}"));
                }
                title(asked, format, is_many, out).and_then(|()| out.write_all(bytes))
            }
            GetOutcome::Failed { why, status } => {
                failed += 1;
                notice(format_args!("rhumb: {asked}: {}", printable(why)));
                failure_row(asked, why, status, format, out)
            }
        };
        let written = written.and_then(|()| out.flush());
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            *is_unread.borrow_mut() = true;
        }
        written
    };
    let ran = run::get(settings, &render, &mut hand_over);
    if *is_unread.borrow() {
        return Err(Trouble::Unread);
    }
    ran?;
    Ok(if failed == 0 { Ended::Done } else { Ended::Failed })
}

/// What tells the pages apart, where there are several and the format does not.
fn title(asked: &Url, format: Format, is_many: bool, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Markdown | Format::Html if is_many => writeln!(out, "<!-- {asked} -->"),
        Format::Text if is_many => writeln!(out, "==> {asked} <=="),
        _ => Ok(()),
    }
}

/// With JSON there is one line for each URL, whatever became of it.
fn failure_row(
    asked: &Url,
    why: &str,
    status: u16,
    format: Format,
    out: &mut impl Write,
) -> io::Result<()> {
    if format != Format::Json {
        return Ok(());
    }
    let id = serde_json::Value::String(asked.as_str().to_owned());
    let row =
        Page { row: ExtractedRow::failed(id, why), url: asked.as_str(), status, links: Vec::new() };
    serde_json::to_writer(&mut *out, &row)?;
    out.write_all(b"\n")
}

/// A row of `rhumb extract`, and what only who fetched the page knows.
#[derive(Serialize)]
struct Page<'a> {
    #[serde(flatten)]
    row: ExtractedRow,
    url: &'a str,
    status: u16,
    links: Vec<String>,
}

fn rendered(got: &Got<'_>, format: Format, token: &str) -> Result<Rendering, String> {
    let whole = |bytes| Ok(Rendering { bytes, lack: None });
    if format == Format::Warc {
        return unpacked(&got.records()).map_err(|error| error.to_string()).and_then(whole);
    }
    let response = got.response;
    if (300..=399).contains(&response.status) {
        return whole(Vec::new());
    }
    let DecodedBody { bytes, note } = response.decoded();
    if format == Format::Html {
        return whole(with_newline(bytes.into_owned()));
    }
    let head = response.head();
    let content_type = head.content_type();
    let is_cut = response.truncated.is_some() || note.is_some();
    let body = ExtractBody {
        url: got.url,
        fetched: &rhumb_archive::warc_date(got.at.0),
        content_type: content_type.as_deref(),
        asks: Directives::of_headers(head.x_robots_tags(), token),
        token,
        bytes: &bytes,
        is_cut,
    };
    let wish = Wish { keeps_all: false, markdown: format == Format::Markdown };
    let no_text = || {
        let kind = content_type.as_deref().unwrap_or("of no stated type");
        format!("it is {kind}, of which there is no text; --format html prints it as it came")
    };
    let row = body.row(None, wish).ok_or_else(no_text)?;
    if let Some(error) = &row.error {
        return Err(error.clone());
    }
    let lack = row.scripted.then_some(SCRIPTED);
    let bytes = match format {
        Format::Json => {
            let links = links(&body);
            let page = Page { row, url: got.url.as_str(), status: response.status, links };
            serde_json::to_vec(&page).map_err(|error| error.to_string())?
        }
        Format::Text => row.text.into_bytes(),
        _ => row.markdown.unwrap_or(row.text).into_bytes(),
    };
    Ok(Rendering { bytes: with_newline(bytes), lack })
}

/// Where an HTML page's links lead, each once, in their order; those of its embedded state last.
fn links(body: &ExtractBody<'_>) -> Vec<String> {
    if body.kind() != MediaKind::Html {
        return Vec::new();
    }
    let told = body.told(&PageWanted { scripts: true, ..PageWanted::default() });
    let mut met = std::collections::HashSet::new();
    let links = told.page.links.into_iter().map(|link| link.url);
    let links = links.chain(told.scripts.links).map(|url| url.as_str().to_owned());
    links.filter(|link| met.insert(link.clone())).collect()
}

/// Records as plain text: they are read by people, too.
fn unpacked(members: &[u8]) -> io::Result<Vec<u8>> {
    let mut records = Vec::new();
    io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(members), &mut records)?;
    Ok(records)
}

fn with_newline(mut bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes
}
