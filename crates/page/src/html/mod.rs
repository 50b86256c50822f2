//! HTML, read in one pass without a tree.
//!
//! Three layers, each usable alone:
//!
//! 1. `lexer`: the tokenizer states of the HTML standard as searches over the bytes, linear on any
//!    input;
//! 2. [`Tokenizer`]: the lexer, and what a tree builder would tell it (raw text after `<script>`,
//!    other rules within `svg`, inert templates); its [`Token`]s borrow from the page and decode on
//!    demand;
//! 3. [`read`]: what a crawler asks of a page: links, base, title, robots, and a fingerprint of the
//!    visible text.
//!
//! What is given up against a tree: nothing is moved, closed or ignored for standing in the wrong
//! place. A `frame` outside a frameset, or an `a` that a tree builder would drop inside a `select`,
//! still counts.

mod anchor_texts;
mod content;
mod lexer;
mod links;
mod own_text;
mod read;
mod reference;
mod requisites;
mod shell;
mod state;
mod tag;
mod text;
mod token;

#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;

pub use anchor_texts::{ANCHOR_BYTES_MAX, AROUND_BYTES, Anchor, AnchorTexts};
pub use own_text::OwnText;
pub use read::{LinksAlone, Observer, read_observed};
pub use reference::decode_references;
pub use text::{blank_run_end, folded_run_end};

pub use content::Tokenizer;
pub use links::{Link, LinkKind};
pub use own_text::OWN_TEXT_BYTES_MAX;
pub use read::{
    FEEDS_MAX, LINKS_MAX, Page, PageLimits, TITLE_BYTES_MAX, read, read_with_own_text,
    read_with_text,
};
pub(crate) use requisites::References;
pub use requisites::{Requisite, RequisiteGatherer, RequisiteKind};
pub use shell::{ScriptNeed, Shell};
pub use tag::Tag;
pub use text::TextFingerprint;
pub use token::{Attribute, Attributes, EndTag, StartTag, TextRunToken, Token};
