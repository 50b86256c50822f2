//! Two texts side by side: what of each the other has, too, by the same runs of four words that
//! their resemblance is measured by.

use crate::page::{Pair, Side, TextRun};
use std::collections::HashSet;

/// Words that make a shingle, as everywhere.
const SHINGLE: usize = 4;
/// Bytes of a text that are shown.
const SHOWN_BYTES_MAX: usize = 60_000;

pub fn pair(left: (&str, &str), right: (&str, &str)) -> Pair {
    let (cut_left, cut_right) = (cut(left.1), cut(right.1));
    let (words_left, words_right) = (words(cut_left), words(cut_right));
    let (of_left, of_right) = (shingles(&words_left), shingles(&words_right));
    let side = |(url, whole): (&str, &str), text: &str, words: &[Word], other: &HashSet<_>| Side {
        url: url.to_owned(),
        runs: runs(text, &shared(words, other)),
        is_cut: text.len() < whole.len(),
    };
    Pair {
        left: side(left, cut_left, &words_left, &of_right),
        right: side(right, cut_right, &words_right, &of_left),
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN_BYTES_MAX)]
}

struct Word {
    start: usize,
    end: usize,
    small: String,
}

fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (letter.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(Word { start: from, end: at, small: text[from..at].to_lowercase() });
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn shingles(words: &[Word]) -> HashSet<Vec<&str>> {
    windows(words).map(|(_, shingle)| shingle).collect()
}

/// Each shingle, with the number of its first word; of a short text, all of it.
fn windows(words: &[Word]) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let length = SHINGLE.min(words.len()).max(1);
    words
        .windows(length)
        .enumerate()
        .map(|(at, window)| (at, window.iter().map(|word| word.small.as_str()).collect()))
}

/// Stretches of the text whose shingles the other has.
fn shared(words: &[Word], other: &HashSet<Vec<&str>>) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for (at, shingle) in windows(words) {
        if !other.contains(&shingle) {
            continue;
        }
        let (start, end) = (words[at].start, words[at + shingle.len() - 1].end);
        match stretches.last_mut().filter(|(_, last)| start <= *last) {
            Some((_, last)) => *last = end,
            None => stretches.push((start, end)),
        }
    }
    stretches
}

fn runs(text: &str, shared: &[(usize, usize)]) -> Vec<TextRun> {
    let mut runs = Vec::new();
    let mut at = 0;
    let mut push = |from: usize, to: usize, is_shared: bool| {
        if from < to {
            runs.push(TextRun { text: text[from..to].to_owned(), is_shared });
        }
    };
    for (start, end) in shared {
        push(at, *start, false);
        push(*start, *end, true);
        at = *end;
    }
    push(at, text.len(), false);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_texts_have_is_marked_in_both() {
        let one = "The moon draws the sea, twice a day.";
        let other = "Here the Moon draws the sea – once a day.";
        let pair = pair(("a", one), ("b", other));
        let marked = |side: &Side| -> Vec<String> {
            side.runs.iter().filter(|run| run.is_shared).map(|run| run.text.clone()).collect()
        };
        assert_eq!(marked(&pair.left), ["The moon draws the sea"]);
        assert_eq!(marked(&pair.right), ["the Moon draws the sea"]);
        let whole = |side: &Side| side.runs.iter().map(|run| run.text.as_str()).collect::<String>();
        assert_eq!((whole(&pair.left), whole(&pair.right)), (one.to_owned(), other.to_owned()));
    }

    #[test]
    fn texts_without_words_and_short_ones_are_pairs_too() {
        let of = |one, other| pair(("a", one), ("b", other));
        assert!(of("", "").left.runs.is_empty());
        assert!(of("moon", "moon").left.runs[0].is_shared);
        assert!(!of("moon", "sea").left.runs[0].is_shared);
        assert!(of(&"é ".repeat(100_000), "é").left.is_cut);
    }
}
