//! One CDXJ line, `SURT timestamp {"url": …, "filename": …}`, byte for byte as cdxj-indexer writes
//! it for the same record; and the search for lines by key.
//!
//! A line is made in two parts: the opening where the capture is packed, the closing where its
//! place in the file is known.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::ArchiveError;

pub(crate) const REVISIT_MIME: &str = "warc/revisit";

/// Longest line read: a URL of 2 kB twice, every byte of it escaped, with room for the rest.
pub(crate) const LINE_BYTES_MAX: usize = 32 * 1024;

/// Longest media type kept; real ones are under 130 characters (RFC 6838).
const MIME_CHARS_MAX: usize = 256;

/// A line as read back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CdxjEntry {
    pub surt: String,
    /// 14 digits.
    pub timestamp: String,
    pub url: String,
    /// `warc/revisit` for a revisit.
    pub mime: Option<String>,
    pub status: Option<String>,
    pub digest: Option<String>,
    pub length: u64,
    pub offset: u64,
    pub filename: String,
}

/// The first `count_max` lines of that key in a sorted index, in order of time.
pub fn lookup(index: &Path, surt: &str, count_max: usize) -> Result<Vec<CdxjEntry>, ArchiveError> {
    let io = |error| ArchiveError::io(index, "read", error);
    let mut file = BufReader::new(File::open(index).map_err(io)?);
    let prefix = format!("{surt} ");
    let start = lower_bound(&mut file, prefix.as_bytes(), index)?;
    file.seek(SeekFrom::Start(start)).map_err(io)?;
    let mut entries = Vec::new();
    let mut line = Vec::new();
    let mut offset = start;
    while entries.len() < count_max && read_line(&mut file, &mut line).map_err(io)? {
        if !line.starts_with(prefix.as_bytes()) {
            break;
        }
        let entry = CdxjEntry::parse(&line);
        entries.push(entry.ok_or_else(|| ArchiveError::corrupt(index, offset, "not a CDXJ line"))?);
        offset += line.len() as u64;
    }
    Ok(entries)
}

/// Offset of the first line not less than `key`.
fn lower_bound(file: &mut BufReader<File>, key: &[u8], index: &Path) -> Result<u64, ArchiveError> {
    let io = |error| ArchiveError::io(index, "read", error);
    let (mut low, mut high) = (0, file.get_ref().metadata().map_err(io)?.len());
    let mut line = Vec::new();
    // Both ends are line starts (or the end of the file); the probe is the first line that begins
    // in the upper half, and if none does, the search goes on by lines, of which few are left.
    while low < high {
        let middle = low + (high - low) / 2;
        file.seek(SeekFrom::Start(middle)).map_err(io)?;
        let skipped = if middle == low { 0 } else { skip_line(file).map_err(io)? };
        let mut probe = middle + skipped;
        if probe >= high {
            file.seek(SeekFrom::Start(low)).map_err(io)?;
            probe = low;
        }
        if !read_line(file, &mut line).map_err(io)? {
            return Err(ArchiveError::corrupt(index, probe, "changed while being read"));
        }
        if line.as_slice() < key {
            low = probe + line.len() as u64;
        } else if probe == low {
            return Ok(low);
        } else {
            high = probe;
        }
    }
    Ok(low)
}

fn skip_line(file: &mut BufReader<File>) -> std::io::Result<u64> {
    file.by_ref().take(LINE_BYTES_MAX as u64).skip_until(b'\n').map(|skipped| skipped as u64)
}

/// Reads a line with its end; false at the end of the file. A line over the limit is cut.
pub(crate) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    Ok(input.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', line)? > 0)
}

/// What a line says of a capture, but for where it lies.
pub(crate) struct Facts<'a> {
    pub surt: &'a str,
    pub timestamp: &'a str,
    pub url: &'a str,
    pub mime: Option<&'a [u8]>,
    pub status: Option<&'a [u8]>,
    pub digest: &'a str,
}

pub(crate) fn opening(facts: &Facts<'_>) -> String {
    let mut line = String::with_capacity(2 * facts.url.len() + 256);
    // White space would end the key, or the line.
    line.extend(facts.surt.chars().filter(|c| !c.is_whitespace() && !c.is_control()));
    line.push(' ');
    line.push_str(facts.timestamp);
    line.push_str(" {\"url\": ");
    push_json(&mut line, facts.url.chars());
    if let Some(mime) = facts.mime {
        line.push_str(", \"mime\": ");
        push_json(&mut line, decoded(mime).chars().take(MIME_CHARS_MAX));
    }
    if let Some(status) = facts.status {
        line.push_str(", \"status\": ");
        push_json(&mut line, decoded(status).chars().take(MIME_CHARS_MAX));
    }
    line.push_str(", \"digest\": ");
    push_json(&mut line, facts.digest.chars());
    line
}

/// The whole line, with its end.
pub(crate) fn closed(opening: &str, length: u64, offset: u64, filename: &str) -> String {
    format!(
        "{opening}, \"length\": \"{length}\", \"offset\": \"{offset}\", \
         \"filename\": \"{filename}\"}}\n"
    )
}

/// Header bytes are UTF-8, or else taken as Latin-1.
fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// A JSON string in ASCII.
fn push_json(line: &mut String, text: impl Iterator<Item = char>) {
    line.push('"');
    for c in text {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '\u{8}' => line.push_str("\\b"),
            '\u{c}' => line.push_str("\\f"),
            ' '..='~' => line.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    line.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    line.push('"');
}

impl CdxjEntry {
    /// Reads a line; `None` if it is not one that we or cdxj-indexer could have written.
    pub fn parse(line: &[u8]) -> Option<CdxjEntry> {
        let line = std::str::from_utf8(line).ok()?;
        let (surt, rest) = line.split_once(' ')?;
        let (timestamp, json) = rest.split_once(' ')?;
        let json: serde_json::Value = serde_json::from_str(json).ok()?;
        let text = |name: &str| json.get(name).and_then(|value| value.as_str()).map(String::from);
        Some(CdxjEntry {
            surt: surt.to_string(),
            timestamp: timestamp.to_string(),
            url: text("url")?,
            mime: text("mime"),
            status: text("status"),
            digest: text("digest"),
            length: text("length")?.parse().ok()?,
            offset: text("offset")?.parse().ok()?,
            filename: text("filename")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_inside_its_line_and_its_string() {
        let opening = opening(&Facts {
            surt: "com,a)/ \n{x",
            timestamp: "20240229010203",
            url: "http://a.com/\"\\\n",
            mime: Some("te\"xt/\u{1F600}\u{7f}\u{1}".as_bytes()),
            status: Some(b"2\xff0"),
            digest: "sha1:A",
        });
        let line = closed(&opening, 7, 9, "f.warc.gz");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.is_ascii());
        let entry = CdxjEntry::parse(line.as_bytes()).expect("a line we wrote");
        assert_eq!(entry.surt, "com,a)/{x");
        assert_eq!(entry.url, "http://a.com/\"\\\n");
        assert_eq!(entry.mime.as_deref(), Some("te\"xt/\u{1F600}\u{7f}\u{1}"));
        assert_eq!(entry.status.as_deref(), Some("2\u{ff}0"));
        assert_eq!((entry.length, entry.offset), (7, 9));
    }

    #[test]
    fn every_key_is_found_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index.cdxj");
        for count in [0, 1, 2, 3, 10, 257] {
            let mut lines = Vec::new();
            for key in 0..count {
                let surt = format!("com,k{:03})/{}", key * 2, "x".repeat(key * key % 301));
                for visit in 0..1 + key % 3 {
                    let timestamp = format!("2024010100000{visit}");
                    let (url, digest) = ("http://k.com/", "sha1:A");
                    let (surt, timestamp, mime, status) = (&*surt, &*timestamp, None, None);
                    let facts = Facts { surt, timestamp, url, mime, status, digest };
                    lines.push(closed(&opening(&facts), 1, key as u64, "f"));
                }
            }
            std::fs::write(&path, lines.concat()).unwrap();
            for key in 0..count {
                let surt = format!("com,k{:03})/{}", key * 2, "x".repeat(key * key % 301));
                let found = lookup(&path, &surt, 10).unwrap();
                assert_eq!(found.len(), 1 + key % 3, "{surt}");
                assert!(found.iter().all(|entry| entry.offset == key as u64));
                assert_eq!(lookup(&path, &surt, 1).unwrap().len(), 1);
                assert!(
                    lookup(&path, &format!("com,k{:03})/", key * 2 + 1), 10).unwrap().is_empty()
                );
            }
            assert!(lookup(&path, "a", 10).unwrap().is_empty());
            assert!(lookup(&path, "z", 10).unwrap().is_empty());
        }
    }
}
