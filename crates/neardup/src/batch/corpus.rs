//! All documents of a batch: each different text once, with its sketch, its set and its bands.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::PathBuf;
use std::sync::Arc;

use super::block::DocumentBlock;
use super::error::BatchError;
use super::progress::BatchProgress;
use super::runs::{PARTS, SortRecord, Sorted, Sorter};
use super::sets::{SetPlace, Sets};
use super::wide::Wide;
use crate::bands::Bands;
use crate::shingle;

/// Pairs at the threshold that must meet in a bucket.
const RECALL: f64 = 0.998;

/// How a batch is to run.
#[derive(Clone, Debug)]
pub struct BatchSettings {
    /// Pairs at least this alike are near-duplicates.
    pub threshold: f64,
    /// Words in a shingle.
    pub words: usize,
    /// What sets, keys and pairs may take before they go to disk. Apart from that, a document
    /// takes some 350 bytes.
    pub memory_bytes: usize,
    /// Where temporary files go.
    pub dir: PathBuf,
    /// Threads that work at once.
    pub threads: usize,
}

impl Default for BatchSettings {
    fn default() -> BatchSettings {
        BatchSettings {
            threshold: 0.8,
            words: shingle::WORDS_DEFAULT,
            memory_bytes: 1 << 30,
            dir: std::env::temp_dir(),
            threads: 1,
        }
    }
}

/// Number of a different text, in order of first appearance.
pub type TextId = u32;
/// Number of a document, in order of appearance.
pub type DocumentId = u32;

/// Documents that a batch can number.
const DOCUMENTS_MAX: usize = u32::MAX as usize - 1;

/// All documents of a run, by what is to be known of them.
pub struct Corpus {
    pub(super) settings: BatchSettings,
    pub(super) bands: Bands,
    /// The text of each document; none for one without words.
    texts: Vec<Option<TextId>>,
    /// The first document of each text.
    firsts: Vec<DocumentId>,
    by_hash: HashMap<u128, TextId>,
    pub(super) sketches: Vec<Wide>,
    pub(super) places: Vec<SetPlace>,
    pub(super) sets: Sets,
    /// None once they were used.
    pub(super) keys: Option<Sorter<BandKey>>,
    pub(super) progress: Arc<BatchProgress>,
}

/// A text stands in the bucket of a band.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BandKey {
    pub key: u64,
    pub text: TextId,
}

impl Corpus {
    /// A corpus without documents.
    pub fn new(settings: BatchSettings) -> Corpus {
        let bands = Bands::for_threshold(settings.threshold, RECALL);
        let memory = settings.memory_bytes;
        Corpus {
            bands,
            texts: Vec::new(),
            firsts: Vec::new(),
            by_hash: HashMap::new(),
            sketches: Vec::new(),
            places: Vec::new(),
            sets: Sets::new(&settings.dir, memory / 4),
            keys: Some(keys_of(&settings)),
            progress: Arc::default(),
            settings,
        }
    }

    /// How far the stage is that is at work; to be watched from another thread.
    pub fn progress(&self) -> Arc<BatchProgress> {
        self.progress.clone()
    }

    /// Documents, repeats and empty ones included.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Different texts.
    pub fn texts(&self) -> usize {
        self.firsts.len()
    }

    /// Documents without a single word: they resemble nothing.
    pub fn wordless(&self) -> usize {
        self.texts.iter().filter(|text| text.is_none()).count()
    }

    /// Bytes of sets and keys that went to disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.sets.spilled_bytes()
    }

    /// Bands, and slots in each.
    pub fn bands(&self) -> [usize; 2] {
        [self.bands.count(), self.bands.rows()]
    }

    /// The text of a document; none if it has no words.
    pub fn text_of(&self, document: DocumentId) -> Option<TextId> {
        self.texts[document as usize]
    }

    /// The documents of each text, ascending.
    pub fn copies(&self) -> TextCopies {
        TextCopies::of(&self.texts, self.firsts.len())
    }

    /// Adds the next documents.
    pub fn add(&mut self, block: DocumentBlock) -> Result<(), BatchError> {
        if self.texts.len() + block.len() > DOCUMENTS_MAX {
            return Err(BatchError::too_many(&format!("documents, the most is {DOCUMENTS_MAX}")));
        }
        let mut fresh = Vec::new();
        let (mut start, mut kept) = (0, 0);
        let mut prints = block.prints;
        for signed in block.documents {
            let len = signed.len as usize;
            let Some(sketch) = signed.sketch else {
                // A copy, or a document without words, whose hash no text has.
                self.texts.push(self.by_hash.get(&signed.exact).copied());
                continue;
            };
            let text = self.firsts.len() as TextId;
            match self.by_hash.entry(signed.exact) {
                Slot::Occupied(known) => self.texts.push(Some(*known.get())),
                Slot::Vacant(free) => {
                    free.insert(text);
                    self.firsts.push(self.texts.len() as DocumentId);
                    self.texts.push(Some(text));
                    self.sketches.push(sketch);
                    // Sets of known texts are overwritten by those that follow.
                    if start > kept {
                        prints.copy_within(start..start + len, kept);
                    }
                    kept += len;
                    fresh.push(signed.len);
                    self.push_keys(text)?;
                }
            }
            start += len;
        }
        prints.truncate(kept);
        self.sets.add(prints, fresh.into_iter(), &mut self.places)
    }
}

impl Corpus {
    /// Forgets all keys: the sketches are about to change.
    pub(super) fn renew_keys(&mut self) {
        assert!(self.keys.is_some(), "pairs and links come last");
        self.keys = Some(keys_of(&self.settings));
    }

    pub(super) fn take_keys(&mut self) -> Sorted<BandKey> {
        self.by_hash = HashMap::new();
        self.keys.take().expect("pairs or links are asked for once").finish()
    }
}

fn keys_of(settings: &BatchSettings) -> Sorter<BandKey> {
    Sorter::new(&settings.dir, settings.memory_bytes / 4, BandKey::part, 0)
}

impl BandKey {
    fn part(&self, _: u32) -> usize {
        (self.key >> (u64::BITS - PARTS.trailing_zeros())) as usize
    }
}

/// Which documents are copies of which text.
pub struct TextCopies {
    starts: Vec<u32>,
    documents: Vec<DocumentId>,
}

impl TextCopies {
    fn of(texts: &[Option<TextId>], count: usize) -> TextCopies {
        let mut starts = vec![0u32; count + 2];
        texts.iter().flatten().for_each(|text| starts[*text as usize + 2] += 1);
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut documents = vec![0; starts.last().map_or(0, |total| *total as usize)];
        for (document, text) in texts.iter().enumerate() {
            if let Some(text) = text {
                let at = &mut starts[*text as usize + 1];
                documents[*at as usize] = document as DocumentId;
                *at += 1;
            }
        }
        TextCopies { starts, documents }
    }

    /// The documents that have a text, in the order of their numbers.
    pub fn of_text(&self, text: TextId) -> &[DocumentId] {
        let [start, end] = [self.starts[text as usize], self.starts[text as usize + 1]];
        &self.documents[start as usize..end as usize]
    }
}

impl SortRecord for BandKey {
    const BYTES: usize = 12;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.key.to_le_bytes());
        bytes.extend_from_slice(&self.text.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> BandKey {
        let (key, text) = bytes.split_at(8);
        BandKey { key: number(key), text: number(text) as TextId }
    }
}

/// Little-endian, of at most eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
