//! Writes a graph as BVGraph, the format of the WebGraph tools: three files beside each other.
//!
//! Boldi and Vigna, *The WebGraph framework I: compression techniques* (WWW 2004). `NAME.graph` has
//! each page's out-degree (γ) and its links as gaps (ζ₃; the first from the page itself, folded,
//! the others less one), most significant bit first; `NAME.offsets` where each page begins, as
//! γ-coded gaps; `NAME.properties` the parameters of both.
//!
//! Deviation: of the format's compression only gaps are used. No list refers to an earlier one
//! (`windowsize=0`) and runs of neighbours are not folded (`minintervallength=0`). Every reader
//! knows these parameters; the WebGraph tools can compress the files further.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::Graph;
use crate::error::{GraphError, Result};

/// The k of ζ, as is usual for the web.
const ZETA_K: u32 = 3;
/// What is added to the name.
pub const ENDINGS: [&str; 3] = ["graph", "offsets", "properties"];

/// Writes `NAME.graph`, `NAME.offsets` and `NAME.properties`.
pub fn write(graph: &Graph, name: &Path) -> Result<()> {
    let [lists, offsets, properties] = &ENDINGS.map(|ending| with_ending(name, ending));
    let bits = write_lists(graph, lists, offsets)?;
    let text = described(graph, bits);
    write_whole(properties, &text).map_err(|error| GraphError::from(error).of(properties))
}

/// On the disk before it has its name.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// How many bits the lists take.
fn write_lists(graph: &Graph, lists: &Path, offsets: &Path) -> Result<u64> {
    let (mut lists, mut offsets) = (Bits::create(lists)?, Bits::create(offsets)?);
    offsets.gamma(0)?;
    for page in 0..graph.pages() {
        let began = lists.written;
        let mut links = graph.links_of(page);
        lists.gamma(links.len() as u64)?;
        if let Some(first) = links.next() {
            lists.zeta(folded(i64::from(first) - i64::from(page)))?;
            let mut last = first;
            for target in links {
                lists.zeta(u64::from(target - last - 1))?;
                last = target;
            }
        }
        offsets.gamma(lists.written - began)?;
    }
    offsets.finish()?;
    lists.finish()
}

/// What the tools want to know, in the words that they know.
fn described(graph: &Graph, bits: u64) -> String {
    let (pages, links) = (graph.pages(), graph.links());
    let per_link = bits as f64 / links.max(1) as f64;
    let per_node = bits as f64 / f64::from(pages.max(1));
    format!(
        "#BVGraph properties\n\
         graphclass=it.unimi.dsi.webgraph.BVGraph\n\
         version=0\n\
         endianness=big\n\
         nodes={pages}\n\
         arcs={links}\n\
         windowsize=0\n\
         maxrefcount=0\n\
         minintervallength=0\n\
         zetak={ZETA_K}\n\
         compressionflags=\n\
         bitsperlink={per_link:.3}\n\
         bitspernode={per_node:.3}\n\
         length={bits}\n"
    )
}

/// `NAME.graph` of `NAME` and `graph`.
pub fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut path = name.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    PathBuf::from(path)
}

/// 0, -1, 1, -2, 2, … as 0, 1, 2, 3, 4, …
fn folded(number: i64) -> u64 {
    if number >= 0 { 2 * number as u64 } else { 2 * number.unsigned_abs() - 1 }
}

/// Bits into a file, the most significant first.
struct Bits {
    out: BufWriter<File>,
    /// The low `pending` bits wait for their byte to be full.
    byte: u64,
    pending: u32,
    written: u64,
}

impl Bits {
    fn create(path: &Path) -> Result<Bits> {
        let file = File::create(path).map_err(|error| GraphError::from(error).of(path))?;
        Ok(Bits { out: BufWriter::new(file), byte: 0, pending: 0, written: 0 })
    }

    /// The low `count` bits of a number; at most 56.
    fn put(&mut self, number: u64, count: u32) -> Result<()> {
        debug_assert!(count <= 56 && number >> count == 0, "{number} in {count} bits");
        self.byte = self.byte << count | number;
        self.pending += count;
        self.written += u64::from(count);
        while self.pending >= 8 {
            self.pending -= 8;
            self.out.write_all(&[(self.byte >> self.pending) as u8])?;
        }
        Ok(())
    }

    /// So many zeros, then a one.
    fn unary(&mut self, zeros: u32) -> Result<()> {
        self.put(1, zeros + 1)
    }

    /// Elias' γ of a number from 0: the length of number + 1 in unary, then all but its first bit.
    fn gamma(&mut self, number: u64) -> Result<()> {
        let more = (number + 1).ilog2();
        self.unary(more)?;
        self.put(number + 1 - (1 << more), more)
    }

    /// ζ₃ of a number from 0: which three octaves number + 1 is in, then where in these, those of
    /// the first octave by a bit less.
    fn zeta(&mut self, number: u64) -> Result<()> {
        let number = number + 1;
        let thirds = number.ilog2() / ZETA_K;
        let first = 1 << (thirds * ZETA_K);
        let bits = (thirds + 1) * ZETA_K;
        self.unary(thirds)?;
        if number - first < first {
            self.put(number - first, bits - 1)
        } else {
            self.put(number, bits)
        }
    }

    /// Fills the last byte; how many bits there were.
    fn finish(mut self) -> Result<u64> {
        let written = self.written;
        if self.pending > 0 {
            self.put(0, 8 - self.pending)?;
        }
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GraphWriter, PageNumber};
    use std::fs;

    #[test]
    fn codes_are_those_of_the_papers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bits");
        let mut bits = Bits::create(&path).unwrap();
        // γ: 0 is 1, 1 is 010, 4 is 00101.
        [0, 1, 4].iter().for_each(|n| bits.gamma(*n).unwrap());
        // ζ₃, Boldi and Vigna's table: 1, 2, 7, 8 (one more than here) are 100, 1010, 1111,
        // 01000000.
        [0, 1, 6, 7].iter().for_each(|n| bits.zeta(*n).unwrap());
        assert_eq!(bits.finish().unwrap(), 9 + 3 + 4 + 4 + 7);
        let text: String = fs::read(&path).unwrap().iter().map(|b| format!("{b:08b}")).collect();
        assert_eq!(text, "1010001011001010111101000000".to_owned() + "0000");
    }

    /// Reads the files back, bit by bit, by their definition.
    struct Reader {
        bits: Vec<bool>,
        at: usize,
    }

    impl Reader {
        fn open(path: PathBuf) -> Reader {
            let bytes = fs::read(path).unwrap();
            let bits = bytes.iter().flat_map(|b| (0..8).rev().map(move |n| b >> n & 1 == 1));
            Reader { bits: bits.collect(), at: 0 }
        }

        fn number(&mut self, count: u32) -> u64 {
            let bits = &self.bits[self.at..self.at + count as usize];
            self.at += count as usize;
            bits.iter().fold(0, |number, bit| 2 * number + u64::from(*bit))
        }

        fn unary(&mut self) -> u32 {
            let zeros = self.bits[self.at..].iter().position(|bit| *bit).unwrap();
            self.at += zeros + 1;
            zeros as u32
        }

        fn gamma(&mut self) -> u64 {
            let more = self.unary();
            (1 << more) + self.number(more) - 1
        }

        fn zeta(&mut self) -> u64 {
            let bits = (self.unary() + 1) * ZETA_K;
            let first = 1 << (bits - ZETA_K);
            let short = self.number(bits - 1);
            if short < first { short + first - 1 } else { 2 * short + self.number(1) - 1 }
        }
    }

    #[test]
    fn every_list_can_be_read_back_and_every_offset_is_where_it_begins() {
        let list = |page: u32| -> Vec<PageNumber> {
            let count = if page.is_multiple_of(4) { 0 } else { page % 23 };
            (0..count).map(|n| (n * n * 37 + page * 11 % 7919) % 9000 + n).collect()
        };
        let mut writer = GraphWriter::in_memory();
        let lists: Vec<Vec<PageNumber>> = (0..1000).map(list).map(sorted).collect();
        lists.iter().for_each(|list| writer.push(list).unwrap());
        writer.pad_to(10_000).unwrap();
        let graph = writer.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("small");
        write(&graph, &name).unwrap();
        let mut bits = Reader::open(with_ending(&name, "graph"));
        let mut offsets = Reader::open(with_ending(&name, "offsets"));
        let mut begins = offsets.gamma();
        for page in 0..graph.pages() {
            assert_eq!(bits.at as u64, begins);
            let count = bits.gamma();
            let mut read: Vec<i64> = Vec::new();
            for n in 0..count {
                let code = bits.zeta() as i64;
                let half = if code % 2 == 0 { code / 2 } else { -(code + 1) / 2 };
                let target =
                    if n == 0 { i64::from(page) + half } else { read[n as usize - 1] + code + 1 };
                read.push(target);
            }
            assert!(graph.links_of(page).map(i64::from).eq(read), "{page}");
            begins += offsets.gamma();
        }
        let text = fs::read_to_string(with_ending(&name, "properties")).unwrap();
        assert!(text.contains("nodes=10000\n") && text.contains("zetak=3\n"), "{text}");
    }

    fn sorted(mut list: Vec<PageNumber>) -> Vec<PageNumber> {
        list.sort_unstable();
        list.dedup();
        list
    }
}
