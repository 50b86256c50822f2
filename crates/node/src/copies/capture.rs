//! One capture: what the index says of it, and what its record holds.

use crate::extract::Recorded;
use rhumb_archive::{CdxjEntry, Record};
use rhumb_fetch::head::HeadBytes;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyCapture {
    /// 14 digits.
    pub timestamp: String,
    pub status: Option<u16>,
    /// The payload is that of an earlier capture.
    pub is_revisit: bool,
    pub bytes: u64,
    /// Where its record is: a file within `warc/`, and the offset in it.
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub offset: u64,
}

impl CopyCapture {
    pub fn of_entry(entry: &CdxjEntry) -> CopyCapture {
        CopyCapture {
            timestamp: entry.timestamp.clone(),
            status: entry.status.as_deref().and_then(|status| status.parse().ok()),
            is_revisit: entry.mime.as_deref() == Some("warc/revisit"),
            bytes: entry.length,
            file: entry.filename.clone(),
            offset: entry.offset,
        }
    }

    pub fn of_record(record: &Record, file: &str) -> Option<CopyCapture> {
        let timestamp = super::digits(record.field("WARC-Date")?);
        let is_revisit = record.kind() == "revisit";
        let (bytes, offset) = (record.block.len() as u64, record.offset);
        let file = file.to_owned();
        Some(CopyCapture { timestamp, status: status(record), is_revisit, bytes, file, offset })
    }
}

fn status(record: &Record) -> Option<u16> {
    let line = record.http_head().split(|byte| *byte == b'\n').next()?;
    let text = std::str::from_utf8(line).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// What was kept at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCopy {
    pub timestamp: String,
    pub url: String,
    pub status: Option<u16>,
    pub content_type: Option<String>,
    /// Without codings; empty of what is no page.
    pub body: Vec<u8>,
    /// Where a redirect leads.
    pub location: Option<String>,
}

impl KeptCopy {
    pub fn of(record: &Record) -> Option<KeptCopy> {
        let recorded = Recorded::of(record);
        let location = HeadBytes::new(record.http_head()).location().map(|at| at.into_owned());
        let (content_type, body) = match recorded {
            Some(recorded) => (recorded.content_type, recorded.body),
            None => (None, Vec::new()),
        };
        Some(KeptCopy {
            timestamp: super::digits(record.field("WARC-Date")?),
            url: record.target()?.to_owned(),
            status: status(record),
            content_type,
            body,
            location,
        })
    }
}
