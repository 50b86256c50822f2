//! Repairs the last WARC file after any end of the last run: cuts a torn tail back to the last
//! whole record, and adds the index lines that are missing.
//!
//! Only the last file can be torn: the next one is begun after the one before was synced. Little of
//! it must be read: a line of the index part is written after its record was synced, so the file is
//! whole up to the last record that the part names, and a record behind it was never promised. A
//! part that is missing, has a hole or contradicts its file is made again from the file. The bytes
//! that are cut lie behind the position that the caller synced last, or are one torn record.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::cdxj::{CdxjEntry, LINE_BYTES_MAX};
use crate::error::ArchiveError;
use crate::index::{Layout, line_of, make_part};
use crate::read::{RecordReader, whole_records};
use crate::writer::AppendEnd;

/// The file the last run was writing, now whole, as its part is.
pub(crate) struct Resumed {
    pub serial: u32,
    pub name: String,
    pub length: u64,
}

/// Repairs the archive in a crawl's directory, and tells where it ends; none if there is none.
/// `synced` is what [`WarcWriter::open`](crate::WarcWriter::open) takes.
pub fn repair(dir: &Path, synced: Option<AppendEnd>) -> Result<Option<AppendEnd>, ArchiveError> {
    repair_in(&Layout::of(dir), synced)
}

/// The same of one series of several.
pub fn repair_series(
    (dir, series): (&Path, &str),
    synced: Option<AppendEnd>,
) -> Result<Option<AppendEnd>, ArchiveError> {
    repair_in(&Layout::of_series(dir, series), synced)
}

fn repair_in(
    layout: &Layout,
    synced: Option<AppendEnd>,
) -> Result<Option<AppendEnd>, ArchiveError> {
    if !layout.warc_dir.is_dir() {
        return Ok(None);
    }
    layout.create()?;
    let last = last_file(layout, synced)?;
    Ok(last.map(|last| AppendEnd { file: last.serial, length: last.length }))
}

pub(crate) fn last_file(
    layout: &Layout,
    synced: Option<AppendEnd>,
) -> Result<Option<Resumed>, ArchiveError> {
    let Some((serial, name)) = layout.last_of_ours()? else {
        return Ok(None);
    };
    let (warc, part) = (layout.warc(&name), layout.part(&name));
    // Lines may only speak of synced bytes, and the last run may have left some unsynced.
    let io = |error| ArchiveError::io(&warc, "sync", error);
    File::open(&warc).and_then(|file| file.sync_data()).map_err(io)?;
    let length = match last_entry(&part)? {
        Some(entry) if is_in_place(&entry, &warc) => repair_from(&warc, &part, &entry)?,
        _ => make_part(&warc, &part, synced.map(|synced| synced.length_of(serial)))?,
    };
    cut(&warc, length)?;
    Ok(Some(Resumed { serial, name, length }))
}

fn is_in_place(entry: &CdxjEntry, warc: &Path) -> bool {
    let record =
        RecordReader::open_at(warc, entry.offset).ok().and_then(|mut reader| reader.next());
    let Some(Ok(record)) = record else {
        return false;
    };
    record.length == entry.length && record.target() == Some(&entry.url)
}

/// Adds the lines that are missing after the last one; returns where the whole records end.
fn repair_from(warc: &Path, part: &Path, last: &CdxjEntry) -> Result<u64, ArchiveError> {
    let io = |error| ArchiveError::io(part, "write", error);
    let file = OpenOptions::new().append(true).open(part).map_err(io)?;
    let mut lines = BufWriter::new(file);
    let walked = whole_records(warc, last.offset, |record| match line_of(record, warc) {
        Some(line) if record.offset > last.offset => lines.write_all(line.as_bytes()).map_err(io),
        _ => Ok(()),
    })?;
    lines.flush().map_err(io)?;
    Ok(walked.end)
}

/// The last whole line of a part, which is cut behind it; `None` if there is no part, no line, or
/// something else in it: a power cut leaves holes wherever it was not synced.
fn last_entry(part: &Path) -> Result<Option<CdxjEntry>, ArchiveError> {
    let io = |error| ArchiveError::io(part, "read", error);
    let mut lines = match File::open(part) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let (mut last, mut end, mut line) = (None::<CdxjEntry>, 0, Vec::new());
    loop {
        line.clear();
        let mut one = lines.by_ref().take(LINE_BYTES_MAX as u64);
        end += one.read_until(b'\n', &mut line).map_err(io)? as u64;
        if line.last() != Some(&b'\n') {
            end -= line.len() as u64;
            break;
        }
        let entry = CdxjEntry::parse(&line).filter(|_| !line.contains(&0));
        let after = last.as_ref().map(|last| last.offset);
        let Some(entry) = entry.filter(|entry| after.is_none_or(|after| entry.offset > after))
        else {
            return Ok(None);
        };
        last = Some(entry);
    }
    cut(part, end)?;
    Ok(last)
}

/// Shortens a file, if it is longer.
fn cut(path: &Path, length: u64) -> Result<(), ArchiveError> {
    let io = |error| ArchiveError::io(path, "cut", error);
    let file = OpenOptions::new().write(true).open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > length {
        file.set_len(length).map_err(io)?;
        file.sync_data().map_err(io)?;
    }
    Ok(())
}
