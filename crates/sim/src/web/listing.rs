//! Sitemaps and feeds: lists of a site's pages for those who ask.

use std::fmt::Write;

use super::Web;
use super::place::{Face, WebPlace, What};

/// Page numbers that one part of a sitemap covers. A smaller site has one file and no index.
const SITEMAP_SPAN: u32 = 1_000;
/// One rooted page in so many is in the sitemap.
const SITEMAP_STEP: u32 = 3;
/// Pages next to the root that a feed lists.
const FEED_ITEMS: u32 = 10;

impl Web {
    /// How many compressed parts the sitemap of a site has; 0 if it is one plain file.
    pub(crate) fn sitemap_parts(&self, site: u32) -> u16 {
        let pages = self.sites[site as usize].pages;
        if pages <= SITEMAP_SPAN { 0 } else { pages.div_ceil(SITEMAP_SPAN).min(60_000) as u16 }
    }

    /// What a sitemap lists: parts, or pages with every other orphan among them.
    pub(crate) fn sitemap_entries(&self, place: WebPlace) -> Vec<WebPlace> {
        let site = place.site;
        let it = &self.sites[site as usize];
        let parts = self.sitemap_parts(site);
        let (from, to) = match place.what {
            What::SitemapPart(k) => {
                (u32::from(k) * SITEMAP_SPAN, it.pages.min((u32::from(k) + 1) * SITEMAP_SPAN))
            }
            _ if parts == 0 => (0, it.pages),
            _ => {
                let part = |k| WebPlace { site, face: Face::Www, what: What::SitemapPart(k) };
                return (0..parts).map(part).collect();
            }
        };
        let listed = |n: &u32| match *n < it.rooted {
            true => n.is_multiple_of(SITEMAP_STEP),
            false => n.is_multiple_of(2),
        };
        (from..to).filter(listed).map(|n| self.page_place(site, n)).collect()
    }

    pub(crate) fn feed_items(&self, place: WebPlace) -> Vec<WebPlace> {
        let last = FEED_ITEMS.min(self.sites[place.site as usize].rooted - 1);
        (1..=last).map(|n| self.page_place(place.site, n)).collect()
    }

    pub(crate) fn write_sitemap(&self, place: WebPlace, out: &mut String) {
        let parts = place.what == What::Sitemap && self.sitemap_parts(place.site) > 0;
        let (root, entry) = if parts { ("sitemapindex", "sitemap") } else { ("urlset", "url") };
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(out, "<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">");
        for to in self.sitemap_entries(place) {
            let url = self.url(to).as_str().replace('&', "&amp;");
            let _ = writeln!(out, "<{entry}><loc>{url}</loc></{entry}>");
        }
        let _ = writeln!(out, "</{root}>");
    }

    pub(crate) fn write_feed(&self, place: WebPlace, out: &mut String) {
        let domain = &self.sites[place.site as usize].domain;
        out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\"><channel>");
        let _ = writeln!(out, "<title>News of {domain}</title>");
        for to in self.feed_items(place) {
            let url = self.url(to).as_str().replace('&', "&amp;");
            let _ = writeln!(out, "<item><title>News</title><link>{url}</link></item>");
        }
        out.push_str("</channel></rss>\n");
    }
}
