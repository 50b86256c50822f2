//! Power cuts: what is on the disk, and what was written since its last sync.
//!
//! Archive and journal are two files. A power cut leaves any beginning of what each holds beyond
//! its last sync, whatever is left of the other. Then the state is opened as it is in production:
//! the archive's end is known, and no commit is believed that speaks of more.

use rhumb_engine::event::Row;
use rhumb_engine::rng::Rng;
use rhumb_engine::turn::ArchivePosition;
use rhumb_state::memory::MemoryRows;
use std::rc::Rc;

/// The simulated archive is one file, and each body one byte of it.
const FILE: u32 = 1;

/// What a partition has on its disk.
#[derive(Default)]
pub struct Disk {
    /// As of the last sync.
    pub rows: MemoryRows,
    /// Commits since, in order, each with the archive's position.
    commits: Vec<(Rc<Vec<Row>>, ArchivePosition)>,
    /// Bodies in the archive up to its last sync, and those since.
    kept_synced: u64,
    kept: u64,
}

/// How much of what was not synced a power cut left.
pub struct Left {
    pub bodies: u64,
    pub commits: u64,
}

impl Disk {
    /// With these rows, synced.
    pub fn of(rows: MemoryRows) -> Disk {
        Disk { rows, ..Disk::default() }
    }

    pub fn keep(&mut self) {
        self.kept += 1;
    }

    /// Where the archive ends.
    pub fn archived(&self) -> ArchivePosition {
        ArchivePosition { file: FILE, length: self.kept_synced + self.kept }
    }

    pub fn commit(&mut self, rows: &Rc<Vec<Row>>, archived: ArchivePosition) {
        self.commits.push((Rc::clone(rows), archived));
    }

    /// Commits since the last sync.
    pub fn unsynced(&self) -> u64 {
        self.commits.len() as u64
    }

    pub fn sync_archive(&mut self) {
        self.kept_synced += std::mem::take(&mut self.kept);
    }

    pub fn sync_state(&mut self) {
        for (rows, _) in std::mem::take(&mut self.commits) {
            rows.iter().cloned().for_each(|row| self.rows.apply(row));
        }
    }

    /// Cuts the power, and opens what is left. `is_gullible` if the opening does not care about the
    /// archive.
    pub fn cut(&mut self, rng: &mut Rng, is_gullible: bool) -> Left {
        let bodies = rng.draw() % (self.kept + 1);
        self.kept = bodies;
        self.sync_archive();
        let archive_end = self.archived();
        let left = rng.draw() % (self.commits.len() as u64 + 1);
        let is_believed =
            |(_, archived): &&(_, ArchivePosition)| *archived <= archive_end || is_gullible;
        let believed = self.commits.iter().take(left as usize).take_while(is_believed).count();
        self.commits.truncate(believed);
        self.sync_state();
        Left { bodies, commits: believed as u64 }
    }
}
