//! The quick way to resolve a link: most are plain ASCII and need nothing but to be put together.
//!
//! A page has dozens of links, so this runs more often than anything else in the crate. It takes
//! only texts that WHATWG parsing would leave as they are (no odd character, no dot segment but at
//! the front, a host already in its final form) and says `None` for all others, which then go the
//! whole way. That both ways agree is a property test.

use memchr::{memchr, memchr_iter, memchr2};

use super::canonical::check_host;
use super::escape::{escaped_byte, is_unreserved};
use super::{Scheme, URL_BYTES_MAX, Url};

/// Resolves `reference` against `base`, if it is plain.
pub(super) fn join_plain(base: &Url, reference: &str) -> Option<Url> {
    if base.scheme == Scheme::File {
        return None;
    }
    let reference = without_fragment(reference);
    if reference.is_empty() {
        return Some(base.clone());
    }
    if !is_plain(reference.as_bytes()) {
        return None;
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return with_authority(base.scheme, rest, Some(base));
    }
    let origin = Origin::of(base);
    if reference.starts_with('/') {
        return assemble(origin, "", reference);
    }
    if reference.starts_with('?') {
        return assemble(origin, base.path(), reference);
    }
    let (first_segment, _) = split_before_path(reference);
    if memchr(b':', first_segment.as_bytes()).is_some() {
        return absolute(reference, Some(base));
    }
    let (directory, rest) = climb(base.path(), reference)?;
    assemble(origin, directory, rest)
}

/// Parses an absolute URL, if it is plain.
pub(super) fn parse_plain(text: &str) -> Option<Url> {
    let text = without_fragment(text);
    if is_plain(text.as_bytes()) { absolute(text, None) } else { None }
}

fn absolute(text: &str, base: Option<&Url>) -> Option<Url> {
    [Scheme::Https, Scheme::Http]
        .into_iter()
        .find_map(|scheme| text.strip_prefix(scheme.prefix()).map(|rest| (scheme, rest)))
        .and_then(|(scheme, rest)| with_authority(scheme, rest, base))
}

/// Everything of a URL that comes before its path.
struct Origin<'a> {
    scheme: Scheme,
    host: &'a str,
    port: u16,
    /// `host:port` as it is written.
    authority: &'a str,
}

impl<'a> Origin<'a> {
    fn of(url: &'a Url) -> Origin<'a> {
        let authority = &url.text[url.scheme.prefix().len()..url.path_start as usize];
        Origin { scheme: url.scheme, host: url.host(), port: url.port, authority }
    }
}

/// `rest` is what follows `scheme://`.
fn with_authority(scheme: Scheme, rest: &str, base: Option<&Url>) -> Option<Url> {
    let (authority, path_and_query) = split_before_path(rest);
    if let Some(same) = base
        .map(Origin::of)
        .filter(|origin| origin.scheme == scheme && origin.authority == authority)
    {
        return assemble(same, "", path_and_query);
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, digits)) => (host, plain_port(digits, scheme)?),
        None => (authority, scheme.default_port()),
    };
    if !is_plain_host(host) {
        return None;
    }
    assemble(Origin { scheme, host, port, authority }, "", path_and_query)
}

/// A port that stays as it is written.
fn plain_port(digits: &str, scheme: Scheme) -> Option<u16> {
    let canonical = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    let port = digits.parse().ok().filter(|_| canonical)?;
    (port != scheme.default_port()).then_some(port)
}

/// A name in its final form: nothing for IDNA to decode, and no number at its end that would
/// make it an IPv4 address.
fn is_plain_host(host: &str) -> bool {
    let last_label = host.rsplit('.').next().unwrap_or("");
    last_label.starts_with(|c: char| c.is_ascii_lowercase())
        && !host.contains("xn--")
        && check_host(host, Scheme::Http).is_ok()
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
fn assemble(origin: Origin<'_>, directory: &str, rest: &str) -> Option<Url> {
    let (path, query) = match memchr(b'?', rest.as_bytes()) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, ""),
    };
    if has_dot_segment(path) {
        return None;
    }
    let root = if directory.is_empty() && path.is_empty() { "/" } else { "" };
    let mark = if query.is_empty() { "" } else { "?" };
    let parts = [origin.scheme.prefix(), origin.authority, root, directory, path, mark, query];
    let length = parts.iter().map(|part| part.len()).sum();
    if length > URL_BYTES_MAX {
        return None;
    }
    let mut text = String::with_capacity(length);
    for part in parts {
        text.push_str(part);
    }
    let host_start = origin.scheme.prefix().len();
    let path_start = host_start + origin.authority.len();
    Some(Url {
        text: text.into_boxed_str(),
        scheme: origin.scheme,
        host_end: (host_start + origin.host.len()) as u16,
        path_start: path_start as u16,
        path_end: (path_start + root.len() + directory.len() + path.len()) as u16,
        port: origin.port,
    })
}

fn has_dot_segment(path: &str) -> bool {
    let is_start = |at: usize| at > 0 && path.as_bytes()[at - 1] == b'/';
    memchr_iter(b'.', path.as_bytes()).any(|at| is_start(at) && begins_with_dots(&path[at..]))
}

/// Splits before the first `/` or `?`.
fn split_before_path(text: &str) -> (&str, &str) {
    text.split_at(memchr2(b'/', b'?', text.as_bytes()).unwrap_or(text.len()))
}

/// The text before its fragment.
fn without_fragment(text: &str) -> &str {
    &text[..memchr(b'#', text.as_bytes()).unwrap_or(text.len())]
}

/// Whether the first segment is `.` or `..`.
fn begins_with_dots(path: &str) -> bool {
    let after = path.strip_prefix("..").or_else(|| path.strip_prefix('.'));
    after.is_some_and(|after| after.is_empty() || after.starts_with(['/', '?']))
}

/// Whether parsing and normalising leave every byte as it is, in a path and in a query alike.
fn is_plain(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at < bytes.len() {
        match PLAIN[usize::from(bytes[at])] {
            Plain::Yes => at += 1,
            Plain::No => return false,
            Plain::Escape => {
                if !is_plain_escape(&bytes[at + 1..]) {
                    return false;
                }
                at += 3;
            }
        }
    }
    true
}

/// Whether these are two upper-case hex digits of a byte that stays escaped.
fn is_plain_escape(digits: &[u8]) -> bool {
    escaped_byte(digits).is_some_and(|value| {
        !is_unreserved(value) && !digits[..2].iter().any(u8::is_ascii_lowercase)
    })
}

#[derive(Clone, Copy)]
enum Plain {
    Yes,
    No,
    Escape,
}

const PLAIN: [Plain; 256] = {
    let mut table = [Plain::No; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = Plain::Yes;
        }
        byte += 1;
    }
    let others = b"-._~!$&()*+,;=@:/?";
    let mut index = 0;
    while index < others.len() {
        table[others[index] as usize] = Plain::Yes;
        index += 1;
    }
    table[b'%' as usize] = Plain::Escape;
    table
};
