//! Blocks: the text of a page, cut where the markup separates it.
//!
//! A block is a run of text that no block-level tag interrupts: a paragraph, a cell, an entry of a
//! menu.
//! All blocks share one text, in which white space is folded; a block is a range of it, with counts
//! of what it holds and the element it stands in.

use std::ops::Range;

use memchr::memchr;
use xxhash_rust::xxh3::xxh3_64;

use super::anchors::{is_anchor_sign, is_edit_section};
use super::outline::{Outline, Role};
use super::words::{Count, count};
use rhumb_page::html::{EndTag, StartTag, Tag, TextRunToken, blank_run_end, folded_run_end};

/// Blocks kept of one page; what comes after joins the last.
const BLOCKS_MAX: usize = 50_000;
/// Spans (links, emphasis) kept of one page.
const SPANS_MAX: usize = 200_000;

/// A stretch of a block's text that is marked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'a> {
    pub start: u32,
    pub end: u32,
    pub kind: SpanKind<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SpanKind<'a> {
    /// A link, with its `href` as written.
    Link(&'a str),
    Code,
    Strong,
    Emphasis,
    /// A wiki's link for editing a section. Its text is taken back when it ends.
    EditSection,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The range of the page's text.
    pub start: u32,
    pub end: u32,
    /// The element it stands in.
    pub element: u32,
    pub count: Count,
    /// Of the part that is links.
    pub link_mass: u32,
    pub links: u16,
    /// Tags of any kind since the block before.
    pub tags_before: u16,
    pub images_before: u16,
    /// Tags within, which do not interrupt text.
    pub tags_within: u16,
    pub breaks: u16,
    /// Whether a sign of money stands in it.
    pub has_price: bool,
    /// Of the text: blocks that say the same have the same.
    pub hash: u64,
}

/// Gathers blocks from a page's tokens.
pub(super) struct Blocks<'a> {
    pub text: String,
    pub blocks: Vec<Block>,
    pub spans: Vec<Span<'a>>,
    pub outline: Outline,
    /// The block being read, if text of it has come.
    draft: Draft,
    open_spans: Vec<Span<'a>>,
    /// Open elements whose text is nothing to read: `select`, `svg`.
    unread: u32,
    unread_tag: Tag,
    preformatted: bool,
}

#[derive(Default)]
struct Draft {
    start: usize,
    link_mass: u32,
    links: u16,
    tags_before: u16,
    images_before: u16,
    tags_within: u16,
    breaks: u16,
    has_gap: bool,
    /// Whether the last thing was a line break.
    broken: bool,
    /// The length of the text when an inline element ended.
    ended_at: usize,
    /// The last part that is a link, and what it counts: often it is the whole block.
    link: Option<(Range<usize>, Count)>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(html_bytes: usize) -> Blocks<'a> {
        Blocks {
            text: String::with_capacity(html_bytes / 16),
            blocks: Vec::with_capacity(html_bytes / 512),
            spans: Vec::new(),
            outline: Outline::new(html_bytes),
            draft: Draft::default(),
            open_spans: Vec::new(),
            unread: 0,
            unread_tag: Tag::Other,
            preformatted: false,
        }
    }

    #[inline]
    pub(super) fn start(&mut self, start: &StartTag<'a>) {
        let tag = start.tag;
        if self.unread > 0 {
            if tag == self.unread_tag && !start.self_closing {
                self.unread += 1;
            }
            if start.foreign || !ends_unread(tag) {
                return;
            }
            self.unread = 0;
        }
        if is_unread(tag) && !(start.foreign && start.self_closing) {
            (self.unread, self.unread_tag) = (1, tag);
            return;
        }
        if is_within_text(tag, start.name) {
            return self.start_within(start);
        }
        match tag {
            Tag::Br => self.line_break(),
            Tag::Img => self.draft.images_before = self.draft.images_before.saturating_add(1),
            Tag::Script | Tag::Style | Tag::Link | Tag::Meta | Tag::Template => (),
            _ => {
                self.cut();
                self.outline.start(start);
                self.preformatted |= tag == Tag::Pre;
            }
        }
        self.draft.tags_before = self.draft.tags_before.saturating_add(1);
    }

    #[inline]
    pub(super) fn end(&mut self, end: &EndTag<'a>) {
        let tag = end.tag;
        if self.unread > 0 {
            self.unread -= u32::from(tag == self.unread_tag);
            return;
        }
        if is_within_text(tag, end.name) {
            return self.end_within(tag);
        }
        if matches!(tag, Tag::Br | Tag::Script | Tag::Style | Tag::Template) {
            return;
        }
        self.cut();
        self.outline.end(tag);
        if tag == Tag::Pre {
            self.preformatted = false;
        }
        self.draft.tags_before = self.draft.tags_before.saturating_add(1);
    }

    #[inline]
    pub(super) fn text(&mut self, text: &TextRunToken<'a>) {
        if self.unread > 0 || !matches!(text.owner, Tag::Other | Tag::Xmp | Tag::Plaintext) {
            return;
        }
        let is_blank = blank_run_end(text.raw.as_bytes()) == text.raw.len();
        if is_blank && !(self.preformatted && self.has_text()) {
            self.draft.has_gap = true;
            return;
        }
        let decoded = text.decoded();
        let from = self.text.len();
        if self.preformatted {
            self.push_preformatted(&decoded);
        } else {
            self.push_folded(&decoded);
        }
        if self.text.len() > from && !self.open_spans.is_empty() {
            self.note_link_mass(from);
        }
    }

    fn note_link_mass(&mut self, from: usize) {
        if self.open_spans.iter().any(|span| matches!(span.kind, SpanKind::Link(_))) {
            let link = count(&self.text[from..]);
            self.draft.link_mass += link.mass;
            self.draft.link = Some((from..self.text.len(), link));
        }
    }

    fn has_text(&self) -> bool {
        self.text.len() > self.draft.start
    }

    /// Appends words with single spaces between them. A space that does not break is one too: it
    /// is replaced where it stands, which is rare.
    fn push_folded(&mut self, text: &str) {
        const NO_BREAK: char = '\u{A0}';
        if memchr(0xC2, text.as_bytes()).is_some() && text.contains(NO_BREAK) {
            return self.push_folded(&text.replace(NO_BREAK, " "));
        }
        let mut rest = self.skip_blank(text);
        while !rest.is_empty() {
            let (run, after) = rest.split_at(folded_run_end(rest.as_bytes()));
            if self.draft.has_gap && self.has_text() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.text.push_str(run);
            (self.draft.has_gap, self.draft.broken) = (false, false);
            rest = self.skip_blank(after);
        }
    }

    fn skip_blank<'t>(&mut self, text: &'t str) -> &'t str {
        let (blank, rest) = text.split_at(blank_run_end(text.as_bytes()));
        self.draft.has_gap |= !blank.is_empty();
        rest
    }

    fn push_preformatted(&mut self, text: &str) {
        let text = if self.has_text() { text } else { text.trim_start_matches(['\n', '\r']) };
        self.text.extend(text.chars().filter(|c| *c != '\0'));
        self.draft.has_gap = false;
    }

    /// Two line breaks in a row are how old pages write paragraphs.
    fn line_break(&mut self) {
        if self.draft.broken || !self.has_text() {
            self.cut();
        } else {
            self.draft.broken = true;
            self.draft.breaks = self.draft.breaks.saturating_add(1);
            self.draft.has_gap = false;
            self.text.push('\n');
        }
    }

    fn start_within(&mut self, start: &StartTag<'a>) {
        self.draft.tags_within = self.draft.tags_within.saturating_add(1);
        // Elements with nothing between them are set apart by style more often than not.
        if start.tag == Tag::Span && self.draft.ended_at == self.text.len() && self.has_text() {
            self.draft.has_gap = true;
        }
        let kind = match start.tag {
            Tag::A => {
                self.end_within(Tag::A);
                let href = start.attributes().find(|attribute| attribute.is("href"));
                let Some(href) = href else { return };
                self.draft.links = self.draft.links.saturating_add(1);
                SpanKind::Link(href.raw)
            }
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => SpanKind::Code,
            Tag::B | Tag::Strong => SpanKind::Strong,
            Tag::I | Tag::Em => SpanKind::Emphasis,
            Tag::Span if self.is_edited_here() || is_edit_section(start) => SpanKind::EditSection,
            _ => return,
        };
        const OPEN_SPANS_MAX: usize = 16;
        if self.open_spans.len() < OPEN_SPANS_MAX {
            let at = self.text.len() as u32;
            self.open_spans.push(Span { start: at, end: at, kind });
        }
    }

    fn end_within(&mut self, tag: Tag) {
        if tag == Tag::Span {
            self.draft.ended_at = self.text.len();
        }
        let is_ended = |kind: &SpanKind<'_>| match tag {
            Tag::A => matches!(kind, SpanKind::Link(_)),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => matches!(kind, SpanKind::Code),
            Tag::B | Tag::Strong => matches!(kind, SpanKind::Strong),
            Tag::I | Tag::Em => matches!(kind, SpanKind::Emphasis),
            Tag::Span => matches!(kind, SpanKind::EditSection),
            _ => false,
        };
        let Some(open) = self.open_spans.iter().rposition(|span| is_ended(&span.kind)) else {
            return;
        };
        let span = self.open_spans.remove(open);
        let is_no_text = match span.kind {
            SpanKind::EditSection => true,
            SpanKind::Link(href) => is_anchor_sign(href, &self.text[span.start as usize..]),
            _ => false,
        };
        match is_no_text {
            true => self.take_back(span.start as usize),
            false => self.keep_span(span),
        }
    }

    fn is_edited_here(&self) -> bool {
        self.open_spans.iter().any(|span| matches!(span.kind, SpanKind::EditSection))
    }

    /// Removes the text from `start` on, which is within the block being read.
    fn take_back(&mut self, start: usize) {
        let taken = count(&self.text[start..]);
        self.draft.link_mass = self.draft.link_mass.saturating_sub(taken.mass);
        self.draft.links = self.draft.links.saturating_sub(1);
        self.draft.link = None;
        self.text.truncate(start);
        self.draft.has_gap = true;
        while self.spans.pop_if(|span| span.end as usize > start).is_some() {}
    }

    fn keep_span(&mut self, span: Span<'a>) {
        let end = self.text.len() as u32;
        let is_text = !matches!(span.kind, SpanKind::EditSection);
        if is_text && end > span.start && self.spans.len() < SPANS_MAX {
            self.spans.push(Span { end, ..span });
        }
    }

    /// Ends the block that is being read.
    #[inline]
    fn cut(&mut self) {
        // Most tags that separate text have none before them.
        if self.has_text() {
            self.end_block();
        }
        (self.draft.has_gap, self.draft.broken) = (false, false);
    }

    fn end_block(&mut self) {
        let start = self.draft.start;
        let trimmed = self.text[start..].trim_end_matches([' ', '\n', '\t', '\r']).len();
        self.text.truncate(start + trimmed);
        if trimmed > 0 && self.blocks.len() < BLOCKS_MAX {
            self.push_block();
        }
        let at = self.text.len();
        // One that is never closed ends with its block.
        self.open_spans.retain(|span| !matches!(span.kind, SpanKind::EditSection));
        // An open link goes on in the next block.
        for open in 0..self.open_spans.len() {
            let span = self.open_spans[open];
            self.keep_span(span);
            self.open_spans[open].start = at as u32;
        }
        self.draft.start = at;
    }

    fn push_block(&mut self) {
        let (start, end) = (self.draft.start, self.text.len());
        let text = &self.text[start..end];
        let draft = std::mem::take(&mut self.draft);
        self.blocks.push(Block {
            start: start as u32,
            end: end as u32,
            element: self.outline.current(),
            count: match draft.link {
                Some((link, count)) if link == (start..end) => count,
                _ => count(text),
            },
            link_mass: draft.link_mass,
            links: draft.links,
            tags_before: draft.tags_before,
            images_before: draft.images_before,
            tags_within: draft.tags_within,
            breaks: draft.breaks,
            has_price: has_price(text),
            hash: xxh3_64(text.as_bytes()),
        });
        self.text.push('\n');
    }

    /// Ends the page.
    pub(super) fn finish(&mut self) {
        self.cut();
    }

    /// Puts spans in the order of the text, outer ones first.
    pub(super) fn order_spans(&mut self) {
        self.spans.sort_unstable_by_key(|span| (span.start, u32::MAX - span.end));
    }

    pub(super) fn text_of(&self, block: &Block) -> &str {
        &self.text[block.start as usize..block.end as usize]
    }

    /// Whether there were more blocks than are kept.
    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= BLOCKS_MAX
    }

    pub(super) fn near(&self, block: &Block, role: Role) -> u8 {
        self.outline.elements[block.element as usize].near[role as usize]
    }
}

/// Whether a short text names a price.
fn has_price(text: &str) -> bool {
    const PRICE_BYTES_MAX: usize = 120;
    text.len() <= PRICE_BYTES_MAX
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.contains(['$', '€', '£', '¥', '₹', '₽', '₩', '￥', '₺', '₴', '฿', '₫'])
}

/// Elements that run within a line, and are no boxes. Elements of the author's own (`my-card`) are
/// boxes more often than not.
#[inline]
fn is_within_text(tag: Tag, name: &str) -> bool {
    use Tag::*;
    match tag {
        Script | Style | Link | Meta | Template | Noscript | Label => false,
        Other => !name.contains('-'),
        _ => tag.is_inline(),
    }
}

/// Elements whose text is no text of the page.
fn is_unread(tag: Tag) -> bool {
    matches!(tag, Tag::Select | Tag::Datalist | Tag::Svg)
}

/// Elements that never stand in those, so that one which is never closed does not hide the page.
fn ends_unread(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        Div | P | Table | Section | Article | Main | Ul | Ol | Footer | Nav | H1 | H2 | H3
    )
}
