//! Values as bytes: a version, then postcard. A row of another version is refused, not guessed.

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::near::Leader;
use rhumb_neardup::Sketch;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of every row this program writes.
pub const ROW_VERSION: u8 = 1;

/// Writes a value behind what is there.
pub fn encode_into<T: Serialize>(value: &T) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
    |mut bytes| {
        bytes.push(ROW_VERSION);
        postcard::to_extend(value, bytes).expect("rows are plain data and always encode")
    }
}

pub fn decode<'a, T: Deserialize<'a>>(what: &str, bytes: &'a [u8]) -> Result<T, Error> {
    match bytes.split_first() {
        Some((&ROW_VERSION, rest)) => postcard::from_bytes(rest)
            .map_err(|e| Error::new(ErrorKind::Corrupt, format!("{what} row cannot be read: {e}"))),
        Some((version, _)) => Err(Error::new(
            ErrorKind::Invalid,
            format!("{what} row has version {version}, this program reads {ROW_VERSION}"),
        )),
        None => Err(Error::new(ErrorKind::Corrupt, format!("{what} row is empty"))),
    }
}

/// A leader's URL and sketch.
pub fn encode_leader_into(leader: &Leader) -> impl FnOnce(Vec<u8>) -> Vec<u8> {
    |bytes| encode_into(&(&leader.url, leader.sketch.to_bytes().as_slice()))(bytes)
}

pub fn decode_leader(bytes: &[u8]) -> Result<Leader, Error> {
    let (url, sketch): (Url, &[u8]) = decode("leader", bytes)?;
    let sketch = Sketch::from_bytes(sketch)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "leader row has half a sketch"))?;
    Ok(Leader { url, sketch: Arc::new(sketch) })
}
