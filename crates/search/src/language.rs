//! The language of a page, as two letters: declared, detected, or unknown.

use frostem::Algorithm;
use whatlang::Lang;

/// Bytes that are looked at to detect a language: more cost time and hardly change the answer.
const SAMPLE_BYTES: usize = 500;
/// A detection that is less sure than this does not count.
const CONFIDENCE_MIN: f64 = 0.1;

/// A language by its two letters; `""` is unknown.
pub type LanguageTag = &'static str;

/// Those with a stemmer.
const STEMMED: [(LanguageTag, Algorithm, Lang); 24] = [
    ("ar", Algorithm::Arabic, Lang::Ara),
    ("hy", Algorithm::Armenian, Lang::Hye),
    ("ca", Algorithm::Catalan, Lang::Cat),
    ("cs", Algorithm::Czech, Lang::Ces),
    ("da", Algorithm::Danish, Lang::Dan),
    ("nl", Algorithm::Dutch, Lang::Nld),
    ("en", Algorithm::English, Lang::Eng),
    ("et", Algorithm::Estonian, Lang::Est),
    ("fi", Algorithm::Finnish, Lang::Fin),
    ("fr", Algorithm::French, Lang::Fra),
    ("de", Algorithm::German, Lang::Deu),
    ("el", Algorithm::Greek, Lang::Ell),
    ("hi", Algorithm::Hindi, Lang::Hin),
    ("hu", Algorithm::Hungarian, Lang::Hun),
    ("it", Algorithm::Italian, Lang::Ita),
    ("lt", Algorithm::Lithuanian, Lang::Lit),
    ("no", Algorithm::Norwegian, Lang::Nob),
    ("pt", Algorithm::Portuguese, Lang::Por),
    ("ro", Algorithm::Romanian, Lang::Ron),
    ("ru", Algorithm::Russian, Lang::Rus),
    ("es", Algorithm::Spanish, Lang::Spa),
    ("sv", Algorithm::Swedish, Lang::Swe),
    ("ta", Algorithm::Tamil, Lang::Tam),
    ("tr", Algorithm::Turkish, Lang::Tur),
];

/// Those without one that pages are often in: words of them are indexed as they are.
const UNSTEMMED: [(LanguageTag, Lang); 8] = [
    ("zh", Lang::Cmn),
    ("ja", Lang::Jpn),
    ("ko", Lang::Kor),
    ("th", Lang::Tha),
    ("uk", Lang::Ukr),
    ("pl", Lang::Pol),
    ("he", Lang::Heb),
    ("vi", Lang::Vie),
];

/// The algorithm that stems a language.
pub fn algorithm(tag: &str) -> Option<Algorithm> {
    STEMMED.iter().find(|(known, ..)| *known == tag).map(|(_, algorithm, _)| *algorithm)
}

/// What a tag like `de-AT` stands for; `""` if it is none that is known.
pub fn of_tag(tag: &str) -> LanguageTag {
    let primary = tag.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let primary = if primary == "nb" || primary == "nn" { "no".to_owned() } else { primary };
    let known = STEMMED.iter().map(|(tag, ..)| *tag).chain(UNSTEMMED.iter().map(|(tag, _)| *tag));
    known.into_iter().find(|known| *known == primary).unwrap_or_default()
}

/// What a text is written in; `""` if that is not certain.
pub fn detect(text: &str) -> LanguageTag {
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES)];
    let Some(info) = whatlang::detect(sample) else { return "" };
    if info.confidence() < CONFIDENCE_MIN {
        return "";
    }
    let stemmed = STEMMED.iter().map(|(tag, _, lang)| (*tag, *lang));
    let mut known = stemmed.chain(UNSTEMMED);
    known.find(|(_, lang)| *lang == info.lang()).map_or("", |(tag, _)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_declared_or_detected() {
        assert_eq!(of_tag("de-AT"), "de");
        assert_eq!(of_tag("EN_us"), "en");
        assert_eq!(of_tag("nb"), "no");
        assert_eq!(of_tag("tlh"), "");
        let english = "The sea rises and falls twice a day, drawn by the moon and by the sun.";
        assert_eq!(detect(english), "en");
        let german = "Das Meer steigt und fällt zweimal am Tag, weil der Mond und auch die Sonne es \
                      anziehen, und wer am Strand wohnt, der weiß das von Kindheit an. Zwischen \
                      zwei Hochwassern vergehen etwas mehr als zwölf Stunden, und deshalb kommt \
                      die Flut an jedem Tag ungefähr fünfzig Minuten später als am Tag davor.";
        assert_eq!(detect(german), "de");
        assert_eq!(detect("12345"), "");
    }
}
