//! Sorted segments of the index, made beside a crawl, so that at its end one merge is left to do.
//!
//! When a WARC file is full, its part is sorted into a segment that is named by the serial numbers
//! of the files whose lines it has: `00007-00007.sorted`. [`NEIGHBOURS`] segments of a size that
//! lie beside each other become one, so that the last merge never has more than it can take at
//! once. A segment has its name only when it is synced, and only then is what it was made of
//! removed: a crash in between leaves lines twice, which merging drops.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::error::ArchiveError;
use crate::index::{Layout, serial_of, sync_dir};
use crate::sort::{FAN_IN_MAX, sort_lines};

/// Segments of a size that become one.
const NEIGHBOURS: usize = 16;
/// Sizes that are reached: the greatest segment has the lines of 65,536 WARC files.
const SIZES: usize = 4;
const _: () = assert!((NEIGHBOURS - 1) * SIZES < FAN_IN_MAX, "one merge takes all segments");

/// Memory for sorting beside a crawl.
const SORT_BYTES: usize = 8 << 20;

const SEGMENT_END: &str = ".sorted";

/// The lines of the WARC files with these serial numbers, but for those whose part is still there.
pub(crate) struct Segment {
    first: u32,
    last: u32,
    pub path: PathBuf,
}

impl Segment {
    fn read(path: PathBuf) -> Option<Segment> {
        let name = path.file_name()?.to_str()?.strip_suffix(SEGMENT_END)?;
        let (first, last) = name.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        Some(Segment { first, last, path })
    }

    pub fn covers(&self, serial: u32) -> bool {
        (self.first..=self.last).contains(&serial)
    }

    fn size(&self) -> u32 {
        let files = self.last.saturating_sub(self.first).saturating_add(1);
        files.ilog(NEIGHBOURS as u32).min(SIZES as u32 - 1)
    }
}

/// Where the lines of files from one serial number to another are, sorted.
pub(crate) fn segment_path(layout: &Layout, first: u32, last: u32) -> PathBuf {
    layout.index_dir.join(format!("{first:05}-{last:05}{SEGMENT_END}"))
}

/// All segments there are, in order of their serial numbers.
pub(crate) fn segments(layout: &Layout) -> Result<Vec<Segment>, ArchiveError> {
    let mut all: Vec<Segment> =
        layout.index_files()?.into_iter().filter_map(Segment::read).collect();
    all.sort_by_key(|segment| (segment.first, segment.last));
    Ok(all)
}

/// The thread that sorts the parts of finished files. What fails here is done at the end of the
/// run, where its failure counts.
pub(crate) struct Sorter {
    shared: Arc<Shared>,
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// Files with serial numbers below this are finished.
    finished_below: AtomicU32,
    is_stopped: AtomicBool,
}

impl Sorter {
    pub fn start(layout: &Layout) -> Option<Sorter> {
        let (wake, woken) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let (layout, work) = (layout.clone(), Arc::clone(&shared));
        let run = move || {
            while woken.recv().is_ok() {
                let below = work.finished_below.load(Ordering::Acquire);
                let _ = sort_finished(&layout, below, &work.is_stopped);
            }
        };
        let thread = std::thread::Builder::new().name("rhumb-segments".into()).spawn(run).ok()?;
        Some(Sorter { shared, wake: Some(wake), thread: Some(thread) })
    }

    /// Files with serial numbers below this are finished.
    pub fn finished_below(&self, serial: u32) {
        self.shared.finished_below.store(serial, Ordering::Release);
        if let Some(wake) = &self.wake {
            // One that waits already will find all there is to do.
            let _ = wake.try_send(());
        }
    }
}

impl Drop for Sorter {
    /// Returns when nothing is written any more.
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Release);
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Sorts the parts of files that are finished, and merges segments that have become many.
fn sort_finished(layout: &Layout, below: u32, stop: &AtomicBool) -> Result<(), ArchiveError> {
    let of_ours = |path: PathBuf| Some((part_serial(&path)?, path));
    let mut parts: Vec<(u32, PathBuf)> =
        layout.index_files()?.into_iter().filter_map(of_ours).collect();
    parts.sort();
    for (serial, part) in parts.into_iter().filter(|(serial, _)| *serial < below) {
        make_segment(layout, (serial, serial), &[], &[part], stop)?;
        while let Some(neighbours) = many(segments(layout)?) {
            let [first, .., last] = &neighbours[..] else { unreachable!("many are several") };
            let range = (first.first, last.last);
            let paths: Vec<PathBuf> = neighbours.into_iter().map(|s| s.path).collect();
            make_segment(layout, range, &paths, &[], stop)?;
        }
    }
    Ok(())
}

fn part_serial(path: &Path) -> Option<u32> {
    let is_part = path.extension().is_some_and(|end| end == "part");
    serial_of(path.file_name()?.to_str()?).filter(|_| is_part)
}

/// The first [`NEIGHBOURS`] segments in a row that have the same size.
fn many(segments: Vec<Segment>) -> Option<Vec<Segment>> {
    let sizes: Vec<u32> = segments.iter().map(Segment::size).collect();
    let is_row = |row: &[u32]| row[0] + 1 < SIZES as u32 && row.iter().all(|size| *size == row[0]);
    let at = sizes.windows(NEIGHBOURS).position(is_row)?;
    Some(segments.into_iter().skip(at).take(NEIGHBOURS).collect())
}

fn make_segment(
    layout: &Layout,
    (first, last): (u32, u32),
    sorted: &[PathBuf],
    unsorted: &[PathBuf],
    stop: &AtomicBool,
) -> Result<(), ArchiveError> {
    let path = segment_path(layout, first, last);
    let new = path.with_extension("sorted.new");
    sort_lines(sorted, unsorted, &new, &layout.index_dir, SORT_BYTES, stop)?;
    fs::rename(&new, &path).map_err(|error| ArchiveError::io(&path, "write", error))?;
    sync_dir(&layout.index_dir)?;
    // A part that was left beside its segment by a crash becomes the segment again.
    for made_of in sorted.iter().chain(unsorted).filter(|made_of| **made_of != path) {
        fs::remove_file(made_of).map_err(|error| ArchiveError::io(made_of, "remove", error))?;
    }
    Ok(())
}
