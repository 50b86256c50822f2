//! Rich Text Format: Microsoft, "Rich Text Format (RTF) Specification" 1.9.1.
//!
//! One pass over the bytes with a stack of groups. A group whose first word names a destination
//! that holds no text (fonts, colours, pictures) is skipped with all that is in it.

use encoding_rs::{Encoding, WINDOWS_1252};

use super::{Document, DocumentFormat, LINKS_MAX, TEXT_BYTES_MAX};
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Rtf;

/// Groups within groups; what lies deeper is skipped.
const DEPTH_MAX: usize = 1_024;
/// Bytes of a title, an author's name or a field's instruction.
const NOTE_BYTES_MAX: usize = 8 << 10;

/// Destinations that hold no text of the document.
const SILENT: [&[u8]; 24] = [
    b"bkmkend",
    b"bkmkstart",
    b"colortbl",
    b"comment",
    b"datastore",
    b"filetbl",
    b"fonttbl",
    b"footer",
    b"footerf",
    b"footerl",
    b"footerr",
    b"generator",
    b"header",
    b"headerf",
    b"headerl",
    b"headerr",
    b"info",
    b"listtable",
    b"objdata",
    b"pict",
    b"rsidtbl",
    b"stylesheet",
    b"themedata",
    b"xmlnstbl",
];

impl DocumentFormat for Rtf {
    fn name(&self) -> &'static str {
        "rtf"
    }

    fn claims(&self, _: MediaKind, essence: &str) -> bool {
        matches!(essence, "application/rtf" | "text/rtf" | "application/x-rtf" | "text/richtext")
    }

    fn read(&self, body: &[u8], _: Option<&str>, url: &Url) -> Document {
        let mut reading = Reading::new(url);
        if !body.starts_with(b"{\\rtf") {
            reading.document.oddities.push("no RTF in it".to_owned());
            return reading.document;
        }
        reading.read(body);
        reading.finish()
    }
}

/// Where the text of a group goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Text,
    Title,
    Author,
    /// What a field is to show: `HYPERLINK "…"`.
    Instruction,
    Nowhere,
}

#[derive(Clone, Copy)]
struct Group {
    into: Into,
    /// Bytes that stand for a Unicode character where it cannot be shown.
    unicode_skip: usize,
    /// Nothing but control words has stood in it.
    is_fresh: bool,
    /// It began with `\*`: whoever does not know its word skips it.
    is_optional: bool,
}

struct Reading<'a> {
    url: &'a Url,
    document: Document,
    encoding: &'static Encoding,
    group: Group,
    outer: Vec<Group>,
    /// Groups beyond the depth that is kept account of.
    beyond: usize,
    /// Bytes in the code page, not decoded yet.
    bytes: Vec<u8>,
    title: String,
    author: String,
    instruction: String,
    /// Bytes to leave out behind a Unicode character.
    to_skip: usize,
    /// The first half of a character beyond the first plane.
    high: Option<u16>,
}

impl<'a> Reading<'a> {
    fn new(url: &'a Url) -> Reading<'a> {
        let group = Group { into: Into::Text, unicode_skip: 1, is_fresh: true, is_optional: false };
        Reading {
            url,
            document: Document::default(),
            encoding: WINDOWS_1252,
            group,
            outer: Vec::new(),
            beyond: 0,
            bytes: Vec::new(),
            title: String::new(),
            author: String::new(),
            instruction: String::new(),
            to_skip: 0,
            high: None,
        }
    }

    fn read(&mut self, body: &[u8]) {
        let mut at = 0;
        while at < body.len() && self.document.text.len() < TEXT_BYTES_MAX {
            at = match body[at] {
                b'{' => self.opened(at),
                b'}' => self.closed(at),
                b'\\' => self.control(body, at + 1),
                b'\r' | b'\n' | 0 => at + 1,
                byte => {
                    self.byte(byte);
                    at + 1
                }
            };
        }
        self.flush();
    }

    fn opened(&mut self, at: usize) -> usize {
        self.flush();
        if self.beyond > 0 || self.outer.len() == DEPTH_MAX {
            self.beyond += 1;
        } else {
            self.outer.push(self.group);
            (self.group.is_fresh, self.group.is_optional) = (true, false);
        }
        at + 1
    }

    fn closed(&mut self, at: usize) -> usize {
        self.flush();
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if let Some(outer) = self.outer.pop() {
            if self.group.into == Into::Instruction && outer.into != Into::Instruction {
                self.take_link();
            }
            self.group = outer;
        }
        at + 1
    }

    /// What begins with a backslash; where reading goes on.
    fn control(&mut self, body: &[u8], at: usize) -> usize {
        let Some(first) = body.get(at) else { return at };
        if !first.is_ascii_alphabetic() {
            return self.symbol(body, at);
        }
        let letters = body[at..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        let word = &body[at..at + letters];
        let mut end = at + letters;
        let is_negative = body.get(end) == Some(&b'-');
        let digits_at = end + usize::from(is_negative);
        let digits = body[digits_at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut number = None;
        if digits > 0 {
            let text = &body[digits_at..digits_at + digits.min(10)];
            let value = text.iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
            number = Some(if is_negative { -value } else { value });
            end = digits_at + digits;
        }
        end += usize::from(body.get(end) == Some(&b' '));
        if word == b"bin" {
            // Bytes of anything follow.
            return end.saturating_add(usize::try_from(number.unwrap_or(0)).unwrap_or(0));
        }
        self.word(word, number);
        end
    }

    fn symbol(&mut self, body: &[u8], at: usize) -> usize {
        match body[at] {
            b'\'' => {
                let hex = body.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
                if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                    self.byte(byte);
                }
                return (at + 3).min(body.len());
            }
            b'*' => self.group.is_optional = true,
            b'~' => self.text(" "),
            b'_' => self.text("-"),
            b'\r' | b'\n' => self.text("\n"),
            byte @ (b'\\' | b'{' | b'}') => self.byte(byte),
            _ => (),
        }
        at + 1
    }

    fn word(&mut self, word: &[u8], number: Option<i64>) {
        if std::mem::take(&mut self.group.is_fresh) && self.outer.len() > 1 {
            self.destination(word);
        }
        match word {
            b"par" | b"line" | b"sect" | b"page" | b"row" => self.text("\n"),
            b"tab" | b"cell" => self.text("\t"),
            b"emdash" => self.text("—"),
            b"endash" => self.text("–"),
            b"lquote" => self.text("‘"),
            b"rquote" => self.text("’"),
            b"ldblquote" => self.text("“"),
            b"rdblquote" => self.text("”"),
            b"bullet" => self.text("•"),
            b"ansicpg" => self.encoding = number.and_then(code_page).unwrap_or(self.encoding),
            b"uc" => self.group.unicode_skip = number.map_or(1, |n| n.clamp(0, 16) as usize),
            b"u" => self.unicode(number.unwrap_or(0)),
            _ => (),
        }
    }

    /// The first word of a group says what the group is for.
    fn destination(&mut self, word: &[u8]) {
        let is_optional = self.group.is_optional;
        self.group.into = match word {
            b"title" => Into::Title,
            b"author" => Into::Author,
            b"fldinst" => Into::Instruction,
            b"info" => Into::Nowhere,
            _ if self.group.into == Into::Nowhere => Into::Nowhere,
            _ if SILENT.binary_search(&word).is_ok() => Into::Nowhere,
            _ if is_optional => Into::Nowhere,
            _ => self.group.into,
        };
    }

    /// A UTF-16 unit, as a number that may be written as negative.
    fn unicode(&mut self, number: i64) {
        self.flush();
        let unit = number.rem_euclid(1 << 16) as u16;
        self.to_skip = self.group.unicode_skip;
        let units = self.high.take().into_iter().chain([unit]);
        if (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let text: String = char::decode_utf16(units).flatten().collect();
        self.write(&text);
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
            return;
        }
        self.group.is_fresh = false;
        if self.beyond == 0 && self.group.into != Into::Nowhere {
            self.bytes.push(byte);
        }
    }

    fn text(&mut self, text: &str) {
        self.to_skip = 0;
        self.flush();
        self.write(text);
    }

    fn flush(&mut self) {
        if !self.bytes.is_empty() {
            let bytes = std::mem::take(&mut self.bytes);
            let (text, _) = self.encoding.decode_without_bom_handling(&bytes);
            self.write(&text);
        }
        self.to_skip = 0;
    }

    fn write(&mut self, text: &str) {
        if self.beyond > 0 {
            return;
        }
        let note = match self.group.into {
            Into::Text => return self.document.text.push_str(text),
            Into::Title => &mut self.title,
            Into::Author => &mut self.author,
            Into::Instruction => &mut self.instruction,
            Into::Nowhere => return,
        };
        if note.len() + text.len() <= NOTE_BYTES_MAX {
            note.push_str(text);
        }
    }

    /// `HYPERLINK "address"`, perhaps with switches behind it.
    fn take_link(&mut self) {
        let instruction = std::mem::take(&mut self.instruction);
        let address = instruction.trim().strip_prefix("HYPERLINK").map(str::trim_start);
        let quoted = address.and_then(|rest| rest.strip_prefix('"')?.split('"').next());
        let link = quoted.and_then(|address| self.url.join(address).ok());
        if let Some(link) = link.filter(|_| self.document.links.len() < LINKS_MAX) {
            self.document.links.push(link);
        }
    }

    fn finish(self) -> Document {
        let note = |text: String| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let lines = self.document.text.lines().map(str::trim_end);
        let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        Document { text, title: note(self.title), author: note(self.author), ..self.document }
    }
}

/// The encoding of a Windows code page.
fn code_page(number: i64) -> Option<&'static Encoding> {
    let label = match number {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        874 | 1250..=1258 => format!("windows-{number}"),
        10_000 => "macintosh".to_owned(),
        65_001 => "utf-8".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}
