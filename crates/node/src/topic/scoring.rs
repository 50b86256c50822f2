//! What the crawl's topic says of a page that came, and of its links.

use rhumb_engine::discovery::FoundUrl;
use rhumb_page::html::Anchor;
use rhumb_page::url::Url;
use rhumb_topic::features::TextFeatures;
use rhumb_topic::link::{LinkScorer, LinkWords};
use rhumb_topic::{Scored, Topic};
use std::cell::RefCell;
use std::collections::HashMap;

#[derive(Default)]
struct Scratch {
    features: TextFeatures,
    links: LinkScorer,
}

thread_local! {
    /// Some ten kilobytes that are worth keeping.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// How relevant a text is.
pub fn page(topic: &Topic, text: &str) -> Scored {
    SCRATCH.with_borrow_mut(|scratch| topic.score(text, &mut scratch.features))
}

/// Gives each link its weight: by what it says, the words of its address and those beside it.
pub fn links(topic: &Topic, scored: Scored, anchors: &[Anchor], found: &mut [FoundUrl]) {
    // Of a link that is there more than once, all that it says.
    let mut said: HashMap<&Url, [Vec<&str>; 2]> = HashMap::new();
    for Anchor { url, text, around } in anchors {
        let [own, beside] = said.entry(url).or_default();
        own.push(text);
        beside.push(around);
    }
    SCRATCH.with_borrow_mut(|scratch| {
        for found in found {
            let address = words_of(&found.url);
            let [mut own, around] = said.get(&found.url).cloned().unwrap_or_default();
            own.push(&address);
            let words = LinkWords { own: &own, around: &around };
            found.weight = scratch.links.weight(topic, scored.relevance, words);
        }
    });
}

/// The words of an address: its path, with percent signs undone, and its query.
fn words_of(url: &Url) -> String {
    let text = url.as_str().splitn(4, '/').nth(3).unwrap_or_default();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if first == b'_' { b' ' } else { first });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_words() {
        let words = |url: &str| words_of(&Url::parse(url).unwrap());
        assert_eq!(words("http://e.org/wiki/Solar_energy"), "wiki/Solar energy");
        assert_eq!(words("http://e.org/%D0%BC%D0%BE%D1%80%D0%B5?q=a%20b"), "море?q=a b");
        assert_eq!(words("http://e.org/100%"), words("http://e.org/100%25").replace("%25", "%"));
        assert_eq!(words("http://e.org"), "");
    }
}
