//! The lexer: the tokenizer states of the HTML standard, as searches.
//!
//! Instead of a state per byte there is a search per state: text ends at the next `<` that begins
//! something, a comment at `-->`, a script at its end tag. Each byte is passed at most a small
//! constant number of times, so hostile pages cost no more than honest ones. What follows a start
//! tag (raw text, script, …) is for the caller to say, as the standard's tree builder would: see
//! `content`.

use memchr::{memchr, memchr2, memmem};

use super::Tag;
use super::reference::Place;
use super::tag::{PACKED_BYTES_MAX, pack_byte};
use super::token::{
    EndTag, Scanned, StartTag, TAG_NAME_END, TextRunToken, Token, is, scan_attribute,
};

/// How to read what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model<'a> {
    /// Markup.
    Data,
    /// Text with references until the end tag of that name: `title`, `textarea`.
    Rcdata(&'a str),
    /// Text until the end tag of that name: `style`, `iframe` and others.
    RawText(&'a str),
    /// As `RawText`, but `<!-- <script> … </script>` hides an end tag.
    Script(&'a str),
    /// Text until the end of the page.
    PlainText,
}

/// A token before it is told apart. All kinds have one shape: kinds that share memory would be
/// written byte by byte and read as a whole, and that waits for the bytes.
#[derive(Clone, Copy)]
pub(super) struct Lexed<'a> {
    kind: Kind,
    /// The element, or whose raw text it is.
    tag: Tag,
    self_closing: bool,
    place: Place,
    /// The element's name, or the text.
    text: &'a str,
    /// A start tag's attributes.
    rest: &'a str,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Start,
    End,
}

impl<'a> Lexed<'a> {
    #[inline(always)]
    fn text(text: &'a str, tag: Tag, place: Place) -> Lexed<'a> {
        Lexed { kind: Kind::Text, tag, self_closing: false, place, text, rest: "" }
    }

    #[inline(always)]
    pub(super) fn token(self) -> Token<'a> {
        let Lexed { kind, tag, self_closing, place, text, rest } = self;
        match kind {
            Kind::Text => Token::Text(TextRunToken { raw: text, owner: tag, place }),
            Kind::Start => {
                Token::Start(StartTag { tag, name: text, self_closing, foreign: false, rest })
            }
            Kind::End => Token::End(EndTag { tag, name: text }),
        }
    }
}

pub(super) struct Lexer<'a> {
    html: &'a str,
    at: usize,
    /// The content model of what comes next; falls back to `Data` at the end tag.
    pub(super) model: Model<'a>,
    /// Whose raw text it is.
    pub(super) owner: Tag,
    /// Whether `<![CDATA[` begins a section (in `svg` and `math`) or a bogus comment (elsewhere).
    pub(super) cdata: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(html: &'a str) -> Lexer<'a> {
        Lexer { html, at: 0, model: Model::Data, owner: Tag::Other, cdata: false }
    }

    /// Bytes of the page passed so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The next token. Without `TEXT`, the text between tags is passed over (that of raw text, such
    /// as a title, is not), and end tags as well unless there are `ends` that matter.
    #[inline(always)]
    pub(super) fn next_token<const TEXT: bool>(&mut self, ends: bool) -> Option<Lexed<'a>> {
        if self.model != Model::Data
            && let Some((raw, owner, place)) = self.raw_text()
        {
            return Some(Lexed::text(raw, owner, place));
        }
        loop {
            let open = self.markup_start();
            if TEXT && open > self.at {
                let raw = &self.html[self.at..open];
                self.at = open;
                return Some(Lexed::text(raw, self.owner, Place::Data));
            }
            let bytes = self.html.as_bytes();
            match *bytes.get(open + 1)? {
                b'/' => match bytes[open + 2] {
                    b'>' => self.at = open + 3,
                    byte if byte.is_ascii_alphabetic() && (TEXT || ends) => {
                        return self.end_tag(open + 2);
                    }
                    byte if byte.is_ascii_alphabetic() => self.pass_end_tag(open + 2)?,
                    _ => self.skip_past_next(b'>', open + 2),
                },
                b'!' => {
                    if let Some(section) = self.declaration(open).filter(|_| TEXT) {
                        return Some(Lexed::text(section, self.owner, Place::Cdata));
                    }
                }
                b'?' => self.skip_past_next(b'>', open + 2),
                _ => return self.start_tag(open + 1),
            }
        }
    }

    /// The next `<` that begins markup, or the page's end.
    #[inline(always)]
    fn markup_start(&self) -> usize {
        let bytes = self.html.as_bytes();
        let mut from = self.at;
        while let Some(found) = next_open(&bytes[from..]) {
            let open = from + found;
            match bytes.get(open + 1) {
                Some(b'!' | b'?') => return open,
                Some(b'/') if open + 2 < bytes.len() => return open,
                Some(byte) if byte.is_ascii_alphabetic() => return open,
                _ => from = open + 1,
            }
        }
        bytes.len()
    }

    fn skip_past_next(&mut self, byte: u8, from: usize) {
        let bytes = self.html.as_bytes();
        self.at = memchr(byte, &bytes[from..]).map_or(bytes.len(), |found| from + found + 1);
    }

    #[inline(always)]
    fn start_tag(&mut self, name_start: usize) -> Option<Lexed<'a>> {
        let (tag, name_end) = self.tag_name(name_start)?;
        let (self_closing, next) = self.tag_end(name_end)?;
        self.at = next;
        Some(Lexed {
            kind: Kind::Start,
            tag,
            self_closing,
            place: Place::Data,
            text: &self.html[name_start..name_end],
            rest: &self.html[name_end..next],
        })
    }

    #[inline(always)]
    fn end_tag(&mut self, name_start: usize) -> Option<Lexed<'a>> {
        let (tag, name_end) = self.tag_name(name_start)?;
        let (_, next) = self.tag_end(name_end)?;
        self.at = next;
        let text = &self.html[name_start..name_end];
        Some(Lexed {
            kind: Kind::End,
            tag,
            self_closing: false,
            place: Place::Data,
            text,
            rest: "",
        })
    }

    #[inline(always)]
    fn pass_end_tag(&mut self, name_start: usize) -> Option<()> {
        let name = &self.html.as_bytes()[name_start..];
        let Some(len) = name.iter().position(|&byte| is(byte, TAG_NAME_END)) else {
            self.at = self.html.len();
            return None;
        };
        self.at = self.tag_end(name_start + len)?.1;
        Some(())
    }

    /// The tag's name; a page that ends within a tag has no such tag, and nothing after it.
    #[inline(always)]
    fn tag_name(&mut self, start: usize) -> Option<(Tag, usize)> {
        let bytes = self.html.as_bytes();
        let (mut key, mut at) = (0, start);
        while let Some(&byte) = bytes.get(at) {
            if is(byte, TAG_NAME_END) {
                let tag = if at - start <= PACKED_BYTES_MAX {
                    Tag::of_packed(key)
                } else {
                    Tag::of_long(&self.html[start..at])
                };
                return Some((tag, at));
            }
            key = pack_byte(key, byte);
            at += 1;
        }
        self.at = bytes.len();
        None
    }

    /// Where the tag ends, quotes respected, and whether with `/>`.
    #[inline(always)]
    fn tag_end(&mut self, mut at: usize) -> Option<(bool, usize)> {
        let bytes = self.html.as_bytes();
        if bytes[at] == b'>' {
            return Some((false, at + 1));
        }
        loop {
            match scan_attribute(bytes, at) {
                Some(Scanned::Attribute(span)) => at = span.next,
                Some(Scanned::TagEnd { self_closing, next }) => return Some((self_closing, next)),
                None => {
                    self.at = bytes.len();
                    return None;
                }
            }
        }
    }

    /// Passes `<!…`: a comment, a doctype, a bogus comment; or hands out a CDATA section.
    fn declaration(&mut self, open: usize) -> Option<&'a str> {
        let after = open + 2;
        let rest = &self.html.as_bytes()[after..];
        if rest.starts_with(b"--") {
            self.at = comment_end(self.html.as_bytes(), after + 2);
        } else if self.cdata && rest.starts_with(b"[CDATA[") {
            let start = after + b"[CDATA[".len();
            let (end, next) = match memmem::find(&self.html.as_bytes()[start..], b"]]>") {
                Some(found) => (start + found, start + found + 3),
                None => (self.html.len(), self.html.len()),
            };
            self.at = next;
            if end > start {
                return Some(&self.html[start..end]);
            }
        } else {
            // In a doctype as in a bogus comment the first '>' is the end, quoted or not.
            self.skip_past_next(b'>', after);
        }
        None
    }

    /// The text of the current content model, whose it is and where, if there is any; then markup
    /// goes on.
    fn raw_text(&mut self) -> Option<(&'a str, Tag, Place)> {
        let bytes = self.html.as_bytes();
        let (end, place) = match self.model {
            Model::Data => return None,
            Model::PlainText => (bytes.len(), Place::Raw),
            Model::Rcdata(name) => (raw_text_end(bytes, self.at, name), Place::Rcdata),
            Model::RawText(name) => (raw_text_end(bytes, self.at, name), Place::Raw),
            Model::Script(name) => (script_end(bytes, self.at, name), Place::Raw),
        };
        let (raw, owner) = (&self.html[self.at..end], self.owner);
        self.at = end;
        self.model = Model::Data;
        self.owner = Tag::Other;
        (!raw.is_empty()).then_some((raw, owner, place))
    }
}

/// Most tags follow another at once, or after a line feed: a search would take longer.
#[inline(always)]
fn next_open(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'<', ..] => Some(0),
        [_, b'<', ..] => Some(1),
        _ => memchr(b'<', bytes),
    }
}

/// Where the comment whose text starts at `start` ends: behind `-->` or `--!>`, or `>` or `->`
/// right at its start.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let mut from = start;
    while let Some(found) = memchr(b'>', &bytes[from..]) {
        let close = from + found;
        let text = &bytes[start..close];
        if matches!(text, b"" | b"-") || text.ends_with(b"--") || text.ends_with(b"--!") {
            return close + 1;
        }
        from = close + 1;
    }
    bytes.len()
}

/// Where the `</name` stands that ends the raw text from `start`; the page's end if none does.
fn raw_text_end(bytes: &[u8], start: usize, name: &str) -> usize {
    let mut from = start;
    while let Some(found) = memchr(b'<', &bytes[from..]) {
        let open = from + found;
        if bytes.get(open + 1) == Some(&b'/') && is_named(&bytes[open + 2..], name) {
            return open;
        }
        from = open + 1;
    }
    bytes.len()
}

/// As [`raw_text_end`], for a script: between `<!--` and `-->` a `<script` hides the next
/// `</script`.
fn script_end(bytes: &[u8], start: usize, name: &str) -> usize {
    let mut from = start;
    while let Some(found) = memchr(b'<', &bytes[from..]) {
        let open = from + found;
        let after = &bytes[open + 1..];
        if after.starts_with(b"/") && is_named(&after[1..], name) {
            return open;
        }
        from = open + 1;
        if after.starts_with(b"!--") {
            match escaped_script_end(bytes, open + 2, name) {
                Escaped::ScriptEnds(open) => return open,
                Escaped::Over(next) => from = next,
            }
        }
    }
    bytes.len()
}

enum Escaped {
    /// The script's end tag was found here.
    ScriptEnds(usize),
    /// The escape ended; the script goes on from here.
    Over(usize),
}

/// Reads a script from the dashes of its `<!--` on.
fn escaped_script_end(bytes: &[u8], dashes: usize, name: &str) -> Escaped {
    let mut twice = false;
    let mut from = dashes + 2;
    while let Some(found) = memchr2(b'<', b'>', &bytes[from..]) {
        let at = from + found;
        from = at + 1;
        if bytes[at] == b'>' {
            if bytes[dashes..at].ends_with(b"--") {
                return Escaped::Over(from);
            }
            continue;
        }
        let after = &bytes[at + 1..];
        if let Some(after_slash) = after.strip_prefix(b"/") {
            if twice {
                twice = !is_named(after_slash, "script");
            } else if is_named(after_slash, name) {
                return Escaped::ScriptEnds(at);
            }
        } else if !twice {
            twice = is_named(after, "script");
        }
    }
    Escaped::Over(bytes.len())
}

/// Whether a tag's name (ended as a name must be) stands at the front of `bytes`.
fn is_named(bytes: &[u8], name: &str) -> bool {
    bytes.get(name.len()).is_some_and(|&after| is(after, TAG_NAME_END))
        && bytes[..name.len()].eq_ignore_ascii_case(name.as_bytes())
}
