//! A directory of a test's own, gone when the test ends.

use rhumb_engine::engine::Opening;
use rhumb_engine::error::Error;
use rhumb_engine::turn::ArchivePosition;
use rhumb_state::local::{Home, LocalState};
use std::fs;
use std::path::{Path, PathBuf};

pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("rhumb-state-{}-{name}", std::process::id()));
        // Left over from a test that was killed, if its process had our number.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a directory for the test");
        Scratch(dir)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The store of a crawl that keeps nothing.
pub fn open_store(dir: &Path, seed: u64) -> Result<(LocalState, Opening), Error> {
    LocalState::open(Home::open(dir)?, seed, ArchivePosition::default())
}
