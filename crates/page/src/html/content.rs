//! The tokenizer: the lexer, and the few things a tree builder would tell it.
//!
//! The standard's tokenizer is steered by the tree: `<style>` makes raw text follow, but not within
//! `svg`; a CDATA section exists only there; what stands in a `template` is no part of the page. No
//! tree is built here. Instead a short stack remembers the `svg` and `math` elements that are open,
//! and the places within them where HTML goes on.

use super::Tag;
use super::lexer::{Lexer, Model};
use super::token::{StartTag, Token};

/// Nested `svg`, `math` and `foreignObject` that are remembered; deeper ones count as part of the
/// last.
const REGIONS_MAX: usize = 64;

/// The tokens of a page, in one pass.
///
/// ```
/// use rhumb_page::html::{Tag, Token, Tokenizer};
///
/// let mut tokens = Tokenizer::new("<p>One &amp; <a href=/two>two</a>");
/// while let Some(token) = tokens.next() {
///     match token {
///         Token::Start(start) if start.tag == Tag::A => {
///             assert_eq!(start.attribute("href").as_deref(), Some("/two"));
///         }
///         Token::Text(text) => assert!(["One & ", "two"].contains(&&*text.decoded())),
///         _ => (),
///     }
/// }
/// ```
///
/// Scripting counts as off: `noscript` holds markup. Tags are handed out as they are written; none
/// is added, moved or closed as a tree builder would.
pub struct Tokenizer<'a> {
    lexer: Lexer<'a>,
    regions: Vec<Region>,
    /// Templates open now.
    templates: u32,
    /// The number of open templates when the outermost inert one was opened; 0 if none is.
    inert_since: u32,
}

/// A stretch of the page in which other rules hold.
#[derive(Clone, Copy)]
struct Region {
    /// The element that opened it.
    root: Tag,
    /// Elements of the root's name open within it, the root included.
    depth: u32,
    /// `svg` and `math` are foreign; a `foreignObject` within is HTML again.
    foreign: bool,
}

impl<'a> Tokenizer<'a> {
    /// The tokens of `html`.
    pub fn new(html: &'a str) -> Tokenizer<'a> {
        Tokenizer { lexer: Lexer::new(html), regions: Vec::new(), templates: 0, inert_since: 0 }
    }

    /// Whether the token handed out last stands in a `template`, and so is no part of the page. A
    /// template that makes a shadow root is shown, and so is not inert.
    pub fn is_inert(&self) -> bool {
        self.inert_since != 0
    }

    /// Bytes of the page passed so far.
    pub fn position(&self) -> usize {
        self.lexer.position()
    }

    /// The next token, as part of the caller's own loop: one that crosses a call is written byte by
    /// byte and copied as a whole, which costs more than to scan it.
    #[inline(always)]
    pub fn advance(&mut self) -> Option<Token<'a>> {
        self.advance_to::<true>()
    }

    /// As [`Tokenizer::advance`]; without `TEXT`, past text between tags, and past end tags that
    /// change nothing.
    #[inline(always)]
    pub fn advance_to<const TEXT: bool>(&mut self) -> Option<Token<'a>> {
        let ends = self.templates > 0 || !self.regions.is_empty();
        match self.lexer.next_token::<TEXT>(ends)?.token() {
            Token::Start(start) => {
                let is_plain = self.regions.is_empty() && !changes_reading(start.tag);
                let foreign = !is_plain && self.started(start);
                Some(Token::Start(StartTag { foreign, ..start }))
            }
            Token::End(end) => {
                if end.tag == Tag::Template || !self.regions.is_empty() {
                    self.ended(end.tag);
                }
                Some(Token::End(end))
            }
            text => Some(text),
        }
    }

    /// Takes in a start tag that changes how the page is read, or one in a region; whether it is
    /// foreign.
    #[cold]
    fn started(&mut self, mut start: StartTag<'a>) -> bool {
        self.started_in_region(&mut start);
        if !start.foreign {
            self.started_in_page(&mut start);
        }
        start.foreign
    }

    fn started_in_page(&mut self, start: &mut StartTag<'a>) {
        let model = match start.tag {
            Tag::Title | Tag::Textarea => Model::Rcdata(start.name),
            Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes => {
                Model::RawText(start.name)
            }
            Tag::Script => Model::Script(start.name),
            Tag::Plaintext => Model::PlainText,
            Tag::Svg | Tag::Math => {
                start.foreign = true;
                return self.enter(start, true);
            }
            Tag::Template => return self.template_started(start),
            _ => return,
        };
        self.lexer.model = model;
        self.lexer.owner = start.tag;
    }

    #[cold]
    fn ended(&mut self, tag: Tag) {
        if tag == Tag::Template && self.templates > 0 {
            if self.inert_since == self.templates {
                self.inert_since = 0;
            }
            self.templates -= 1;
        }
        self.ended_in_region(tag);
    }

    fn template_started(&mut self, start: &StartTag<'a>) {
        self.templates += 1;
        if self.inert_since == 0 && start.attribute("shadowrootmode").is_none() {
            self.inert_since = self.templates;
        }
    }

    /// Sets `start.foreign`, and opens or closes regions.
    fn started_in_region(&mut self, start: &mut StartTag<'a>) {
        let Some(region) = self.regions.last_mut() else { return };
        if !region.foreign {
            let is_root_of_text = matches!(start.tag, Tag::Mglyph | Tag::Malignmark);
            start.foreign = is_root_of_text && is_math_text(region.root);
            return;
        }
        if breaks_out(start) {
            return self.leave_foreign();
        }
        start.foreign = true;
        let integrates = match region.root {
            Tag::Math => {
                is_math_text(start.tag) || (start.tag == Tag::AnnotationXml && holds_html(start))
            }
            _ => matches!(start.tag, Tag::ForeignObject | Tag::Desc | Tag::Title),
        };
        if start.tag == region.root && !start.self_closing {
            region.depth += 1;
        } else if integrates {
            self.enter(start, false);
        } else if matches!(start.tag, Tag::Style | Tag::Script) && !start.self_closing {
            self.lexer.owner = start.tag;
        }
    }

    fn ended_in_region(&mut self, tag: Tag) {
        let Some(region) = self.regions.last_mut() else { return };
        if tag == region.root {
            region.depth -= 1;
            if region.depth == 0 {
                self.regions.pop();
                self.regions_changed();
            }
        } else if region.foreign {
            if tag.breaks_out_of_foreign_content() || is_page_structure(tag) {
                self.leave_foreign();
            } else if tag == self.lexer.owner {
                self.lexer.owner = Tag::Other;
            }
        }
    }

    fn enter(&mut self, start: &StartTag<'a>, foreign: bool) {
        if !start.self_closing && self.regions.len() < REGIONS_MAX {
            self.regions.push(Region { root: start.tag, depth: 1, foreign });
            self.regions_changed();
        }
    }

    fn leave_foreign(&mut self) {
        while self.regions.last().is_some_and(|region| region.foreign) {
            self.regions.pop();
        }
        self.regions_changed();
    }

    fn regions_changed(&mut self) {
        self.lexer.cdata = self.regions.last().is_some_and(|region| region.foreign);
        self.lexer.owner = Tag::Other;
    }
}

impl<'a> Iterator for Tokenizer<'a> {
    type Item = Token<'a>;

    #[inline]
    fn next(&mut self) -> Option<Token<'a>> {
        self.advance()
    }
}

/// Whether other rules hold behind a start tag of this name: see [`Tokenizer::started_in_page`].
#[inline(always)]
fn changes_reading(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        Title
            | Textarea
            | Style
            | Xmp
            | Iframe
            | Noembed
            | Noframes
            | Script
            | Plaintext
            | Svg
            | Math
            | Template
    )
}

/// MathML's elements whose text is HTML.
fn is_math_text(tag: Tag) -> bool {
    matches!(tag, Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext)
}

fn holds_html(annotation: &StartTag<'_>) -> bool {
    annotation.attribute("encoding").is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("text/html")
            || encoding.eq_ignore_ascii_case("application/xhtml+xml")
    })
}

fn breaks_out(start: &StartTag<'_>) -> bool {
    start.tag.breaks_out_of_foreign_content()
        || (start.tag == Tag::Font
            && start.attributes().any(|a| a.is("color") || a.is("face") || a.is("size")))
}

/// Elements whose end tag, met in an `svg` that was never closed, closes it with them: they hold
/// it. (Whether one is open outside is not remembered; it nearly always is.)
fn is_page_structure(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        Html | Section
            | Article
            | Aside
            | Nav
            | Main
            | Header
            | Footer
            | Td
            | Th
            | Tr
            | Tbody
            | Thead
            | Tfoot
            | Form
            | Button
            | Figure
            | Label
            | Details
            | Summary
            | Dialog
            | Fieldset
            | Caption
            | Select
            | Object
            | Address
            | Figcaption
    )
}
