//! The robots.txt files: what they say, how they fail, and whom they deny.

use std::fmt::Write;

use super::Web;
use super::chance::scale;
use super::manner::{Manner, manner};
use super::place::{Face, WebPlace, What};

/// The size of a huge robots.txt; only its beginning has rules.
pub const HUGE_ROBOTS_BYTES: u64 = 100 << 20;
/// A robots.txt that fails at first does so this many times.
pub(crate) const ROBOTS_FAILURES: u32 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsKind {
    Plain,
    /// 404: everything is allowed.
    Absent,
    /// Redirects to another path with the rules.
    Moved,
    /// 503 at first.
    FailsAtFirst,
    /// Does not answer at first.
    SilentAtFirst,
    /// 100 MB of comments after the rules.
    Huge,
    /// Nobody may fetch anything.
    DeniesAll,
}

impl RobotsKind {
    pub(crate) fn odd(hash: u64) -> RobotsKind {
        use RobotsKind::*;
        [Absent, Absent, Moved, FailsAtFirst, SilentAtFirst, Huge, DeniesAll]
            [scale(hash, 7) as usize]
    }
}

impl Web {
    pub fn robots_kind(&self, site: u32) -> RobotsKind {
        self.sites[site as usize].robots
    }

    /// Whether the robots.txt of the place's host lets a polite crawler in.
    pub fn allowed(&self, place: WebPlace) -> bool {
        if matches!(place.face, Face::Ghost(_)) || place.what == What::Robots {
            return true;
        }
        match self.sites[place.site as usize].robots {
            RobotsKind::Absent => true,
            RobotsKind::DeniesAll => false,
            _ => !self.is_private(place),
        }
    }

    /// Whether a path begins with /private/: such pages and their session copies.
    fn is_private(&self, place: WebPlace) -> bool {
        let (What::Page(n) | What::Session(n, _)) = place.what else { return false };
        let site = &self.sites[place.site as usize];
        manner(&self.config, site, place.site, n) == Manner::Private
    }

    /// The text of the rules, before any filler.
    pub(crate) fn write_robots(&self, place: WebPlace, out: &mut String) {
        let site = &self.sites[place.site as usize];
        if site.robots == RobotsKind::DeniesAll {
            out.push_str("User-agent: *\nDisallow: /\n");
            return;
        }
        out.push_str("# Welcome, robots.\nUser-agent: worstbot\nDisallow: /\n\n");
        out.push_str("User-agent: *\nDisallow: /private/\nAllow: /private/but-this\n");
        if site.crawl_delay_s > 0 {
            let _ = writeln!(out, "Crawl-delay: {}", site.crawl_delay_s);
        }
        if site.sitemap && place.face != Face::Blog {
            let sitemap = self.url(WebPlace { what: What::Sitemap, ..place });
            let _ = writeln!(out, "\nSitemap: {sitemap}");
        }
    }
}
