//! The host key: scheme, host and port in one sortable text, the unit of politeness.
//!
//! `https://www.example.com` is `com,example,www,:https:443`: labels reversed and each followed by
//! a comma, so that a site's hosts are adjacent; then scheme and effective port. Addresses are not
//! reversed and have no comma: `127.0.0.1:http:8080`, `[::1]:http:80`. A `file` URL without a host
//! is `,:file:0`. There is never a `/`, so a URL key can be cut at its first one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Deserializer, Serialize};

use super::canonical::check_host;
use super::{Scheme, Site, Url};

/// Scheme, host and port: what politeness and robots.txt are kept for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct HostKey(Box<str>);

impl HostKey {
    pub(super) fn of(url: &Url) -> HostKey {
        let mut text = String::with_capacity(host_key_length(url));
        push_host_key(&mut text, url);
        HostKey(text.into_boxed_str())
    }

    /// Takes a text as [`HostKey::as_str`] gave it.
    pub fn from_text(text: &str) -> Option<HostKey> {
        let (host, scheme, port) = split(text)?;
        let host = unreversed(host);
        check_host(&host, scheme).ok()?;
        let mut again = String::with_capacity(text.len());
        push_parts(&mut again, &host, scheme, port);
        (again == text).then(|| HostKey(again.into_boxed_str()))
    }

    /// Its text, as it sorts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How its pages are fetched.
    pub fn scheme(&self) -> Scheme {
        self.parts().1
    }

    /// The host as in [`Url::host`].
    pub fn host(&self) -> String {
        unreversed(self.parts().0)
    }

    /// What hosts have in common that are one server to whoever runs it: for a name that name,
    /// whatever scheme and port; for an address the port too, since other servers have other ports.
    pub fn server(&self) -> &str {
        match (self.ip(), self.parts()) {
            (None, (name, ..)) if !name.is_empty() => name,
            _ => self.as_str(),
        }
    }

    /// The effective port; `None` for `file`.
    pub fn port(&self) -> Option<u16> {
        let port = self.parts().2;
        (port != 0).then_some(port)
    }

    /// The address, if the host is one and no name.
    pub fn ip(&self) -> Option<IpAddr> {
        ip_of(self.parts().0)
    }

    /// `https://www.example.com`, with the port if it is not the default one.
    pub fn origin(&self) -> String {
        let mut origin = String::with_capacity(self.0.len() + 8);
        push_origin(&mut origin, &self.0).expect("a host key has its three parts");
        origin
    }

    /// Where this host's robots.txt is; only http and https have one.
    pub fn robots_url(&self) -> Option<Url> {
        match self.scheme() {
            Scheme::Http | Scheme::Https => {
                Url::from_canonical((self.origin() + "/robots.txt").into_boxed_str())
            }
            Scheme::Ftp | Scheme::File => None,
        }
    }

    /// The site that the host belongs to.
    pub fn site(&self) -> Site {
        Site::of_host(&self.host())
    }

    fn parts(&self) -> (&str, Scheme, u16) {
        split(&self.0).expect("a host key is built from its three parts")
    }
}

impl std::fmt::Display for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostKey({})", self.0)
    }
}

impl<'de> Deserialize<'de> for HostKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostKey, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        HostKey::from_text(&text).ok_or_else(|| serde::de::Error::custom("not a host key"))
    }
}

/// Appends the host key of `url`.
pub(super) fn push_host_key(text: &mut String, url: &Url) {
    push_parts(text, url.host(), url.scheme(), url.port);
}

fn push_parts(text: &mut String, host: &str, scheme: Scheme, port: u16) {
    if ip_of(host).is_some() {
        text.push_str(host);
    } else {
        // Byte by byte: labels are too short for a search to pay.
        let mut end = host.len();
        for (at, _) in host.bytes().enumerate().rev().filter(|(_, byte)| *byte == b'.') {
            text.push_str(&host[at + 1..end]);
            text.push(',');
            end = at;
        }
        text.push_str(&host[..end]);
        text.push(',');
    }
    text.push(':');
    text.push_str(scheme.as_str());
    text.push(':');
    push_port(text, port);
}

/// Every URL has its key made several times: the formatting machinery would take half of that.
fn push_port(text: &mut String, port: u16) {
    let mut unit = 10u16.pow(port.checked_ilog10().unwrap_or(0));
    while unit > 0 {
        text.push(char::from(b'0' + (port / unit % 10) as u8));
        unit /= 10;
    }
}

/// Bytes of the host key of `url`, so that it is allocated once; one too many for an address.
pub(super) fn host_key_length(url: &Url) -> usize {
    let digits = url.port.checked_ilog10().map_or(1, |log| log as usize + 1);
    url.host().len() + ",::".len() + url.scheme().as_str().len() + digits
}

/// The host part (still reversed), scheme and port of a host key.
fn split(text: &str) -> Option<(&str, Scheme, u16)> {
    let (rest, port) = text.rsplit_once(':')?;
    let (host, scheme) = rest.rsplit_once(':')?;
    Some((host, Scheme::from_name(scheme)?, port.parse().ok()?))
}

/// `com,example,www,` to `www.example.com`; an address as it is.
fn unreversed(host: &str) -> String {
    let mut name = String::with_capacity(host.len());
    push_unreversed(&mut name, host);
    name
}

fn push_unreversed(text: &mut String, host: &str) {
    let Some(labels) = host.strip_suffix(',') else {
        text.push_str(host);
        return;
    };
    for (index, label) in labels.rsplit(',').enumerate() {
        if index > 0 {
            text.push('.');
        }
        text.push_str(label);
    }
}

/// Appends the origin that a host key stands for; nothing if it is none.
pub(super) fn push_origin(text: &mut String, host_key: &str) -> Option<()> {
    let (host, scheme, port) = split(host_key)?;
    text.push_str(scheme.prefix());
    push_unreversed(text, host);
    if port != scheme.default_port() {
        text.push(':');
        push_port(text, port);
    }
    Some(())
}

/// The address that a canonical host is, if it is one.
pub(super) fn ip_of(host: &str) -> Option<IpAddr> {
    if let Some(inside) = host.strip_prefix('[') {
        return inside.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    // A canonical IPv4 address ends in a digit; hardly a name does.
    if !host.as_bytes().last()?.is_ascii_digit() {
        return None;
    }
    host.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}
