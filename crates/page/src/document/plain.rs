//! Plain text: itself, with the addresses that stand in it.

use super::{Document, Format, LINKS_MAX};
use crate::charset;
use crate::media::Kind;
use crate::url::Url;

pub(super) struct Plain;

impl Format for Plain {
    fn name(&self) -> &'static str {
        "text"
    }

    fn claims(&self, kind: Kind, _: &str) -> bool {
        kind == Kind::Text
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

/// The addresses in a text that are written out.
pub(super) fn addresses(text: &str) -> Vec<Url> {
    const ENDS: [char; 6] = ['<', '>', '"', '\'', '`', '|'];
    let mut found = Vec::new();
    for (at, _) in text.match_indices("://") {
        let scheme = if text[..at].ends_with("https") { 5 } else { 4 };
        // Four bytes back may be in the middle of a character.
        let Some(rest) = at.checked_sub(scheme).and_then(|start| text.get(start..)) else {
            continue;
        };
        if !rest.starts_with("http") {
            continue;
        }
        let end = rest.find(|c: char| c.is_whitespace() || ENDS.contains(&c));
        let address = rest[..end.unwrap_or(rest.len())]
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
        if let Ok(url) = Url::parse(address)
            && found.len() < LINKS_MAX
        {
            found.push(url);
        }
    }
    found
}
