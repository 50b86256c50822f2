//! What did its owner ask of it by hand, and what may be asked? The log of hands, and, where the
//! dashboard was started with that right, the forms.

use crate::page::{CellText, Field, HandForm, HtmlTable, PageBlock};
use rhumb_node::watch::steering::{HandRequest, ToldLine};
use serde::Deserialize;

/// A form that was sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Sent {
    pub hand: String,
    /// A pattern, a URL, a host or seeds, by the hand.
    pub value: String,
    /// Of a rest.
    pub minutes: String,
    /// Ours: a form of a stranger does not know it.
    pub form: String,
}

impl Sent {
    pub fn request(&self) -> Result<HandRequest, String> {
        let value = || self.value.trim().to_owned();
        Ok(match self.hand.as_str() {
            "pause" => HandRequest::Pause,
            "resume" => HandRequest::Resume,
            "stop" => HandRequest::Stop,
            "seed" => {
                let lines = self.value.lines().map(str::trim).filter(|line| !line.is_empty());
                HandRequest::Seed(lines.map(str::to_owned).collect())
            }
            "exclude" => HandRequest::Exclude(value()),
            "rest" => {
                let minutes: f64 = self
                    .minutes
                    .trim()
                    .parse()
                    .map_err(|_| format!("{:?} is no number of minutes", self.minutes))?;
                HandRequest::Rest { host: value(), seconds: (60.0 * minutes.max(0.0)) as u64 }
            }
            "fetch_now" => HandRequest::FetchNow(value()),
            other => return Err(format!("there is no hand {other:?}")),
        })
    }
}

pub fn blocks(log: &[ToldLine], form: Option<&str>, said: Option<&str>) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    if let Some(said) = said {
        blocks.push(PageBlock::Lead(format!("{said}.")));
    }
    match form {
        Some(form) => blocks.extend(forms(form)),
        None => blocks.push(PageBlock::Note(
            "This dashboard only shows. Started with --dashboard-control it has forms here; on the \
             command line: rhumb pause, resume, stop, seed, exclude, rest, fetch-now."
                .to_owned(),
        )),
    }
    blocks.push(PageBlock::Heading("What was asked so far".to_owned()));
    let rows = log
        .iter()
        .rev()
        .map(|line| vec![CellText::plain(line.time.clone()), CellText::plain(line.what.clone())]);
    blocks.push(PageBlock::Table(HtmlTable {
        head: vec!["time", "hand"],
        rows: rows.collect(),
        empty: "Nothing yet.",
    }));
    blocks
}

fn forms(form: &str) -> Vec<PageBlock> {
    let simple =
        |hand: &'static str, button: &'static str| hand_form(form, hand, Vec::new(), button);
    let with = |hand, label, hint, button| {
        let value = Field { name: "value", label, value: String::new(), hint };
        hand_form(form, hand, vec![value], button)
    };
    let rest = vec![
        Field { name: "value", label: "a host", value: String::new(), hint: "example.org" },
        Field { name: "minutes", label: "minutes", value: "60".to_owned(), hint: "60" },
    ];
    vec![
        PageBlock::Hands(vec![
            simple("pause", "Pause"),
            simple("resume", "Resume"),
            simple("stop", "Stop"),
        ]),
        PageBlock::Hands(vec![with("seed", "a seed", "https://example.org/", "Add")]),
        PageBlock::Hands(vec![with("exclude", "leave out URLs that match", r"\?sort=", "Exclude")]),
        PageBlock::Hands(vec![hand_form(form, "rest", rest, "Rest")]),
        PageBlock::Hands(vec![with("fetch_now", "a URL", "https://example.org/news", "Fetch now")]),
    ]
}

pub fn hand_form(
    form: &str,
    hand: &'static str,
    fields: Vec<Field>,
    button: &'static str,
) -> HandForm {
    HandForm { form: form.to_owned(), hand, hidden: None, fields, button }
}

/// A button beside what it is about.
pub fn button(form: &str, hand: &'static str, value: &str, button: &'static str) -> HandForm {
    let hidden = Some(value.to_owned());
    HandForm { form: form.to_owned(), hand, hidden, fields: Vec::new(), button }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_requests_or_say_why_they_are_none() {
        let sent = |hand: &str, value: &str, minutes: &str| {
            let text = |text: &str| text.to_owned();
            Sent { hand: text(hand), value: text(value), minutes: text(minutes), form: text("") }
                .request()
        };
        assert_eq!(sent("pause", "", ""), Ok(HandRequest::Pause));
        let seeds = vec!["a.org".to_owned(), "b.org 2".to_owned()];
        assert_eq!(sent("seed", "a.org\r\n\n b.org 2", ""), Ok(HandRequest::Seed(seeds)));
        let rest = HandRequest::Rest { host: "a.org".to_owned(), seconds: 90 };
        assert_eq!(sent("rest", " a.org ", "1.5"), Ok(rest));
        assert!(sent("rest", "a.org", "soon").is_err() && sent("burn", "", "").is_err());
    }
}
