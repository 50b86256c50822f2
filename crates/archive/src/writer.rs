//! Appending: packed captures go to the end of the current WARC file, their index lines to its
//! part, and a new file is begun when one is full.
//!
//! Bytes gather in memory and reach the disk in one write for many records. What a call to
//! [`WarcWriter::sync`] has covered survives a power cut; what [`WarcWriter::flush`] has covered
//! survives a kill; the file may end in a torn record otherwise, which the next
//! [`WarcWriter::open`] cuts. An index line is written only after its record was synced, so a part
//! never claims what its file lacks.
//!
//! On an error nothing is lost: what was accepted is still in memory, the file ends with a whole
//! record, and the call may be repeated.

use std::cmp::Ordering;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use crate::cdxj;
use crate::date::timestamp;
use crate::error::ArchiveError;
use crate::index::{Layout, sync_dir};
use crate::pack::{Packed, Packer};
use crate::repair::{self, Resumed};
use crate::segments::Sorter;
use crate::tail::Tail;
use crate::warcinfo::Warcinfo;

#[derive(Clone, Copy, Debug)]
pub struct WriterLimits {
    /// A file that would grow beyond it is left for a new one; a single capture may exceed it.
    pub file_bytes_max: u64,
    /// Bytes gathered before they are written.
    pub buffer_bytes_max: usize,
}

impl Default for WriterLimits {
    fn default() -> WriterLimits {
        WriterLimits { file_bytes_max: 1_000_000_000, buffer_bytes_max: 1 << 20 }
    }
}

/// Index lines kept back until the next sync; beyond it, appending syncs by itself.
const LINES_BYTES_MAX: usize = 4 << 20;

/// Where a capture's first record lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Location {
    /// Serial number of the file.
    pub file: u32,
    pub offset: u64,
    pub length: u32,
}

/// The end of what was appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AppendEnd {
    pub file: u32,
    pub length: u64,
}

impl AppendEnd {
    /// How much of a file lies before it.
    pub(crate) fn length_of(self, file: u32) -> u64 {
        match file.cmp(&self.file) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => self.length,
            Ordering::Greater => 0,
        }
    }
}

pub struct WarcWriter {
    layout: Layout,
    info: Warcinfo,
    limits: WriterLimits,
    packer: Packer,
    current: Option<Current>,
    serial_next: u32,
    /// The current file takes no more.
    begins_anew: bool,
    /// Once a file is full.
    sorter: Option<Sorter>,
}

struct Current {
    serial: u32,
    name: String,
    path: PathBuf,
    part_path: PathBuf,
    warc: Tail<std::fs::File>,
    part: Tail<std::fs::File>,
    /// The file has no warcinfo of this run yet.
    needs_info: bool,
}

impl WarcWriter {
    /// Opens the archive in a crawl's directory, repairing what the last run left torn. The first
    /// file is begun when the first capture comes. `synced` is how far the caller knows that it was
    /// synced, if it knows: damage up to there is an error, and behind it is cut away.
    pub fn open(
        dir: &Path,
        info: Warcinfo,
        limits: WriterLimits,
        synced: Option<AppendEnd>,
    ) -> Result<WarcWriter, ArchiveError> {
        WarcWriter::open_in(Layout::of(dir), info, limits, synced)
    }

    /// One of several writers in a crawl's directory, whose files have the name of its series in
    /// theirs: letters and digits. The index is made when all are closed.
    pub fn open_series(
        (dir, series): (&Path, &str),
        info: Warcinfo,
        limits: WriterLimits,
        synced: Option<AppendEnd>,
    ) -> Result<WarcWriter, ArchiveError> {
        WarcWriter::open_in(Layout::of_series(dir, series), info, limits, synced)
    }

    fn open_in(
        layout: Layout,
        info: Warcinfo,
        limits: WriterLimits,
        synced: Option<AppendEnd>,
    ) -> Result<WarcWriter, ArchiveError> {
        layout.create()?;
        layout.remove_unfinished()?;
        let resumed = repair::last_file(&layout, synced)?;
        let serial_next = resumed.as_ref().map_or(1, |last| last.serial.saturating_add(1));
        let current = resumed.map(|last| Current::resume(&layout, last)).transpose()?;
        let packer = Packer::default();
        let (begins_anew, sorter) = (false, None);
        let mut writer =
            WarcWriter { layout, info, limits, packer, current, serial_next, begins_anew, sorter };
        // A run that was cut off may have left parts of files that are full.
        writer.sort_finished();
        Ok(writer)
    }

    fn sort_finished(&mut self) {
        // Segments are named by serial numbers alone: those of several series would collide.
        let may_sort = |current: &&Current| current.serial > 1 && !self.layout.is_shared();
        let Some(current) = self.current.as_ref().filter(may_sort) else {
            return;
        };
        if self.sorter.is_none() {
            self.sorter = Sorter::start(&self.layout);
        }
        if let Some(sorter) = &self.sorter {
            sorter.finished_below(current.serial);
        }
    }

    /// The next capture begins a file, whatever room the last has. Each opening of a partition has
    /// files of its own: the name of the last one belongs to the opening before.
    pub fn begin_anew(&mut self) {
        self.begins_anew = self.current.is_some();
    }

    /// Takes a capture. It is safe from a crash after [`WarcWriter::sync`].
    pub fn append(&mut self, packed: &Packed) -> Result<Location, ArchiveError> {
        let bytes = packed.bytes.len() as u64;
        let full = |current: &Current| {
            let length = current.warc.length();
            length > 0 && length + bytes > self.limits.file_bytes_max
        };
        if self.begins_anew || self.current.as_ref().is_none_or(full) {
            self.begin_file(packed.fetched_us)?;
            self.begins_anew = false;
        }
        let current = self.current.as_mut().expect("a file was begun");
        if current.warc.pending_bytes() >= self.limits.buffer_bytes_max {
            current.flush()?;
        }
        if current.part.pending_bytes() >= LINES_BYTES_MAX {
            current.sync()?;
        }
        if current.needs_info {
            let info = self.info.pack(&mut self.packer, &current.name, packed.fetched_us);
            current.warc.push(&info);
            current.needs_info = false;
        }
        let offset = current.warc.length();
        let length = packed.records[0].length;
        current.warc.push(&packed.bytes);
        if let Some(opening) = &packed.line_opening {
            let line = cdxj::closed(opening, u64::from(length), offset, &current.name);
            current.part.push(line.as_bytes());
        }
        Ok(Location { file: current.serial, offset, length })
    }

    /// Hands all to the operating system.
    pub fn flush(&mut self) -> Result<(), ArchiveError> {
        self.current.as_mut().map_or(Ok(()), Current::flush)
    }

    /// Makes all outlast a power cut.
    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        self.current.as_mut().map_or(Ok(()), Current::sync)
    }

    /// Serial number and length of the current file, with what is yet to be flushed.
    pub fn position(&self) -> Option<AppendEnd> {
        let position =
            |current: &Current| AppendEnd { file: current.serial, length: current.warc.length() };
        self.current.as_ref().map(position)
    }

    /// Syncs the current file for good, and begins the next.
    fn begin_file(&mut self, time_us: u64) -> Result<(), ArchiveError> {
        if let Some(current) = &mut self.current {
            current.sync()?;
            let io = |error| ArchiveError::io(&current.part_path, "sync", error);
            current.part.sync().map_err(io)?;
        }
        let serial = self.serial_next;
        let name = self.layout.name(&timestamp(time_us), serial, &self.info.file_id());
        let current = Current::open(&self.layout, serial, name, 0)?;
        sync_dir(&self.layout.warc_dir)?;
        sync_dir(&self.layout.index_dir)?;
        self.serial_next = serial.saturating_add(1);
        self.current = Some(current);
        self.sort_finished();
        Ok(())
    }
}

impl Current {
    fn resume(layout: &Layout, last: Resumed) -> Result<Current, ArchiveError> {
        Current::open(layout, last.serial, last.name, last.length)
    }

    fn open(
        layout: &Layout,
        serial: u32,
        name: String,
        length: u64,
    ) -> Result<Current, ArchiveError> {
        let (path, part_path) = (layout.warc(&name), layout.part(&name));
        let warc = open_tail(&path)?;
        assert_eq!(warc.length(), length, "a resumed file is as long as its repair left it");
        let part = open_tail(&part_path)?;
        Ok(Current { serial, name, path, part_path, warc, part, needs_info: true })
    }

    fn flush(&mut self) -> Result<(), ArchiveError> {
        self.warc.flush().map_err(|error| ArchiveError::io(&self.path, "write", error))
    }

    fn sync(&mut self) -> Result<(), ArchiveError> {
        self.warc.sync().map_err(|error| ArchiveError::io(&self.path, "write", error))?;
        self.part.flush().map_err(|error| ArchiveError::io(&self.part_path, "write", error))
    }
}

fn open_tail(path: &Path) -> Result<Tail<std::fs::File>, ArchiveError> {
    let io = |error| ArchiveError::io(path, "open", error);
    let file = OpenOptions::new().append(true).create(true).open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    Ok(Tail::new(file, length))
}
