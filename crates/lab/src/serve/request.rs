//! The head of a request: the few fields that the synthetic web looks at.

use rhumb_page::url::Url;

use rhumb_fetch::date;

/// A longer head is refused.
pub(super) const HEAD_BYTES_MAX: usize = 16 << 10;

pub(super) struct Request {
    pub(super) url: Option<Url>,
    pub(super) etag: Option<String>,
    pub(super) modified_since_s: Option<u64>,
    pub(super) accepts_gzip: bool,
    pub(super) keep_alive: bool,
    /// It says so itself, and some clients want to hear the same from the server.
    pub(super) asks_to_keep_alive: bool,
    pub(super) is_get: bool,
}

/// Where the head ends in what was received so far; it has no body behind it.
pub(super) fn head_end(received: &[u8]) -> Option<usize> {
    memchr::memmem::find(received, b"\r\n\r\n").map(|at| at + 4)
}

/// Reads a head. A URL that makes no sense is none; the caller answers 400. `port` is our own.
pub(super) fn read(head: &[u8], port: u16) -> Request {
    let text = std::str::from_utf8(head).unwrap_or_default();
    let mut lines = text.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let is_get = first.next() == Some("GET");
    let target = first.next().unwrap_or_default();
    let mut request = Request {
        url: None,
        etag: None,
        modified_since_s: None,
        accepts_gzip: false,
        keep_alive: first.next() == Some("HTTP/1.1"),
        asks_to_keep_alive: false,
        is_get,
    };
    let mut host = "";
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("host") {
            host = value;
        } else if name.eq_ignore_ascii_case("if-none-match") {
            request.etag = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("if-modified-since") {
            request.modified_since_s = date::parse(value);
        } else if name.eq_ignore_ascii_case("accept-encoding") {
            request.accepts_gzip = value.contains("gzip");
        } else if name.eq_ignore_ascii_case("connection") {
            request.keep_alive &= !value.eq_ignore_ascii_case("close");
            request.asks_to_keep_alive = value.eq_ignore_ascii_case("keep-alive");
        }
    }
    if target.starts_with('/') && !host.is_empty() {
        let mut url = String::with_capacity(7 + host.len() + target.len());
        url.push_str("http://");
        url.push_str(host);
        url.push_str(target);
        // Clients ask with the URLs that they were given, so there is nothing to make canonical.
        request.url = Url::from_canonical(url.into());
    } else if let Some(rest) = target.strip_prefix("http://") {
        // As to a proxy: by this a client needs no name server.
        request.url = Url::from_canonical(with_port(rest, port).into());
    }
    request
}

/// wget2 1.99 forgets the port of a URL when it asks a proxy; all our hosts have the same.
fn with_port(rest: &str, port: u16) -> String {
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.contains(':') || port == 80 {
        true => format!("http://{rest}"),
        false => format!("http://{authority}:{port}{path}"),
    }
}
