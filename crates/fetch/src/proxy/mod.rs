//! Proxies: through which one a URL is fetched, if any.
//!
//! Where names are resolved decides how far the guard of addresses holds:
//!
//! - `socks5://`: here. The proxy is told the address that was judged; nothing is left to it.
//! - `http://`, `https://`: here, if they can be, and what they resolve to is judged as ever; but
//!   the proxy is told the name and resolves it again. A name that nobody here knows is left to it.
//! - `socks5h://`: by the proxy alone.
//!
//! What is left to a proxy has a *stand-in*: an address of a range that nothing is sent to, one
//! for each site, so that politeness to addresses holds for sites at least.

mod except;
mod greeting;

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::sync::Arc;

use hyper::header::HeaderValue;
use rhumb_page::url::{Scheme, Url};

use super::ConfigError;
use super::access::basic;
use except::Except;

pub(super) use greeting::{Goal, socks, tunnel};

/// The first half of addresses that stand in: 100::/64 is for packets that are to be discarded.
const STAND_IN: [u16; 4] = [0x100, 0, 0, 0];

/// A proxy, with what it is told of its user.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(super) kind: ProxyKind,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) login: Option<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    Http,
    /// The same, over TLS.
    Https,
    Socks {
        resolves: bool,
    },
}

impl ProxyKind {
    const WORDS: [(&'static str, ProxyKind, u16); 4] = [
        ("http", ProxyKind::Http, 80),
        ("https", ProxyKind::Https, 443),
        ("socks5", ProxyKind::Socks { resolves: false }, 1080),
        ("socks5h", ProxyKind::Socks { resolves: true }, 1080),
    ];
}

impl FromStr for Proxy {
    type Err = ConfigError;

    /// No message has any of the text: there may be a password in it.
    fn from_str(text: &str) -> Result<Proxy, ConfigError> {
        let wrong = || {
            let form = "a proxy is http://HOST:PORT, https://, socks5:// or socks5h://";
            ConfigError(format!("{form}, perhaps with USER:PASSWORD@ before the host"))
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let mut words = ProxyKind::WORDS.into_iter();
        let (_, kind, port) = words.find(|(word, ..)| *word == scheme).ok_or_else(wrong)?;
        let (login, server) = match rest.trim_end_matches('/').rsplit_once('@') {
            Some((login, server)) => (Some(login), server),
            None => (None, rest.trim_end_matches('/')),
        };
        // Ftp has another port of its own than any proxy.
        let url = format!("{}{server}/", Scheme::Ftp.prefix());
        let url = Url::parse(&url).map_err(|_| wrong())?;
        if url.path_and_query() != "/" || url.host().is_empty() {
            return Err(wrong());
        }
        let port = url.port().filter(|port| *port != Scheme::Ftp.default_port()).unwrap_or(port);
        let login = match login {
            Some(login) => {
                let (user, password) = login.split_once(':').unwrap_or((login, ""));
                Some((unescaped(user).ok_or_else(wrong)?, unescaped(password).ok_or_else(wrong)?))
            }
            None => None,
        };
        Ok(Proxy { kind, host: url.host().to_owned(), port, login })
    }
}

/// Percent-escapes undone; none if that leaves what cannot be sent.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte =
            escape.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

/// As it may be shown: without its user.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = ProxyKind::WORDS.iter().find(|(_, kind, _)| *kind == self.kind);
        let word = word.map_or("", |(word, ..)| word);
        write!(f, "{word}://{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

impl Proxy {
    pub fn has_login(&self) -> bool {
        self.login.is_some()
    }

    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        self.login.as_ref().map(|(user, password)| basic(user, password))
    }

    /// Whether it takes requests for plain http as they are, and no connections.
    pub(super) fn forwards(&self, url: &Url) -> bool {
        !matches!(self.kind, ProxyKind::Socks { .. }) && url.scheme() == Scheme::Http
    }
}

/// Which proxy is for which URL.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Arc<Proxy>>,
    https: Option<Arc<Proxy>>,
    except: Except,
    /// Our own machine is asked without one.
    spares_loopback: bool,
}

impl Proxies {
    /// One for all, but for the hosts that a list like that of `NO_PROXY` names.
    pub fn one(proxy: Proxy, except: &str) -> Proxies {
        let proxy = Some(Arc::new(proxy));
        let except = Except::read(except);
        Proxies { http: proxy.clone(), https: proxy, except, spares_loopback: false }
    }

    /// Those that the environment names, in small letters or capitals. `variable` reads it.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Proxies, ConfigError> {
        let either = |name: &str| {
            let given = variable(name).or_else(|| variable(&name.to_ascii_uppercase()));
            given.filter(|text| !text.trim().is_empty())
        };
        let proxy = |name: &str| -> Result<Option<Arc<Proxy>>, ConfigError> {
            let Some(text) = either(name) else { return Ok(None) };
            let wrong = |error: ConfigError| ConfigError(format!("{name}: {}", error.0));
            text.trim().parse().map(|proxy| Some(Arc::new(proxy))).map_err(wrong)
        };
        let all = proxy("all_proxy")?;
        // Behind a web server HTTP_PROXY may be a header that a stranger sent.
        let is_cgi = variable("REQUEST_METHOD").is_some();
        let http = if is_cgi { None } else { proxy("http_proxy")? };
        Ok(Proxies {
            http: http.or_else(|| all.clone()),
            https: proxy("https_proxy")?.or(all),
            except: Except::read(&either("no_proxy").unwrap_or_default()),
            spares_loopback: true,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// The proxy for a URL that is at this address, as far as that is known.
    pub(super) fn of(&self, url: &Url, address: Option<IpAddr>) -> Option<&Arc<Proxy>> {
        let proxy = match url.scheme() {
            Scheme::Https => self.https.as_ref(),
            _ => self.http.as_ref(),
        }?;
        let is_here = || {
            let host = url.host();
            let address = url.ip().or(address);
            is_localhost(host) || address.is_some_and(|ip| ip.is_loopback())
        };
        let is_spared = (self.spares_loopback && is_here()) || self.except.has(url, address);
        (!is_spared).then_some(proxy)
    }

    /// Who finds out where this URL's name leads.
    pub fn resolver_of(&self, url: &Url) -> ResolvedBy {
        match self.of(url, None) {
            None => ResolvedBy::Us,
            // A literal address has nothing to resolve.
            Some(_) if url.ip().is_some() => ResolvedBy::Us,
            Some(proxy) => match proxy.kind {
                ProxyKind::Socks { resolves: true } => ResolvedBy::Proxy,
                ProxyKind::Socks { resolves: false } => ResolvedBy::Us,
                ProxyKind::Http | ProxyKind::Https => ResolvedBy::UsOrProxy,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolvedBy {
    Us,
    /// By us if we can, else it is left to the proxy.
    UsOrProxy,
    Proxy,
}

/// A name that means our own machine, or the proxy's, whatever a name server says.
pub fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// What stands for the address of a site whose names a proxy resolves.
pub fn stand_in(site: &str) -> IpAddr {
    let mut hasher = DefaultHasher::new();
    site.hash(&mut hasher);
    let hash = hasher.finish();
    let [a, b, c, d] = STAND_IN;
    let [e, f, g, h] = [48, 32, 16, 0].map(|shift| (hash >> shift) as u16);
    IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h))
}

pub(super) fn is_stand_in(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(ip) if ip.segments()[..4] == STAND_IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_proxy_is_read_as_people_write_it_and_shown_without_its_user() {
        for (text, shown, login) in [
            ("http://proxy.example:3128", "http://proxy.example:3128", None),
            ("proxy:3128", "http://proxy:3128", None),
            ("https://proxy/", "https://proxy:443", None),
            ("socks5://[::1]", "socks5://[::1]:1080", None),
            ("socks5h://a:p%40%3A@10.0.0.1:9", "socks5h://10.0.0.1:9", Some(("a", "p@:"))),
            ("http://a:p@b@proxy:1", "http://proxy:1", Some(("a", "p@b"))),
        ] {
            let proxy: Proxy = text.parse().unwrap();
            assert_eq!((proxy.to_string().as_str(), proxy.has_login()), (shown, login.is_some()));
            let login = login.map(|(user, password)| (user.to_owned(), password.to_owned()));
            assert_eq!(proxy.login, login);
        }
        for text in ["", "ftp://secret:x@p", "http://", "http://secret@/", "http://a b:1", "socks5"]
        {
            if let Ok(proxy) = text.parse::<Proxy>() {
                assert_eq!(text, "socks5", "{proxy}");
                continue;
            }
            assert!(!text.parse::<Proxy>().unwrap_err().0.contains("secret"));
        }
    }

    #[test]
    fn the_environment_names_proxies_in_either_case_and_never_for_our_own_machine() {
        let variable = |name: &str| match name {
            "http_proxy" => Some("http://small:1".to_owned()),
            "HTTP_PROXY" => Some("http://large:1".to_owned()),
            "ALL_PROXY" => Some("socks5://all:2".to_owned()),
            "NO_PROXY" => Some("internal.example, 10.0.0.0/8".to_owned()),
            _ => None,
        };
        let proxies = Proxies::of_environment(variable).unwrap();
        let of = |text: &str| proxies.of(&url(text), None).map(|proxy| proxy.to_string());
        assert_eq!(of("http://a.org/").as_deref(), Some("http://small:1"));
        assert_eq!(of("https://a.org/").as_deref(), Some("socks5://all:2"));
        for direct in ["http://localhost/", "http://127.0.0.2/", "http://www.internal.example/"] {
            assert_eq!(of(direct), None, "{direct}");
        }
        assert_eq!(proxies.of(&url("http://a.org/"), Some([10, 1, 1, 1].into())), None);
        assert!(Proxies::of_environment(|_| None).unwrap().is_empty());
        let wrong = Proxies::of_environment(|name| (name == "https_proxy").then(|| "x://p".into()));
        assert!(wrong.unwrap_err().0.starts_with("https_proxy: a proxy is"));
        let one = Proxies::one("http://p:1".parse().unwrap(), "");
        assert!(one.of(&url("http://127.0.0.1/"), None).is_some());
    }

    #[test]
    fn a_site_that_is_left_to_a_proxy_has_one_address_that_nothing_else_has() {
        let ip = stand_in("a.org");
        assert!(is_stand_in(ip) && ip == stand_in("a.org") && ip != stand_in("b.org"));
        assert!(crate::address::permitted(ip, false).is_err());
        assert!(!is_stand_in("100:0:0:1::1".parse().unwrap()));
    }
}
