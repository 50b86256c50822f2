//! Texts that are packed with gzip and sent as such: RFC 1952. What is within is read as what its
//! first bytes say that it is; a text within a text that is packed is not.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

use super::{Document, DocumentFormat, format_of};

pub(super) struct Packed;

/// Bytes once unpacked; more is left off.
const UNPACKED_BYTES_MAX: u64 = 32 << 20;

impl DocumentFormat for Packed {
    fn name(&self) -> &'static str {
        "gzip"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Gzip
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let mut plain = Vec::new();
        // What comes before an error is kept.
        let unpacked = MultiGzDecoder::new(body).take(UNPACKED_BYTES_MAX).read_to_end(&mut plain);
        let format = format_of(None, &plain).filter(|format| is_text(format.name()));
        let mut document = match format {
            Some(format) => format.read(&plain, charset, url),
            None => Document::default(),
        };
        if let Err(error) = unpacked {
            document.oddities.push(format!("gzip: {error}"));
        } else if plain.len() as u64 == UNPACKED_BYTES_MAX {
            document.oddities.push(format!("more than {UNPACKED_BYTES_MAX} bytes unpacked"));
        }
        document
    }
}

/// Formats that are read where they are; a PDF wants a process of its own.
fn is_text(name: &str) -> bool {
    matches!(name, "html" | "feed" | "sitemap" | "json" | "text" | "rtf")
}
