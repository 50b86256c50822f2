//! What other pages call a page: texts of the links that lead to it.
//!
//! Kept in memory by the hash of the page's URL, the first [`SearchPage::ANCHORS_MAX`] different
//! texts of each, and in a file beside the index, to which each is appended once.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::page::SearchPage;

/// Bytes of a text.
const TEXT_BYTES_MAX: usize = 160;
/// Texts of all pages together in memory; of what comes beyond, nothing is kept.
const BYTES_MAX: usize = 256 << 20;
/// What a text costs besides its bytes.
const BYTES_BESIDES: usize = 24;

/// Texts by the page that they lead to.
#[derive(Default)]
pub struct IncomingAnchors {
    texts: HashMap<u64, Vec<Box<str>>, RandomState>,
    bytes: usize,
}

impl IncomingAnchors {
    /// Takes a text; as a record of the file, if it is new.
    pub fn take(&mut self, target: u64, text: &str) -> Option<Vec<u8>> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let has_room = self.bytes + text.len() + BYTES_BESIDES <= BYTES_MAX;
        if text.is_empty() || !has_room {
            return None;
        }
        let texts = self.texts.entry(target).or_default();
        if texts.len() >= SearchPage::ANCHORS_MAX || texts.iter().any(|known| **known == *text) {
            return None;
        }
        texts.push(text.into());
        self.bytes += text.len() + BYTES_BESIDES;
        let mut record = target.to_le_bytes().to_vec();
        record.push(text.len() as u8);
        record.extend_from_slice(text.as_bytes());
        Some(record)
    }

    pub fn of(&self, target: u64) -> Vec<String> {
        let texts = self.texts.get(&target).into_iter().flatten();
        texts.map(|text| text.to_string()).collect()
    }

    pub fn count(&self, target: u64) -> usize {
        self.texts.get(&target).map_or(0, Vec::len)
    }

    /// Takes all records of a file; false if it cannot be read.
    pub fn read(&mut self, mut records: &[u8]) -> bool {
        while !records.is_empty() {
            let Some((target, rest)) = records.split_first_chunk::<8>() else { return false };
            let Some((length, rest)) = rest.split_first() else { return false };
            let Some((text, rest)) = rest.split_at_checked(usize::from(*length)) else {
                return false;
            };
            let Ok(text) = std::str::from_utf8(text) else { return false };
            self.take(u64::from_le_bytes(*target), text);
            records = rest;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_kept_once_and_comes_back_from_its_records() {
        let mut anchors = IncomingAnchors::default();
        let mut file = Vec::new();
        for (target, text) in [(1, "tides"), (2, "moon"), (1, "tides"), (1, "the sea"), (1, "")] {
            file.extend(anchors.take(target, text).unwrap_or_default());
        }
        assert_eq!(anchors.of(1), ["tides", "the sea"]);
        assert_eq!(anchors.count(3), 0);
        let mut read = IncomingAnchors::default();
        assert!(read.read(&file));
        assert_eq!((read.of(1), read.of(2)), (anchors.of(1), anchors.of(2)));
        assert!(!IncomingAnchors::default().read(&file[..file.len() - 1]));
        let many = (0..100).filter(|n| anchors.take(9, &n.to_string()).is_some());
        assert_eq!(many.count(), SearchPage::ANCHORS_MAX);
    }
}
