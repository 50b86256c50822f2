//! Files that appear whole or not at all.
//!
//! They are written without a name and get one in the end, so that whatever ends the process leaves
//! nothing behind. Where the file system cannot do that, they have a name beside their own
//! meanwhile, which the next run takes over.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use memchr::memchr3;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::{DedupFailure, DedupJob};

const BUFFER_BYTES: usize = 256 << 10;

/// What was asked for, made before anything is read: hours later is no time to learn that a
/// directory is missing.
pub struct DedupOutputs {
    pub pairs: Option<Output>,
    pub clusters: Option<Output>,
    pub mirrors: Option<Output>,
    pub collections: Option<Output>,
}

impl DedupOutputs {
    pub fn create(job: &DedupJob) -> Result<DedupOutputs, DedupFailure> {
        let asked = [&job.pairs, &job.clusters, &job.mirrors, &job.collections];
        let paths: Vec<&PathBuf> = asked.into_iter().flatten().collect();
        for (at, path) in paths.iter().enumerate() {
            let what = if paths[..at].contains(path) {
                "is asked for twice"
            } else if is_same(path, &job.input) {
                "is the input"
            } else {
                continue;
            };
            return Err(DedupFailure(format!("{}: {what}; name another file", path.display())));
        }
        let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        Ok(DedupOutputs {
            pairs: create(&job.pairs)?,
            clusters: create(&job.clusters)?,
            mirrors: create(&job.mirrors)?,
            collections: create(&job.collections)?,
        })
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(fs::canonicalize);
    one.is_ok_and(|one| other.is_ok_and(|other| one == other))
}

pub struct Output {
    path: PathBuf,
    part: Option<PathBuf>,
    /// The file, while it has no name.
    nameless: Option<File>,
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    /// `-` is standard output. A pipe or a device is written to as it is.
    fn create(path: &Path) -> Result<Output, DedupFailure> {
        let is_stdout = path == Path::new("-");
        // What a link leads to is replaced, not the link.
        let target = fs::canonicalize(path).ok().filter(|_| !is_stdout);
        let path = target.as_deref().unwrap_or(path);
        let is_special = fs::metadata(path).is_ok_and(|about| !about.is_file());
        let mut nameless = None;
        let (part, writer): (_, Box<dyn Write>) = if is_stdout {
            (None, Box::new(io::stdout()))
        } else if is_special {
            let file = File::options().write(true).open(path);
            (None, Box::new(file.map_err(|error| failure(path, &error))?))
        } else {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".part");
            let part = path.with_file_name(name);
            nameless = nameless_beside(path);
            let file = match &nameless {
                Some(file) => file.try_clone(),
                None => File::create(&part),
            };
            (Some(part), Box::new(file.map_err(|error| failure(path, &error))?))
        };
        let writer = BufWriter::with_capacity(BUFFER_BYTES, writer);
        Ok(Output { path: path.to_owned(), part, nameless, writer })
    }

    /// One line of fields with tabs between them.
    pub fn line(&mut self, fields: &[&str]) -> Result<(), DedupFailure> {
        let written = self.write_line(fields);
        written.map_err(|error| failure(&self.path, &error))
    }

    fn write_line(&mut self, fields: &[&str]) -> io::Result<()> {
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                self.writer.write_all(b"\t")?;
            }
            if memchr3(b'\t', b'\n', b'\r', field.as_bytes()).is_some() {
                let safe = field.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r");
                self.writer.write_all(safe.as_bytes())?;
            } else {
                self.writer.write_all(field.as_bytes())?;
            }
        }
        self.writer.write_all(b"\n")
    }

    /// All is written: the file gets its name.
    pub fn finish(mut self) -> Result<(), DedupFailure> {
        let renamed = self.writer.flush().and_then(|()| match &self.part {
            Some(part) => {
                if let Some(file) = &self.nameless {
                    name(file, part)?;
                }
                fs::rename(part, &self.path)
            }
            None => Ok(()),
        });
        renamed.map_err(|error| failure(&self.path, &error))?;
        self.part = None;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Of something that failed already: nothing more can be done about it.
            let _ = fs::remove_file(part);
        }
    }
}

/// A file in the directory of this path; none where that cannot be.
fn nameless_beside(path: &Path) -> Option<File> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    rustix::fs::open(dir, flags, mode).ok().map(File::from)
}

/// Gives it this name, which an earlier run may have left.
fn name(file: &File, part: &Path) -> io::Result<()> {
    match fs::remove_file(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::linkat(CWD, own, CWD, part, AtFlags::SYMLINK_FOLLOW).map_err(Into::into)
}

fn failure(path: &Path, error: &io::Error) -> DedupFailure {
    DedupFailure(format!("{}: {error}", path.display()))
}
