//! Tokens made by us, handed to tantivy: a text of one token a line that its tokenizer only cuts.
//!
//! A line of [`GAP_LINE`] moves the position by [`GAP`], so that no phrase crosses from a title
//! into a text. Handing over tokens one by one, each with a string of its own, would cost more than
//! making them.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Positions between two parts of a page.
pub const GAP: usize = 1000;
const GAP_LINE: &str = "\u{1}";

/// The name of the tokenizer.
pub const LINES: &str = "lines";

/// Tokens of one field of a page.
#[derive(Default)]
pub struct Lines(String);

impl Lines {
    /// Appends a token.
    pub fn push(&mut self, append: impl FnOnce(&mut String)) {
        append(&mut self.0);
        self.0.push('\n');
    }

    /// No phrase crosses from what was before to what follows.
    pub fn gap(&mut self) {
        if !self.0.is_empty() {
            self.push(|lines| lines.push_str(GAP_LINE));
        }
    }

    pub fn take(&mut self) -> String {
        let room = self.0.len();
        std::mem::replace(&mut self.0, String::with_capacity(room))
    }
}

/// Cuts lines.
#[derive(Clone, Default)]
pub struct LineTokenizer {
    token: Token,
}

pub struct LineStream<'a> {
    rest: &'a str,
    position: usize,
    token: &'a mut Token,
}

impl Tokenizer for LineTokenizer {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        self.token.reset();
        LineStream { rest: text, position: 0, token: &mut self.token }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            let Some((line, rest)) = self.rest.split_once('\n') else { return false };
            self.rest = rest;
            if line == GAP_LINE {
                self.position += GAP;
                continue;
            }
            self.token.text.clear();
            self.token.text.push_str(line);
            self.token.position = self.position;
            self.position += 1;
            return true;
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_tokens_and_gaps_are_positions() {
        let mut lines = Lines::default();
        for word in ["spring", "tide"] {
            lines.push(|line| line.push_str(word));
        }
        lines.gap();
        lines.push(|line| line.push_str("moon"));
        let text = lines.take();
        let mut tokenizer = LineTokenizer::default();
        let mut stream = tokenizer.token_stream(&text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        let expected = [("spring", 0), ("tide", 1), ("moon", 2 + GAP)];
        assert_eq!(found, expected.map(|(word, at)| (word.to_owned(), at)));
    }
}
