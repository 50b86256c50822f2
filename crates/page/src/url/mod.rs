//! URLs, canonical by construction: two texts that name the same thing become the same [`Url`].
//!
//! A `Url` is parsed as the WHATWG standard says (the `url` crate), then reduced: no fragment, no
//! userinfo, no default port, no empty query, no trailing dot on the host, percent-escapes in
//! upper case and none for unreserved characters. What no name server could answer (empty or
//! over-long labels, characters outside letters, digits, `-` and `_`) is refused here, so that
//! every later room may rely on it. From a `Url` come the keys the crawl is built on:
//!
//! - [`UrlKey`]: lossless, sorts a host's URLs together;
//! - [`HostKey`]: scheme, host and port, the unit of politeness;
//! - [`Site`]: the registrable domain, the unit of budget and partition;
//! - [`Surt`]: lossy, the key of CDXJ lines and of nothing else.
//!
//! Invariant: `Url::parse(u.as_str()) == Ok(u)`, and nothing here does IO or panics on any text.

mod canonical;
mod error;
pub(crate) mod escape;
mod filter;
mod host_key;
mod join;
mod named_host;
mod query_charset;
mod scheme;
mod site;
mod surt;
mod url_key;

#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use canonical::{HOST_BYTES_MAX, LABEL_BYTES_MAX, REFERENCE_BYTES_MAX, URL_BYTES_MAX};
pub use error::UrlError;
pub use filter::{FilterError, PATTERNS_BYTES_MAX, Rules, StripParams};
pub use host_key::HostKey;
pub use named_host::NamedHost;
pub use query_charset::QueryCharset;
pub use scheme::Scheme;
pub use site::Site;
pub use surt::Surt;
pub use url_key::UrlKey;

/// A canonical URL: one allocation, and the offsets of its parts.
///
/// The offsets are a function of the text, so equality, order and hash look at the text alone.
#[derive(Clone)]
pub struct Url {
    text: Box<str>,
    scheme: Scheme,
    /// End of the host; it begins after `scheme://`.
    host_end: u16,
    /// Start of the path, after the port if one is written.
    path_start: u16,
    /// End of the path: where the `?` is, or the end of the text.
    path_end: u16,
    /// Effective port; 0 for `file`.
    port: u16,
}

impl Url {
    /// Parses an absolute URL and makes it canonical.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        canonical::parse(text)
    }

    /// Resolves a reference found in a document whose base is this URL.
    pub fn join(&self, reference: &str) -> Result<Url, UrlError> {
        self.join_in(reference, QueryCharset::default())
    }

    /// As [`Url::join`], for a document that is not in UTF-8.
    pub fn join_in(&self, reference: &str, charset: QueryCharset) -> Result<Url, UrlError> {
        canonical::join(self, reference, charset)
    }

    /// Takes a text that is canonical already, as rows and keys hold it, and finds its parts again.
    /// `None` if the text cannot have come from [`Url::as_str`]; percent-escapes are trusted.
    pub fn from_canonical(text: Box<str>) -> Option<Url> {
        canonical::split(text)
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How it is fetched.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host as written: a lower-case name, an IPv4 address, or an IPv6 address in brackets.
    /// Empty only for `file` URLs.
    pub fn host(&self) -> &str {
        &self.text[self.scheme.prefix().len()..self.host_end as usize]
    }

    /// The effective port: the written one or the scheme's default; `None` for `file`.
    pub fn port(&self) -> Option<u16> {
        (self.port != 0).then_some(self.port)
    }

    /// The host if it is an address literal. WHATWG parsing has brought every spelling of an
    /// address (octal, hexadecimal, one number) to its usual form, so this misses none.
    pub fn ip(&self) -> Option<IpAddr> {
        host_key::ip_of(self.host())
    }

    /// Always begins with `/`.
    pub fn path(&self) -> &str {
        &self.text[self.path_start as usize..self.path_end as usize]
    }

    /// The query without its `?`; never empty.
    pub fn query(&self) -> Option<&str> {
        self.text.get(self.path_end as usize + 1..)
    }

    /// From the first slash of the path on.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start as usize..]
    }

    /// The key under which a store sorts it.
    pub fn key(&self) -> UrlKey {
        UrlKey::of(self)
    }

    /// Scheme, host and port.
    pub fn host_key(&self) -> HostKey {
        HostKey::of(self)
    }

    /// The registered domain, or the host where there is none.
    pub fn site(&self) -> Site {
        Site::of_host(self.host())
    }

    /// The form by which web archives sort.
    pub fn surt(&self) -> Surt {
        Surt::of(self)
    }

    /// A fingerprint of the canonical text, for filters in memory.
    pub fn fingerprint(&self, seed: u64) -> u128 {
        fingerprint(&self.text, seed)
    }
}

fn fingerprint(text: &str, seed: u64) -> u128 {
    xxhash_rust::xxh3::xxh3_128_with_seed(text.as_bytes(), seed)
}

impl PartialEq for Url {
    fn eq(&self, other: &Url) -> bool {
        self.text == other.text
    }
}

impl Eq for Url {}

impl PartialOrd for Url {
    fn partial_cmp(&self, other: &Url) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Url {
    fn cmp(&self, other: &Url) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Url {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({})", self.text)
    }
}

impl std::str::FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Url, UrlError> {
        Url::parse(text)
    }
}

impl Serialize for Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
        let text = Box::<str>::deserialize(deserializer)?;
        Url::from_canonical(text).ok_or_else(|| serde::de::Error::custom("not a canonical URL"))
    }
}
