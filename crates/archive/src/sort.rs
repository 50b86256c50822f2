//! Sorting lines that do not fit in memory: sorted runs of a bounded size go to disk, then runs
//! are merged, a bounded number at a time. Repeated lines are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cdxj::read_line;
use crate::error::ArchiveError;

/// Runs merged at once: each takes a buffer and an open file.
pub(crate) const FAN_IN_MAX: usize = 64;

const BUFFER_BYTES: usize = 64 * 1024;

/// Sorts the lines of `unsorted` files into `output`, together with those of files that are
/// sorted already. Runs are kept in `work_dir` meanwhile. A last line without its end is torn,
/// and left out. Told to `stop`, it fails soon.
pub(crate) fn sort_lines(
    sorted: &[PathBuf],
    unsorted: &[PathBuf],
    output: &Path,
    work_dir: &Path,
    memory_bytes: usize,
    stop: &AtomicBool,
) -> Result<(), ArchiveError> {
    let mut runs = Runs { dir: work_dir, count: 0, paths: Vec::new(), stop };
    let mut last = runs.make(unsorted, memory_bytes)?;
    if sorted.is_empty() && runs.paths.is_empty() {
        let io = |error| ArchiveError::io(output, "write", error);
        return last.write_sorted(output).and_then(|file| file.sync_data()).map_err(io);
    }
    runs.write(&mut last)?;
    drop(last);
    let mut inputs: Vec<PathBuf> = runs.paths.iter().chain(sorted).cloned().collect();
    while inputs.len() > FAN_IN_MAX {
        let some: Vec<PathBuf> = inputs.drain(..FAN_IN_MAX).collect();
        let run = runs.next_path();
        merge(&some, &run, stop)?;
        runs.paths.push(run.clone());
        inputs.push(run);
    }
    merge(&inputs, output, stop)?;
    remove(&runs.paths)
}

struct Runs<'a> {
    dir: &'a Path,
    count: usize,
    /// All that were made.
    paths: Vec<PathBuf>,
    stop: &'a AtomicBool,
}

impl Runs<'_> {
    fn next_path(&mut self) -> PathBuf {
        self.count += 1;
        self.dir.join(format!("sort-{:06}.run", self.count))
    }

    /// Sorts all lines into runs but the last ones, which are still in memory.
    fn make(&mut self, inputs: &[PathBuf], memory_bytes: usize) -> Result<Lines, ArchiveError> {
        let bytes = inputs.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len());
        let bytes = usize::try_from(bytes.sum::<u64>()).unwrap_or(usize::MAX);
        let text = Vec::with_capacity(bytes.min(memory_bytes));
        let mut lines = Lines { text, ranges: Vec::new() };
        let mut line = Vec::new();
        for path in inputs {
            let io = |error| ArchiveError::io(path, "read", error);
            let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?);
            while read_line(&mut input, &mut line).map_err(io)? && line.ends_with(b"\n") {
                check(self.stop, path)?;
                if !lines.ranges.is_empty() && lines.bytes() + line.len() > memory_bytes {
                    self.write(&mut lines)?;
                }
                lines.push(&line);
            }
        }
        Ok(lines)
    }

    fn write(&mut self, lines: &mut Lines) -> Result<(), ArchiveError> {
        if !lines.ranges.is_empty() {
            let path = self.next_path();
            lines.write_sorted(&path).map_err(|error| ArchiveError::io(&path, "write", error))?;
            self.paths.push(path);
        }
        Ok(())
    }
}

/// Lines in one piece of memory, sorted by sorting where they are.
struct Lines {
    text: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Lines {
    fn bytes(&self) -> usize {
        self.text.len() + self.ranges.len() * size_of::<Range<usize>>()
    }

    fn push(&mut self, line: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(line);
        self.ranges.push(start..self.text.len());
    }

    /// Each line once.
    fn write_sorted(&mut self, path: &Path) -> io::Result<File> {
        let text = &self.text;
        let line = |range: &Range<usize>| &text[range.clone()];
        self.ranges.sort_unstable_by(|a, b| line(a).cmp(line(b)));
        self.ranges.dedup_by(|a, b| line(a) == line(b));
        let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
        for range in self.ranges.drain(..) {
            output.write_all(&text[range])?;
        }
        self.text.clear();
        output.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

fn merge(inputs: &[PathBuf], output: &Path, stop: &AtomicBool) -> Result<(), ArchiveError> {
    assert!(inputs.len() <= FAN_IN_MAX, "as many files are open as a merge may have");
    let io_out = |error| ArchiveError::io(output, "write", error);
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, File::create(output).map_err(io_out)?);
    let mut readers = Vec::with_capacity(inputs.len());
    let mut heads = BinaryHeap::with_capacity(inputs.len());
    for (index, path) in inputs.iter().enumerate() {
        let io = |error| ArchiveError::io(path, "read", error);
        readers.push(BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?));
        let mut line = Vec::new();
        if read_line(&mut readers[index], &mut line).map_err(io)? {
            heads.push(Reverse((line, index)));
        }
    }
    let mut previous = Vec::new();
    while let Some(mut head) = heads.peek_mut() {
        check(stop, output)?;
        let Reverse((line, index)) = &mut *head;
        if *line != previous {
            out.write_all(line).map_err(io_out)?;
            std::mem::swap(line, &mut previous);
        }
        let io = |error| ArchiveError::io(&inputs[*index], "read", error);
        if !read_line(&mut readers[*index], line).map_err(io)? {
            PeekMut::pop(head);
        }
    }
    out.into_inner().map_err(|error| io_out(error.into_error()))?.sync_data().map_err(io_out)
}

fn check(stop: &AtomicBool, path: &Path) -> Result<(), ArchiveError> {
    match stop.load(Ordering::Acquire) {
        false => Ok(()),
        true => Err(ArchiveError::io(path, "sort", io::ErrorKind::Interrupted.into())),
    }
}

fn remove(paths: &[PathBuf]) -> Result<(), ArchiveError> {
    for path in paths {
        fs::remove_file(path).map_err(|error| ArchiveError::io(path, "remove", error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn an_external_merge_equals_sorting_in_memory(
            files in prop::collection::vec(prop::collection::vec("[a-c]{0,3}", 0..60), 0..5),
            sorted in prop::collection::vec(
                prop::collection::btree_set("[a-c]{0,3}", 0..9), 0..100),
            torn in "[a-c]{0,2}",
            memory_bytes in 1..3000usize,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let write = |name: String, lines: Vec<&String>, end: &str| {
                let path = dir.path().join(name);
                let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
                fs::write(&path, text + end).unwrap();
                path
            };
            let parts: Vec<PathBuf> = files
                .iter()
                .enumerate()
                .map(|(n, lines)| write(format!("{n}.part"), lines.iter().collect(), &torn))
                .collect();
            let old: Vec<PathBuf> = sorted
                .iter()
                .enumerate()
                .map(|(n, lines)| write(format!("{n}.sorted"), lines.iter().collect(), ""))
                .collect();
            let output = dir.path().join("new");
            let go_on = AtomicBool::new(false);
            sort_lines(&old, &parts, &output, dir.path(), memory_bytes, &go_on).unwrap();

            let mut expected: Vec<&String> = files.iter().flatten().collect();
            expected.extend(sorted.iter().flatten());
            expected.sort();
            expected.dedup();
            let expected: String = expected.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(fs::read_to_string(&output).unwrap(), expected);
            let left = fs::read_dir(dir.path()).unwrap().count();
            let kept = parts.len() + old.len() + 1;
            prop_assert_eq!(left, kept, "runs are removed");
        }
    }
}
