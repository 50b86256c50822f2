//! An HTTP message as a reader of WARC files needs it: the end of its head, a header, the status,
//! the pieces of a chunked body. It reads any bytes that a server sent and never fails; the client
//! that fetched the message has a stricter parser of its own.

use memchr::memchr;

/// Length of status line and headers with the blank line that ends them; all of it if none does.
pub fn head_len(message: &[u8]) -> usize {
    let mut start = 0;
    while let Some(line_len) = memchr(b'\n', &message[start..]) {
        let end = start + line_len + 1;
        if trimmed(&message[start..end]).is_empty() {
            return end;
        }
        start = end;
    }
    message.len()
}

/// The first header of that name, without white space around it.
pub(crate) fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    head.split(|&byte| byte == b'\n').skip(1).find_map(|line| {
        let colon = memchr(b':', line)?;
        let found = trimmed(&line[..colon]).eq_ignore_ascii_case(name.as_bytes());
        found.then(|| trimmed(&line[colon + 1..]))
    })
}

/// The second word of the status line, whatever it is.
pub(crate) fn status(head: &[u8]) -> &[u8] {
    let line = trimmed(head.split(|&byte| byte == b'\n').next().unwrap_or_default());
    let after_version = memchr(b' ', line).map_or(&[][..], |space| trimmed(&line[space..]));
    let end = memchr(b' ', after_version).unwrap_or(after_version.len());
    &after_version[..end]
}

/// The media type of a Content-Type value: what stands before a semicolon or a blank.
pub(crate) fn media_type(content_type: &[u8]) -> &[u8] {
    let ends = |byte: &u8| *byte == b';' || is_blank(*byte);
    &content_type[..content_type.iter().position(ends).unwrap_or(content_type.len())]
}

/// Is the body in chunks?
pub fn is_chunked(head: &[u8]) -> bool {
    let Some(codings) = header(head, "Transfer-Encoding") else {
        return false;
    };
    codings.split(|&byte| byte == b',').any(|name| trimmed(name).eq_ignore_ascii_case(b"chunked"))
}

/// Hands over the data of each chunk in turn; false if the framing is broken or unfinished.
pub fn each_chunk<'a>(body: &'a [u8], mut take: impl FnMut(&'a [u8])) -> bool {
    let mut rest = body;
    while let Some((chunk, after)) = next_chunk(rest) {
        if chunk.is_empty() {
            return true;
        }
        take(chunk);
        rest = after;
    }
    false
}

/// One chunk and what follows it; an empty one is the last.
fn next_chunk(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let line_len = memchr(b'\n', body)?;
    let size = chunk_size(&body[..line_len])?;
    let (chunk, after) = body[line_len + 1..].split_at_checked(size)?;
    let after = if size == 0 { after } else { after.strip_prefix(b"\r\n")? };
    Some((chunk, after))
}

fn chunk_size(line: &[u8]) -> Option<usize> {
    let digits = trimmed(&line[..memchr(b';', line).unwrap_or(line.len())]);
    let digits = std::str::from_utf8(digits).ok()?;
    if digits.starts_with('+') {
        return None;
    }
    usize::from_str_radix(digits, 16).ok()
}

fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

/// White space as archive tools take it, which is more than HTTP's.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r' | 0x1c..=0x1f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_ends_at_the_first_blank_line_however_it_is_written() {
        let cases: [(&[u8], usize); 6] = [
            (b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n", 25),
            (b"HTTP/1.1 200 OK\nA: b\n\nbody", 22),
            (b"HTTP/1.1 200 OK\r\n \t\r\nbody", 21),
            (b"\r\nHTTP/1.1 200 OK", 2),
            (b"HTTP/1.1 200 OK\r\nA: b", 21),
            (b"", 0),
        ];
        for (message, expected) in cases {
            assert_eq!(head_len(message), expected, "{}", message.escape_ascii());
        }
    }

    #[test]
    fn odd_heads_are_read() {
        let head = b"HTTP/1.1  404\r\ncoNTent-TyPe :\ttext/html;charset=x\r\nnocolon\r\n\r\n";
        assert_eq!(status(head), b"404");
        assert_eq!(header(head, "Content-Type").map(media_type), Some(&b"text/html"[..]));
        assert_eq!(header(head, "nocolon"), None);
        assert_eq!(status(b"ICY\r\n"), b"");
    }

    #[test]
    fn chunks_are_the_data_alone_and_broken_framing_is_noticed() {
        let whole = b"3;ext=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
        let mut data = Vec::new();
        assert!(each_chunk(whole, |chunk| data.extend_from_slice(chunk)));
        assert_eq!(data, b"abc0123456789");
        let broken: [&[u8]; 7] = [
            b"",
            b"3\r\nab",
            b"3\r\nabcd\r\n0\r\n\r\n",
            b"x\r\n",
            b"+3\r\nabc\r\n0\r\n",
            b"3\r\nabc\r\n",
            b"fffffffffffffff\r\nabc",
        ];
        for body in broken {
            assert!(!each_chunk(body, |_| ()), "{}", body.escape_ascii());
        }
    }
}
