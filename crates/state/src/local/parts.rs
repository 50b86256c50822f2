//! The stores of a crawl that is divided among engines, and how they are read as one.
//!
//! The directory `state` of such a crawl has a directory for each partition, `000` on, with a store
//! like any other, and a file PARTITIONS that says how many there are. It is written last, so that
//! a crawl has all of its stores or none. One partition has its store in `state` itself and no
//! such file: so no crawl ever changes its number of partitions.

use super::{LocalReader, file_error};
use rhumb_disk::{Durable, replace};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::partition::Partition;
use rhumb_page::url::{HostKey, Url};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Partitions of one crawl: each has a price in memory, files and threads.
pub const PARTITIONS_MAX: u32 = 256;

const PARTITIONS_FILE: &str = "PARTITIONS";
const FORMAT_FILE: &str = "FORMAT";

/// Where a partition has its store.
pub fn part_dir(state: &Path, own: u32) -> PathBuf {
    state.join(format!("{own:03}"))
}

/// How many partitions the crawl has whose stores are in `state`; none if there is no crawl.
pub fn partitions_in(state: &Path) -> Result<Option<u32>, Error> {
    if state.join(FORMAT_FILE).exists() {
        return Ok(Some(1));
    }
    let path = state.join(PARTITIONS_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(file_error(&path, error)),
    };
    let count = text.trim().parse().ok().filter(|count| (2..=PARTITIONS_MAX).contains(count));
    let wrong = || format!("{} does not say how many partitions there are", path.display());
    count.map(Some).ok_or_else(|| Error::new(ErrorKind::Corrupt, wrong()))
}

/// Refuses a crawl that has another number of partitions.
pub fn check_partitions(state: &Path, count: u32) -> Result<(), Error> {
    let Some(there) = partitions_in(state)?.filter(|there| *there != count) else { return Ok(()) };
    let what = format!(
        "{} holds a crawl of {there} partitions, and a crawl keeps their number for life: go on \
         with --partitions {there}, or begin anew in another --dir",
        state.display()
    );
    Err(Error::new(ErrorKind::Invalid, what))
}

/// Says that all stores are there.
pub fn write_partitions(state: &Path, count: u32) -> Result<(), Error> {
    let path = state.join(PARTITIONS_FILE);
    let written = replace(&path, Durable::Name, |file| writeln!(file, "{count}"));
    written.map_err(|error| file_error(&path, error))
}

impl LocalReader {
    /// Several stores as one: all partitions of a crawl, in order.
    pub fn of_parts(parts: Vec<LocalReader>) -> LocalReader {
        let count = parts.len() as u32;
        let parts: Arc<[LocalReader]> = parts
            .into_iter()
            .zip(0..)
            .map(|(part, own)| LocalReader { partition: Partition { own, count }, ..part })
            .collect();
        LocalReader { parts: Arc::clone(&parts), ..parts[0].clone() }
    }

    /// Each store by itself: only there a number names one URL.
    pub fn parts(&self) -> Vec<LocalReader> {
        match self.parts.is_empty() {
            true => vec![self.clone()],
            false => self.parts.to_vec(),
        }
    }

    pub fn is_divided(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The number of the partition that has a URL.
    pub fn part_of(&self, url: &Url) -> usize {
        if self.parts.is_empty() { 0 } else { self.partition.owner(url) as usize }
    }

    /// The store that has a URL.
    pub fn holding(&self, url: &Url) -> LocalReader {
        match self.parts.is_empty() {
            true => self.clone(),
            false => self.parts[self.partition.owner(url) as usize].clone(),
        }
    }

    /// The store that has a host.
    pub fn holding_host(&self, host: &HostKey) -> LocalReader {
        match self.parts.is_empty() {
            true => self.clone(),
            false => self.parts[self.partition.owner_of_host(host) as usize].clone(),
        }
    }

    /// The stores of a crawl at rest.
    pub(super) fn open_parts(state: &Path, count: u32) -> Result<LocalReader, Error> {
        let parts = (0..count).map(|own| LocalReader::open(&part_dir(state, own)));
        Ok(LocalReader::of_parts(parts.collect::<Result<_, _>>()?))
    }
}
