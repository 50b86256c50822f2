//! From bytes to keys and values, as leniently as Google's parser: any line end, comments, blanks,
//! a missing colon, a byte order mark, and the misspellings that webmasters really make.

use memchr::{memchr, memchr2};

/// Bytes read of a robots.txt; RFC 9309 asks for at least 500 KiB.
pub const ROBOTS_BYTES_MAX: usize = 512 * 1024;

/// Bytes read of one line: as many as Google's parser reads, which is eight times the longest URL
/// of old browsers less the byte that ends its buffer.
pub const LINE_BYTES_MAX: usize = 2083 * 8 - 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// What keys begin with, in lower case; the odd spellings are those Google takes.
const KEYS: &[(&str, Key)] = &[
    ("user-agent", Key::UserAgent),
    ("useragent", Key::UserAgent),
    ("user agent", Key::UserAgent),
    ("allow", Key::Allow),
    ("disallow", Key::Disallow),
    ("dissallow", Key::Disallow),
    ("dissalow", Key::Disallow),
    ("disalow", Key::Disallow),
    ("diasllow", Key::Disallow),
    ("disallaw", Key::Disallow),
    ("crawl-delay", Key::CrawlDelay),
    ("crawldelay", Key::CrawlDelay),
    ("crawl delay", Key::CrawlDelay),
    ("sitemap", Key::Sitemap),
    ("site-map", Key::Sitemap),
];

/// The lines with a known key: number from 1, key, value without blanks around it.
pub(super) fn lines(body: &[u8]) -> impl Iterator<Item = (u32, Key, &[u8])> {
    let mut rest = without_mark(within_limit(body));
    let mut number = 0;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let line = take_line(&mut rest);
            number += 1;
            if let Some((key, value)) = key_and_value(line) {
                return Some((number, key, value));
            }
        }
        None
    })
}

/// Cuts a long body after its last whole line, so that no half rule is obeyed.
fn within_limit(body: &[u8]) -> &[u8] {
    let Some(head) = body.get(..ROBOTS_BYTES_MAX).filter(|_| body.len() > ROBOTS_BYTES_MAX) else {
        return body;
    };
    &head[..memchr::memrchr2(b'\n', b'\r', head).unwrap_or(head.len())]
}

/// Drops a UTF-8 byte order mark, also a part of one.
fn without_mark(body: &[u8]) -> &[u8] {
    let same = b"\xEF\xBB\xBF".iter().zip(body).take_while(|(mark, byte)| mark == byte).count();
    &body[same..]
}

/// Takes the first line off `rest`; it ends in LF, CR or CR LF.
fn take_line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let (line, after) = rest.split_at(end);
    *rest = match after {
        [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
        [] => after,
    };
    &line[..line.len().min(LINE_BYTES_MAX)]
}

fn key_and_value(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = &line[..memchr2(b'#', 0, line).unwrap_or(line.len())];
    let line = line.trim_ascii();
    let (key, value) = match memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => split_at_blank(line)?,
    };
    Some((known_key(key.trim_ascii())?, value.trim_ascii()))
}

/// Without a colon, a line is read if it has exactly two words.
fn split_at_blank(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = line.split_at(memchr2(b' ', b'\t', line)?);
    let value = value.trim_ascii_start();
    memchr2(b' ', b'\t', value).is_none().then_some((key, value))
}

fn known_key(key: &[u8]) -> Option<Key> {
    KEYS.iter()
        .find(|(name, _)| {
            key.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        })
        .map(|(_, key)| *key)
}
