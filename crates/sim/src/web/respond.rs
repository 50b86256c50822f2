//! What the web answers: a pure function of URL, time and attempt.

use rhumb_page::url::Url;

use super::Web;
use super::chance::{mix, scale};
use super::faults::{Fault, Flake};
use super::links::{Arrow, WebLink, WebLinkKind};
use super::manner::{Manner, manner};
use super::place::{CIRCLE, Face, Ghost, WebPlace, What};
use super::reply::{PageRef, WebBody, WebReply};
use super::robots::{HUGE_ROBOTS_BYTES, ROBOTS_FAILURES, RobotsKind};
use super::site::Charset;

fn answer_of_ghost(ghost: Ghost) -> WebReply {
    match ghost {
        Ghost::Mute => WebReply::failing(Fault::Silent),
        Ghost::Lost | Ghost::Faulty | Ghost::Shut => WebReply::failing(Fault::Refused),
    }
}

impl Web {
    /// Answers a request that arrives at `now_us`; `attempt` counts earlier requests for this URL.
    pub fn respond(&self, url: &Url, now_us: u64, attempt: u32) -> WebReply {
        let Some(place) = self.place(url) else {
            return match self.face(url.host()) {
                // Nothing of it is there, robots.txt included.
                Some((_, Face::Ghost(ghost))) => answer_of_ghost(ghost),
                _ => WebReply::note(404, "There is nothing here."),
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

    fn answer(&self, place: WebPlace, now_us: u64, attempt: u32) -> WebReply {
        match place.face {
            Face::Ghost(ghost) => return answer_of_ghost(ghost),
            Face::Bare => return self.redirect(301, WebPlace { face: self.front(place), ..place }),
            Face::Www | Face::Blog | Face::Mirror => {}
        }
        match place.what {
            What::Page(_) | What::Print(_) | What::Session(..) => {
                self.answer_page(place, now_us, attempt)
            }
            What::Moved(n, 0) => self.redirect(301, WebPlace { what: What::Page(n), ..place }),
            What::Moved(n, hops) => {
                self.redirect(302, WebPlace { what: What::Moved(n, hops - 1), ..place })
            }
            What::Circle(k) => {
                self.redirect(302, WebPlace { what: What::Circle((k + 1) % CIRCLE), ..place })
            }
            What::Robots => self.answer_robots(place, attempt),
            What::RobotsMoved => {
                WebReply::document(WebBody::Robots(PageRef { place, version: 0 }), "text/plain")
            }
            What::Sitemap | What::SitemapPart(_) => {
                let packed = place.what != What::Sitemap;
                let content_type = if packed { "application/gzip" } else { "application/xml" };
                let version = self.sitemap_version(place, now_us);
                WebReply::document(WebBody::Sitemap(PageRef { place, version }), content_type)
            }
            What::Feed => WebReply::document(
                WebBody::Feed(PageRef { place, version: 0 }),
                "application/rss+xml",
            ),
            What::Month(_) | What::Deep(_) | What::Visit(_) => {
                WebReply::document(WebBody::Html(PageRef { place, version: 0 }), "text/html")
            }
            What::Picture(_) => {
                WebReply::document(WebBody::Other(PageRef { place, version: 0 }), "image/png")
            }
            What::Sheet(_) => {
                WebReply::document(WebBody::Other(PageRef { place, version: 0 }), "text/css")
            }
            What::Gone(_) => WebReply::note(410, "This page was removed."),
            What::Missing(_) => WebReply::note(404, "There is no such page."),
            What::Broken(_) => WebReply::note(500, "Something broke."),
        }
    }

    fn answer_page(&self, place: WebPlace, now_us: u64, attempt: u32) -> WebReply {
        let original = self.original(place);
        let What::Page(n) = original.what else { unreachable!("originals are pages") };
        let mut fault = Fault::None;
        match self.flake(original, attempt) {
            Some(Flake::Status { status, retry_after_s }) => {
                return WebReply { retry_after_s, ..WebReply::note(status, "Not now.") };
            }
            // These two come with the answer, not instead of it.
            Some(Flake::Fault(halfway @ (Fault::Cut(_) | Fault::Drip(_)))) => fault = halfway,
            Some(Flake::Fault(fault)) => return WebReply::failing(fault),
            None => {}
        }
        if self.is_away(original, now_us) {
            return WebReply::note(404, "There is no such page now.");
        }
        let site = &self.sites[place.site as usize];
        let page = PageRef { place, version: self.version(place.site, n, now_us) };
        let manner = manner(&self.config, site, place.site, n);
        let (body, content_type) = match (manner, site.charset) {
            (Manner::Media(media), _) => (WebBody::Other(page), media.content_type()),
            (_, Charset::Utf8) => (WebBody::Html(page), "text/html; charset=utf-8"),
            (_, Charset::Latin1ByHeader) => (WebBody::Html(page), "text/html; charset=iso-8859-1"),
            (_, Charset::Latin1ByMeta) => (WebBody::Html(page), "text/html"),
        };
        let honest = WebReply::document(body, content_type).with_validators(site.validators);
        let reply = match site.lie {
            Some(lie) => lie.told(honest, now_us),
            None => honest,
        };
        let by_header = manner == Manner::NoFollowByHeader;
        WebReply {
            fault,
            robots_tag: by_header.then_some("nofollow"),
            nofollow: by_header || manner == Manner::NoFollowByMeta,
            noindex: manner == Manner::NoIndex,
            ..reply
        }
    }

    fn answer_robots(&self, place: WebPlace, attempt: u32) -> WebReply {
        let rules =
            WebReply::document(WebBody::Robots(PageRef { place, version: 0 }), "text/plain");
        match self.sites[place.site as usize].robots {
            RobotsKind::Absent => WebReply::note(404, "No rules."),
            RobotsKind::Moved => self.redirect(301, WebPlace { what: What::RobotsMoved, ..place }),
            RobotsKind::FailsAtFirst if attempt < ROBOTS_FAILURES => {
                WebReply::note(503, "Not now.")
            }
            RobotsKind::SilentAtFirst if attempt < ROBOTS_FAILURES => {
                WebReply::failing(Fault::Silent)
            }
            RobotsKind::Huge => WebReply { flood_bytes: HUGE_ROBOTS_BYTES, ..rules },
            _ => rules,
        }
    }

    fn redirect(&self, status: u16, to: WebPlace) -> WebReply {
        WebReply { location: Some(self.url(to)), ..WebReply::note(status, "It is elsewhere.") }
    }

    /// Where the naked domain leads: to the host that has the place.
    pub(crate) fn front(&self, place: WebPlace) -> Face {
        match place.what {
            What::Page(n) | What::Print(n) | What::Session(n, _) | What::Moved(n, _) => {
                self.home(place.site, n)
            }
            _ => Face::Www,
        }
    }

    /// The links of an answer, as a reader of its rendered bytes finds them.
    pub fn links(&self, reply: &WebReply) -> Vec<WebLink> {
        let (mut arrows, mut text) = (Vec::new(), String::with_capacity(80));
        self.arrows_of(&reply.body, &mut arrows);
        arrows
            .iter()
            .map(|arrow| WebLink {
                url: self.url_by(arrow.to, &mut text),
                kind: arrow.kind,
                nofollow: arrow.nofollow,
            })
            .collect()
    }

    /// The same as places: what the oracle walks.
    pub(crate) fn arrows_of(&self, body: &WebBody, out: &mut Vec<Arrow>) {
        out.clear();
        let mut list = |places: Vec<WebPlace>, kind: WebLinkKind| {
            out.extend(places.into_iter().map(|to| Arrow { to, kind, nofollow: false }));
        };
        match body {
            WebBody::Html(page) => self.arrows(page.place, out),
            WebBody::Sitemap(page) => list(self.sitemap_entries(page.place), WebLinkKind::Sitemap),
            WebBody::Feed(page) => list(self.feed_items(page.place), WebLinkKind::Item),
            WebBody::Nothing | WebBody::Note(_) | WebBody::Robots(_) | WebBody::Other(_) => {}
        }
    }

    /// Stands for the bytes of a body: equal hashes, equal bytes, without rendering them.
    pub fn content_hash(&self, body: &WebBody) -> u64 {
        match *body {
            WebBody::Nothing => 0,
            WebBody::Note(text) => text.bytes().fold(1, |hash, byte| mix(hash ^ u64::from(byte))),
            // Two robots.txt files of a site differ in the sitemap they name.
            WebBody::Robots(page) => self.place_hash(page.place, 1),
            WebBody::Html(page)
            | WebBody::Sitemap(page)
            | WebBody::Feed(page)
            | WebBody::Other(page) => self.place_hash(self.original(page.place), page.version),
        }
    }
}
