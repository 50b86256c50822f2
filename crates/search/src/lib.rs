//! Which pages say this? A search index over pages, with near-duplicates left out of what is
//! shown, and counted.
//!
//! The way of a page into the index ([`Indexer`]): [`tokens`] makes words of it, stemmed by its
//! language; [`clusters`] finds what it nearly repeats; tantivy keeps terms and positions; the page
//! itself, compressed, and what changes without it (importance, cluster, time of fetching) lie
//! beside the index in files of [`beside`]. The way of a query ([`Index`]): [`query`] understands
//! it, whatever it is; the best thousand by BM25 are weighed again ([`ranking`]); [`collapse`]
//! walks them and keeps one page of a cluster; [`snippet`] picks sentences.
//!
//! The index is derived: deleting it loses nothing. This crate knows nothing of crawls, and must
//! never change what it indexes.

mod anchors;
pub mod beside;
pub mod closeness;
pub mod clusters;
pub mod collapse;
mod error;
mod folding;
mod index;
pub mod language;
mod matching;
mod page;
mod place;
pub mod query;
pub mod ranking;
mod schema;
mod shown;
pub mod snippet;
mod stemming;
mod stream;
pub mod tokens;
mod writer;
mod written;

pub use error::SearchError;
pub use index::{Index, sizes};
pub use page::SearchPage;
pub use place::{check_place, clear_index, remove_index};
pub use shown::{Omitted, ScoreTerms, SearchAnswer, SearchOptions, Shown};
pub use writer::{IndexMark, Indexer, WriterCounts};
