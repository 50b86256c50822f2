//! The texts of a page's links: how other pages call the page that a link leads to.
//!
//! An observer of tokens, so that only callers that want the texts pay for them. The text of a link
//! stands between `<a href>` and its end, with images by their `alt` and white space folded, and is
//! cut at [`ANCHOR_BYTES_MAX`].

use std::borrow::Cow;
use std::collections::HashSet;

use super::read::{LINKS_MAX, Observer, Page, has_word};
use super::{EndTag, StartTag, Tag, Text};
use crate::url::{QueryCharset, Url};

/// Bytes kept of the text of a link.
pub const ANCHOR_BYTES_MAX: usize = 160;

/// Gathers the texts of links from a page's tokens.
#[derive(Default)]
pub struct AnchorTexts<'a> {
    gathered: Vec<(Cow<'a, str>, String)>,
    /// Between a link's start and its end.
    is_open: bool,
}

impl<'a> Observer<'a> for AnchorTexts<'a> {
    const WANTS_VISIBLE: bool = false;

    #[inline]
    fn text(&mut self, text: &Text<'a>) {
        if self.is_open && text.owner == Tag::Other {
            self.push(&text.decoded());
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
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
        if end.tag == Tag::A {
            self.is_open = false;
        } else if self.is_open && !end.tag.is_inline() {
            self.push(" ");
        }
    }
}

impl<'a> AnchorTexts<'a> {
    /// A link that begins before another has ended ends there.
    fn open(&mut self, start: &StartTag<'a>) {
        self.is_open = false;
        let Some(href) = start.attribute("href") else { return };
        let is_refused = start.attribute("rel").is_some_and(|rel| has_word(&rel, "nofollow"));
        if !is_refused && self.gathered.len() < LINKS_MAX {
            self.gathered.push((href, String::new()));
            self.is_open = true;
        }
    }

    /// Appends text, with every run of white space as one space.
    fn push(&mut self, text: &str) {
        let Some((_, kept)) = self.gathered.last_mut() else { return };
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
    pub fn finish(self, page: &Page, url: &Url) -> Vec<(Url, String)> {
        let charset = QueryCharset::of_document(page.charset);
        let base = page.base.as_ref().unwrap_or(url);
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for (href, mut text) in self.gathered {
            text.truncate(text.trim_end().len());
            if text.is_empty() {
                continue;
            }
            let Ok(target) = base.join_in(&href, charset) else { continue };
            if target != *url && seen.insert((target.clone(), text.clone())) {
                found.push((target, text));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, read_observed};
    use super::*;

    fn texts(html: &str) -> Vec<(String, String)> {
        let url = Url::parse("https://e.org/a/").expect("a URL");
        let mut anchors = AnchorTexts::default();
        let page = read_observed(html, "UTF-8", &url, &Limits::default(), &mut anchors);
        let found = anchors.finish(&page, &url).into_iter();
        found.map(|(target, text)| (target.as_str().to_owned(), text)).collect()
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
}
