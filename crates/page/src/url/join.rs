//! The quick way to resolve a link: most are plain ASCII and need nothing but to be put together.
//!
//! A page has dozens of links, so this runs more often than anything else in the crate. It takes
//! only texts that WHATWG parsing would leave as they are (no odd character, no dot segment but at
//! the front, a host already in its final form) and says `None` for all others, which then go the
//! whole way. That both ways agree is a property test.

use memchr::{memchr, memchr_iter, memchr2};

use super::canonical::{HOST_BYTES_MAX, LABEL_BYTES_MAX};
use super::escape::{escaped_byte, is_unreserved};
use super::{Scheme, URL_BYTES_MAX, Url};

/// Resolves `reference` against `base`, if it is plain.
pub(super) fn join_plain(base: &Url, reference: &str) -> Option<Url> {
    if base.scheme == Scheme::File {
        return None;
    }
    let Plain { text, signs } = Plain::of(reference)?;
    if text.is_empty() {
        return Some(base.clone());
    }
    if let Some(rest) = text.strip_prefix("//") {
        return with_authority(base.scheme, rest, signs, Some(base));
    }
    if text.starts_with('/') {
        return assemble(Front::of(base, ""), text, signs);
    }
    if text.starts_with('?') {
        return assemble(Front::of(base, base.path()), text, signs);
    }
    if signs & COLON != 0 && memchr(b':', split_before_path(text).0.as_bytes()).is_some() {
        return absolute(text, signs, Some(base));
    }
    let (directory, rest) = climb(base.path(), text)?;
    assemble(Front::of(base, directory), rest, signs)
}

/// Parses an absolute URL, if it is plain.
pub(super) fn parse_plain(text: &str) -> Option<Url> {
    let Plain { text, signs } = Plain::of(text)?;
    absolute(text, signs, None)
}

fn absolute(text: &str, signs: u8, base: Option<&Url>) -> Option<Url> {
    let of = |scheme: Scheme| {
        let (prefix, rest) = text.split_at_checked(scheme.prefix().len())?;
        prefix.eq_ignore_ascii_case(scheme.prefix()).then_some((scheme, rest))
    };
    let (scheme, rest) = of(Scheme::Https).or_else(|| of(Scheme::Http))?;
    with_authority(scheme, rest, signs, base)
}

/// A reference that parsing and normalising leave as it is, without its fragment and the blanks
/// around it; and which signs it has that mean something.
struct Plain<'a> {
    text: &'a str,
    signs: u8,
}

impl<'a> Plain<'a> {
    fn of(reference: &'a str) -> Option<Plain<'a>> {
        let mut text = reference.trim_matches(|c: char| c <= ' ');
        let mut signs = signs_in(text);
        if signs & FRAGMENT != 0 {
            text = &text[..memchr(b'#', text.as_bytes()).unwrap_or(text.len())];
            signs = signs_in(text);
        }
        let is_plain =
            signs & ODD == 0 && (signs & ESCAPE == 0 || has_plain_escapes(text.as_bytes()));
        is_plain.then_some(Plain { text, signs })
    }
}

/// A URL up to where the rest is put behind it: scheme, host and port, and a directory perhaps.
struct Front<'a> {
    parts: [&'a str; 2],
    scheme: Scheme,
    host_end: usize,
    path_start: usize,
    port: u16,
}

impl<'a> Front<'a> {
    /// That of a URL, up to the end of `directory`, which its path begins with.
    fn of(url: &'a Url, directory: &str) -> Front<'a> {
        let path_start = usize::from(url.path_start);
        Front {
            parts: [&url.text[..path_start + directory.len()], ""],
            scheme: url.scheme,
            host_end: usize::from(url.host_end),
            path_start,
            port: url.port,
        }
    }
}

/// `rest` is what follows `scheme://`.
fn with_authority(scheme: Scheme, rest: &str, signs: u8, base: Option<&Url>) -> Option<Url> {
    let (authority, path_and_query) = split_before_path(rest);
    let start = scheme.prefix().len();
    if let Some(base) = base
        && base.scheme == scheme
        && base.text[start..usize::from(base.path_start)] == *authority
    {
        return assemble(Front::of(base, ""), path_and_query, signs);
    }
    let (host, port) = match memchr(b':', authority.as_bytes()) {
        Some(colon) => (&authority[..colon], plain_port(&authority[colon + 1..], scheme)?),
        None => (authority, scheme.default_port()),
    };
    if !is_plain_host(host) {
        return None;
    }
    let front = Front {
        parts: [scheme.prefix(), authority],
        scheme,
        host_end: start + host.len(),
        path_start: start + authority.len(),
        port,
    };
    assemble(front, path_and_query, signs)
}

/// A port that stays as it is written.
fn plain_port(digits: &str, scheme: Scheme) -> Option<u16> {
    let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|_| canonical)?;
    (port != scheme.default_port()).then_some(port)
}

/// A name in its final form: one that DNS can hold, with nothing for IDNA to decode, and no number
/// at its end that would make it an IPv4 address.
fn is_plain_host(host: &str) -> bool {
    let is_plain = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && !label.starts_with("xn--")
            && label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
    };
    let last_label = host.rsplit('.').next().unwrap_or("");
    last_label.starts_with(|c: char| c.is_ascii_lowercase())
        && host.len() <= HOST_BYTES_MAX
        && host.split('.').all(is_plain)
}

/// Follows the `./` and `../` at the front of a relative path up from the directory of
/// `base_path`; `None` if the front is nothing but dots.
fn climb<'a>(base_path: &'a str, reference: &'a str) -> Option<(&'a str, &'a str)> {
    let parent = |path: &'a str| &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
    let mut directory = parent(base_path);
    let mut rest = reference;
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            rest = after;
            if directory.len() > 1 {
                directory = parent(&directory[..directory.len() - 1]);
            }
        } else {
            return Some((directory, rest)).filter(|_| !begins_with_dots(rest));
        }
    }
}

/// Puts the parts together; `rest` is the end of the path and the query. `None` if a dot segment
/// is left in it, or if it gets too long.
fn assemble(front: Front<'_>, rest: &str, signs: u8) -> Option<Url> {
    let mark = if signs & QUERY == 0 { None } else { memchr(b'?', rest.as_bytes()) };
    let path = &rest[..mark.unwrap_or(rest.len())];
    // A query of nothing is none.
    let rest = if path.len() + 1 == rest.len() { path } else { rest };
    if signs & DOT != 0 && has_dot_segment(path) {
        return None;
    }
    let [first, second] = front.parts;
    let front_length = first.len() + second.len();
    let root = if path.is_empty() && front_length == front.path_start { "/" } else { "" };
    let length = front_length + root.len() + rest.len();
    if length > URL_BYTES_MAX {
        return None;
    }
    let mut text = String::with_capacity(length);
    for part in [first, second, root, rest] {
        text.push_str(part);
    }
    Some(Url {
        text: text.into_boxed_str(),
        scheme: front.scheme,
        host_end: front.host_end as u16,
        path_start: front.path_start as u16,
        path_end: (front_length + root.len() + path.len()) as u16,
        port: front.port,
    })
}

/// Whether a segment behind a slash is `.` or `..`.
fn has_dot_segment(path: &str) -> bool {
    let is_start = |at: usize| at > 0 && path.as_bytes()[at - 1] == b'/';
    memchr_iter(b'.', path.as_bytes()).any(|at| is_start(at) && begins_with_dots(&path[at..]))
}

/// Splits before the first `/` or `?`.
fn split_before_path(text: &str) -> (&str, &str) {
    text.split_at(memchr2(b'/', b'?', text.as_bytes()).unwrap_or(text.len()))
}

/// Whether the first segment is `.` or `..`.
fn begins_with_dots(path: &str) -> bool {
    let after = path.strip_prefix("..").or_else(|| path.strip_prefix('.'));
    after.is_some_and(|after| after.is_empty() || after.starts_with(['/', '?']))
}

/// Whether all escapes are upper-case ones of bytes that stay escaped.
fn has_plain_escapes(bytes: &[u8]) -> bool {
    let is_plain = |digits: &[u8]| {
        escaped_byte(digits).is_some_and(|value| {
            !is_unreserved(value) && !digits[..2].iter().any(u8::is_ascii_lowercase)
        })
    };
    memchr_iter(b'%', bytes).all(|percent| is_plain(&bytes[percent + 1..]))
}

/// The signs of all bytes, without a branch for each.
fn signs_in(text: &str) -> u8 {
    text.bytes().fold(0, |signs, byte| signs | SIGNS[usize::from(byte)])
}

/// A byte that would not stay as it is, in a path and in a query alike.
const ODD: u8 = 1;
const ESCAPE: u8 = 2;
const FRAGMENT: u8 = 4;
const QUERY: u8 = 8;
const COLON: u8 = 16;
const DOT: u8 = 32;

const SIGNS: [u8; 256] = {
    let mut table = [ODD; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = 0;
        }
        byte += 1;
    }
    let others = b"-_~!$&()*+,;=@/";
    let mut index = 0;
    while index < others.len() {
        table[others[index] as usize] = 0;
        index += 1;
    }
    table[b'%' as usize] = ESCAPE;
    table[b'#' as usize] = FRAGMENT;
    table[b'?' as usize] = QUERY;
    table[b':' as usize] = COLON;
    table[b'.' as usize] = DOT;
    table
};
