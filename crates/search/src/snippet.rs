//! A few sentences of a page that hold most of what a query asks for.

use crate::language::LanguageTag;
use crate::stemming::Stems;
use crate::tokens::each_token;

/// Bytes of a snippet, roughly.
pub const SNIPPET_BYTES: usize = 280;
/// Bytes of one sentence; a longer one is cut between words.
const SENTENCE_BYTES_MAX: usize = 220;
/// Sentences of a snippet.
const SENTENCES: usize = 2;
/// Bytes of a page that are looked at.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// A word that is looked for: its stems by language, and what it weighs.
pub struct Sought {
    pub stems: Vec<String>,
    pub idf: f32,
}

/// The sentences that hold most of the idf of what is sought, in their order; the beginning of the
/// text if none holds any.
pub fn snippet(text: &str, sought: &[Sought], language: LanguageTag, stems: &mut Stems) -> String {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let sentences = sentences(text);
    let mut stem = String::new();
    let mut held: Vec<u64> = vec![0; sentences.len()];
    let mut at = 0;
    each_token(text, |token| {
        while at < sentences.len() && token.start >= sentences[at].1 {
            at += 1;
        }
        if at >= sentences.len() || token.start < sentences[at].0 {
            return;
        }
        stem.clear();
        if token.is_pair {
            stem.push_str(token.word);
        } else {
            stems.stem_into(token.word, language, &mut stem);
        }
        for (bit, word) in sought.iter().enumerate().take(64) {
            if word.stems.contains(&stem) {
                held[at] |= 1 << bit;
            }
        }
    });
    let chosen = choose(&held, sought);
    let mut out = String::new();
    for (n, at) in chosen.iter().enumerate() {
        if n > 0 {
            out.push_str(if chosen[n - 1] + 1 == *at { " " } else { " … " });
        }
        let (start, end) = sentences[*at];
        push_plain(&mut out, &text[start..end]);
    }
    out
}

/// Those sentences that bring the most, each for what the others lack.
fn choose(held: &[u64], sought: &[Sought]) -> Vec<usize> {
    let weight = |bits: u64| -> f32 {
        let is_held = |bit: usize| bits >> bit & 1 == 1;
        (0..sought.len().min(64)).filter(|bit| is_held(*bit)).map(|bit| sought[bit].idf).sum()
    };
    let (mut chosen, mut covered) = (Vec::new(), 0u64);
    for _ in 0..SENTENCES {
        let gain = |at: usize| weight(held[at] & !covered) + 0.3 * weight(held[at]);
        let free = (0..held.len()).filter(|at| !chosen.contains(at));
        // Of equals the first.
        let best = free.max_by(|a, b| gain(*a).total_cmp(&gain(*b)).then(b.cmp(a)));
        let Some(best) = best else { break };
        if held[best] == 0 && !chosen.is_empty() {
            break;
        }
        covered |= held[best];
        chosen.push(best);
    }
    chosen.sort_unstable();
    chosen
}

/// Where sentences begin and end; long ones are in pieces.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        let mut from = start;
        while end - from > SENTENCE_BYTES_MAX {
            let limit = text.floor_char_boundary(from + SENTENCE_BYTES_MAX);
            let space = text[from..limit].rfind(' ').map(|at| from + at + 1);
            let cut = space.filter(|cut| *cut > from + SENTENCE_BYTES_MAX / 2).unwrap_or(limit);
            found.push((from, cut));
            from = cut;
        }
        if !text[from..end].trim().is_empty() {
            found.push((from, end));
        }
    };
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        let is_end = match character {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            push(start, end);
            start = end;
        }
    }
    push(start, text.len());
    found
}

/// Appends a text with every run of white space as one space.
fn push_plain(out: &mut String, text: &str) {
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, words: &[(&str, f32)]) -> String {
        let sought =
            words.iter().map(|(word, idf)| Sought { stems: vec![(*word).to_owned()], idf: *idf });
        snippet(text, &sought.collect::<Vec<_>>(), "en", &mut Stems::default())
    }

    #[test]
    fn the_sentences_with_most_of_the_query_are_shown() {
        let text =
            "Welcome here. The moon draws the tides. Cats sleep.\nSpring tides are high. End.";
        let words = [("moon", 3.0), ("spring", 4.0), ("tide", 1.0)];
        assert_eq!(of(text, &words), "The moon draws the tides. … Spring tides are high.");
        assert_eq!(of(text, &[("absent", 1.0)]), "Welcome here.");
        assert_eq!(of("", &words), "");
        let long = "tide ".repeat(1000);
        assert!(of(&long, &words).len() <= 2 * SENTENCE_BYTES_MAX + 8);
    }
}
