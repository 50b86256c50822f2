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

/// Bytes that are counted before sums of 16 bits could run over.
const RUN_BYTES_MAX: usize = u16::MAX as usize;

/// Counts a text. Most of it is ASCII nearly everywhere: four sums in one number, one addition for
/// each byte.
pub(super) fn count(text: &str) -> Count {
    let bytes = text.as_bytes();
    let mut count = Count::default();
    let mut in_word = 0;
    let mut at = 0;
    while at < bytes.len() {
        let run = &bytes[at..bytes.len().min(at + RUN_BYTES_MAX)];
        let mut sums = 0_u64;
        let mut length = 0;
        for byte in run {
            let Some(class) = PACKED.get(usize::from(*byte)) else { break };
            let is_letter = class & 1;
            sums += class + ((is_letter & (in_word ^ 1)) << 48);
            in_word = is_letter;
            length += 1;
        }
        at += length;
        let part = |sum: u32| ((sums >> (16 * sum)) & 0xFFFF) as u32;
        count.letters += part(0);
        count.digits += part(1);
        count.marks += part(2);
        count.words += part(3);
        count.mass += 2 * part(3);
        if length < run.len()
            && let Some(c) = text[at..].chars().next()
        {
            at += c.len_utf8();
            in_word = count.take(class_of(c), in_word);
        }
    }
    let last = text.trim_end_matches([' ', '\n']).chars().next_back();
    count.ends_sentence = last.is_some_and(|c| class_of(c) == Class::Stop);
    count
}

impl Count {
    /// Counts one character; whether a word goes on after it, as 0 or 1.
    fn take(&mut self, class: Class, in_word: u64) -> u64 {
        let is_letter = matches!(class, Class::Letter | Class::Digit);
        let is_start = is_letter && in_word == 0;
        let is_sign = class == Class::Sign;
        self.letters += u32::from(is_letter);
        self.digits += u32::from(class == Class::Digit);
        self.marks += u32::from(matches!(class, Class::Mark | Class::Stop));
        self.words += u32::from(is_start) + u32::from(is_sign);
        self.mass += 2 * u32::from(is_start) + u32::from(is_sign);
        u64::from(is_letter)
    }
}

/// What each byte of ASCII adds: to the letters, and in 16 bits each to digits and marks.
const PACKED: [u64; 128] = {
    let mut packed = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        packed[byte] = match ASCII[byte] {
            Class::Letter => 1,
            Class::Digit => 1 | 1 << 16,
            Class::Mark | Class::Stop => 1 << 32,
            Class::Sign | Class::Gap => 0,
        };
        byte += 1;
    }
    packed
};

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
    if let Some(class) = ASCII.get(c as usize) {
        return *class;
    }
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
        // Longer than sums of 16 bits hold.
        let long = count(&"ten words, 1 of 22. ".repeat(20_000));
        assert_eq!((long.words, long.marks, long.digits), (100_000, 40_000, 60_000));
        let greek = count("Το συμβούλιο ψήφισε, την Τρίτη");
        assert_eq!((greek.words, greek.marks, greek.ends_sentence), (5, 1, false));
    }
}
