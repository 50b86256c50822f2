//! A page as data: a question, and blocks that answer it. One template draws them all, and its
//! escaping is the only way by which strangers' words reach the HTML.

use crate::source::Unanswered;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use std::path::Path;

/// Where the pages are, and what they are called.
const MENU: [(&str, &str); 11] = [
    ("/", "Overview"),
    ("/speed", "Why not faster"),
    ("/frontier", "Frontier"),
    ("/hosts", "Hosts"),
    ("/url", "One URL"),
    ("/duplicates", "Duplicates"),
    ("/web", "The web seen"),
    ("/freshness", "Freshness"),
    ("/search", "Search"),
    ("/what-if", "What if"),
    ("/hands", "Hands"),
];

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    question: &'a str,
    crawl: String,
    menu: Vec<MenuItem>,
    blocks: &'a [PageBlock],
    data: Option<&'a str>,
}

struct MenuItem {
    path: &'static str,
    name: &'static str,
    is_here: bool,
}

pub enum PageBlock {
    /// The answer in a sentence.
    Lead(String),
    Note(String),
    Heading(String),
    Figures(Vec<NamedNumber>),
    Bars(Vec<Bar>),
    Table(HtmlTable),
    Charts(Vec<Chart>),
    Grid(Vec<Cell>),
    Bubbles(Vec<Bubble>, Vec<Curve>),
    Form(HtmlForm),
    List(Vec<String>),
    /// Ways on, in a row.
    Links(Vec<CellText>),
    Results(Vec<SearchResult>),
    Pair(Box<Pair>),
    /// What happened, in the order of time.
    Life(Vec<UrlMoment>),
    Hands(Vec<HandForm>),
}

/// A result of a search.
pub struct SearchResult {
    pub title: String,
    pub url: String,
    /// What is known of it.
    pub href: String,
    /// The copy that was kept.
    pub copy: Option<String>,
    pub snippet: String,
    pub facts: Vec<String>,
    pub omitted: String,
    pub near: Vec<FoundNear>,
}

/// A page that is nearly the same as one that is shown.
pub struct FoundNear {
    pub url: String,
    pub alike: String,
    pub differs: String,
    /// Both side by side.
    pub href: String,
}

/// Two texts side by side.
pub struct Pair {
    pub left: Side,
    pub right: Side,
}

pub struct Side {
    pub url: String,
    pub runs: Vec<TextRun>,
    /// The text goes on.
    pub is_cut: bool,
}

/// A stretch of a text.
pub struct TextRun {
    pub text: String,
    /// The other text has it, too.
    pub is_shared: bool,
}

/// One thing that happened to a URL, or will.
pub struct UrlMoment {
    pub when: String,
    pub what: String,
    pub at: Option<CellText>,
    pub colour: &'static str,
}

/// A form that changes something.
pub struct HandForm {
    /// What a form of a stranger does not know.
    pub form: String,
    pub hand: &'static str,
    /// The value, where nobody types it.
    pub hidden: Option<String>,
    pub fields: Vec<Field>,
    pub button: &'static str,
}

/// A number with its name; `id` names what the events bring anew.
pub struct NamedNumber {
    pub id: &'static str,
    pub name: String,
    pub value: String,
}

/// A share as a bar, in thousandths of the width.
pub struct Bar {
    pub name: String,
    pub value: String,
    pub from: u32,
    pub width: u32,
    pub colour: &'static str,
}

#[derive(Default)]
pub struct HtmlTable {
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<CellText>>,
    pub empty: &'static str,
}

/// A cell's text, perhaps a link within the dashboard.
#[derive(Clone, Default)]
pub struct CellText {
    pub text: String,
    pub href: Option<String>,
    pub is_number: bool,
}

pub struct Chart {
    pub name: String,
    /// The greatest value, and the last one.
    pub top: String,
    pub last: String,
    /// What the ends of the axis are.
    pub from: String,
    pub to: String,
    pub lines: Vec<ChartLine>,
}

pub struct ChartLine {
    pub name: &'static str,
    pub colour: &'static str,
    /// For `points` of a polyline, in a box of 600 × 120.
    pub points: String,
    /// The same, closed along the bottom.
    pub area: String,
}

pub struct Cell {
    pub title: String,
    pub state: &'static str,
    pub href: String,
    /// How much of its delay is left, of 20.
    pub filled: u32,
    /// The same in milliseconds: so long to wait, of so long.
    pub wait_ms: u64,
    pub delay_ms: u64,
}

pub struct Bubble {
    pub title: String,
    pub label: String,
    pub href: String,
    pub x: String,
    pub y: String,
    pub r: String,
    /// Share fetched, in tenths.
    pub tenth: u32,
}

/// A curve of a picture.
pub struct Curve {
    pub path: String,
    /// 1 to 4.
    pub strength: u32,
}

pub struct HtmlForm {
    pub action: &'static str,
    pub fields: Vec<Field>,
    pub button: &'static str,
}

pub struct Field {
    pub name: &'static str,
    pub label: &'static str,
    pub value: String,
    pub hint: &'static str,
}

impl HtmlTable {
    fn has_head(&self) -> bool {
        self.head.iter().any(|head| !head.is_empty())
    }

    fn is_number(&self, column: &usize) -> bool {
        self.rows.iter().any(|row| row.get(*column).is_some_and(|cell| cell.is_number))
    }
}

impl Pair {
    fn sides(&self) -> [&Side; 2] {
        [&self.left, &self.right]
    }
}

impl CellText {
    pub fn plain(text: impl Into<String>) -> CellText {
        CellText { text: text.into(), ..CellText::default() }
    }

    pub fn number(text: impl Into<String>) -> CellText {
        CellText { text: text.into(), is_number: true, ..CellText::default() }
    }

    pub fn link(text: &str, path: &str, name: &str) -> CellText {
        let href = Some(format!("{path}?{name}={}", encoded(text)));
        CellText { text: text.to_owned(), href, is_number: false }
    }

    /// A way on with words of our own.
    pub fn way(text: &str, href: String) -> CellText {
        CellText { text: text.to_owned(), href: Some(href), is_number: false }
    }
}

/// A page of the menu, or one below it.
pub fn render(
    dir: &Path,
    path: &str,
    question: &str,
    blocks: &[PageBlock],
    data: Option<&str>,
) -> Response {
    let menu = MENU.iter().map(|(at, name)| MenuItem {
        path: at,
        name,
        is_here: *at == path
            || (*at == "/hosts" && path == "/host")
            || (*at == "/duplicates" && path == "/pair"),
    });
    let crawl = dir.display().to_string();
    let page = PageTemplate { question, crawl, menu: menu.collect(), blocks, data };
    match page.render() {
        Ok(html) => Html(html).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// A page that says why there is none.
pub fn trouble(dir: &Path, unanswered: &Unanswered) -> Response {
    let Unanswered(status, what) = unanswered;
    let lead = match *status {
        StatusCode::BAD_REQUEST => "That cannot be asked.",
        StatusCode::FORBIDDEN => "That may not be done.",
        StatusCode::NOT_FOUND => "There is nothing here.",
        _ => "There is no answer right now.",
    };
    let blocks = [PageBlock::Lead(lead.to_owned()), PageBlock::Note(what.clone())];
    let mut response = render(dir, "", "What happened?", &blocks, None);
    *response.status_mut() = *status;
    response
}

/// Percent-encoded for a query: everything but unreserved characters.
pub fn encoded(text: &str) -> String {
    use std::fmt::Write;
    let mut query = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                query.push(char::from(byte));
            }
            _ => {
                let _ = write!(query, "%{byte:02X}");
            }
        }
    }
    query
}
