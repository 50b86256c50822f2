//! The oracle: what a complete and polite crawl finds, by walking the model itself.
//!
//! It follows what a crawler should: links without nofollow, redirects, sitemaps named by a
//! robots.txt, feeds; within the scope and the rules of robots.txt. Traps are met but not entered:
//! they lead nowhere but to themselves and to the root of their site. Pages that fail at first
//! count as found, since they recover.

use std::collections::{BTreeSet, VecDeque};

use rhumb_page::url::Url;
use rhumb_state::plain::PlainSet;

use super::Web;
use super::manner::{Manner, manner};
use super::place::{Face, WebPlace, What};
use super::reply::{PageRef, WebBody};
use super::robots::RobotsKind;
use super::truth::UrlTruth;

/// How far from the seeds a crawl may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachScope {
    /// Hosts of the seeds.
    Hosts,
    /// Sites of the seeds.
    Sites,
    Any,
}

/// What a walk met, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Documents that are there: pages, copies, feeds and sitemaps.
    pub documents: Vec<WebPlace>,
    /// What robots.txt forbids.
    pub denied: Vec<WebPlace>,
    /// Redirects, circles included.
    pub redirects: Vec<WebPlace>,
    /// Doors of traps.
    pub traps: Vec<WebPlace>,
    /// Missing, broken, or on a host that cannot be reached.
    pub dead: Vec<WebPlace>,
}

impl Reached {
    /// The pages found at least once, as (site, number), under whatever URL.
    pub fn pages(&self, web: &Web) -> BTreeSet<(u32, u32)> {
        let page = |&place: &WebPlace| match web.original(place).what {
            What::Page(n) => Some((place.site, n)),
            _ => None,
        };
        self.documents.iter().filter_map(page).collect()
    }
}

impl Web {
    pub fn reachable(&self, seeds: &[Url], scope: ReachScope) -> Reached {
        self.reachable_by((seeds, scope), scope != ReachScope::Any)
    }

    /// The same of a crawl that tries sitemaps which nobody names, or does not.
    pub fn reachable_by(&self, (seeds, scope): (&[Url], ReachScope), tries: bool) -> Reached {
        let seeds: Vec<WebPlace> = seeds.iter().filter_map(|url| self.place(url)).collect();
        let hosts: BTreeSet<(u32, Face)> =
            seeds.iter().map(|seed| (seed.site, seed.face)).collect();
        let sites: BTreeSet<u32> = hosts.iter().map(|&(site, _)| site).collect();
        let within = |place: &WebPlace| match scope {
            ReachScope::Hosts => hosts.contains(&(place.site, place.face)),
            ReachScope::Sites => {
                !matches!(place.face, Face::Ghost(_)) && sites.contains(&place.site)
            }
            ReachScope::Any => true,
        };
        let mut reached = Reached::default();
        let mut seen: PlainSet<WebPlace> = seeds.iter().copied().collect();
        let mut hosts_met: PlainSet<(u32, Face)> = PlainSet::default();
        let mut queue: VecDeque<WebPlace> = seeds.into_iter().collect();
        let mut found = Vec::new();
        while let Some(place) = queue.pop_front() {
            found.clear();
            if hosts_met.insert((place.site, place.face)) {
                found.extend(self.announced(place, tries));
            }
            self.visit(place, &mut reached, &mut found);
            for &next in &found {
                if within(&next) && seen.insert(next) {
                    queue.push_back(next);
                }
            }
        }
        let Reached { documents, denied, redirects, traps, dead } = &mut reached;
        [documents, denied, redirects, traps, dead].into_iter().for_each(|list| list.sort());
        reached
    }

    /// The sitemap that the robots.txt of the place's host names, or that is there to be tried.
    fn announced(&self, place: WebPlace, tries: bool) -> Option<WebPlace> {
        if matches!(place.face, Face::Ghost(_)) {
            return None;
        }
        let site = &self.sites[place.site as usize];
        // The robots.txt of the naked domain is the one it redirects to.
        let face = if place.face == Face::Bare { Face::Www } else { place.face };
        let named = site.sitemap
            && face != Face::Blog
            && site.robots != RobotsKind::DeniesAll
            && (site.robots != RobotsKind::Absent || tries);
        named.then_some(WebPlace { face, what: What::Sitemap, ..place })
    }

    /// Books a place and lists what it leads to.
    fn visit(&self, place: WebPlace, reached: &mut Reached, found: &mut Vec<WebPlace>) {
        if !self.allowed(place) {
            return reached.denied.push(place);
        }
        match self.truth_of(place) {
            UrlTruth::Redirect { to } => {
                reached.redirects.push(place);
                found.push(to);
            }
            UrlTruth::Circle => reached.redirects.push(place),
            UrlTruth::Trap => reached.traps.push(place),
            UrlTruth::Missing | UrlTruth::Broken | UrlTruth::Ghost(_) | UrlTruth::Foreign => {
                reached.dead.push(place);
            }
            UrlTruth::Page { .. }
            | UrlTruth::Duplicate { .. }
            | UrlTruth::Robots
            | UrlTruth::Sitemap
            | UrlTruth::Requisite
            | UrlTruth::Feed => {
                reached.documents.push(place);
                self.followed(place, found);
            }
        }
    }

    /// The links of a document that a polite crawler follows.
    fn followed(&self, place: WebPlace, found: &mut Vec<WebPlace>) {
        let page = PageRef { place, version: 0 };
        let body = match place.what {
            What::Sitemap | What::SitemapPart(_) => WebBody::Sitemap(page),
            What::Feed => WebBody::Feed(page),
            What::Page(n) | What::Print(n) | What::Session(n, _) => {
                let site = &self.sites[place.site as usize];
                let manner = manner(&self.config, site, place.site, n);
                if hides_links(manner) {
                    return;
                }
                WebBody::Html(page)
            }
            _ => return,
        };
        let mut arrows = Vec::new();
        self.arrows_of(&body, &mut arrows);
        found.extend(arrows.iter().filter(|arrow| !arrow.nofollow).map(|arrow| arrow.to));
    }
}

fn hides_links(manner: Manner) -> bool {
    matches!(manner, Manner::NoFollowByMeta | Manner::NoFollowByHeader | Manner::Media(_))
}
