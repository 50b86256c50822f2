//! Bits into bytes, the first one lowest.

pub(super) struct Bits<'a> {
    out: &'a mut [u8],
    at: usize,
    buffer: u64,
    filled: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Bits<'a> {
        Bits { out, at: 0, buffer: 0, filled: 0 }
    }

    /// After a flush there is room for 56 bits.
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.buffer |= bits << self.filled;
        self.filled += count;
    }

    /// Moves all whole bytes out: without a branch, by writing those that are not whole too.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.buffer.to_le_bytes());
        self.at += self.filled as usize / 8;
        self.buffer >>= self.filled & 56;
        self.filled &= 7;
    }

    /// Fills the last byte up and writes whole ones.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.filled = self.filled.next_multiple_of(8);
        self.flush();
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    pub(super) fn finish(mut self) -> &'a [u8] {
        self.bytes(&[]);
        &self.out[..self.at]
    }
}
