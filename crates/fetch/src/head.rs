//! The head of a response, read from its kept bytes: case and order are as they were sent.
//!
//! hyper has parsed the same bytes before, so this reader may be simple. It goes by the lines: a
//! line it cannot read is skipped, and of a value folded over lines the first is taken.

use std::borrow::Cow;
use std::time::Duration;

use super::date;

/// A wait longer than this says "never"; it also keeps arithmetic on times safe.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(365 * 86_400);

/// Status line and header lines, with the empty line that ends them.
#[derive(Clone, Copy, Debug)]
pub struct HeadBytes<'a>(&'a [u8]);

/// Retry-After has two forms; only a caller with a clock can compare them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    After(Duration),
    /// Seconds since 1970.
    At(u64),
}

impl<'a> HeadBytes<'a> {
    pub fn new(bytes: &'a [u8]) -> HeadBytes<'a> {
        HeadBytes(bytes)
    }

    pub fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    /// All headers in the order sent, values trimmed.
    pub fn headers(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        lines(self.0).skip(1).filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            let (name, value) = (line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii());
            let is_folded = line[0].is_ascii_whitespace();
            (!is_folded && !name.is_empty()).then_some((name, value))
        })
    }

    /// The first value under a name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    pub fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.headers()
            .filter(move |(given, _)| given.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    pub fn content_type(&self) -> Option<Cow<'a, str>> {
        self.get("content-type").map(text)
    }

    pub fn location(&self) -> Option<Cow<'a, str>> {
        self.get("location").filter(|value| !value.is_empty()).map(text)
    }

    pub fn etag(&self) -> Option<&'a [u8]> {
        self.get("etag").filter(|value| !value.is_empty())
    }

    pub fn last_modified(&self) -> Option<&'a [u8]> {
        self.get("last-modified").filter(|value| !value.is_empty())
    }

    pub fn x_robots_tags(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.all("x-robots-tag").map(text)
    }

    /// All codings in the order applied, over however many lines.
    pub fn content_encoding(&self) -> Cow<'a, str> {
        let mut values = self.all("content-encoding").map(text);
        let first = values.next().unwrap_or_default();
        values.fold(first, |all, next| Cow::Owned(format!("{all}, {next}")))
    }

    pub fn retry_after(&self) -> Option<RetryAfter> {
        let value = text(self.get("retry-after")?);
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
            let seconds = value.parse().unwrap_or(u64::MAX);
            return Some(RetryAfter::After(Duration::from_secs(seconds).min(RETRY_AFTER_MAX)));
        }
        date::parse(value).map(RetryAfter::At)
    }

    /// The status, where the first line has one.
    pub fn status(&self) -> Option<u16> {
        let line = lines(self.0).next()?;
        let code =
            line.split(|b| *b == b' ').find(|field| !field.is_empty() && field[0] != b'H')?;
        std::str::from_utf8(code).ok()?.parse().ok()
    }
}

/// Where the final head lies in the bytes received; interim heads (1xx) may come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub interim: usize,
}

pub(super) fn find(received: &[u8]) -> Option<Found> {
    let mut found = Found { start: 0, end: 0, interim: 0 };
    loop {
        let rest = &received[found.end..];
        found.start = found.end + rest.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        found.end = found.start + end_of_lines(&received[found.start..])?;
        match HeadBytes(&received[found.start..found.end]).status() {
            Some(100..=199) if !is_switch(&received[found.start..found.end]) => found.interim += 1,
            _ => return Some(found),
        }
    }
}

/// 101 is final: hyper hands it out, and nothing of HTTP comes after it.
fn is_switch(head: &[u8]) -> bool {
    HeadBytes(head).status() == Some(101)
}

/// The length up to and with the first empty line.
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find_map(|newline| match &bytes[newline + 1..] {
        [b'\n', ..] => Some(newline + 2),
        [b'\r', b'\n', ..] => Some(newline + 3),
        _ => None,
    })
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    memchr::memchr_iter(b'\n', bytes)
        .chain(std::iter::once(bytes.len()))
        .map(move |end| &bytes[std::mem::replace(&mut from, end + 1)..end])
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty())
}

/// Header values are UTF-8 or, as they once were, Latin-1.
fn text(value: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(value.iter().map(|b| char::from(*b)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 503 Later\r\nX-Robots-Tag: noindex\r\ncontent-TYPE : text/html\r\n\
        Location: /caf\xe9\r\n folded\r\nno colon\r\nx-robots-tag: rhumb: nofollow\r\nETag: \"a\"\r\n\
        Content-Encoding: gzip\r\nContent-Encoding: br\r\nRetry-After: 120\r\n\r\n";

    #[test]
    fn headers_are_found_whatever_their_case_and_odd_lines_are_skipped() {
        let head = HeadBytes::new(HEAD);
        assert_eq!(head.content_type().as_deref(), Some("text/html"));
        assert_eq!(head.location().as_deref(), Some("/café"));
        assert_eq!(head.etag(), Some(&b"\"a\""[..]));
        assert_eq!(head.last_modified(), None);
        assert_eq!(head.x_robots_tags().collect::<Vec<_>>(), ["noindex", "rhumb: nofollow"]);
        assert_eq!(head.content_encoding(), "gzip, br");
        assert_eq!(head.retry_after(), Some(RetryAfter::After(Duration::from_secs(120))));
        assert_eq!(head.headers().count(), 8);
    }

    #[test]
    fn retry_after_is_a_span_or_a_date_or_nothing() {
        let given = |value: &str| {
            let head = format!("HTTP/1.1 429 x\r\nRetry-After: {value}\r\n\r\n");
            HeadBytes::new(head.as_bytes()).retry_after()
        };
        assert_eq!(given("0"), Some(RetryAfter::After(Duration::ZERO)));
        assert_eq!(given("99999999999999999999999"), Some(RetryAfter::After(RETRY_AFTER_MAX)));
        assert_eq!(given("Sun, 06 Nov 1994 08:49:37 GMT"), Some(RetryAfter::At(784_111_777)));
        for nonsense in ["", "-1", "soon", "1.5"] {
            assert_eq!(given(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn the_final_head_is_found_behind_interim_heads_and_empty_lines() {
        let cases: [(&[u8], Option<Found>); 6] = [
            (b"HTTP/1.1 200 OK\r\n\r\nbody", Some(Found { start: 0, end: 19, interim: 0 })),
            (b"\r\nHTTP/1.0 200\n\nx", Some(Found { start: 2, end: 16, interim: 0 })),
            (
                b"HTTP/1.1 103 x\r\nLink: y\r\n\r\nHTTP/1.1 204 n\r\n\r\n",
                Some(Found { start: 27, end: 45, interim: 1 }),
            ),
            (b"HTTP/1.1 101 s\r\n\r\nws", Some(Found { start: 0, end: 18, interim: 0 })),
            (b"HTTP/1.1 200 OK\r\nA: b\r\n", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(find(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }
}
