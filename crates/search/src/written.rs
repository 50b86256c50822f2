//! What is written of a page into the index: its tokens, and tags that tell what it is.

use std::collections::BTreeSet;

use rhumb_page::url::Url;

use crate::language::LanguageTag as Language;
use crate::page::SearchPage;
use crate::schema::{HEADING_TIMES, PageTag, TITLE_TIMES};
use crate::stemming::Stems;
use crate::stream::Lines;
use crate::tokens::{each_token, words};

/// Tokens of both fields, as lines, and tags.
pub struct IndexedText {
    pub words: String,
    pub exact: String,
    pub tags: BTreeSet<String>,
}

/// Words of a host name that say nothing.
const HOST_WORDS_LEFT_OUT: [&str; 2] = ["www", "com"];

pub fn written(page: &SearchPage, language: Language, stems: &mut Stems) -> IndexedText {
    let mut both = Both { stems, language, words: Lines::default(), exact: Lines::default() };
    for _ in 1..TITLE_TIMES {
        both.stemmed(&page.title);
    }
    both.part(&page.title);
    for _ in 1..HEADING_TIMES {
        // They stand in the text, too.
        page.headings.iter().for_each(|heading| both.stemmed(heading));
    }
    page.anchors.iter().for_each(|anchor| both.part(anchor));
    let (host, url_words) = url_words(&page.url);
    both.stemmed(&url_words.join(" "));
    both.part(&page.text);
    let (words, exact) = (both.words.take(), both.exact.take());
    IndexedText { words, exact, tags: tags(page, language, stems, &host, &url_words) }
}

struct Both<'a> {
    stems: &'a mut Stems,
    language: Language,
    words: Lines,
    exact: Lines,
}

impl Both<'_> {
    /// A part of the page that quotes can find.
    fn part(&mut self, text: &str) {
        self.stemmed(text);
        self.exact.gap();
        each_token(text, |token| self.exact.push(|line| line.push_str(token.word)));
    }

    /// A part of which stems alone are written.
    fn stemmed(&mut self, text: &str) {
        self.words.gap();
        each_token(text, |token| {
            if token.is_pair {
                self.words.push(|line| line.push_str(token.word));
            } else {
                self.words.push(|line| self.stems.stem_into(token.word, self.language, line));
            }
        });
    }
}

/// Whether these texts of links say a word of a page that its title, its headings, its address and
/// the texts that it was written with lack.
pub fn says_more(page: &SearchPage, anchors: &[String]) -> bool {
    let new: Vec<&String> = anchors.iter().filter(|text| !page.anchors.contains(text)).collect();
    let named = std::iter::once(&page.title).chain(&page.headings).chain(&page.anchors);
    let mut known: BTreeSet<String> = url_words(&page.url).1.into_iter().collect();
    named.for_each(|text| known.extend(words(text)));
    new.into_iter().flat_map(|text| words(text)).any(|word| !known.contains(&word))
}

/// The host of a URL, and the words of its host and path.
pub fn url_words(url: &str) -> (String, Vec<String>) {
    let Ok(url) = Url::parse(url) else { return (String::new(), Vec::new()) };
    let host = url.host().to_owned();
    let labels = host.rsplit_once('.').map_or(host.as_str(), |(labels, _)| labels);
    let mut found = words(labels);
    found.retain(|word| !HOST_WORDS_LEFT_OUT.contains(&word.as_str()));
    found.extend(words(url.path()));
    (host, found)
}

fn tags(
    page: &SearchPage,
    language: Language,
    stems: &mut Stems,
    host: &str,
    url_words: &[String],
) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    if !host.is_empty() {
        tags.insert(PageTag::Host.text(host));
        let dots = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
        tags.extend(std::iter::once(host).chain(dots).map(|site| PageTag::Site.text(site)));
    }
    if !language.is_empty() {
        tags.insert(PageTag::Language.text(language));
    }
    if !page.kind.is_empty() {
        tags.insert(PageTag::Kind.text(&page.kind));
    }
    tags.extend(url_words.iter().map(|word| PageTag::InUrl.text(word)));
    let title = words(&page.title);
    tags.extend(title.iter().map(|word| PageTag::InTitle.text(&stems.stem(word, language))));
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_stands_three_times_and_a_url_gives_words_and_tags() {
        let page = SearchPage {
            url: "https://www.tide-tables.example.org/spring/Neap_tides.html".to_owned(),
            title: "Tides".to_owned(),
            text: "Twice a day".to_owned(),
            ..SearchPage::default()
        };
        let written = written(&page, "en", &mut Stems::default());
        let titles = written.words.lines().filter(|line| *line == "tide").count();
        assert_eq!(titles, 3 + 2, "of the title and of the URL");
        assert_eq!(written.exact, "tides\n\u{1}\ntwice\na\nday\n");
        let has = |tag: &str| written.tags.contains(tag);
        assert!(has("h:www.tide-tables.example.org") && has("s:example.org") && has("s:org"));
        assert!(has("u:neap") && has("t:tide") && has("l:en") && !has("u:www"));
    }
}
