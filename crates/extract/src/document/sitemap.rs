//! Sitemaps as documents: nothing but links.

use super::{Document, Format};
use rhumb_page::media::Kind;
use rhumb_page::sitemap;
use rhumb_page::url::Url;

pub(super) struct Sitemaps;

impl Format for Sitemaps {
    fn name(&self) -> &'static str {
        "sitemap"
    }

    fn claims(&self, kind: Kind, _: &str) -> bool {
        kind == Kind::Sitemap
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let read = sitemap::read(body, charset, url);
        let entries = read.pages.into_iter().chain(read.sitemaps);
        Document {
            links: entries.map(|entry| entry.url).collect(),
            oddities: read.broken.into_iter().collect(),
            ..Document::default()
        }
    }
}
