//! Percent-escapes, as RFC 3986 has them: shared by canonical URLs, SURT keys and robots rules.

/// The byte that the two hex digits at the start of `digits` stand for.
pub(crate) fn escaped_byte(digits: &[u8]) -> Option<u8> {
    let high = (*digits.first()? as char).to_digit(16)?;
    let low = (*digits.get(1)? as char).to_digit(16)?;
    Some((high * 16 + low) as u8)
}

/// Section 2.3: an escape of one of these means the same as the character.
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Appends the escape of a byte.
pub(crate) fn push_escape(text: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    text.push('%');
    text.push(HEX[usize::from(byte >> 4)] as char);
    text.push(HEX[usize::from(byte & 15)] as char);
}
