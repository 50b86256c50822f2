//! `links`: the links of each page's last capture, and `host_links`: how many lead from host to
//! host.

use std::collections::BTreeMap;

use rhumb_page::url::Url;

use super::captures::bounded;
use super::column::{Column, Kind, Value};
use super::table::Table;
use crate::ExportFailure;
use crate::capture::ExportedCapture;

pub(super) const COLUMNS: &[Column] = &[
    Column::required("src_surtkey", Kind::Text),
    Column::required("src", Kind::Text).with_bloom(),
    Column::required("dst", Kind::Text).with_bloom(),
    Column::optional("anchor", Kind::Text),
    Column::optional("rel", Kind::Text),
    Column::required("position", Kind::Int),
];

pub(super) const HOST_COLUMNS: &[Column] = &[
    Column::required("src_host", Kind::Text),
    Column::required("dst_host", Kind::Text),
    Column::required("links", Kind::Long),
];

/// Pairs of hosts that are counted at once; with more, a pair may have several rows.
const PAIRS_MAX: usize = 200_000;

pub(super) fn push(table: &mut Table, capture: &ExportedCapture) -> Result<(), ExportFailure> {
    for (position, link) in (0..).zip(&capture.links) {
        table.push([
            Value::from(capture.entry.surt.as_str()),
            Value::from(capture.entry.url.as_str()),
            Value::from(link.to.as_str()),
            Value::from(&link.anchor),
            Value::from(link.rel),
            Value::Int(bounded(position)),
        ])?;
    }
    Ok(())
}

/// Counts links by pairs of hosts. Pages come by SURT, so a host's pages follow each other, and its
/// pairs are written when its key has passed.
#[derive(Default)]
pub(super) struct HostLinks {
    key: String,
    pairs: BTreeMap<(String, String), i64>,
}

impl HostLinks {
    pub(super) fn count(
        &mut self,
        capture: &ExportedCapture,
        table: &mut Table,
    ) -> Result<(), ExportFailure> {
        let key = capture.entry.surt.split(')').next().unwrap_or_default();
        if key != self.key || self.pairs.len() >= PAIRS_MAX {
            self.flush(table)?;
            key.clone_into(&mut self.key);
        }
        let from = capture.url.as_ref().map_or("", Url::host);
        for link in &capture.links {
            let to = Url::parse(&link.to);
            let to = to.as_ref().map_or("", Url::host);
            *self.pairs.entry((from.to_owned(), to.to_owned())).or_insert(0) += 1;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self, table: &mut Table) -> Result<(), ExportFailure> {
        for ((from, to), links) in std::mem::take(&mut self.pairs) {
            table.push([
                Value::from(from.as_str()),
                Value::from(to.as_str()),
                Value::Long(links),
            ])?;
        }
        Ok(())
    }
}
