//! The parts of a host's name, as Common Crawl's index has them.
//!
//! A registry's suffix is one of ICANN's (`co.uk`); a private one is given out by a company
//! (`github.io`). Addresses have no parts.

use std::net::IpAddr;

use psl::Psl as _;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostParts<'h> {
    pub tld: Option<&'h str>,
    /// The second last label, then outwards to the fifth last.
    pub labels: [Option<&'h str>; 4],
    pub registry_suffix: Option<&'h str>,
    pub registered_domain: Option<&'h str>,
    pub private_suffix: Option<&'h str>,
    pub private_domain: Option<&'h str>,
    pub reversed: Option<String>,
}

impl<'h> HostParts<'h> {
    pub(crate) fn of(host: &'h str) -> HostParts<'h> {
        let bare = host.trim_matches(['[', ']']);
        if host.is_empty() || bare.parse::<IpAddr>().is_ok() {
            return HostParts::default();
        }
        let host = host.trim_end_matches('.');
        let mut labels = host.rsplit('.');
        let tld = labels.next();
        let mut next = || labels.next();
        let labels = [next(), next(), next(), next()];
        let private_suffix = psl::suffix_str(host);
        let registry_suffix = private_suffix.and_then(registry_suffix);
        HostParts {
            tld,
            labels,
            registry_suffix,
            registered_domain: registry_suffix.and_then(|suffix| domain(host, suffix)),
            private_suffix,
            private_domain: private_suffix.and_then(|suffix| domain(host, suffix)),
            reversed: Some(host.rsplit('.').collect::<Vec<_>>().join(".")),
        }
    }
}

/// The registry's suffix that a suffix ends in.
fn registry_suffix(suffix: &str) -> Option<&str> {
    let is_private = |suffix: &str| {
        let found = psl::List.suffix(suffix.as_bytes());
        found.is_some_and(|found| found.typ() == Some(psl::Type::Private))
    };
    let mut suffix = suffix;
    while is_private(suffix) {
        let (_, outer) = suffix.split_once('.')?;
        suffix = psl::suffix_str(outer)?;
    }
    Some(suffix)
}

/// The suffix with one label before it.
fn domain<'h>(host: &'h str, suffix: &str) -> Option<&'h str> {
    let before = host.strip_suffix(suffix)?.strip_suffix('.')?;
    let label = before.rsplit('.').next()?;
    host.get(host.len() - suffix.len() - 1 - label.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_parted_at_the_registry_s_suffix_and_at_the_private_one() {
        let parts = HostParts::of("news.bbc.co.uk");
        assert_eq!(parts.tld, Some("uk"));
        assert_eq!(parts.labels, [Some("co"), Some("bbc"), Some("news"), None]);
        assert_eq!(parts.registry_suffix, Some("co.uk"));
        assert_eq!(parts.registered_domain, Some("bbc.co.uk"));
        assert_eq!(parts.private_domain, Some("bbc.co.uk"));
        assert_eq!(parts.reversed.as_deref(), Some("uk.co.bbc.news"));
        let parts = HostParts::of("me.github.io");
        assert_eq!((parts.registry_suffix, parts.private_suffix), (Some("io"), Some("github.io")));
        assert_eq!(parts.registered_domain, Some("github.io"));
        assert_eq!(parts.private_domain, Some("me.github.io"));
        assert_eq!(HostParts::of("127.0.0.1"), HostParts::default());
        assert_eq!(HostParts::of("[::1]"), HostParts::default());
        assert_eq!(HostParts::of("localhost").registered_domain, None);
    }
}
