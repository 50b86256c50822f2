//! What one rule matches: a prefix of path and query, `*` for any octets, a final `$` for the end.
//!
//! Rules and paths are compared octet by octet in a common form, in which escapes of unreserved
//! characters are decoded (RFC 9309, 2.2.2): `/%7Ejoe/` and `/~joe/` are one path. Read as Google
//! reads, that is all that is done to a path, and in a rule everything outside ASCII is escaped.
//!
//! Read by the letter, `%2A` and `%24` stand for `*` and `$` (2.2.3). So in that common form `*`
//! and `$` are always escaped where they mean themselves, as is every octet that is neither
//! reserved nor unreserved, and a raw `*` or final `$` can only be the rule's operator.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memmem};

use super::RobotsReading;
use crate::url::escape::{escaped_byte, is_unreserved, push_escape};

/// The pattern that the value of an Allow or Disallow line stands for.
pub(super) fn of_value(value: &[u8], reading: RobotsReading) -> String {
    match reading {
        RobotsReading::Google => escaped(value, |byte| byte.is_ascii(), is_unreserved),
        RobotsReading::Rfc => {
            let (value, end) = match value.split_last() {
                Some((b'$', before)) => (before, "$"),
                _ => (value, ""),
            };
            let is_operator = |byte| byte == b'*';
            let mut pattern =
                escaped(value, |byte| is_operator(byte) || stays(byte), is_unreserved);
            pattern.push_str(end);
            pattern
        }
    }
}

/// The pattern as a canonical URL would write it, if that differs: `/my files/` means
/// `/my%20files/`, which no URL has with a blank.
pub(super) fn as_urls_have_it(pattern: &str) -> Option<String> {
    let (path, query) = pattern.split_at(memchr(b'?', pattern.as_bytes()).unwrap_or(pattern.len()));
    let stays_in_path = |byte: u8| byte.is_ascii_graphic() && !b"\"<>^`{}".contains(&byte);
    let stays_in_query = |byte: u8| byte.is_ascii_graphic() && !b"\"<>'".contains(&byte);
    if path.bytes().all(stays_in_path) && query.bytes().all(stays_in_query) {
        return None;
    }
    let escaped_query = escaped(query.as_bytes(), stays_in_query, |_| false);
    Some(escaped(path.as_bytes(), stays_in_path, |_| false) + &escaped_query)
}

/// A path and query in the common form; nearly always it is that already.
pub(super) fn comparable_path(path: &str, reading: RobotsReading) -> Cow<'_, str> {
    match reading {
        RobotsReading::Google if !has_needless_escape(path) => Cow::Borrowed(path),
        RobotsReading::Google => Cow::Owned(without_needless_escapes(path)),
        RobotsReading::Rfc if path.bytes().all(stays) => Cow::Borrowed(path),
        RobotsReading::Rfc => Cow::Owned(escaped(path.as_bytes(), stays, is_unreserved)),
    }
}

/// Whether an unreserved character is escaped; in a canonical URL none is.
fn has_needless_escape(path: &str) -> bool {
    let bytes = path.as_bytes();
    memchr_iter(b'%', bytes).any(|at| escaped_byte(&bytes[at + 1..]).is_some_and(is_unreserved))
}

/// Decodes the escapes of unreserved characters and leaves the rest as it is.
fn without_needless_escapes(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let unreserved = escaped_byte(&escape.as_bytes()[1..]).filter(|byte| is_unreserved(*byte));
        text.push(unreserved.map_or('%', char::from));
        rest = &escape[if unreserved.is_some() { 3 } else { 1 }..];
    }
    text.push_str(rest);
    text
}

/// The path and query within the text of a URL, or within what someone takes for one.
pub(super) fn path_of_text(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix("//").unwrap_or(text);
    let is_start = ['/', '?', ';'];
    let first = text.find(is_start).unwrap_or(text.len());
    let host_start = text.find("://").filter(|at| *at <= first).map_or(0, |at| at + "://".len());
    let end = text.find('#').unwrap_or(text.len());
    match text[host_start..].find(is_start).map(|at| host_start + at).filter(|start| *start < end) {
        None => Cow::Borrowed("/"),
        Some(start) if text[start..].starts_with('/') => Cow::Borrowed(&text[start..end]),
        Some(start) => Cow::Owned(format!("/{}", &text[start..end])),
    }
}

/// Whether `pattern`, which has a `*` or a final `$`, matches `path`. Each piece between stars is
/// taken where it first occurs: that leaves the most for the next one, so there is no going back.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or("");
    let Some(mut rest) = path.as_bytes().strip_prefix(first.as_bytes()) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return !to_the_end || rest.is_empty();
    };
    for piece in pieces {
        match find(rest, piece.as_bytes()) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    if to_the_end { rest.ends_with(last.as_bytes()) } else { find(rest, last.as_bytes()).is_some() }
}

/// Places tried plainly before a search is prepared, which takes longer than most paths do but
/// finds any piece in linear time.
const PLAIN_TRIES_MAX: usize = 8;

fn find(text: &[u8], piece: &[u8]) -> Option<usize> {
    let Some(first) = piece.first() else {
        return Some(0);
    };
    for (tries, at) in memchr_iter(*first, text).enumerate() {
        if tries == PLAIN_TRIES_MAX {
            return memmem::find(&text[at..], piece).map(|found| at + found);
        }
        if text[at..].starts_with(piece) {
            return Some(at);
        }
    }
    None
}

/// Escapes every byte that does not `stay`, writes escapes in upper case, and decodes those that
/// `decode` says.
fn escaped(bytes: &[u8], stay: impl Fn(u8) -> bool, decode: impl Fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| escaped_byte(&bytes[at + 1..])).flatten();
        let (byte, is_escape) = escape.map_or((bytes[at], false), |value| (value, true));
        if if is_escape { decode(byte) } else { stay(byte) } {
            text.push(byte as char);
        } else {
            push_escape(&mut text, byte);
        }
        at += if is_escape { 3 } else { 1 };
    }
    text
}

/// Octets that the common form has as they are.
fn stays(byte: u8) -> bool {
    STAYS[usize::from(byte)]
}

const STAYS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_unreserved(byte as u8);
        byte += 1;
    }
    let reserved = b":/?#[]@!&()+,;=";
    let mut index = 0;
    while index < reserved.len() {
        table[reserved[index] as usize] = true;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_piece_is_found_where_it_first_occurs(text in "[ab]{0,60}", piece in "[ab]{0,8}") {
            prop_assert_eq!(find(text.as_bytes(), piece.as_bytes()), text.find(&piece));
        }
    }
}
