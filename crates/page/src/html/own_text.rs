//! The text that is a page's own, for comparing pages: what stands around it on every page of its
//! site would make all of them look alike.
//!
//! Left out are the elements that HTML has for surroundings (`nav`, `header`, `footer`, `aside`
//! and the like), and blocks that are mostly links: menus of sites that do not use those elements.
//! A block is what stands between two tags that begin or end one. This is the one place that
//! decides which text is compared while crawling; it sees the tokens that the links come from, so
//! a page is read once.

use super::read::Observer;
use super::text::blank_run_end;
use super::{EndTag, StartTag, Tag, TextRunToken};

/// Text that is compared: the beginning of a longer one stands for it.
pub const OWN_TEXT_BYTES_MAX: usize = 1 << 20;

/// Text that is gathered, and the most that is taken of one piece: a block without end is decided
/// by as much of it as this.
const READ_BYTES_MAX: usize = 2 * OWN_TEXT_BYTES_MAX;

/// Gathers a page's own text from its tokens.
#[derive(Default)]
pub struct OwnText {
    /// Blocks that are kept, a line each, and then the block that is being read.
    kept: String,
    /// Where that block begins.
    block: usize,
    /// How much of it is the text of links.
    linked: usize,
    in_link: bool,
    /// The surroundings that we are in: the outermost element, and how often it is open.
    outside: Option<(Tag, u32)>,
}

impl<'a> Observer<'a> for OwnText {
    const WANTS_VISIBLE: bool = false;

    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        let is_wanted = self.outside.is_none() && text.owner == Tag::Other;
        if is_wanted && self.block <= OWN_TEXT_BYTES_MAX && self.kept.len() <= READ_BYTES_MAX {
            self.take(&text.beginning(READ_BYTES_MAX));
        }
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        if !start.tag.is_inline() {
            self.end_block();
        }
        if start.foreign {
            return;
        }
        match (start.tag, &mut self.outside) {
            (Tag::A, _) => self.in_link = true,
            // Whatever was left open: what is marked as the main part is no surroundings.
            (Tag::Main, outside) => *outside = None,
            (tag, Some((outer, depth))) if tag == *outer => *depth += 1,
            (tag, outside @ None) if is_surroundings(tag) => *outside = Some((tag, 1)),
            _ => (),
        }
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        let tag = end.tag;
        if !tag.is_inline() {
            self.end_block();
        }
        if tag == Tag::A {
            self.in_link = false;
        }
        if let Some((outer, depth)) = &mut self.outside
            && *outer == tag
        {
            *depth -= 1;
            if *depth == 0 {
                self.outside = None;
            }
        }
    }
}

impl OwnText {
    /// For a page of so many bytes.
    pub fn new(page_bytes: usize) -> OwnText {
        let kept = String::with_capacity(page_bytes.min(OWN_TEXT_BYTES_MAX) / 2);
        OwnText { kept, ..OwnText::default() }
    }

    /// The text, once the page has ended.
    pub fn finish(mut self) -> String {
        self.end_block();
        self.kept.truncate(self.kept.floor_char_boundary(OWN_TEXT_BYTES_MAX));
        self.kept
    }

    fn take(&mut self, text: &TextRunToken<'_>) {
        let mut raw = text.raw;
        if self.kept.len() == self.block {
            // Most text is the white space between blocks.
            raw = &raw[blank_run_end(raw.as_bytes())..];
            if raw.is_empty() {
                return;
            }
        }
        let before = self.kept.len();
        self.kept.push_str(&TextRunToken { raw, ..*text }.decoded());
        if self.in_link {
            self.linked += self.kept[before..].trim_ascii().len();
        }
    }

    #[inline]
    fn end_block(&mut self) {
        // A link that was never closed does not make links of all that follows.
        self.in_link = false;
        if self.kept.len() > self.block {
            self.decide();
        }
    }

    fn decide(&mut self) {
        let bytes = self.kept[self.block..].trim_ascii_end().len();
        if bytes > 0 && self.linked * 2 <= bytes {
            self.kept.truncate(self.block + bytes);
            self.kept.push('\n');
        } else {
            self.kept.truncate(self.block);
        }
        self.block = self.kept.len();
        self.linked = 0;
    }
}

fn is_surroundings(tag: Tag) -> bool {
    use Tag::{Aside, Button, Dialog, Footer, Header, Menu, Nav, Search, Select};
    matches!(tag, Nav | Header | Footer | Aside | Menu | Search | Dialog | Select | Button)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::{PageLimits, read_with_own_text};
    use crate::url::Url;

    fn own_text(html: &str) -> String {
        let url = Url::parse("http://a.test/").unwrap();
        read_with_own_text(html.as_bytes(), None, &url, &PageLimits::default()).1
    }

    #[test]
    fn surroundings_and_menus_are_left_out_and_links_within_sentences_are_not() {
        let html = "<title>T</title><header>The Daily<nav><a href=/>Home</a></nav></header>\
            <div class=menu><a href=/a>News of the day</a> | <a href=/b>Sports</a></div>\
            <p> It rained on <a href=/m>Monday</a>, &amp; long.<script>var x;</script>\
            <aside>Read also <aside>this</aside> and that</aside><p>Then it <b>stop</b>ped. \
            <footer>All rights reserved</footer>";
        assert_eq!(own_text(html), "It rained on Monday, & long.\nThen it stopped.\n");
    }

    #[test]
    fn what_is_never_closed_does_not_swallow_the_main_part() {
        assert_eq!(own_text("<nav><ul><li>Home<main><p>The text."), "The text.\n");
        assert_eq!(own_text("<a href=/x>Home<p>The text."), "The text.\n");
    }

    #[test]
    fn of_an_endless_text_only_the_beginning_is_kept() {
        let long = "<p>Über alles wächst Gras. ".repeat(100_000);
        let own = own_text(&long);
        assert!(own.len() <= OWN_TEXT_BYTES_MAX && own.len() > OWN_TEXT_BYTES_MAX - 64);
        let unbroken = own_text(&"ü".repeat(OWN_TEXT_BYTES_MAX));
        assert_eq!(unbroken.len(), OWN_TEXT_BYTES_MAX);
        assert_eq!(own_text(&"\0".repeat(4 * OWN_TEXT_BYTES_MAX)), "");
        // A block of links without end is none of the page's.
        let menu = format!("<div>{}<p>The text.", "<a href=/x>on</a> ".repeat(OWN_TEXT_BYTES_MAX));
        assert_eq!(own_text(&menu), "The text.\n");
    }
}
