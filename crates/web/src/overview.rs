//! What is it doing? The crawl in numbers, what it covers for certain, and how that came about.

use crate::events::moving;
use crate::figures::{bytes, count, percent, rate, time};
use crate::page::{Bar, Block, Chart, ChartLine, Figure, Table, Text};
use rhumb_node::watch::Report;
use rhumb_node::watch::history::Sampled;
use rhumb_node::watch::status::Status;
use std::fmt::Write;

/// Points of a chart's line: more cannot be seen.
const POINTS_MAX: usize = 300;
const CHART_WIDTH: f64 = 600.0;
const CHART_HEIGHT: f64 = 120.0;

/// What is drawn: lines, each a series with its name, and how their values are written.
const CHARTS: [(&[(&str, &str)], Unit); 8] = [
    (&[("pages a second", "pages_per_s")], Unit::Rate),
    (&[("pages", "pages")], Unit::Count),
    (&[("URLs that wait", "queued")], Unit::Count),
    (&[("covered for certain", "bound"), ("the most that can be", "ceiling")], Unit::Share),
    (&[("bytes a second", "bytes_per_s")], Unit::Bytes),
    (&[("failed", "failed"), ("gone", "gone")], Unit::Count),
    (&[("refused by rules", "filtered"), ("by robots.txt", "robots_denied")], Unit::Count),
    (&[("memory", "rss_bytes")], Unit::Bytes),
];

#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Count,
    Share,
    Bytes,
}

pub fn blocks(status: &Status, history: &[Sampled], disk: Option<DiskRoom>) -> Vec<Block> {
    let report = &status.report;
    let mut blocks = vec![Block::Lead(lead(status)), Block::Figures(figures(status, disk))];
    if let Some(covered) = &report.coverage {
        blocks.push(Block::Heading("How much of the web's importance is covered".to_owned()));
        blocks.push(Block::Bars(vec![
            share_bar("covered for certain", covered.bound, "accent"),
            share_bar("the most that can be", covered.ceiling, "soft"),
            share_bar("on URLs that wait", covered.frontier, "warm"),
        ]));
        let lost = covered.losses();
        if !lost.is_empty() {
            blocks.push(Block::Note(format!("Lost, by cause: {lost}.")));
        }
    }
    if let Some(topic) = &report.topic {
        blocks.push(Block::Heading("How much of the topic is covered".to_owned()));
        let mut bars = vec![share_bar("covered for certain", topic.bound, "accent")];
        bars.extend(topic.estimate.map(|share| share_bar("estimated", share, "soft")));
        bars.push(share_bar("the most that can be", topic.ceiling, "soft"));
        blocks.push(Block::Bars(bars));
        blocks.push(Block::Note(format!("{}.", topic.note())));
    }
    if history.len() > 1 {
        blocks.push(Block::Heading("How it came about".to_owned()));
        let ways = [("the last hour", "/"), ("the last month", "/?month=true")];
        let ways = ways.map(|(name, href)| Text::way(name, href.to_owned()));
        blocks.push(Block::Links(ways.to_vec()));
        blocks.push(Block::Charts(charts(history)));
    }
    blocks.push(Block::Heading("What became of requests and URLs".to_owned()));
    blocks.push(Block::Table(outcomes(status)));
    blocks
}

fn lead(status: &Status) -> String {
    let report = &status.report;
    let ended = report.stopped_because.as_deref();
    let state = match (status.running, ended) {
        (true, _) => format!("Running since {}.", report.run.started),
        (false, Some(ended)) => format!("Not running; the last run ended: {ended}."),
        (false, None) => "Not running; the last run did not end by itself.".to_owned(),
    };
    let why = status.why_nothing_is_fetched.as_deref().map(|why| format!(" Now: {why}."));
    let hint = report.hint.as_deref().map(|hint| format!(" {hint}."));
    state + &why.unwrap_or_default() + &hint.unwrap_or_default()
}

fn figures(status: &Status, disk: Option<DiskRoom>) -> Vec<Figure> {
    let now = moving(status);
    let live = |id: &'static str, name: &str| Figure {
        id,
        name: name.to_owned(),
        value: now[id].as_str().unwrap_or_default().to_owned(),
    };
    let report = &status.report;
    let still = |name: &str, value: String| Figure { id: "", name: name.to_owned(), value };
    let mut figures = vec![
        live("pages", "pages"),
        live("rate", "pages a second"),
        live("queued", "URLs that wait"),
        live("hosts", "hosts"),
        live("bytes", "received"),
        live("failed", "failed"),
        still("exact copies", count(report.exact_duplicates)),
        still("nearly the same", count(report.near_duplicates)),
        still("time, all runs", time(report.seconds)),
        still("peak memory", bytes(report.peak_rss_bytes)),
    ];
    if let Some(room) = disk {
        figures.push(still("free on the disk", bytes(room.free)));
        if let Some(seconds) = room.full_in_s(status).filter(|_| status.running) {
            figures.push(still("at this rate full in", time(seconds)));
        }
    }
    figures
}

/// Of the disk that the crawl's directory is on.
#[derive(Clone, Copy, Debug)]
pub struct DiskRoom {
    pub free: u64,
    /// Bytes of the archive and all else in the directory.
    pub used: u64,
}

impl DiskRoom {
    /// At what the directory holds for each page, and the rate of pages now.
    fn full_in_s(self, status: &Status) -> Option<f64> {
        let Report { bytes, seconds, run, .. } = &status.report;
        let per_page = self.used as f64 / status.report.pages.max(1) as f64;
        let per_s = per_page * run.pages_per_s_now;
        (*bytes > 0 && *seconds > 0.0 && per_s > 0.0).then(|| self.free as f64 / per_s)
    }
}

pub fn share_bar(name: &str, share: f64, colour: &'static str) -> Bar {
    let width = (1000.0 * share.clamp(0.0, 1.0)).round() as u32;
    Bar { name: name.to_owned(), value: percent(share), from: 0, width, colour }
}

fn outcomes(status: &Status) -> Table {
    let report = &status.report;
    let mut rows = Vec::new();
    let mut add = |what: &str, cause: &str, number: u64| {
        if number > 0 {
            rows.push(vec![Text::plain(what), Text::plain(cause), Text::number(count(number))]);
        }
    };
    add("moved", "redirects", report.moved);
    add("gone", "4xx", report.gone);
    add("unchanged", "304 or the same bytes", report.unchanged);
    for (kind, number) in &report.failed {
        add("failed", kind, *number);
    }
    for (cause, number) in &report.refused {
        add("refused", cause, *number);
    }
    Table {
        head: vec!["state", "cause", "URLs"],
        rows,
        empty: "Every URL that was asked for is a page.",
    }
}

fn charts(history: &[Sampled]) -> Vec<Chart> {
    let span = history.last().map_or(0, |l| l.at_s) - history.first().map_or(0, |f| f.at_s);
    let from = format!("{} ago", time(f64::from(span)));
    let draw = |(series, unit): &(&[(&'static str, &str)], Unit)| {
        let of = |name: &str| -> Vec<f64> {
            history.iter().filter_map(|s| s.value(name)).map(f64::from).collect()
        };
        let values: Vec<Vec<f64>> = series.iter().map(|(_, series)| of(series)).collect();
        let top = values.iter().flatten().copied().fold(0.0, f64::max);
        let last = values.first().and_then(|line| line.last()).copied().unwrap_or(0.0);
        let names = series.iter().map(|(name, _)| *name);
        let lines =
            values.iter().zip(names).zip(["accent", "warm"]).map(|((line, name), colour)| {
                let points = points(history, line, top);
                let area = format!("0,{CHART_HEIGHT} {points}{CHART_WIDTH},{CHART_HEIGHT}");
                ChartLine { name, colour, points, area }
            });
        let names: Vec<&str> = series.iter().map(|(name, _)| *name).collect();
        Chart {
            name: names.join(", "),
            top: written(top, *unit),
            last: written(last, *unit),
            from: from.clone(),
            lines: lines.collect(),
        }
    };
    CHARTS.iter().map(draw).collect()
}

fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Rate => rate(value),
        Unit::Count => count(value.round() as u64),
        Unit::Share => percent(value),
        Unit::Bytes => bytes(value.round() as u64),
    }
}

/// Time to the right, values upwards, thinned to what can be seen.
fn points(history: &[Sampled], line: &[f64], top: f64) -> String {
    let (Some(first), Some(last)) = (history.first(), history.last()) else {
        return String::new();
    };
    let span = f64::from((last.at_s - first.at_s).max(1));
    let every = history.len().div_ceil(POINTS_MAX).max(1);
    let mut text = String::new();
    for (at, (sampled, value)) in history.iter().zip(line).enumerate() {
        if at % every != 0 && at + 1 != history.len() {
            continue;
        }
        let x = f64::from(sampled.at_s - first.at_s) / span * CHART_WIDTH;
        let y =
            CHART_HEIGHT - if top > 0.0 { value / top * (CHART_HEIGHT - 4.0) } else { 0.0 } - 2.0;
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text
}
