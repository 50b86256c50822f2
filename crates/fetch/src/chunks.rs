//! Where a chunked body ends (RFC 9112, section 7.1).
//!
//! hyper reads the chunks and does not say how many bytes they took. What a server sends behind the
//! last one is no part of the message: in an archive it would be a response that nobody asked for.

use memchr::memchr;

/// The length of a whole chunked body, trailers and the empty line behind them included. None if it
/// is not whole, or not written as hyper reads it.
pub(super) fn chunked_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let (line, next) = line_at(bytes, at)?;
        let size = chunk_size(line)?;
        at = next;
        if size == 0 {
            break;
        }
        at = at.checked_add(size)?;
        if bytes.get(at..at + 2)? != b"\r\n" {
            return None;
        }
        at += 2;
    }
    loop {
        let (line, next) = line_at(bytes, at)?;
        at = next;
        if line.is_empty() {
            return Some(at);
        }
    }
}

/// The line that begins there, without its end, and where the next one begins.
fn line_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let length = memchr(b'\n', rest)?;
    let line = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
    Some((line, at + length + 1))
}

fn chunk_size(line: &[u8]) -> Option<usize> {
    let size = line.split(|byte| matches!(byte, b';' | b' ' | b'\t')).next()?;
    usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunked_body_ends_behind_its_trailers() {
        for whole in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "5;a=b\r\nhello\r\n02 ; c\r\n\r\n\r\n000;e\r\nX-After: 1\r\nY: 2\r\n\r\n",
            "A\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
        ] {
            assert_eq!(chunked_len(whole.as_bytes()), Some(whole.len()), "{whole:?}");
            let followed = format!("{whole}HTTP/1.1 200 OK\r\n\r\n");
            assert_eq!(chunked_len(followed.as_bytes()), Some(whole.len()), "{followed:?}");
            for cut in 0..whole.len() {
                assert_eq!(chunked_len(&whole.as_bytes()[..cut]), None, "{whole:?} cut at {cut}");
            }
        }
        for wrong in [
            "",
            "hello",
            "-5\r\nhello\r\n0\r\n\r\n",
            "ffffffffffffffff\r\nx",
            "5\r\nhello0\r\n\r\n",
        ] {
            assert_eq!(chunked_len(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
