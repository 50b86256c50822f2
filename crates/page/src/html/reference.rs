//! Character references: `&amp;`, `&#8211;`, `&notin;` and what the web makes of them.
//!
//! [`decode`] borrows its input unless there is something to change, which is nearly always. The
//! table of names is a text file, indexed at compile time; a name is found by narrowing a range of
//! the sorted table byte by byte, so that the work per `&` is bounded by the longest name, whatever
//! follows.

use std::borrow::Cow;

use memchr::memchr3;

/// Where a piece of text stands decides how its references and odd bytes read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Text of ordinary markup. A NUL stays: the tree builder decides about it, not the tokenizer.
    Data,
    /// Text of `title` and `textarea`.
    Rcdata,
    /// Text without references: `script`, `style`, `plaintext` and the like.
    Raw,
    /// A CDATA section: no references, and a NUL stays.
    Cdata,
    /// An attribute's value: `&copy=1` is a query string there, not a sign.
    Attribute,
}

/// The text that the markup `raw` stands for: references decoded, line ends unified, NUL replaced
/// where it must be.
#[inline]
pub(super) fn decode(raw: &str, place: Place) -> Cow<'_, str> {
    match memchr3(b'&', b'\r', 0, raw.as_bytes()) {
        None => Cow::Borrowed(raw),
        Some(first) => Cow::Owned(decode_from(raw, first, place)),
    }
}

/// The text of a piece of XML that uses HTML's names, as feeds do.
pub fn decode_references(raw: &str) -> Cow<'_, str> {
    decode(raw, Place::Data)
}

fn decode_from(raw: &str, first: usize, place: Place) -> String {
    let bytes = raw.as_bytes();
    let mut text = String::with_capacity(raw.len());
    let (mut copied, mut at) = (0, first);
    loop {
        text.push_str(&raw[copied..at]);
        copied = at + odd_byte(raw, at, place, &mut text);
        match memchr3(b'&', b'\r', 0, &bytes[copied..]) {
            Some(next) => at = copied + next,
            None => break,
        }
    }
    text.push_str(&raw[copied..]);
    text
}

/// Writes what the `&`, CR or NUL at `at` stands for; how many bytes of the markup that took.
fn odd_byte(raw: &str, at: usize, place: Place, text: &mut String) -> usize {
    let bytes = raw.as_bytes();
    match bytes[at] {
        b'\r' => {
            text.push('\n');
            1 + usize::from(bytes.get(at + 1) == Some(&b'\n'))
        }
        0 => {
            text.push(if matches!(place, Place::Data | Place::Cdata) { '\0' } else { '\u{FFFD}' });
            1
        }
        _ if matches!(place, Place::Raw | Place::Cdata) => {
            text.push('&');
            1
        }
        _ => match reference(&bytes[at + 1..], place == Place::Attribute) {
            Some(found) => {
                text.push(found.first);
                text.extend(found.second);
                1 + found.length
            }
            None => {
                text.push('&');
                1
            }
        },
    }
}

/// A reference found after `&`: one or two characters, and the bytes it took.
struct Reference {
    first: char,
    second: Option<char>,
    length: usize,
}

fn reference(after: &[u8], in_attribute: bool) -> Option<Reference> {
    match after.first()? {
        b'#' => numeric(after),
        b if b.is_ascii_alphanumeric() => named(after, in_attribute),
        _ => None,
    }
}

fn numeric(after: &[u8]) -> Option<Reference> {
    let hexadecimal = matches!(after.get(1), Some(b'x' | b'X'));
    let (start, radix) = if hexadecimal { (2, 16) } else { (1, 10) };
    let mut code = 0u32;
    let mut at = start;
    while let Some(digit) = after.get(at).and_then(|&b| (b as char).to_digit(radix)) {
        code = code.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    at += usize::from(after.get(at) == Some(&b';'));
    Some(Reference { first: numbered(code), second: None, length: at })
}

/// The character of a number: authors who write 128 to 159 mean windows-1252.
fn numbered(code: u32) -> char {
    const WINDOWS_1252: [u16; 32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013,
        0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ];
    let code = match code {
        0 => 0xFFFD,
        0x80..=0x9F => u32::from(WINDOWS_1252[code as usize - 0x80]),
        other => other,
    };
    char::from_u32(code).unwrap_or('\u{FFFD}')
}

fn named(after: &[u8], in_attribute: bool) -> Option<Reference> {
    let mut range = 0..ENTITIES.len();
    let mut best: Option<(&Entity, usize)> = None;
    for (depth, &byte) in after.iter().enumerate() {
        let candidates = &ENTITIES[range.clone()];
        let low = candidates.partition_point(|entity| entity.byte(depth) < Some(byte));
        let high = candidates.partition_point(|entity| entity.byte(depth) <= Some(byte));
        range = range.start + low..range.start + high;
        if range.is_empty() {
            break;
        }
        let entity = &ENTITIES[range.start];
        if usize::from(entity.name_len) == depth + 1 {
            if after.get(depth + 1) == Some(&b';') {
                best = Some((entity, depth + 2));
                break;
            }
            if entity.bare {
                best = Some((entity, depth + 1));
            }
        }
    }
    let (entity, length) = best?;
    let follows = after.get(length);
    if in_attribute
        && after[length - 1] != b';'
        && follows.is_some_and(|&b| b == b'=' || b.is_ascii_alphanumeric())
    {
        return None;
    }
    Some(Reference { first: entity.first, second: entity.second, length })
}

/// The names of the HTML standard, sorted, one a line: name, `*` if it may stand without `;`, code
/// points.
const TABLE: &[u8] = include_bytes!("entities.txt");
const ENTITIES_COUNT: usize = 2125;

static ENTITIES: [Entity; ENTITIES_COUNT] = index_of_table();

#[derive(Clone, Copy)]
struct Entity {
    name_at: u16,
    name_len: u8,
    bare: bool,
    first: char,
    second: Option<char>,
}

impl Entity {
    fn byte(&self, depth: usize) -> Option<u8> {
        let name = usize::from(self.name_at);
        (depth < usize::from(self.name_len)).then(|| TABLE[name + depth])
    }
}

const fn index_of_table() -> [Entity; ENTITIES_COUNT] {
    let empty = Entity { name_at: 0, name_len: 0, bare: false, first: ' ', second: None };
    let mut entities = [empty; ENTITIES_COUNT];
    let (mut at, mut line) = (0, 0);
    while at < TABLE.len() {
        let name_at = at;
        while TABLE[at] != b' ' {
            at += 1;
        }
        let name_len = at - name_at;
        at += 1;
        let bare = TABLE[at] == b'*';
        at += bare as usize;
        let (first, after_first) = code_point(at);
        at = after_first;
        let mut second = None;
        if TABLE[at] == b' ' {
            let (found, after_second) = code_point(at + 1);
            second = Some(found);
            at = after_second;
        }
        entities[line] =
            Entity { name_at: name_at as u16, name_len: name_len as u8, bare, first, second };
        at += 1;
        line += 1;
    }
    assert!(line == ENTITIES_COUNT, "entities.txt and ENTITIES_COUNT differ");
    entities
}

/// The hexadecimal code point at `at` of the table, and where it ends.
const fn code_point(mut at: usize) -> (char, usize) {
    let mut code = 0;
    while let Some(digit) = (TABLE[at] as char).to_digit(16) {
        code = code * 16 + digit;
        at += 1;
    }
    match char::from_u32(code) {
        Some(found) => (found, at),
        None => panic!("entities.txt has a number that is no character"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_known_name_wins_and_an_attribute_keeps_query_strings() {
        let text = |raw| decode(raw, Place::Data).into_owned();
        let value = |raw| decode(raw, Place::Attribute).into_owned();
        assert_eq!(text("&notin; &notit; &not; &no; &"), "∉ ¬it; ¬ &no; &");
        assert_eq!(text("&ampamp;&#65;&#x42&#150;&#0;&#xD800;&#;"), "&amp;AB–\u{FFFD}\u{FFFD}&#;");
        assert_eq!(value("?a=1&copy=2&amp;lt=3&lt;&reg"), "?a=1&copy=2&lt=3<®");
        assert_eq!(text("&nGt;"), "\u{226B}\u{20D2}");
    }

    #[test]
    fn text_without_anything_to_decode_is_borrowed() {
        assert!(matches!(decode("plain – text", Place::Data), Cow::Borrowed(_)));
        assert_eq!(decode("a\r\nb\rc", Place::Raw), "a\nb\nc");
    }

    #[test]
    fn the_table_is_sorted_as_the_search_needs_it() {
        let name = |e: &Entity| {
            let at = usize::from(e.name_at);
            &TABLE[at..at + usize::from(e.name_len)]
        };
        assert!(ENTITIES.is_sorted_by(|a, b| name(a) < name(b)));
    }
}
