//! A small file in a partition's directory: which opening its local store belongs to.
//!
//! It holds the number of the last opening that is known to have succeeded, and that of one that
//! may have. If the database's last opening was one of them, nobody else has opened it since.

use rhumb_disk::{Durable, replace};
use rhumb_engine::error::{Error, ErrorKind};
use std::fs;
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const FILE: &str = "OWNED";
/// What a partition's directory holds besides, all of which is made anew from the copy.
const CONTENTS: [&str; 4] = ["state", "warc", "index", "index.cdxj"];

pub struct Owned;

impl Owned {
    pub fn is_by(dir: &Path, number: u64) -> Result<bool, Error> {
        Ok(numbers(dir)?.contains(&number))
    }

    /// A number for the opening that is about to be made. The store may also be that of an opening
    /// that is known.
    pub fn about_to_open(dir: &Path, known: Option<u64>) -> Result<u64, Error> {
        fs::create_dir_all(dir).map_err(|e| at(dir, &e))?;
        let number = std::hash::RandomState::new().hash_one(std::process::id());
        write(dir, known.into_iter().chain([number]))?;
        Ok(number)
    }

    /// The opening with this number has succeeded.
    pub fn opened(dir: &Path, number: u64) -> Result<(), Error> {
        write(dir, [number])
    }

    /// Removes what a partition's directory holds. One that is somebody else's is refused.
    pub fn clear(dir: &Path) -> Result<(), Error> {
        let there = CONTENTS.map(|name| dir.join(name));
        if !path(dir).exists() && there.iter().any(|path| path.exists()) {
            let what = format!(
                "{} holds a crawl of its own, not a copy of a partition: give another --dir",
                dir.display()
            );
            return Err(Error::new(ErrorKind::Invalid, what));
        }
        for path in &there {
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(path),
                false => fs::remove_file(path),
            };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(at(path, &e)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// The last number that is known, and that of an opening that may have failed; none if there is no
/// such file.
fn numbers(dir: &Path) -> Result<Vec<u64>, Error> {
    let path = path(dir);
    match fs::read_to_string(&path) {
        Ok(text) => {
            Ok(text.split_whitespace().filter_map(|n| u64::from_str_radix(n, 16).ok()).collect())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(at(&path, &e)),
    }
}

fn write(dir: &Path, numbers: impl IntoIterator<Item = u64>) -> Result<(), Error> {
    let path = path(dir);
    let written = replace(&path, Durable::Name, |file| {
        numbers.into_iter().try_for_each(|number| writeln!(file, "{number:016x}"))
    });
    written.map_err(|e| at(&path, &e))
}

fn at(path: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
