//! The archive's part of a takedown: which records go, what of other pages must be kept anew, and
//! the index.
//!
//! A page with the bytes of a forgotten one has a revisit record, and its payload lies in the
//! record that goes. Such a page is written again as a response of its own, with its own head, URL
//! and date, before anything is overwritten; its revisit record goes with the others.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use rhumb_archive::takedown::{self, RecordPlace, time_of};
use rhumb_archive::{
    Capture, Packer, Record, RecordContent, RecordReader, WarcWriter, Warcinfo, WriterLimits,
    rebuild, warc_files,
};
use rhumb_engine::admit::Forgotten;
use rhumb_engine::error::Error;
use rhumb_engine::turn::ArchivePosition;
use rhumb_page::url::Url;

use super::{INDEX_BYTES, TakedownDone, archive_error, is_forgotten, plan};
use crate::run::archive_end;
use crate::settings::Settings;

/// What a walk over the archive found.
#[derive(Default)]
struct Found {
    taken: Vec<RecordPlace>,
    /// Records of forgotten pages with payloads, by URL and date.
    originals: HashMap<(String, String), RecordPlace>,
    copies: Vec<Copy>,
    /// URL and date of pages that have a response of their own.
    kept: HashSet<(String, String)>,
}

/// A page whose payload lies with a forgotten one.
struct Copy {
    url: String,
    date: String,
    original: (String, String),
    head: Vec<u8>,
    address: Option<String>,
    request: Vec<u8>,
}

/// Takes the records down; where the archive ends then.
pub(super) fn take_down(
    dir: &Path,
    (forgotten, settings): (&Forgotten, &Settings),
    synced: Option<ArchivePosition>,
    now_us: u64,
    done: &mut TakedownDone,
) -> Result<ArchivePosition, Error> {
    let synced = synced.map(|at| rhumb_archive::AppendEnd { file: at.file, length: at.length });
    let end = rhumb_archive::repair(dir, synced).map_err(archive_error)?;
    if end.is_none() {
        return Ok(ArchivePosition::default());
    }
    let mut found = Found::default();
    for (_, path) in warc_files(dir).map_err(archive_error)? {
        found.walk(&path, forgotten)?;
    }
    found.copies.retain(|copy| !found.kept.contains(&(copy.url.clone(), copy.date.clone())));
    done.kept_anew = keep_anew(dir, &found, settings)?;
    found.taken.sort();
    done.records = found.taken.len() as u64;
    plan::write(dir, &found.taken)?;
    takedown::overwrite(dir, &found.taken, now_us).map_err(archive_error)?;
    rebuild(dir, INDEX_BYTES).map_err(archive_error)?;
    let end = rhumb_archive::repair(dir, None).map_err(archive_error)?;
    Ok(archive_end(end))
}

impl Found {
    fn walk(&mut self, path: &Path, forgotten: &Forgotten) -> Result<(), Error> {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let file = file.unwrap_or_default();
        // The copy whose records are being read: its request follows.
        let mut copying: Option<(String, String)> = None;
        for record in RecordReader::open(path).map_err(archive_error)? {
            let record = record.map_err(archive_error)?;
            let Some(key) = key_of(&record) else { continue };
            let place =
                || RecordPlace { file: file.clone(), offset: record.offset, length: record.length };
            if is_forgotten(forgotten, record.target()) {
                if matches!(record.kind(), "response" | "resource") {
                    self.originals.insert(key, place());
                }
                self.taken.push(place());
            } else if let Some(copy) = Copy::of(&record, &key, forgotten) {
                copying = Some(key);
                self.taken.push(place());
                self.copies.push(copy);
            } else if copying.as_ref() == Some(&key) {
                if let (Some(copy), "request") = (self.copies.last_mut(), record.kind()) {
                    copy.request.clone_from(&record.block);
                }
                self.taken.push(place());
            } else if record.kind() == "response" {
                self.kept.insert(key);
            }
        }
        Ok(())
    }
}

impl Copy {
    /// A page that stays, if its payload is that of one that goes.
    fn of(record: &Record, key: &(String, String), forgotten: &Forgotten) -> Option<Copy> {
        let original = record.field("WARC-Refers-To-Target-URI");
        if record.kind() != "revisit" || !is_forgotten(forgotten, original) {
            return None;
        }
        let original = (original?.to_owned(), record.field("WARC-Refers-To-Date")?.to_owned());
        Some(Copy {
            url: key.0.clone(),
            date: key.1.clone(),
            original,
            head: record.block.clone(),
            address: record.field("WARC-IP-Address").map(str::to_owned),
            request: Vec::new(),
        })
    }
}

fn key_of(record: &Record) -> Option<(String, String)> {
    Some((record.target()?.to_owned(), record.field("WARC-Date")?.to_owned()))
}

/// Writes copies as responses of their own, and syncs; how many.
fn keep_anew(dir: &Path, found: &Found, settings: &Settings) -> Result<u64, Error> {
    let wanted = found.copies.iter().filter(|copy| found.originals.contains_key(&copy.original));
    let wanted: Vec<&Copy> = wanted.collect();
    if wanted.is_empty() {
        return Ok(0);
    }
    let info = Warcinfo {
        software: concat!("rhumb/", env!("CARGO_PKG_VERSION")).to_owned(),
        user_agent: settings.user_agent.header.clone(),
        robots: "obey".to_owned(),
        fields: vec![("description".to_owned(), "kept anew after a takedown".to_owned())],
        ..Warcinfo::default()
    };
    let limits =
        WriterLimits { file_bytes_max: settings.warc_bytes_max, ..WriterLimits::default() };
    let mut writer = WarcWriter::open(dir, info, limits, None).map_err(archive_error)?;
    let mut packer = Packer::new(settings.compression_level);
    let mut count = 0;
    for copy in wanted {
        let place = &found.originals[&copy.original];
        count += u64::from(keep(dir, copy, place, (&mut packer, &mut writer))?);
    }
    writer.sync().map_err(archive_error)?;
    Ok(count)
}

/// Whether its URL and date could be read, as those of all our records can.
fn keep(
    dir: &Path,
    copy: &Copy,
    original: &RecordPlace,
    (packer, writer): (&mut Packer, &mut WarcWriter),
) -> Result<bool, Error> {
    let (Ok(url), Some(fetched_us)) = (Url::parse(&copy.url), time_of(&copy.date)) else {
        return Ok(false);
    };
    let path: PathBuf = dir.join("warc").join(&original.file);
    let file = File::open(&path).map_err(|error| super::at(&path, &error))?;
    let record = Record::read_at(&path, &file, original.offset, original.length);
    let record = record.map_err(archive_error)?;
    let response = [copy.head.as_slice(), record.payload()].concat();
    let packed = packer.capture(&Capture {
        url: &url,
        fetched_us,
        address: copy.address.as_ref().and_then(|address| address.parse().ok()),
        protocol: None,
        resource_type: None,
        content: RecordContent::Http { request: &copy.request, response: &response },
        truncated: None,
        notes: &[],
    });
    writer.append(&packed).map_err(archive_error)?;
    Ok(true)
}
