//! Reading a page: one pass over its tokens for everything a crawler asks.

use std::borrow::Cow;

use super::links::{Link, LinkKind, RawLinks, refresh_target};
use super::own_text::OwnText;
use super::text::{TextFingerprint, VisibleText};
use super::token::{EndTag, StartTag, TextRunToken, Token};
use super::{Tag, Tokenizer};
use crate::charset;
use crate::robots::Directives;
use crate::url::{QueryCharset, Url};

/// Links kept of one page. Real pages have hundreds; an index of everything may have 200,000.
pub const LINKS_MAX: usize = 200_000;
/// Bytes kept of a title: more is no title.
pub const TITLE_BYTES_MAX: usize = 1024;
/// Of a title as written, with its white space.
const TITLE_READ_BYTES_MAX: usize = 64 << 10;
/// Feeds kept of one page.
pub const FEEDS_MAX: usize = 16;
/// Crawlers that a page addresses by name, and that are remembered.
const ROBOTS_NAMED_MAX: usize = 8;
/// Bytes of a language tag; a longer one is nonsense.
const LANGUAGE_BYTES_MAX: usize = 64;

/// What a page may cost.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Links kept, before repeats are merged; those beyond are counted.
    pub links_max: usize,
}

impl Default for PageLimits {
    fn default() -> PageLimits {
        PageLimits { links_max: LINKS_MAX }
    }
}

/// What a page says.
#[derive(Clone, Debug)]
pub struct Page {
    /// Each URL once, in order of first appearance. Links to a mere fragment, to the page itself by
    /// an empty reference, or to what is no URL are left out.
    pub links: Vec<Link>,
    /// Links beyond the limit, not kept.
    pub links_beyond: u64,
    /// What references were resolved against, if the page says so itself.
    pub base: Option<Url>,
    /// The first `title`, white space folded.
    pub title: Option<String>,
    /// The first `link rel=canonical` that is a URL.
    pub canonical: Option<Url>,
    /// What `meta name=robots` asks of all crawlers; see [`Page::robots_for`].
    pub robots: Directives,
    robots_named: Vec<(String, Directives)>,
    /// The language the page declares.
    pub language: Option<String>,
    /// The feeds the page declares.
    pub feeds: Vec<Url>,
    /// Of the visible text, unless said otherwise.
    pub text: TextFingerprint,
    /// The encoding the page was read in.
    pub charset: &'static str,
}

impl Page {
    /// What the page asks of the crawler with this product token, by its name or as one of all.
    pub fn robots_for(&self, agent: &str) -> Directives {
        let named = self.robots_named.iter().filter(|(name, _)| name.eq_ignore_ascii_case(agent));
        named.fold(self.robots, |all, (_, directives)| all.merge(*directives))
    }
}

/// Reads a page that came from `url`, with the charset its Content-Type declared, if any.
pub fn read(body: &[u8], declared_charset: Option<&str>, url: &Url, limits: &PageLimits) -> Page {
    read_either(body, declared_charset, url, limits, false).0
}

/// As [`read`], with the visible text: white space folded, a line feed between blocks.
pub fn read_with_text(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
) -> (Page, String) {
    read_either(body, declared_charset, url, limits, true)
}

/// As [`read`], with the text that is the page's own, a line for each block, and with its
/// fingerprint in place of that of the visible text.
pub fn read_with_own_text(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
) -> (Page, String) {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let mut own = OwnText::new(decoded.text.len());
    let page = read_observed(&decoded.text, decoded.encoding, url, limits, &mut own);
    let own = own.finish();
    (Page { text: TextFingerprint::of(&own), ..page }, own)
}

fn read_either(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    limits: &PageLimits,
    keeps_text: bool,
) -> (Page, String) {
    let decoded = charset::decode(body, declared_charset, Some(url.host()));
    let mut reader = Reader::new(limits, keeps_text);
    reader.read(&decoded.text, &mut ());
    reader.finish(url, decoded.encoding)
}

/// Who else wants a page's tokens while it is read for its links.
pub trait Observer<'a> {
    /// Whether the fingerprint of the visible text is wanted as well.
    const WANTS_VISIBLE: bool = true;
    /// Whether anybody looks at the text between tags.
    const WANTS_TEXT: bool = true;

    /// The tokens that are part of the page: not those within a template.
    #[inline]
    fn text(&mut self, _: &TextRunToken<'a>) {}
    /// A start tag.
    #[inline]
    fn start(&mut self, _: &StartTag<'a>) {}
    /// An end tag.
    #[inline]
    fn end(&mut self, _: &EndTag<'a>) {}
}

/// Nobody; the visible text is fingerprinted.
impl<'a> Observer<'a> for () {}

/// Nobody, and no text is wanted at all.
pub struct LinksAlone;

impl<'a> Observer<'a> for LinksAlone {
    const WANTS_VISIBLE: bool = false;
    const WANTS_TEXT: bool = false;
}

/// Two who want the same tokens.
impl<'a, A: Observer<'a>, B: Observer<'a>> Observer<'a> for (A, B) {
    const WANTS_VISIBLE: bool = A::WANTS_VISIBLE && B::WANTS_VISIBLE;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        self.0.text(text);
        self.1.text(text);
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        self.0.start(start);
        self.1.start(start);
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        self.0.end(end);
        self.1.end(end);
    }
}

/// Somebody who goes on being used.
impl<'a, A: Observer<'a>> Observer<'a> for &mut A {
    const WANTS_VISIBLE: bool = A::WANTS_VISIBLE;
    const WANTS_TEXT: bool = A::WANTS_TEXT;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        (**self).text(text);
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        (**self).start(start);
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        (**self).end(end);
    }
}

/// Somebody, or nobody.
impl<'a, A: Observer<'a>> Observer<'a> for Option<A> {
    const WANTS_VISIBLE: bool = A::WANTS_VISIBLE;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        if let Some(observer) = self {
            observer.text(text);
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        if let Some(observer) = self {
            observer.start(start);
        }
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        if let Some(observer) = self {
            observer.end(end);
        }
    }
}

/// As [`read`], for a page that is text already, with an observer of its tokens.
pub fn read_observed<'a>(
    html: &'a str,
    encoding: &'static str,
    url: &Url,
    limits: &PageLimits,
    observer: &mut impl Observer<'a>,
) -> Page {
    let mut reader = Reader::new(limits, false);
    reader.read(html, observer);
    reader.finish(url, encoding).0
}

/// What has been read so far, borrowed from the page where it can be.
struct Reader<'a> {
    links: RawLinks<'a>,
    visible: VisibleText,
    base: Option<Cow<'a, str>>,
    title: Option<String>,
    canonicals: Vec<Cow<'a, str>>,
    feeds: Vec<Cow<'a, str>>,
    robots: Directives,
    robots_named: Vec<(String, Directives)>,
    language: Option<Cow<'a, str>>,
}

impl<'a> Reader<'a> {
    fn new(limits: &PageLimits, keeps_text: bool) -> Reader<'a> {
        Reader {
            links: RawLinks::new(limits.links_max),
            visible: VisibleText::new(keeps_text),
            base: None,
            title: None,
            canonicals: Vec::new(),
            feeds: Vec::new(),
            robots: Directives::default(),
            robots_named: Vec::new(),
            language: None,
        }
    }

    #[inline]
    fn read<O: Observer<'a>>(&mut self, html: &'a str, observer: &mut O) {
        let mut tokens = Tokenizer::new(html);
        while let Some(token) = next(&mut tokens, O::WANTS_TEXT) {
            let is_inert = tokens.is_inert();
            match token {
                Token::Text(text) if !is_inert => {
                    observer.text(&text);
                    if O::WANTS_VISIBLE { self.text(&text) } else { self.title(&text) }
                }
                Token::Start(start) if !is_inert => {
                    observer.start(&start);
                    if O::WANTS_VISIBLE && !start.tag.is_inline() {
                        self.visible.block();
                    }
                    self.start(&start);
                }
                Token::End(end) => {
                    if !is_inert {
                        observer.end(&end);
                    }
                    if O::WANTS_VISIBLE && !end.tag.is_inline() {
                        self.visible.block();
                    }
                }
                _ => (),
            }
        }
    }

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        match text.owner {
            Tag::Textarea | Tag::Xmp | Tag::Plaintext => self.visible.push(&text.decoded()),
            Tag::Other => {
                // Most text is the white space between tags: no need to look for references in it.
                let raw = self.visible.skip_blank(text.raw);
                if !raw.is_empty() {
                    self.visible.push(&TextRunToken { raw, ..*text }.decoded());
                }
            }
            _ => self.title(text),
        }
    }

    #[inline]
    fn title(&mut self, text: &TextRunToken<'a>) {
        if text.owner == Tag::Title && self.title.is_none() {
            self.title = folded_title(&text.beginning(TITLE_READ_BYTES_MAX).decoded());
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        if start.foreign && start.tag != Tag::A {
            return;
        }
        match start.tag {
            Tag::A => self.hyperlink(start, LinkKind::Anchor),
            Tag::Area => self.hyperlink(start, LinkKind::Area),
            Tag::Frame | Tag::Iframe => {
                if let Some(source) = start.attribute("src") {
                    self.links.push(source, LinkKind::Frame, false);
                }
            }
            Tag::Link => self.link(start),
            Tag::Meta => self.meta(start),
            Tag::Base if self.base.is_none() => self.base = start.attribute("href"),
            Tag::Html if self.language.is_none() => self.language = start.attribute("lang"),
            _ => (),
        }
    }

    fn hyperlink(&mut self, start: &StartTag<'a>, kind: LinkKind) {
        let mut href = None;
        let mut rel = None;
        for attribute in start.attributes() {
            if href.is_none()
                && (attribute.is("href") || (start.foreign && attribute.is("xlink:href")))
            {
                href = Some(attribute);
            } else if rel.is_none() && attribute.is("rel") {
                rel = Some(attribute);
            }
        }
        let Some(href) = href else { return };
        let nofollow = rel.is_some_and(|rel| has_word(&rel.value(), "nofollow"));
        self.links.push(href.value(), kind, nofollow);
    }

    fn link(&mut self, start: &StartTag<'a>) {
        let Some(rel) = start.attribute("rel") else { return };
        let is = |word| has_word(&rel, word);
        let kind = if is("canonical") {
            LinkKind::Canonical
        } else if is("next") {
            LinkKind::Next
        } else if is("prev") || is("previous") {
            LinkKind::Previous
        } else if is("alternate") && !is("stylesheet") {
            let declared = start.attribute("type");
            let is_feed = declared.is_some_and(|declared| is_feed_type(&declared));
            if is_feed { LinkKind::Feed } else { LinkKind::Alternate }
        } else {
            return;
        };
        let Some(href) = start.attribute("href") else { return };
        match kind {
            LinkKind::Canonical if self.canonicals.is_empty() => self.canonicals.push(href.clone()),
            LinkKind::Feed if self.feeds.len() < FEEDS_MAX => self.feeds.push(href.clone()),
            _ => (),
        }
        self.links.push(href, kind, is("nofollow"));
    }

    fn meta(&mut self, start: &StartTag<'a>) {
        let Some(content) = start.attribute("content") else { return };
        if let Some(name) = start.attribute("name") {
            self.robots_meta(name.trim(), &content);
        }
        let Some(header) = start.attribute("http-equiv") else { return };
        if header.eq_ignore_ascii_case("refresh") {
            if let Some(target) = refresh_target(&content) {
                self.links.push(Cow::Owned(target.to_owned()), LinkKind::Refresh, false);
            }
        } else if header.eq_ignore_ascii_case("content-language") && self.language.is_none() {
            self.language = Some(content);
        }
    }

    /// A `meta` may speak to all crawlers, or to one by its name; any name may be one.
    fn robots_meta(&mut self, name: &str, content: &str) {
        let directives = Directives::parse_meta(content);
        if directives == Directives::default() {
            return;
        }
        if name.eq_ignore_ascii_case("robots") {
            self.robots = self.robots.merge(directives);
        } else if self.robots_named.len() < ROBOTS_NAMED_MAX {
            self.robots_named.push((name.to_ascii_lowercase(), directives));
        }
    }

    fn finish(self, url: &Url, charset: &'static str) -> (Page, String) {
        let in_charset = QueryCharset::of_document(charset);
        let base = self.base.and_then(|base| url.join_in(&base, in_charset).ok());
        let resolver = base.as_ref().unwrap_or(url);
        let joined = |reference: &Cow<'_, str>| resolver.join_in(reference, in_charset).ok();
        let (links, links_beyond) = self.links.resolve(resolver, in_charset);
        let mut feeds: Vec<Url> = self.feeds.iter().filter_map(joined).collect();
        feeds.dedup();
        let (text, kept) = self.visible.finish();
        let page = Page {
            links,
            links_beyond,
            title: self.title,
            canonical: self.canonicals.iter().find_map(joined),
            robots: self.robots,
            robots_named: self.robots_named,
            language: self.language.and_then(|language| language_tag(&language)),
            feeds,
            text,
            charset,
            base,
        };
        (page, kept)
    }
}

#[inline(always)]
fn next<'a>(tokens: &mut Tokenizer<'a>, with_text: bool) -> Option<Token<'a>> {
    if with_text { tokens.advance_to::<true>() } else { tokens.advance_to::<false>() }
}

/// Whether a list separated by white space holds `word`.
pub(super) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item.eq_ignore_ascii_case(word))
}

fn is_feed_type(declared: &str) -> bool {
    let media = declared.split(';').next().unwrap_or_default().trim();
    ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"]
        .iter()
        .any(|feed| media.eq_ignore_ascii_case(feed))
}

fn folded_title(title: &str) -> Option<String> {
    let mut folded = String::with_capacity(title.len().min(TITLE_BYTES_MAX));
    for word in title.split_ascii_whitespace() {
        if folded.len() + 1 + word.len() > TITLE_BYTES_MAX {
            break;
        }
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    (!folded.is_empty()).then_some(folded)
}

/// The first of a list of language tags, if it looks like one.
fn language_tag(declared: &str) -> Option<String> {
    let tag = declared.split(',').next().unwrap_or_default().trim();
    let is_sane = !tag.is_empty()
        && tag.len() <= LANGUAGE_BYTES_MAX
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    is_sane.then(|| tag.to_owned())
}
