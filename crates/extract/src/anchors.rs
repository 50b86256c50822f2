//! What publishing systems put into headings and is none of their text: the sign that links a
//! heading to itself (Sphinx's "¶", rustdoc's "§"), and a wiki's "[edit]".

use memchr::memmem;

use rhumb_page::html::StartTag;

/// Bytes of a link's text that may be such a sign.
const SIGN_BYTES_MAX: usize = 16;

/// Whether a link is the sign that leads to the place where it stands.
pub(super) fn is_anchor_sign(href: &str, text: &str) -> bool {
    let text = text.trim();
    text.len() <= SIGN_BYTES_MAX
        && !text.is_empty()
        && href.contains('#')
        && text.chars().all(is_sign)
}

/// Pilcrow, section, hash, link, anchor and infinity; characters without width; icons of fonts.
fn is_sign(c: char) -> bool {
    matches!(c, '¶' | '§' | '#' | '🔗' | '⚓' | '∞' | '\u{FE0E}' | '\u{FE0F}')
        || matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
        || matches!(c, '\u{E000}'..='\u{F8FF}')
}

/// Whether a `span` holds MediaWiki's links for editing a section.
pub(super) fn is_edit_section(start: &StartTag<'_>) -> bool {
    memmem::find(start.source().as_bytes(), b"editsection").is_some()
        && start
            .attributes()
            .find(|attribute| attribute.is("class"))
            .is_some_and(|class| class.raw.split_ascii_whitespace().any(is_edit_class))
}

fn is_edit_class(class: &str) -> bool {
    matches!(class, "mw-editsection" | "editsection")
}
