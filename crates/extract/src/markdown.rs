//! Blocks as Markdown: headings, lists, tables, code, quotes and links, from the outline alone.

use std::collections::HashMap;

use super::blocks::{Block, Blocks, Span, SpanKind};
use super::features::heading_level;
use super::outline::Role;
use rhumb_page::html::{Tag, decode_references};
use rhumb_page::url::Url;

/// Levels of a list that are indented.
const LIST_DEPTH_MAX: usize = 8;
/// Elements around a block that are looked at.
const OUTWARD_MAX: usize = 64;

/// What a block is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    item: Option<u32>,
    is_numbered: bool,
    list_depth: usize,
    row: Option<u32>,
    table: Option<u32>,
    is_quoted: bool,
    /// The element whose text is preformatted.
    code: Option<u32>,
}

/// Where links lead.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base<'u> {
    /// They are resolved against this address.
    Known(&'u Url),
    /// The page came without an address: links stay as written.
    Unknown,
}

/// The blocks that are taken, as Markdown.
pub(super) fn write(page: &Blocks<'_>, taken: &[bool], base: Base<'_>) -> String {
    let text = String::with_capacity(page.text.len() / 2);
    let mut writer = Writer { page, base, text, last: Place::default(), row_cells: 0 };
    let mut numbers = HashMap::new();
    let mut spans = page.spans.iter().peekable();
    let mut taken = page.blocks.iter().zip(taken).filter(|(_, taken)| **taken).peekable();
    while let Some((block, _)) = taken.next() {
        while spans.next_if(|span| span.end <= block.start).is_some() {}
        let own = spans.clone().take_while(|span| span.start < block.end).copied();
        let place = place_of(page, block);
        if place.row.is_some() {
            writer.cell(block, &place, own);
        } else if let Some(code) = place.code {
            let mut lines = page.text_of(block).to_owned();
            while let Some((next, _)) = taken.next_if(|(next, _)| code_of(page, next) == Some(code))
            {
                lines.push('\n');
                lines.push_str(page.text_of(next));
            }
            let prefix = writer.begin(&place, &mut numbers);
            writer.fenced(&lines, &prefix);
        } else {
            let prefix = writer.begin(&place, &mut numbers);
            writer.paragraph(block, &place, own, &prefix);
        }
        writer.last = place;
    }
    if writer.last.row.is_some() {
        end_row(&mut writer.text, &mut writer.row_cells, false);
    }
    writer.text
}

struct Writer<'p, 'a, 'u> {
    page: &'p Blocks<'a>,
    base: Base<'u>,
    text: String,
    /// Where the block before stands.
    last: Place,
    row_cells: usize,
}

impl<'p, 'a: 'p> Writer<'p, 'a, '_> {
    /// Writes a cell of a table.
    fn cell(&mut self, block: &Block, place: &Place, spans: impl Iterator<Item = Span<'a>>) {
        if self.last.row != place.row {
            if self.last.row.is_some() {
                end_row(&mut self.text, &mut self.row_cells, self.last.table != place.table);
            } else {
                self.text.push_str(if self.text.is_empty() { "" } else { "\n\n" });
            }
            if self.last.table != place.table {
                self.row_cells = 0;
            }
        }
        let line = match place.code {
            Some(_) => code_span(self.page.text_of(block)),
            None => line(self.page, block, spans, self.base),
        };
        self.text.push_str("| ");
        self.text.push_str(&line.replace('|', "\\|").replace('\n', " "));
        self.text.push(' ');
        self.row_cells += 1;
    }

    /// Parts a block from the one before and writes the marks of its quote or list; what further
    /// lines of it begin with.
    fn begin(&mut self, place: &Place, numbers: &mut HashMap<u32, u32>) -> String {
        if self.last.row.is_some() {
            end_row(&mut self.text, &mut self.row_cells, true);
        } else if !self.text.is_empty() {
            let is_next_item = place.item.is_some() && self.last.item.is_some();
            self.text.push_str(if is_next_item { "\n" } else { "\n\n" });
        }
        let mut prefix = String::new();
        if place.is_quoted {
            prefix.push_str("> ");
        }
        let Some(item) = place.item else {
            self.text.push_str(&prefix);
            return prefix;
        };
        let indent = 2 * place.list_depth.saturating_sub(1).min(LIST_DEPTH_MAX);
        (0..indent).for_each(|_| prefix.push(' '));
        self.text.push_str(&prefix);
        if self.last.item == Some(item) {
            self.text.push_str("  ");
        } else if place.is_numbered {
            let list = self.page.outline.elements[item as usize].parent;
            let number = numbers.entry(list).or_default();
            *number += 1;
            self.text.push_str(&format!("{number}. "));
        } else {
            self.text.push_str("- ");
        }
        prefix.push_str("  ");
        prefix
    }

    /// Writes lines of code as they are, between fences that are longer than any in them.
    fn fenced(&mut self, code: &str, prefix: &str) {
        let fence = "`".repeat((longest_run(code, '`') + 1).max(3));
        self.text.push_str(&fence);
        for line in code.split('\n') {
            self.text.push('\n');
            self.text.push_str(prefix);
            self.text.push_str(line.trim_end_matches('\r'));
        }
        self.text.push('\n');
        self.text.push_str(prefix);
        self.text.push_str(&fence);
    }

    fn paragraph(
        &mut self,
        block: &Block,
        place: &Place,
        spans: impl Iterator<Item = Span<'a>>,
        prefix: &str,
    ) {
        let level = heading_level(self.page.outline.elements[block.element as usize].tag);
        (0..level).for_each(|_| self.text.push('#'));
        if level > 0 {
            self.text.push(' ');
        }
        let line = line(self.page, block, spans, self.base);
        let prefix = if place.is_quoted { prefix } else { "" };
        let broken = if level > 0 { " ".to_owned() } else { format!("  \n{prefix}") };
        self.text.push_str(&line.replace('\n', &broken));
    }
}

/// A block's text with its spans marked.
fn line<'a>(
    page: &Blocks<'a>,
    block: &Block,
    spans: impl Iterator<Item = Span<'a>>,
    base: Base<'_>,
) -> String {
    let spans = trimmed(page, block, spans);
    let codes = codes_among(&spans);
    let mut line = Line { page, line: String::new(), at: block.start, open: Vec::new() };
    let mut codes = codes.into_iter().peekable();
    for span in &spans {
        // Code comes after what it stands in, and nothing is marked within it.
        while let Some((start, end)) = codes.next_if(|(_, end)| *end <= span.start) {
            line.code(start, end);
        }
        let is_in_code = codes.peek().is_some_and(|(start, end)| {
            let holds = span.start <= *start && span.end >= *end;
            span.start < *end && span.end > *start && !holds
        });
        if is_in_code {
            continue;
        }
        let (before, after) = match span.kind {
            SpanKind::Link(href) => match target(href, base) {
                Some(target) => ("[", format!("]({target})")),
                None => continue,
            },
            SpanKind::Strong => ("**", "**".to_owned()),
            SpanKind::Emphasis => ("*", "*".to_owned()),
            SpanKind::Code | SpanKind::EditSection => continue,
        };
        line.text_to(span.start);
        let crosses = line.open.last().is_some_and(|(end, _)| *end < span.end);
        if crosses || line.at > span.start {
            continue;
        }
        line.line.push_str(before);
        line.open.push((span.end, after));
    }
    for (start, end) in codes {
        line.code(start, end);
    }
    line.text_to(block.end);
    line.line
}

/// The spans within a block, without white space at their ends.
fn trimmed<'a>(
    page: &Blocks<'a>,
    block: &Block,
    spans: impl Iterator<Item = Span<'a>>,
) -> Vec<Span<'a>> {
    let within = |span: Span<'a>| {
        let (start, end) = (span.start.max(block.start), span.end.min(block.end));
        let slice = page.text.get(start as usize..end as usize)?;
        let blank = slice.len() - slice.trim_start().len();
        let (start, end) = (start + blank as u32, start + slice.trim_end().len() as u32);
        (end > start).then_some(Span { start, end, ..span })
    };
    spans.filter_map(within).collect()
}

/// The stretches of code, joined where they touch: two marks between them would be another mark.
fn codes_among(spans: &[Span<'_>]) -> Vec<(u32, u32)> {
    let mut codes: Vec<(u32, u32)> = Vec::new();
    for span in spans.iter().filter(|span| matches!(span.kind, SpanKind::Code)) {
        match codes.last_mut() {
            Some((_, end)) if span.start <= *end => *end = span.end.max(*end),
            _ => codes.push((span.start, span.end)),
        }
    }
    codes
}

/// A line being written.
struct Line<'p, 'a> {
    page: &'p Blocks<'a>,
    line: String,
    /// The text up to here is written.
    at: u32,
    /// The marks that are open: where they end, and how.
    open: Vec<(u32, String)>,
}

impl<'p> Line<'p, '_> {
    /// Writes the text up to `until`, and the ends of the marks on the way.
    fn text_to(&mut self, until: u32) {
        while let Some((end, after)) = self.open.pop_if(|(end, _)| *end <= until) {
            self.plain_to(end);
            self.line.push_str(&after);
        }
        self.plain_to(until);
    }

    fn plain_to(&mut self, until: u32) {
        let text = self.slice(until);
        escape(&mut self.line, text);
        self.at = self.at.max(until);
    }

    fn code(&mut self, start: u32, end: u32) {
        self.text_to(start);
        let code = code_span(self.slice(end));
        self.line.push_str(&code);
        self.at = self.at.max(end);
    }

    fn slice(&self, until: u32) -> &'p str {
        let page = self.page;
        page.text.get(self.at as usize..until as usize).unwrap_or_default()
    }
}

/// Where a link leads, if to another place than this page.
fn target(href: &str, base: Base<'_>) -> Option<String> {
    let href = decode_references(href);
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    match base {
        Base::Known(base) => base.join(href).ok().map(|url| url.as_str().to_owned()),
        Base::Unknown => Some(match Url::parse(href) {
            Ok(url) => url.as_str().to_owned(),
            Err(_) if href.contains([' ', '(', ')', '<', '>', '\n']) => {
                format!("<{}>", href.replace(['<', '>', '\n'], ""))
            }
            Err(_) => href.to_owned(),
        }),
    }
}

/// A text as code within a line: no character of it means anything.
fn code_span(code: &str) -> String {
    let code = code.replace('\n', " ");
    let fence = match longest_run(&code, '`') {
        0 => return format!("`{code}`"),
        run => "`".repeat(run + 1),
    };
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{code}{pad}{fence}")
}

fn longest_run(text: &str, mark: char) -> usize {
    text.split(|c| c != mark).map(str::len).max().unwrap_or(0)
}

fn escape(line: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '`' | '<') {
            line.push('\\');
        }
        line.push(c);
    }
}

/// The element whose preformatted text a block is, or is part of.
fn code_of(page: &Blocks<'_>, block: &Block) -> Option<u32> {
    if page.near(block, Role::Code) == 0 {
        return None;
    }
    let mut at = block.element;
    for _ in 0..OUTWARD_MAX {
        let element = &page.outline.elements[at as usize];
        if matches!(element.tag, Tag::Pre | Tag::Listing | Tag::Xmp) {
            return Some(at);
        }
        if at == 0 {
            break;
        }
        at = element.parent;
    }
    None
}

/// Ends a row; the first of a table is its head.
fn end_row(text: &mut String, cells: &mut usize, is_last: bool) {
    const HEAD_DONE: usize = usize::MAX / 2;
    text.push('|');
    if *cells < HEAD_DONE {
        text.push('\n');
        (0..*cells).for_each(|_| text.push_str("| --- "));
        text.push('|');
    }
    *cells = HEAD_DONE;
    text.push_str(if is_last { "\n\n" } else { "\n" });
}

fn place_of(page: &Blocks<'_>, block: &Block) -> Place {
    let mut place = Place::default();
    let mut at = block.element;
    for _ in 0..OUTWARD_MAX {
        let element = &page.outline.elements[at as usize];
        match element.tag {
            Tag::Li if place.item.is_none() && place.row.is_none() => place.item = Some(at),
            Tag::Ul | Tag::Ol | Tag::Menu => {
                if place.list_depth == 0 {
                    place.is_numbered = element.tag == Tag::Ol;
                }
                place.list_depth += 1;
            }
            Tag::Tr if place.row.is_none() => place.row = Some(at),
            Tag::Table if place.table.is_none() => place.table = Some(at),
            Tag::Blockquote => place.is_quoted = true,
            _ => (),
        }
        if at == 0 {
            break;
        }
        at = element.parent;
    }
    place.code = code_of(page, block);
    // Lines of code do not fit into a cell; pages that number their lines lay them out in a table.
    if place.code.is_some() && page.text_of(block).contains('\n') {
        (place.row, place.table) = (None, None);
    }
    place
}

/// The row of a table that a block stands in, so that its cells can stand in a line.
pub(super) fn row_of(page: &Blocks<'_>, block: &Block) -> Option<u32> {
    const CELL_DEPTH_MAX: usize = 6;
    let mut at = block.element;
    for _ in 0..CELL_DEPTH_MAX {
        let element = &page.outline.elements[at as usize];
        match element.tag {
            Tag::Tr => return Some(at),
            Tag::Table | Tag::Html => return None,
            _ => at = element.parent,
        }
    }
    None
}
