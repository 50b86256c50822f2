//! A raw DEFLATE encoder (RFC 1951) made for speed on web pages.
//!
//! What such an encoder spends its time on is mispredicted branches, so this one looks for few and
//! long matches, and goes from them to bits in straight lines: the matcher writes literals and
//! matches into one row of tokens, and the block writer counts and writes them all in the same way.

mod bits;
mod block;
mod huffman;
mod matcher;
#[cfg(test)]
mod tests;

use bits::Bits;
use matcher::Matcher;

/// An encoder and its buffers, kept from record to record. What it writes depends on the input
/// alone, not on what came before.
#[derive(Default)]
pub(crate) struct Deflater {
    matcher: Matcher,
}

impl Deflater {
    /// Appends one complete stream, longer than the input by no more than 10 bytes and 5 for each
    /// 32 KiB.
    pub(crate) fn deflate(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + block::bound(input.len()), 0);
        self.matcher.reset();
        let mut bits = Bits::new(&mut out[start..]);
        let mut rest = input;
        loop {
            let (block, after) = rest.split_at(self.matcher.block(rest));
            block::write(&mut bits, block, self.matcher.tokens(), after.is_empty());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        let length = bits.finish().len();
        out.truncate(start + length);
    }
}
