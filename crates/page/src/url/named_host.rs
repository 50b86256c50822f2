//! A host as its owner names it: a name or an address, on any port or on one.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{Scheme, Url};

/// A name or an address, and a port if only that one is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamedHost {
    /// As in a canonical URL.
    host: Box<str>,
    /// Any, if none.
    port: Option<u16>,
}

impl NamedHost {
    /// Whether a URL is on this host, whatever its scheme.
    pub fn has(&self, url: &Url) -> bool {
        self.is(url.host(), url.port())
    }

    /// Whether it is this one: a host as a URL has it, and its effective port.
    pub fn is(&self, host: &str, port: Option<u16>) -> bool {
        *self.host == *host && self.port.is_none_or(|own| Some(own) == port)
    }
}

impl FromStr for NamedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedHost, String> {
        let wrong = || "no host: write example.org, example.org:8443 or [::1]".to_owned();
        if text.is_empty() || text.contains(['/', '?', '#', '@', '\\', ' ', '*']) {
            return Err(wrong());
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => {
                (name, Some(port.parse().map_err(|_| wrong())?))
            }
            _ => (text, None),
        };
        let url = Url::parse(&format!("{}{name}/", Scheme::Http.prefix())).map_err(|_| wrong())?;
        Ok(NamedHost { host: url.host().into(), port })
    }
}

impl Serialize for NamedHost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for NamedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_as_people_write_it_and_matched_as_urls_have_it() {
        let has = |text: &str, url: &str| {
            text.parse::<NamedHost>().unwrap().has(&Url::parse(url).unwrap())
        };
        assert!(has("Docs.Example.org", "https://docs.example.org/x"));
        assert!(has("docs.example.org", "http://docs.example.org:8080/"));
        assert!(has("docs.example.org:443", "https://docs.example.org/"));
        assert!(!has("docs.example.org:8443", "https://docs.example.org/"));
        assert!(!has("example.org", "https://docs.example.org/"));
        assert!(has("[::1]", "http://[::1]:81/") && has("[::1]:81", "http://[::1]:81/"));
        assert!(has("bücher.example", "http://xn--bcher-kva.example/"));
        for wrong in ["", "a b", "http://a.org/", "a.org/x", "u@a.org", "a.org:x", "*.a.org", ":"] {
            assert!(wrong.parse::<NamedHost>().is_err(), "{wrong}");
        }
        for text in ["a.org", "a.org:8443", "[::1]:81"] {
            assert_eq!(text.parse::<NamedHost>().unwrap().to_string(), text);
        }
    }
}
