//! URLs as numbers, for those who watch: a million of them are looked up by every link.
//!
//! A URL is told by 128 bits of its text. That two share them is less likely than that the machine
//! errs, and then the watch would see a mistake where there is none.

use rhumb_engine::record::UrlId;
use rhumb_page::url::{Url, UrlKey};
use rhumb_state::plain::PlainMap;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Default)]
pub struct UrlNumbers {
    by_text: PlainMap<u128, u32>,
    /// By partition and the number that it gave.
    given: Vec<Vec<Given>>,
}

/// The URL that a partition gave a number to, and the hash of its key.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Given {
    url: u32,
    key: u64,
}

const NOBODY: Given = Given { url: u32::MAX, key: 0 };

/// What a row says of a URL.
pub struct Named {
    pub url: u32,
    /// The number that the partition gave it was another's.
    pub is_taken: bool,
}

impl UrlNumbers {
    /// The number of a URL. Those that were never named have the next one.
    pub fn of(&mut self, url: &Url) -> u32 {
        let next = self.by_text.len() as u32;
        *self.by_text.entry(url.fingerprint(0)).or_insert(next)
    }

    pub fn get(&self, url: &Url) -> Option<u32> {
        self.by_text.get(&url.fingerprint(0)).copied()
    }

    /// The URL of a row, by which a partition says what number it has there. Most rows are of URLs
    /// that have it already, and their key tells so.
    pub fn of_row(&mut self, part: u32, key: &UrlKey, id: UrlId) -> Named {
        let hash = xxh3_64(key.as_bytes());
        let before = self.given(part, id);
        if before != NOBODY && before.key == hash {
            return Named { url: before.url, is_taken: false };
        }
        let url = self.of(&key.url());
        let given = &mut self.given[part as usize];
        given[id.0 as usize] = Given { url, key: hash };
        Named { url, is_taken: before != NOBODY }
    }

    /// The URL to which a partition gave a number.
    pub fn named(&self, part: u32, id: UrlId) -> Option<u32> {
        let given = self.given.get(part as usize)?.get(id.0 as usize)?;
        (*given != NOBODY).then_some(given.url)
    }

    /// Makes room for it.
    fn given(&mut self, part: u32, id: UrlId) -> Given {
        let (part, id) = (part as usize, id.0 as usize);
        if self.given.len() <= part {
            self.given.resize_with(part + 1, Vec::new);
        }
        let given = &mut self.given[part];
        if given.len() <= id {
            given.resize(id + 1, NOBODY);
        }
        given[id]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_two_urls_got_and_a_url_with_two_numbers_are_told_apart() {
        let url = |n: u32| Url::parse(&format!("http://a.test/{n}")).unwrap();
        let mut numbers = UrlNumbers::default();
        let first = numbers.of(&url(1));
        let row = |numbers: &mut UrlNumbers, n, id| {
            let Named { url, is_taken } = numbers.of_row(1, &url(n).key(), UrlId(id));
            (url, is_taken)
        };
        assert_eq!(row(&mut numbers, 1, 7), (first, false));
        assert_eq!(row(&mut numbers, 1, 7), (first, false), "again");
        assert_eq!(row(&mut numbers, 1, 8), (first, false), "another number");
        assert_eq!(row(&mut numbers, 2, 7), (first + 1, true), "another's number");
        assert_eq!(numbers.named(1, UrlId(7)), Some(first + 1));
        assert_eq!((numbers.named(0, UrlId(7)), numbers.named(1, UrlId(5))), (None, None));
        assert_eq!((numbers.get(&url(2)), numbers.get(&url(3))), (Some(first + 1), None));
    }
}
