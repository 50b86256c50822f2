//! A directory for the crawls of a bench, gone when the bench is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// Below `parent`, under a name that only this process has; an error if it is there already.
    pub fn create(parent: &Path) -> io::Result<Scratch> {
        let dir = parent.join(format!("rhumb-bench-{}", std::process::id()));
        fs::create_dir_all(parent)?;
        fs::create_dir(&dir)?;
        // Programs that run elsewhere are told of it, too.
        Ok(Scratch { dir: dir.canonicalize()? })
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// An empty directory of this name, whatever was there.
    pub fn fresh(&self, name: &str) -> io::Result<PathBuf> {
        let dir = self.dir.join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir(&dir)?;
        Ok(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is left to its owner.
        let _ = fs::remove_dir_all(&self.dir);
    }
}
