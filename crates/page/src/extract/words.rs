//! How much a piece of text says, in any language.
//!
//! Languages that put no space between words would count as a few endless ones, so each of their
//! characters counts. To make a Chinese page comparable with an English one, the mass of a text is
//! in half words: two for a word with spaces around it, one for a character of the others.

/// What was counted in a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// In half words.
    pub mass: u32,
    /// Words; a CJK character is one.
    pub words: u32,
    /// Marks that end or part sentences.
    pub marks: u32,
    /// Digits.
    pub digits: u32,
    /// Letters and digits.
    pub letters: u32,
    /// Whether the last character ends a sentence.
    pub ends_sentence: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Mark,
    /// A mark that ends a sentence.
    Stop,
    /// A character that is a word by itself.
    Sign,
    Gap,
}

/// Counts a text.
pub(super) fn count(text: &str) -> Count {
    let bytes = text.as_bytes();
    let mut count = Count::default();
    let mut in_word = false;
    let mut last = Class::Gap;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let class = if byte < 0x80 {
            at += 1;
            ASCII[byte as usize]
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            at += c.len_utf8();
            class_of(c)
        };
        let is_letter = matches!(class, Class::Letter | Class::Digit);
        count.letters += u32::from(is_letter);
        count.digits += u32::from(class == Class::Digit);
        count.marks += u32::from(matches!(class, Class::Mark | Class::Stop));
        let is_sign = class == Class::Sign;
        let starts = is_letter && !in_word;
        count.words += u32::from(starts) + u32::from(is_sign);
        count.mass += 2 * u32::from(starts) + u32::from(is_sign);
        in_word = is_letter;
        if byte != b' ' && byte != b'\n' {
            last = class;
        }
    }
    count.ends_sentence = last == Class::Stop;
    count
}

const ASCII: [Class; 128] = {
    let mut classes = [Class::Gap; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
            b'.' | b'!' | b'?' => Class::Stop,
            b',' | b';' | b':' => Class::Mark,
            _ => Class::Gap,
        };
        byte += 1;
    }
    classes
};

fn class_of(c: char) -> Class {
    if is_word_by_itself(c) {
        return Class::Sign;
    }
    match c {
        // The full stops of Chinese, Arabic, Hindi, Armenian, Ethiopic and others.
        '。' | '．' | '！' | '？' | '؟' | '۔' | '।' | '॥' | '։' | '።' | '…' | '｡' => {
            Class::Stop
        }
        '，' | '、' | '；' | '：' | '،' | '؛' | '·' => Class::Mark,
        '\u{80}'..='\u{BF}'
        | '×'
        | '÷'
        | '\u{2000}'..='\u{2BFF}'
        | '\u{3000}'..='\u{303F}'
        | '\u{E000}'..='\u{F8FF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FF00}'..='\u{FF0F}'
        | '\u{1F000}'..='\u{1FFFF}' => Class::Gap,
        _ => Class::Letter,
    }
}

/// Han, kana, and the scripts of South-East Asia that put no space between words.
pub(super) fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' | '\u{0E00}'..='\u{0EFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_about_the_same_mass_in_every_script() {
        let english = count("The council voted on Tuesday to close the old bridge.");
        assert_eq!((english.words, english.mass, english.marks), (10, 20, 1));
        assert!(english.ends_sentence);
        let chinese = count("市议会周二投票决定关闭那座旧桥。");
        assert_eq!((chinese.words, chinese.mass, chinese.marks), (15, 15, 1));
        assert!(chinese.ends_sentence);
        let greek = count("Το συμβούλιο ψήφισε, την Τρίτη");
        assert_eq!((greek.words, greek.marks, greek.ends_sentence), (5, 1, false));
    }
}
