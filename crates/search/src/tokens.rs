//! Words of a text: small letters, and pairs of characters where a script has no spaces.
//!
//! A word is a maximal run of letters and digits. Runs of Han, Kana, Hangul, Thai, Lao, Khmer and
//! Burmese become overlapping pairs (`東京都` is `東京`, `京都`, and `都`, its last character), so that
//! no dictionary is needed and every query of two characters or more finds what holds it.

/// Bytes of a word; of longer ones only the beginning is kept.
pub const WORD_BYTES_MAX: usize = 64;

/// What a character is to words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    /// Of a script without spaces between words.
    Spaceless,
    /// Belongs to the letter before it.
    IndexMark,
    Other,
}

fn class(character: char) -> Class {
    if character.is_ascii() {
        return if character.is_ascii_alphanumeric() { Class::Letter } else { Class::Other };
    }
    match character {
        '\u{300}'..='\u{36f}' | '\u{94d}' | '\u{9cd}' | '\u{acd}' | '\u{bcd}' | '\u{c4d}' => {
            Class::IndexMark
        }
        '\u{e00}'..='\u{edf}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' => {
            Class::Spaceless
        }
        '\u{1780}'..='\u{17d3}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30ff}' => {
            Class::Spaceless
        }
        '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => {
            Class::Spaceless
        }
        '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' => {
            Class::Spaceless
        }
        _ if character.is_alphanumeric() => Class::Letter,
        _ => Class::Other,
    }
}

/// A token, and where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextToken<'a> {
    /// In small letters.
    pub word: &'a str,
    /// Of a script without spaces: never stemmed.
    pub is_pair: bool,
    pub start: usize,
    pub end: usize,
}

/// Calls `take` with each token of the text, in order.
pub fn each_token(text: &str, mut take: impl FnMut(TextToken<'_>)) {
    let mut small = String::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let Some(character) = text[at..].chars().next() else { break };
        at = match class(character) {
            Class::Other | Class::IndexMark => at + character.len_utf8(),
            Class::Letter => word(text, at, &mut small, &mut take),
            Class::Spaceless => pairs(text, at, &mut small, &mut take),
        };
    }
}

/// The word that begins at `start`; where it ends.
fn word(
    text: &str,
    start: usize,
    small: &mut String,
    take: &mut impl FnMut(TextToken<'_>),
) -> usize {
    let bytes = text.as_bytes();
    let mut end = start;
    while end < bytes.len() && bytes[end].is_ascii_alphanumeric() {
        end += 1;
    }
    small.clear();
    small.push_str(&text[start..end]);
    small.make_ascii_lowercase();
    if end < bytes.len() && !bytes[end].is_ascii() {
        for character in text[end..].chars() {
            match class(character) {
                Class::Letter | Class::IndexMark => small.extend(character.to_lowercase()),
                Class::Spaceless | Class::Other => break,
            }
            end += character.len_utf8();
        }
    }
    small.truncate(small.floor_char_boundary(WORD_BYTES_MAX));
    take(TextToken { word: small, is_pair: false, start, end });
    end
}

/// The pairs of the run that begins at `start`; where it ends.
fn pairs(
    text: &str,
    start: usize,
    small: &mut String,
    take: &mut impl FnMut(TextToken<'_>),
) -> usize {
    let mut before: Option<(usize, char)> = None;
    let mut end = start;
    for character in text[start..].chars() {
        if class(character) != Class::Spaceless {
            break;
        }
        let next = end + character.len_utf8();
        if let Some((from, first)) = before {
            small.clear();
            small.push(first);
            small.push(character);
            take(TextToken { word: small, is_pair: true, start: from, end: next });
        }
        before = Some((end, character));
        end = next;
    }
    if let Some((from, last)) = before {
        small.clear();
        small.push(last);
        take(TextToken { word: small, is_pair: true, start: from, end });
    }
    end
}

/// The tokens of a text.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_token(text, |token| words.push(token.word.to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_scripts_without_spaces_are_pairs() {
        assert_eq!(words("Ten o'clock, CAFÉ!"), ["ten", "o", "clock", "café"]);
        assert_eq!(words("東京都へ2024年"), ["東京", "京都", "都へ", "へ", "2024", "年"]);
        assert_eq!(words("สวัสดี")[0].chars().count(), 2);
        assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
        assert_eq!(words("Rust言語"), ["rust", "言語", "語"]);
        assert_eq!(words(" -- \u{301} "), Vec::<String>::new());
        assert_eq!(words(&"x".repeat(500))[0].len(), WORD_BYTES_MAX);
    }

    proptest! {
        #[test]
        fn any_text_has_words_in_order_and_in_their_places(text in "(?s).{0,200}") {
            let mut last = 0;
            each_token(&text, |token| {
                assert!(token.start >= last && token.end > token.start);
                assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
                assert!(!token.word.is_empty() && !token.word.contains(['\n', '\u{1}']));
                last = token.start;
            });
        }
    }
}
