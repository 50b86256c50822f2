//! Sorting lines that do not fit in memory: sorted runs of a bounded size go to disk, then runs
//! are merged, a bounded number at a time. Repeated lines are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cdxj::read_line;
use crate::error::Error;

/// Runs merged at once: each takes a buffer and an open file.
const FAN_IN_MAX: usize = 64;

const BUFFER_BYTES: usize = 64 * 1024;

/// Sorts the lines of `unsorted` files into `output`, together with those of a file that is
/// sorted already. Runs are kept in `work_dir` meanwhile. A last line without its end is torn,
/// and left out.
pub(crate) fn sort_lines(
    sorted: Option<&Path>,
    unsorted: &[PathBuf],
    output: &Path,
    work_dir: &Path,
    memory_bytes: usize,
) -> Result<(), Error> {
    let mut runs = Runs { dir: work_dir, count: 0, paths: Vec::new() };
    let mut last = runs.make(unsorted, memory_bytes)?;
    if sorted.is_none() && runs.paths.is_empty() {
        let io = |error| Error::io(output, "write", error);
        return last.write_sorted(output).and_then(|file| file.sync_data()).map_err(io);
    }
    runs.write(&mut last)?;
    drop(last);
    while runs.paths.len() >= FAN_IN_MAX {
        let merged: Vec<PathBuf> = runs.paths.drain(..FAN_IN_MAX).collect();
        let run = runs.next_path();
        merge(&merged, &run)?;
        runs.paths.push(run);
        remove(&merged)?;
    }
    let last: Vec<PathBuf> =
        sorted.map(PathBuf::from).into_iter().chain(runs.paths.clone()).collect();
    merge(&last, output)?;
    remove(&runs.paths)
}

struct Runs<'a> {
    dir: &'a Path,
    count: usize,
    paths: Vec<PathBuf>,
}

impl Runs<'_> {
    fn next_path(&mut self) -> PathBuf {
        self.count += 1;
        self.dir.join(format!("sort-{:06}.run", self.count))
    }

    /// Sorts all lines into runs but the last ones, which are still in memory.
    fn make(&mut self, inputs: &[PathBuf], memory_bytes: usize) -> Result<Lines, Error> {
        let bytes = inputs.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len());
        let bytes = usize::try_from(bytes.sum::<u64>()).unwrap_or(usize::MAX);
        let text = Vec::with_capacity(bytes.min(memory_bytes));
        let mut lines = Lines { text, ranges: Vec::new() };
        let mut line = Vec::new();
        for path in inputs {
            let io = |error| Error::io(path, "read", error);
            let mut input = BufReader::with_capacity(BUFFER_BYTES, File::open(path).map_err(io)?);
            while read_line(&mut input, &mut line).map_err(io)? && line.ends_with(b"\n") {
                if !lines.ranges.is_empty() && lines.bytes() + line.len() > memory_bytes {
                    self.write(&mut lines)?;
                }
                lines.push(&line);
            }
        }
        Ok(lines)
    }

    fn write(&mut self, lines: &mut Lines) -> Result<(), Error> {
        if !lines.ranges.is_empty() {
            let path = self.next_path();
            lines.write_sorted(&path).map_err(|error| Error::io(&path, "write", error))?;
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

fn merge(inputs: &[PathBuf], output: &Path) -> Result<(), Error> {
    assert!(inputs.len() <= FAN_IN_MAX, "as many files are open as a merge may have");
    let io_out = |error| Error::io(output, "write", error);
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, File::create(output).map_err(io_out)?);
    let mut readers = Vec::with_capacity(inputs.len());
    let mut heads = BinaryHeap::with_capacity(inputs.len());
    for (index, path) in inputs.iter().enumerate() {
        let file = File::open(path).map_err(|error| Error::io(path, "read", error))?;
        readers.push(BufReader::with_capacity(BUFFER_BYTES, file));
        refill(&mut heads, &mut readers[index], index, Vec::new(), path)?;
    }
    let mut previous = Vec::new();
    while let Some(Reverse((line, index))) = heads.pop() {
        let repeated = line == previous;
        if !repeated {
            out.write_all(&line).map_err(io_out)?;
        }
        let spare = std::mem::replace(&mut previous, line);
        refill(&mut heads, &mut readers[index], index, spare, &inputs[index])?;
    }
    out.into_inner().map_err(|error| io_out(error.into_error()))?.sync_data().map_err(io_out)
}

type Heads = BinaryHeap<Reverse<(Vec<u8>, usize)>>;

fn refill(
    heads: &mut Heads,
    reader: &mut BufReader<File>,
    index: usize,
    mut spare: Vec<u8>,
    path: &Path,
) -> Result<(), Error> {
    if read_line(reader, &mut spare).map_err(|error| Error::io(path, "read", error))? {
        heads.push(Reverse((spare, index)));
    }
    Ok(())
}

fn remove(paths: &[PathBuf]) -> Result<(), Error> {
    for path in paths {
        fs::remove_file(path).map_err(|error| Error::io(path, "remove", error))?;
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
            sorted in prop::option::of(prop::collection::btree_set("[a-c]{0,3}", 0..20)),
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
            let old = sorted.as_ref().map(|s| write("old".into(), s.iter().collect(), ""));
            let output = dir.path().join("new");
            sort_lines(old.as_deref(), &parts, &output, dir.path(), memory_bytes).unwrap();

            let mut expected: Vec<&String> = files.iter().flatten().collect();
            expected.extend(sorted.iter().flatten());
            expected.sort();
            expected.dedup();
            let expected: String = expected.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(fs::read_to_string(&output).unwrap(), expected);
            let left = fs::read_dir(dir.path()).unwrap().count();
            let kept = parts.len() + usize::from(old.is_some()) + 1;
            prop_assert_eq!(left, kept, "runs are removed");
        }
    }
}
