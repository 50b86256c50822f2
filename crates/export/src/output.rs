//! Outputs that appear whole or not at all: written beside their name and renamed in the end.
//!
//! What exists is never replaced. What a killed run left beside the name is removed by the next.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rhumb_disk::{sync_dir, sync_tree};

use crate::Failure;

/// A file or a directory that is being written.
pub struct Unfinished {
    path: PathBuf,
    part: PathBuf,
    is_finished: bool,
}

impl Unfinished {
    /// Begins a file.
    pub fn file(path: &Path) -> Result<Unfinished, Failure> {
        let unfinished = Unfinished::begin(path)?;
        unfinished.make(|part| File::create_new(part).map(drop))?;
        Ok(unfinished)
    }

    /// Begins a directory.
    pub fn directory(path: &Path) -> Result<Unfinished, Failure> {
        let unfinished = Unfinished::begin(path)?;
        unfinished.make(|part| fs::create_dir(part))?;
        Ok(unfinished)
    }

    fn begin(path: &Path) -> Result<Unfinished, Failure> {
        if path.symlink_metadata().is_ok() {
            let what = "exists already; name another output, or remove it first";
            return Err(Failure::Usage(format!("{}: {what}", path.display())));
        }
        let Some(name) = path.file_name() else {
            return Err(Failure::Usage(format!("{}: no name for an output", path.display())));
        };
        let mut part = name.to_owned();
        part.push(".part");
        let part = path.with_file_name(part);
        Ok(Unfinished { path: path.to_owned(), part, is_finished: false })
    }

    fn make(&self, make: impl Fn(&Path) -> std::io::Result<()>) -> Result<(), Failure> {
        remove(&self.part);
        make(&self.part).map_err(|error| Failure::file(&self.path, "create", &error))
    }

    /// Where it is written.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Gives it its name, once it is on the disk.
    pub fn finish(mut self) -> Result<(), Failure> {
        let failed = |error| Failure::file(&self.path, "finish", &error);
        sync_tree(&self.part).map_err(failed)?;
        // A file would be replaced by the rename without a word.
        if self.path.symlink_metadata().is_ok() {
            let what = "was made by somebody else meanwhile";
            return Err(Failure::Failed(format!("{}: {what}", self.path.display())));
        }
        fs::rename(&self.part, &self.path).map_err(failed)?;
        self.is_finished = true;
        let parent = self.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        sync_dir(parent).map_err(failed)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_finished {
            remove(&self.part);
        }
    }
}

fn remove(part: &Path) {
    // Whatever cannot be removed makes creating fail, which says why.
    let _ = match part.is_dir() {
        true => fs::remove_dir_all(part),
        false => fs::remove_file(part),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_has_its_name_when_it_is_finished_and_leaves_nothing_if_it_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out");
        let names = || fs::read_dir(dir.path()).expect("a directory").count();
        drop(Unfinished::file(&path).expect("begun"));
        assert_eq!(names(), 0);
        drop(Unfinished::directory(&path).expect("begun"));
        assert_eq!(names(), 0);
        fs::write(dir.path().join("out.part"), "left by a killed run").expect("written");
        let output = Unfinished::file(&path).expect("begun");
        fs::write(output.part(), "whole").expect("written");
        assert!(!path.exists());
        output.finish().expect("finished");
        assert_eq!(fs::read_to_string(&path).expect("a file"), "whole");
        assert_eq!(names(), 1);
        assert!(matches!(Unfinished::file(&path), Err(Failure::Usage(_))));
        assert!(matches!(Unfinished::directory(&path), Err(Failure::Usage(_))));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "whole");
    }
}
