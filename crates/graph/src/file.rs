//! A graph on disk, mapped and not read: the three byte strings of [`Graph`] behind a header.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `RLG1` |
//! | 4 | pages, little-endian as all numbers here |
//! | 8 | links |
//! | 8 | bytes of all lists |
//! | 4 | pages that have links |
//! | 4 | number of far lists |
//! | 8 | xxh3 of lists, blocks, offsets, far lists and the fields above |
//! | … | lists, blocks (20 for every 64 pages), offsets (2 a list), far lists (4 + 8 each) |
//!
//! Opening walks through everything once: a file that was cut, or of which one bit is wrong, is
//! refused, and a list that leaves the graph is never handed out.

use std::fs::File;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::error::{GraphError, Result};
use crate::graph::{BLOCK, BLOCK_BYTES, Block, FAR, Graph};
use crate::mapped::Bytes;
use crate::{PAGES_MAX, PageNumber, gaps};

pub(crate) const MAGIC: [u8; 4] = *b"RLG1";
pub(crate) const HEADER_BYTES: usize = 40;
const HASHED_BYTES: usize = 32;
const FAR_BYTES: usize = 12;

pub(crate) struct Header {
    pub pages: u32,
    pub links: u64,
    pub lists_bytes: u64,
    pub listed: u32,
    pub far: u32,
}

impl Header {
    /// Ends the hash of what the file holds with the header's own fields.
    pub fn bytes(&self, hash: &mut Xxh3) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&self.pages.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.links.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.lists_bytes.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.listed.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.far.to_le_bytes());
        hash.update(&bytes[..HASHED_BYTES]);
        bytes[32..40].copy_from_slice(&hash.digest().to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let long = |at: usize| bytes[at..at + 8].try_into().ok().map(u64::from_le_bytes);
        let short = |at: usize| bytes[at..at + 4].try_into().ok().map(u32::from_le_bytes);
        let (pages, listed, far) = (short(4)?, short(24)?, short(28)?);
        let header = Header { pages, links: long(8)?, lists_bytes: long(16)?, listed, far };
        let possible = pages <= PAGES_MAX && listed <= pages && far <= listed;
        (bytes[..4] == MAGIC && possible).then_some(header)
    }

    /// Where each part begins and ends, if the file has room for it all and nothing else.
    fn parts(&self, file_bytes: usize) -> Option<[std::ops::Range<usize>; 4]> {
        let [pages, listed, far] = [self.pages, self.listed, self.far].map(|n| n as usize);
        let lists = usize::try_from(self.lists_bytes).ok().filter(|bytes| *bytes <= file_bytes)?;
        let lengths = [lists, pages.div_ceil(BLOCK) * BLOCK_BYTES, listed * 2, far * FAR_BYTES];
        let mut start = HEADER_BYTES;
        let parts = lengths.map(|length| {
            let part = start..start + length;
            start = part.end;
            part
        });
        (start == file_bytes).then_some(parts)
    }
}

pub(crate) fn far_bytes(far: &[(PageNumber, u64)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(far.len() * FAR_BYTES);
    for (page, start) in far {
        bytes.extend_from_slice(&page.to_le_bytes());
        bytes.extend_from_slice(&start.to_le_bytes());
    }
    bytes
}

/// Maps a graph that [`GraphWriter`](crate::GraphWriter) wrote.
pub fn open(path: &Path) -> Result<Graph> {
    let opened = File::open(path).and_then(|file| Bytes::map(&file));
    let image = opened.map_err(|error| GraphError::from(error).of(path))?;
    graph_of(&image).map_err(|what| GraphError::broken(what).of(path))
}

fn graph_of(image: &Bytes) -> std::result::Result<Graph, &'static str> {
    let header = Header::read(image).ok_or("no link graph of ours")?;
    let parts = header.parts(image.len()).ok_or("its length is not what its head says")?;
    let mut hash = Xxh3::new();
    hash.update(&image[HEADER_BYTES..]);
    if header.bytes(&mut hash)[HASHED_BYTES..] != image[HASHED_BYTES..HEADER_BYTES] {
        return Err("its bytes have changed since they were written");
    }
    let [lists, blocks, offsets, far] = parts.map(|part| image.part(part).expect("inside"));
    let far = far.chunks_exact(FAR_BYTES).map(|entry| {
        let (page, start) = entry.split_at(4);
        let page = PageNumber::from_le_bytes(page.try_into().expect("four bytes"));
        (page, u64::from_le_bytes(start.try_into().expect("eight bytes")))
    });
    let far: Vec<(PageNumber, u64)> = far.collect();
    let graph = Graph { pages: header.pages, links: header.links, lists, blocks, offsets, far };
    check(&graph, header.listed).map(|()| graph)
}

/// Walks the lists and makes the index again: it must be the one in the file.
fn check(graph: &Graph, listed: u32) -> std::result::Result<(), &'static str> {
    let (mut at, mut links, mut before) = (0, 0, 0);
    let mut far = graph.far.iter();
    for (first, bytes) in (0..).step_by(BLOCK).zip(graph.blocks.chunks_exact(BLOCK_BYTES)) {
        let block = Block::read(bytes);
        if block.start != at as u64 || block.before != before {
            return Err("its index points elsewhere");
        }
        for bit in (0..BLOCK as u32).filter(|bit| block.listed >> bit & 1 == 1) {
            let page = first + bit;
            let list = graph.lists.get(at..).filter(|_| page < graph.pages);
            let list = list.and_then(|list| gaps::check_list(list, page, graph.pages));
            let (length, used) = list.ok_or("a list of links leaves the graph")?;
            let offset = u16::try_from(at as u64 - block.start).unwrap_or(FAR);
            let nth = 2 * before as usize;
            if graph.offsets.get(nth..nth + 2) != Some(&offset.to_le_bytes()) {
                return Err("its index points elsewhere");
            }
            if offset == FAR && far.next() != Some(&(page, at as u64)) {
                return Err("a list is missing from its index");
            }
            at += used;
            links += length;
            before += 1;
        }
    }
    if at != graph.lists.len() || links != graph.links || before != listed {
        return Err("it holds other links than its head says");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::GraphWriter;

    #[test]
    fn a_file_gives_the_same_graph_and_any_wrong_byte_or_length_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g.rlg");
        let mut writer = GraphWriter::create(&path).unwrap();
        let lists: [&[PageNumber]; 4] = [&[1, 2, 3], &[], &[0, 3], &[200]];
        for list in lists {
            writer.push(list).unwrap();
        }
        assert!(!path.exists(), "not before it is whole");
        writer.pad_to(201).unwrap();
        let graph = writer.finish().unwrap();
        for (page, list) in (0..).zip(lists) {
            assert_eq!(graph.links_of(page).collect::<Vec<_>>(), list);
        }
        assert_eq!((graph.pages(), graph.links()), (201, 6));
        drop(graph);
        let whole = fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            let path = dir.path().join("broken.rlg");
            fs::write(&path, bytes).unwrap();
            open(&path).is_err()
        };
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            assert!(refused(&bytes), "byte {at}");
            assert!(refused(&whole[..at]), "cut at {at}");
        }
        assert!(refused(&[whole, vec![0]].concat()));
    }
}
