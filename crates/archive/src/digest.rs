//! SHA-1 as WARC and CDXJ write it, `sha1:` and base32. It names payloads for other archive
//! tools; nothing in the crawl relies on it being hard to collide.

use std::fmt;

use data_encoding::BASE32;
use sha1::{Digest, Sha1};

use crate::http::each_chunk;
use crate::sha1_pair::sha1_pair;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sha1Digest(pub [u8; 20]);

impl Sha1Digest {
    pub fn of(bytes: &[u8]) -> Sha1Digest {
        Sha1Digest(Sha1::digest(bytes).into())
    }

    /// Of two texts; it takes little longer than of one.
    pub(crate) fn of_both(texts: [&[u8]; 2]) -> [Sha1Digest; 2] {
        sha1_pair(texts).map(Sha1Digest)
    }

    /// Of a chunked body's data, framing left out; `None` if the framing is not whole.
    pub fn of_chunked(body: &[u8]) -> Option<Sha1Digest> {
        let mut hasher = Sha1::new();
        let whole = each_chunk(body, |chunk| hasher.update(chunk));
        whole.then(|| Sha1Digest(hasher.finalize().into()))
    }

    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Sha1Digest> {
        let bytes = BASE32.decode(text.strip_prefix("sha1:")?.as_bytes()).ok()?;
        Some(Sha1Digest(bytes.try_into().ok()?))
    }
}

impl fmt::Display for Sha1Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 32];
        BASE32.encode_mut(&self.0, &mut text);
        write!(f, "sha1:{}", std::str::from_utf8(&text).expect("base32 is ASCII"))
    }
}
