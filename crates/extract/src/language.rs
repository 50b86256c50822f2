//! Languages: of a text, by its letters and how they follow each other, and as pages declare them.
//!
//! A language has one name here whoever named it: BCP 47's, which takes ISO 639-1 (`en`, `zh`) and,
//! for languages without such a code, ISO 639-3.

/// Characters that are looked at: more would not make it surer, only slower.
const CHARS_MAX: usize = 600;
/// Characters of a text at least; shorter ones say too little.
const CHARS_MIN: usize = 40;

/// The language as BCP 47 names it (`en`, `zh`), and how sure that is, 0 to 1.
pub(super) fn detect(text: &str) -> Option<(&'static str, f32)> {
    let end = text.char_indices().nth(CHARS_MAX).map_or(text.len(), |(at, _)| at);
    let sample = &text[..end];
    sample.chars().nth(CHARS_MIN)?;
    let found = whatlang::detect(sample)?;
    Some((short(found.lang().code()), found.confidence() as f32))
}

/// How sure a language must be for somebody to be told of it.
const SURE_MIN: f32 = 0.8;

/// The language of a text as BCP 47 names it, where that is plain.
pub fn of_text(text: &str) -> Option<&'static str> {
    detect(text).filter(|(_, sure)| *sure >= SURE_MIN).map(|(language, _)| language)
}

/// A declared language in BCP 47's form: `en_us` and `ENG-US` are `en-US`. None of what is none,
/// such as `English` or `x-default`.
pub fn tag(declared: &str) -> Option<String> {
    let declared = declared.split([',', ';']).next().unwrap_or_default().trim();
    let mut parts = declared.split(['-', '_', '.']);
    let primary = parts.next()?.to_ascii_lowercase();
    if !(2..=3).contains(&primary.len()) || !primary.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let mut tag = short(&primary).to_owned();
    for part in parts.take_while(|part| !part.eq_ignore_ascii_case("utf")) {
        let is_letters = part.bytes().all(|b| b.is_ascii_alphabetic());
        let is_region = part.len() == 2 && is_letters
            || part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit());
        if is_region {
            tag.push('-');
            tag.push_str(&part.to_ascii_uppercase());
            break;
        }
        if part.len() == 4 && is_letters {
            tag.push('-');
            tag.push_str(&part[..1].to_ascii_uppercase());
            tag.push_str(&part[1..].to_ascii_lowercase());
        }
    }
    Some(tag)
}

/// The primary language of a tag: `en` of `en-US`.
pub fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

/// The ISO 639-3 code of a language by its primary tag: `eng` of `en`.
pub fn iso_639_3(primary: &str) -> Option<&str> {
    if primary.len() == 3 {
        return Some(primary);
    }
    CODES.iter().find(|(short, _)| *short == primary).map(|(_, long)| *long)
}

/// The shortest code of a language given by any code of ISO 639.
fn short(code: &str) -> &str {
    let other = match code {
        // Bibliographic codes, and codes for what 639-1 takes as one language.
        "ger" => "de",
        "fre" => "fr",
        "chi" | "cmn" => "zh",
        "cze" => "cs",
        "dut" => "nl",
        "gre" => "el",
        "rum" => "ro",
        "slo" => "sk",
        "per" | "pes" => "fa",
        "arb" => "ar",
        "ice" => "is",
        "arm" => "hy",
        "baq" => "eu",
        "may" | "zsm" => "ms",
        "wel" => "cy",
        "geo" => "ka",
        "mac" => "mk",
        "alb" => "sq",
        "bur" => "my",
        "ekk" => "et",
        "lvs" => "lv",
        "npi" => "ne",
        "ory" => "or",
        "swh" => "sw",
        "twi" => "ak",
        // Withdrawn codes that are still written.
        "iw" => "he",
        "in" => "id",
        "ji" => "yi",
        _ => "",
    };
    if !other.is_empty() {
        return other;
    }
    CODES.iter().find(|(_, long)| *long == code).map_or(code, |(short, _)| short)
}

/// ISO 639-1 and 639-3 of languages that are written on the web.
#[rustfmt::skip]
const CODES: [(&str, &str); 116] = [
    ("af", "afr"), ("ak", "aka"), ("am", "amh"), ("ar", "ara"), ("as", "asm"), ("az", "aze"),
    ("be", "bel"), ("bg", "bul"), ("bn", "ben"), ("bo", "bod"), ("br", "bre"), ("bs", "bos"),
    ("ca", "cat"), ("co", "cos"), ("cs", "ces"), ("cy", "cym"), ("da", "dan"), ("de", "deu"),
    ("el", "ell"), ("en", "eng"), ("eo", "epo"), ("es", "spa"), ("et", "est"), ("eu", "eus"),
    ("fa", "fas"), ("fi", "fin"), ("fo", "fao"), ("fr", "fra"), ("fy", "fry"), ("ga", "gle"),
    ("gd", "gla"), ("gl", "glg"), ("gu", "guj"), ("ha", "hau"), ("he", "heb"), ("hi", "hin"),
    ("hr", "hrv"), ("ht", "hat"), ("hu", "hun"), ("hy", "hye"), ("ia", "ina"), ("id", "ind"),
    ("ig", "ibo"), ("is", "isl"), ("it", "ita"), ("ja", "jpn"), ("jv", "jav"), ("ka", "kat"),
    ("kk", "kaz"), ("km", "khm"), ("kn", "kan"), ("ko", "kor"), ("ku", "kur"), ("ky", "kir"),
    ("la", "lat"), ("lb", "ltz"), ("lo", "lao"), ("lt", "lit"), ("lv", "lav"), ("mg", "mlg"),
    ("mi", "mri"), ("mk", "mkd"), ("ml", "mal"), ("mn", "mon"), ("mr", "mar"), ("ms", "msa"),
    ("mt", "mlt"), ("my", "mya"), ("nb", "nob"), ("ne", "nep"), ("nl", "nld"), ("nn", "nno"),
    ("no", "nor"), ("oc", "oci"), ("or", "ori"), ("pa", "pan"), ("pl", "pol"), ("ps", "pus"),
    ("pt", "por"), ("qu", "que"), ("rm", "roh"), ("ro", "ron"), ("ru", "rus"), ("rw", "kin"),
    ("sa", "san"), ("sd", "snd"), ("si", "sin"), ("sk", "slk"), ("sl", "slv"), ("sn", "sna"),
    ("so", "som"), ("sq", "sqi"), ("sr", "srp"), ("su", "sun"), ("sv", "swe"), ("sw", "swa"),
    ("ta", "tam"), ("te", "tel"), ("tg", "tgk"), ("th", "tha"), ("ti", "tir"), ("tk", "tuk"),
    ("tl", "tgl"), ("tr", "tur"), ("tt", "tat"), ("ug", "uig"), ("uk", "ukr"), ("ur", "urd"),
    ("uz", "uzb"), ("vi", "vie"), ("wo", "wol"), ("xh", "xho"), ("yi", "yid"), ("yo", "yor"),
    ("zh", "zho"), ("zu", "zul"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_has_one_name_whoever_named_it() {
        for (declared, named) in [
            ("en", "en"),
            ("EN", "en"),
            ("eng", "en"),
            ("en_us", "en-US"),
            ("en-GB, de", "en-GB"),
            ("en_US.UTF-8", "en-US"),
            ("deu", "de"),
            ("ger", "de"),
            ("zh-hans-cn", "zh-Hans-CN"),
            ("cmn", "zh"),
            ("es-419", "es-419"),
            ("iw", "he"),
            ("gsw", "gsw"),
        ] {
            assert_eq!(tag(declared).as_deref(), Some(named), "{declared}");
        }
        for declared in ["", "English", "x-default", "e", "12", "{{lang}}"] {
            assert_eq!(tag(declared), None, "{declared}");
        }
        let text = "The sea rises and falls twice a day, drawn by the moon, as everybody knows.";
        assert_eq!(detect(text).map(|(language, _)| language), Some("en"));
        assert_eq!(iso_639_3(primary("en-US")), Some("eng"));
        for (short, long) in CODES {
            assert_eq!((tag(long).as_deref(), iso_639_3(short)), (Some(short), Some(long)));
        }
    }
}
