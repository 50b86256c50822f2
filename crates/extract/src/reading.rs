//! Reading a page: its blocks and what it says about itself, before anything is decided.

use super::blocks::Blocks;
use super::context::{self, CONTEXT};
use super::extracted::{ExtractOptions, Extracted, MainText};
use super::fallback::Choice;
use super::features::{self, FEATURES, Matrix};
use super::metadata::{Gather, Hints};
use super::surroundings::Surroundings;
use super::table::TABLE;
use super::template::HostTemplate;
use super::titles::Titles;
use super::{decode, fallback};
use rhumb_page::html::{
    EndTag, Observer, ScriptNeed, Shell, StartTag, Tag, TextRunToken, Token, Tokenizer,
};
use rhumb_page::url::Url;

pub(super) struct Reading<'a> {
    pub blocks: Blocks<'a>,
    pub gathered: Gather,
    shell: Shell<'a>,
    /// Whether scripts make the page, once its blocks are weighed.
    pub scripts: ScriptNeed,
    /// The block that shows the title, once features were asked for.
    pub title_at: Option<usize>,
}

/// What the table says of a page's blocks, whatever is known of its host.
pub(super) struct Weighed {
    /// The log-odds of each block.
    scores: Vec<f32>,
    around: Surroundings,
}

impl<'a> Observer<'a> for Reading<'a> {
    #[inline]
    fn text(&mut self, text: &TextRunToken<'a>) {
        if text.owner != Tag::Other || self.gathered.byline.is_looking() {
            self.gathered.text(text);
        }
        self.blocks.text(text);
        self.shell.text(text);
    }

    #[inline]
    fn start(&mut self, start: &StartTag<'a>) {
        self.gathered.start(start);
        self.blocks.start(start);
        self.shell.start(start);
    }

    #[inline]
    fn end(&mut self, end: &EndTag<'a>) {
        self.gathered.end(end);
        self.blocks.end(end);
        self.shell.end(end);
    }
}

impl<'a> Reading<'a> {
    pub(super) fn new(html_bytes: usize) -> Reading<'a> {
        Reading {
            blocks: Blocks::new(html_bytes),
            gathered: Gather::default(),
            shell: Shell::default(),
            scripts: ScriptNeed::default(),
            title_at: None,
        }
    }

    pub(super) fn of(html: &'a str) -> Reading<'a> {
        let mut reading = Reading::new(html.len());
        let mut tokens = Tokenizer::new(html);
        while let Some(token) = tokens.advance() {
            let is_inert = tokens.is_inert();
            match token {
                _ if is_inert => (),
                Token::Text(text) => reading.text(&text),
                Token::Start(start) => reading.start(&start),
                Token::End(end) => reading.end(&end),
            }
        }
        reading.finish();
        reading
    }

    fn finish(&mut self) {
        self.blocks.finish();
    }

    pub(super) fn hints(&self, url: &Url) -> Hints {
        Hints::of(&self.gathered.metadata, &self.gathered.generator, url)
    }

    pub(super) fn features(&mut self, url: &Url) -> (Surroundings, Matrix) {
        let metadata = &self.gathered.metadata;
        let around = Surroundings::of(&self.blocks);
        let description = metadata.description.as_ref().map_or("", |said| &said.value);
        let titles = Titles::of(&self.blocks, self.gathered.document_title(), description);
        let mut matrix = Matrix::new(self.blocks.blocks.len(), FEATURES + CONTEXT);
        let path = url.path();
        let hints = self.hints(url);
        let facts = [
            features::scale(path.split('/').filter(|part| !part.is_empty()).count() as u32),
            features::scale(path.bytes().filter(|b| *b == b'-').count() as u32),
            features::scale(path.bytes().filter(u8::is_ascii_digit).count() as u32),
            u8::from(url.query().is_some()),
            hints.article,
            hints.forum,
            hints.product,
            hints.collection,
            hints.documentation,
            u8::from(metadata.published.is_some()),
            u8::from(metadata.author.is_some()),
        ];
        features::write(&self.blocks, &around, &titles, &facts, &mut matrix);
        self.title_at = titles.title_at;
        (around, matrix)
    }

    /// Ends the page, and weighs its blocks.
    pub(super) fn finished(&mut self, url: &Url) -> Weighed {
        self.finish();
        self.weighed(url)
    }

    /// Weighs every block by the table.
    pub(super) fn weighed(&mut self, url: &Url) -> Weighed {
        self.scripts = std::mem::take(&mut self.shell).finish(url);
        let (around, mut matrix) = self.features(url);
        let first = TABLE.first.score(&matrix);
        context::write(&self.blocks, &around, &first, &mut matrix);
        Weighed { scores: TABLE.second.score(&matrix), around }
    }

    /// Decides which blocks are the page's main content.
    fn chosen(&self, weighed: &Weighed, template: Option<&HostTemplate>) -> Choice {
        let blocks = &self.blocks.blocks;
        let taken = match template {
            Some(template) => {
                let scores = weighed.scores.iter().zip(blocks);
                let scores: Vec<f32> =
                    scores.map(|(score, block)| score + template.log_odds(block.hash)).collect();
                decode::take(&self.blocks, &scores)
            }
            None => decode::take(&self.blocks, &weighed.scores),
        };
        fallback::settle(self, &weighed.around, taken)
    }

    /// The main content, with all that is known of the page.
    pub(super) fn extracted(
        self,
        weighed: &Weighed,
        url: &Url,
        options: &ExtractOptions<'_>,
    ) -> Extracted {
        let choice = self.chosen(weighed, options.template);
        Extracted::of(self, choice, url, options)
    }

    /// The main text alone.
    pub(super) fn main_text(&self, weighed: &Weighed, template: Option<&HostTemplate>) -> MainText {
        MainText::of(self, self.chosen(weighed, template))
    }
}
