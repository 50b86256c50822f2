//! A directory that is nobody's yet. A demo never deletes and never goes on with another crawl:
//! what lies under the name it wanted may be dear to somebody.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rhumb_engine::error::{Error, ErrorKind};

use super::trouble;

/// Names tried: `rhumb-demo`, `rhumb-demo-2`, and so on.
const NAMES_MAX: u32 = 1_000;

/// Creates `wanted`, or the first of its numbered names that is free or empty.
pub fn free(wanted: &Path) -> Result<PathBuf, Error> {
    let name = wanted.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1..=NAMES_MAX {
        let dir = match number {
            1 => wanted.to_owned(),
            _ => wanted.with_file_name(format!("{name}-{number}")),
        };
        if is_free(&dir).map_err(|e| trouble(&dir.display().to_string(), &e))? {
            return Ok(dir);
        }
    }
    let what = format!("{NAMES_MAX} demos lie beside {}: remove some", wanted.display());
    Err(Error::new(ErrorKind::Invalid, what))
}

fn is_free(dir: &Path) -> io::Result<bool> {
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    match fs::create_dir(dir) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Ok(dir.is_dir() && fs::read_dir(dir)?.next().is_none())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_there_is_left_alone_and_the_next_name_taken() {
        let dir = tempfile::tempdir().unwrap();
        let wanted = dir.path().join("a").join("demo");
        assert_eq!(free(&wanted).unwrap(), wanted);
        assert_eq!(free(&wanted).unwrap(), wanted, "empty is free");
        fs::write(wanted.join("letter"), "dear").unwrap();
        fs::write(wanted.with_file_name("demo-2"), "a file").unwrap();
        assert_eq!(free(&wanted).unwrap(), wanted.with_file_name("demo-3"));
        assert_eq!(fs::read_to_string(wanted.join("letter")).unwrap(), "dear");
    }
}
