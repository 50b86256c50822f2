//! Gathers what a page says about itself, token by token.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::byline::Byline;
use super::stated::{Stated, StatedWhere, prefer};
use super::{Metadata, StatedDate, VALUE_BYTES_MAX, VALUES_MAX, json_ld};
use rhumb_page::html::{EndTag, StartTag, Tag, TextRunToken};

/// Scripts of JSON-LD that are read, and bytes of all of them.
const SCRIPTS_MAX: usize = 32;
const SCRIPTS_BYTES_MAX: usize = 4 << 20;
/// `time` elements that are looked at.
const TIMES_MAX: usize = 16;

static LICENSE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("license"));

#[derive(Default)]
pub(crate) struct Gather {
    pub metadata: Metadata,
    /// The text of the article, from JSON-LD.
    pub article_body: Option<String>,
    /// The content of `meta name=generator`.
    pub generator: String,
    /// What links are resolved against, as written, if the page says so.
    pub base: Option<String>,
    /// Scripts of JSON-LD that are no JSON.
    pub broken_scripts: u32,
    pub byline: Byline,
    title: String,
    in_json_ld: bool,
    scripts: usize,
    scripts_bytes: usize,
    times: usize,
}

impl Gather {
    #[inline]
    pub(crate) fn start(&mut self, start: &StartTag<'_>) {
        if self.byline.is_looking() {
            self.byline.start(start);
        }
        match start.tag {
            Tag::H1 if self.metadata.author.is_none() => self.byline.heading(),
            Tag::Meta => self.meta(start),
            Tag::Link => self.link(start),
            Tag::Script => {
                let kind = start.attribute("type");
                self.in_json_ld =
                    kind.is_some_and(|t| t.trim().eq_ignore_ascii_case("application/ld+json"));
            }
            Tag::Html if !start.foreign => {
                if let Some(language) = start.attribute("lang").and_then(|l| language(&l)) {
                    let said = Stated::new(language, StatedWhere::Element, 0.8);
                    prefer(&mut self.metadata.language, said);
                }
            }
            Tag::Base if !start.foreign && self.base.is_none() => {
                self.base = start.attribute("href").map(Cow::into_owned);
            }
            Tag::Time => self.time(start),
            Tag::A if self.metadata.license.is_none() => self.license(start),
            _ => (),
        }
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &TextRunToken<'_>) {
        match text.owner {
            Tag::Other => self.byline.text(text),
            Tag::Title if self.title.is_empty() => {
                self.title = folded(&text.decoded(), VALUE_BYTES_MAX);
            }
            Tag::Script if self.in_json_ld => self.script(text.raw),
            _ => (),
        }
    }

    #[inline]
    pub(crate) fn end(&mut self, end: &EndTag<'_>) {
        if self.byline.is_looking() {
            self.byline.end(end);
        }
    }

    fn script(&mut self, raw: &str) {
        self.in_json_ld = false;
        self.scripts += 1;
        self.scripts_bytes += raw.len();
        if self.scripts > SCRIPTS_MAX
            || raw.len() > json_ld::SCRIPT_BYTES_MAX
            || self.scripts_bytes > SCRIPTS_BYTES_MAX
        {
            return;
        }
        match json_ld::read(raw, &mut self.metadata) {
            Ok(body) if self.article_body.is_none() => self.article_body = body,
            Ok(_) => (),
            Err(()) => self.broken_scripts += 1,
        }
    }

    fn meta(&mut self, start: &StartTag<'_>) {
        let (mut name, mut property, mut content) = (None, None, None);
        for attribute in start.attributes() {
            let of = match attribute.name.len() {
                7 if attribute.is("content") => &mut content,
                8 if attribute.is("property") => &mut property,
                _ if ["name", "http-equiv", "itemprop"].iter().any(|n| attribute.is(n)) => {
                    &mut name
                }
                _ => continue,
            };
            *of = of.or(Some(attribute));
        }
        let Some(content) = content else { return };
        let value = folded(&content.value(), VALUE_BYTES_MAX);
        if value.is_empty() {
            return;
        }
        // Either attribute is used for either vocabulary.
        for key in [property, name].into_iter().flatten() {
            let key = key.value().trim().to_ascii_lowercase();
            self.meta_said(&key, &value);
        }
    }

    fn meta_said(&mut self, key: &str, value: &str) {
        let metadata = &mut self.metadata;
        let is_graph = ["og:", "article:", "product:", "twitter:", "book:", "profile:"]
            .iter()
            .any(|prefix| key.starts_with(prefix));
        if is_graph && metadata.open_graph.len() < VALUES_MAX {
            metadata.open_graph.push((key.to_owned(), value.to_owned()));
        }
        let source = match key {
            _ if key.starts_with("twitter:") => StatedWhere::Twitter,
            _ if is_graph => StatedWhere::OpenGraph,
            _ => StatedWhere::Meta,
        };
        let text = |trust| Stated::new(value.to_owned(), source, trust);
        let date = |trust| StatedDate::parse(value).map(|date| Stated::new(date, source, trust));
        match key {
            "og:title" => prefer(&mut metadata.title, text(0.85)),
            "twitter:title" => prefer(&mut metadata.title, text(0.75)),
            "headline" | "dc.title" | "dcterms.title" | "citation_title" => {
                prefer(&mut metadata.title, text(0.8));
            }
            "author" | "dc.creator" | "dcterms.creator" | "citation_author" | "parsely-author"
            | "sailthru.author" | "byl" | "article:author" | "twitter:creator" => {
                let is_address = value.starts_with("http") || value.starts_with('@');
                if !is_address {
                    prefer(&mut metadata.author, text(if key == "author" { 0.8 } else { 0.75 }));
                }
            }
            "description" => prefer(&mut metadata.description, text(0.85)),
            "og:description" => prefer(&mut metadata.description, text(0.8)),
            "twitter:description" | "dc.description" => {
                prefer(&mut metadata.description, text(0.7));
            }
            "og:site_name" => prefer(&mut metadata.site_name, text(0.9)),
            "application-name" | "apple-mobile-web-app-title" => {
                prefer(&mut metadata.site_name, text(0.6));
            }
            "og:locale" => prefer(&mut metadata.language, text(0.5)),
            "content-language" | "language" | "dc.language" => {
                if let Some(language) = language(value) {
                    prefer(&mut metadata.language, Stated::new(language, source, 0.6));
                }
            }
            "robots" => metadata.robots = metadata.robots.take().or(Some(value.to_owned())),
            "generator" => self.generator = value.to_ascii_lowercase(),
            "license" | "dc.rights" | "dcterms.license" | "copyright" => {
                metadata.license = metadata.license.take().or(Some(value.to_owned()));
            }
            _ => self.date_said(key, date),
        }
    }

    /// Takes in a date if the key is one of a date; `date` reads it, with the trust in the key.
    fn date_said(&mut self, key: &str, date: impl Fn(f32) -> Option<Stated<StatedDate>>) {
        const SURE: f32 = 0.9;
        const LIKELY: f32 = 0.7;
        let metadata = &mut self.metadata;
        let (known, trust) = match key {
            "article:published_time"
            | "og:published_time"
            | "datepublished"
            | "citation_publication_date"
            | "parsely-pub-date"
            | "dc.date.issued"
            | "dcterms.created"
            | "sailthru.date" => (&mut metadata.published, SURE),
            "date"
            | "dc.date"
            | "pubdate"
            | "publish-date"
            | "publishdate"
            | "publication_date"
            | "article.published"
            | "published-date"
            | "citation_date"
            | "originalpublicationdate"
            | "og:pubdate"
            | "timestamp" => (&mut metadata.published, LIKELY),
            "article:modified_time"
            | "og:updated_time"
            | "datemodified"
            | "dcterms.modified"
            | "article:updated_time" => (&mut metadata.modified, SURE),
            "last-modified" | "lastmod" | "revised" | "article.updated" | "updated" => {
                (&mut metadata.modified, LIKELY)
            }
            _ => return,
        };
        if let Some(said) = date(trust) {
            prefer(known, said);
        }
    }

    fn link(&mut self, start: &StartTag<'_>) {
        let (Some(rel), Some(href)) = (start.attribute("rel"), start.attribute("href")) else {
            return;
        };
        let href = href.trim();
        if href.is_empty() || href.len() > VALUE_BYTES_MAX {
            return;
        }
        let is = |word: &str| rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case(word));
        let metadata = &mut self.metadata;
        if is("canonical") && metadata.canonical.is_none() {
            metadata.canonical = Some(href.to_owned());
        } else if is("license") && metadata.license.is_none() {
            metadata.license = Some(href.to_owned());
        } else if is("alternate") {
            if let Some(tag) = start.attribute("hreflang") {
                if metadata.hreflang.len() < VALUES_MAX && tag.len() < 64 {
                    metadata.hreflang.push((tag.trim().to_owned(), href.to_owned()));
                }
            } else if start.attribute("type").is_some_and(|kind| is_feed(&kind))
                && metadata.feeds.len() < VALUES_MAX
            {
                metadata.feeds.push(href.to_owned());
            }
        }
    }

    fn license(&mut self, start: &StartTag<'_>) {
        // Nearly no link is one: look at the raw text before anything is taken apart.
        if LICENSE.find(start.source().as_bytes()).is_none() {
            return;
        }
        if start.attribute("rel").is_some_and(|rel| rel.eq_ignore_ascii_case("license")) {
            self.metadata.license =
                start.attribute("href").map(|href| folded(&href, VALUE_BYTES_MAX));
        }
    }

    /// The first `time` of a page is most often when it was published; marked up, nearly always.
    fn time(&mut self, start: &StartTag<'_>) {
        self.times += 1;
        if self.times > TIMES_MAX {
            return;
        }
        let Some(date) = start.attribute("datetime").and_then(|text| StatedDate::parse(&text))
        else {
            return;
        };
        let mut names = String::new();
        for attribute in start.attributes() {
            if ["itemprop", "class", "pubdate"].iter().any(|name| attribute.is(name)) {
                names.push_str(attribute.name);
                names.push(' ');
                names.push_str(attribute.raw);
            }
        }
        names.make_ascii_lowercase();
        let is_marked = names.contains("itemprop");
        let trust = if is_marked { 0.85 } else { 0.55 } - 0.02 * (self.times - 1) as f32;
        let source = if is_marked { StatedWhere::Microdata } else { StatedWhere::Element };
        let is_change = ["modif", "updat"].iter().any(|word| names.contains(word));
        let metadata = &mut self.metadata;
        let known = if is_change { &mut metadata.modified } else { &mut metadata.published };
        prefer(known, Stated::new(date, source, trust));
    }

    /// The title of the `title` element, which often ends in the site's name.
    pub(crate) fn document_title(&self) -> &str {
        &self.title
    }
}

/// White space folded, cut at `bytes_max`.
fn folded(text: &str, bytes_max: usize) -> String {
    let mut folded = String::new();
    for word in text.split_whitespace() {
        if folded.len() + 1 + word.len() > bytes_max {
            break;
        }
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

fn language(declared: &str) -> Option<String> {
    let tag = declared.split(',').next().unwrap_or_default().trim();
    let is_sane = (2..=35).contains(&tag.len())
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_sane.then(|| tag.to_owned())
}

fn is_feed(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["application/rss+xml", "application/atom+xml", "application/feed+json"].contains(&&*media)
}
