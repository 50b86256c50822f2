//! What stands in a partition's database, as bytes.
//!
//! | key | value |
//! |---|---|
//! | `E` | the epoch, who opened it, and the format of all other rows |
//! | `G` | what whoever owns the partition keeps beside its commits |
//! | `J`, number of its first commit | frames of the journal, with the end of the archive |
//! | `M` | the last commit whose rows stand behind `R` |
//! | `R`, table, key | a row of the local store |
//! | `W`, name of a WARC file | its length, until the whole file is in the store |
//!
//! Rows behind `R` may be newer than `M`, as they are written in several batches: rows are whole
//! values, so these rows, and behind them the frames from `M` on, give the exact state.

use crate::error::format_error;
use bytes::Bytes;
use rhumb_engine::error::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

pub const EPOCH: &[u8] = b"E";
pub const KEPT: &[u8] = b"G";
pub const MARK: &[u8] = b"M";
pub const CHUNKS: &[u8] = b"J";
pub const ROWS: &[u8] = b"R";
pub const FILES: &[u8] = b"W";

/// The version of these values, first of all.
const VERSION: u8 = 1;
/// Frames are packed once, and read after a machine was lost: speed counts.
const ZSTD_LEVEL: i32 = 1;
/// Raw bytes of frames in one chunk, at most; a single commit may exceed it.
pub const CHUNK_BYTES_MAX: usize = 8 << 20;

/// An opening of the partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    pub epoch: u64,
    /// The node's name.
    pub node: String,
    /// Unlike that of any other opening.
    pub number: u64,
    /// Of the rows, as the local store calls it.
    pub format: String,
}

/// Up to where the archive was put: the file that was being written, and so many of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveEnd {
    /// Empty while nothing was kept.
    pub file: String,
    pub length: u64,
}

/// What is said of frames beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkHead {
    pub epoch: u64,
    pub first: u64,
    pub last: u64,
    /// All that the frames speak of lies before it.
    pub archive: ArchiveEnd,
}

pub fn chunk_key(first: u64) -> Vec<u8> {
    [CHUNKS, &first.to_be_bytes()].concat()
}

pub fn row_key(table: u8, key: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROWS.len() + 1 + key.len());
    bytes.extend_from_slice(ROWS);
    bytes.push(table);
    bytes.extend_from_slice(key);
    bytes
}

/// The table and the key of a row.
pub fn row_of(key: &[u8]) -> Option<(u8, &[u8])> {
    let (table, key) = key.strip_prefix(ROWS)?.split_first()?;
    Some((*table, key))
}

pub fn file_key(name: &str) -> Vec<u8> {
    [FILES, name.as_bytes()].concat()
}

pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![VERSION]).expect("plain data always encodes")
}

pub fn decode<'a, T: Deserialize<'a>>(what: &str, bytes: &'a [u8]) -> Result<T, Error> {
    decode_first(what, bytes).map(|(value, _)| value)
}

fn decode_first<'a, T: Deserialize<'a>>(
    what: &str,
    bytes: &'a [u8],
) -> Result<(T, &'a [u8]), Error> {
    match bytes.split_first() {
        Some((&VERSION, rest)) => postcard::take_from_bytes(rest).map_err(|e| damaged(what, &e)),
        Some((version, _)) => Err(format_error(&format!("{what} has version {version}"))),
        None => Err(damaged(what, &"it is empty")),
    }
}

/// Frames, one behind the other, as the value of a row.
pub fn pack_chunk(head: &ChunkHead, frames: &[u8]) -> Vec<u8> {
    let mut value = encode(head);
    let packed = zstd::bulk::compress(frames, ZSTD_LEVEL).expect("memory can be compressed");
    value.extend_from_slice(&(frames.len() as u64).to_le_bytes());
    value.extend_from_slice(&packed);
    value
}

pub fn chunk_head(value: &[u8]) -> Result<ChunkHead, Error> {
    decode("a chunk of the journal", value)
}

/// The head of a chunk, and its frames.
pub fn unpack_chunk(value: &Bytes) -> Result<(ChunkHead, Vec<u8>), Error> {
    let what = "a chunk of the journal";
    let (head, rest): (ChunkHead, _) = decode_first(what, value)?;
    let (length, packed) =
        rest.split_first_chunk::<8>().ok_or_else(|| damaged(what, &"it is cut short"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let frames = zstd::bulk::decompress(packed, length).map_err(|e| damaged(what, &e))?;
    Ok((head, frames))
}

fn damaged(what: &str, why: &dyn std::fmt::Display) -> Error {
    let what =
        format!("{what} in the partition's database cannot be read: {why}; restore a backup");
    Error::new(ErrorKind::Corrupt, what)
}
