//! Documents on their way into a corpus: signed by whoever has time, added in order.

use super::wide::Wide;
use crate::resemblance::append_set;
use crate::shingle::{exact_hash, fingerprints};
use crate::sketch::Minima;

/// A number of documents in a row, with what the corpus wants to know of them.
#[derive(Default)]
pub struct Block {
    pub(super) documents: Vec<Signed>,
    /// Their sets, one after the other.
    pub(super) prints: Vec<u64>,
}

pub(super) struct Signed {
    pub exact: u128,
    /// Size of its set.
    pub len: u32,
    /// None without words.
    pub sketch: Option<Wide>,
}

impl Block {
    /// With room for texts of so many bytes in all.
    pub fn for_bytes(bytes: usize) -> Block {
        // A shingle begins with every word, and a word takes six bytes or more in most languages.
        Block { documents: Vec::new(), prints: Vec::with_capacity(bytes / 6) }
    }

    /// Drops the documents for which `kept` says so.
    ///
    /// # Panics
    ///
    /// If it does not say so of every document.
    pub fn retain(&mut self, kept: &[bool]) {
        assert_eq!(kept.len(), self.documents.len(), "one answer for each document");
        let (mut start, mut end) = (0, 0);
        for (signed, kept) in self.documents.iter().zip(kept) {
            let len = signed.len as usize;
            if *kept {
                self.prints.copy_within(start..start + len, end);
                end += len;
            }
            start += len;
        }
        self.prints.truncate(end);
        let mut kept = kept.iter();
        self.documents.retain(|_| kept.next().is_some_and(|kept| *kept));
    }

    pub fn len(&self) -> usize {
        self.documents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

/// Signs documents; one for each thread.
pub struct Signer {
    words: usize,
    prints: Vec<u64>,
    ends: Vec<u32>,
}

impl Signer {
    /// With shingles of so many words.
    pub fn new(words: usize) -> Signer {
        Signer { words, prints: Vec::new(), ends: Vec::new() }
    }

    /// Adds a document to a block.
    pub fn sign(&mut self, text: &str, block: &mut Block) {
        self.prints.clear();
        fingerprints(text, self.words, &mut self.prints);
        let exact = exact_hash(&self.prints);
        let len = append_set(&mut self.prints, &mut block.prints, &mut self.ends);
        let set = &block.prints[block.prints.len() - len..];
        let sketch = Minima::of_set(set).map(|minima| Wide::of(&minima));
        block.documents.push(Signed { exact, len: len as u32, sketch });
    }
}
