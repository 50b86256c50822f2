//! What extraction gives back.

use serde::Serialize;

use super::blocks::Blocks;
use super::fallback::Choice;
use super::markdown::{self, Base};
use super::metadata::{Metadata, Stated, StatedDate, StatedWhere, kind_of, prefer, settle_title};
use super::reading::Reading;
use super::template::HostTemplate;
use super::{language, words};
use rhumb_page::html::TextFingerprint;
use rhumb_page::url::Url;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExtractOptions<'t> {
    /// What recurs on the page's host.
    pub template: Option<&'t HostTemplate>,
    /// Also write the main text as Markdown.
    pub markdown: bool,
    /// The page came without an address: links of the Markdown that are relative stay as written.
    pub address_is_unknown: bool,
    /// Detect the language of the main text even if the page declares one.
    pub detects_language: bool,
}

/// How the main text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By the table.
    Learned,
    /// The page's JSON-LD holds it.
    ArticleBody,
    /// The data that its scripts would make it of hold it.
    EmbeddedState,
    /// As the longest rise of words over tags.
    Plateau,
    /// All text outside of menus.
    Rest,
}

/// A page's main content, and what it says about itself.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The main text: a line for each block, the cells of a row in one line.
    pub main: String,
    /// All text, a line for each block.
    pub all: String,
    /// The F1 to be expected of `main`, 0 to 1.
    pub confidence: f32,
    /// How the main text was found.
    pub method: Method,
    /// The main text as Markdown, if it was asked for.
    pub markdown: Option<String>,
    /// What the page says of itself.
    pub metadata: Metadata,
    /// Hashes of all blocks, for [`HostTemplate::learn`].
    pub blocks: Vec<u64>,
    /// It says next to nothing until its scripts have run.
    pub is_scripted: bool,
    /// What was odd about the page.
    pub oddities: Vec<&'static str>,
}

/// A page's main content and nothing else: for comparing pages, and one with its earlier self.
#[derive(Clone, Debug)]
pub struct MainText {
    /// As [`Extracted::main`].
    pub text: String,
    /// As [`Extracted::confidence`].
    pub confidence: f32,
    /// As [`Extracted::blocks`].
    pub blocks: Vec<u64>,
}

impl MainText {
    /// What tells this main text from another: the page changed if this did.
    pub fn fingerprint(&self) -> TextFingerprint {
        TextFingerprint::of(&self.text)
    }

    pub(super) fn of(reading: &Reading<'_>, choice: Choice) -> MainText {
        MainText {
            text: match choice.body {
                Some(body) => body.trim().to_owned(),
                None => Joined::of(reading, &choice.taken).text,
            },
            confidence: choice.confidence,
            blocks: reading.blocks.blocks.iter().map(|block| block.hash).collect(),
        }
    }
}

impl Extracted {
    /// What tells this main text from another: the page changed if this did.
    pub fn fingerprint(&self) -> TextFingerprint {
        TextFingerprint::of(&self.main)
    }

    pub(super) fn of(
        mut reading: Reading<'_>,
        choice: Choice,
        url: &Url,
        options: &ExtractOptions<'_>,
    ) -> Extracted {
        if options.markdown {
            reading.blocks.order_spans();
        }
        let page = &reading.blocks;
        let main = match &choice.body {
            Some(body) => Joined::all(body.trim()),
            None => Joined::of(&reading, &choice.taken),
        };
        let hints = reading.hints(url);
        let heading = reading.title_at.map(|at| page.text_of(&page.blocks[at]).to_owned());
        let markdown = options.markdown.then(|| match &choice.body {
            Some(body) => body.clone(),
            None => as_markdown(&reading, &choice.taken, url, options),
        });
        let blocks = page.blocks.iter().map(|block| block.hash).collect();
        let day = match reading.gathered.metadata.published {
            Some(_) => None,
            None => reading.title_at.and_then(|at| day_near(page, at)),
        };
        let mut oddities = Vec::new();
        if reading.gathered.broken_scripts > 0 {
            oddities.push("JSON-LD that is no JSON");
        }
        if page.is_full() {
            oddities.push("more blocks than are kept");
        }
        let document_title = reading.gathered.document_title().to_owned();
        let mut metadata = reading.gathered.metadata;
        settle_title(&mut metadata, &document_title, heading.as_deref());
        if let Some(author) = reading.gathered.byline.author {
            prefer(&mut metadata.author, author);
        }
        if metadata.published.is_none() {
            let in_address = date_in(url).map(|d| Stated::new(d, StatedWhere::Address, 0.6));
            metadata.published =
                in_address.or_else(|| day.map(|d| Stated::new(d, StatedWhere::Text, 0.5)));
        }
        metadata.words = main.words;
        let declared = metadata.language.as_ref().and_then(|said| language::tag(&said.value));
        if options.detects_language || declared.is_none() {
            metadata.language_detected = language::detect(&main.text)
                .map(|(code, sure)| Stated::new(code.to_owned(), StatedWhere::Detected, sure));
        }
        metadata.kind = kind_of(hints, main.words, main.link_mass as f32 / main.mass.max(1) as f32);
        let mut all = reading.blocks.text;
        all.truncate(all.trim_end().len());
        let Choice { confidence, method, .. } = choice;
        let main = main.text;
        let is_scripted = reading.scripts.is_scripted;
        Extracted {
            main,
            all,
            confidence,
            method,
            markdown,
            metadata,
            blocks,
            is_scripted,
            oddities,
        }
    }
}

/// The taken blocks as Markdown, with links resolved as far as it is known where the page was.
fn as_markdown(
    reading: &Reading<'_>,
    taken: &[bool],
    url: &Url,
    options: &ExtractOptions<'_>,
) -> String {
    let base = reading.gathered.base.as_ref();
    let base = base.and_then(|base| match options.address_is_unknown {
        true => Url::parse(base).ok(),
        false => url.join(base).ok(),
    });
    let base = match &base {
        Some(base) => Base::Known(base),
        None if options.address_is_unknown => Base::Unknown,
        None => Base::Known(url),
    };
    markdown::write(&reading.blocks, taken, base)
}

/// The main text, and what it holds.
struct Joined {
    text: String,
    words: u32,
    link_mass: u32,
    mass: u32,
}

impl Joined {
    /// A text that is no block of the page.
    fn all(text: &str) -> Joined {
        let count = words::count(text);
        Joined { text: text.to_owned(), words: count.words, link_mass: 0, mass: count.mass }
    }

    /// The taken blocks. No word goes on from one to the next, so theirs are those of the whole.
    fn of(reading: &Reading<'_>, taken: &[bool]) -> Joined {
        let page = &reading.blocks;
        let text = String::with_capacity(page.text.len() / 2);
        let mut main = Joined { text, words: 0, link_mass: 0, mass: 0 };
        let mut last_row = None;
        for (block, _) in page.blocks.iter().zip(taken).filter(|(_, taken)| **taken) {
            let row = markdown::row_of(page, block);
            if !main.text.is_empty() {
                main.text.push(if row.is_some() && row == last_row { '\t' } else { '\n' });
            }
            last_row = row;
            main.text.push_str(page.text_of(block));
            main.words += block.count.words;
            main.link_mass += block.link_mass;
            main.mass += block.count.mass;
        }
        main
    }
}

/// A day that is named next to the title: behind it more often than before.
fn day_near(page: &Blocks<'_>, title_at: usize) -> Option<StatedDate> {
    const BLOCKS_BEHIND: usize = 10;
    const BLOCKS_BEFORE: usize = 4;
    const MASS_MAX: u32 = 40;
    let blocks = &page.blocks;
    let behind = title_at + 1..(title_at + 1 + BLOCKS_BEHIND).min(blocks.len());
    let before = title_at.saturating_sub(BLOCKS_BEFORE)..title_at;
    let short = behind.chain(before.rev()).filter(|at| blocks[*at].count.mass <= MASS_MAX);
    short.map(|at| page.text_of(&blocks[at])).find_map(StatedDate::within)
}

/// A date in an address: `/2024/05/01/`, `/2024-05-01-`.
fn date_in(url: &Url) -> Option<StatedDate> {
    let path = url.path();
    let is_digit = |at: usize| path.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    for (start, _) in path.match_indices(['/', '-']).take(32) {
        let day = path.get(start + 1..start + 11)?;
        let bytes = day.as_bytes();
        let parts = [&bytes[..4], &bytes[5..7], &bytes[8..]];
        if parts.iter().all(|part| part.iter().all(u8::is_ascii_digit))
            && matches!(bytes[4], b'/' | b'-')
            && bytes[4] == bytes[7]
            && !is_digit(start + 11)
        {
            return StatedDate::parse(&day.replace('/', "-"));
        }
    }
    None
}
