//! The key of CDXJ lines, equal to what PyPI `surt` gives by default, which cdxj-indexer and pywb
//! use. It is lossy (it drops `www.`, case, parameter order, session identifiers, the scheme), so
//! nothing else may be keyed by it.
//!
//! `https://www.Example.com/A/?b=2&a=1` is `com,example)/a?a=1&b=2`. Addresses are reversed like
//! names, the brackets of IPv6 go, the port stays unless it is the default one.

use std::sync::LazyLock;

use regex::Regex;

use super::Url;
use super::escape::{escaped_byte, push_escape};

/// A URL with the labels of its host turned round: `org,example)/a`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Surt(String);

impl Surt {
    pub(super) fn of(url: &Url) -> Surt {
        let mut key = String::with_capacity(url.as_str().len());
        let host = without_www(url.host().trim_matches(['[', ']']));
        if host.is_empty() {
            key.push_str(url.scheme().as_str());
            key.push(':');
        } else {
            push_reversed(&mut key, host);
            push_port(&mut key, url);
            key.push(')');
        }
        key.push_str(&path_key(url.path(), !host.is_empty()));
        if let Some(query) = url.query().map(query_key).filter(|query| !query.is_empty()) {
            key.push('?');
            key.push_str(&query);
        }
        Surt(key)
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Surt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for Surt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Surt({})", self.0)
    }
}

/// Drops a leading `www.`, also with a number: `www2.`.
fn without_www(host: &str) -> &str {
    let Some(rest) = host.strip_prefix("www") else {
        return host;
    };
    rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.').unwrap_or(host)
}

fn push_reversed(key: &mut String, host: &str) {
    for (index, label) in host.rsplit('.').enumerate() {
        if index > 0 {
            key.push(',');
        }
        key.push_str(label);
    }
}

fn push_port(key: &mut String, url: &Url) {
    if let Some(port) = url.port().filter(|port| *port != url.scheme().default_port()) {
        key.push(':');
        key.push_str(&port.to_string());
    }
}

fn path_key(path: &str, has_host: bool) -> String {
    let mut bytes = unescaped(path);
    if has_host {
        bytes = without_dots(&bytes);
    }
    let path = escaped(&bytes).to_ascii_lowercase();
    let path = without_path_session(path);
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        _ => path,
    }
}

/// Resolves the dot segments that unescaping laid bare and joins repeated slashes. A `..` with
/// nothing before it stays, and a later `..` removes it.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if kept.pop().is_some() => {}
            _ => kept.push(segment),
        }
    }
    let mut resolved = vec![b'/'];
    let Some((last, before)) = kept.split_last() else {
        return resolved;
    };
    for segment in before.iter().filter(|segment| !segment.is_empty()) {
        resolved.extend_from_slice(segment);
        resolved.push(b'/');
    }
    resolved.extend_from_slice(last);
    resolved
}

/// The session segments of ASP.NET: `/(s(24 characters))/page.aspx` and `/(24 characters)/…`.
static PATH_SESSIONS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    [
        r"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$",
        r"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$",
    ]
    .map(|pattern| Regex::new(pattern).expect("a constant pattern"))
});

fn without_path_session(mut path: String) -> String {
    if !path.contains(".aspx") {
        return path;
    }
    for pattern in PATH_SESSIONS.iter() {
        if let Some(found) = pattern.captures(&path) {
            path = [&found[1], &found[2]].concat();
        }
    }
    path
}

/// Session parameters, each removed once, where it stands last; a name may end in one of these.
static QUERY_SESSIONS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    ]
    .map(|session| {
        Regex::new(&format!("(?i)^(.*){session}(?:&(.*))?$")).expect("a constant pattern")
    })
});

fn query_key(query: &str) -> String {
    let mut query = escaped(&unescaped(query));
    for pattern in QUERY_SESSIONS.iter() {
        if let Some(found) = pattern.captures(&query) {
            query = [&found[1], found.get(2).map_or("", |rest| rest.as_str())].concat();
        }
    }
    query.make_ascii_lowercase();
    // A name without "=" sorts before the same name with one, hence the Option.
    let mut arguments: Vec<(&str, Option<&str>)> = query
        .split('&')
        .map(|argument| match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        })
        .collect();
    arguments.sort_unstable();
    let mut key = String::with_capacity(query.len());
    for (index, (name, value)) in arguments.into_iter().enumerate() {
        if index > 0 {
            key.push('&');
        }
        key.push_str(name);
        if let Some(value) = value {
            key.push('=');
            key.push_str(value);
        }
    }
    key
}

/// Decodes percent-escapes until none is left; each pass shortens the text, so it ends.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    while memchr::memchr(b'%', &bytes).is_some() {
        let before = bytes.len();
        bytes = unescaped_once(&bytes);
        if bytes.len() == before {
            break;
        }
    }
    bytes
}

fn unescaped_once(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match escaped_byte(&bytes[at + 1..]).filter(|_| bytes[at] == b'%') {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

/// Escapes what is not printable ASCII, and `#` and `%`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            text.push(byte as char);
        } else {
            push_escape(&mut text, byte);
        }
    }
    text
}
