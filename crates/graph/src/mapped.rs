//! Bytes in memory, or in a file that is mapped into memory.
//!
//! The one module of this crate with `unsafe`. A graph may be larger than memory, and its lists
//! must be read at the speed of memory while the kernel has them cached; a cache of our own would
//! hold the same bytes twice. Mapping is sound as long as the file is neither shortened nor
//! rewritten meanwhile. Our files get their names when they are whole and are never written again.
//! If somebody truncates one by hand, the process ends with a bus error and never computes with
//! wrong numbers.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

use memmap2::Mmap;

#[derive(Clone, Debug)]
pub(crate) enum Bytes {
    Memory(Vec<u8>),
    Mapped { map: Arc<Mmap>, range: Range<usize> },
}

impl Bytes {
    /// Maps a whole file; parts of it are cut out with [`Bytes::part`].
    pub(crate) fn map(file: &File) -> io::Result<Bytes> {
        // SAFETY: the map is only read, as bytes, which may hold anything; see the head for who
        // keeps the file as it is.
        let map = unsafe { Mmap::map(file)? };
        let range = 0..map.len();
        Ok(Bytes::Mapped { map: Arc::new(map), range })
    }

    /// A part of the bytes, or none if they do not reach that far.
    pub(crate) fn part(&self, part: Range<usize>) -> Option<Bytes> {
        if part.start > part.end || part.end > self.len() {
            return None;
        }
        Some(match self {
            Bytes::Memory(bytes) => Bytes::Memory(bytes[part].to_vec()),
            Bytes::Mapped { map, range } => Bytes::Mapped {
                map: Arc::clone(map),
                range: range.start + part.start..range.start + part.end,
            },
        })
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Memory(bytes) => bytes,
            Bytes::Mapped { map, range } => &map[range.clone()],
        }
    }
}
