//! URLs from all over the store, where there are too many to read them all: some of each of many
//! places, which are found by stepping through the keys. The first ones alone would be those of the
//! first hosts in the order of names.

use super::SCAN_TIME_MAX;
use rhumb_engine::error::Error;
use rhumb_state::local::{LocalReader, UrlRow};
use std::collections::VecDeque;
use std::time::Instant;

/// Places that are read, over all partitions.
const PLACES: usize = 64;
/// URLs of a place, and of each in turn.
const URLS_OF_PLACE_MAX: usize = 1_000;
const URLS_IN_TURN: usize = 25;
/// Steps to find the places.
const STEPS_MAX: usize = 1_000;
/// No byte of a key.
const BEYOND: u8 = 0xff;

/// How much was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleSize {
    pub urls: u64,
    pub places: u64,
}

/// Calls `each` for URLs of many places, for as long as a scan may take.
pub fn each_url_of_many_places(
    reader: &LocalReader,
    mut each: impl FnMut(&UrlRow) -> Result<(), Error>,
) -> Result<SampleSize, Error> {
    let parts = reader.parts();
    let mut walks = Vec::new();
    for part in &parts {
        for place in places(part, PLACES.div_ceil(parts.len().max(1)))? {
            walks.push(part.url_rows(&place, None).take(URLS_OF_PLACE_MAX));
        }
    }
    let (began, mut sample) = (Instant::now(), SampleSize::default());
    sample.places = walks.len() as u64;
    while !walks.is_empty() && began.elapsed() < SCAN_TIME_MAX {
        let mut left = Vec::with_capacity(walks.len());
        for mut walk in walks {
            let before = sample.urls;
            for row in walk.by_ref().take(URLS_IN_TURN) {
                each(&row?)?;
                sample.urls += 1;
            }
            if sample.urls == before + URLS_IN_TURN as u64 {
                left.push(walk);
            }
        }
        walks = left;
    }
    Ok(sample)
}

/// Beginnings of keys, each of which some keys have, and which all keys have among them.
fn places(reader: &LocalReader, wanted: usize) -> Result<Vec<Vec<u8>>, Error> {
    let (mut open, mut whole) = (VecDeque::from([Vec::new()]), Vec::new());
    let mut steps = 0;
    while open.len() + whole.len() < wanted && steps < STEPS_MAX {
        let Some(prefix) = open.pop_front() else { break };
        let mut after = prefix.clone();
        let mut has_longer = false;
        while steps < STEPS_MAX {
            steps += 1;
            let Some(row) = reader.url_rows(&prefix, Some(&after)).next() else { break };
            let row = row?;
            let longer = row.key_bytes()[..prefix.len() + 1].to_vec();
            after.clone_from(&longer);
            after.push(BEYOND);
            open.push_back(longer);
            has_longer = true;
        }
        if !has_longer {
            whole.push(prefix);
        }
    }
    Ok(open.into_iter().chain(whole).collect())
}
