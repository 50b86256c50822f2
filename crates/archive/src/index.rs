//! The index of a crawl: where its files are, how an index line comes out of a record, and how
//! `index.cdxj` is made of the parts at the end of a run.
//!
//! While a crawl runs, each WARC file has a *part*, its lines in order of appending, and parts of
//! files that are full are sorted into *segments* ([`crate::segments`]). At the end the parts that
//! are left are sorted, all is merged with the index there is, and the new index takes its place at
//! once. Then segments and parts go, but for the last file's part, from which the next run resumes;
//! its lines come again, and merging drops repeated lines.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rhumb_page::url::Url;

use crate::cdxj;
use crate::date::timestamp_of;
use crate::digest::Sha1Digest;
use crate::error::ArchiveError;
use crate::http::{header, media_type, status};
use crate::read::{Record, whole_records};
use crate::segments::{Segment, segment_path, segments};
use crate::sort::sort_lines;

/// Makes `index.cdxj` whole: all captures in the directory's WARC files. Lines are sorted within
/// `memory_bytes`; the rest happens on disk. No [`crate::WarcWriter`] may be open meanwhile.
///
/// The files of several series are indexed together.
pub fn write_index(dir: &Path, memory_bytes: usize) -> Result<(), ArchiveError> {
    let layout = Layout::of(dir);
    layout.create()?;
    layout.remove_unfinished()?;
    let names = layout.warc_names()?;
    let segments = segments(&layout)?;
    if !layout.index().exists() {
        for name in uncovered(&names, &segments) {
            if !layout.part(name).exists() {
                make_part(&layout.warc(name), &layout.part(name), None)?;
            }
        }
    }
    let parts: Vec<PathBuf> =
        names.iter().map(|name| layout.part(name)).filter(|part| part.exists()).collect();
    let mut sorted: Vec<PathBuf> = segments.into_iter().map(|segment| segment.path).collect();
    sorted.extend(Some(layout.index()).filter(|index| index.exists()));
    let new = layout.index_dir.join("index.cdxj.new");
    let never = AtomicBool::new(false);
    sort_lines(&sorted, &parts, &new, &layout.index_dir, memory_bytes, &never)?;
    let io = |error| ArchiveError::io(&layout.index(), "write", error);
    fs::rename(&new, layout.index()).map_err(io)?;
    sync_dir(dir)?;
    // Those that the next run resumes from.
    let mut kept = vec![layout.index()];
    kept.extend(layout.last_of_each_series()?.iter().map(|name| layout.part(name)));
    for merged in sorted.iter().chain(&parts).filter(|path| !kept.contains(path)) {
        fs::remove_file(merged).map_err(|error| ArchiveError::io(merged, "remove", error))?;
    }
    Ok(())
}

/// The files whose lines are in no segment. One that shares its serial number with another was put
/// there by somebody else, or the other was.
fn uncovered<'a>(names: &'a [String], segments: &[Segment]) -> Vec<&'a String> {
    let serials: Vec<Option<u32>> = names.iter().map(|name| serial_of(name)).collect();
    let is_covered = |serial: u32| {
        let is_alone = serials.iter().filter(|other| **other == Some(serial)).count() == 1;
        is_alone && segments.iter().any(|segment| segment.covers(serial))
    };
    let all = names.iter().zip(&serials);
    all.filter(|(_, serial)| !serial.is_some_and(is_covered)).map(|(name, _)| name).collect()
}

/// Makes `index.cdxj` from the WARC files alone, whatever index there is.
pub fn rebuild(dir: &Path, memory_bytes: usize) -> Result<(), ArchiveError> {
    let layout = Layout::of(dir);
    layout.create()?;
    for segment in segments(&layout)? {
        fs::remove_file(&segment.path)
            .map_err(|error| ArchiveError::io(&segment.path, "remove", error))?;
    }
    for name in layout.warc_names()? {
        make_part(&layout.warc(&name), &layout.part(&name), None)?;
    }
    match fs::remove_file(layout.index()) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ArchiveError::io(&layout.index(), "remove", error))
        }
        _ => write_index(dir, memory_bytes),
    }
}

/// The index lines of a WARC file to which nothing is added any more, sorted. Those that were
/// written as it grew are taken if it lies in a crawl's directory, which is `dir` then.
pub fn lines_of(dir: Option<&Path>, warc: &Path) -> Result<Vec<u8>, ArchiveError> {
    if let Some(written) = dir.and_then(|dir| written_lines(&Layout::of(dir), warc)) {
        return Ok(written);
    }
    let mut lines: Vec<String> = Vec::new();
    whole_records(warc, 0, |record| {
        lines.extend(line_of(record, warc));
        Ok(())
    })?;
    Ok(sorted(lines.iter().map(|line| line.as_bytes()).collect()))
}

/// The lines in a part, or in the segment that it has become, if that is of this file alone.
fn written_lines(layout: &Layout, warc: &Path) -> Option<Vec<u8>> {
    let name = warc.file_name()?.to_str()?;
    // First the part: it becomes the segment, never the other way round.
    let part = fs::read(layout.part(name));
    let segment = segment_path(layout, serial_of(name)?, serial_of(name)?);
    let bytes = part.or_else(|_| fs::read(segment)).ok()?;
    let is_of_it = |line: &&[u8]| memchr::memmem::find(line, name.as_bytes()).is_some();
    Some(sorted(bytes.split_inclusive(|byte| *byte == b'\n').filter(is_of_it).collect()))
}

fn sorted(mut lines: Vec<&[u8]>) -> Vec<u8> {
    lines.sort_unstable();
    lines.dedup();
    lines.concat()
}

/// Numbers of files that are in a series begin here.
pub const SERIES_FILES: u32 = 1 << 20;

/// The WARC files of a crawl's directory that are ours, by their serial numbers. Those in series,
/// one after the other, have numbers from [`SERIES_FILES`] on: there the greatest is not the
/// latest.
pub fn warc_files(dir: &Path) -> Result<Vec<(u32, PathBuf)>, ArchiveError> {
    let layout = Layout::of(dir);
    let names = layout.warc_names()?;
    let ours = names.iter().filter_map(|name| Some((number_of(name)?, layout.warc(name))));
    let mut files: Vec<(u32, PathBuf)> = ours.collect();
    files.sort();
    Ok(files)
}

/// Writes a part from its WARC file; returns where the whole records of that end. Up to `synced`,
/// if that is known, all must be whole; behind it a power cut may have left anything.
pub(crate) fn make_part(
    warc: &Path,
    part: &Path,
    synced: Option<u64>,
) -> Result<u64, ArchiveError> {
    let io = |error| ArchiveError::io(part, "write", error);
    let unfinished = part.with_extension("part.new");
    let mut lines = BufWriter::new(File::create(&unfinished).map_err(io)?);
    let walked = whole_records(warc, 0, |record| match line_of(record, warc) {
        Some(line) => lines.write_all(line.as_bytes()).map_err(io),
        None => Ok(()),
    })?;
    let end = match synced {
        Some(synced) => walked.end_at_least(synced)?,
        None => walked.end_unless_damaged_within(warc)?,
    };
    lines.into_inner().map_err(|error| io(error.into_error()))?.sync_data().map_err(io)?;
    fs::rename(&unfinished, part).map_err(io)?;
    Ok(end)
}

/// The index line of a record; `None` for records that are not indexed.
pub(crate) fn line_of(record: &Record, warc: &Path) -> Option<String> {
    let head = record.http_head();
    let mime = match record.kind() {
        "response" => header(head, "Content-Type").map(media_type),
        "revisit" => Some(cdxj::REVISIT_MIME.as_bytes()),
        "resource" => record.field("Content-Type").map(|mime| media_type(mime.as_bytes())),
        _ => return None,
    };
    let url = record.target()?;
    let digest = match record.field("WARC-Payload-Digest") {
        Some(digest) => digest.to_string(),
        None => Sha1Digest::of(record.payload()).to_string(),
    };
    let opening = cdxj::opening(&cdxj::Facts {
        // As cdxj-indexer does, a URL without a key is its own.
        surt: Url::parse(url).map_or(url.to_string(), |url| url.surt().to_string()).as_str(),
        timestamp: &timestamp_of(record.field("WARC-Date")?)?,
        url,
        mime,
        status: (!head.is_empty()).then(|| status(head)),
        digest: &digest,
    });
    let name = warc.file_name()?.to_str()?;
    Some(cdxj::closed(&opening, record.length, record.offset, name))
}

/// Where the files of a crawl are.
#[derive(Clone)]
pub(crate) struct Layout {
    dir: PathBuf,
    pub warc_dir: PathBuf,
    pub index_dir: PathBuf,
    /// Whose files are ours: those of one writer of several, or of the only one.
    series: String,
}

const WARC_END: &str = ".warc.gz";
const NAME_START: &str = "rhumb-";

impl Layout {
    pub fn of(dir: &Path) -> Layout {
        Layout {
            dir: dir.into(),
            warc_dir: dir.join("warc"),
            index_dir: dir.join("index"),
            series: String::new(),
        }
    }

    /// Of one series of several in the same directory.
    pub fn of_series(dir: &Path, series: &str) -> Layout {
        Layout { series: series.to_owned(), ..Layout::of(dir) }
    }

    /// Several write into the directory.
    pub fn is_shared(&self) -> bool {
        !self.series.is_empty()
    }

    pub fn create(&self) -> Result<(), ArchiveError> {
        if self.warc_dir.is_dir() && self.index_dir.is_dir() {
            return Ok(());
        }
        for dir in [&self.warc_dir, &self.index_dir] {
            fs::create_dir_all(dir).map_err(|error| ArchiveError::io(dir, "create", error))?;
        }
        sync_dir(&self.dir)
    }

    pub fn index(&self) -> PathBuf {
        self.dir.join("index.cdxj")
    }

    pub fn warc(&self, name: &str) -> PathBuf {
        self.warc_dir.join(name)
    }

    pub fn part(&self, name: &str) -> PathBuf {
        self.index_dir.join(format!("{}.part", name.trim_end_matches(WARC_END)))
    }

    /// All that is in the directory of the index.
    pub fn index_files(&self) -> Result<Vec<PathBuf>, ArchiveError> {
        let io = |error| ArchiveError::io(&self.index_dir, "list", error);
        let entries = fs::read_dir(&self.index_dir).map_err(io)?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(io)).collect()
    }

    /// Removes what was being written when a process died. Nobody else may be writing.
    pub fn remove_unfinished(&self) -> Result<(), ArchiveError> {
        let start = format!("{NAME_START}{}-", self.series);
        // Of a series, what is its own: others may be opening theirs.
        let is_own = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            !self.is_shared() || name.starts_with(&start)
        };
        let is_unfinished = |path: &PathBuf| {
            path.extension().is_some_and(|end| end == "new" || end == "run") && is_own(path)
        };
        for path in self.index_files()?.iter().filter(|path| is_unfinished(path)) {
            fs::remove_file(path).map_err(|error| ArchiveError::io(path, "remove", error))?;
        }
        Ok(())
    }

    /// Files of ours are named by time, serial number and who wrote them.
    pub fn name(&self, timestamp: &str, serial: u32, id: &str) -> String {
        let series = if self.is_shared() { format!("{}-", self.series) } else { String::new() };
        format!("{NAME_START}{series}{timestamp}-{serial:05}-{id}{WARC_END}")
    }

    /// All WARC files, also those someone else put there, in order of name.
    pub fn warc_names(&self) -> Result<Vec<String>, ArchiveError> {
        let io = |error| ArchiveError::io(&self.warc_dir, "list", error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.warc_dir).map_err(io)? {
            let name = entry.map_err(io)?.file_name().into_string();
            names.extend(name.ok().filter(|name| name.ends_with(WARC_END)));
        }
        names.sort();
        Ok(names)
    }

    /// The file of the highest serial number.
    pub fn last_of_ours(&self) -> Result<Option<(u32, String)>, ArchiveError> {
        let names = self.warc_names()?;
        let serial = |name: &str| serial_in(&self.series, name);
        Ok(names.into_iter().filter_map(|name| Some((serial(&name)?, name))).max())
    }

    /// The last file of every series there is, and of the files without one.
    fn last_of_each_series(&self) -> Result<Vec<String>, ArchiveError> {
        let mut last: BTreeMap<String, (u32, String)> = BTreeMap::new();
        for name in self.warc_names()? {
            let start = name.strip_prefix(NAME_START).unwrap_or_default();
            let series = match serial_of(&name) {
                Some(_) => "",
                None => start.split('-').next().unwrap_or_default(),
            };
            let Some(serial) = serial_in(series, &name) else { continue };
            let file = (serial, name.clone());
            let last = last.entry(series.to_owned()).or_insert_with(|| file.clone());
            *last = last.clone().max(file);
        }
        Ok(last.into_values().map(|(_, name)| name).collect())
    }
}

/// Its serial number; of a file in a series, one that no other file of the directory has.
fn number_of(name: &str) -> Option<u32> {
    if let Some(serial) = serial_of(name) {
        return Some(serial);
    }
    let series = name.strip_prefix(NAME_START)?.split('-').next()?;
    let number: u32 = series.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let serial = serial_in(series, name).filter(|serial| *serial < SERIES_FILES)?;
    number.checked_add(1)?.checked_mul(SERIES_FILES)?.checked_add(serial)
}

/// Of a file without a series.
pub(crate) fn serial_of(name: &str) -> Option<u32> {
    serial_in("", name)
}

/// Of a file of this series.
fn serial_in(series: &str, name: &str) -> Option<u32> {
    let mut rest = name.strip_prefix(NAME_START)?;
    if !series.is_empty() {
        rest = rest.strip_prefix(series)?.strip_prefix('-')?;
    }
    let mut parts = rest.splitn(3, '-');
    let (time, serial, _id) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(time) && digits(serial)).then(|| serial.parse().ok())?
}

/// Makes new names in a directory outlast a power cut.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), ArchiveError> {
    rhumb_disk::sync_dir(dir).map_err(|error| ArchiveError::io(dir, "sync", error))
}
