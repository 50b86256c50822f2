//! Sitemaps as documents: nothing but links.

use super::{Document, DocumentFormat};
use rhumb_page::media::MediaKind;
use rhumb_page::sitemap;
use rhumb_page::url::Url;

pub(super) struct Sitemaps;

impl DocumentFormat for Sitemaps {
    fn name(&self) -> &'static str {
        "sitemap"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Sitemap
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
