//! The sites that the owner named by seeds: who may be told what the owner gave.

use std::collections::HashMap;

use rhumb_page::url::{Scheme, Site, Url};

/// Looked up, never iterated.
#[derive(Clone, Debug, Default)]
pub struct SeedSites(HashMap<Site, IsPlain>);

/// One of the site's seeds is plain http: its owner knows that all can be read on the way.
type IsPlain = bool;

impl SeedSites {
    pub fn add(&mut self, seed: &Url) {
        let is_plain = seed.scheme() == Scheme::Http;
        *self.0.entry(seed.site()).or_default() |= is_plain;
    }

    pub fn has(&self, url: &Url) -> bool {
        self.0.contains_key(&url.site())
    }

    /// Whether headers may go there.
    pub(super) fn may_have(&self, url: &Url) -> bool {
        self.0.get(&url.site()).is_some_and(|is_plain| *is_plain || is_encrypted(url))
    }

    /// Whether a login for that host may: its owner named the host, seed or not.
    pub(super) fn may_have_login(&self, url: &Url) -> bool {
        is_encrypted(url) || self.may_have(url)
    }

    /// Whether a cookie's domain belongs to one of them.
    pub(super) fn has_domain(&self, domain: &str) -> bool {
        let url = Url::parse(&format!("{}{domain}/", Scheme::Https.prefix()));
        url.is_ok_and(|url| self.has(&url))
    }
}

fn is_encrypted(url: &Url) -> bool {
    url.scheme() == Scheme::Https
}
