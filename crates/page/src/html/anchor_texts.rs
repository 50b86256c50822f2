//! The texts of a page's links: how other pages call the page that a link leads to.
//!
//! An observer of tokens, so that only callers that want the texts pay for them. The text of a link
//! stands between `<a href>` and its end, with images by their `alt` and white space folded, and is
//! cut at [`ANCHOR_BYTES_MAX`]. Who wants that, too, hears what stands beside a link in the block
//! that it is part of: [`AROUND_BYTES`] before it and after it. A block ends where a tag begins or
//! ends one, so that an item of a list has nothing of the next.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::read::{LINKS_MAX, Observer, Page, has_word};
use super::{EndTag, StartTag, Tag, TextRunToken};
use crate::url::{QueryCharset, Url};

/// Bytes kept of the text of a link.
pub const ANCHOR_BYTES_MAX: usize = 160;

/// Bytes kept of what stands before a link, and of what stands after it.
pub const AROUND_BYTES: usize = 60;
/// Bytes of one block that are looked at: a page may be one block.
const BLOCK_BYTES_MAX: usize = 64 << 10;

/// A link, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Where it leads.
    pub url: Url,
    /// What stands between its tags.
    pub text: String,
    /// What stands beside it in its block, if that was wanted.
    pub around: String,
}

/// Gathers the texts of links from a page's tokens.
#[derive(Default)]
pub struct AnchorTexts<'a> {
    gathered: Vec<Gathered<'a>>,
    /// Between a link's start and its end.
    is_open: bool,
    /// The text of the block so far, if what stands around links is wanted, and which links are the
    /// block's own.
    block: Option<String>,
    first_of_block: usize,
}

struct Gathered<'a> {
    href: Cow<'a, str>,
    text: String,
    /// Where it stands in its block.
    place: Range<usize>,
    around: String,
}

impl<'a> Observer<'a> for AnchorTexts<'a> {
    const WANTS_VISIBLE: bool = false;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        if text.owner != Tag::Other || (self.block.is_none() && !self.is_open) {
            return;
        }
        let decoded = text.decoded();
        if self.is_open {
            self.push(&decoded);
        }
        if let Some(block) = &mut self.block {
            let room = BLOCK_BYTES_MAX.saturating_sub(block.len());
            block.push_str(&decoded[..decoded.floor_char_boundary(room)]);
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        if !start.tag.is_inline() {
            self.end_block();
        }
        match start.tag {
            Tag::A if !start.foreign => self.open(start),
            Tag::Img if self.is_open => {
                if let Some(alt) = start.attribute("alt") {
                    self.push(" ");
                    self.push(&alt);
                    self.push(" ");
                }
            }
            tag if self.is_open && !tag.is_inline() => self.push(" "),
            _ => (),
        }
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        if !end.tag.is_inline() {
            self.end_block();
        }
        if end.tag == Tag::A {
            self.close();
        } else if self.is_open && !end.tag.is_inline() {
            self.push(" ");
        }
    }
}

impl<'a> AnchorTexts<'a> {
    /// Gathers what stands around links as well.
    pub fn with_surroundings() -> AnchorTexts<'a> {
        AnchorTexts { block: Some(String::new()), ..AnchorTexts::default() }
    }

    fn close(&mut self) {
        if self.is_open
            && let (Some(block), Some(link)) = (&self.block, self.gathered.last_mut())
        {
            link.place.end = block.len();
        }
        self.is_open = false;
    }

    /// The links of a block hear what stands beside them. One that is still open, around blocks,
    /// has nothing beside it.
    fn end_block(&mut self) {
        let Some(block) = self.block.as_mut().filter(|block| !block.is_empty()) else { return };
        let closed = self.gathered.len() - usize::from(self.is_open);
        for link in self.gathered[..closed].iter_mut().skip(self.first_of_block) {
            let Range { start, end } = link.place;
            let before = block.ceil_char_boundary(start.saturating_sub(AROUND_BYTES))..start;
            let after = end..block.floor_char_boundary(end.saturating_add(AROUND_BYTES));
            link.around = [&block[before], &block[after]].join(" ");
        }
        block.clear();
        self.first_of_block = self.gathered.len();
    }

    /// A link that begins before another has ended ends there.
    fn open(&mut self, start: &StartTag<'a>) {
        self.close();
        let Some(href) = start.attribute("href") else { return };
        let is_refused = start.attribute("rel").is_some_and(|rel| has_word(&rel, "nofollow"));
        if !is_refused && self.gathered.len() < LINKS_MAX {
            let place = self.block.as_ref().map_or(0, String::len);
            let (text, around) = (String::new(), String::new());
            self.gathered.push(Gathered { href, text, place: place..place, around });
            self.is_open = true;
        }
    }

    /// Appends text, with every run of white space as one space.
    fn push(&mut self, text: &str) {
        let Some(Gathered { text: kept, .. }) = self.gathered.last_mut() else { return };
        for character in text.chars() {
            if kept.len() + character.len_utf8() > ANCHOR_BYTES_MAX {
                return;
            }
            if !character.is_whitespace() {
                kept.push(character);
            } else if !kept.is_empty() && !kept.ends_with(' ') {
                kept.push(' ');
            }
        }
    }

    /// Where links lead and what they say, each pair once, in order; links without text, to the
    /// page itself or to what is no URL are left out. `page` is what was read of `url`.
    pub fn finish(mut self, page: &Page, url: &Url) -> Vec<Anchor> {
        self.close();
        self.end_block();
        let charset = QueryCharset::of_document(page.charset);
        let base = page.base.as_ref().unwrap_or(url);
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for Gathered { href, mut text, around, .. } in self.gathered {
            text.truncate(text.trim_end().len());
            if text.is_empty() {
                continue;
            }
            let Ok(target) = base.join_in(&href, charset) else { continue };
            if target != *url && seen.insert((target.clone(), text.clone())) {
                found.push(Anchor { url: target, text, around });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PageLimits, read_observed};
    use super::*;

    fn texts(html: &str) -> Vec<(String, String)> {
        let url = Url::parse("https://e.org/a/").expect("a URL");
        let mut anchors = AnchorTexts::default();
        let page = read_observed(html, "UTF-8", &url, &PageLimits::default(), &mut anchors);
        let found = anchors.finish(&page, &url).into_iter();
        found.map(|anchor| (anchor.url.as_str().to_owned(), anchor.text)).collect()
    }

    fn check(html: &str, expected: &[(&str, &str)]) {
        let owned =
            |(target, text): &(&str, &str)| (format!("https://e.org/{target}"), (*text).to_owned());
        assert_eq!(texts(html), expected.iter().map(owned).collect::<Vec<_>>(), "{html}");
    }

    #[test]
    fn links_have_texts() {
        check(
            "<a href=b>Spring <b>tides</b>\n &amp; moon</a> after",
            &[("a/b", "Spring tides & moon")],
        );
        check("<a href=/x><img alt='The moon' src=m.png></a>", &[("x", "The moon")]);
        check("<a href=/x><div>one</div><div>two</div></a>", &[("x", "one two")]);
        check("<a href=/x>one<a href=/y>two</a>three", &[("x", "one"), ("y", "two")]);
        check("<base href=/c/><a href=d>in c</a>", &[("c/d", "in c")]);
        check(
            "<a href=b>same</a><a href=b>same</a><a href=b>other</a>",
            &[("a/b", "same"), ("a/b", "other")],
        );
    }

    #[test]
    fn links_that_say_nothing_or_lead_nowhere_are_left_out() {
        let nothing = "<a href=b> </a><a>no</a><a href='mailto:a@b'>m</a><a href='#x'>self</a>\
                       <a rel=nofollow href=/n>n</a><script>var a='<a href=q>';</script>";
        check(nothing, &[]);
        check("<a href=b><style>p{}</style>text", &[("a/b", "text")]);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let html = format!("<a href=b>{}</a>", "é".repeat(200));
        let found = texts(&html);
        assert_eq!(found[0].1, "é".repeat(ANCHOR_BYTES_MAX / 2));
    }

    #[test]
    fn what_stands_beside_a_link_is_of_its_block_alone_and_no_more_than_is_kept() {
        let around = |html: &str| {
            let url = Url::parse("https://e.org/a/").expect("a URL");
            let mut anchors = AnchorTexts::with_surroundings();
            let page = read_observed(html, "UTF-8", &url, &PageLimits::default(), &mut anchors);
            let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = anchors.finish(&page, &url).into_iter();
            found.map(|anchor| folded(&anchor.around)).collect::<Vec<_>>()
        };
        assert_eq!(
            around("<p>The moon draws <a href=b>the <b>sea</b></a>, twice a day.<p>More"),
            ["The moon draws , twice a day."]
        );
        assert_eq!(
            around("<ul><li><a href=b>one</a> of tides<li>two <a href=c>three</a></ul>after"),
            ["of tides", "two"]
        );
        assert_eq!(around("<p>a <a href=b>b</a> c <a href=d>d</a> e"), ["a c d e", "a b c e"]);
        assert_eq!(around("open <a href=b>to the end"), ["open"]);
        assert_eq!(around("<a href=b><p>a card</p><p>of two</p></a> beside"), [""]);
        let long = "é".repeat(200);
        let kept = "é".repeat(AROUND_BYTES / 2);
        assert_eq!(
            around(&format!("<p>{long}<a href=b>b</a>{long}</p>")),
            [format!("{kept} {kept}")]
        );
        let huge = "wide ".repeat(BLOCK_BYTES_MAX / 4);
        assert_eq!(around(&format!("{huge}<a href=b>b</a>{huge}")).len(), 1);
    }
}
