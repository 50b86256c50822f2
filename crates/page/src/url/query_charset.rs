//! The charset in which a page's links have their queries.
//!
//! WHATWG (URL standard, "percent-encode after encoding"): the query of a link is written in the
//! charset of the document it stands in, and the path always in UTF-8. Servers of old sites expect
//! that, and answer other questions otherwise.

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding, UTF_8};

/// Bytes that are encoded in one go.
const STEP_BYTES: usize = 256;

/// A charset that is not UTF-8, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryCharset(Option<&'static Encoding>);

impl QueryCharset {
    /// For a document in the encoding of this name. UTF-16 and other encodings that nothing is
    /// written in count as UTF-8.
    pub fn of_document(encoding: &str) -> QueryCharset {
        let encoding = Encoding::for_label(encoding.as_bytes()).map(Encoding::output_encoding);
        QueryCharset(encoding.filter(|encoding| *encoding != UTF_8))
    }

    pub(super) fn encode<'t>(self, text: &'t str) -> Cow<'t, [u8]> {
        match self.0 {
            Some(encoding) => encode_in(encoding, text),
            None => Cow::Borrowed(text.as_bytes()),
        }
    }
}

/// A character that the charset lacks becomes its number, as a form would send it: `&#8364;`, with
/// the signs escaped.
fn encode_in<'t>(encoding: &'static Encoding, text: &'t str) -> Cow<'t, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::with_capacity(text.len());
    let mut step = [0; STEP_BYTES];
    let mut rest = text;
    loop {
        let (result, read, written) =
            encoder.encode_from_utf8_without_replacement(rest, &mut step, true);
        bytes.extend_from_slice(&step[..written]);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return Cow::Owned(bytes),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            }
        }
    }
}
