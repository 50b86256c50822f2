//! Files beside the index: the pages themselves, compressed, and what changes without them.
//!
//! Each page has a number, its place in all of them. `rows`: the page, one zstd frame. `names`: its
//! id and URL. `entries`: 40 bytes that tell where those are. `changing`: cluster, time of fetching
//! and importance, which are written in place, so that no page is indexed again when they move.
//! `slots`: 128 bytes of its sketch. All are only appended to otherwise. A commit of the index says
//! how long they are; what stands beyond is cut when the index is opened to be written.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rhumb_page::calendar::Date;
use serde::{Deserialize, Serialize};
use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};

use crate::error::SearchError;
use crate::page::SearchPage;

pub const ENTRY_BYTES: usize = 40;
pub const CHANGING_BYTES: usize = 12;
/// Slots of a sketch.
pub const SLOTS: usize = rhumb_neardup::sketch::K;
const LEVEL: i32 = 1;
/// Bytes of a page when it is read; it was bounded when it was written.
const PAGE_BYTES_MAX: usize = 64 << 20;

const ROWS: &str = "rows";
const NAMES: &str = "names";
const ENTRIES: &str = "entries";
const CHANGING: &str = "changing";
const SLOTS_FILE: &str = "slots";
const ANCHORS: &str = "anchors";
/// All of them.
pub(crate) const FILES: [&str; 6] = [ROWS, NAMES, ENTRIES, CHANGING, SLOTS_FILE, ANCHORS];

/// How long the files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    pub pages: u32,
    pub rows: u64,
    pub names: u64,
    #[serde(default)]
    pub anchors: u64,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowPlace {
    rows_at: u64,
    row_bytes: u32,
    names_at: u64,
    id_bytes: u16,
    url_bytes: u16,
    /// xxh3 of its id.
    pub id_hash: u64,
    /// Days since 1970 of its date; 0 if it is not known.
    pub day: i32,
    /// Texts of incoming links that were indexed with it.
    pub anchors: u16,
    /// The page is not to be found any more.
    pub is_removed: bool,
}

/// What is known of a page besides itself when it is appended.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownPage {
    pub id_hash: u64,
    pub day: i32,
    pub is_removed: bool,
}

/// What changes without the page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Changing {
    /// The first page of its cluster, by number; often itself.
    pub leader: u32,
    pub fetched: u32,
    /// Its share of all importance; 0 if it is not known.
    pub importance: f32,
}

impl RowPlace {
    fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.rows_at.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.row_bytes.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.names_at.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.id_bytes.to_le_bytes());
        bytes[22..24].copy_from_slice(&self.url_bytes.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.id_hash.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.day.to_le_bytes());
        bytes[36..38].copy_from_slice(&self.anchors.to_le_bytes());
        bytes[38] = u8::from(self.is_removed);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<RowPlace> {
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let half = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        Some(RowPlace {
            rows_at: long(0)?,
            row_bytes: word(8)?,
            names_at: long(12)?,
            id_bytes: half(20)?,
            url_bytes: half(22)?,
            id_hash: long(24)?,
            day: word(32)? as i32,
            anchors: half(36)?,
            is_removed: *bytes.get(38)? != 0,
        })
    }
}

impl Changing {
    fn to_bytes(self) -> [u8; CHANGING_BYTES] {
        let mut bytes = [0; CHANGING_BYTES];
        bytes[..4].copy_from_slice(&self.leader.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.fetched.to_le_bytes());
        bytes[8..].copy_from_slice(&self.importance.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Changing> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let importance = f32::from_bits(word(8)?);
        Some(Changing { leader: word(0)?, fetched: word(4)?, importance })
    }
}

fn decompress(bytes: &[u8]) -> Option<SearchPage> {
    let plain = zstd::bulk::decompress(bytes, PAGE_BYTES_MAX).ok()?;
    serde_json::from_slice(&plain).ok()
}

/// The files, open at their ends.
pub struct BesideWriter {
    dir: PathBuf,
    rows: File,
    names: File,
    entries: File,
    changing: File,
    slots: File,
    anchors: File,
    lengths: Lengths,
}

impl BesideWriter {
    /// Opens the files of a directory; what stands beyond `lengths` is cut.
    pub fn open(dir: &Path, lengths: Lengths) -> Result<BesideWriter, SearchError> {
        let open = |name: &str, length: u64| {
            let path = dir.join(name);
            let failed = |error: &io::Error| SearchError::at(&path, error);
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path).map_err(|error| failed(&error))?;
            let found = file.metadata().map_err(|error| failed(&error))?.len();
            if found < length {
                return Err(SearchError::damaged(&path, "shorter than the index says"));
            }
            file.set_len(length).map_err(|error| failed(&error))?;
            Ok(file)
        };
        let pages = u64::from(lengths.pages);
        Ok(BesideWriter {
            rows: open(ROWS, lengths.rows)?,
            names: open(NAMES, lengths.names)?,
            entries: open(ENTRIES, pages * ENTRY_BYTES as u64)?,
            changing: open(CHANGING, pages * CHANGING_BYTES as u64)?,
            slots: open(SLOTS_FILE, pages * SLOTS as u64)?,
            anchors: open(ANCHORS, lengths.anchors)?,
            dir: dir.to_owned(),
            lengths,
        })
    }

    pub fn lengths(&self) -> Lengths {
        self.lengths
    }

    /// Appends a page; its number.
    pub fn append(
        &mut self,
        page: &SearchPage,
        known: KnownPage,
        changing: Changing,
        slots: &[u8; SLOTS],
    ) -> Result<u32, SearchError> {
        let plain = serde_json::to_vec(page).map_err(|error| SearchError::Io(error.to_string()))?;
        let row = zstd::bulk::compress(&plain, LEVEL);
        let row = row.map_err(|error| SearchError::at(&self.dir, &error))?;
        let short = |text: &str| text.floor_char_boundary(usize::from(u16::MAX));
        let (id_bytes, url_bytes) = (short(&page.id), short(&page.url));
        let entry = RowPlace {
            rows_at: self.lengths.rows,
            row_bytes: row.len() as u32,
            names_at: self.lengths.names,
            id_bytes: id_bytes as u16,
            url_bytes: url_bytes as u16,
            id_hash: known.id_hash,
            day: known.day,
            anchors: page.anchors.len() as u16,
            is_removed: known.is_removed,
        };
        let name = [&page.id.as_bytes()[..id_bytes], &page.url.as_bytes()[..url_bytes]].concat();
        let number = self.lengths.pages;
        let place = u64::from(number);
        let write = || -> io::Result<()> {
            self.rows.write_all_at(&row, self.lengths.rows)?;
            self.names.write_all_at(&name, self.lengths.names)?;
            self.entries.write_all_at(&entry.to_bytes(), place * ENTRY_BYTES as u64)?;
            self.changing.write_all_at(&changing.to_bytes(), place * CHANGING_BYTES as u64)?;
            self.slots.write_all_at(slots, place * SLOTS as u64)
        };
        write().map_err(|error| SearchError::at(&self.dir, &error))?;
        self.lengths.rows += row.len() as u64;
        self.lengths.names += name.len() as u64;
        self.lengths.pages += 1;
        Ok(number)
    }

    /// Appends a record of a text that leads to a page.
    pub fn append_anchor(&mut self, record: &[u8]) -> Result<(), SearchError> {
        let written = self.anchors.write_all_at(record, self.lengths.anchors);
        written.map_err(|error| SearchError::at(&self.dir, &error))?;
        self.lengths.anchors += record.len() as u64;
        Ok(())
    }

    /// All records of texts that lead to pages.
    pub fn anchors(&self) -> Result<Vec<u8>, SearchError> {
        let mut records = vec![0; usize::try_from(self.lengths.anchors).unwrap_or(usize::MAX)];
        let read = self.anchors.read_exact_at(&mut records, 0);
        read.map_err(|error| SearchError::at(&self.dir, &error))?;
        Ok(records)
    }

    /// Reads a page back.
    pub fn page(&self, number: u32) -> Result<SearchPage, SearchError> {
        let failed = |error: io::Error| SearchError::at(&self.dir, &error);
        let mut bytes = [0; ENTRY_BYTES];
        let at = u64::from(number) * ENTRY_BYTES as u64;
        self.entries.read_exact_at(&mut bytes, at).map_err(failed)?;
        let damaged = || SearchError::damaged(&self.dir.join(ROWS), "a page cannot be read");
        let entry = RowPlace::parse(&bytes).ok_or_else(damaged)?;
        let mut row = vec![0; entry.row_bytes as usize];
        self.rows.read_exact_at(&mut row, entry.rows_at).map_err(failed)?;
        decompress(&row).ok_or_else(damaged)
    }

    /// What changes of a page, as it was written last.
    pub fn changing(&self, number: u32) -> Result<Changing, SearchError> {
        let failed = |error: io::Error| SearchError::at(&self.dir, &error);
        let at = u64::from(number) * CHANGING_BYTES as u64;
        let mut bytes = [0; CHANGING_BYTES];
        self.changing.read_exact_at(&mut bytes, at).map_err(failed)?;
        Ok(Changing::parse(&bytes).unwrap_or_default())
    }

    /// Writes what changes of a page, in place.
    pub fn change(
        &mut self,
        number: u32,
        change: impl FnOnce(&mut Changing),
    ) -> Result<(), SearchError> {
        let mut changing = self.changing(number)?;
        change(&mut changing);
        let at = u64::from(number) * CHANGING_BYTES as u64;
        let written = self.changing.write_all_at(&changing.to_bytes(), at);
        written.map_err(|error| SearchError::at(&self.dir, &error))
    }

    /// All that is there survives a power cut.
    pub fn sync(&mut self) -> Result<(), SearchError> {
        let pages = [&self.rows, &self.names, &self.entries, &self.changing];
        let files = pages.into_iter().chain([&self.slots, &self.anchors]);
        for mut file in files {
            let synced = file.flush().and_then(|()| file.sync_data());
            synced.map_err(|error| SearchError::at(&self.dir, &error))?;
        }
        Ok(())
    }
}

/// The files, mapped to be read.
pub struct Beside {
    dir: PathBuf,
    rows: OwnedBytes,
    names: OwnedBytes,
    entries: OwnedBytes,
    changing: OwnedBytes,
    slots: OwnedBytes,
    pages: u32,
}

impl Beside {
    /// Maps the files of a directory as far as `lengths` say.
    pub fn open(dir: &Path, lengths: Lengths) -> Result<Beside, SearchError> {
        let files = MmapDirectory::open(dir).map_err(|error| SearchError::Io(error.to_string()))?;
        let map = |name: &str, length: u64| {
            let damaged = |what: &str| SearchError::damaged(&dir.join(name), what);
            let file = files.open_read(Path::new(name)).map_err(|_| damaged("cannot be read"))?;
            let bytes = file.read_bytes().map_err(|_| damaged("cannot be read"))?;
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if bytes.len() < length {
                return Err(damaged("shorter than the index says"));
            }
            Ok(bytes.slice(0..length))
        };
        let pages = u64::from(lengths.pages);
        Ok(Beside {
            dir: dir.to_owned(),
            rows: map(ROWS, lengths.rows)?,
            names: map(NAMES, lengths.names)?,
            entries: map(ENTRIES, pages * ENTRY_BYTES as u64)?,
            changing: map(CHANGING, pages * CHANGING_BYTES as u64)?,
            slots: map(SLOTS_FILE, pages * SLOTS as u64)?,
            pages: lengths.pages,
        })
    }

    /// Pages, those that were replaced included.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    pub fn entry(&self, number: u32) -> Option<RowPlace> {
        RowPlace::parse(self.entries.get(number as usize * ENTRY_BYTES..)?)
    }

    pub fn changing(&self, number: u32) -> Changing {
        let bytes = self.changing.get(number as usize * CHANGING_BYTES..);
        bytes.and_then(Changing::parse).unwrap_or_default()
    }

    /// Slots of its sketch; none of a page without words.
    pub fn slots(&self, number: u32) -> Option<&[u8; SLOTS]> {
        let slots: &[u8; SLOTS] = self.slots.get(number as usize * SLOTS..)?.first_chunk()?;
        slots.iter().any(|slot| *slot != 0).then_some(slots)
    }

    pub fn id(&self, number: u32) -> &str {
        self.name(number).map_or("", |(id, _)| id)
    }

    pub fn url(&self, number: u32) -> &str {
        self.name(number).map_or("", |(_, url)| url)
    }

    fn name(&self, number: u32) -> Option<(&str, &str)> {
        let entry = self.entry(number)?;
        let at = usize::try_from(entry.names_at).ok()?;
        let (id, url) = (usize::from(entry.id_bytes), usize::from(entry.url_bytes));
        let bytes = self.names.get(at..at + id + url)?;
        Some((std::str::from_utf8(&bytes[..id]).ok()?, std::str::from_utf8(&bytes[id..]).ok()?))
    }

    pub fn page(&self, number: u32) -> Option<SearchPage> {
        let entry = self.entry(number)?;
        let at = usize::try_from(entry.rows_at).ok()?;
        let end = at.checked_add(entry.row_bytes as usize)?;
        decompress(self.rows.get(at..end)?)
    }

    /// A page that must be there.
    pub fn known_page(&self, number: u32) -> Result<SearchPage, SearchError> {
        let damaged = || SearchError::damaged(&self.dir.join(ROWS), "a page cannot be read");
        self.page(number).ok_or_else(damaged)
    }
}

/// Days since 1970 of `2024-05-01`, `2024-05` or `2024`; 0 if it is no day.
pub fn day_of(text: &str) -> i32 {
    let mut parts = text.get(..10).unwrap_or(text).splitn(3, '-').map(str::parse::<i64>);
    let (Some(Ok(year)), month, day) = (parts.next(), parts.next(), parts.next()) else { return 0 };
    let (Ok(month), Ok(day)) = (month.unwrap_or(Ok(1)), day.unwrap_or(Ok(1))) else { return 0 };
    Date::of(year, month, day).map_or(0, |date| date.days() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_and_what_stands_beyond_a_commit_is_cut() {
        let dir = tempfile::tempdir().expect("a directory");
        let page = |n: u32| SearchPage {
            id: format!("p{n}"),
            text: "text ".repeat(9),
            ..SearchPage::default()
        };
        let mut writer = BesideWriter::open(dir.path(), Lengths::default()).expect("opened");
        for n in 0..3 {
            let number =
                writer.append(&page(n), KnownPage::default(), Changing::default(), &[1; SLOTS]);
            assert_eq!(number.expect("written"), n);
        }
        let lengths = writer.lengths();
        writer
            .append(&page(3), KnownPage::default(), Changing::default(), &[1; SLOTS])
            .expect("written");
        drop(writer);
        let mut writer = BesideWriter::open(dir.path(), lengths).expect("opened");
        assert_eq!(writer.page(2).expect("read"), page(2));
        writer.change(1, |changing| changing.importance = 0.5).expect("changed");
        writer.sync().expect("synced");
        let beside = Beside::open(dir.path(), lengths).expect("mapped");
        assert_eq!(beside.pages(), 3);
        assert_eq!((beside.id(1), beside.url(1)), ("p1", ""));
        assert_eq!(beside.page(0), Some(page(0)));
        assert_eq!(beside.changing(1).importance, 0.5);
        assert_eq!(beside.page(3), None);
        std::fs::write(dir.path().join(ROWS), "x").expect("written");
        assert!(matches!(Beside::open(dir.path(), lengths), Err(SearchError::Damaged(_))));
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(day_of("1970-01-01"), 0);
        assert_eq!(day_of("1970-01-02"), 1);
        assert_eq!(day_of("2024-02-29T10:00:00Z"), 19_782);
        assert_eq!(day_of("2024"), day_of("2024-01-01"));
        assert_eq!(day_of("soon"), 0);
        assert_eq!(day_of("2024-13-01"), 0);
    }
}
