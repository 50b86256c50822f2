//! Requisites: what a browser fetches to show a page, and what is no link.
//!
//! An observer of tokens, so that only callers that want them pay for them: images with all that
//! `srcset` offers, media with their posters, stylesheets and what style elements and attributes
//! name, scripts, fonts, icons, frames. What scripts ask for when they run is not seen.

use std::borrow::Cow;
use std::collections::HashSet;

use super::links::leads_elsewhere;
use super::read::{Observer, Page, has_word};
use super::{StartTag, Tag, TextRunToken};
use crate::css;
use crate::url::{QueryCharset, Scheme, Url};

/// References gathered of one page or stylesheet, before repeats are merged.
const REFERENCES_MAX: usize = 200_000;

/// What a requisite is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequisiteKind {
    /// A stylesheet: it may ask for more.
    Stylesheet,
    /// A document within a frame.
    Frame,
    /// Anything else.
    Part,
}

/// Something that a page, or a stylesheet, cannot be shown without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requisite {
    /// Where it is.
    pub url: Url,
    /// What it is for; of several uses the first counts.
    pub kind: RequisiteKind,
}

/// References as they are written, until it is known what they are relative to.
#[derive(Default)]
pub(crate) struct References<'a> {
    found: Vec<(Cow<'a, str>, RequisiteKind)>,
    beyond: u64,
}

impl<'a> References<'a> {
    pub(crate) fn push(&mut self, reference: Cow<'a, str>, kind: RequisiteKind) {
        if !leads_elsewhere(&reference) {
            return;
        }
        if self.found.len() < REFERENCES_MAX {
            self.found.push((reference, kind));
        } else {
            self.beyond += 1;
        }
    }

    /// Each URL once, in order, and how many there are beyond so many.
    pub(crate) fn resolve(
        self,
        base: &Url,
        charset: &'static str,
        requisites_max: usize,
    ) -> (Vec<Requisite>, u64) {
        let in_charset = QueryCharset::of_document(charset);
        let mut written: HashSet<&str> = HashSet::with_capacity(self.found.len());
        let mut urls = HashSet::new();
        let mut requisites = Vec::new();
        let mut beyond = self.beyond;
        for (reference, kind) in &self.found {
            if !written.insert(reference) {
                continue;
            }
            if requisites.len() >= requisites_max {
                beyond += 1;
            } else if let Ok(url) = base.join_in(reference, in_charset)
                && urls.insert(url.clone())
            {
                requisites.push(Requisite { url, kind: *kind });
            }
        }
        (requisites, beyond)
    }
}

/// Gathers the requisites of a page from its tokens.
#[derive(Default)]
pub struct RequisiteGatherer<'a> {
    references: References<'a>,
    names_icon: bool,
}

impl<'a> Observer<'a> for RequisiteGatherer<'a> {
    const WANTS_VISIBLE: bool = false;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        if text.owner == Tag::Style {
            css::scan(text.raw, |kind, reference| self.references.push(reference, kind));
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        self.by_element(start);
        if has_style(start.source()) {
            self.style(start);
        }
    }
}

/// Whether a style attribute with a function in it may be among these attributes.
fn has_style(source: &str) -> bool {
    let is_style = |at: usize| {
        source.as_bytes()[at..].get(1..5).is_some_and(|rest| rest.eq_ignore_ascii_case(b"tyle"))
    };
    source.contains('(') && memchr::memchr2_iter(b's', b'S', source.as_bytes()).any(is_style)
}

impl<'a> RequisiteGatherer<'a> {
    fn by_element(&mut self, start: &StartTag<'a>) {
        use RequisiteKind::{Frame, Part};
        match start.tag {
            Tag::Script if start.foreign => self.foreign(start),
            Tag::Img => {
                self.attribute(start, "src", Part);
                self.srcset(start, "srcset");
            }
            Tag::Source => {
                self.attribute(start, "src", Part);
                self.srcset(start, "srcset");
            }
            Tag::Video => {
                self.attribute(start, "src", Part);
                self.attribute(start, "poster", Part);
            }
            Tag::Script | Tag::Audio | Tag::Track | Tag::Embed => {
                self.attribute(start, "src", Part);
            }
            Tag::Frame | Tag::Iframe => self.attribute(start, "src", Frame),
            Tag::Object => self.attribute(start, "data", Part),
            Tag::Input if is_image_button(start) => self.attribute(start, "src", Part),
            Tag::Body
            | Tag::Table
            | Tag::Tbody
            | Tag::Thead
            | Tag::Tfoot
            | Tag::Tr
            | Tag::Td
            | Tag::Th => self.attribute(start, "background", Part),
            Tag::Link => self.link(start),
            Tag::Other if start.foreign => self.foreign(start),
            // What HTML reads as `img`.
            Tag::Other if start.name.eq_ignore_ascii_case("image") => {
                self.attribute(start, "src", Part);
            }
            _ => (),
        }
    }

    fn attribute(&mut self, start: &StartTag<'a>, name: &str, kind: RequisiteKind) {
        if let Some(reference) = start.attribute(name) {
            self.references.push(reference, kind);
        }
    }

    /// `image`, `use`, `feImage` and `script` of SVG.
    fn foreign(&mut self, start: &StartTag<'a>) {
        let is_shown = ["image", "use", "feimage", "script"]
            .iter()
            .any(|name| start.name.eq_ignore_ascii_case(name));
        if is_shown {
            let href = start.attribute("href").or_else(|| start.attribute("xlink:href"));
            if let Some(reference) = href {
                self.references.push(reference, RequisiteKind::Part);
            }
        }
    }

    fn link(&mut self, start: &StartTag<'a>) {
        let Some(rel) = start.attribute("rel") else { return };
        let is = |word| has_word(&rel, word);
        let is_icon = is("icon");
        let is_preload = is("preload") || is("modulepreload");
        let is_as_style =
            || start.attribute("as").is_some_and(|it| it.eq_ignore_ascii_case("style"));
        let others = [
            "apple-touch-icon",
            "apple-touch-icon-precomposed",
            "mask-icon",
            "fluid-icon",
            "manifest",
        ];
        let kind = if is("stylesheet") || (is_preload && is_as_style()) {
            RequisiteKind::Stylesheet
        } else if is_icon || is_preload || others.into_iter().any(is) {
            RequisiteKind::Part
        } else {
            return;
        };
        self.names_icon |= is_icon;
        self.attribute(start, "href", kind);
        self.srcset(start, "imagesrcset");
    }

    fn srcset(&mut self, start: &StartTag<'a>, name: &str) {
        let references = &mut self.references;
        match start.attribute(name) {
            Some(Cow::Borrowed(srcset)) => candidates(srcset, |url| {
                references.push(Cow::Borrowed(url), RequisiteKind::Part);
            }),
            Some(Cow::Owned(srcset)) => candidates(&srcset, |url| {
                references.push(Cow::Owned(url.to_owned()), RequisiteKind::Part);
            }),
            None => (),
        }
    }

    fn style(&mut self, start: &StartTag<'a>) {
        let references = &mut self.references;
        match start.attribute("style") {
            Some(Cow::Borrowed(style)) => {
                css::scan(style, |kind, reference| references.push(reference, kind));
            }
            Some(Cow::Owned(style)) => css::scan(&style, |kind, reference| {
                references.push(Cow::Owned(reference.into_owned()), kind);
            }),
            None => (),
        }
    }

    /// The requisites of `page`, which was read of `url`: each URL once, in order, and how many
    /// there are beyond so many. A page that names no icon has the one that browsers look for.
    pub fn finish(
        mut self,
        page: &Page,
        url: &Url,
        requisites_max: usize,
    ) -> (Vec<Requisite>, u64) {
        if !self.names_icon
            && matches!(url.scheme(), Scheme::Http | Scheme::Https)
            && let Ok(icon) = url.join("/favicon.ico")
        {
            self.references.push(Cow::Owned(icon.as_str().to_owned()), RequisiteKind::Part);
        }
        let base = page.base.as_ref().unwrap_or(url);
        self.references.resolve(base, page.charset, requisites_max)
    }
}

fn is_image_button(start: &StartTag<'_>) -> bool {
    start.attribute("type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("image"))
}

/// The URLs of a `srcset`, as the standard parses it: what follows a URL up to a comma that stands
/// in no parentheses describes it.
fn candidates<'s>(srcset: &'s str, mut found: impl FnMut(&'s str)) {
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (url, after) = rest.split_at(end);
        let bare = url.trim_end_matches(',');
        found(bare);
        rest = if bare.len() < url.len() { after } else { &after[description_end(after)..] };
    }
}

/// Where the description of a candidate ends: at a comma that stands in no parentheses.
fn description_end(text: &str) -> usize {
    let mut is_within = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => is_within = true,
            b')' => is_within = false,
            b',' if !is_within => return at,
            _ => (),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{PageLimits, read_observed};

    fn requisites(html: &str, requisites_max: usize) -> (Vec<String>, u64) {
        let url = Url::parse("http://a.test/d/p").unwrap();
        let mut observer = RequisiteGatherer::default();
        let page = read_observed(html, "UTF-8", &url, &PageLimits::default(), &mut observer);
        let (found, beyond) = observer.finish(&page, &url, requisites_max);
        let text = |requisite: &Requisite| {
            let mark = match requisite.kind {
                RequisiteKind::Stylesheet => "@",
                RequisiteKind::Frame => "#",
                RequisiteKind::Part => "",
            };
            let url = requisite.url.as_str();
            format!("{mark}{}", url.strip_prefix("http://a.test/").unwrap_or(url))
        };
        (found.iter().map(text).collect(), beyond)
    }

    fn check(html: &str, expected: &[&str]) {
        let html = format!("<link rel='shortcut icon' href=/i>{html}");
        let (found, beyond) = requisites(&html, 1_000);
        assert_eq!((&found[0][..], beyond), ("i", 0));
        assert_eq!(found[1..], *expected, "{html}");
    }

    #[test]
    fn all_that_a_browser_fetches_is_found_and_links_are_not() {
        check(
            "<img src=a srcset='b 1x, c 2x,d'><picture><source srcset=e><img></picture>",
            &["d/a", "d/b", "d/c", "d/d", "d/e"],
        );
        check(
            "<video src=v poster=p><source src=w><track src=t></video><audio src=u>",
            &["d/v", "d/p", "d/w", "d/t", "d/u"],
        );
        check(
            "<link rel=stylesheet href=s><LINK REL='alternate stylesheet' HREF=t>",
            &["@d/s", "@d/t"],
        );
        check(
            "<link rel=preload as=style href=s><link rel=modulepreload href=m>",
            &["@d/s", "d/m"],
        );
        check(
            "<link rel=canonical href=c><link rel=next href=n><a href=x><link rel=dns-prefetch \
               href=//y>",
            &[],
        );
        check(
            "<style>@import 'i';a{b:url(c)}</style><p style='b:url(&quot;q&quot;)' \
               STYLE='no'>",
            &["@d/i", "d/c", "d/q"],
        );
        check(
            "<script src=s></script><script>'<img src=no>'</script><iframe src=f></iframe>",
            &["d/s", "#d/f"],
        );
        check(
            "<svg><image href=a /><use xlink:href='s.svg#x'/><a href=no></a>\
               <style>b{c:url(e)}</style></svg>",
            &["d/a", "d/s.svg", "d/e"],
        );
        check(
            "<body background=b><table background=t><input type=image src=i><input src=no>\
               <object data=o><embed src=e><image src=m>",
            &["d/b", "d/t", "d/i", "d/o", "d/e", "d/m"],
        );
        check("<img src='data:,x'><img src=''><img src=#y><iframe src=about:blank>", &[]);
        check("<template><img src=no></template><noscript><img src=n></noscript>", &["d/n"]);
        let based = requisites("<base href='http://b.test/'><img src=x>", 10).0;
        assert_eq!(based, ["http://b.test/x", "favicon.ico"]);
    }

    #[test]
    fn a_page_without_an_icon_has_the_one_that_browsers_look_for() {
        assert_eq!(requisites("<p>x", 10).0, ["favicon.ico"]);
        assert_eq!(requisites("<link rel=icon href=data:,>", 10).0, [""; 0]);
    }

    #[test]
    fn ten_thousand_images_are_bounded_and_counted() {
        let images: String = (0..10_000).map(|n| format!("<img src=i{n}><img src=i{n}>")).collect();
        let (found, beyond) = requisites(&images, 1_000);
        assert_eq!((found.len(), beyond), (1_000, 9_001), "the icon is one of those beyond");
    }

    #[test]
    fn a_srcset_is_parsed_as_browsers_do() {
        let of = |srcset: &str| {
            let mut found = Vec::new();
            candidates(srcset, |url| found.push(url.to_owned()));
            found
        };
        assert_eq!(of(" a 1x ,b,, c (x,y) 2w , d"), ["a", "b", "c", "d"]);
        assert_eq!(of("a,b"), ["a,b"], "a comma within a URL is part of it");
        assert_eq!(of("data:,x 1x, b"), ["data:,x", "b"]);
        assert!(of(" ,, ").is_empty());
    }
}
