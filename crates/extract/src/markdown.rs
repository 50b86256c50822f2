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
}

/// The blocks that are taken, as Markdown; links are resolved against `base`.
pub(super) fn write(page: &Blocks<'_>, taken: &[bool], base: &Url) -> String {
    let mut text = String::with_capacity(page.text.len() / 2);
    let mut last = Place::default();
    let mut numbers = HashMap::new();
    let mut row_cells = 0_usize;
    let mut spans = page.spans.iter().peekable();
    for (block, _) in page.blocks.iter().zip(taken).filter(|(_, taken)| **taken) {
        while spans.next_if(|span| span.end <= block.start).is_some() {}
        let own = spans.clone().take_while(|span| span.start < block.end).copied();
        let place = place_of(page, block);
        if let Some(row) = place.row {
            let is_new_row = last.row != Some(row);
            if is_new_row {
                if last.row.is_some() {
                    end_row(&mut text, &mut row_cells, last.table != place.table);
                } else {
                    text.push_str(if text.is_empty() { "" } else { "\n\n" });
                }
                if last.table != place.table {
                    row_cells = 0;
                }
            }
            text.push_str("| ");
            text.push_str(&line(page, block, own, base).replace('|', "\\|").replace('\n', " "));
            text.push(' ');
            row_cells += 1;
            last = place;
            continue;
        }
        if last.row.is_some() {
            end_row(&mut text, &mut row_cells, true);
        } else if !text.is_empty() {
            let is_next_item = place.item.is_some() && last.item.is_some();
            text.push_str(if is_next_item { "\n" } else { "\n\n" });
        }
        paragraph(&mut text, page, block, &place, &last, &mut numbers, own, base);
        last = place;
    }
    if last.row.is_some() {
        end_row(&mut text, &mut row_cells, false);
    }
    text
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

#[allow(clippy::too_many_arguments, reason = "the state of one line, used once")]
fn paragraph<'s, 'p: 's>(
    text: &mut String,
    page: &Blocks<'p>,
    block: &Block,
    place: &Place,
    last: &Place,
    numbers: &mut HashMap<u32, u32>,
    spans: impl Iterator<Item = Span<'s>>,
    base: &Url,
) {
    if place.is_quoted {
        text.push_str("> ");
    }
    if let Some(item) = place.item {
        let indent = 2 * place.list_depth.saturating_sub(1).min(LIST_DEPTH_MAX);
        (0..indent).for_each(|_| text.push(' '));
        if last.item == Some(item) {
            text.push_str("  ");
        } else if place.is_numbered {
            let list = page.outline.elements[item as usize].parent;
            let number = numbers.entry(list).or_default();
            *number += 1;
            text.push_str(&format!("{number}. "));
        } else {
            text.push_str("- ");
        }
    }
    if page.near(block, Role::Code) == 255 {
        text.push_str("```\n");
        text.push_str(page.text_of(block));
        text.push_str("\n```");
        return;
    }
    let level = heading_level(page.outline.elements[block.element as usize].tag);
    (0..level).for_each(|_| text.push('#'));
    if level > 0 {
        text.push(' ');
    }
    let line = line(page, block, spans, base);
    let break_mark = if place.is_quoted { "  \n> " } else { "  \n" };
    text.push_str(&line.replace('\n', if level > 0 { " " } else { break_mark }));
}

/// A block's text with its spans marked.
fn line<'s, 'p: 's>(
    page: &Blocks<'p>,
    block: &Block,
    spans: impl Iterator<Item = Span<'s>>,
    base: &Url,
) -> String {
    let mut line = String::new();
    let mut at = block.start;
    let mut open: Vec<(u32, String)> = Vec::new();
    for span in spans {
        let (start, end) = (span.start.max(block.start), span.end.min(block.end));
        let slice = page.text.get(start as usize..end as usize).unwrap_or_default();
        let blank = slice.len() - slice.trim_start().len();
        let (start, end) = (start + blank as u32, start + slice.trim_end().len() as u32);
        if end <= start || start < at && !open.is_empty() && open[open.len() - 1].0 < end {
            continue;
        }
        close_until(&mut line, page, &mut at, &mut open, start);
        escape(&mut line, page.text.get(at as usize..start as usize).unwrap_or_default());
        at = at.max(start);
        let (before, after) = match span.kind {
            SpanKind::Link(href) => match base.join(decode_references(href).trim()) {
                Ok(url) if !href.starts_with('#') => ("[", format!("]({})", url.as_str())),
                _ => continue,
            },
            SpanKind::Code => ("`", "`".to_owned()),
            SpanKind::Strong => ("**", "**".to_owned()),
            SpanKind::Emphasis => ("*", "*".to_owned()),
        };
        line.push_str(before);
        open.push((end, after));
    }
    close_until(&mut line, page, &mut at, &mut open, block.end);
    escape(&mut line, page.text.get(at as usize..block.end as usize).unwrap_or_default());
    line
}

fn close_until(
    line: &mut String,
    page: &Blocks<'_>,
    at: &mut u32,
    open: &mut Vec<(u32, String)>,
    until: u32,
) {
    while let Some((end, after)) = open.pop_if(|(end, _)| *end <= until) {
        escape(line, page.text.get(*at as usize..end as usize).unwrap_or_default());
        *at = (*at).max(end);
        line.push_str(&after);
    }
}

fn escape(line: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '`' | '<') {
            line.push('\\');
        }
        line.push(c);
    }
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
