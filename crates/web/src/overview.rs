//! What is it doing? The crawl in numbers, what it covers for certain, and how that came about.

use crate::events::moving;
use crate::figures::{bytes, count, percent, rate, time};
use crate::page::{Bar, CellText, Chart, ChartLine, HtmlTable, NamedNumber, PageBlock};
use rhumb_node::watch::CrawlReport;
use rhumb_node::watch::history::{SampledSecond, series};
use rhumb_node::watch::status::CrawlStatus;
use std::fmt::Write;

/// Points of a chart's line: more cannot be seen.
const POINTS_MAX: usize = 300;
const CHART_WIDTH: f64 = 600.0;
const CHART_HEIGHT: f64 = 120.0;

/// Lines, each a series with its name.
type Drawn = &'static [(&'static str, &'static str)];

/// What is drawn, and how its values are written. What never was anything is left out.
const CHARTS: [(Drawn, Unit); 18] = [
    (&[("pages a second", "pages_per_s")], Unit::Rate),
    (&[("pages", "pages"), ("requests answered", "answers")], Unit::Count),
    (&[("URLs that wait", "queued")], Unit::Count),
    (COVERAGE, Unit::Share),
    (&[("bytes a second", "bytes_per_s")], Unit::Bytes),
    (&[("received", "bytes")], Unit::Bytes),
    (&[("URLs known", "known_urls"), ("links found", "discoveries")], Unit::Count),
    (&[("hosts", "hosts"), ("asleep", "hosts_asleep")], Unit::Count),
    (&[("hosts awake", "hosts_awake"), ("failing", "hosts_failing")], Unit::Count),
    (&[("requests under way", "in_flight")], Unit::Count),
    (&[("given up", "failed"), ("gone", "gone")], Unit::Count),
    (&[("requests that failed", "errors"), ("tried again", "retries")], Unit::Count),
    (&[("refused by rules", "filtered"), ("by robots.txt", "robots_denied")], Unit::Count),
    (&[("exact copies", "exact_duplicates"), ("nearly the same", "near_duplicates")], Unit::Count),
    (&[("redirects", "moved"), ("unchanged", "unchanged")], Unit::Count),
    (&[("visited again", "revisits"), ("moved up", "promoted")], Unit::Count),
    (&[("requisites", "requisites"), ("sitemaps", "sitemaps")], Unit::Count),
    (&[("memory", "rss_bytes")], Unit::Bytes),
];

const COVERAGE: Drawn = &[("covered for certain", "bound"), ("the most that can be", "ceiling")];
const FRESHNESS: Drawn = &[("believed fresh", "freshness")];

#[derive(Clone, Copy)]
enum Unit {
    Rate,
    Count,
    Share,
    Bytes,
}

pub fn blocks(
    status: &CrawlStatus,
    history: &[SampledSecond],
    disk: Option<DiskRoom>,
) -> Vec<PageBlock> {
    let report = &status.report;
    let mut blocks = vec![PageBlock::Lead(lead(status)), PageBlock::Figures(figures(status, disk))];
    if let Some(covered) = &report.coverage {
        blocks.push(PageBlock::Heading("How much of the web's importance is covered".to_owned()));
        blocks.push(PageBlock::Bars(vec![
            share_bar("covered for certain", covered.bound, "accent"),
            share_bar("the most that can be", covered.ceiling, "soft"),
            share_bar("on URLs that wait", covered.frontier, "warm"),
        ]));
        let lost = covered.losses();
        if !lost.is_empty() {
            blocks.push(PageBlock::Note(format!("Lost, by cause: {lost}.")));
        }
    }
    if let Some(topic) = &report.topic {
        blocks.push(PageBlock::Heading("How much of the topic is covered".to_owned()));
        let mut bars = vec![share_bar("covered for certain", topic.bound, "accent")];
        bars.extend(topic.estimate.map(|share| share_bar("estimated", share, "soft")));
        bars.push(share_bar("the most that can be", topic.ceiling, "soft"));
        blocks.push(PageBlock::Bars(bars));
        blocks.push(PageBlock::Note(format!("{}.", topic.note())));
    }
    if history.len() > 1 {
        blocks.push(PageBlock::Heading("How it came about".to_owned()));
        let ways = [("the last hour", "/"), ("the last month", "/?month=true")];
        let ways = ways.map(|(name, href)| CellText::way(name, href.to_owned()));
        let data = CellText::way("as JSON", "/history.json".to_owned());
        blocks.push(PageBlock::Links(ways.into_iter().chain([data]).collect()));
        blocks.push(PageBlock::Charts(charts(history)));
    }
    blocks.push(PageBlock::Heading("What became of requests and URLs".to_owned()));
    blocks.push(PageBlock::Table(outcomes(status)));
    blocks
}

fn lead(status: &CrawlStatus) -> String {
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

fn figures(status: &CrawlStatus, disk: Option<DiskRoom>) -> Vec<NamedNumber> {
    let now = moving(status);
    let live = |id: &'static str, name: &str| NamedNumber {
        id,
        name: name.to_owned(),
        value: now[id].as_str().unwrap_or_default().to_owned(),
    };
    let report = &status.report;
    let still = |name: &str, value: String| NamedNumber { id: "", name: name.to_owned(), value };
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
    fn full_in_s(self, status: &CrawlStatus) -> Option<f64> {
        let CrawlReport { bytes, seconds, run, .. } = &status.report;
        let per_page = self.used as f64 / status.report.pages.max(1) as f64;
        let per_s = per_page * run.pages_per_s_now;
        (*bytes > 0 && *seconds > 0.0 && per_s > 0.0).then(|| self.free as f64 / per_s)
    }
}

pub fn share_bar(name: &str, share: f64, colour: &'static str) -> Bar {
    let width = (1000.0 * share.clamp(0.0, 1.0)).round() as u32;
    Bar { name: name.to_owned(), value: percent(share), from: 0, width, colour }
}

fn outcomes(status: &CrawlStatus) -> HtmlTable {
    let report = &status.report;
    let mut rows = Vec::new();
    let mut add = |what: &str, cause: &str, number: u64| {
        if number > 0 {
            rows.push(vec![
                CellText::plain(what),
                CellText::plain(cause),
                CellText::number(count(number)),
            ]);
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
    HtmlTable {
        head: vec!["state", "cause", "URLs"],
        rows,
        empty: "Every URL that was asked for is a page.",
    }
}

/// The samples as data, by series.
pub fn history(samples: &[SampledSecond]) -> serde_json::Value {
    let column = |name: &str| -> Vec<Option<f32>> {
        samples.iter().map(|sampled| sampled.value(name)).collect()
    };
    let columns = series().map(|name| (name.to_owned(), serde_json::json!(column(name))));
    let times: Vec<u32> = samples.iter().map(|sampled| sampled.at_s).collect();
    serde_json::json!({
        "at_s": times,
        "series": columns.collect::<serde_json::Map<_, _>>(),
    })
}

fn charts(history: &[SampledSecond]) -> Vec<Chart> {
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return Vec::new() };
    let times: Vec<f64> = history.iter().map(|sampled| f64::from(sampled.at_s)).collect();
    let from = format!("{} ago", time(f64::from(last.at_s - first.at_s)));
    let over_time = Axis { places: &times, from, to: "now".to_owned() };
    let mut charts: Vec<Chart> = CHARTS
        .iter()
        .chain([&(FRESHNESS, Unit::Share)])
        .filter_map(|(drawn, unit)| chart(history, drawn, *unit, &over_time))
        .collect();
    let pages = column(history, "pages");
    let (fewest, most) = (pages.first().copied(), pages.last().copied());
    let named = |pages: Option<f64>| format!("{} pages", count(pages.unwrap_or(0.0) as u64));
    let over_pages = Axis { places: &pages, from: named(fewest), to: named(most) };
    let is_bound = |chart: &Chart| chart.lines.iter().any(|line| line.name == COVERAGE[0].0);
    let beside = charts.iter().position(is_bound).map_or(charts.len(), |at| at + 1);
    let against_pages = chart(history, COVERAGE, Unit::Share, &over_pages);
    // Pages are counted over all runs: they never grow fewer, unless the crawl began anew.
    if let Some(chart) = against_pages.filter(|_| pages.is_sorted() && fewest < most) {
        charts.insert(beside, chart);
    }
    charts
}

/// What is to the right, sample by sample, and how its ends are called.
struct Axis<'a> {
    places: &'a [f64],
    from: String,
    to: String,
}

fn column(history: &[SampledSecond], series: &str) -> Vec<f64> {
    history.iter().filter_map(|sampled| sampled.value(series)).map(f64::from).collect()
}

/// None of what never was anything.
fn chart(history: &[SampledSecond], drawn: Drawn, unit: Unit, axis: &Axis<'_>) -> Option<Chart> {
    let values: Vec<Vec<f64>> = drawn.iter().map(|(_, series)| column(history, series)).collect();
    let top = values.iter().flatten().copied().fold(0.0, f64::max);
    if top <= 0.0 {
        return None;
    }
    let last = values.first().and_then(|line| line.last()).copied().unwrap_or(0.0);
    let names = drawn.iter().map(|(name, _)| *name);
    let lines = values.iter().zip(names).zip(["accent", "warm"]).map(|((line, name), colour)| {
        let points = points(axis.places, line, top);
        let area = format!("0,{CHART_HEIGHT} {points}{CHART_WIDTH},{CHART_HEIGHT}");
        ChartLine { name, colour, points, area }
    });
    let names: Vec<&str> = drawn.iter().map(|(name, _)| *name).collect();
    Some(Chart {
        name: names.join(", "),
        top: written(top, unit),
        last: written(last, unit),
        from: axis.from.clone(),
        to: axis.to.clone(),
        lines: lines.collect(),
    })
}

fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Rate => rate(value),
        Unit::Count => count(value.round() as u64),
        Unit::Share => percent(value),
        Unit::Bytes => bytes(value.round() as u64),
    }
}

/// Places to the right, values upwards, thinned to what can be seen.
fn points(places: &[f64], line: &[f64], top: f64) -> String {
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return String::new();
    };
    let span = (last - first).max(f64::MIN_POSITIVE);
    let every = places.len().div_ceil(POINTS_MAX).max(1);
    let mut text = String::new();
    for (at, (place, value)) in places.iter().zip(line).enumerate() {
        if at % every != 0 && at + 1 != places.len() {
            continue;
        }
        let x = (place - first) / span * CHART_WIDTH;
        let y = CHART_HEIGHT - value / top * (CHART_HEIGHT - 4.0) - 2.0;
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text
}
