//! What a page says of itself: `<meta name="robots">` and the X-Robots-Tag header.
//!
//! Both are lists of words with commas; the header may address crawlers by name
//! (`otherbot: noindex, nofollow`), and a name holds until the next one. Words that do not concern
//! a crawler's work (`noimageindex`, `max-snippet: 20`, `unavailable_after: …`) are passed over.

use serde::{Deserialize, Serialize};

/// Words looked at in one value; real ones have a handful.
const WORDS_MAX: usize = 256;

/// Words of the form `word: value`, which are no crawler's name.
const WORDS_WITH_VALUE: &[&str] =
    &["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// What a page asks of crawlers, in its head or in its markup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Directives {
    /// Not to be shown in search.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
    /// No copy is to be shown.
    pub noarchive: bool,
}

impl Directives {
    /// Reads the content of a meta element whose name is `robots` or the crawler's.
    pub fn parse_meta(content: &str) -> Directives {
        let mut directives = Directives::default();
        for word in content.split(',').take(WORDS_MAX) {
            directives.add(word.trim());
        }
        directives
    }

    /// What several X-Robots-Tag values ask of the crawler, taken together.
    pub fn of_headers<T: AsRef<str>>(values: impl Iterator<Item = T>, agent: &str) -> Directives {
        values.fold(Directives::default(), |all, value| {
            all.merge(Directives::parse_header(value.as_ref(), agent))
        })
    }

    /// Reads one X-Robots-Tag value for the crawler whose product token is `agent`.
    pub fn parse_header(value: &str, agent: &str) -> Directives {
        let mut directives = Directives::default();
        let mut for_us = true;
        for part in value.split(',').take(WORDS_MAX) {
            let (name, word) = split_name(part);
            if let Some(name) = name {
                for_us = name == "*" || name.eq_ignore_ascii_case(agent);
            }
            if for_us {
                directives.add(word.trim());
            }
        }
        directives
    }

    /// What either of two sources asks for; the stricter wins.
    pub fn merge(self, other: Directives) -> Directives {
        Directives {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }

    fn add(&mut self, word: &str) {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
        self.noarchive |= is("noarchive") || is("nocache");
    }
}

/// Splits `name: word`, if what is before the colon can be a crawler's name.
fn split_name(part: &str) -> (Option<&str>, &str) {
    let Some((name, word)) = part.split_once(':') else {
        return (None, part);
    };
    let name = name.trim();
    let is_token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
    let is_name = !name.is_empty()
        && name.chars().all(is_token)
        && !WORDS_WITH_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known));
    if is_name { (Some(name), word) } else { (None, part) }
}
