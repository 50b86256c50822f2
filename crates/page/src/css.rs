//! What a stylesheet asks for: `url()`, `src()`, `@import`, and the strings of `image-set()`.
//!
//! A scanner after the tokenizer of CSS Syntax 3, with as much of it as references need: comments,
//! strings, escapes, and the functions that hold URLs. It takes one pass and keeps nothing. What
//! the standard calls bad, a string that ends with its line or a URL with a quote in it, is passed
//! over, as browsers do.

use std::borrow::Cow;

use memchr::memmem;

use crate::charset;
use crate::html::{References, Requisite, RequisiteKind};
use crate::url::Url;

/// Bytes looked at for `@charset`, which must stand first.
const CHARSET_BYTES_MAX: usize = 128;

/// Reads a stylesheet that came from `url`, with the charset its Content-Type declared, if any:
/// what it asks for, each URL once, and how many there are beyond `requisites_max`.
pub fn read(
    body: &[u8],
    declared_charset: Option<&str>,
    url: &Url,
    requisites_max: usize,
) -> (Vec<Requisite>, u64) {
    let declared = declared_charset.or_else(|| own_charset(body));
    let css = charset::decode(body, declared.or(Some("utf-8")), None);
    let mut references = References::default();
    scan(&css.text, |kind, reference| references.push(reference, kind));
    references.resolve(url, css.encoding, requisites_max)
}

/// The label in `@charset "label";`.
fn own_charset(body: &[u8]) -> Option<&str> {
    let head = &body[..body.len().min(CHARSET_BYTES_MAX)];
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok()
}

/// Hands out what a stylesheet, or a list of declarations, asks for, in order.
pub fn scan<'a>(css: &'a str, mut found: impl FnMut(RequisiteKind, Cow<'a, str>)) {
    let mut scanner = Scanner { css, at: 0, owes_open: false };
    let mut place = Place::default();
    while let Some(piece) = scanner.next() {
        match piece {
            Piece::At(name) => place.rule = Rule::of(&name),
            Piece::Function(name) => place.open(is_image_set(&name)),
            Piece::Close => place.close(),
            Piece::End => place = Place::default(),
            Piece::Url(raw) => match std::mem::take(&mut place.rule) {
                Rule::Import => found(RequisiteKind::Stylesheet, unescaped(raw)),
                Rule::Namespace => (),
                Rule::Other => found(RequisiteKind::Part, unescaped(raw)),
            },
            Piece::Text(raw) => match std::mem::take(&mut place.rule) {
                Rule::Import => found(RequisiteKind::Stylesheet, unescaped(raw)),
                Rule::Other if place.is_in_image_set() => {
                    found(RequisiteKind::Part, unescaped(raw));
                }
                _ => (),
            },
        }
    }
}

fn is_image_set(name: &str) -> bool {
    name.eq_ignore_ascii_case("image-set") || name.eq_ignore_ascii_case("-webkit-image-set")
}

/// Where the scanner is, as far as it decides what a string means.
#[derive(Default)]
struct Place {
    /// An at-rule began and its first URL did not come yet.
    rule: Rule,
    depth: u32,
    /// The depth within an open `image-set()`; 0 if none is open.
    image_set: u32,
}

#[derive(Clone, Copy, Default)]
enum Rule {
    Import,
    /// Its URL is a name, and nobody fetches it.
    Namespace,
    #[default]
    Other,
}

impl Rule {
    fn of(name: &str) -> Rule {
        if name.eq_ignore_ascii_case("import") {
            Rule::Import
        } else if name.eq_ignore_ascii_case("namespace") {
            Rule::Namespace
        } else {
            Rule::Other
        }
    }
}

impl Place {
    fn open(&mut self, is_image_set: bool) {
        self.depth = self.depth.saturating_add(1);
        if is_image_set && self.image_set == 0 {
            self.image_set = self.depth;
        }
    }

    fn close(&mut self) {
        if self.depth == self.image_set {
            self.image_set = 0;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Directly within: the string of a nested `type()` is no URL.
    fn is_in_image_set(&self) -> bool {
        self.image_set != 0 && self.depth == self.image_set
    }
}

/// What matters of a stylesheet; texts as written, escapes and all.
enum Piece<'a> {
    /// `@name`
    At(Cow<'a, str>),
    /// `name(`, or a bare `(`.
    Function(Cow<'a, str>),
    /// `url(text)`, whole.
    Url(&'a str),
    /// A string.
    Text(&'a str),
    /// `)`
    Close,
    /// `;`, `{` or `}`: whatever was begun has ended.
    End,
}

struct Scanner<'a> {
    css: &'a str,
    at: usize,
    /// A `url(` with a string in it goes on behind the string.
    owes_open: bool,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        if std::mem::take(&mut self.owes_open) {
            return Some(Piece::Function(Cow::Borrowed("")));
        }
        loop {
            let byte = self.byte()?;
            match byte {
                b'/' => self.skip_slash(),
                b'"' | b'\'' => {
                    if let Some(text) = self.string() {
                        return Some(Piece::Text(text));
                    }
                }
                b'@' => {
                    self.at += 1;
                    return Some(Piece::At(self.name()));
                }
                // An identifier behind a hash is no function.
                b'#' => {
                    self.at += 1;
                    self.name();
                }
                b'(' => {
                    self.at += 1;
                    return Some(Piece::Function(Cow::Borrowed("")));
                }
                b')' => {
                    self.at += 1;
                    return Some(Piece::Close);
                }
                b';' | b'{' | b'}' => {
                    self.at += 1;
                    return Some(Piece::End);
                }
                _ if is_of_name(byte) || byte == b'\\' => {
                    let name = self.name();
                    if self.byte() == Some(b'(') {
                        self.at += 1;
                        match is_url(&name) {
                            false => return Some(Piece::Function(name)),
                            true => {
                                if let Some(url) = self.url() {
                                    return Some(Piece::Url(url));
                                }
                            }
                        }
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.css.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.css.as_bytes()[self.at..]
    }

    /// A comment, or a slash.
    fn skip_slash(&mut self) {
        if !self.rest().starts_with(b"/*") {
            self.at += 1;
            return;
        }
        self.at += 2;
        let end = memmem::find(self.rest(), b"*/");
        self.at = end.map_or(self.css.len(), |end| self.at + end + 2);
    }

    fn skip_space(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// A backslash and what it escapes; the rest of a longer escape is made of bytes that end
    /// nothing.
    fn skip_escape(&mut self) {
        let bytes = if self.rest().starts_with(b"\\\r\n") { 3 } else { 2 };
        self.at = (self.at + bytes).min(self.css.len());
        while !self.css.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// The name that stands here, unescaped; empty if none does. Takes at least one byte of a
    /// backslash.
    fn name(&mut self) -> Cow<'a, str> {
        let start = self.at;
        while let Some(byte) = self.byte() {
            if byte == b'\\' {
                self.skip_escape();
                // White space behind a number in hex belongs to it.
                let is_hex =
                    self.css.as_bytes()[..self.at].last().is_some_and(u8::is_ascii_hexdigit);
                if is_hex {
                    while self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        self.at += 1;
                    }
                    self.at += usize::from(self.byte().is_some_and(|b| b.is_ascii_whitespace()));
                }
            } else if is_of_name(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
        unescaped(&self.css[start..self.at])
    }

    /// The string that begins here; none if its line ends before it.
    fn string(&mut self) -> Option<&'a str> {
        let quote = self.byte()?;
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.byte() {
            match byte {
                b'\\' => self.skip_escape(),
                b'\n' | b'\r' | 0x0C => return None,
                _ if byte == quote => {
                    self.at += 1;
                    return Some(&self.css[start..self.at - 1]);
                }
                _ => self.at += 1,
            }
        }
        Some(&self.css[start..])
    }

    /// What stands in `url(`; none if it is no URL by the standard.
    fn url(&mut self) -> Option<&'a str> {
        self.skip_space();
        if let Some(b'"' | b'\'') = self.byte() {
            let text = self.string();
            self.skip_space();
            match self.byte() {
                Some(b')') => self.at += 1,
                _ => self.owes_open = true,
            }
            return text;
        }
        let start = self.at;
        let mut end = None;
        let mut is_bad = false;
        while let Some(byte) = self.byte() {
            match byte {
                b')' => {
                    let url = &self.css[start..end.unwrap_or(self.at)];
                    self.at += 1;
                    return (!is_bad).then_some(url);
                }
                b'\\' => {
                    is_bad |= end.is_some();
                    self.skip_escape();
                }
                _ if byte.is_ascii_whitespace() => {
                    end = end.or(Some(self.at));
                    self.at += 1;
                }
                _ => {
                    let is_wrong =
                        matches!(byte, b'"' | b'\'' | b'(' | 0..=8 | 0x0B | 0x0E..=0x1F | 0x7F);
                    is_bad |= is_wrong || end.is_some();
                    self.at += 1;
                }
            }
        }
        (!is_bad).then(|| &self.css[start..end.unwrap_or(self.css.len())])
    }
}

fn is_url(name: &str) -> bool {
    name.eq_ignore_ascii_case("url") || name.eq_ignore_ascii_case("src")
}

/// Digits too: a name behind a number is its unit, and no function.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || byte >= 0x80
}

/// A text without its escapes; borrowed if it has none.
fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&rest[..digits], 16).ok().filter(|code| *code != 0);
            text.push(code.and_then(char::from_u32).unwrap_or('\u{FFFD}'));
            rest = without_space(&rest[digits..]);
        } else if let Some(character) = rest.chars().next() {
            // An escaped end of a line is nothing.
            match character {
                '\n' | '\r' | '\u{0C}' => rest = without_space(rest),
                _ => {
                    text.push(character);
                    rest = &rest[character.len_utf8()..];
                }
            }
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Without one white space in front.
fn without_space(text: &str) -> &str {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => &text[2..],
        [first, ..] if first.is_ascii_whitespace() => &text[1..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, expected: &[&str]) {
        let mut found = Vec::new();
        scan(css, |kind, reference| {
            let mark = if kind == RequisiteKind::Stylesheet { "@" } else { "" };
            found.push(format!("{mark}{reference}"));
        });
        assert_eq!(found, expected, "{css}");
    }

    #[test]
    fn urls_imports_and_image_sets_are_found_and_nothing_else() {
        check("a{background:url(a.png) url( 'b c.png' ) URL(\"d\")}", &["a.png", "b c.png", "d"]);
        check(
            "@import 'a.css';@IMPORT url(b.css) screen;@import url(\"c.css\")",
            &["@a.css", "@b.css", "@c.css"],
        );
        check("@import url(a) supports(background: url(b)) layer(\"x\");", &["@a", "b"]);
        check(
            "@namespace svg url(http://www.w3.org/2000/svg); @namespace 'x'; a{b:url(c)}",
            &["c"],
        );
        check(
            "a{b:image-set('a.png' 1x, url(b.png) 2x, 'c' type('image/png'))}",
            &["a.png", "b.png", "c"],
        );
        check("a{b:-webkit-image-set(url(\"a\") 1x, \"b\" 2x); content: 'no'}", &["a", "b"]);
        check(
            "@font-face{src:local('x'),url(f.woff2)format('woff2'),url(f.eot?#iefix)}",
            &["f.woff2", "f.eot?#iefix"],
        );
        check("/* url(no) @import 'no' */ a{b:/**/url(c)} // url(d)", &["c", "d"]);
        check("a{content:'url(no)'} .url\\(no\\) b{c:url(d)}", &["d"]);
        check("a{width:1url(no)} #url(no) 'x", &[]);
    }

    #[test]
    fn escapes_are_read_and_what_the_standard_calls_bad_is_left() {
        check(
            "a{b:u\\72l(c) \\75 rl(d) url(a\\)b) url('a\\'b') url(\\0)}",
            &["c", "d", "a)b", "a'b", "\u{FFFD}"],
        );
        check("a{b:url('a\\\nb') url(\"x\\41 b\")}", &["ab", "xAb"]);
        check("a{b:url(a b) url(a\"b) url(a(b) url(ok)}", &["ok"]);
        check("a{b:url('a\n) ; c:url(d)}", &["d"]);
        check("a{b:url(", &[""]);
        check("a{b:url(x", &["x"]);
        check("@import \"x", &["@x"]);
        check("\\", &[]);
        check("url(é\\é)", &["éé"]);
    }

    #[test]
    fn a_stylesheet_is_read_in_its_charset_and_within_its_bound() {
        let url = Url::parse("http://a.test/css/s.css").unwrap();
        let css =
            b"@charset \"windows-1252\"; @import '\xE9.css'; a{b:url(1) url(2) url(1) url(3)}";
        let (found, beyond) = read(css, None, &url, 3);
        let found: Vec<&str> = found.iter().map(|requisite| requisite.url.as_str()).collect();
        let expected =
            ["http://a.test/css/%C3%A9.css", "http://a.test/css/1", "http://a.test/css/2"];
        assert_eq!((found.as_slice(), beyond), (expected.as_slice(), 1));
        assert!(read(b"@import url(#x); a{b:url(data:,x)}", None, &url, 9).0.is_empty());
    }
}
