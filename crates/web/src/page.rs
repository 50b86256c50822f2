//! A page as data: a question, and blocks that answer it. One template draws them all, and its
//! escaping is the only way by which strangers' words reach the HTML.

use crate::source::Unanswered;
use askama::Template;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use std::path::Path;

/// Where the pages are, and what they are called.
const MENU: [(&str, &str); 9] = [
    ("/", "Overview"),
    ("/speed", "Why not faster"),
    ("/frontier", "Frontier"),
    ("/hosts", "Hosts"),
    ("/url", "One URL"),
    ("/duplicates", "Duplicates"),
    ("/web", "The web seen"),
    ("/freshness", "Freshness"),
    ("/what-if", "What if"),
];

#[derive(Template)]
#[template(path = "page.html")]
struct PageTemplate<'a> {
    question: &'a str,
    crawl: String,
    menu: Vec<MenuItem>,
    blocks: &'a [Block],
    data: Option<&'a str>,
}

struct MenuItem {
    path: &'static str,
    name: &'static str,
    is_here: bool,
}

pub enum Block {
    /// The answer in a sentence.
    Lead(String),
    Note(String),
    Heading(String),
    Figures(Vec<Figure>),
    Bars(Vec<Bar>),
    Table(Table),
    Charts(Vec<Chart>),
    Grid(Vec<Cell>),
    Bubbles(Vec<Bubble>),
    Form(Form),
    List(Vec<String>),
}

/// A number with its name; `id` names what the events bring anew.
pub struct Figure {
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
pub struct Table {
    pub head: Vec<&'static str>,
    pub rows: Vec<Vec<Text>>,
    pub empty: &'static str,
}

/// A cell's text, perhaps a link within the dashboard.
#[derive(Clone, Default)]
pub struct Text {
    pub text: String,
    pub href: Option<String>,
    pub is_number: bool,
}

pub struct Chart {
    pub name: String,
    /// The greatest value, and the last one.
    pub top: String,
    pub last: String,
    pub from: String,
    pub lines: Vec<ChartLine>,
}

pub struct ChartLine {
    pub colour: &'static str,
    /// For `points` of a polyline, in a box of 600 × 120.
    pub points: String,
}

pub struct Cell {
    pub title: String,
    pub state: &'static str,
    pub href: String,
    /// How far its delay has run, of 20.
    pub filled: u32,
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

pub struct Form {
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

impl Text {
    pub fn plain(text: impl Into<String>) -> Text {
        Text { text: text.into(), ..Text::default() }
    }

    pub fn number(text: impl Into<String>) -> Text {
        Text { text: text.into(), is_number: true, ..Text::default() }
    }

    pub fn link(text: &str, path: &str, name: &str) -> Text {
        let href = Some(format!("{path}?{name}={}", encoded(text)));
        Text { text: text.to_owned(), href, is_number: false }
    }
}

/// A page of the menu, or one below it.
pub fn render(
    dir: &Path,
    path: &str,
    question: &str,
    blocks: &[Block],
    data: Option<&str>,
) -> Response {
    let menu = MENU.iter().map(|(at, name)| MenuItem {
        path: at,
        name,
        is_here: *at == path || (*at == "/hosts" && path == "/host"),
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
    let blocks =
        [Block::Lead("There is no answer right now.".to_owned()), Block::Note(what.clone())];
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
