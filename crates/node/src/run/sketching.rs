//! The sketch of a text, for comparing pages while crawling.

use rhumb_engine::near::SHINGLES_MIN;
use rhumb_neardup::{Sketch, shingle};
use rhumb_page::charset;
use rhumb_page::html::OWN_TEXT_BYTES_MAX;
use std::cell::RefCell;
use std::sync::Arc;

/// Fingerprints for which room is kept from page to page.
const KEPT_MAX: usize = 64 << 10;

thread_local! {
    static PRINTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The sketch of a page's own text, if it has enough of it.
pub fn sketch(text: &str) -> Option<Arc<Sketch>> {
    PRINTS.with_borrow_mut(|prints| {
        prints.clear();
        prints.shrink_to(KEPT_MAX);
        shingle::fingerprints(text, shingle::WORDS_DEFAULT, prints);
        if prints.len() < SHINGLES_MIN {
            return None;
        }
        Sketch::of(prints).map(Arc::new)
    })
}

/// The sketch of plain text.
pub fn sketch_of_plain(body: &[u8], declared: Option<&str>, host: &str) -> Option<Arc<Sketch>> {
    let decoded = charset::decode(body, declared, Some(host));
    sketch(&decoded.text[..decoded.text.floor_char_boundary(OWN_TEXT_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_short_to_tell_has_no_sketch() {
        assert_eq!(sketch("Too short to tell."), None);
        assert_eq!(sketch_of_plain(b"Nor this one.", None, "a.test"), None);
        let words: String = (0..60).map(|n| format!("word{n} ")).collect();
        assert_eq!(sketch_of_plain(words.as_bytes(), None, "a.test"), sketch(&words));
        assert!(sketch(&words).is_some());
    }
}
