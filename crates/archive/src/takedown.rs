//! Taking down: records overwritten where they lie, by one that says so.
//!
//! The new member is exactly as long as the one that it replaces, so all other records, the index's
//! offsets and whatever else knows a place in a file stay right. It is a `metadata` record without
//! a target, which no index lists; the rest of its room is spaces, stored as they are.
//!
//! An overwriting that is cut short leaves a torn member in the middle of a file: whoever calls
//! [`overwrite`] has written down the places before, and calls it again.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

use libdeflater::Crc;

use crate::date::warc_date;
use crate::error::ArchiveError;
use crate::index::Layout;
use crate::pack::hashed_id;

/// A stored block of deflate: its head, and the most that it holds (RFC 1951, 3.2.4).
const BLOCK_HEAD_BYTES: usize = 5;
const BLOCK_BYTES_MAX: usize = 65_535;
/// Identification, deflate, no flags, no time, on an unknown system (RFC 1952).
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Checksum and length.
const GZIP_END_BYTES: usize = 8;
const RECORD_END: &str = "\r\n\r\n";

/// Where a record's member lies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordPlace {
    /// The name of the WARC file.
    pub file: String,
    pub offset: u64,
    pub length: u64,
}

/// Overwrites these records of a crawl's directory, and syncs. Doing it twice changes nothing.
pub fn overwrite(dir: &Path, places: &[RecordPlace], time_us: u64) -> Result<(), ArchiveError> {
    let layout = Layout::of(dir);
    for of_file in places.chunk_by(|a, b| a.file == b.file) {
        let path = layout.warc(&of_file[0].file);
        let io = |error| ArchiveError::io(&path, "overwrite", error);
        let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
        for place in of_file {
            let member = tombstone(place, time_us).ok_or_else(|| {
                ArchiveError::corrupt(&path, place.offset, "too short a record to be overwritten")
            })?;
            file.write_all_at(&member, place.offset).map_err(io)?;
        }
        file.sync_data().map_err(io)?;
    }
    Ok(())
}

/// The member that takes a record's place; none if there is no room for it.
fn tombstone(place: &RecordPlace, time_us: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(place.length).ok()?;
    let room = length.checked_sub(GZIP_HEAD.len() + GZIP_END_BYTES)?;
    let blocks = room.div_ceil(BLOCK_HEAD_BYTES + BLOCK_BYTES_MAX);
    let plain = record(place, room.checked_sub(blocks * BLOCK_HEAD_BYTES)?, time_us)?;
    let mut member = Vec::with_capacity(length);
    member.extend_from_slice(&GZIP_HEAD);
    let pieces = plain.len().div_ceil(blocks.max(1));
    let mut rest = plain.as_slice();
    for block in 0..blocks {
        let (piece, after) = rest.split_at(pieces.min(rest.len()));
        let is_last = block + 1 == blocks;
        let bytes = u16::try_from(piece.len()).ok()?;
        member.push(u8::from(is_last));
        member.extend_from_slice(&bytes.to_le_bytes());
        member.extend_from_slice(&(!bytes).to_le_bytes());
        member.extend_from_slice(piece);
        rest = after;
    }
    let mut crc = Crc::new();
    crc.update(&plain);
    member.extend_from_slice(&crc.sum().to_le_bytes());
    member.extend_from_slice(&(plain.len() as u32).to_le_bytes());
    Some(member)
}

/// A record of exactly so many bytes.
fn record(place: &RecordPlace, bytes: usize, time_us: u64) -> Option<Vec<u8>> {
    let id = hashed_id(&[b"takedown", place.file.as_bytes(), &place.offset.to_le_bytes()]);
    let date = warc_date(time_us);
    let head = format!(
        "WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: {id}\r\nWARC-Date: {date}\r\n\
         RecordContent-Type: text/plain\r\nContent-Length: "
    );
    let note = "taken down: what stood here was removed\r\n";
    let fixed = head.len() + 2 * RECORD_END.len();
    // As many digits as the longest block would need, so that every length can be had.
    let digits = bytes.to_string().len();
    let block = bytes.checked_sub(fixed + digits)?;
    let note = &note[..note.len().min(block)];
    let mut record = format!("{head}{block:0digits$}{RECORD_END}{note}").into_bytes();
    record.resize(bytes - RECORD_END.len(), b' ');
    record.extend_from_slice(RECORD_END.as_bytes());
    Some(record)
}

/// The moment of a WARC date, in µs since the Unix epoch.
pub fn time_of(warc_date: &str) -> Option<u64> {
    let digits = crate::date::timestamp_of(warc_date)?;
    let number = |range: std::ops::Range<usize>| digits[range].parse::<i64>().ok();
    let date = rhumb_page::calendar::Date::of(number(0..4)?, number(4..6)?, number(6..8)?)?;
    let seconds = number(8..10)? * 3_600 + number(10..12)? * 60 + number(12..14)?;
    let seconds = date.days() * rhumb_page::calendar::DAY_S as i64 + seconds;
    let fraction = warc_date.get(19..)?.strip_prefix('.').map(|rest| rest.trim_end_matches('Z'));
    let micros = match fraction {
        Some(digits) => format!("{digits:0<6}").get(..6)?.parse().ok()?,
        None => 0,
    };
    u64::try_from(seconds).ok()?.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Record;
    use std::fs::File;

    #[test]
    fn a_tombstone_is_a_record_of_any_length_that_there_is_room_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.warc.gz");
        let lengths = (0..1_200).chain(65_400..66_200).chain([131_000, 131_130, 200_003]);
        let mut found = 0;
        for length in lengths {
            let place = RecordPlace { file: "a.warc.gz".to_owned(), offset: 0, length };
            let Some(member) = tombstone(&place, 1_700_000_000_000_000) else { continue };
            found += 1;
            assert_eq!(member.len() as u64, length);
            std::fs::write(&path, &member).unwrap();
            let record = Record::read_at(&path, &File::open(&path).unwrap(), 0, length).unwrap();
            assert_eq!((record.kind(), record.target()), ("metadata", None), "{length}");
        }
        assert!(found > 1_700, "{found}: a request's record has 400 bytes or more");
    }

    #[test]
    fn a_date_is_read_back_to_the_microsecond() {
        for time in [0, 951_782_399_999_999, 1_735_689_599_000_001] {
            assert_eq!(time_of(&warc_date(time)), Some(time));
        }
        assert_eq!(time_of("2024-12-31T23:59:59Z"), Some(1_735_689_599_000_000));
        assert_eq!(time_of("yesterday"), None);
    }
}
