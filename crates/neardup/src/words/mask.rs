//! Which of 64 bytes may belong to a word, as a bit mask.
//!
//! A byte *may* if it is an ASCII letter or digit, or any byte of a character beyond ASCII, of
//! which only its character can tell. Written so that the compiler classifies sixteen bytes or more
//! at a time with what every machine of its kind has (SSE2, NEON); no detection at run time, and no
//! unsafe code. Of the time that a signature takes, this is a tenth.

/// Bytes that one mask tells of.
pub const BLOCK: usize = 64;

/// Bit i is byte i.
#[inline(always)]
pub fn of(block: &[u8; BLOCK]) -> u64 {
    let marked = block.map(marked);
    let (lanes, _) = marked.as_chunks::<8>();
    let mut mask = 0;
    for (at, lane) in lanes.iter().enumerate() {
        mask |= highest_bits(u64::from_le_bytes(*lane)) << (8 * at);
    }
    mask
}

/// The highest bit is set for a byte that may belong to a word.
#[inline(always)]
fn marked(byte: u8) -> u8 {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    if letter | digit { 0x80 } else { byte & 0x80 }
}

/// The highest bits of eight bytes, gathered into one byte by a multiplication.
#[inline(always)]
fn highest_bits(bytes: u64) -> u64 {
    (bytes >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_in_every_place_is_classified_as_by_its_definition() {
        for place in 0..BLOCK {
            for byte in 0..=255u8 {
                let mut block = [b' '; BLOCK];
                block[place] = byte;
                let expected = u64::from(byte.is_ascii_alphanumeric() || byte >= 128) << place;
                assert_eq!(of(&block), expected, "byte {byte} at {place}");
                let inverse = block.map(|byte| if byte == b' ' { b'x' } else { b' ' });
                assert_eq!(
                    of(&inverse),
                    !of(&inverse.map(|b| if b == b'x' { b' ' } else { b'x' }))
                );
            }
        }
    }
}
