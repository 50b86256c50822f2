//! A ZIP file of stored entries, with the 64-bit fields of ZIP64 throughout.
//!
//! Sizes and the checksum stand before an entry's bytes and are known behind them: they are written
//! there afterwards, so the file must be one that can be sought in. PKWARE, APPNOTE.TXT 6.3.10,
//! sections 4.3 to 4.5. There is no time in it: the same crawl gives the same bytes.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Crc;
use sha2::{Digest, Sha256};

use crate::ExportFailure;

const BUFFER_BYTES: usize = 1 << 18;
const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const END: u32 = 0x0605_4b50;
/// ZIP64, stored.
const VERSION: u16 = 45;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// 1980-01-01, the first day there is.
const DATE: u16 = 0x21;
const IN_EXTRA: u32 = u32::MAX;

/// An entry that was written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: String,
    pub bytes: u64,
    /// Hexadecimal.
    pub sha256: String,
    crc: u32,
    offset: u64,
}

impl Entry {
    /// Where its bytes begin.
    #[cfg(test)]
    pub(super) fn data_offset(&self) -> u64 {
        self.offset + local_header(&self.name, 0, 0).len() as u64
    }
}

pub(super) struct ZipFile {
    path: PathBuf,
    out: BufWriter<File>,
    offset: u64,
    pub entries: Vec<Entry>,
}

impl ZipFile {
    pub(super) fn create(path: &Path) -> Result<ZipFile, ExportFailure> {
        let file =
            File::create(path).map_err(|error| ExportFailure::file(path, "create", &error))?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(ZipFile { path: path.to_owned(), out, offset: 0, entries: Vec::new() })
    }

    /// Begins an entry; it is to be finished.
    pub(super) fn begin(&mut self, name: &str) -> Result<Writing<'_>, ExportFailure> {
        let header = local_header(name, 0, 0);
        self.put(&header)?;
        let header_offset = self.offset - header.len() as u64;
        Ok(Writing {
            zip: self,
            name: name.to_owned(),
            header_offset,
            bytes: 0,
            crc: Crc::new(),
            sha256: Sha256::new(),
        })
    }

    /// Writes an entry that is at hand.
    pub(super) fn whole(&mut self, name: &str, bytes: &[u8]) -> Result<(), ExportFailure> {
        let mut entry = self.begin(name)?;
        entry.write_all(bytes).map_err(|error| entry.failure(&error))?;
        entry.finish()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ExportFailure> {
        self.offset += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|error| ExportFailure::file(&self.path, "write", &error))
    }

    /// Writes the directory; how long the file is.
    pub(super) fn finish(mut self) -> Result<u64, ExportFailure> {
        let start = self.offset;
        let entries = std::mem::take(&mut self.entries);
        for entry in &entries {
            self.put(&central_header(entry))?;
        }
        let end = ends(entries.len() as u64, start, self.offset - start);
        self.put(&end)?;
        self.out.flush().map_err(|error| ExportFailure::file(&self.path, "write", &error))?;
        Ok(self.offset)
    }
}

/// An entry that is being written.
pub(super) struct Writing<'z> {
    zip: &'z mut ZipFile,
    name: String,
    header_offset: u64,
    bytes: u64,
    crc: Crc,
    sha256: Sha256,
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.zip.out.write_all(bytes)?;
        self.zip.offset += bytes.len() as u64;
        self.bytes += bytes.len() as u64;
        self.crc.update(bytes);
        self.sha256.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Writing<'_> {
    pub(super) fn failure(&self, error: &io::Error) -> ExportFailure {
        ExportFailure::file(&self.zip.path, "write", error)
    }

    /// How many bytes were written.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn finish(self) -> Result<(), ExportFailure> {
        let crc = self.crc.sum();
        let header = local_header(&self.name, crc, self.bytes);
        let out = &mut self.zip.out;
        let patch = |out: &mut BufWriter<File>| {
            out.seek(SeekFrom::Start(self.header_offset))?;
            out.write_all(&header)?;
            out.seek(SeekFrom::End(0)).map(drop)
        };
        patch(out).map_err(|error| ExportFailure::file(&self.zip.path, "write", &error))?;
        self.zip.entries.push(Entry {
            name: self.name,
            bytes: self.bytes,
            sha256: data_encoding::HEXLOWER.encode(&self.sha256.finalize()),
            crc,
            offset: self.header_offset,
        });
        Ok(())
    }
}

fn local_header(name: &str, crc: u32, bytes: u64) -> Vec<u8> {
    let mut header = Vec::with_capacity(50 + name.len());
    header.extend(LOCAL_HEADER.to_le_bytes());
    common(&mut header, crc, name);
    header.extend(20_u16.to_le_bytes());
    header.extend(name.as_bytes());
    extra(&mut header, &[bytes, bytes]);
    header
}

fn central_header(entry: &Entry) -> Vec<u8> {
    let mut header = Vec::with_capacity(74 + entry.name.len());
    header.extend(CENTRAL_HEADER.to_le_bytes());
    // Made on Unix.
    header.extend((VERSION | 3 << 8).to_le_bytes());
    common(&mut header, entry.crc, &entry.name);
    header.extend(28_u16.to_le_bytes());
    // No comment, the first disk, binary.
    header.extend([0; 6]);
    // A file that everybody may read.
    header.extend((0o100_644_u32 << 16).to_le_bytes());
    header.extend(IN_EXTRA.to_le_bytes());
    header.extend(entry.name.as_bytes());
    extra(&mut header, &[entry.bytes, entry.bytes, entry.offset]);
    header
}

/// What both headers have: from the version needed to the length of the name.
fn common(header: &mut Vec<u8>, crc: u32, name: &str) {
    // Stored, at midnight.
    for number in [VERSION, FLAGS, 0, 0, DATE] {
        header.extend(number.to_le_bytes());
    }
    header.extend(crc.to_le_bytes());
    header.extend(IN_EXTRA.to_le_bytes());
    header.extend(IN_EXTRA.to_le_bytes());
    header.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
}

fn extra(header: &mut Vec<u8>, numbers: &[u64]) {
    header.extend(1_u16.to_le_bytes());
    header.extend((8 * numbers.len() as u16).to_le_bytes());
    numbers.iter().for_each(|number| header.extend(number.to_le_bytes()));
}

/// The three records at the end of the file.
fn ends(entries: u64, start: u64, bytes: u64) -> Vec<u8> {
    let mut end = Vec::with_capacity(98);
    end.extend(END_64.to_le_bytes());
    end.extend(44_u64.to_le_bytes());
    end.extend((VERSION | 3 << 8).to_le_bytes());
    end.extend(VERSION.to_le_bytes());
    end.extend([0; 8]);
    for number in [entries, entries, bytes, start] {
        end.extend(number.to_le_bytes());
    }
    end.extend(LOCATOR_64.to_le_bytes());
    end.extend([0; 4]);
    end.extend((start + bytes).to_le_bytes());
    end.extend(1_u32.to_le_bytes());
    end.extend(END.to_le_bytes());
    end.extend([0; 4]);
    let short = u16::try_from(entries).unwrap_or(u16::MAX);
    end.extend(short.to_le_bytes());
    end.extend(short.to_le_bytes());
    end.extend(u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes());
    end.extend(u32::try_from(start).unwrap_or(u32::MAX).to_le_bytes());
    end.extend([0; 2]);
    end
}
