//! `history.bin`: the crawl's numbers over time, without a monitoring system beside it.
//!
//! A file of fixed size with two rings: a sample for each second of an hour, and one for each
//! minute of a month. A sample's slot follows from its time, so a writer needs no memory of what it
//! wrote, and a slot that was written a round earlier is known by the time in it. The file is
//! derived: it may be deleted, and a torn slot costs a point of a plot.

use super::report::Report;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const HISTORY_FILE: &str = "history.bin";
const MAGIC: &[u8; 8] = b"rhumbhi1";
const HEAD_BYTES: u64 = 64;
const SECONDS: u64 = 3_600;
const MINUTES: u64 = 30 * 24 * 60;
/// Four bytes of time in seconds, and a value of four bytes for each series.
const SLOT_BYTES: usize = 4 + 4 * SERIES.len();

/// What is sampled. Counts above 16 million are rounded to 24 bits: they are for plots.
pub const SERIES: [&str; 19] = [
    "pages",
    "bytes",
    "queued",
    "known_urls",
    "hosts",
    "in_flight",
    "hosts_awake",
    "hosts_failing",
    "failed",
    "gone",
    "robots_denied",
    "filtered",
    "exact_duplicates",
    "near_duplicates",
    "pages_per_s",
    "bytes_per_s",
    "bound",
    "ceiling",
    "rss_bytes",
];

/// The crawl at one second.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// Since 1970.
    pub at_s: u32,
    pub values: [f32; SERIES.len()],
}

/// Which of the two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// A sample a second, of the last hour.
    Hour,
    /// A sample a minute, of the last month.
    Month,
}

impl Ring {
    fn step_s(self) -> u64 {
        match self {
            Ring::Hour => 1,
            Ring::Month => 60,
        }
    }

    fn slots(self) -> u64 {
        match self {
            Ring::Hour => SECONDS,
            Ring::Month => MINUTES,
        }
    }

    fn begins_at(self) -> u64 {
        match self {
            Ring::Hour => HEAD_BYTES,
            Ring::Month => HEAD_BYTES + SECONDS * SLOT_BYTES as u64,
        }
    }

    fn offset(self, at_s: u32) -> u64 {
        self.begins_at() + u64::from(at_s) / self.step_s() % self.slots() * SLOT_BYTES as u64
    }
}

impl Sampled {
    pub fn of(report: &Report, bytes_per_s: f64, rss_bytes: u64, at_s: u32) -> Sampled {
        let (bound, ceiling) =
            report.coverage.as_ref().map_or((0.0, 0.0), |covered| (covered.bound, covered.ceiling));
        let failed: u64 = report.failed.values().sum();
        let values = [
            report.pages as f64,
            report.bytes as f64,
            report.queued as f64,
            report.known_urls as f64,
            report.hosts as f64,
            report.in_flight as f64,
            report.hosts_awake as f64,
            report.hosts_failing as f64,
            failed as f64,
            report.gone as f64,
            report.robots_denied as f64,
            report.filtered as f64,
            report.exact_duplicates as f64,
            report.near_duplicates as f64,
            report.run.pages_per_s_now,
            bytes_per_s,
            bound,
            ceiling,
            rss_bytes as f64,
        ];
        Sampled { at_s, values: values.map(|value| value as f32) }
    }

    pub fn value(&self, series: &str) -> Option<f32> {
        SERIES.iter().position(|name| *name == series).map(|at| self.values[at])
    }

    fn to_slot(&self) -> [u8; SLOT_BYTES] {
        let mut slot = [0; SLOT_BYTES];
        slot[..4].copy_from_slice(&self.at_s.to_le_bytes());
        for (field, value) in slot[4..].chunks_exact_mut(4).zip(self.values) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        slot
    }

    fn from_slot(slot: &[u8]) -> Sampled {
        let word = |field: &[u8]| field.try_into().expect("chunks are of four bytes");
        let mut values = [0.0; SERIES.len()];
        for (value, field) in values.iter_mut().zip(slot[4..].chunks_exact(4)) {
            *value = f32::from_le_bytes(word(field));
        }
        Sampled { at_s: u32::from_le_bytes(word(&slot[..4])), values }
    }
}

/// The file while a crawl writes it.
pub struct HistoryFile(File);

impl HistoryFile {
    /// Makes the file if it is not there or is none of ours.
    pub fn open(dir: &Path) -> io::Result<HistoryFile> {
        let path = dir.join(HISTORY_FILE);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut magic = [0; MAGIC.len()];
        if file.read_exact_at(&mut magic, 0).is_err() || &magic != MAGIC {
            file.set_len(0)?;
            file.write_all_at(MAGIC, 0)?;
        }
        file.set_len(Ring::Month.begins_at() + MINUTES * SLOT_BYTES as u64)?;
        Ok(HistoryFile(file))
    }

    pub fn record(&self, sampled: &Sampled) -> io::Result<()> {
        let slot = sampled.to_slot();
        self.0.write_all_at(&slot, Ring::Hour.offset(sampled.at_s))?;
        self.0.write_all_at(&slot, Ring::Month.offset(sampled.at_s))
    }
}

/// The samples of a ring up to its last one, oldest first; none if there is no history.
pub fn read(dir: &Path, ring: Ring) -> io::Result<Vec<Sampled>> {
    let file = match File::open(dir.join(HISTORY_FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut magic = [0; MAGIC.len()];
    let mut bytes = vec![0; ring.slots() as usize * SLOT_BYTES];
    let is_read = file.read_exact_at(&mut magic, 0).is_ok()
        && &magic == MAGIC
        && file.read_exact_at(&mut bytes, ring.begins_at()).is_ok();
    if !is_read {
        return Ok(Vec::new());
    }
    let mut samples: Vec<Sampled> =
        bytes.chunks_exact(SLOT_BYTES).map(Sampled::from_slot).collect();
    let newest = samples.iter().map(|sampled| sampled.at_s).max().unwrap_or(0);
    let oldest = u64::from(newest).saturating_sub(ring.slots() * ring.step_s());
    samples.retain(|sampled| sampled.at_s > 0 && u64::from(sampled.at_s) > oldest);
    samples.sort_by_key(|sampled| sampled.at_s);
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_s: u32) -> Sampled {
        Sampled { at_s, values: [at_s as f32; SERIES.len()] }
    }

    #[test]
    fn the_file_keeps_its_size_and_the_last_round_of_each_ring() {
        let dir = tempfile::tempdir().unwrap();
        let file = HistoryFile::open(dir.path()).unwrap();
        for at_s in 1_000_000..1_010_000 {
            file.record(&sample(at_s)).unwrap();
        }
        let hour = read(dir.path(), Ring::Hour).unwrap();
        assert_eq!(hour.len(), 3_600);
        assert_eq!((hour[0].at_s, hour[3_599].at_s), (1_006_400, 1_009_999));
        assert_eq!(hour[7], sample(1_006_407));
        let month = read(dir.path(), Ring::Month).unwrap();
        assert_eq!(month.len(), 168, "minutes begun");
        let bytes = std::fs::metadata(dir.path().join(HISTORY_FILE)).unwrap().len();
        assert!(bytes <= 4 << 20, "{bytes}");
        // Opened again, it goes on; what is not ours is made anew.
        drop(HistoryFile::open(dir.path()).unwrap());
        assert_eq!(read(dir.path(), Ring::Hour).unwrap().len(), 3_600);
        std::fs::write(dir.path().join(HISTORY_FILE), b"garbage").unwrap();
        assert_eq!(read(dir.path(), Ring::Hour).unwrap(), []);
        drop(HistoryFile::open(dir.path()).unwrap());
        assert_eq!(read(dir.path(), Ring::Month).unwrap(), []);
    }

    #[test]
    fn a_gap_of_two_hours_leaves_no_old_points_in_the_hour() {
        let dir = tempfile::tempdir().unwrap();
        let file = HistoryFile::open(dir.path()).unwrap();
        file.record(&sample(2_000_000)).unwrap();
        file.record(&sample(2_007_200 + 5)).unwrap();
        assert_eq!(read(dir.path(), Ring::Hour).unwrap(), [sample(2_007_205)]);
        assert_eq!(read(dir.path(), Ring::Month).unwrap().len(), 2);
    }
}
