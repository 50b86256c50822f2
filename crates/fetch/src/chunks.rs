//! What a chunked body is without its chunks, and where it ends (RFC 9112, section 7.1).
//!
//! hyper hands the data over, and with it a body of 64 MB would be held twice: as it came, which
//! the archive wants, and without chunks, which is wanted only while it is read. So the data is
//! made of the bytes when it is asked for. hyper does not say either how many bytes the chunks
//! took. What a server sends behind the last one is no part of the message: in an archive it would
//! be a response that nobody asked for.

use memchr::memchr;

/// The data of a chunked body, as much of it as is there and no more than this. What the chunks
/// are from some point on if they make no sense there, hyper did not take either.
pub(super) fn chunk_data(bytes: &[u8], len_max: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(len_max.min(bytes.len()));
    let mut at = 0;
    while let Some((line, start)) = line_at(bytes, at) {
        let Some(size) = chunk_size(line).filter(|size| *size > 0) else { break };
        let end = start.saturating_add(size);
        let there = &bytes[start..end.min(bytes.len())];
        data.extend_from_slice(&there[..there.len().min(len_max - data.len())]);
        if data.len() == len_max || bytes.get(end..).is_none_or(|rest| !rest.starts_with(b"\r\n")) {
            break;
        }
        at = end + 2;
    }
    data
}

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
                let data = chunk_data(whole.as_bytes(), cut);
                assert!(data.len() <= cut && chunk_data(whole.as_bytes(), 99).starts_with(&data));
                assert_eq!(chunked_len(&whole.as_bytes()[..cut]), None, "{whole:?} cut at {cut}");
            }
        }
        let data = |bytes: &str| String::from_utf8(chunk_data(bytes.as_bytes(), 9)).unwrap();
        assert_eq!(data("5;a=b\r\nhello\r\n02 ; c\r\n\r\n\r\n0\r\n\r\n"), "hello\r\n");
        assert_eq!(data("5\r\nhello\r\n8\r\nand m"), "helloand ");
        assert_eq!(data("5\r\nhe"), "he");
        assert_eq!(data("5\r\nhello\r\nxyz\r\n"), "hello");
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
