//! What became of this URL? Its life as a list of what happened, its copies, and all the rest.

use crate::figures::count;
use crate::page::{CellText, Field, HtmlForm, HtmlTable, PageBlock, UrlMoment, encoded};
use crate::searched::{copy_of, is_web};
use crate::steer;
use crate::tables::as_text;
use rhumb_node::copies::CopyCapture;
use rhumb_node::watch::status::{NextVisit, UrlHistory, UrlStatus};
use serde_json::Value;

/// Captures that are listed, the latest.
const CAPTURES_SHOWN: usize = 50;

pub fn form(typed: &str) -> PageBlock {
    PageBlock::Form(HtmlForm {
        action: "/url",
        fields: vec![Field {
            name: "url",
            label: "a URL",
            value: typed.to_owned(),
            hint: "https://example.org/page",
        }],
        button: "Look up",
    })
}

pub fn nothing_asked() -> Vec<PageBlock> {
    let what = "Each URL has a life: where it was found, which rule decided, its place in the \
                queue, its fetches, what it repeats, its next visit.";
    vec![form(""), PageBlock::Note(what.to_owned())]
}

/// `secret` is what a form must carry that changes something, if that is permitted.
pub fn blocks(
    status: &UrlStatus,
    captures: &[CopyCapture],
    typed: &str,
    secret: Option<&str>,
) -> Vec<PageBlock> {
    let mut blocks =
        vec![form(typed), PageBlock::Lead(format!("{}: {}.", status.state, status.meaning))];
    if let Some(secret) = secret {
        let now = steer::button(secret, "fetch_now", &status.url, "Fetch now");
        blocks.push(PageBlock::Hands(vec![now]));
    }
    if let Some(history) = &status.record {
        blocks.push(PageBlock::Heading("Its life".to_owned()));
        blocks.push(PageBlock::Life(life(status, history, captures)));
    }
    blocks.push(PageBlock::Heading("All that is known".to_owned()));
    blocks.push(PageBlock::Table(HtmlTable { head: vec!["", ""], rows: facts(status), empty: "" }));
    if let Some(host) = &status.host {
        blocks.push(PageBlock::Links(vec![CellText::link(&host.host, "/host", "key")]));
    }
    blocks
}

fn moment(when: &str, what: String, colour: &'static str) -> UrlMoment {
    UrlMoment { when: when.to_owned(), what, at: None, colour }
}

fn life(status: &UrlStatus, history: &UrlHistory, captures: &[CopyCapture]) -> Vec<UrlMoment> {
    let mut life = Vec::new();
    let depth = history.depth;
    let found = match &history.found_on {
        Some(page) => UrlMoment {
            at: Some(CellText::link(page, "/url", "url")),
            ..moment(&history.found, format!("found, {depth} links from a seed, on"), "soft")
        },
        None if depth == 0 => moment(&history.found, "named as a seed".to_owned(), "soft"),
        None => moment(&history.found, format!("found, {depth} links from a seed"), "soft"),
    };
    life.push(found);
    let skipped = captures.len().saturating_sub(CAPTURES_SHOWN);
    if skipped > 0 {
        life.push(moment("", format!("{} earlier captures", count(skipped as u64)), "soft"));
    }
    for capture in &captures[skipped..] {
        let code = capture.status.map_or(String::new(), |status| format!(" ({status})"));
        let what = match capture.is_revisit {
            true => format!("fetched{code}, the same bytes as before; kept as a reference:"),
            false => format!("fetched{code} and kept:"),
        };
        let copy = copy_of(&status.url, &capture.timestamp);
        let at = is_web(&status.url).then(|| CellText::way("the copy", copy));
        let when = crate::copy::day(&capture.timestamp);
        life.push(UrlMoment { when, what, at, colour: "accent" });
    }
    if let Some(page) = history.duplicate_of.as_ref().or(history.near_duplicate_of.as_ref()) {
        let what = match history.resemblance {
            Some(alike) => format!("its text resembles another by {:.0} %:", 100.0 * alike),
            None => "it has the bytes of another:".to_owned(),
        };
        let (a, b) = (encoded(page), encoded(&status.url));
        let at = Some(CellText::way(page, format!("/pair?a={a}&b={b}")));
        life.push(UrlMoment { at, ..moment("", what, "warm") });
    }
    if history.tries > 0 {
        life.push(moment("", format!("failed {} times since", history.tries), "warm"));
    }
    life.push(match &history.next_visit {
        NextVisit::Never => moment("", "no further visit".to_owned(), "soft"),
        NextVisit::At(at) => moment(at, "the next visit".to_owned(), "next"),
        NextVisit::InTurn { ahead: Some(ahead) } => {
            moment("", format!("waits: {} of its host come before it", count(*ahead)), "next")
        }
        NextVisit::InTurn { ahead: None } => {
            moment("", "waits: many of its host come before it".to_owned(), "next")
        }
    });
    life
}

/// All that `rhumb status --url` says, in its words.
fn facts(status: &UrlStatus) -> Vec<Vec<CellText>> {
    let Ok(Value::Object(fields)) = serde_json::to_value(status) else { return Vec::new() };
    let known = fields
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "meaning" | "state" | "known" | "host"))
        .filter_map(|(name, value)| Some((name, as_text(value)?)));
    known
        .map(|(name, text)| match name.as_str() {
            "found_on" | "duplicate_of" | "near_duplicate_of" => {
                vec![CellText::plain(name.replace('_', " ")), CellText::link(&text, "/url", "url")]
            }
            _ => vec![CellText::plain(name.replace('_', " ")), CellText::plain(text)],
        })
        .collect()
}
