//! The text that is a page's own, for comparing pages: what stands around it on every page of its
//! site would make all of them look alike.
//!
//! Left out are the elements that HTML has for surroundings (`nav`, `header`, `footer`, `aside`
//! and the like), and blocks that are mostly links: menus of sites that do not use those elements.
//! A block is what stands between two tags that begin or end one. This is the one place that
//! decides which text is compared while crawling.

use rhumb_neardup::{Sketch, shingle};
use rhumb_page::charset;
use rhumb_page::html::{StartTag, Tag, Text, Token, Tokenizer};

/// Text that is compared: the beginning of a longer one stands for it.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// A text with fewer shingles has no sketch: two short notices are alike by chance too often.
const SHINGLES_MIN: usize = 24;

/// The sketch of an HTML page's own text, if it has enough of it.
pub fn sketch_of_html(body: &[u8], declared: Option<&str>, host: &str) -> Option<Box<Sketch>> {
    let decoded = charset::decode(body, declared, Some(host));
    sketch(&own_text(&decoded.text))
}

/// The sketch of plain text.
pub fn sketch_of_plain(body: &[u8], declared: Option<&str>, host: &str) -> Option<Box<Sketch>> {
    let decoded = charset::decode(body, declared, Some(host));
    sketch(&decoded.text[..decoded.text.floor_char_boundary(TEXT_BYTES_MAX)])
}

fn sketch(text: &str) -> Option<Box<Sketch>> {
    let mut prints = Vec::with_capacity(text.len() / 5);
    shingle::fingerprints(text, shingle::WORDS_DEFAULT, &mut prints);
    if prints.len() < SHINGLES_MIN {
        return None;
    }
    Sketch::of(&prints).map(Box::new)
}

fn own_text(html: &str) -> String {
    let mut own = OwnText::default();
    let mut tokens = Tokenizer::new(html);
    while let Some(token) = tokens.next() {
        match &token {
            _ if tokens.is_inert() => (),
            Token::Text(text) => own.text(text),
            Token::Start(start) => own.start(start),
            Token::End(end) => own.end(end.tag),
        }
        if own.kept.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    own.end_block();
    own.kept
}

#[derive(Default)]
struct OwnText {
    kept: String,
    /// The block that is being read.
    block: String,
    /// How much of it is the text of links.
    linked: usize,
    in_link: bool,
    /// The surroundings that we are in: the outermost element, and how often it is open.
    outside: Option<(Tag, u32)>,
}

impl OwnText {
    fn text(&mut self, text: &Text<'_>) {
        if self.outside.is_some() || text.owner != Tag::Other {
            return;
        }
        let before = self.block.len();
        self.block.push_str(&text.decoded());
        if self.in_link {
            self.linked += self.block[before..].trim_ascii().len();
        }
    }

    fn start(&mut self, start: &StartTag<'_>) {
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

    fn end(&mut self, tag: Tag) {
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

    fn end_block(&mut self) {
        let text = self.block.trim_ascii();
        if !text.is_empty() && self.linked * 2 <= text.len() {
            self.kept.push_str(text);
            self.kept.push('\n');
        }
        self.block.clear();
        self.linked = 0;
        // A link that was never closed does not make links of all that follows.
        self.in_link = false;
    }
}

fn is_surroundings(tag: Tag) -> bool {
    use Tag::{Aside, Button, Dialog, Footer, Header, Menu, Nav, Search, Select};
    matches!(tag, Nav | Header | Footer | Aside | Menu | Search | Dialog | Select | Button)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surroundings_and_menus_are_left_out_and_links_within_sentences_are_not() {
        let html = "<title>T</title><header>The Daily<nav><a href=/>Home</a></nav></header>\
            <div class=menu><a href=/a>News of the day</a> | <a href=/b>Sports</a></div>\
            <p>It rained on <a href=/m>Monday</a>, &amp; long.<script>var x;</script>\
            <aside>Read also <aside>this</aside> and that</aside><p>Then it <b>stop</b>ped.\
            <footer>All rights reserved</footer>";
        assert_eq!(own_text(html), "It rained on Monday, & long.\nThen it stopped.\n");
    }

    #[test]
    fn what_is_never_closed_does_not_swallow_the_main_part() {
        assert_eq!(own_text("<nav><ul><li>Home<main><p>The text."), "The text.\n");
        assert_eq!(own_text("<a href=/x>Home<p>The text."), "The text.\n");
        assert_eq!(sketch_of_html(b"<p>Too short to tell.", None, "a.test"), None);
    }
}
