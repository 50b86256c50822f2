//! Power cuts: what is on the disk, and what was written since its last sync.
//!
//! Archive and journal are two files. A power cut leaves any beginning of what each holds beyond
//! its last sync, whatever is left of the other. Then the state is opened as it is in production:
//! the archive's end is known, and no commit is believed that speaks of more.

use crate::written::Written;
use rhumb_engine::event::Row;
use rhumb_engine::outcome::Report;
use rhumb_engine::rng::Rng;
use rhumb_engine::turn::Position;
use rhumb_page::url::Url;
use rhumb_state::memory::MemoryRows;

/// The simulated archive is one file, and each body one byte of it.
const FILE: u32 = 1;

/// What a partition has on its disk.
pub struct Disk {
    part: u32,
    /// As of the last sync, with what the watch knew then.
    pub rows: MemoryRows,
    pub written: Written,
    /// What came since, in order.
    since: Vec<Since>,
    /// Bodies in the archive up to its last sync, and those since.
    kept_synced: u64,
    kept: Vec<Url>,
}

enum Since {
    /// The web answered a page. Not on the disk: what the watch needs to understand the commits.
    Answered(Url, Box<Report>),
    Commit(Vec<Row>, Position),
}

impl Disk {
    pub fn new(part: u32, written: Written) -> Disk {
        let (rows, since, kept) = (MemoryRows::default(), Vec::new(), Vec::new());
        Disk { part, rows, written, since, kept_synced: 0, kept }
    }

    pub fn answered(&mut self, url: &Url, report: &Report) {
        self.since.push(Since::Answered(url.clone(), Box::new(report.clone())));
    }

    pub fn keep(&mut self, url: &Url) {
        self.kept.push(url.clone());
    }

    /// Where the archive ends.
    pub fn archived(&self) -> Position {
        Position { file: FILE, length: self.kept_synced + self.kept.len() as u64 }
    }

    pub fn commit(&mut self, rows: &[Row], archived: Position) {
        self.since.push(Since::Commit(rows.to_vec(), archived));
    }

    pub fn sync_archive(&mut self) {
        self.kept_synced += self.kept.len() as u64;
        self.kept.drain(..).for_each(|url| self.written.archived(&url));
    }

    pub fn sync_state(&mut self) {
        for since in std::mem::take(&mut self.since) {
            self.apply(since);
        }
    }

    fn apply(&mut self, since: Since) {
        match since {
            Since::Answered(url, report) => self.written.answered(self.part, &url, &report),
            Since::Commit(rows, _) => {
                for row in rows {
                    // The watch has complained already, when the row was written.
                    self.written.row(self.part, &row);
                    self.rows.apply(row);
                }
            }
        }
    }

    /// Cuts the power, and opens what is left. `is_gullible` if the opening does not care about the
    /// archive.
    pub fn cut(&mut self, rng: &mut Rng, is_gullible: bool) {
        let kept = rng.draw() % (self.kept.len() as u64 + 1);
        self.kept.truncate(kept as usize);
        self.sync_archive();
        let archive_end = self.archived();
        let is_commit = |since: &&Since| matches!(since, Since::Commit(..));
        let commits = self.since.iter().filter(is_commit).count() as u64;
        let mut left = rng.draw() % (commits + 1);
        for since in std::mem::take(&mut self.since) {
            if let Since::Commit(_, archived) = &since {
                if left == 0 || (*archived > archive_end && !is_gullible) {
                    break;
                }
                left -= 1;
            }
            self.apply(since);
        }
        self.written.oracle.crashed(self.part);
    }
}
