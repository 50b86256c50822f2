//! From any text to the one canonical text: WHATWG parsing, then our reductions.
//!
//! Two reductions want care. Decoding `%41` to `A` must not build a new escape out of its
//! neighbours (`%%34%31` must not become `%41`), or a second pass would decode again; so a hex
//! digit right after a bare `%` stays escaped. And `file` paths keep their escapes, since a
//! decoded letter could become a drive letter (`%43|`), which WHATWG rewrites.

use std::ops::Range;

use super::escape::{escaped_byte, is_unreserved, push_escape};
use super::join::{join_plain, parse_plain};
use super::{QueryCharset, Scheme, Url, UrlError};

/// Longest canonical URL: the sitemap protocol's limit, and more than servers agree to serve.
pub const URL_BYTES_MAX: usize = 2048;

/// Longest text looked at; beyond the URL itself only blanks or a fragment could fill it.
pub const REFERENCE_BYTES_MAX: usize = 8 * 1024;

/// Longest host name in DNS (RFC 1035, written without its final dot).
pub const HOST_BYTES_MAX: usize = 253;

/// Longest label of a host name in DNS.
pub const LABEL_BYTES_MAX: usize = 63;

pub(super) fn parse(text: &str) -> Result<Url, UrlError> {
    match parse_plain(text) {
        Some(url) => Ok(url),
        None => parse_any(text),
    }
}

pub(super) fn join(base: &Url, reference: &str, charset: QueryCharset) -> Result<Url, UrlError> {
    match join_plain(base, reference) {
        Some(url) => Ok(url),
        None => join_any(base, reference, charset),
    }
}

/// The whole way, for any text.
pub(super) fn parse_any(text: &str) -> Result<Url, UrlError> {
    check_reference_length(text)?;
    let parsed = url::Url::parse(text).map_err(syntax)?;
    settle(reduce(&parsed)?)
}

/// The whole way, for any reference.
pub(super) fn join_any(
    base: &Url,
    reference: &str,
    charset: QueryCharset,
) -> Result<Url, UrlError> {
    check_reference_length(reference)?;
    let parsed = url::Url::parse(base.as_str()).map_err(syntax)?;
    let joined = |reference: &str| {
        url::Url::options()
            .base_url(Some(&parsed))
            .encoding_override(Some(&|query| charset.encode(query)))
            .parse(reference)
    };
    let parsed = match extra_slashes(reference).filter(|_| base.scheme != Scheme::File) {
        Some(rest) => joined(&format!("//{rest}")),
        None => joined(reference),
    };
    settle(reduce(&parsed.map_err(syntax)?)?)
}

/// Readings of a `file` URL before it is refused.
const READINGS_MAX: usize = 4;

/// What looks like a drive letter changes how the `url` crate reads a `file` path and host, so
/// that its own output may mean something else: it is read until it stays the same.
fn settle(mut url: Url) -> Result<Url, UrlError> {
    if url.scheme != Scheme::File {
        return Ok(url);
    }
    for _ in 0..READINGS_MAX {
        let again = reduce(&url::Url::parse(url.as_str()).map_err(syntax)?)?;
        if again == url {
            return Ok(url);
        }
        url = again;
    }
    Err(UrlError::Syntax("a file path that is never read the same way twice"))
}

/// What follows three or more slashes at the start. The standard skips them all before a host;
/// the `url` crate, against a base, skips two and finds the host empty.
fn extra_slashes(reference: &str) -> Option<&str> {
    let reference = reference.trim_start_matches(|c: char| c <= ' ');
    let rest = reference.trim_start_matches(['/', '\\']);
    (reference.len() - rest.len() > 2).then_some(rest)
}

/// Finds the parts of a canonical text again, checking all that the offsets rely on.
pub(super) fn split(text: Box<str>) -> Option<Url> {
    if text.len() > URL_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    let scheme = [Scheme::Https, Scheme::Http, Scheme::Ftp, Scheme::File]
        .into_iter()
        .find(|scheme| text.starts_with(scheme.prefix()))?;
    let host_start = scheme.prefix().len();
    let path_start = host_start + text[host_start..].find('/')?;
    let (host_end, port) = split_port(&text, host_start..path_start, scheme)?;
    check_host(&text[host_start..host_end], scheme).ok()?;
    let path_end = text[path_start..].find('?').map_or(text.len(), |at| path_start + at);
    if path_end + 1 == text.len() || text[path_start..].contains('#') {
        return None;
    }
    Some(Url {
        scheme,
        host_end: host_end as u16,
        path_start: path_start as u16,
        path_end: path_end as u16,
        port,
        text,
    })
}

/// Splits `host:port` at `authority`; a default port is not canonical.
fn split_port(text: &str, authority: Range<usize>, scheme: Scheme) -> Option<(usize, u16)> {
    let (start, end) = (authority.start, authority.end);
    let colon = match text[authority].rfind([':', ']']) {
        Some(at) if text.as_bytes()[start + at] == b':' => start + at,
        _ => return Some((end, scheme.default_port())),
    };
    let digits = &text[colon + 1..end];
    let port: u16 = digits.parse().ok()?;
    let canonical =
        scheme != Scheme::File && port != scheme.default_port() && !digits.starts_with(['0', '+']);
    canonical.then_some((colon, port))
}

fn check_reference_length(text: &str) -> Result<(), UrlError> {
    if text.len() > REFERENCE_BYTES_MAX {
        return Err(UrlError::TooLong { bytes: text.len() });
    }
    Ok(())
}

fn syntax(error: url::ParseError) -> UrlError {
    use url::ParseError::*;
    UrlError::Syntax(match error {
        EmptyHost => "empty host",
        IdnaError => "invalid international domain name",
        InvalidPort => "invalid port number",
        InvalidIpv4Address => "invalid IPv4 address",
        InvalidIpv6Address => "invalid IPv6 address",
        InvalidDomainCharacter => "invalid domain character",
        RelativeUrlWithoutBase => "relative, without a base",
        RelativeUrlWithCannotBeABaseBase => "relative, with a base that cannot be one",
        SetHostOnCannotBeABaseUrl => "a host where none can be",
        Overflow => "too long",
        _ => "unknown reason",
    })
}

/// Our reductions on a URL in WHATWG form.
fn reduce(parsed: &url::Url) -> Result<Url, UrlError> {
    let scheme = Scheme::from_name(parsed.scheme())
        .ok_or_else(|| UrlError::Scheme(parsed.scheme().into()))?;
    let host = parsed.host_str().unwrap_or("");
    let host = host.strip_suffix('.').unwrap_or(host);
    check_host(host, scheme)?;

    let mut text = String::with_capacity(parsed.as_str().len());
    text.push_str(scheme.prefix());
    text.push_str(host);
    let host_end = text.len();
    let port = parsed.port().unwrap_or(scheme.default_port());
    if port != scheme.default_port() {
        text.push(':');
        text.push_str(&port.to_string());
    }
    if port == 0 && scheme != Scheme::File {
        return Err(UrlError::Syntax("port 0"));
    }
    let path_start = text.len();
    push_normalised(&mut text, parsed.path(), scheme);
    let path_end = text.len();
    if let Some(query) = parsed.query().filter(|query| !query.is_empty()) {
        text.push('?');
        push_normalised(&mut text, query, scheme);
    }
    if text.len() > URL_BYTES_MAX {
        return Err(UrlError::TooLong { bytes: text.len() });
    }
    Ok(Url {
        text: text.into_boxed_str(),
        scheme,
        host_end: host_end as u16,
        path_start: path_start as u16,
        path_end: path_end as u16,
        port,
    })
}

/// Refuses hosts that DNS cannot hold. Since a label has no comma, reversed labels joined by
/// commas are lossless, and since it has no `/`, a host key ends where its path begins.
pub(super) fn check_host(host: &str, scheme: Scheme) -> Result<(), UrlError> {
    if host.is_empty() {
        return if scheme == Scheme::File { Ok(()) } else { Err(UrlError::Host("it is empty")) };
    }
    if let Some(inside) = host.strip_prefix('[') {
        let address = inside.strip_suffix(']').map(|inside| inside.parse::<std::net::Ipv6Addr>());
        return match address {
            Some(Ok(_)) => Ok(()),
            _ => Err(UrlError::Host("not an IPv6 address")),
        };
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(UrlError::Host("longer than 253 bytes"));
    }
    for label in host.split('.') {
        if label.is_empty() {
            return Err(UrlError::Host("empty label"));
        }
        if label.len() > LABEL_BYTES_MAX {
            return Err(UrlError::Host("label longer than 63 bytes"));
        }
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if !label.bytes().all(plain) {
            return Err(UrlError::Host("a character outside a-z, 0-9, - and _"));
        }
    }
    Ok(())
}

/// Appends a path or query with its percent-escapes normalised: idempotent, structure kept.
fn push_normalised(text: &mut String, part: &str, scheme: Scheme) {
    let bytes = part.as_bytes();
    // End of the output that a hex digit could turn into an escape: two bytes past a bare `%`.
    let mut bare_until = 0;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'%', &bytes[at..]) {
        let percent = at + found;
        text.push_str(&part[copied..percent]);
        copied = percent;
        at = percent + 1;
        let Some(value) = escaped_byte(&bytes[at..]) else {
            bare_until = text.len() + 3;
            continue;
        };
        let digit_after_bare = text.len() < bare_until && value.is_ascii_hexdigit();
        if is_unreserved(value) && scheme != Scheme::File && !digit_after_bare {
            text.push(value as char);
        } else {
            push_escape(text, value);
        }
        at += 2;
        copied = at;
    }
    text.push_str(&part[copied..]);
}
