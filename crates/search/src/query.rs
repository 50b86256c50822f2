//! What a query says. There are no wrong queries: what is no operator is words, and what was
//! understood is told.
//!
//! `words`, `"phrases"`, `-not`, `one OR other`, and `site: host: inurl: intitle: lang: type:
//! before: after: similar:`. A colon behind anything else, or before a value that is none (`before:
//! soon`), is punctuation.

use std::fmt::Write;

use rhumb_page::calendar::Date;
use rhumb_page::url::Url;

use crate::beside::day_of;
use crate::language;
use crate::tokens::{each_token, words};

/// Words of a query; more are left out, and counted.
pub const WORDS_MAX: usize = 32;
/// Phrases and filters of a query.
pub const OPERATORS_MAX: usize = 32;
/// Bytes that are read of a query.
pub const QUERY_BYTES_MAX: usize = 1 << 20;

/// One thing that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    /// In small letters, not stemmed.
    Word(String),
    /// Words in a row, as they stand.
    Phrase(Vec<String>),
    Site(String),
    Host(String),
    /// All of these words.
    InUrl(Vec<String>),
    InTitle(Vec<String>),
    Language(String),
    Kind(String),
    /// Days since 1970.
    Before(i32),
    After(i32),
    /// The page of this URL or id.
    Similar(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryItem {
    pub atom: Atom,
    pub is_excluded: bool,
}

/// A query: of each group one item at least is asked for, of words alone any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub groups: Vec<Vec<QueryItem>>,
    /// Words and operators beyond the limits.
    pub left_out: usize,
}

/// A part between white space, as written.
struct Part<'a> {
    is_excluded: bool,
    field: Option<&'a str>,
    value: &'a str,
    is_quoted: bool,
}

impl Query {
    pub fn parse(text: &str) -> Query {
        let mut query = Query::default();
        let mut rest = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        let (mut word_count, mut operators, mut joins) = (0, 0, false);
        while let Some((part, after)) = next_part(rest) {
            rest = after;
            let is_plain = part.field.is_none() && !part.is_quoted && !part.is_excluded;
            if is_plain && part.value == "OR" {
                joins = !query.groups.is_empty() && !after.trim().is_empty();
                continue;
            }
            for item in items(&part) {
                let count = match &item.atom {
                    Atom::Word(_) => &mut word_count,
                    Atom::Phrase(words) if words.len() > WORDS_MAX => &mut operators,
                    _ => &mut operators,
                };
                let limit =
                    if matches!(item.atom, Atom::Word(_)) { WORDS_MAX } else { OPERATORS_MAX };
                if *count >= limit {
                    query.left_out += 1;
                    continue;
                }
                *count += 1;
                query.push(item, joins);
                joins = false;
            }
        }
        query
    }

    fn push(&mut self, item: QueryItem, joins: bool) {
        match self.groups.last_mut().filter(|_| joins) {
            Some(group) => group.push(item),
            None => self.groups.push(vec![item]),
        }
    }

    /// Whether it is confined to a host or a site.
    pub fn names_a_host(&self) -> bool {
        let names = |item: &QueryItem| {
            !item.is_excluded && matches!(item.atom, Atom::Site(_) | Atom::Host(_))
        };
        self.groups.iter().flatten().any(names)
    }

    /// What was understood, in words.
    pub fn understood(&self) -> String {
        let mut told: Vec<String> = Vec::new();
        let is_word = |group: &[QueryItem]| {
            matches!(group, [QueryItem { atom: Atom::Word(_), is_excluded: false }])
        };
        let plain: Vec<String> = self
            .groups
            .iter()
            .filter(|group| is_word(group))
            .map(|group| told_of(&group[0]))
            .collect();
        if !plain.is_empty() {
            told.push(format!("words {}", plain.join(", ")));
        }
        for group in self.groups.iter().filter(|group| !is_word(group)) {
            told.push(group.iter().map(told_of).collect::<Vec<_>>().join(" or "));
        }
        if told.is_empty() {
            told.push("nothing to look for".to_owned());
        }
        if self.left_out > 0 {
            told.push(format!("{} more left out", self.left_out));
        }
        told.join("; ")
    }
}

fn told_of(item: &QueryItem) -> String {
    let mut told = String::new();
    if item.is_excluded {
        told.push_str("without ");
    }
    let quoted = |words: &[String]| format!("\"{}\"", words.join(" "));
    let written = match &item.atom {
        Atom::Word(word) => write!(told, "{word}"),
        Atom::Phrase(words) => write!(told, "the phrase {}", quoted(words)),
        Atom::Site(site) => write!(told, "on the site {site}"),
        Atom::Host(host) => write!(told, "on the host {host}"),
        Atom::InUrl(words) => write!(told, "{} in the URL", words.join(" and ")),
        Atom::InTitle(words) => write!(told, "{} in the title", words.join(" and ")),
        Atom::Language(tag) => write!(told, "in the language {tag}"),
        Atom::Kind(kind) => write!(told, "of the type {kind}"),
        Atom::Before(day) => write!(told, "dated before {}", day_text(*day)),
        Atom::After(day) => write!(told, "dated {} or after", day_text(*day)),
        Atom::Similar(url) => write!(told, "like {url}"),
    };
    debug_assert!(written.is_ok(), "a string takes what is written");
    told
}

/// `2024-05-01` of days since 1970.
pub fn day_text(day: i32) -> String {
    Date::of_days(i64::from(day)).to_string()
}

/// `2024-05-01T10:00:00Z` of seconds since 1970; none of 0.
pub fn second_text(seconds: u32) -> Option<String> {
    const DAY: u32 = 86_400;
    let (day, of_day) = ((seconds / DAY) as i32, seconds % DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    (seconds != 0).then(|| format!("{}T{hour:02}:{minute:02}:{second:02}Z", day_text(day)))
}

/// The first part of a text, and what follows it.
fn next_part(text: &str) -> Option<(Part<'_>, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    let (is_excluded, text) = match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|first: char| !first.is_whitespace()) => (true, rest),
        _ => (false, text),
    };
    let word_end = text.find(char::is_whitespace).unwrap_or(text.len());
    let colon = text[..word_end].find(':').filter(|at| FIELDS.contains(&&text[..*at]));
    let (field, value) = match colon {
        Some(at) => (Some(&text[..at]), &text[at + 1..]),
        None => (None, text),
    };
    let (value, is_quoted, rest) = match value.strip_prefix(['"', '“', '”', '„']) {
        Some(inner) => match inner.find(['"', '“', '”']) {
            Some(end) => {
                let close = inner[end..].chars().next().map_or(1, char::len_utf8);
                (&inner[..end], true, &inner[end + close..])
            }
            // Quotes that are not closed close at the end.
            None => (inner, true, ""),
        },
        None => {
            let end = value.find(|at: char| at.is_whitespace() || at == '"');
            let end = end.unwrap_or(value.len());
            (&value[..end], false, &value[end..])
        }
    };
    Some((Part { is_excluded, field, value, is_quoted }, rest))
}

const FIELDS: [&str; 9] =
    ["site", "host", "inurl", "intitle", "lang", "type", "before", "after", "similar"];

/// What a part asks for.
fn items(part: &Part<'_>) -> Vec<QueryItem> {
    let with = |atom: Atom| vec![QueryItem { atom, is_excluded: part.is_excluded }];
    if let Some(field) = part.field
        && let Some(atom) = filter(field, part.value)
    {
        return with(atom);
    }
    if part.is_quoted && part.field.is_none() {
        let mut words = quoted_words(part.value);
        words.truncate(WORDS_MAX);
        return if words.is_empty() { Vec::new() } else { with(Atom::Phrase(words)) };
    }
    let field = part.field.unwrap_or_default();
    let mut found = words(field);
    found.extend(query_words(part.value));
    if part.is_excluded && found.len() > 1 {
        return with(Atom::Phrase(found));
    }
    let item = |word| QueryItem { atom: Atom::Word(word), is_excluded: part.is_excluded };
    found.into_iter().map(item).collect()
}

/// Words of a query: of a run of pairs, its last character is looked for only if it is alone.
fn query_words(text: &str) -> Vec<String> {
    let (mut words, mut pair_end) = (Vec::new(), None);
    each_token(text, |token| {
        let follows = token.is_pair && pair_end == Some(token.end);
        pair_end = token.is_pair.then_some(token.end);
        if !follows {
            words.push(token.word.to_owned());
        }
    });
    words
}

/// Words of a phrase, in their order.
fn quoted_words(text: &str) -> Vec<String> {
    query_words(text)
}

fn filter(field: &str, value: &str) -> Option<Atom> {
    let small = value.trim().to_lowercase();
    if small.is_empty() {
        return None;
    }
    let day = |text: &str| {
        let is_day = text.starts_with(|first: char| first.is_ascii_digit());
        is_day.then(|| day_of(text)).filter(|day| *day != 0)
    };
    let all_words = || {
        let mut words = words(&small);
        words.truncate(WORDS_MAX);
        Some(words).filter(|words| !words.is_empty())
    };
    Some(match field {
        "site" => Atom::Site(host_of(&small)?),
        "host" => Atom::Host(host_of(&small)?),
        "inurl" => Atom::InUrl(all_words()?),
        "intitle" => Atom::InTitle(all_words()?),
        "lang" => match language::of_tag(&small) {
            "" => return None,
            tag => Atom::Language(tag.to_owned()),
        },
        "type" => Atom::Kind(small),
        "before" => Atom::Before(day(&small)?),
        "after" => Atom::After(day(&small)?),
        "similar" => Atom::Similar(value.trim().to_owned()),
        _ => return None,
    })
}

/// The host in what may be a URL, as URLs have it (`xn--bcher-kva.example` of `bücher.example`);
/// none if there is nothing in its place.
fn host_of(text: &str) -> Option<String> {
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', '?', '#']).next().unwrap_or_default();
    let text = text.strip_prefix("*.").unwrap_or(text).trim_end_matches('.');
    if let Ok(url) = Url::parse(&format!("http://{text}/")) {
        return Some(url.host().to_owned());
    }
    let host = text.rsplit_once(':').map_or(text, |(host, _)| host).trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, understood: &str) {
        assert_eq!(Query::parse(text).understood(), understood, "{text:?}");
    }

    #[test]
    fn queries_are_understood() {
        check("Spring Tides", "words spring, tides");
        check("\"Spring tide\" -moon", "the phrase \"spring tide\"; without moon");
        check("cats OR dogs food", "words food; cats or dogs");
        check("site:https://example.org/a tide", "words tide; on the site example.org");
        check("host:a.example:8080", "on the host a.example");
        check("host:... site:/x", "words host, site, x");
        check("inurl:tide intitle:Moon", "tide in the URL; moon in the title");
        check("inurl:well-known", "well and known in the URL");
        check("-intitle:\"Spring tide\"", "without spring and tide in the title");
        check("site:*.Bücher.example.", "on the site xn--bcher-kva.example");
        check("host:[::1]:80", "on the host [::1]");
        check("lang:de-AT type:PDF", "in the language de; of the type pdf");
        check("after:2024 before:2024-05-01", "dated 2024-01-01 or after; dated before 2024-05-01");
        check("similar:https://e.org/", "like https://e.org/");
        check("東京都", "words 東京, 京都");
        check("猫", "words 猫");
        check("well-known", "words well, known");
        check("-well-known", "without the phrase \"well known\"");
    }

    #[test]
    fn no_query_is_wrong() {
        check("", "nothing to look for");
        check("OR OR - \"\" :", "nothing to look for");
        check("\"never closed", "the phrase \"never closed\"");
        check("lang:tlh before:soon site:", "words lang, tlh, before, soon, site");
        check("http://x.org", "words http, x, org");
        let many = "word ".repeat(100_000);
        let query = Query::parse(&many);
        assert_eq!(query.groups.len(), WORDS_MAX);
        assert!(query.understood().ends_with("99968 more left out"), "{}", query.understood());
    }

    #[test]
    fn days_come_back() {
        for day in [0, 1, 19_782, 11_016, -1] {
            assert_eq!(day_of(&day_text(day)), day);
        }
        assert_eq!(second_text(1_714_557_601).as_deref(), Some("2024-05-01T10:00:01Z"));
        assert_eq!(second_text(0), None);
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "(?s).{0,200}") {
            let _ = Query::parse(&text).understood();
        }

        #[test]
        fn anything_of_operators_is_a_query(
            text in "((-|OR|\"|site:|lang:|before:|similar:|intitle:|a|2024| ){0,12})"
        ) {
            let _ = Query::parse(&text).understood();
        }
    }
}
