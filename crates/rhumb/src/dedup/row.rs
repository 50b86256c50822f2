//! A row of JSON lines: `{id, text | html, url?}`, other fields ignored.
//!
//! Rows are long texts in short objects, so the usual row is read by a scan for quotes. Whatever it
//! does not expect (nested values, escaped keys, anything wrong) is left to serde_json, which
//! either reads it or says what is wrong.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use serde::Deserialize;

#[derive(Debug, PartialEq)]
pub struct InputRow<'a> {
    pub id: Cow<'a, str>,
    pub url: Option<Cow<'a, str>>,
    pub content: RowContent<'a>,
}

#[derive(Debug, PartialEq)]
pub enum RowContent<'a> {
    Text(Cow<'a, str>),
    Html(Cow<'a, str>),
}

/// Reads one line.
pub fn read(line: &[u8]) -> Result<InputRow<'_>, String> {
    let fields = match scan(line) {
        Some(fields) => fields,
        None => slowly(line)?,
    };
    let id = fields.id.ok_or("no id")?;
    let content = match (fields.text, fields.html) {
        (Some(text), _) => RowContent::Text(text),
        (None, Some(html)) => RowContent::Html(html),
        (None, None) => return Err("neither text nor html".to_owned()),
    };
    Ok(InputRow { id, url: fields.url, content })
}

#[derive(Default)]
struct Fields<'a> {
    id: Option<Cow<'a, str>>,
    url: Option<Cow<'a, str>>,
    text: Option<Cow<'a, str>>,
    html: Option<Cow<'a, str>>,
}

/// The usual row; none if it is anything else.
fn scan(line: &[u8]) -> Option<Fields<'_>> {
    let mut fields = Fields::default();
    let mut rest = line.trim_ascii().strip_prefix(b"{")?;
    loop {
        let (key, after) = quoted(rest.trim_ascii_start())?;
        let value = after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        let slot = match key.raw {
            b"id" => Some(&mut fields.id),
            b"url" => Some(&mut fields.url),
            b"text" => Some(&mut fields.text),
            b"html" => Some(&mut fields.html),
            _ if key.escaped => return None,
            _ => None,
        };
        let after = match value.first()? {
            b'"' => {
                let (text, after) = quoted(value)?;
                if let Some(slot) = slot {
                    *slot = Some(text.decoded()?);
                }
                after
            }
            b'-' | b'0'..=b'9' => {
                let end = value.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-');
                let (number, after) = value.split_at(end?);
                // An identifier may be a whole number; a text may not.
                match slot {
                    Some(slot) if key.raw == b"id" => *slot = Some(text_of(number)?),
                    Some(_) => return None,
                    None => {}
                }
                let fraction = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+');
                match after.first() {
                    Some(b',' | b'}' | b' ') => after,
                    _ if key.raw == b"id" => return None,
                    _ => {
                        &after[after.iter().position(|byte| !fraction(byte) && *byte != b'-')?..]
                    }
                }
            }
            _ => return None,
        };
        let after = after.trim_ascii_start();
        match after.split_first()? {
            (b',', after) => rest = after,
            (b'}', []) => return Some(fields),
            _ => return None,
        }
    }
}

/// What stands between quotes.
struct Quoted<'a> {
    raw: &'a [u8],
    escaped: bool,
}

/// A string at the beginning, and what follows it.
fn quoted(bytes: &[u8]) -> Option<(Quoted<'_>, &[u8])> {
    let inner = bytes.strip_prefix(b"\"")?;
    let mut end = memchr2(b'"', b'\\', inner)?;
    let escaped = inner[end] == b'\\';
    while inner[end] == b'\\' {
        end += 2;
        end += memchr2(b'"', b'\\', inner.get(end..)?)?;
    }
    Some((Quoted { raw: &inner[..end], escaped }, &inner[end + 1..]))
}

impl<'a> Quoted<'a> {
    fn decoded(&self) -> Option<Cow<'a, str>> {
        let raw = std::str::from_utf8(self.raw).ok()?;
        if self.escaped { unescaped(raw).map(Cow::Owned) } else { Some(Cow::Borrowed(raw)) }
    }
}

fn text_of(bytes: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
}

fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (character, length) = match rest.as_bytes().get(at + 1)? {
            b'n' => ('\n', 2),
            b't' => ('\t', 2),
            b'r' => ('\r', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            byte @ (b'"' | b'\\' | b'/') => (char::from(*byte), 2),
            b'u' => unit_or_pair(&rest.as_bytes()[at + 2..])?,
            _ => return None,
        };
        text.push(character);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Some(text)
}

/// The character of four digits, or of two escapes that are a pair, and the length of all. Half a
/// pair is no character, but there are such files.
fn unit_or_pair(bytes: &[u8]) -> Option<(char, usize)> {
    let first = unit(bytes)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = bytes.get(4..).and_then(|more| more.strip_prefix(b"\\u")).and_then(unit);
    match second {
        Some(second @ 0xDC00..=0xDFFF) if first < 0xDC00 => {
            let both = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            Some((char::from_u32(both)?, 12))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, 6)),
    }
}

fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[derive(Deserialize)]
struct Slow<'a> {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(borrow, default)]
    url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    html: Option<Cow<'a, str>>,
}

fn slowly(line: &[u8]) -> Result<Fields<'_>, String> {
    if let Err(error) = std::str::from_utf8(line) {
        return Err(format!("invalid UTF-8 at byte {} of the line", error.valid_up_to()));
    }
    let slow: Slow<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let id = match slow.id {
        None | Some(serde_json::Value::Null) => None,
        Some(serde_json::Value::String(text)) => Some(Cow::Owned(text)),
        Some(serde_json::Value::Number(number)) => Some(Cow::Owned(number.to_string())),
        Some(_) => return Err("an id that is neither a text nor a number".to_owned()),
    };
    Ok(Fields { id, url: slow.url, text: slow.text, html: slow.html })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_serde(line: &str) -> Result<InputRow<'_>, String> {
        let fields = slowly(line.as_bytes())?;
        let (text, html) = (fields.text.map(RowContent::Text), fields.html.map(RowContent::Html));
        let content = text.or(html).ok_or("neither")?;
        Ok(InputRow { id: fields.id.ok_or("no id")?, url: fields.url, content })
    }

    #[test]
    fn rows_are_read_as_serde_json_reads_them() {
        for line in [
            r#"{"id": 0, "url": "http://a/", "kind": "real", "text": "one\ntwo \u00e9\ud83d\ude00"}"#,
            r#"{"id":"a\tb","text":"","x":1.5e-3,"y":-2}"#,
            r#" {"text" : "t" , "id" : -7 , "html" : "<p>"} "#,
            r#"{"id":1,"html":"<p title=\"x\">a\\b\/c</p>"}"#,
            r#"{"id":1,"text":"a","more":{"text":"no"},"list":[1,"}"],"b":true,"n":null}"#,
            r#"{"\u0069d":5,"text":"escaped key"}"#,
            r#"{"id":1.5,"text":"t"}"#,
            r#"{"id":1,"text":null,"html":"h"}"#,
        ] {
            assert_eq!(read(line.as_bytes()), by_serde(line), "{line}");
            assert!(read(line.as_bytes()).is_ok(), "{line}");
        }
        assert!(scan(br#"{"id":3,"url":"u","k":"v","n":1.0,"text":"a\nb"}"#).is_some());
        let row = read(br#"{"id":1,"text":"half \ud83d pair"}"#).expect("read");
        assert_eq!(row.content, RowContent::Text("half \u{fffd} pair".into()));
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said() {
        for (line, said) in [
            (&br#"{"id":1}"#[..], "neither text nor html"),
            (br#"{"text":"a"}"#, "no id"),
            (br#"{"id":1,"text":"a"#, "EOF while parsing"),
            (b"{\"id\":1,\"text\":\"a\xff\"}", "invalid UTF-8 at byte 17"),
            (br#"{"id":1,"text":7}"#, "invalid type"),
            (br#"{"id":[1],"text":"a"}"#, "an id that is neither"),
            (b"not json", "expected"),
            (b"[]", "no id"),
        ] {
            let error = read(line).expect_err("wrong");
            assert!(error.contains(said), "{}: {error}", line.escape_ascii());
        }
    }
}
