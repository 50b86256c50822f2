//! The shape of a URL: what it has in common with others of its host that differ from it only in
//! numbers, dates, tokens, titles, or in the values and the order of parameters.
//!
//! `/topic/5/how-to-trim/?page=2` and `/topic/17/what-is-lee/?page=3` have one shape,
//! `/topic/#/*/?page`. URLs of plain words have no such shape. They are seldom made without end,
//! but for relative links that make ever longer paths, and pages that invent words: what they have
//! in common is how deep they are.

use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Parameters that name what is done: a short word as their value belongs to the shape.
const ACTIONS: [&str; 13] =
    ["a", "act", "action", "cmd", "do", "format", "m", "mode", "op", "st", "t", "type", "view"];
const ACTION_BYTES_MAX: usize = 16;
/// A segment of letters and digits that is at least so long, and changes often enough between them,
/// is a token: a session, a hash.
const TOKEN_BYTES_MIN: usize = 8;
const TOKEN_CHANGES_MIN: usize = 3;
/// A segment of this length, or of words with hyphens, is a title.
const TITLE_BYTES_MIN: usize = 20;
/// Parameters beyond these are not looked at.
const PARAMETERS_MAX: usize = 64;

/// A hash of a shape: within one host, where some dozens are told apart, 32 bits are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Shape(pub u32);

/// The last of them stands for all paths that are deeper.
const DEPTHS: u32 = 6;

impl Shape {
    /// What URLs of plain words have in common that are as deep as this one. None for the root.
    pub fn of_words(url: &Url) -> Option<Shape> {
        let depth = url.path().split('/').filter(|segment| !segment.is_empty()).count();
        let depth = u32::try_from(depth).unwrap_or(u32::MAX).min(DEPTHS);
        (depth > 0).then_some(Shape(depth))
    }

    /// A shape of plain words: no other has one of these numbers, but by a chance of 1 in 2^29.
    pub fn is_of_words(self) -> bool {
        (1..=DEPTHS).contains(&self.0)
    }

    /// None if the URL has no part that could be varied without end.
    pub fn of(url: &Url) -> Option<Shape> {
        // Most URLs have neither, and are told by one look.
        let path_and_query = url.path_and_query();
        let varies = |byte: u8| byte.is_ascii_digit() || byte == b'?';
        if !path_and_query.bytes().any(varies) {
            return None;
        }
        let text = text(url)?;
        Some(Shape((xxh3_64(text.as_bytes()) >> 32) as u32))
    }
}

/// The shape as people read it.
pub fn text(url: &Url) -> Option<String> {
    let mut shape = String::with_capacity(64);
    let mut is_varied = url.query().is_some();
    for segment in url.path().split('/').skip(1) {
        shape.push('/');
        match kind(segment) {
            Kind::Word => shape.push_str(segment),
            Kind::Title => shape.push('*'),
            Kind::Token => {
                is_varied = true;
                shape.push('@');
            }
            Kind::Numbered => {
                is_varied = true;
                without_numbers(segment, &mut shape);
            }
        }
    }
    if let Some(query) = url.query() {
        let mut parameters: Vec<String> =
            query.split(['&', ';']).take(PARAMETERS_MAX).map(parameter).collect();
        parameters.sort_unstable();
        parameters.dedup();
        let _ = write!(shape, "?{}", parameters.join("&"));
    }
    is_varied.then_some(shape)
}

/// A filter for the URLs of this one's shape and host: what `--exclude` would leave them out. Where
/// a query has many parameters, one of them tells.
pub fn filter(url: &Url) -> Option<String> {
    text(url)?;
    let mut filter = format!("^{}", escaped(&url.host_key().origin()));
    for segment in url.path().split('/').skip(1) {
        filter.push('/');
        match kind(segment) {
            Kind::Word => filter.push_str(&escaped(segment)),
            Kind::Title => filter.push_str("[^/?]+"),
            Kind::Token => filter.push_str("[0-9A-Za-z]+"),
            Kind::Numbered => {
                let mut numbered = String::new();
                without_numbers(segment, &mut numbered);
                // A fragment's sign is never part of a path.
                filter.push_str(&escaped(&numbered).replace(r"\#", "[0-9]+"));
            }
        }
    }
    let Some(query) = url.query() else { return Some(filter + "$") };
    let parameters = || query.split(['&', ';']).filter(|pair| !pair.is_empty());
    let action = parameters().find(|pair| parameter(pair).contains('='));
    match action.or_else(|| parameters().next()) {
        None => filter += r"\?",
        Some(pair) if Some(pair) == action => {
            filter += &format!(r"\?(.*[&;])?{}([&;]|$)", escaped(pair));
        }
        Some(pair) => {
            let name = pair.split('=').next().unwrap_or_default();
            filter += &format!(r"\?(.*[&;])?{}=", escaped(name));
        }
    }
    Some(filter)
}

/// As a regular expression that matches this very text.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '/' | ':' | '-' | '_' | '%' | '=' | '&' | ';') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

enum Kind {
    Word,
    Title,
    Token,
    Numbered,
}

fn kind(segment: &str) -> Kind {
    let bytes = segment.as_bytes();
    if is_token(bytes) {
        return Kind::Token;
    }
    let hyphens = bytes.iter().filter(|b| matches!(b, b'-' | b'_')).count();
    match bytes.iter().any(u8::is_ascii_digit) {
        _ if hyphens >= 2 || bytes.len() >= TITLE_BYTES_MIN => Kind::Title,
        true => Kind::Numbered,
        false => Kind::Word,
    }
}

/// Letters and digits alone, which take turns.
fn is_token(bytes: &[u8]) -> bool {
    let changes = bytes.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit());
    bytes.len() >= TOKEN_BYTES_MIN
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && changes.count() >= TOKEN_CHANGES_MIN
}

/// Each run of digits becomes one mark.
fn without_numbers(text: &str, out: &mut String) {
    let mut was_digit = false;
    for c in text.chars() {
        let is_digit = c.is_ascii_digit();
        match is_digit {
            true if was_digit => {}
            true => out.push('#'),
            false => out.push(c),
        }
        was_digit = is_digit;
    }
}

/// Its name, and its value where that says what is done.
fn parameter(text: &str) -> String {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let mut shape = String::with_capacity(name.len() + ACTION_BYTES_MAX);
    without_numbers(name, &mut shape);
    let is_word = |value: &str| {
        (1..=ACTION_BYTES_MAX).contains(&value.len())
            && value.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
    };
    if ACTIONS.contains(&name) && is_word(value) {
        let _ = write!(shape, "={value}");
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_differ_in_numbers_titles_tokens_and_parameters_have_one_shape() {
        let shape = |path: &str| text(&Url::parse(&format!("http://a.test{path}")).unwrap());
        let expected = [
            ("/topic/5/how-to-trim/?page=2", "/topic/#/*/?page"),
            ("/calendar/2031/05", "/calendar/#/#"),
            ("/list?size=3&color=red", "/list?color&size"),
            ("/list?color=blue&size=x", "/list?color&size"),
            ("/?p=made.git;a=commit;h=0f3a", "/?a=commit&h&p"),
            ("/s/3f9ac81e0b/cart", "/s/@/cart"),
            ("/releases/1.11.html", "/releases/#.#.html"),
            ("/x?tag=a&tag=b&tag=c", "/x?tag"),
        ];
        for (path, expected) in expected {
            assert_eq!(shape(path).as_deref(), Some(expected), "{path}");
        }
        for plain in ["/", "/manual/mod/core.html", "/api/java/util/AbstractSequentialList.html"] {
            assert_eq!(shape(plain), None, "{plain}");
            assert_eq!(Shape::of(&Url::parse(&format!("http://a.test{plain}")).unwrap()), None);
        }
    }

    #[test]
    fn a_filter_leaves_out_the_urls_of_one_shape_and_no_others() {
        use rhumb_page::url::Rules;
        let url = |path: &str| Url::parse(&format!("http://a.test:8080{path}")).unwrap();
        let cases = [
            ("/calendar/2031/05", "/calendar/1999/12", "/calendar/2031/05/text"),
            ("/topic/5/how-to-trim/?page=2", "/topic/7/why-to-trim/?page=31", "/topic/5/"),
            ("/?p=made.git;a=commit;h=0f3a", "/?p=made.git;a=commit;h=77", "/?p=made.git;a=tree"),
            ("/releases/1.11.html", "/releases/2.0.html", "/releases/1x11xhtml"),
            ("/list?size=3&color=red", "/list?size=4", "/list?sizes=4"),
            ("/s/3f9ac81e0b/cart", "/s/81e0b3f9ac/cart", "/s/cart"),
            ("/c(1)+[2]", "/c(3)+[4]", "/c3+4"),
        ];
        for (of, same, other) in cases {
            let filter = filter(&url(of)).expect("a shape");
            let rules = Rules::new(&[], std::slice::from_ref(&filter)).unwrap();
            assert!(!rules.admits(&url(of)) && !rules.admits(&url(same)), "{filter}");
            assert!(rules.admits(&url(other)), "{filter}");
        }
        assert_eq!(filter(&url("/manual/core.html")), None);
    }
}
