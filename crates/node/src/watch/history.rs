//! `history.bin`: the crawl's numbers over time, without a monitoring system beside it.
//!
//! A file of fixed size with two rings: a sample for each second of an hour, and one for each
//! minute of a month. A sample's slot follows from its time, so a writer needs no memory of what it
//! wrote, and a slot that was written a round earlier is known by the time in it. The file is
//! derived: it may be deleted, and a torn slot costs a point of a plot.

use super::report::CrawlReport;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub const HISTORY_FILE: &str = "history.bin";
const MAGIC: &[u8; 8] = b"rhumbhi2";
const HEAD_BYTES: u64 = 64;
const SECONDS: u64 = 3_600;
const MINUTES: u64 = 30 * 24 * 60;
/// Of a sample's time, in seconds.
const TIME_BYTES: usize = 4;
const SLOT_BYTES: usize = slot_bytes();

/// The upper bytes of a number of 32 bits: 16 bits of precision for what is counted, 8 for what
/// goes up and down. They are for plots, of which a pixel is less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Count = 3,
    Level = 2,
}

/// What is sampled of `report.json`, and the resident memory. Coverage is that of the topic, where
/// there is one. Refusals by cause, and what is part of another count, have no series: the file
/// would be larger than 4 MB.
const SAMPLED: [(&str, Precision); 31] = [
    ("pages", Precision::Count),
    ("bytes", Precision::Count),
    ("queued", Precision::Count),
    ("known_urls", Precision::Count),
    ("hosts", Precision::Count),
    ("answers", Precision::Count),
    ("failed", Precision::Count),
    ("errors", Precision::Count),
    ("gone", Precision::Count),
    ("moved", Precision::Count),
    ("unchanged", Precision::Count),
    ("retries", Precision::Count),
    ("revisits", Precision::Count),
    ("robots_denied", Precision::Count),
    ("filtered", Precision::Count),
    ("exact_duplicates", Precision::Count),
    ("near_duplicates", Precision::Count),
    ("discoveries", Precision::Count),
    ("requisites", Precision::Count),
    ("sitemaps", Precision::Level),
    ("promoted", Precision::Level),
    ("in_flight", Precision::Level),
    ("hosts_awake", Precision::Level),
    ("hosts_asleep", Precision::Level),
    ("hosts_failing", Precision::Level),
    ("pages_per_s", Precision::Level),
    ("bytes_per_s", Precision::Level),
    ("bound", Precision::Level),
    ("ceiling", Precision::Level),
    ("freshness", Precision::Level),
    ("rss_bytes", Precision::Level),
];

const fn slot_bytes() -> usize {
    let (mut bytes, mut at) = (TIME_BYTES, 0);
    while at < SAMPLED.len() {
        bytes += SAMPLED[at].1 as usize;
        at += 1;
    }
    bytes
}

/// The names of what is sampled.
pub fn series() -> impl Iterator<Item = &'static str> {
    SAMPLED.iter().map(|(name, _)| *name)
}

/// The crawl at one second.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledSecond {
    /// Since 1970.
    pub at_s: u32,
    pub values: [f32; SAMPLED.len()],
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

impl SampledSecond {
    pub fn of(report: &CrawlReport, bytes_per_s: f64, rss_bytes: u64, at_s: u32) -> SampledSecond {
        let covered = report.coverage.as_ref().map(|covered| (covered.bound, covered.ceiling));
        let topical = report.topic.as_ref().map(|topic| (topic.bound, topic.ceiling));
        let (bound, ceiling) = covered.or(topical).unwrap_or_default();
        let values = [
            report.pages as f64,
            report.bytes as f64,
            report.queued as f64,
            report.known_urls as f64,
            report.hosts as f64,
            report.answers as f64,
            report.failed_in_all() as f64,
            report.errors.values().sum::<u64>() as f64,
            report.gone as f64,
            report.moved as f64,
            report.unchanged as f64,
            report.retries as f64,
            report.revisits as f64,
            report.robots_denied as f64,
            report.filtered as f64,
            report.exact_duplicates as f64,
            report.near_duplicates as f64,
            report.discoveries as f64,
            report.requisites as f64,
            report.sitemaps as f64,
            report.promoted as f64,
            report.in_flight as f64,
            report.hosts_awake as f64,
            report.hosts_asleep as f64,
            report.hosts_failing as f64,
            report.run.pages_per_s_now,
            bytes_per_s,
            bound,
            ceiling,
            report.collection.as_ref().map_or(0.0, |kept| kept.freshness),
            rss_bytes as f64,
        ];
        SampledSecond { at_s, values: values.map(|value| value as f32) }
    }

    pub fn value(&self, series: &str) -> Option<f32> {
        SAMPLED.iter().position(|(name, _)| *name == series).map(|at| self.values[at])
    }

    fn to_slot(&self) -> [u8; SLOT_BYTES] {
        let mut slot = [0; SLOT_BYTES];
        slot[..TIME_BYTES].copy_from_slice(&self.at_s.to_le_bytes());
        let mut at = TIME_BYTES;
        for ((_, kept), value) in SAMPLED.iter().zip(self.values) {
            let bytes = *kept as usize;
            let half = 1 << (8 * (4 - bytes) - 1);
            let rounded = value.to_bits().saturating_add(half).to_be_bytes();
            slot[at..at + bytes].copy_from_slice(&rounded[..bytes]);
            at += bytes;
        }
        slot
    }

    fn from_slot(slot: &[u8]) -> SampledSecond {
        let (time, mut rest) = slot.split_at(TIME_BYTES);
        let values = SAMPLED.map(|(_, kept)| {
            let (field, others) = rest.split_at(kept as usize);
            rest = others;
            let mut bits = [0; 4];
            bits[..field.len()].copy_from_slice(field);
            f32::from_bits(u32::from_be_bytes(bits))
        });
        let at_s = u32::from_le_bytes(time.try_into().expect("a time has four bytes"));
        SampledSecond { at_s, values }
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

    pub fn record(&self, sampled: &SampledSecond) -> io::Result<()> {
        let slot = sampled.to_slot();
        self.0.write_all_at(&slot, Ring::Hour.offset(sampled.at_s))?;
        self.0.write_all_at(&slot, Ring::Month.offset(sampled.at_s))
    }
}

/// The samples of a ring up to its last one, oldest first; none if there is no history.
pub fn read(dir: &Path, ring: Ring) -> io::Result<Vec<SampledSecond>> {
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
    let mut samples: Vec<SampledSecond> =
        bytes.chunks_exact(SLOT_BYTES).map(SampledSecond::from_slot).collect();
    let newest = samples.iter().map(|sampled| sampled.at_s).max().unwrap_or(0);
    let oldest = u64::from(newest).saturating_sub(ring.slots() * ring.step_s());
    samples.retain(|sampled| sampled.at_s > 0 && u64::from(sampled.at_s) > oldest);
    samples.sort_by_key(|sampled| sampled.at_s);
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a value that any of the series keeps as it is.
    fn sample(at_s: u32) -> SampledSecond {
        SampledSecond { at_s, values: [(at_s % 128) as f32; SAMPLED.len()] }
    }

    #[test]
    fn counts_are_kept_to_a_pixel_and_more() {
        let values = std::array::from_fn(|at| 1_234_567.0 * (at + 1) as f32);
        let kept = SampledSecond::from_slot(&SampledSecond { at_s: 7, values }.to_slot());
        assert_eq!(kept.at_s, 7);
        for ((series, bytes), (kept, value)) in SAMPLED.iter().zip(kept.values.iter().zip(values)) {
            let precision = if *bytes == Precision::Count { 2e-5 } else { 0.004 };
            assert!((kept / value - 1.0).abs() <= precision, "{series}: {kept} for {value}");
        }
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
        assert!(bytes <= 4_000_000, "{bytes}");
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
