//! Text alone: WET records, and JSON lines as Dolma takes them.
//!
//! Both are one file, in the order of SURTs, with the last page of each URL that says something.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::ExportFailure;
use crate::capture::{ExportedCapture, PageText};
use crate::output::Unfinished;

const BUFFER_BYTES: usize = 1 << 18;
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// `conversion` records, one gzip member each.
pub struct Wet {
    path: std::path::PathBuf,
    out: BufWriter<File>,
    unfinished: Unfinished,
}

impl Wet {
    pub fn begin(path: &Path) -> Result<Wet, ExportFailure> {
        let unfinished = Unfinished::file(path)?;
        let file = File::create(unfinished.part());
        let file = file.map_err(|error| ExportFailure::file(path, "create", &error))?;
        let mut wet = Wet {
            path: path.to_owned(),
            out: BufWriter::with_capacity(BUFFER_BYTES, file),
            unfinished,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let info = format!("software: rhumb/{}\r\nformat: WARC File Format 1.1\r\n", version());
        let date = "1970-01-01T00:00:00Z";
        let head = format!(
            "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: {date}\r\nWARC-Filename: {name}\r\n\
             WARC-Record-ID: <{}>\r\nContent-Type: application/warc-fields\r\n",
            derived_id("urn:uuid:00000000-0000-8000-8000-000000000000", b"warcinfo")
        );
        wet.record(&head, info.as_bytes())?;
        Ok(wet)
    }

    pub fn page(
        &mut self,
        capture: &ExportedCapture,
        page: &PageText,
    ) -> Result<(), ExportFailure> {
        let language = page.language.as_deref().and_then(rhumb_extract::language::iso_639_3);
        let language = language.map_or_else(String::new, |code| {
            format!("WARC-Identified-Content-Language: {code}\r\n")
        });
        let head = format!(
            "WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Target-URI: {}\r\nWARC-Date: {}\r\n\
             WARC-Record-ID: <{}>\r\nWARC-Refers-To: <{}>\r\n{language}\
             Content-Type: text/plain; charset=utf-8\r\n",
            capture.entry.url,
            capture.date,
            derived_id(&capture.record_id, b"conversion"),
            capture.record_id,
        );
        self.record(&head, page.text.as_bytes())
    }

    fn record(&mut self, head: &str, block: &[u8]) -> Result<(), ExportFailure> {
        let mut member = GzEncoder::new(&mut self.out, Compression::new(GZIP_LEVEL));
        let mut write = || {
            write!(member, "{head}Content-Length: {}\r\n\r\n", block.len())?;
            member.write_all(block)?;
            member.write_all(b"\r\n\r\n")?;
            member.try_finish()
        };
        write().map_err(|error| ExportFailure::file(&self.path, "write", &error))
    }

    pub fn finish(mut self) -> Result<(), ExportFailure> {
        self.out.flush().map_err(|error| ExportFailure::file(&self.path, "write", &error))?;
        self.unfinished.finish()
    }
}

/// An identifier that follows from a record's and what is made of it.
fn derived_id(record: &str, what: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::new().chain_update(record).chain_update(what).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex = data_encoding::HEXLOWER.encode(&id);
    format!(
        "urn:uuid:{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// JSON lines `{id, text, source, added, created, metadata}`; compressed if the name says so.
pub struct Dolma {
    path: std::path::PathBuf,
    out: Packed,
    source: String,
    added: String,
    unfinished: Unfinished,
}

enum Packed {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl Packed {
    fn write(&mut self) -> &mut dyn Write {
        match self {
            Packed::Plain(out) => out,
            Packed::Gzip(out) => out,
            Packed::Zstd(out) => out,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Packed::Plain(mut out) => out.flush(),
            Packed::Gzip(out) => out.finish()?.flush(),
            Packed::Zstd(out) => out.finish()?.flush(),
        }
    }
}

impl Dolma {
    /// `added` is the time of the export.
    pub fn begin(path: &Path, source: String, added: String) -> Result<Dolma, ExportFailure> {
        let failed = |error| ExportFailure::file(path, "create", &error);
        let unfinished = Unfinished::file(path)?;
        let file = File::create(unfinished.part()).map_err(failed)?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        let out = match path.extension().and_then(|end| end.to_str()) {
            Some("gz") => Packed::Gzip(GzEncoder::new(out, Compression::new(GZIP_LEVEL))),
            Some("zst") => Packed::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL).map_err(failed)?),
            _ => Packed::Plain(out),
        };
        Ok(Dolma { path: path.to_owned(), out, source, added, unfinished })
    }

    pub fn page(
        &mut self,
        capture: &ExportedCapture,
        page: &PageText,
    ) -> Result<(), ExportFailure> {
        let row = json!({
            "id": capture.record_id,
            "text": page.text,
            "source": self.source,
            "added": self.added,
            "created": capture.date,
            "metadata": {
                "url": capture.entry.url,
                "title": page.title,
                "author": page.author,
                "published": page.published,
                "language": page.language,
                "language_score": page.language_score,
                "site_name": page.site_name,
                "kind": page.kind,
                "confidence": page.confidence,
                "words": page.words,
                "is_leader": capture.known.leads,
                "cluster": capture.known.cluster,
                "importance": capture.known.importance,
                "license": page.license,
                "tdm_reserved": page.tdm_reserved,
                "warc_filename": capture.entry.filename,
                "warc_record_offset": capture.entry.offset,
            },
        });
        let mut line = row.to_string();
        line.push('\n');
        let written = self.out.write().write_all(line.as_bytes());
        written.map_err(|error| ExportFailure::file(&self.path, "write", &error))
    }

    pub fn finish(self) -> Result<(), ExportFailure> {
        self.out.finish().map_err(|error| ExportFailure::file(&self.path, "write", &error))?;
        self.unfinished.finish()
    }
}
