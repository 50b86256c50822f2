//! Visible text, and its fingerprint.
//!
//! White space is folded as a browser folds it: a run of it is one space, what stands between
//! blocks is one line feed, and none stands at the ends. The fingerprint is taken of exactly these
//! bytes while they stream by, so two pages that differ in markup alone have the same one, and
//! nothing of the page's size is allocated for it.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// Bytes gathered before they are hashed: a call per word would cost more than the hash.
const CHUNK_BYTES: usize = 4096;

/// What tells one visible text from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextFingerprint {
    /// xxh3 of the folded text.
    pub hash: u128,
    /// Its length in bytes.
    pub bytes: u64,
}

impl TextFingerprint {
    /// Of a text as it stands.
    pub fn of(text: &str) -> TextFingerprint {
        TextFingerprint { hash: xxh3_128(text.as_bytes()), bytes: text.len() as u64 }
    }
}

/// Takes in text as it comes and folds it.
pub(super) struct VisibleText {
    buffer: String,
    /// Whether the buffer keeps the whole text, or only the last of it.
    keeps: bool,
    hasher: Xxh3Default,
    hashed_bytes: u64,
    gap: Gap,
}

/// What must be written before the next word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Break,
}

impl VisibleText {
    pub(super) fn new(keeps: bool) -> VisibleText {
        VisibleText {
            buffer: String::new(),
            keeps,
            hasher: Xxh3Default::new(),
            hashed_bytes: 0,
            gap: Gap::Nothing,
        }
    }

    /// A block begins or ends here.
    #[inline]
    pub(super) fn block(&mut self) {
        self.gap = Gap::Break;
    }

    /// Takes in the white space that `text` begins with; the rest of it.
    #[inline]
    pub(super) fn skip_blank<'t>(&mut self, text: &'t str) -> &'t str {
        let (blank, rest) = text.split_at(blank_run_end(text.as_bytes()));
        // A NUL is dropped, as the tree builder would; other control characters are white space.
        if self.gap == Gap::Nothing && blank.bytes().any(|byte| byte != 0) {
            self.gap = Gap::Space;
        }
        rest
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        let mut rest = self.skip_blank(text);
        while !rest.is_empty() {
            let (run, after) = rest.split_at(folded_run_end(rest.as_bytes()));
            self.write(run);
            rest = self.skip_blank(after);
        }
    }

    fn write(&mut self, run: &str) {
        // Made room for by the first word: not every reader wants the text.
        if self.buffer.capacity() == 0 {
            self.buffer.reserve(CHUNK_BYTES * 2);
        }
        if self.gap != Gap::Nothing && (self.hashed_bytes > 0 || !self.buffer.is_empty()) {
            self.buffer.push(if self.gap == Gap::Break { '\n' } else { ' ' });
        }
        self.gap = Gap::Nothing;
        if self.keeps || run.len() < CHUNK_BYTES {
            self.buffer.push_str(run);
            if !self.keeps && self.buffer.len() >= CHUNK_BYTES {
                self.flush();
            }
        } else {
            self.flush();
            self.hash(run.as_bytes());
        }
    }

    fn flush(&mut self) {
        self.hasher.update(self.buffer.as_bytes());
        self.hashed_bytes += self.buffer.len() as u64;
        self.buffer.clear();
    }

    fn hash(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.hashed_bytes += bytes.len() as u64;
    }

    /// The fingerprint, and the text if it was kept (else nothing of use).
    pub(super) fn finish(mut self) -> (TextFingerprint, String) {
        let text = std::mem::take(&mut self.buffer);
        self.hash(text.as_bytes());
        (TextFingerprint { hash: self.hasher.digest128(), bytes: self.hashed_bytes }, text)
    }
}

/// Bytes looked at together, without a branch for each: pages are indented, and words are short.
const LANES: usize = 16;

/// The end of the white space that `bytes` begin with.
#[inline]
pub fn blank_run_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(lanes) = bytes[at..].first_chunk::<LANES>() {
        if lanes.iter().fold(0, |most, &byte| byte.max(most)) > b' ' {
            break;
        }
        at += LANES;
    }
    while at < bytes.len() && bytes[at] <= b' ' {
        at += 1;
    }
    at
}

/// The end of the longest run at the front that is folded already: words with single spaces between
/// them. The first byte is no white space.
#[inline]
pub fn folded_run_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(lanes) = bytes[at..].first_chunk::<LANES>()
        && let Some(nexts) = bytes[at + 1..].first_chunk::<LANES>()
    {
        let is_unfolded = |byte: u8, next: u8| (byte < b' ') | ((byte == b' ') & (next <= b' '));
        let found =
            lanes.iter().zip(nexts).fold(0, |found, (&b, &n)| found | u8::from(is_unfolded(b, n)));
        if found != 0 {
            break;
        }
        at += LANES;
    }
    loop {
        while at < bytes.len() && bytes[at] > b' ' {
            at += 1;
        }
        if at + 1 < bytes.len() && bytes[at] == b' ' && bytes[at + 1] > b' ' {
            at += 2;
        } else {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_folds_and_the_fingerprint_is_that_of_the_folded_text() {
        let long = "word ".repeat(3 * CHUNK_BYTES);
        let unbroken = "x".repeat(2 * CHUNK_BYTES);
        let mut kept = VisibleText::new(true);
        let mut streamed = VisibleText::new(false);
        for text in [&mut kept, &mut streamed] {
            text.push(" \n a  b\tc ");
            text.push("d");
            text.block();
            text.push("\0 e");
            text.push(&long);
            text.push(&unbroken);
            text.block();
        }
        let (fingerprint, text) = kept.finish();
        assert!(text.starts_with("a b c d\neword word word"));
        assert!(text.ends_with(&format!("word {unbroken}")));
        assert_eq!(fingerprint.hash, xxhash_rust::xxh3::xxh3_128(text.as_bytes()));
        assert_eq!(fingerprint.bytes, text.len() as u64);
        assert_eq!(streamed.finish().0, fingerprint);
    }
}
