//! Files that a command writes together: made in a directory of our own, and given their names when
//! all are whole. What exists is not replaced.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rhumb_disk::{sync_dir, sync_tree};
use rhumb_export::output::OwnDir;

use super::ended::Trouble;
use super::export::{new, trouble};

pub struct NewFiles {
    own: OwnDir,
    paths: Vec<PathBuf>,
}

impl NewFiles {
    /// Begins files of one directory; they are made in `NAME.part/`.
    pub fn begin(name: &Path, paths: Vec<PathBuf>) -> Result<NewFiles, Trouble> {
        for path in &paths {
            new(path)?;
        }
        let Some(file_name) = name.file_name() else {
            return Err(Trouble::Usage(format!("{}: no name for an output", name.display())));
        };
        let mut part = OsString::from(file_name);
        part.push(".part");
        let own = OwnDir::begin(&name.with_file_name(part)).map_err(trouble)?;
        Ok(NewFiles { own, paths })
    }

    /// Where a file is made.
    pub fn part(&self, path: &Path) -> PathBuf {
        self.own.path().join(path.file_name().unwrap_or_default())
    }

    /// Gives the files their names, those that were made.
    pub fn finish(self) -> Result<(), Trouble> {
        for path in &self.paths {
            let part = self.part(path);
            if !part.exists() {
                continue;
            }
            let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            let give = || -> io::Result<()> {
                sync_tree(&part)?;
                if path.symlink_metadata().is_ok() {
                    return Err(io::Error::other("was made by somebody else meanwhile"));
                }
                std::fs::rename(&part, path)?;
                sync_dir(parent.unwrap_or(Path::new(".")))
            };
            give().map_err(|error| Trouble::Failed(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }
}
