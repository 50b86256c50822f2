//! Who links to whom? A compact link graph, in memory and on disk, and what it says of importance.
//!
//! [`Graph`] holds the links of every page as gaps, one or two bytes each; [`file`] maps the same
//! bytes from disk. [`read()`] takes whatever file holds a graph: ours, [`wg1`], or an [`edges`]
//! list of any size and order, which [`Builder`] sorts in bounded memory; [`bv`] writes what
//! researchers' tools read. [`rank`] is PageRank and its personalised kind, and [`rewired`] makes
//! large graphs of small ones.
//!
//! Nothing here knows about crawling: pages are numbers from 0, and links have no text.

#![warn(missing_docs)]

pub mod builder;
pub mod bv;
pub mod edges;
pub mod error;
pub mod file;
mod gaps;
pub mod graph;
mod mapped;
pub mod rank;
pub mod rewired;
pub mod source;
pub mod wg1;
pub mod writer;

pub use builder::Builder;
pub use error::{GraphError, GraphErrorKind};
pub use graph::{Graph, PageLinks};
pub use source::{LinkFileFormat, Loaded, read};
pub use writer::GraphWriter;

/// A page's number. Memory grows with the greatest number, so it is bounded: two bytes of index
/// for each of a thousand million pages.
pub type PageNumber = u32;
/// The most pages that a graph may have.
pub const PAGES_MAX: u32 = 1 << 30;
