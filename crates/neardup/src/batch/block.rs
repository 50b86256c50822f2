//! Blocks of documents: signed by any thread, added to the corpus in order.

use super::wide::Wide;
use crate::resemblance::append_set;
use crate::shingle::{exact_hash, fingerprints};
use crate::sketch::Minima;

/// A number of documents in a row, with what the corpus wants to know of them.
#[derive(Default)]
pub struct DocumentBlock {
    pub(super) documents: Vec<Signed>,
    /// Their sets, one after the other.
    pub(super) prints: Vec<u64>,
}

/// The hash of a document and the size of its set, in bytes.
const DOCUMENT_BYTES: usize = 20;

pub(super) struct Signed {
    pub exact: u128,
    /// Size of its set.
    pub len: u32,
    /// None without words.
    pub sketch: Option<Wide>,
}

impl DocumentBlock {
    /// With room for texts of so many bytes in all.
    pub fn for_bytes(bytes: usize) -> DocumentBlock {
        // A shingle begins with every word, and a word takes six bytes or more in most languages.
        DocumentBlock {
            documents: Vec::new(),
            prints: Vec::with_capacity((bytes / 6).min(KEPT_MAX)),
        }
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

    /// Appends what [`DocumentBlock::from_bytes`] makes the same block of.
    pub fn to_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(8 + DOCUMENT_BYTES * self.documents.len() + 8 * self.prints.len());
        bytes.extend_from_slice(&(self.documents.len() as u64).to_le_bytes());
        for signed in &self.documents {
            bytes.extend_from_slice(&signed.exact.to_le_bytes());
            bytes.extend_from_slice(&signed.len.to_le_bytes());
        }
        self.prints.iter().for_each(|print| bytes.extend_from_slice(&print.to_le_bytes()));
    }

    /// None if these are not the bytes of a block.
    pub fn from_bytes(bytes: &[u8]) -> Option<DocumentBlock> {
        let (count, bytes) = bytes.split_first_chunk()?;
        let heads =
            usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(DOCUMENT_BYTES)?;
        let (heads, prints) = bytes.split_at_checked(heads)?;
        let (heads, _) = heads.as_chunks::<DOCUMENT_BYTES>();
        let (prints, rest) = prints.as_chunks();
        let prints: Vec<u64> = prints.iter().map(|print| u64::from_le_bytes(*print)).collect();
        let mut documents = Vec::with_capacity(heads.len());
        let mut left = &prints[..];
        for head in heads {
            let (exact, len) = head.split_first_chunk()?;
            let (exact, len) =
                (u128::from_le_bytes(*exact), u32::from_le_bytes(len.try_into().ok()?));
            let (set, after) = left.split_at_checked(len as usize)?;
            // Not among the bytes: it follows from the set.
            let sketch = Minima::of_set(set).map(|minima| Wide::of(&minima));
            documents.push(Signed { exact, len, sketch });
            left = after;
        }
        (left.is_empty() && rest.is_empty()).then_some(DocumentBlock { documents, prints })
    }

    /// Adds a document whose text stands elsewhere: [`DocumentBlock::is_copy_of`] says where.
    pub fn push_copy(&mut self) {
        self.documents.push(Signed { exact: 0, len: 0, sketch: None });
    }

    /// The hash of a document's text.
    pub fn exact(&self, at: usize) -> u128 {
        self.documents[at].exact
    }

    /// A document that came as a copy has the text of this hash. A corpus that lacks that text
    /// takes the document for one without words.
    pub fn is_copy_of(&mut self, at: usize, exact: u128) {
        let copy = &mut self.documents[at];
        assert!(copy.sketch.is_none(), "a document with a text of its own is no copy");
        copy.exact = exact;
    }

    /// How many documents it has.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether it has no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

/// Fingerprints for which a signer keeps room from document to document.
const KEPT_MAX: usize = 1 << 20;

/// Signs documents; one for each thread.
pub struct DocumentSigner {
    words: usize,
    prints: Vec<u64>,
    ends: Vec<u32>,
}

impl DocumentSigner {
    /// With shingles of so many words.
    pub fn new(words: usize) -> DocumentSigner {
        DocumentSigner { words, prints: Vec::new(), ends: Vec::new() }
    }

    /// Adds a document to a block.
    pub fn sign(&mut self, text: &str, block: &mut DocumentBlock) {
        self.prints.clear();
        fingerprints(text, self.words, &mut self.prints);
        let exact = exact_hash(&self.prints);
        let len = append_set(&mut self.prints, &mut block.prints, &mut self.ends);
        if self.prints.capacity() > KEPT_MAX {
            self.prints = Vec::new();
        }
        let set = &block.prints[block.prints.len() - len..];
        let sketch = Minima::of_set(set).map(|minima| Wide::of(&minima));
        block.documents.push(Signed { exact, len: len as u32, sketch });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_what_its_bytes_say_and_others_are_none() {
        let (mut block, mut signer) = (DocumentBlock::default(), DocumentSigner::new(4));
        for text in ["one two three four five", "", "one", "six seven eight nine ten eleven"] {
            signer.sign(text, &mut block);
        }
        let mut bytes = Vec::new();
        block.to_bytes(&mut bytes);
        let again = DocumentBlock::from_bytes(&bytes).expect("a block");
        let told = |block: &DocumentBlock| -> Vec<_> {
            block.documents.iter().map(|signed| (signed.exact, signed.len, signed.sketch)).collect()
        };
        assert_eq!((told(&again), &again.prints), (told(&block), &block.prints));
        assert!((0..bytes.len()).all(|end| DocumentBlock::from_bytes(&bytes[..end]).is_none()));
        assert!(DocumentBlock::from_bytes(&[&bytes[..], &[0; 8]].concat()).is_none());
        assert!(DocumentBlock::from_bytes(&[0xff; 64]).is_none());
    }
}
