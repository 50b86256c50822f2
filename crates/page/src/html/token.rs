//! Tokens: what the tokenizer hands out, all of it borrowed from the page.
//!
//! A start tag's attributes are found when asked for and decoded only where an `&` stands, so a
//! reader pays for what it looks at.

use std::borrow::Cow;

use memchr::memchr;

use super::Tag;
use super::reference::{Place, decode};

/// A piece of a page, in the order of the source. Comments and doctypes are left out.
#[derive(Clone, Copy, Debug)]
pub enum Token<'a> {
    /// `<a href="/">`
    Start(StartTag<'a>),
    /// `</a>`
    End(EndTag<'a>),
    /// Everything between tags. A run of text may come as several tokens.
    Text(TextRunToken<'a>),
}

/// A start tag.
#[derive(Clone, Copy, Debug)]
pub struct StartTag<'a> {
    /// The element's name, as a number.
    pub tag: Tag,
    /// The name as written, in whatever case.
    pub name: &'a str,
    /// Whether it ends in `/>`, which means something only in `svg` and `math`.
    pub self_closing: bool,
    /// Whether the element belongs to `svg` or `math`: a `title` there is not the page's.
    pub foreign: bool,
    /// What stands after the name, up to and with the `>`.
    pub(super) rest: &'a str,
}

impl<'a> StartTag<'a> {
    /// All attributes in order, repeated names included (of which only the first counts).
    #[inline]
    pub fn attributes(&self) -> Attributes<'a> {
        Attributes { rest: self.rest, at: 0 }
    }

    /// The attributes as written, all of them: to see at a glance whether a word is there.
    #[inline]
    pub fn source(&self) -> &'a str {
        self.rest
    }

    /// The value of the attribute `name` (given in lower case), decoded; empty if it has none.
    #[inline]
    pub fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        self.attributes().find(|attribute| attribute.is(name)).map(|attribute| attribute.value())
    }
}

/// An end tag; its attributes mean nothing and are gone.
#[derive(Clone, Copy, Debug)]
pub struct EndTag<'a> {
    /// The element's name, as a number.
    pub tag: Tag,
    /// The name as written, in whatever case.
    pub name: &'a str,
}

/// A run of text.
#[derive(Clone, Copy, Debug)]
pub struct TextRunToken<'a> {
    /// The text as written, references and all.
    pub raw: &'a str,
    /// The element whose raw text this is (`script`, `style`, `title`, `textarea`, …), also within
    /// `svg`; or `Tag::Other` for ordinary text.
    pub owner: Tag,
    pub(super) place: Place,
}

impl<'a> TextRunToken<'a> {
    /// The same text, cut to so many bytes as written: enough for whoever keeps no more.
    #[inline]
    pub fn beginning(&self, bytes_max: usize) -> TextRunToken<'a> {
        TextRunToken { raw: &self.raw[..self.raw.floor_char_boundary(bytes_max)], ..*self }
    }

    /// The text, with references decoded where the place allows them; borrowed if there is nothing
    /// to decode.
    #[inline]
    pub fn decoded(&self) -> Cow<'a, str> {
        decode(self.raw, self.place)
    }
}

/// An attribute of a start tag.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// The name as written, in whatever case.
    pub name: &'a str,
    /// The value as written, references and all; empty if there is none.
    pub raw: &'a str,
}

impl<'a> Attribute<'a> {
    /// Whether this is the attribute `name`, which is given in lower case.
    #[inline]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// The value with its references decoded; borrowed if there are none.
    #[inline]
    pub fn value(&self) -> Cow<'a, str> {
        decode(self.raw, Place::Attribute)
    }
}

/// The attributes of a start tag, scanned as they are asked for.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Attribute<'a>;

    #[inline]
    fn next(&mut self) -> Option<Attribute<'a>> {
        match scan_attribute(self.rest.as_bytes(), self.at) {
            Some(Scanned::Attribute(span)) => {
                self.at = span.next;
                Some(Attribute {
                    name: &self.rest[span.name_start..span.name_end],
                    raw: &self.rest[span.value_start..span.value_end],
                })
            }
            _ => None,
        }
    }
}

/// What [`scan_attribute`] found.
pub(super) enum Scanned {
    Attribute(Span),
    /// The tag's end; `next` is behind the `>`.
    TagEnd {
        self_closing: bool,
        next: usize,
    },
}

/// Where an attribute stands, and where to go on.
pub(super) struct Span {
    pub name_start: usize,
    pub name_end: usize,
    pub value_start: usize,
    pub value_end: usize,
    pub next: usize,
}

/// Scans one attribute, or the tag's end, from `at`; None if the page ends first, which makes the
/// whole tag void.
///
/// The tokenizer finds a tag's end with this function and [`Attributes`] finds the attributes with
/// it: they cannot disagree.
#[inline(always)]
pub(super) fn scan_attribute(bytes: &[u8], mut at: usize) -> Option<Scanned> {
    loop {
        match *bytes.get(at)? {
            b'>' => return Some(Scanned::TagEnd { self_closing: false, next: at + 1 }),
            b'/' if bytes.get(at + 1) == Some(&b'>') => {
                return Some(Scanned::TagEnd { self_closing: true, next: at + 2 });
            }
            byte if byte == b'/' || is(byte, SPACE) => at += 1,
            _ => break,
        }
    }
    // The first byte belongs to the name whatever it is, even if it is '='.
    let name_start = at;
    let name_end = find(bytes, at + 1, NAME_END)?;
    at = skip_space(bytes, name_end)?;
    if bytes[at] != b'=' {
        let (value_start, value_end) = (name_end, name_end);
        return Some(Scanned::Attribute(Span {
            name_start,
            name_end,
            value_start,
            value_end,
            next: at,
        }));
    }
    at = skip_space(bytes, at + 1)?;
    let (value_start, value_end, next) = match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + memchr(quote, &bytes[at + 1..])?;
            (at + 1, end, end + 1)
        }
        b'>' => (at, at, at),
        _ => {
            let end = find(bytes, at, UNQUOTED_END)?;
            (at, end, end)
        }
    };
    Some(Scanned::Attribute(Span { name_start, name_end, value_start, value_end, next }))
}

#[inline(always)]
fn skip_space(bytes: &[u8], mut at: usize) -> Option<usize> {
    while is(*bytes.get(at)?, SPACE) {
        at += 1;
    }
    Some(at)
}

#[inline(always)]
fn find(bytes: &[u8], mut at: usize, class: u8) -> Option<usize> {
    while !is(*bytes.get(at)?, class) {
        at += 1;
    }
    Some(at)
}

/// Whether `byte` is of the class.
#[inline(always)]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

/// White space; a CR counts, as the standard turns it into a line feed before anything else.
pub(super) const SPACE: u8 = 1;
/// What ends a tag's name.
pub(super) const TAG_NAME_END: u8 = 2;
/// What ends an attribute's name.
const NAME_END: u8 = 4;
/// What ends a value without quotes.
const UNQUOTED_END: u8 = 8;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let spaces = b"\t\n\x0C\r ";
    let mut i = 0;
    while i < spaces.len() {
        classes[spaces[i] as usize] = SPACE | TAG_NAME_END | NAME_END | UNQUOTED_END;
        i += 1;
    }
    classes[b'/' as usize] = TAG_NAME_END | NAME_END;
    classes[b'>' as usize] = TAG_NAME_END | NAME_END | UNQUOTED_END;
    classes[b'=' as usize] = NAME_END;
    classes
};
