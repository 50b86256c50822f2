//! Copies: pages with the bytes of another. Their links are followed, for relative links lead
//! elsewhere from another URL: a second host with the same front page, `/v1/` and `/v2/`, frames.
//!
//! A site that answers every path with one page, whose relative links make ever longer paths, would
//! have no end. So of pages of one site with the same bytes only the first few have their links
//! followed; those of the others are known for their importance alone. The counts are kept in
//! memory, for this run: a new run, or too many contents to count, costs a few pages more
//! (docs/decisions/0029-copies.md).

use crate::outcome::ContentDigest;
use rhumb_page::url::Url;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// Copies of one content on one site whose links are followed: more versions of a manual, or names
/// of a host, seldom have the same page.
pub const COPIES_FOLLOWED_MAX: u8 = 32;
/// Contents that are counted; beyond it all counts begin anew.
pub const CONTENTS_COUNTED_MAX: usize = 1 << 14;

#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// By a hash of site and content. Looked up, never iterated.
    followed: HashMap<u128, u8>,
}

/// Of one content, with what the table takes for it.
const CONTENT_BYTES: usize = 2 * size_of::<(u128, u8)>();

impl Copies {
    pub const HEAP_BYTES_MAX: usize = CONTENTS_COUNTED_MAX * CONTENT_BYTES;

    /// Whether the links of a page that is a copy are to be followed; counts it if so.
    pub fn follow(&mut self, url: &Url, content: &ContentDigest) -> bool {
        let key = xxh3_128(&[content.as_slice(), url.site().as_str().as_bytes()].concat());
        if self.followed.len() >= CONTENTS_COUNTED_MAX && !self.followed.contains_key(&key) {
            self.followed.clear();
        }
        let followed = self.followed.entry(key).or_default();
        let is_followed = *followed < COPIES_FOLLOWED_MAX;
        *followed += u8::from(is_followed);
        is_followed
    }

    pub fn heap_bytes(&self) -> usize {
        self.followed.len() * CONTENT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_site_so_many_copies_of_a_content_are_followed_and_of_another_site_again() {
        let mut copies = Copies::default();
        let url = |text: &str| Url::parse(text).unwrap();
        let (here, there) = (url("http://a.example.org/"), url("http://b.example.com/"));
        let followed = |copies: &mut Copies, url: &Url, content: u8| {
            (0..100).filter(|_| copies.follow(url, &[content; 16])).count()
        };
        assert_eq!(followed(&mut copies, &here, 1), usize::from(COPIES_FOLLOWED_MAX));
        assert_eq!(followed(&mut copies, &url("http://example.org/x"), 1), 0, "the same site");
        assert_eq!(followed(&mut copies, &there, 1), usize::from(COPIES_FOLLOWED_MAX));
        assert_eq!(followed(&mut copies, &here, 2), usize::from(COPIES_FOLLOWED_MAX));
        for n in 0..2 * CONTENTS_COUNTED_MAX as u128 {
            copies.follow(&here, &n.to_le_bytes());
            assert!(copies.heap_bytes() <= Copies::HEAP_BYTES_MAX);
        }
    }
}
