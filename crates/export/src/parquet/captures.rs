//! `captures`: a row for each line of the index, with the columns of Common Crawl's index by the
//! same names and types (cc-index-schema-flat.json), then ours.
//!
//! Two differ in what they hold: `warc_filename` is the name within `warc/`, and `warc_segment`
//! says `warc`, as a crawl has no segments. `warc_record_id` is the sixteen bytes of the UUID.

use rhumb_extract::language::iso_639_3;
use rhumb_page::date::UnixSeconds;

use super::column::{Column, Kind, Value};
use super::table::Table;
use crate::ExportFailure;
use crate::capture::ExportedCapture;
use crate::host_parts::HostParts;

pub(super) const COLUMNS: &[Column] = &[
    Column::required("url_surtkey", Kind::Text),
    Column::required("url", Kind::Text).with_bloom(),
    Column::required("url_host_name", Kind::Text).with_bloom(),
    Column::optional("url_host_tld", Kind::Text),
    Column::optional("url_host_2nd_last_part", Kind::Text),
    Column::optional("url_host_3rd_last_part", Kind::Text),
    Column::optional("url_host_4th_last_part", Kind::Text),
    Column::optional("url_host_5th_last_part", Kind::Text),
    Column::optional("url_host_registry_suffix", Kind::Text),
    Column::optional("url_host_registered_domain", Kind::Text),
    Column::optional("url_host_private_suffix", Kind::Text),
    Column::optional("url_host_private_domain", Kind::Text),
    Column::optional("url_host_name_reversed", Kind::Text),
    Column::required("url_protocol", Kind::Text),
    Column::optional("url_port", Kind::Int),
    Column::required("url_path", Kind::Text),
    Column::optional("url_query", Kind::Text),
    Column::required("fetch_time", Kind::Moment),
    Column::required("fetch_status", Kind::Short),
    Column::optional("fetch_redirect", Kind::Text),
    Column::optional("content_digest", Kind::Text),
    Column::optional("content_mime_type", Kind::Text),
    Column::optional("content_mime_detected", Kind::Text),
    Column::optional("content_charset", Kind::Text),
    Column::optional("content_languages", Kind::Text),
    Column::optional("content_truncated", Kind::Text),
    Column::required("warc_filename", Kind::Text),
    Column::required("warc_record_offset", Kind::Int),
    Column::required("warc_record_length", Kind::Int),
    Column::optional("warc_record_id", Kind::Bytes),
    Column::required("warc_segment", Kind::Text),
    Column::required("crawl", Kind::Text),
    Column::required("subset", Kind::Text),
    Column::optional("depth", Kind::Int),
    Column::optional("importance", Kind::Float),
    Column::optional("cluster", Kind::Text),
    Column::optional("similarity", Kind::Float),
    Column::optional("change_rate", Kind::Float),
    Column::optional("robots_line", Kind::Int),
    Column::optional("found_on", Kind::Text),
];

pub(super) fn push(
    table: &mut Table,
    capture: &ExportedCapture,
    crawl: &str,
) -> Result<(), ExportFailure> {
    let (entry, known, url) = (&capture.entry, &capture.known, capture.url.as_ref());
    let host = url.map_or("", |url| url.host());
    let parts = HostParts::of(host);
    let [second, third, fourth, fifth] = parts.labels;
    let path = url.map_or("", |url| url.path());
    let language = capture.page.as_ref().and_then(|page| page.language.as_deref());
    let digest = entry.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:"));
    let id = uuid_of(&capture.record_id);
    table.push([
        Value::from(entry.surt.as_str()),
        Value::from(entry.url.as_str()),
        Value::from(host),
        Value::from(parts.tld),
        Value::from(second),
        Value::from(third),
        Value::from(fourth),
        Value::from(fifth),
        Value::from(parts.registry_suffix),
        Value::from(parts.registered_domain),
        Value::from(parts.private_suffix),
        Value::from(parts.private_domain),
        Value::from(&parts.reversed),
        Value::from(url.map_or("", |url| url.scheme().as_str())),
        Value::from(port_of(&entry.url)),
        Value::from(path),
        Value::from(url.and_then(|url| url.query())),
        Value::Long(micros(&capture.date)),
        Value::Int(i32::from(capture.status)),
        Value::from(&capture.redirect),
        Value::from(digest),
        Value::from(&entry.mime),
        Value::from(&capture.mime_detected),
        Value::from(&capture.charset),
        Value::from(language.and_then(iso_639_3)),
        Value::from(&capture.truncated),
        Value::from(entry.filename.as_str()),
        Value::Int(bounded(entry.offset)),
        Value::Int(bounded(entry.length)),
        id.as_ref().map_or(Value::Null, |id| Value::Bytes(id)),
        Value::from("warc"),
        Value::from(crawl),
        Value::from(subset(path, capture.status)),
        Value::from(known.depth.map(i32::from)),
        Value::from(known.importance),
        Value::from(&known.cluster),
        Value::from(known.similarity),
        Value::from(known.change_rate),
        Value::from(known.robots_line.map(|line| bounded(u64::from(line)))),
        Value::from(&known.found_on),
    ])
}

fn subset(path: &str, status: u16) -> &'static str {
    match status {
        _ if path == "/robots.txt" => "robotstxt",
        200 => "warc",
        _ => "crawldiagnostics",
    }
}

/// The port, if the URL names one.
fn port_of(url: &str) -> Option<i32> {
    let authority = url.split_once("://")?.1.split(['/', '?']).next()?;
    let (_, port) = authority.rsplit_once(':')?;
    port.parse().ok()
}

/// Common Crawl's columns are of 32 bits; our WARC files end far below that.
pub(super) fn bounded(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Microseconds since 1970 of a date as WARC writes it.
pub(super) fn micros(date: &str) -> i64 {
    UnixSeconds::parse(date).map_or(0, |seconds| seconds.0.saturating_mul(1_000_000))
}

fn uuid_of(id: &str) -> Option<[u8; 16]> {
    let hex: String = id.strip_prefix("urn:uuid:")?.chars().filter(|c| *c != '-').collect();
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()?;
    bytes.try_into().ok()
}
