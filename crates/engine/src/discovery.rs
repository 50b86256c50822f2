//! How URLs come to be known.

use crate::known::KnownLinks;
use crate::mass::Surfer;
use crate::record::Role;
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};

/// A URL that a worker read in a page, before the engine knows anything of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundUrl {
    pub url: Url,
    pub kind: FoundAs,
    /// How likely it leads to the crawl's topic, in fifteenths; nought without one.
    pub weight: u8,
}

impl FoundUrl {
    pub fn new(url: Url, kind: FoundAs) -> FoundUrl {
        FoundUrl { url, kind, weight: 0 }
    }

    /// Links from a seed, when found on a page of this depth. A sitemap named by a sitemap index is
    /// as near to the seed as the index.
    pub fn depth(&self, page: u16) -> u16 {
        page.saturating_add(u16::from(self.kind.role() == Role::Page))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FoundAs {
    Seed,
    Link,
    Redirect,
    /// A sitemap named by robots.txt or by a sitemap index.
    Sitemap,
    /// A page named by a sitemap or a feed.
    Listed,
    /// The same, with the second (since 1970) at which it is said to have changed.
    Announced(u32),
    /// Known, and refused or failed before: to be admitted by the rules in force now.
    Readmit,
    /// On a page that is one copy of many, or nearly one: it counts as a link and is not followed.
    Copied,
    /// Known and waiting, and more important than when it was queued.
    Promoted,
    /// A sitemap that nobody named.
    TriedSitemap,
    /// A sitemap beyond the scope, named by a robots.txt within.
    OutsideSitemap,
    /// The owner wants it now, known or not.
    Asked,
    /// A page or a stylesheet is shown with it.
    Requisite,
    Stylesheet,
    /// The same where no link may lead.
    OutsideRequisite,
    OutsideStylesheet,
}

impl FoundAs {
    /// The owner named it: filters speak of what the crawl finds.
    pub fn is_named(self) -> bool {
        matches!(self, FoundAs::Seed | FoundAs::Asked)
    }

    /// Known or not, and refused or not: it is to be asked for, if the rules admit it.
    pub fn is_readmitted(self) -> bool {
        matches!(self, FoundAs::Seed | FoundAs::Asked | FoundAs::Readmit)
    }

    pub fn requisite(is_stylesheet: bool, is_inside: bool) -> FoundAs {
        match (is_stylesheet, is_inside) {
            (false, true) => FoundAs::Requisite,
            (true, true) => FoundAs::Stylesheet,
            (false, false) => FoundAs::OutsideRequisite,
            (true, false) => FoundAs::OutsideStylesheet,
        }
    }

    pub fn is_requisite(self) -> bool {
        self.role().is_requisite()
    }

    /// What a URL that is found so is fetched as, if it is new.
    pub fn role(self) -> Role {
        match self {
            FoundAs::Sitemap => Role::Sitemap,
            FoundAs::TriedSitemap => Role::TriedSitemap,
            FoundAs::OutsideSitemap => Role::OutsideSitemap,
            FoundAs::Requisite => Role::Requisite,
            FoundAs::Stylesheet => Role::Stylesheet,
            FoundAs::OutsideRequisite => Role::OutsideRequisite,
            FoundAs::OutsideStylesheet => Role::OutsideStylesheet,
            _ => Role::Page,
        }
    }
}

impl Role {
    /// As what a redirect of such a URL is found.
    pub fn redirected(self) -> FoundAs {
        match self {
            Role::Page => FoundAs::Redirect,
            Role::Sitemap => FoundAs::Sitemap,
            Role::TriedSitemap => FoundAs::TriedSitemap,
            Role::OutsideSitemap => FoundAs::OutsideSitemap,
            Role::Requisite => FoundAs::Requisite,
            Role::Stylesheet => FoundAs::Stylesheet,
            Role::OutsideRequisite => FoundAs::OutsideRequisite,
            Role::OutsideStylesheet => FoundAs::OutsideStylesheet,
        }
    }
}

/// The page that a link was read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Its number.
    pub page: u32,
    /// It is the page's last.
    pub ends: bool,
    /// How the page is left.
    pub surfer: Surfer,
    /// How likely it is left by this link, in fifteenths, and [`Origin::STRANGE`].
    weight: u8,
}

impl Origin {
    /// The page is of another site than what it links to.
    const STRANGE: u8 = 1 << 7;

    /// A link of a page that is left by all its links alike.
    pub fn of(page: u32, ends: bool) -> Origin {
        Origin { page, ends, surfer: Surfer::USUAL, weight: 0 }
    }

    pub fn left_by(self, surfer: Surfer) -> Origin {
        Origin { surfer, ..self }
    }

    /// So likely, in fifteenths, is this link taken.
    pub fn weighing(self, weight: u8) -> Origin {
        Origin { weight: weight & !Self::STRANGE | self.weight & Self::STRANGE, ..self }
    }

    pub fn weight(self) -> u8 {
        self.weight & !Self::STRANGE
    }

    /// From a page at one URL to another URL.
    pub fn between(self, from: &Url, to: &Url) -> Origin {
        let is_strange = from.host() != to.host() && from.site() != to.site();
        let strange = if is_strange { Self::STRANGE } else { 0 };
        Origin { weight: self.weight() | strange, ..self }
    }

    pub fn is_strange(self) -> bool {
        self.weight & Self::STRANGE != 0
    }
}

/// A found URL with its place in the crawl.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    pub url: Url,
    pub kind: FoundAs,
    /// Links from a seed; a redirect does not count.
    pub depth: u16,
    /// Redirects since the last link.
    pub hops: u8,
    /// None for what no page links to, such as seeds.
    pub from: Option<Origin>,
}

/// Links on their way through the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lead {
    /// To be sifted.
    New(Discovery),
    /// Some whose numbers are known: there is nothing to sift. They go along because the links of
    /// a page count together.
    Known { links: Box<KnownLinks>, from: Origin },
}

impl Lead {
    /// The page whose link this is: a requisite is no link.
    pub fn from(&self) -> Option<Origin> {
        match self {
            Lead::New(discovery) => discovery.from.filter(|_| !discovery.kind.is_requisite()),
            Lead::Known { from, .. } => Some(*from),
        }
    }

    /// What is to be sifted.
    pub fn sought(&self) -> Option<&Discovery> {
        match self {
            Lead::New(discovery) => Some(discovery),
            Lead::Known { .. } => None,
        }
    }

    /// How many links these are.
    pub fn links_len(&self) -> usize {
        match self {
            Lead::New(_) => 1,
            Lead::Known { links, .. } => links.len(),
        }
    }
}

/// Links that travel together: one outbox row.
pub type Chunk = Vec<Lead>;

/// The most links in one outbox row, so that a page with 200k links stalls nobody.
pub const CHUNK_MAX: usize = 1_000;
