//! The URL key: lossless, and in byte order a host's URLs are adjacent.
//!
//! It is the host key followed by path and query. The host key holds no `/` and the path begins
//! with one, so the key is cut again at its first `/`, and all keys of a host share a prefix that
//! no other host's key has.

use super::host_key::{host_key_length, push_host_key, push_origin};
use super::{HostKey, Url};

/// A URL as a key of a store: URLs of a host stand together.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(Box<[u8]>);

impl UrlKey {
    pub(super) fn of(url: &Url) -> UrlKey {
        let mut text = String::with_capacity(host_key_length(url) + url.path_and_query().len());
        push_host_key(&mut text, url);
        text.push_str(url.path_and_query());
        UrlKey(text.into_boxed_str().into_boxed_bytes())
    }

    /// Takes bytes as [`UrlKey::as_bytes`] gave them; `None` for any others.
    pub fn from_bytes(bytes: &[u8]) -> Option<UrlKey> {
        let key = url_of(std::str::from_utf8(bytes).ok()?)?.key();
        (key.as_bytes() == bytes).then_some(key)
    }

    /// Its bytes, as they sort.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The URL again.
    pub fn url(&self) -> Url {
        let text = std::str::from_utf8(&self.0).expect("a URL key is ASCII");
        url_of(text).expect("a URL key is built from a URL")
    }

    /// [`Url::fingerprint`] of the URL whose key has these bytes. Nothing is checked: of other
    /// bytes it is some number.
    pub fn fingerprint(bytes: &[u8], seed: u64) -> u128 {
        let key = std::str::from_utf8(bytes).unwrap_or_default();
        let slash = key.find('/').unwrap_or(key.len());
        let mut text = String::with_capacity(key.len() + 8);
        push_origin(&mut text, &key[..slash]);
        text.push_str(&key[slash..]);
        super::fingerprint(&text, seed)
    }

    /// The host of the URL.
    pub fn host_key(&self) -> HostKey {
        let text = std::str::from_utf8(&self.0).expect("a URL key is ASCII");
        let slash = text.find('/').expect("a URL key has a path");
        HostKey::from_text(&text[..slash]).expect("a URL key begins with a host key")
    }
}

impl std::fmt::Debug for UrlKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UrlKey({})", self.0.escape_ascii())
    }
}

fn url_of(text: &str) -> Option<Url> {
    let slash = text.find('/')?;
    let mut whole = String::with_capacity(text.len() + 3);
    push_origin(&mut whole, &text[..slash])?;
    whole.push_str(&text[slash..]);
    Url::from_canonical(whole.into_boxed_str())
}
