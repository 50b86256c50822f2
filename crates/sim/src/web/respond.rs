//! What the web answers: a pure function of URL, time and attempt.

use rhumb_page::url::Url;

use super::Web;
use super::chance::{mix, scale};
use super::faults::{Fault, Flake};
use super::links::{Arrow, Link, LinkKind};
use super::manner::{Manner, manner};
use super::place::{CIRCLE, Face, Ghost, Place, What};
use super::reply::{Body, PageRef, Reply};
use super::robots::{HUGE_ROBOTS_BYTES, ROBOTS_FAILURES, RobotsKind};
use super::site::Charset;

fn answer_of_ghost(ghost: Ghost) -> Reply {
    match ghost {
        Ghost::Mute => Reply::failing(Fault::Silent),
        Ghost::Lost | Ghost::Faulty | Ghost::Shut => Reply::failing(Fault::Refused),
    }
}

impl Web {
    /// Answers a request that arrives at `now_us`; `attempt` counts earlier requests for this URL.
    pub fn respond(&self, url: &Url, now_us: u64, attempt: u32) -> Reply {
        let Some(place) = self.place(url) else {
            return match self.face(url.host()) {
                // Nothing of it is there, robots.txt included.
                Some((_, Face::Ghost(ghost))) => answer_of_ghost(ghost),
                _ => Reply::note(404, "There is nothing here."),
            };
        };
        let down = self.answer_of_outage((place.site, place.face), place.what, now_us);
        let mut reply = down.unwrap_or_else(|| self.answer(place, now_us, attempt));
        let site = match place.face {
            Face::Ghost(_) => return reply,
            _ => &self.sites[place.site as usize],
        };
        if site.latency_us > 0 {
            let hash = self.place_hash(place, now_us);
            let spread = scale(hash, 1 + site.latency_us.min(1 << 30) as u32);
            reply.latency_us = site.latency_us / 2 + u64::from(spread);
        }
        reply
    }

    fn answer(&self, place: Place, now_us: u64, attempt: u32) -> Reply {
        match place.face {
            Face::Ghost(ghost) => return answer_of_ghost(ghost),
            Face::Bare => return self.redirect(301, Place { face: self.front(place), ..place }),
            Face::Www | Face::Blog | Face::Mirror => {}
        }
        match place.what {
            What::Page(_) | What::Print(_) | What::Session(..) => {
                self.answer_page(place, now_us, attempt)
            }
            What::Moved(n, 0) => self.redirect(301, Place { what: What::Page(n), ..place }),
            What::Moved(n, hops) => {
                self.redirect(302, Place { what: What::Moved(n, hops - 1), ..place })
            }
            What::Circle(k) => {
                self.redirect(302, Place { what: What::Circle((k + 1) % CIRCLE), ..place })
            }
            What::Robots => self.answer_robots(place, attempt),
            What::RobotsMoved => {
                Reply::document(Body::Robots(PageRef { place, version: 0 }), "text/plain")
            }
            What::Sitemap | What::SitemapPart(_) => {
                let packed = place.what != What::Sitemap;
                let content_type = if packed { "application/gzip" } else { "application/xml" };
                let version = self.sitemap_version(place, now_us);
                Reply::document(Body::Sitemap(PageRef { place, version }), content_type)
            }
            What::Feed => {
                Reply::document(Body::Feed(PageRef { place, version: 0 }), "application/rss+xml")
            }
            What::Month(_) | What::Deep(_) | What::Visit(_) => {
                Reply::document(Body::Html(PageRef { place, version: 0 }), "text/html")
            }
            What::Picture(_) => {
                Reply::document(Body::Other(PageRef { place, version: 0 }), "image/png")
            }
            What::Sheet(_) => {
                Reply::document(Body::Other(PageRef { place, version: 0 }), "text/css")
            }
            What::Gone(_) => Reply::note(410, "This page was removed."),
            What::Missing(_) => Reply::note(404, "There is no such page."),
            What::Broken(_) => Reply::note(500, "Something broke."),
        }
    }

    fn answer_page(&self, place: Place, now_us: u64, attempt: u32) -> Reply {
        let original = self.original(place);
        let What::Page(n) = original.what else { unreachable!("originals are pages") };
        let mut fault = Fault::None;
        match self.flake(original, attempt) {
            Some(Flake::Status { status, retry_after_s }) => {
                return Reply { retry_after_s, ..Reply::note(status, "Not now.") };
            }
            // These two come with the answer, not instead of it.
            Some(Flake::Fault(halfway @ (Fault::Cut(_) | Fault::Drip(_)))) => fault = halfway,
            Some(Flake::Fault(fault)) => return Reply::failing(fault),
            None => {}
        }
        if self.is_away(original, now_us) {
            return Reply::note(404, "There is no such page now.");
        }
        let site = &self.sites[place.site as usize];
        let page = PageRef { place, version: self.version(place.site, n, now_us) };
        let manner = manner(&self.config, site, place.site, n);
        let (body, content_type) = match (manner, site.charset) {
            (Manner::Media(media), _) => (Body::Other(page), media.content_type()),
            (_, Charset::Utf8) => (Body::Html(page), "text/html; charset=utf-8"),
            (_, Charset::Latin1ByHeader) => (Body::Html(page), "text/html; charset=iso-8859-1"),
            (_, Charset::Latin1ByMeta) => (Body::Html(page), "text/html"),
        };
        let honest = Reply::document(body, content_type).with_validators(site.validators);
        let reply = match site.lie {
            Some(lie) => lie.told(honest, now_us),
            None => honest,
        };
        let by_header = manner == Manner::NoFollowByHeader;
        Reply {
            fault,
            robots_tag: by_header.then_some("nofollow"),
            nofollow: by_header || manner == Manner::NoFollowByMeta,
            noindex: manner == Manner::NoIndex,
            ..reply
        }
    }

    fn answer_robots(&self, place: Place, attempt: u32) -> Reply {
        let rules = Reply::document(Body::Robots(PageRef { place, version: 0 }), "text/plain");
        match self.sites[place.site as usize].robots {
            RobotsKind::Absent => Reply::note(404, "No rules."),
            RobotsKind::Moved => self.redirect(301, Place { what: What::RobotsMoved, ..place }),
            RobotsKind::FailsAtFirst if attempt < ROBOTS_FAILURES => Reply::note(503, "Not now."),
            RobotsKind::SilentAtFirst if attempt < ROBOTS_FAILURES => Reply::failing(Fault::Silent),
            RobotsKind::Huge => Reply { flood_bytes: HUGE_ROBOTS_BYTES, ..rules },
            _ => rules,
        }
    }

    fn redirect(&self, status: u16, to: Place) -> Reply {
        Reply { location: Some(self.url(to)), ..Reply::note(status, "It is elsewhere.") }
    }

    /// Where the naked domain leads: to the host that has the place.
    pub(crate) fn front(&self, place: Place) -> Face {
        match place.what {
            What::Page(n) | What::Print(n) | What::Session(n, _) | What::Moved(n, _) => {
                self.home(place.site, n)
            }
            _ => Face::Www,
        }
    }

    /// The links of an answer, as a reader of its rendered bytes finds them.
    pub fn links(&self, reply: &Reply) -> Vec<Link> {
        let (mut arrows, mut text) = (Vec::new(), String::with_capacity(80));
        self.arrows_of(&reply.body, &mut arrows);
        arrows
            .iter()
            .map(|arrow| Link {
                url: self.url_by(arrow.to, &mut text),
                kind: arrow.kind,
                nofollow: arrow.nofollow,
            })
            .collect()
    }

    /// The same as places: what the oracle walks.
    pub(crate) fn arrows_of(&self, body: &Body, out: &mut Vec<Arrow>) {
        out.clear();
        let mut list = |places: Vec<Place>, kind: LinkKind| {
            out.extend(places.into_iter().map(|to| Arrow { to, kind, nofollow: false }));
        };
        match body {
            Body::Html(page) => self.arrows(page.place, out),
            Body::Sitemap(page) => list(self.sitemap_entries(page.place), LinkKind::Sitemap),
            Body::Feed(page) => list(self.feed_items(page.place), LinkKind::Item),
            Body::Nothing | Body::Note(_) | Body::Robots(_) | Body::Other(_) => {}
        }
    }

    /// Stands for the bytes of a body: equal hashes, equal bytes, without rendering them.
    pub fn content_hash(&self, body: &Body) -> u64 {
        match *body {
            Body::Nothing => 0,
            Body::Note(text) => text.bytes().fold(1, |hash, byte| mix(hash ^ u64::from(byte))),
            // Two robots.txt files of a site differ in the sitemap they name.
            Body::Robots(page) => self.place_hash(page.place, 1),
            Body::Html(page) | Body::Sitemap(page) | Body::Feed(page) | Body::Other(page) => {
                self.place_hash(self.original(page.place), page.version)
            }
        }
    }
}
