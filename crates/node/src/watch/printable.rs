//! Text of strangers, made fit for a terminal.
//!
//! A robots.txt, a header or a page may hold the sequences by which programs move the cursor, set
//! the title or the clipboard, or turn the direction of writing round. None of that is text.

use std::borrow::Cow;

/// The text with a mark in place of every character that is not to be shown: control characters but
/// line feeds and tabs, and those that change the direction of writing.
pub fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(is_unfit) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace(is_unfit, "\u{fffd}")),
    }
}

fn is_unfit(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_for_terminals_are_no_text() {
        assert!(matches!(printable("Disallow: /\u{e9}t\u{e9}\t# why\n"), Cow::Borrowed(_)));
        let bell = "a\u{1b}]0;owned\u{7}b\u{9b}31mc\u{202e}d\r\u{7f}";
        assert_eq!(
            printable(bell),
            "a\u{fffd}]0;owned\u{fffd}b\u{fffd}31mc\u{fffd}d\u{fffd}\u{fffd}"
        );
    }
}
