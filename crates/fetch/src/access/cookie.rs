//! One cookie: read from Set-Cookie as RFC 6265 (section 5) has it, and which URLs it is for.

use std::fmt;

use rhumb_page::url::{Scheme, Site, Url};

use crate::date;

/// Cookies that one response may set.
pub const SET_MAX: usize = 50;
/// Name and value, as browsers bound them.
const PAIR_BYTES_MAX: usize = 4 << 10;
const ATTRIBUTE_BYTES_MAX: usize = 1 << 10;
/// Longer than any crawl, and nothing overflows.
const LIFE_S_MAX: u64 = 400 * 86_400;

#[derive(Clone, PartialEq, Eq)]
pub struct Cookie {
    pub(super) name: Box<str>,
    pub(super) value: Box<str>,
    /// A host, without a dot before it.
    pub(super) domain: Box<str>,
    /// For that host alone, not for those below it.
    pub(super) is_host_only: bool,
    pub(super) path: Box<str>,
    pub(super) is_secure: bool,
    /// In seconds since 1970; until the end of the crawl, if none.
    pub(super) expires: Option<u64>,
    /// The owner gave it, and no site has set it since.
    pub(super) is_given: bool,
}

/// Without its value: this may be logged.
impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie({} for {}{})", self.name, self.domain, self.path)
    }
}

impl Cookie {
    /// What a response from this URL sets; none if that makes no sense or is none of its business.
    pub fn parse(set_cookie: &[u8], from: &Url, now: u64) -> Option<Cookie> {
        let text = std::str::from_utf8(set_cookie).ok()?;
        let mut parts = text.split(';');
        let (name, value) = pair(parts.next()?)?;
        let mut cookie = Cookie {
            name: name.into(),
            value: value.into(),
            domain: from.host().into(),
            is_host_only: true,
            path: default_path(from.path()).into(),
            is_secure: false,
            expires: None,
            is_given: false,
        };
        let mut max_age = None;
        for part in parts.filter(|part| part.len() <= ATTRIBUTE_BYTES_MAX) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            match name.as_str() {
                "domain" => cookie.set_domain(value, from)?,
                "path" if value.starts_with('/') => cookie.path = value.into(),
                "secure" => cookie.is_secure = true,
                "expires" => cookie.expires = date::parse(value).or(cookie.expires),
                "max-age" => max_age = value.parse::<i64>().ok().or(max_age),
                _ => {}
            }
        }
        if let Some(seconds) = max_age {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            cookie.expires = Some(if seconds == 0 { 0 } else { now.saturating_add(seconds) });
        }
        cookie.expires = cookie.expires.map(|at| at.min(now.saturating_add(LIFE_S_MAX)));
        cookie.is_honest(from).then_some(cookie)
    }

    /// A host may set a cookie for itself and for what is above it within its own site.
    fn set_domain(&mut self, value: &str, from: &Url) -> Option<()> {
        let domain = value.trim_start_matches('.').to_ascii_lowercase();
        if domain.is_empty() || *domain == *from.host() && from.ip().is_some() {
            return Some(());
        }
        if !is_within(from.host(), &domain) || from.ip().is_some() {
            return None;
        }
        if Site::is_public_suffix(&domain) {
            return (*domain == *from.host()).then_some(());
        }
        (self.domain, self.is_host_only) = (domain.into(), false);
        Some(())
    }

    /// What it claims by being secure, or by its name, is so.
    fn is_honest(&self, from: &Url) -> bool {
        let is_encrypted = from.scheme() == Scheme::Https;
        let name = self.name.to_ascii_lowercase();
        let is_host = self.is_host_only && *self.path == *"/";
        (!self.is_secure || is_encrypted)
            && (!name.starts_with("__secure-") || self.is_secure)
            && (!name.starts_with("__host-") || (self.is_secure && is_host))
    }

    pub fn is_for(&self, url: &Url, now: u64) -> bool {
        let host = url.host();
        let is_host = match self.is_host_only {
            true => *self.domain == *host,
            false => is_within(host, &self.domain),
        };
        is_host
            && path_is_below(url.path(), &self.path)
            && (!self.is_secure || url.scheme() == Scheme::Https)
            && !self.has_expired(now)
    }

    pub fn has_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }

    /// One that replaces another.
    pub fn is_same(&self, other: &Cookie) -> bool {
        (&self.name, &self.domain, &self.path) == (&other.name, &other.domain, &other.path)
    }

    /// The site whose it is.
    pub fn site(&self) -> String {
        let url = Url::parse(&format!("{}{}/", Scheme::Https.prefix(), self.domain));
        url.map_or_else(|_| self.domain.to_string(), |url| url.site().as_str().to_owned())
    }

    pub fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }
}

/// Name and value, if they can be sent.
pub(super) fn pair(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let can_be_sent = |text: &str| !text.chars().any(|c| c.is_control() || c == ';');
    let is_short = name.len() + value.len() <= PAIR_BYTES_MAX;
    (is_short && !name.is_empty() && can_be_sent(name) && can_be_sent(value))
        .then_some((name, value))
}

/// Whether a host is that domain or below it.
pub(crate) fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn path_is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || above.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(last) => &path[..last],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000_000;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn sent(set: &str, from: &str, to: &str) -> bool {
        Cookie::parse(set.as_bytes(), &url(from), NOW).is_some_and(|c| c.is_for(&url(to), NOW))
    }

    #[test]
    fn a_cookie_goes_back_to_its_host_its_path_and_those_its_domain_names() {
        for (set, from, to, wanted) in [
            ("a=1", "http://a.org/x/y", "http://a.org/x/z", true),
            ("a=1", "http://a.org/x/y", "http://a.org/xz", false),
            ("a=1; Path=/", "http://a.org/x/y", "http://a.org/z", true),
            ("a=1", "http://a.org/", "http://www.a.org/", false),
            ("a=1; Domain=.a.org", "http://www.a.org/", "http://docs.a.org/", true),
            ("a=1; Domain=b.org", "http://a.org/", "http://b.org/", false),
            ("a=1; Domain=b.org", "http://a.org/", "http://a.org/", false),
            ("a=1; Domain=org", "http://a.org/", "http://a.org/", false),
            ("a=1; Domain=co.uk", "http://a.co.uk/", "http://b.co.uk/", false),
            ("a=1; Domain=rg", "http://a.org/", "http://a.org/", false),
            ("a=1; Secure", "https://a.org/", "http://a.org/", false),
            ("a=1; Secure", "https://a.org/", "https://a.org/", true),
            ("a=1; Secure", "http://a.org/", "https://a.org/", false),
            ("a=1; Max-Age=0", "http://a.org/", "http://a.org/", false),
            ("a=1; Max-Age=9; Expires=x", "http://a.org/", "http://a.org/", true),
            ("a=1; Expires=Wed, 21 Oct 1998 07:28:00 GMT", "http://a.org/", "http://a.org/", false),
            ("__Host-a=1; Path=/", "https://a.org/", "https://a.org/", false),
            ("__Host-a=1; Path=/; Secure", "https://a.org/", "https://a.org/", true),
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", true),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", false),
            ("no pair", "http://a.org/", "http://a.org/", false),
            ("=1", "http://a.org/", "http://a.org/", false),
            ("a=\u{1}", "http://a.org/", "http://a.org/", false),
        ] {
            assert_eq!(sent(set, from, to), wanted, "{set:?} from {from} to {to}");
        }
        let long = format!("a={}", "x".repeat(PAIR_BYTES_MAX));
        assert!(!sent(&long, "http://a.org/", "http://a.org/"));
    }
}
