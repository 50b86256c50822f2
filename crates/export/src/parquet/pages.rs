//! `pages`: what pages say, a row for each capture of a page with text.
//!
//! Corpus tools take `id` and `text` and keep the rest as metadata. `is_leader` is true for one of
//! each cluster, and of a URL's captures for the last.

use super::captures::{bounded, micros};
use super::column::{Column, Kind, Value};
use super::table::Table;
use crate::ExportFailure;
use crate::capture::{ExportedCapture, PageText};

pub(super) const COLUMNS: &[Column] = &[
    Column::required("url_surtkey", Kind::Text),
    Column::required("id", Kind::Text),
    Column::required("text", Kind::LongText),
    Column::required("url", Kind::Text).with_bloom(),
    Column::required("url_host_name", Kind::Text).with_bloom(),
    Column::optional("title", Kind::Text),
    Column::optional("author", Kind::Text),
    Column::optional("date", Kind::Text),
    Column::optional("date_modified", Kind::Text),
    Column::optional("language", Kind::Text),
    Column::optional("language_score", Kind::Float),
    Column::optional("site_name", Kind::Text),
    Column::optional("description", Kind::Text),
    Column::required("kind", Kind::Text),
    Column::required("confidence", Kind::Float),
    Column::required("words", Kind::Int),
    Column::optional("cluster", Kind::Text),
    Column::required("is_leader", Kind::Bool),
    Column::optional("duplicate_of", Kind::Text),
    Column::optional("importance", Kind::Float),
    Column::optional("topic", Kind::Float),
    Column::optional("license", Kind::Text),
    Column::required("tdm_reserved", Kind::Bool),
    Column::required("fetch_time", Kind::Moment),
    Column::required("warc_filename", Kind::Text),
    Column::required("warc_record_offset", Kind::Long),
];

pub(super) fn push(
    table: &mut Table,
    capture: &ExportedCapture,
    page: &PageText,
) -> Result<(), ExportFailure> {
    let known = &capture.known;
    let host = capture.url.as_ref().map_or("", |url| url.host());
    // Without a state nothing is known of clusters: every page leads.
    let leads = capture.is_last && (known.leads || known.depth.is_none());
    table.push([
        Value::from(capture.entry.surt.as_str()),
        Value::from(capture.record_id.as_str()),
        Value::from(page.text.as_str()),
        Value::from(capture.entry.url.as_str()),
        Value::from(host),
        Value::from(&page.title),
        Value::from(&page.author),
        Value::from(&page.published),
        Value::from(&page.modified),
        Value::from(&page.language),
        Value::from(page.language_score),
        Value::from(&page.site_name),
        Value::from(&page.description),
        Value::from(page.kind.word()),
        Value::Float(page.confidence),
        Value::Int(bounded(u64::from(page.words))),
        Value::from(&known.cluster),
        Value::Bool(leads),
        Value::from(&known.duplicate_of),
        Value::from(known.importance),
        Value::from(known.topic),
        Value::from(&page.license),
        Value::Bool(page.tdm_reserved),
        Value::Long(micros(&capture.date)),
        Value::from(capture.entry.filename.as_str()),
        Value::Long(i64::try_from(capture.entry.offset).unwrap_or(i64::MAX)),
    ])
}
