//! The link graph: for each page the pages it links to, ascending.
//!
//! Three byte strings, the same in memory and on disk. `lists`: the coded links of page after
//! page, of those that have any. `blocks`: for every 64 pages a bit each that says who has links,
//! where their lists begin, and how many pages before them have one (20 bytes). `offsets`: how far
//! behind its block's beginning a list begins (2 bytes). A list that begins further away than two
//! bytes can say is named in `far`. Most pages of the web have no links, so the index costs one to
//! two bytes a page, and a list is found by two reads.
//!
//! Invariant: every list decodes to ascending pages of the graph.
//! [`GraphWriter`](crate::GraphWriter) makes it so, and [`file`](crate::file) checks every list
//! before it hands out a graph.

use std::slice;

use crate::PageNumber;
use crate::gaps;
use crate::mapped::Bytes;

/// Pages of a block: the bits of a word.
pub(crate) const BLOCK: usize = 64;
pub(crate) const BLOCK_BYTES: usize = 20;
/// The offset that sends the reader to `far`.
pub(crate) const FAR: u16 = u16::MAX;

/// Who links to whom, in memory or mapped from a file.
#[derive(Debug)]
pub struct Graph {
    pub(crate) pages: u32,
    pub(crate) links: u64,
    pub(crate) lists: Bytes,
    pub(crate) blocks: Bytes,
    pub(crate) offsets: Bytes,
    pub(crate) far: Vec<(PageNumber, u64)>,
}

impl Graph {
    /// A graph of a few pages, each with its links in any order; repeats and links of a page to
    /// itself are left out, as everywhere.
    pub fn of(lists: &[&[PageNumber]]) -> Graph {
        let mut writer = crate::GraphWriter::in_memory();
        for (page, targets) in (0..).zip(lists) {
            let mut targets: Vec<PageNumber> =
                targets.iter().copied().filter(|t| *t != page).collect();
            targets.sort_unstable();
            targets.dedup();
            writer.push(&targets).expect("memory does not fail");
        }
        writer.finish().expect("links lead to pages of the graph")
    }

    /// How many pages there are, linked or not.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// How many links there are.
    pub fn links(&self) -> u64 {
        self.links
    }

    /// Bytes of everything, index included.
    pub fn bytes(&self) -> usize {
        self.lists.len() + self.blocks.len() + self.offsets.len() + self.far.len() * 12
    }

    /// Where a page links to, ascending. The page must exist.
    #[inline]
    pub fn links_of(&self, page: PageNumber) -> PageLinks<'_> {
        let Some(start) = self.start(page) else {
            return PageLinks { bytes: [].iter(), left: 0, at: Place::First(page) };
        };
        let mut bytes = self.lists[start..].iter();
        let left = number(&mut bytes) as u32;
        PageLinks { bytes, left, at: Place::First(page) }
    }

    /// How many pages a page links to.
    #[inline]
    pub fn degree(&self, page: PageNumber) -> u32 {
        self.start(page).map_or(0, |start| number(&mut self.lists[start..].iter()) as u32)
    }

    /// How many pages link to each.
    pub fn in_degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.pages as usize];
        for page in 0..self.pages {
            for target in self.links_of(page) {
                degrees[target as usize] += 1;
            }
        }
        degrees
    }

    /// Where a page's list begins, if it has one.
    #[inline]
    pub(crate) fn start(&self, page: PageNumber) -> Option<usize> {
        assert!(page < self.pages, "a page of this graph");
        let block = page as usize / BLOCK * BLOCK_BYTES;
        let block = Block::read(&self.blocks[block..block + BLOCK_BYTES]);
        let bit = 1u64 << (page as usize % BLOCK);
        if block.listed & bit == 0 {
            return None;
        }
        let nth = 2 * (block.before + (block.listed & (bit - 1)).count_ones()) as usize;
        let offset = u16::from_le_bytes([self.offsets[nth], self.offsets[nth + 1]]);
        if offset == FAR {
            return Some(self.far_start(page));
        }
        Some(block.start as usize + usize::from(offset))
    }

    #[cold]
    fn far_start(&self, page: PageNumber) -> usize {
        let at = self.far.binary_search_by_key(&page, |far| far.0);
        at.map(|at| self.far[at].1 as usize).expect("whoever is far is listed")
    }
}

/// What 64 pages share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    /// A bit for each page that has links.
    pub listed: u64,
    pub start: u64,
    pub before: u32,
}

impl Block {
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Block {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
        let before = u32::from_le_bytes(bytes[16..20].try_into().expect("four"));
        Block { listed: word(0), start: word(8), before }
    }

    pub(crate) fn bytes(self) -> [u8; BLOCK_BYTES] {
        let mut bytes = [0; BLOCK_BYTES];
        bytes[..8].copy_from_slice(&self.listed.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.start.to_le_bytes());
        bytes[16..].copy_from_slice(&self.before.to_le_bytes());
        bytes
    }
}

/// The links of one page, decoded on the way.
#[derive(Clone, Debug)]
pub struct PageLinks<'a> {
    bytes: slice::Iter<'a, u8>,
    left: u32,
    at: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    /// Nothing is read yet of the list of this page.
    First(PageNumber),
    /// The least page that may come next.
    Next(PageNumber),
}

impl Iterator for PageLinks<'_> {
    type Item = PageNumber;

    #[inline]
    fn next(&mut self) -> Option<PageNumber> {
        self.left = self.left.checked_sub(1)?;
        let number = number(&mut self.bytes);
        let target = match self.at {
            Place::First(page) => (gaps::unfolded(number) + i64::from(page)) as PageNumber,
            Place::Next(least) => least + number as PageNumber,
        };
        self.at = Place::Next(target + 1);
        Some(target)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for PageLinks<'_> {}

/// Most numbers are one byte long. Lists are whole, so what comes behind the end does not matter.
#[inline]
fn number(bytes: &mut slice::Iter<'_, u8>) -> u64 {
    let first = bytes.next().map_or(0, |byte| u64::from(*byte));
    if first < 0x80 { first } else { longer(first & 0x7f, bytes) }
}

#[inline]
fn longer(mut number: u64, bytes: &mut slice::Iter<'_, u8>) -> u64 {
    let mut shift = 7;
    for &byte in bytes {
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphWriter;

    #[test]
    fn every_list_comes_back_also_behind_a_page_with_very_many_links() {
        let mut writer = GraphWriter::in_memory();
        // Gaps of two bytes: the lists behind this page begin further away than an offset says.
        let many: Vec<PageNumber> = (0..35_000).map(|n| n * 130).collect();
        let list = |page: PageNumber| -> Vec<PageNumber> {
            match page {
                3 => many.clone(),
                _ if page.is_multiple_of(5) => Vec::new(),
                _ => (0..page % 7).map(|n| n * page + n + 1).collect(),
            }
        };
        for page in 0..1000 {
            writer.push(&list(page)).unwrap();
        }
        writer.pad_to(4_600_000).unwrap();
        let graph = writer.finish().unwrap();
        assert_eq!((graph.pages(), graph.far.len()), (4_600_000, 40));
        for page in 0..1000 {
            assert_eq!(graph.links_of(page).collect::<Vec<_>>(), list(page), "{page}");
            assert_eq!(graph.degree(page) as usize, list(page).len());
        }
        assert_eq!(graph.links(), (0..1000).map(|page| list(page).len() as u64).sum());
        assert_eq!(graph.degree(4_599_999), 0);
    }

    #[test]
    fn links_to_oneself_and_repeated_links_are_left_out() {
        let graph = Graph::of(&[&[2, 0, 1, 2], &[], &[0]]);
        assert_eq!(graph.links_of(0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((graph.links(), graph.in_degrees()), (3, vec![1, 1, 1]));
        assert_eq!(Graph::of(&[]).pages(), 0);
    }
}
