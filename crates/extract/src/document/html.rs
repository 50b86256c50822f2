//! HTML as a document: its main text, links and what it says about itself.

use super::{Document, DocumentFormat};
use crate::{ExtractOptions, read};
use rhumb_page::html::PageLimits;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Html;

impl DocumentFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Html
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let (page, found) =
            read(body, charset, url, &PageLimits::default(), &ExtractOptions::default());
        let metadata = found.metadata;
        Document {
            title: metadata.title.as_ref().map(|said| said.value.clone()),
            author: metadata.author.as_ref().map(|said| said.value.clone()),
            published: metadata.published.as_ref().map(|said| said.value.clone()),
            modified: metadata.modified.as_ref().map(|said| said.value.clone()),
            text: found.main,
            links: page.links.into_iter().map(|link| link.url).collect(),
            metadata: Some(metadata),
            oddities: found.oddities.into_iter().map(str::to_owned).collect(),
            ..Document::default()
        }
    }
}
