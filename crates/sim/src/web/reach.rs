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
use super::place::{Face, Place, What};
use super::reply::{Body, PageRef};
use super::robots::RobotsKind;
use super::truth::Truth;

/// How far from the seeds a crawl may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
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
    pub documents: Vec<Place>,
    /// What robots.txt forbids.
    pub denied: Vec<Place>,
    /// Redirects, circles included.
    pub redirects: Vec<Place>,
    /// Doors of traps.
    pub traps: Vec<Place>,
    /// Missing, broken, or on a host that cannot be reached.
    pub dead: Vec<Place>,
}

impl Reached {
    /// The pages found at least once, as (site, number), under whatever URL.
    pub fn pages(&self, web: &Web) -> BTreeSet<(u32, u32)> {
        let page = |&place: &Place| match web.original(place).what {
            What::Page(n) => Some((place.site, n)),
            _ => None,
        };
        self.documents.iter().filter_map(page).collect()
    }
}

impl Web {
    pub fn reachable(&self, seeds: &[Url], scope: Scope) -> Reached {
        self.reachable_by((seeds, scope), scope != Scope::Any)
    }

    /// The same of a crawl that tries sitemaps which nobody names, or does not.
    pub fn reachable_by(&self, (seeds, scope): (&[Url], Scope), tries: bool) -> Reached {
        let seeds: Vec<Place> = seeds.iter().filter_map(|url| self.place(url)).collect();
        let hosts: BTreeSet<(u32, Face)> =
            seeds.iter().map(|seed| (seed.site, seed.face)).collect();
        let sites: BTreeSet<u32> = hosts.iter().map(|&(site, _)| site).collect();
        let within = |place: &Place| match scope {
            Scope::Hosts => hosts.contains(&(place.site, place.face)),
            Scope::Sites => !matches!(place.face, Face::Ghost(_)) && sites.contains(&place.site),
            Scope::Any => true,
        };
        let mut reached = Reached::default();
        let mut seen: PlainSet<Place> = seeds.iter().copied().collect();
        let mut hosts_met: PlainSet<(u32, Face)> = PlainSet::default();
        let mut queue: VecDeque<Place> = seeds.into_iter().collect();
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
    fn announced(&self, place: Place, tries: bool) -> Option<Place> {
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
        named.then_some(Place { face, what: What::Sitemap, ..place })
    }

    /// Books a place and lists what it leads to.
    fn visit(&self, place: Place, reached: &mut Reached, found: &mut Vec<Place>) {
        if !self.allowed(place) {
            return reached.denied.push(place);
        }
        match self.truth_of(place) {
            Truth::Redirect { to } => {
                reached.redirects.push(place);
                found.push(to);
            }
            Truth::Circle => reached.redirects.push(place),
            Truth::Trap => reached.traps.push(place),
            Truth::Missing | Truth::Broken | Truth::Ghost(_) | Truth::Foreign => {
                reached.dead.push(place);
            }
            Truth::Page { .. }
            | Truth::Duplicate { .. }
            | Truth::Robots
            | Truth::Sitemap
            | Truth::Requisite
            | Truth::Feed => {
                reached.documents.push(place);
                self.followed(place, found);
            }
        }
    }

    /// The links of a document that a polite crawler follows.
    fn followed(&self, place: Place, found: &mut Vec<Place>) {
        let page = PageRef { place, version: 0 };
        let body = match place.what {
            What::Sitemap | What::SitemapPart(_) => Body::Sitemap(page),
            What::Feed => Body::Feed(page),
            What::Page(n) | What::Print(n) | What::Session(n, _) => {
                let site = &self.sites[place.site as usize];
                let manner = manner(&self.config, site, place.site, n);
                if hides_links(manner) {
                    return;
                }
                Body::Html(page)
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
