//! Sitemaps: which are asked for, as what, and what becomes of their links.
//!
//! A sitemap is fetched as robots.txt is: before the pages of its host, outside the order, and it
//! counts for no limit on pages. It is a URL like others all the same: in the sieve, in its host's
//! queue, under the rules of its host's robots.txt, retried, durable, of one partition.
//!
//! - Those that a robots.txt names are asked for: on any host in scope, and a few beyond the scope
//!   ([`OUTSIDE_MAX`]), since sites keep their sitemaps elsewhere; the same bound holds for those
//!   of other sites in scope, whose pages must not wait for what a stranger invents. So is what an
//!   index names of its own site, as far as the scope goes, or beyond it if the index is.
//! - Of a host whose robots.txt names none, `/sitemap.xml` is tried, if the owner wants whole sites
//!   (`Sitemaps::tried`) and the file may be asked for. That there is none is no failure, no page.
//! - A chain of them ends after [`crate::admit::SITEMAP_HOPS_MAX`]; a host has a limit on their
//!   number.
//! - What they list is put to admission like any link. It has no importance by that, and so comes
//!   last.

use crate::admission::Admission;
use crate::admit::Reach;
use crate::config::Config;
use crate::discovery::{Discovery, FoundAs};
use crate::outcome::{FetchReport, Outcome};
use crate::queue::Entry;
use crate::record::{Next, RecordStatus, Role, UrlRecord};
use rhumb_page::robots::Robots;
use rhumb_page::url::Url;

/// Sitemaps of one robots.txt; more are left to indexes.
const NAMED_MAX: usize = 1_000;
/// Of these, so many beyond the scope or of another site.
const OUTSIDE_MAX: usize = 10;

impl Admission {
    /// What the robots.txt of a host says of sitemaps. What that of a host beyond the scope says
    /// is of no interest: it was read for the sake of one sitemap.
    pub fn find_sitemaps(&mut self, config: &Config, own: Option<&Url>, robots: &Robots) {
        let Config { scope, sitemaps, .. } = config;
        let Some(own) = own.filter(|own| scope.admits_sitemap(own)) else { return };
        if sitemaps.named {
            let mut outside = 0;
            let named = robots.sitemaps().iter().take(NAMED_MAX);
            // Absolute, says the protocol; some give a path.
            let url = |text: &str| match text.starts_with('/') {
                true => own.join(text).ok(),
                false => Url::parse(text).ok(),
            };
            for url in named.filter_map(|text| url(text)) {
                let kind = match scope.admits_sitemap(&url) {
                    true => FoundAs::Sitemap,
                    false => FoundAs::OutsideSitemap,
                };
                let is_own = kind == FoundAs::Sitemap && url.site() == own.site();
                outside += usize::from(!is_own);
                if is_own || outside <= OUTSIDE_MAX {
                    self.outbox.push(Discovery { url, kind, depth: 0, hops: 0, from: None });
                }
            }
        }
        let is_bounded = scope.reach() != Reach::Any;
        if sitemaps.tried && is_bounded && robots.sitemaps().is_empty() {
            let url = own.join("/sitemap.xml").ok().filter(|url| robots.allows(url));
            let Some(url) = url else { return };
            let kind = FoundAs::TriedSitemap;
            self.outbox.push(Discovery { url, kind, depth: 0, hops: 0, from: None });
        }
    }
}

/// A sitemap that was tried and is not there is not tried again.
pub(crate) fn next_of(record: &UrlRecord, next: Next) -> Next {
    match (record.role, record.status) {
        (Role::TriedSitemap, RecordStatus::Gone) => Next::Never,
        _ => next,
    }
}

/// What to make of an answer, if it was asked for on a chance: whatever is no sitemap, and leads to
/// none, says that there is none. A request that failed says nothing, and is made again like any
/// other.
pub(crate) fn as_tried(entry: &Entry, report: FetchReport) -> FetchReport {
    if entry.record.role != Role::TriedSitemap {
        return report;
    }
    let stands = match &report.outcome {
        Outcome::Page(page) => page.is_sitemap,
        Outcome::Moved { to: Some(to) } => to.path().to_ascii_lowercase().contains("sitemap"),
        Outcome::Unchanged | Outcome::Cut { .. } => true,
        Outcome::Failed(_) | Outcome::Busy { .. } => true,
        _ => false,
    };
    match stands {
        true => report,
        false => FetchReport { outcome: Outcome::Gone, ..report },
    }
}

/// As what a link of a page is found, and how many sitemaps and redirects lead to it.
pub(crate) fn link(from: &Entry, to: &Url, kind: FoundAs) -> (FoundAs, u8) {
    if kind != FoundAs::Sitemap {
        return (kind, 0);
    }
    match from.record.role {
        Role::Page => (kind, 0),
        // A stranger's index names a page like any other.
        Role::Sitemap | Role::TriedSitemap if to.site() != from.url.site() => (FoundAs::Listed, 0),
        Role::OutsideSitemap if to.site() == from.url.site() => {
            (FoundAs::OutsideSitemap, from.record.hops.saturating_add(1))
        }
        _ => (kind, from.record.hops.saturating_add(1)),
    }
}
