//! Who links to whom: the links of a page in the order of its document, straight from the model.
//!
//! A site's pages form a tree (child k of page n is 8n + k), and every page links to its children:
//! so all rooted pages are reachable from the root. Over the tree lie navigation (root and
//! sections), content links (by a power law, in the site and beyond) and the odd ones: copies,
//! redirects, dead ends, traps.
//!
//! Within a host, links are relative; so a mirror's links stay on the mirror, and exact copies of a
//! page mean the same links.

use rhumb_page::url::Url;

use super::Web;
use super::chance::{Purpose, Stream, popular};
use super::manner::{Manner, manner};
use super::place::{CIRCLE, DEEP_MAX, Face, HOPS_MAX, SESSIONS, WebPlace, What, ghost_kind};
use super::site::{BRANCHING, page_draw};

/// What element a link comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebLinkKind {
    Anchor,
    Area,
    Frame,
    Canonical,
    /// The site's feed, by a link element.
    Feed,
    Refresh,
    /// An entry of a sitemap, or of an index of sitemaps.
    Sitemap,
    /// An item of a feed.
    Item,
}

/// A link of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub to: WebPlace,
    pub kind: WebLinkKind,
    pub nofollow: bool,
}

/// A link as a crawler finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebLink {
    pub url: Url,
    pub kind: WebLinkKind,
    pub nofollow: bool,
}

/// Sections linked to from every page of a site.
const NAVIGATION: u32 = 6;
/// Traps start at so many doors on the root page.
const TRAP_DOORS: [What; 3] = [What::Month(300), What::Deep(1), What::Visit(1)];

impl Web {
    /// The links of an HTML document as found at a place: those of the original, in document order,
    /// each target once. An original links to itself by its canonical link only; a copy may.
    pub(crate) fn arrows(&self, place: WebPlace, out: &mut Vec<Arrow>) {
        out.clear();
        let original = self.original(place);
        let mut page = Linking { web: self, place: original, out };
        match original.what {
            What::Page(n) => page.all(n),
            What::Month(m) => {
                page.anchor(What::Page(0));
                page.anchor(What::Month(m.saturating_add(1)));
                page.anchor(What::Month(m.saturating_sub(1)));
            }
            What::Deep(depth) => {
                page.anchor(What::Page(0));
                page.anchor(What::Deep(DEEP_MAX.min(depth + 1)));
            }
            What::Visit(token) => {
                page.anchor(What::Page(0));
                let token = page_draw(self.config.seed, Purpose::Token, place.site, token);
                let mut chance = Stream::new(token);
                (0..3).for_each(|_| page.anchor(What::Visit(chance.next() as u32)));
            }
            _ => {}
        }
        if place.face == Face::Mirror {
            out.iter_mut().filter(|arrow| is_relative(original, arrow)).for_each(|arrow| {
                arrow.to.face = Face::Mirror;
            });
        }
    }

    /// What a place has the bytes of: itself, unless it is a copy.
    pub fn original(&self, place: WebPlace) -> WebPlace {
        let face = if place.face == Face::Mirror { Face::Www } else { place.face };
        let what = match place.what {
            What::Print(n) | What::Session(n, _) => What::Page(n),
            what => what,
        };
        WebPlace { face, what, ..place }
    }
}

/// Whether a link of a document is written without its host.
pub(crate) fn is_relative(document: WebPlace, arrow: &Arrow) -> bool {
    let same_host = arrow.to.site == document.site && arrow.to.face == document.face;
    same_host && arrow.kind != WebLinkKind::Canonical
}

struct Linking<'a> {
    web: &'a Web,
    place: WebPlace,
    out: &'a mut Vec<Arrow>,
}

impl Linking<'_> {
    fn all(&mut self, n: u32) {
        let web = self.web;
        let number = self.place.site;
        let site = &web.sites[number as usize];
        let manner = manner(&web.config, site, number, n);
        let mut chance = Stream::new(page_draw(web.config.seed, Purpose::Links, number, n));
        self.head(n, manner, &mut chance);
        self.anchor(What::Page(0));
        (1..=NAVIGATION.min(site.rooted - 1)).for_each(|section| self.page(section));
        // The root of a large site leads to its sections, and each page to its children.
        let first = n.saturating_mul(BRANCHING).saturating_add(1);
        (first..first.saturating_add(BRANCHING).min(site.rooted))
            .for_each(|child| self.page(child));
        self.content(manner, &mut chance);
        self.odd(n, &mut chance);
    }

    /// Links of the head: canonical, feed, refresh.
    fn head(&mut self, n: u32, manner: Manner, chance: &mut Stream) {
        let web = self.web;
        // The canonical link is absolute: on a copy it names the original.
        if web.config.oddities.copies > 0 && chance.below(4) == 0 {
            let to = web.page_place(self.place.site, n);
            self.out.push(Arrow { to, kind: WebLinkKind::Canonical, nofollow: false });
        }
        if n == 0 && web.sites[self.place.site as usize].sitemap {
            self.push(What::Feed, WebLinkKind::Feed, false);
        }
        if manner == Manner::Refresh {
            self.push(What::Page(0), WebLinkKind::Refresh, false);
        }
    }

    fn content(&mut self, manner: Manner, chance: &mut Stream) {
        let web = self.web;
        let number = self.place.site;
        let rooted = web.sites[number as usize].rooted;
        let spread = web.config.links_mean.saturating_sub(NAVIGATION + 2);
        // Evenly from nothing to twice the mean.
        for i in 0..chance.below(2 * spread + 1) {
            let nofollow = chance.per_mille(web.config.oddities.nofollow_links);
            if chance.per_mille(web.config.cross_per_mille) {
                self.cross(nofollow, chance);
                continue;
            }
            // What is popular is often linked already; then any page will do.
            let popular = popular(chance.next(), rooted);
            let target = match self.links_to(popular) {
                true => chance.below(rooted),
                false => popular,
            };
            let kind = match (manner, i) {
                (Manner::Framed, 0..2) => WebLinkKind::Frame,
                (Manner::Framed, 2..4) => WebLinkKind::Area,
                _ => WebLinkKind::Anchor,
            };
            // Only anchors say nofollow.
            self.push_page(target, kind, nofollow && kind == WebLinkKind::Anchor);
        }
    }

    /// A link to another site: to a popular page of a site that is popular itself.
    fn cross(&mut self, nofollow: bool, chance: &mut Stream) {
        let web = self.web;
        let site = match chance.below(2) {
            0 => popular(chance.next(), web.config.sites),
            _ => chance.below(web.config.sites),
        };
        let n = popular(chance.next(), web.sites[site as usize].rooted);
        let bare = web.config.oddities.redirects > 0 && n == 0 && chance.below(4) == 0;
        let to = match bare {
            true => WebPlace { site, face: Face::Bare, what: What::Page(0) },
            false => web.page_place(site, n),
        };
        self.add(Arrow { to, kind: WebLinkKind::Anchor, nofollow });
    }

    /// Links that lead to something other than a page.
    fn odd(&mut self, n: u32, chance: &mut Stream) {
        let web = self.web;
        let odd = &web.config.oddities;
        if chance.per_mille(odd.copies) {
            match chance.below(2) {
                0 => self.anchor(What::Print(n)),
                _ => self.anchor(What::Session(n, chance.below(u32::from(SESSIONS)) as u8)),
            }
        }
        if self.place.face != Face::Blog && chance.per_mille(odd.redirects) {
            self.redirect(chance);
        }
        if self.place.face != Face::Blog && chance.per_mille(odd.dead_links) {
            self.dead_end(chance);
        }
        if n == 0 && web.sites[self.place.site as usize].trap {
            TRAP_DOORS.into_iter().for_each(|door| self.anchor(door));
        }
        if n == 0 && web.sites[self.place.site as usize].mirror {
            let to = WebPlace { face: Face::Mirror, ..self.place };
            self.add(Arrow { to, kind: WebLinkKind::Anchor, nofollow: false });
        }
    }

    fn redirect(&mut self, chance: &mut Stream) {
        if chance.below(8) == 0 {
            return self.anchor(What::Circle(chance.below(u32::from(CIRCLE)) as u8));
        }
        let site = &self.web.sites[self.place.site as usize];
        let target = chance.below(site.rooted);
        // A redirect stands on the host of the page it leads to.
        if self.web.home(self.place.site, target) == Face::Www {
            self.anchor(What::Moved(target, chance.below(u32::from(HOPS_MAX)) as u8));
        }
    }

    fn dead_end(&mut self, chance: &mut Stream) {
        let number = chance.below(1000) as u16;
        match chance.below(4) {
            0 => self.anchor(What::Gone(number)),
            1 => self.anchor(What::Missing(number)),
            2 => self.anchor(What::Broken(number)),
            _ if self.web.config.ghosts > 0 => {
                let site = chance.below(self.web.config.ghosts);
                let to =
                    WebPlace { site, face: Face::Ghost(ghost_kind(site)), what: What::Page(0) };
                self.add(Arrow { to, kind: WebLinkKind::Anchor, nofollow: false });
            }
            _ => {}
        }
    }

    fn links_to(&self, n: u32) -> bool {
        let page = self.web.page_place(self.place.site, n);
        page == self.place || self.out.iter().any(|known| known.to == page)
    }

    fn page(&mut self, n: u32) {
        self.push_page(n, WebLinkKind::Anchor, false);
    }

    fn anchor(&mut self, what: What) {
        self.push(what, WebLinkKind::Anchor, false);
    }

    fn push_page(&mut self, n: u32, kind: WebLinkKind, nofollow: bool) {
        let to = self.web.page_place(self.place.site, n);
        self.add(Arrow { to, kind, nofollow });
    }

    /// Something that stands on this site's own front; copies of a page stand beside the page.
    fn push(&mut self, what: What, kind: WebLinkKind, nofollow: bool) {
        let face = match (self.place.face, what) {
            (Face::Blog, What::Print(_) | What::Session(..)) => Face::Blog,
            _ => Face::Www,
        };
        let to = WebPlace { site: self.place.site, face, what };
        self.add(Arrow { to, kind, nofollow });
    }

    /// Each target once, by its first link, as readers of links count them.
    fn add(&mut self, arrow: Arrow) {
        if arrow.to != self.place && self.out.iter().all(|known| known.to != arrow.to) {
            self.out.push(arrow);
        }
    }
}
