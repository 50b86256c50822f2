//! Rabin fingerprints of words, cut to 40 bits.
//!
//! M. Rabin, "Fingerprinting by Random Polynomials", 1981; A. Broder, "Some Applications of Rabin's
//! Fingerprinting Method", 1993. A text is a polynomial over GF(2); its fingerprint is the
//! remainder by an irreducible polynomial P of degree 64. Two different texts of n bytes have the
//! same one with a chance of at most 8n / 2^64 over the choice of P.

/// x^64 + x^4 + x^3 + x + 1, which is irreducible; the leading term is left out.
const P: u64 = 0x1b;

/// The fingerprint of bytes.
///
/// ```
/// use rhumb_neardup::reference::rabin::fingerprint;
/// assert_eq!(fingerprint(&[1]), 0b1_0000_0001, "a leading one keeps zeros at the start apart");
/// assert_ne!(fingerprint(b"ab"), fingerprint(b"ba"));
/// ```
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(1, |print, byte| {
        (0..8).rev().fold(print, |print, bit| {
            let carry = if print >> 63 == 1 { P } else { 0 };
            (print << 1 ^ carry) ^ u64::from(byte >> bit & 1)
        })
    })
}

/// The fingerprints of all shingles of w words, each cut to 40 bits as in the notes: fewer bits to
/// sort, and one chance in 10^12 that two differ in vain.
pub fn shingles(words: &[String], w: usize) -> Vec<u64> {
    let print = |words: &[String]| fingerprint(words.join(" ").as_bytes()) & ((1 << 40) - 1);
    match words.len() {
        0 => Vec::new(),
        count if count < w => vec![print(words)],
        _ => words.windows(w).map(print).collect(),
    }
}
