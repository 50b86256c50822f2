//! What the head of an answer says of its body: whether the body is wanted at all.
//!
//! Workers ask here when a head has come and its body has not; a body that is not wanted is not
//! read. Only pages are screened, by answers with status 2xx: robots.txt and sitemaps are read to
//! their limits whatever they call themselves.

use crate::record::Refusal;
use rhumb_page::media::ContentType;
use rhumb_page::media_list::{MediaList, is_archive_type};
use xxhash_rust::xxh3::Xxh3;

/// What is wanted of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// All types, if none are named.
    pub types: MediaList,
    /// A body that is announced to be longer is not read.
    pub body_bytes_max: Option<u64>,
    /// Archives are wanted like any other type.
    pub takes_archives: bool,
}

/// What a head says.
#[derive(Clone, Copy, Debug)]
pub struct HeadFacts<'a> {
    pub status: u16,
    pub content_type: Option<&'a str>,
    pub content_length: Option<u64>,
}

impl Screen {
    /// Adds what it goes by to a fingerprint of the rules of admission; the default adds nothing.
    pub fn hash_into(&self, hash: &mut Xxh3) {
        if *self != Screen::default() {
            hash.update(self.types.to_string().as_bytes());
            hash.update(&self.body_bytes_max.unwrap_or(u64::MAX).to_le_bytes());
            hash.update(&[u8::from(self.takes_archives)]);
        }
    }

    /// The first rule that a head offends, or none. What the owner named may be an archive.
    pub fn admit(&self, head: HeadFacts<'_>, is_named: bool) -> Result<(), Refusal> {
        if !(200..300).contains(&head.status) {
            return Ok(());
        }
        let essence = head.content_type.map(|value| ContentType::parse(value).essence);
        if !self.types.admits(essence.as_deref()) {
            return Err(Refusal::MediaType);
        }
        let is_archive = essence.as_deref().is_some_and(is_archive_type);
        if is_archive && !self.takes_archives && !is_named {
            return Err(Refusal::Archive);
        }
        match (head.content_length, self.body_bytes_max) {
            (Some(length), Some(max)) if length > max => Err(Refusal::Size),
            _ => Ok(()),
        }
    }
}
