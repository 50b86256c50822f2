//! Stems of words, remembered: texts use the same words again and again.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use frostem::Stemmer;

use crate::folding::fold_into;
use crate::language::{self, LanguageTag};

/// Stems remembered of one language; beyond, they are forgotten and computed again.
const REMEMBERED_MAX: usize = 1 << 16;

/// Stems words of all languages.
#[derive(Default)]
pub struct Stems {
    by_language: HashMap<LanguageTag, Language, RandomState>,
}

struct Language {
    stemmer: Option<Stemmer>,
    known: HashMap<Box<str>, Box<str>, RandomState>,
}

impl Stems {
    /// Appends the stem of a word in small letters, without accents.
    pub fn stem_into(&mut self, word: &str, tag: LanguageTag, out: &mut String) {
        let language = self.by_language.entry(tag).or_insert_with(|| Language {
            stemmer: language::algorithm(tag).map(Stemmer::new),
            known: HashMap::default(),
        });
        let Some(stemmer) = &language.stemmer else { return fold_into(word, out) };
        if let Some(stem) = language.known.get(word) {
            out.push_str(stem);
            return;
        }
        let start = out.len();
        fold_into(&stemmer.stem(word), out);
        if language.known.len() >= REMEMBERED_MAX {
            language.known.clear();
        }
        language.known.insert(word.into(), out[start..].into());
    }

    /// The stem of a word in small letters.
    pub fn stem(&mut self, word: &str, tag: LanguageTag) -> String {
        let mut out = String::new();
        self.stem_into(word, tag, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_stemmed_by_their_language() {
        let mut stems = Stems::default();
        assert_eq!(stems.stem("tides", "en"), "tide");
        assert_eq!(stems.stem("tides", "en"), "tide");
        assert_eq!(stems.stem("häuser", "de"), stems.stem("haus", "de"));
        assert_eq!(stems.stem("tides", ""), "tides");
        assert_eq!(stems.stem("東京", "ja"), "東京");
    }
}
