//! What of this host? How it is treated and why, what waits there, and what kept URLs of it out.

use crate::figures::{bytes, count, time};
use crate::page::{CellText, Field, HtmlForm, HtmlTable, PageBlock, encoded};
use crate::steer;
use crate::tables::{figure, of_first};
use rhumb_node::watch::view::HostView;

/// `secret` is what a form must carry that changes something, if that is permitted.
pub fn blocks(view: &HostView, secret: Option<&str>) -> Vec<PageBlock> {
    let form = PageBlock::Form(HtmlForm {
        action: "/host",
        fields: vec![Field {
            name: "key",
            label: "a host",
            value: view.host.clone(),
            hint: "https://example.org",
        }],
        button: "Look up",
    });
    let Some(known) = &view.known else {
        return vec![form, PageBlock::Lead("Nothing is known of this host.".to_owned())];
    };
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "–".to_owned());
    let mut figures = vec![
        figure("pages", count(known.pages)),
        figure("URLs that wait", count(known.queued)),
        figure("answers", count(known.answers)),
        figure("received", bytes(known.bytes)),
        figure("last answer took", format!("{} ms", count(known.last_took_ms))),
        figure("delay", time(view.delay_s)),
        figure("delay set by", view.delay_cause.clone()),
        figure("no request before", or_none(&known.not_before)),
        figure("robots.txt good until", or_none(&known.robots_until)),
        figure("failures in a row", count(u64::from(known.failures_in_a_row))),
        figure("fails by", or_none(&known.failing)),
    ];
    if let Some(changes) = view.changes_per_day {
        figures.push(figure("changes a day, a page", format!("{changes:.2}")));
    }
    let mut blocks = vec![form, PageBlock::Figures(figures)];
    if let Some(secret) = secret {
        let mut rest = steer::button(secret, "rest", &view.host, "Rest");
        rest.fields = vec![Field {
            name: "minutes",
            label: "ask it for nothing for so many minutes",
            value: "60".to_owned(),
            hint: "60",
        }];
        blocks.push(PageBlock::Hands(vec![rest]));
    }
    blocks.push(PageBlock::Heading("What kept URLs of it out".to_owned()));
    blocks.push(PageBlock::Table(refusals(view)));
    blocks.extend(of_first(view.refusals_of_first, "URLs of the host"));
    if !view.sitemaps.is_empty() {
        blocks.push(PageBlock::Heading("Sitemaps that its robots.txt names".to_owned()));
        blocks.push(PageBlock::List(view.sitemaps.clone()));
    }
    blocks.push(PageBlock::Heading("What waits there, the next first".to_owned()));
    let rows = view.queue.iter().map(|url| vec![CellText::link(url, "/url", "url")]);
    blocks.push(PageBlock::Table(HtmlTable {
        head: vec!["URL"],
        rows: rows.collect(),
        empty: "Nothing waits here.",
    }));
    if !view.queue.is_empty() {
        let text = format!("/queue.txt?key={}", encoded(&view.host));
        blocks.push(PageBlock::Links(vec![CellText::way("as text", text)]));
    }
    blocks
}

fn refusals(view: &HostView) -> HtmlTable {
    let rows = view.refusals.iter().map(|refusal| {
        vec![
            CellText::plain(refusal.why.clone()),
            CellText::number(count(refusal.urls)),
            CellText::link(&refusal.example, "/url", "url"),
        ]
    });
    HtmlTable {
        head: vec!["line, rule or trap", "URLs", "one of them"],
        rows: rows.collect(),
        empty: "Nothing.",
    }
}
