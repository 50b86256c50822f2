//! Plain text: itself, with the addresses that stand in it.

use super::{Document, DocumentFormat, LINKS_MAX};
use rhumb_page::charset;
use rhumb_page::media::MediaKind;
use rhumb_page::url::Url;

pub(super) struct Plain;

impl DocumentFormat for Plain {
    fn name(&self) -> &'static str {
        "text"
    }

    fn claims(&self, kind: MediaKind, _: &str) -> bool {
        kind == MediaKind::Text
    }

    fn read(&self, body: &[u8], charset: Option<&str>, url: &Url) -> Document {
        let text = charset::decode(body, charset, Some(url.host())).text.into_owned();
        let first = text.lines().map(str::trim).find(|line| !line.is_empty());
        Document {
            title: first.filter(|line| line.len() <= 120).map(str::to_owned),
            links: addresses(&text),
            text,
            ..Document::default()
        }
    }
}

/// Bytes of an address; a longer one is none.
const ADDRESS_BYTES_MAX: usize = 4096;

/// The addresses in a text that are written out.
pub(super) fn addresses(text: &str) -> Vec<Url> {
    const ENDS: [char; 6] = ['<', '>', '"', '\'', '`', '|'];
    let mut found = Vec::new();
    // Where the run of text ends that the last address was in: it is looked for once, however many
    // addresses stand in it.
    let mut run_end = 0;
    let mut tried = 0;
    for (at, _) in text.match_indices("://") {
        let scheme = if text[..at].ends_with("https") { 5 } else { 4 };
        // Four bytes back may be in the middle of a character.
        let Some(start) = at.checked_sub(scheme) else { continue };
        let Some(rest) = text.get(start..).filter(|rest| rest.starts_with("http")) else {
            continue;
        };
        if at >= run_end {
            let end = rest.find(|c: char| c.is_whitespace() || ENDS.contains(&c));
            run_end = start + end.unwrap_or(rest.len());
        }
        if run_end - start > ADDRESS_BYTES_MAX {
            continue;
        }
        let address =
            text[start..run_end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
        found.extend(Url::parse(address));
        tried += 1;
        if tried >= LINKS_MAX {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_within_addresses_and_an_endless_run_is_none() {
        let text = "see http://a.test/x?u=https://b.test/y). and \u{fc}http://c.test|d://e";
        let found = addresses(text);
        let found: Vec<&str> = found.iter().map(Url::as_str).collect();
        assert_eq!(
            found,
            ["http://a.test/x?u=https://b.test/y", "https://b.test/y", "http://c.test/"]
        );
        let endless = "http://".repeat(1_500_000);
        assert!(addresses(&endless).len() <= ADDRESS_BYTES_MAX / 7);
    }
}
