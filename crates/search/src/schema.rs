//! Fields of the index.
//!
//! `words`: title three times, headings twice, texts of incoming links, words of the URL and the
//! main text, stemmed. Writing a title three times is BM25F with its weight 3 (Robertson, Zaragoza,
//! Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004); two fields summed lose seven
//! points of nDCG. `exact`: words as they stand, for quotes alone. `tag`: what a page is, for
//! filters. `number`: its place in the files beside.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, Term};

use crate::stream::{LINES, LineTokenizer};

/// The format of the index and of what lies beside it.
pub const VERSION: u32 = 1;

/// How often words of a part are written.
pub const TITLE_TIMES: usize = 3;
pub const HEADING_TIMES: usize = 2;

#[derive(Clone, Copy)]
pub struct Fields {
    pub words: Field,
    pub exact: Field,
    pub tag: Field,
    pub number: Field,
}

/// What a `tag` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTag {
    /// Whole host name.
    Host,
    /// Host name, or one that it ends with at a dot.
    Site,
    Language,
    Kind,
    /// A word of the URL.
    InUrl,
    /// A stem of the title.
    InTitle,
}

impl PageTag {
    fn letter(self) -> char {
        match self {
            PageTag::Host => 'h',
            PageTag::Site => 's',
            PageTag::Language => 'l',
            PageTag::Kind => 'k',
            PageTag::InUrl => 'u',
            PageTag::InTitle => 't',
        }
    }

    /// As it is indexed.
    pub fn text(self, value: &str) -> String {
        format!("{}:{value}", self.letter())
    }
}

pub fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let positions = IndexRecordOption::WithFreqsAndPositions;
    let text = |norms: bool, option: IndexRecordOption| {
        let indexing = TextFieldIndexing::default();
        let indexing = indexing.set_tokenizer(LINES).set_fieldnorms(norms);
        TextOptions::default().set_indexing_options(indexing.set_index_option(option))
    };
    let fields = Fields {
        words: builder.add_text_field("words", text(true, positions)),
        exact: builder.add_text_field("exact", text(false, positions)),
        tag: builder.add_text_field("tag", text(false, IndexRecordOption::Basic)),
        number: builder.add_u64_field("number", INDEXED | FAST),
    };
    (builder.build(), fields)
}

/// Has an index cut its fields as they are written.
pub fn register(index: &Index) {
    index.tokenizers().register(LINES, LineTokenizer::default());
}

impl Fields {
    pub fn tagged(&self, tag: PageTag, value: &str) -> Term {
        Term::from_field_text(self.tag, &tag.text(value))
    }
}
