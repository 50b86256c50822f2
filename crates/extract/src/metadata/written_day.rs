//! Days as people write them: `1 May 2024`, `May 1st, 2024`, `1. Mai 2024`, `01.05.2024`,
//! `2024年5月1日`.
//!
//! The months are those of two dozen languages of Europe, by the letters they begin with, in the
//! cases that dates use. A word is only taken for a month between a day and a year, so a few
//! letters are enough. Where two numbers could each be the month, nothing is read: the order
//! differs from country to country.

/// Bytes of a text that are looked at: a date that comes later is part of a sentence.
const TEXT_BYTES_MAX: usize = 160;
/// Pieces of a text that are looked at.
const PIECES_MAX: usize = 40;

/// The day that a text names first, as `2024-05-01`.
pub(super) fn day_in(text: &str) -> Option<String> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    // Every way to write a day has a year of four digits.
    if !text.as_bytes().windows(4).any(|digits| digits.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let pieces: Vec<Piece<'_>> = pieces(text).take(PIECES_MAX).collect();
    let (year, month, day) = (0..pieces.len()).find_map(|at| day_at(&pieces[at..]))?;
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// A number, and how many digits it has.
    Number(u32, usize),
    Word(&'t str),
    Sign(char),
}

/// Numbers, words and signs; white space only parts them.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let is_like = |c: char| match first {
            '0'..='9' => c.is_ascii_digit(),
            _ if is_unit(first) => false,
            _ => c.is_alphabetic() && first.is_alphabetic() && !is_unit(c),
        };
        let after = rest[first.len_utf8()..].find(|c| !is_like(c));
        let end = after.map_or(rest.len(), |after| first.len_utf8() + after);
        let (piece, next) = rest.split_at(end);
        rest = next;
        Some(match first {
            '0'..='9' => Piece::Number(piece.parse().unwrap_or(u32::MAX), piece.len()),
            _ if first.is_alphabetic() && !is_unit(first) => Piece::Word(piece),
            _ => Piece::Sign(first),
        })
    })
}

/// What Chinese, Japanese and Korean write behind a year, a month and a day.
fn is_unit(c: char) -> bool {
    matches!(c, '年' | '月' | '日' | '년' | '월' | '일')
}

/// The day that these pieces begin with.
fn day_at(pieces: &[Piece<'_>]) -> Option<(u32, u32, u32)> {
    use Piece::{Number, Sign, Word};
    let is_sign = |c: char| matches!(c, '-' | '/' | '.' | '‐' | '–') || is_unit(c);
    let (year, month, day) = match *pieces {
        [Number(year, 4), Sign(a), Number(month, _), Sign(b), Number(day, 1..=2), ..]
            if is_sign(a) && is_sign(b) =>
        {
            (year, month, day)
        }
        [Number(a, 1..=2), Sign(first), Number(b, 1..=2), Sign(second), Number(year, 4), ..]
            if is_sign(first) && first == second =>
        {
            match (a, b) {
                // Where dots part a date, the day comes first.
                _ if first == '.' || a == b => (year, b, a),
                (13.., _) => (year, b, a),
                (_, 13..) => (year, a, b),
                _ => return None,
            }
        }
        [Number(day, 1..=2), ..] => {
            let rest = without_filling(&pieces[1..]);
            let (Some(Word(name)), rest) = (rest.first(), rest.get(1..)?) else { return None };
            let (month, rest) = (month_named(name)?, without_filling(rest));
            let Some(Number(year, 4)) = rest.first() else { return None };
            (*year, month, day)
        }
        [Word(name), ..] => {
            let month = month_named(name)?;
            let rest = without_filling(&pieces[1..]);
            let (Some(Number(day, 1..=2)), rest) = (rest.first(), rest.get(1..)?) else {
                return None;
            };
            let Some(Number(year, 4)) = without_filling(rest).first() else { return None };
            (*year, month, *day)
        }
        _ => return None,
    };
    let is_day = (1990..2100).contains(&year) && (1..=12).contains(&month);
    (is_day && (1..=31).contains(&day)).then_some((year, month, day))
}

/// Passes over the one sign and the one short word that may stand within a date: `1st of May`,
/// `1 de mayo de 2024`, `1. Mai`, `May 1st, 2024`.
fn without_filling<'p, 't>(mut pieces: &'p [Piece<'t>]) -> &'p [Piece<'t>] {
    const WORDS: [&str; 13] =
        ["st", "nd", "rd", "th", "er", "de", "del", "of", "º", "ª", "di", "ta", "g"];
    for _ in 0..3 {
        match pieces {
            [Piece::Sign('.' | ',' | '-' | '/' | 'º'), rest @ ..] => pieces = rest,
            [Piece::Word(word), rest @ ..] if WORDS.contains(&word.to_lowercase().as_str()) => {
                pieces = rest;
            }
            _ => break,
        }
    }
    pieces
}

/// A month by its name: the longest beginning that fits.
fn month_named(name: &str) -> Option<u32> {
    let name = name.to_lowercase();
    let fits =
        MONTHS.iter().flat_map(|(month, names)| names.iter().map(move |n| (n.len(), *month, *n)));
    fits.filter(|(_, _, beginning)| name.starts_with(beginning)).max().map(|(_, month, _)| month)
}

/// What the names of months begin with.
const MONTHS: [(u32, &[&str]); 12] = [
    (
        1,
        &[
            "jan", "jän", "jaan", "ene", "gen", "ian", "sty", "led", "oca", "sij", "tam", "янв",
            "яну", "січ", "ιαν",
        ],
    ),
    (
        2,
        &[
            "feb", "fev", "fév", "fev", "lut", "úno", "şub", "velj", "hel", "veeb", "фев", "лют",
            "φεβ",
        ],
    ),
    (3, &["mar", "mär", "mrt", "maa", "bře", "ožu", "már", "мар", "бер", "μαρ"]),
    (4, &["apr", "avr", "abr", "kwi", "dub", "nis", "trav", "huh", "ápr", "апр", "кві", "απρ"]),
    (
        5,
        &[
            "may", "mai", "maj", "mei", "mag", "kvě", "svi", "tou", "máj", "мая", "май", "мај",
            "тра", "μαΐ", "μαϊ", "μάι",
        ],
    ),
    (
        6,
        &[
            "jun", "juin", "giu", "cze", "červn", "červen", "haz", "lipn", "kes", "jún", "июн",
            "юни", "јун", "чер", "ιουν",
        ],
    ),
    (
        7,
        &[
            "jul",
            "juil",
            "lug",
            "lip",
            "července",
            "červenec",
            "tem",
            "srpnj",
            "srpanj",
            "hei",
            "júl",
            "июл",
            "юли",
            "јул",
            "лип",
            "ιουλ",
        ],
    ),
    (8, &["aug", "aoû", "aou", "ago", "sie", "srp", "ağu", "kol", "elo", "авг", "сер", "αυγ"]),
    (9, &["sep", "set", "wrz", "zář", "eyl", "ruj", "syy", "sze", "сен", "сеп", "вер", "σεπ"]),
    (10, &["oct", "okt", "ott", "out", "paź", "říj", "eki", "lok", "окт", "жов", "οκτ"]),
    (11, &["nov", "lis", "kas", "marras", "stu", "ноя", "ное", "нов", "лис", "νοε"]),
    (
        12,
        &[
            "dec", "dez", "dic", "déc", "gru", "pro", "ara", "jou", "det", "дек", "дец", "гру",
            "δεκ",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_many_languages_and_what_could_mean_two_is_not() {
        for text in [
            "Published May 21, 2024 at 10:30",
            "21 May 2024",
            "May 21st 2024 | 5 min read",
            "21. Mai 2024",
            "Dienstag, 21.05.2024, 8 Uhr",
            "21 de mayo de 2024",
            "21 mai 2024 à 10h30",
            "21 maggio 2024",
            "21 maja 2024",
            "21. května 2024",
            "21 мая 2024 г.",
            "21 Mayıs 2024",
            "21. toukokuuta 2024",
            "2024年5月21日",
            "2024년 5월 21일",
            "2024-05-21T10:00",
            "2024/5/21",
            "5/21/2024",
            "21/05/2024",
        ] {
            assert_eq!(day_in(text).as_deref(), Some("2024-05-21"), "{text}");
        }
        for (text, day) in [
            ("1 července 2024", Some("2024-07-01")),
            ("1 června 2024", Some("2024-06-01")),
            ("1er juillet 2024", Some("2024-07-01")),
            ("3 marraskuuta 2024", Some("2024-11-03")),
            ("5/6/2024", None),
            ("12 of 2024 people", None),
            ("May 2024", None),
            ("tel. 30 2024 5599", None),
            ("", None),
            ("ü 1. ü 2. ü 2024", None),
        ] {
            assert_eq!(day_in(text).as_deref(), day, "{text}");
        }
    }
}
