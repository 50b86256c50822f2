//! Who wrote a page, as it shows to its readers: the text of an element that its names mark as the
//! author's, below the heading.
//!
//! The marks are those of markup, not of a language: `rel=author`, `itemprop=author`, and `author`
//! or `byline` in a class. What the text says besides the name (`by`, `von`) is taken off if it is
//! a known word, or if the name alone is a link.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::stated::{Stated, StatedWhere, prefer};
use rhumb_page::html::{EndTag, StartTag, Tag, TextRunToken};

/// Tags behind a heading of the first level in which a byline is looked for, and headings that are
/// looked behind.
const TAGS_MAX: u32 = 250;
const HEADINGS_MAX: u32 = 3;
/// Bytes of a name with what stands around it.
const NAME_BYTES_MAX: usize = 90;
/// Words of a name; a longer text is about the author.
const NAME_WORDS_MAX: usize = 6;

/// Looks for a byline among a page's tokens.
#[derive(Default)]
pub(crate) struct Byline {
    pub author: Option<Stated<String>>,
    tags_left: u32,
    headings: u32,
    open: Option<Open>,
}

/// An element that is marked as the author's, being read.
struct Open {
    tag: Tag,
    /// Elements of the same tag within.
    depth: u32,
    trust: f32,
    source: StatedWhere,
    text: String,
    /// The first link's part of the text.
    link: Option<(usize, usize)>,
    in_link: bool,
}

impl Byline {
    #[inline]
    pub(crate) fn is_looking(&self) -> bool {
        self.tags_left > 0
    }

    pub(super) fn heading(&mut self) {
        if self.headings < HEADINGS_MAX {
            self.headings += 1;
            self.tags_left = TAGS_MAX;
        }
    }

    pub(super) fn start(&mut self, start: &StartTag<'_>) {
        self.tags_left -= 1;
        if self.tags_left == 0 {
            self.open = None;
            return;
        }
        if let Some(open) = &mut self.open {
            open.gap();
            open.depth += u32::from(start.tag == open.tag);
            if start.tag == Tag::A && open.link.is_none() {
                open.in_link = true;
                open.link = Some((open.text.len(), open.text.len()));
            }
        }
        let Some((trust, source)) = mark_of(start) else { return };
        let is_better = self.open.as_ref().is_none_or(|open| trust >= open.trust);
        if is_better && !is_void(start.tag) {
            self.open = Some(Open {
                tag: start.tag,
                depth: 0,
                trust,
                source,
                text: String::new(),
                link: None,
                in_link: false,
            });
        }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &TextRunToken<'_>) {
        if let Some(open) = &mut self.open {
            open.text(&text.decoded());
            if open.text.len() > NAME_BYTES_MAX {
                self.open = None;
            }
        }
    }

    #[inline]
    pub(super) fn end(&mut self, end: &EndTag<'_>) {
        let Some(open) = &mut self.open else { return };
        if end.tag == Tag::A {
            open.in_link = false;
        }
        if end.tag != open.tag {
            return open.gap();
        }
        if open.depth > 0 {
            open.depth -= 1;
        } else if let Some(open) = self.open.take()
            && let Some(name) = open.name()
        {
            prefer(&mut self.author, Stated::new(name, open.source, open.trust));
        }
    }
}

impl Open {
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    fn text(&mut self, text: &str) {
        for word in text.split_inclusive(char::is_whitespace) {
            let trimmed = word.trim_end();
            if self.text.len() > NAME_BYTES_MAX {
                return;
            }
            self.text.push_str(trimmed);
            if trimmed.len() < word.len() {
                self.gap();
            }
        }
        if self.in_link
            && let Some((_, end)) = &mut self.link
        {
            *end = self.text.len();
        }
    }

    /// The name in what was read, if it is one.
    fn name(&self) -> Option<String> {
        let link = self.link.and_then(|(from, to)| self.text.get(from..to));
        link.and_then(name_in).or_else(|| name_in(&self.text))
    }
}

/// Parts of the words that mark an author, whatever their first letter's case.
static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(["uthor", "yline", "sername"]).expect("words that are constants, few of them")
});

/// Whether a text has the first and third letter of one of the [`MARKS`], two bytes apart: many
/// bytes are compared at once, without a branch.
fn may_be_marked(text: &[u8]) -> bool {
    let is_pair = |first: u8, third: u8| {
        (first == b'u') & (third == b'h')
            | (first == b'y') & (third == b'i')
            | (first == b's') & (third == b'r')
    };
    let thirds = text.get(2..).unwrap_or_default();
    text.iter().zip(thirds).fold(0, |found, (a, b)| found | u8::from(is_pair(*a, *b))) != 0
}

/// How far a start tag's names mark the author, if they do.
fn mark_of(start: &StartTag<'_>) -> Option<(f32, StatedWhere)> {
    // Nearly no tag has them: look at the raw text before anything is taken apart.
    if !may_be_marked(start.source().as_bytes()) || !MARKS.is_match(start.source()) {
        return None;
    }
    let mut best: Option<(f32, StatedWhere)> = None;
    for attribute in start.attributes() {
        let value = attribute.raw.to_ascii_lowercase();
        let is_word = || value.split_ascii_whitespace().any(|word| word == "author");
        let mark = match attribute.name.to_ascii_lowercase().as_str() {
            "rel" if is_word() => (0.65, StatedWhere::Element),
            "itemprop" if is_word() => (0.65, StatedWhere::Microdata),
            "class" | "id" => match class_trust(&value) {
                Some(trust) => (trust, StatedWhere::Text),
                None => continue,
            },
            _ => continue,
        };
        if best.is_none_or(|best| mark.0 > best.0) {
            best = Some(mark);
        }
    }
    best
}

/// How far names in a class mark the author. What has to do with an author but is not a name (a
/// picture, a biography) mostly says so.
fn class_trust(names: &str) -> Option<f32> {
    const OTHERS: [&str; 12] = [
        "avatar", "bio", "image", "img", "photo", "social", "desc", "title", "role", "job",
        "follow", "comment",
    ];
    let of_name = |name: &str| {
        let trust = match name {
            _ if OTHERS.iter().any(|other| name.contains(other)) => return None,
            _ if name.contains("author") && name.contains("name") => 0.6,
            "author" => 0.58,
            _ if name.contains("author") => 0.55,
            _ if name.contains("byline") => 0.52,
            _ if name.contains("username") => 0.5,
            _ => return None,
        };
        Some(trust)
    };
    names.split_ascii_whitespace().filter_map(of_name).max_by(f32::total_cmp)
}

fn is_void(tag: Tag) -> bool {
    matches!(tag, Tag::Img | Tag::Input | Tag::Br | Tag::Hr | Tag::Meta | Tag::Link)
}

/// A name without what leads to it; none if the text is no name.
fn name_in(text: &str) -> Option<String> {
    /// `by` in the languages of Europe.
    const BY: [&str; 24] = [
        "by",
        "von",
        "par",
        "por",
        "di",
        "da",
        "door",
        "van",
        "av",
        "af",
        "od",
        "przez",
        "autor",
        "author",
        "auteur",
        "autore",
        "автор",
        "от",
        "de",
        "written",
        "texte",
        "text",
        "tekst",
        "yazan",
    ];
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let is_by = |word: &str| {
        let word = word.trim_matches([':', '|', '-', '–', '—', '•', '·', '/', ',']);
        word.is_empty() || BY.contains(&word.to_lowercase().as_str())
    };
    let named = words.iter().position(|word| !is_by(word))?;
    words.drain(..named);
    let name = words.join(" ");
    let name = name.trim_matches([',', '|', '-', '–', '—', '•', '·', ':', ' ', '/']);
    let is_name = words.len() <= NAME_WORDS_MAX
        && name.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && name.chars().filter(char::is_ascii_digit).count() <= 4
        && !name.contains("//")
        && !name.ends_with(['!', '?', '…']);
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_leads_to_them_and_from_sentences() {
        for (text, name) in [
            ("By Ada King", Some("Ada King")),
            ("von: Ada King,", Some("Ada King")),
            ("— Ада Кинг", Some("Ада Кинг")),
            ("Автор: Ада Кинг", Some("Ада Кинг")),
            ("王小明", Some("王小明")),
            ("by", None),
            ("12 2024", None),
            ("Ada King has written about the tides for many years", None),
        ] {
            assert_eq!(name_in(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn no_mark_is_missed_at_a_glance() {
        for text in [" class=\"post-author\">", " id=Byline>", " class='a UsernameLink'>"] {
            assert!(MARKS.is_match(text) && may_be_marked(text.as_bytes()), "{text}");
        }
        assert!(!may_be_marked(b" class=\"text\" style='x'>") && !may_be_marked(b">"));
    }

    #[test]
    fn a_class_that_names_the_author_is_told_from_one_that_shows_a_picture() {
        assert!(class_trust("post-author-name x") > class_trust("post-author"));
        assert!(class_trust("post-author") > class_trust("byline"));
        assert_eq!(class_trust("author-avatar").or(class_trust("bio-author")), None);
    }
}
