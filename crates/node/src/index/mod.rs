//! The search index of a crawl, in its directory: kept current while crawling, or made from the
//! archive.
//!
//! `indexed`: what is indexed of a page, a function of its record alone, so that an index made anew
//! equals the one that was kept. `current`: the index, open to take pages in the order of their
//! records; what is missing is made from the archive. `importance`: what the crawl knows of it.

mod current;
mod importance;
mod indexed;

pub use current::{CurrentIndex, INDEX_DIR};
pub use importance::{weigh, weigh_dir};
pub use indexed::IndexedPage;
