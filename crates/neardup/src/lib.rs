//! Have we seen this text? Near-duplicates, one by one as they arrive or over a whole corpus.
//!
//! Two texts are as alike as the sets of their shingles: r(A, B) = |A ∩ B| / |A ∪ B|. The way of a
//! text:
//!
//! 1. [`words`]: its words, lower-case, as hashes;
//! 2. [`shingle`]: every four words in a row, as fingerprints;
//! 3. [`sketch`]: 640 bytes that estimate the resemblance with any other text, by 128 slots
//!    ([`estimate`]) or by 1,024 bins ([`fine`]);
//! 4. [`bands`]: keys by which texts worth comparing meet;
//! 5. [`resemblance`]: the truth, from the sets themselves.
//!
//! [`online`] answers for texts that arrive one by one; [`batch`] finds all pairs and clusters of a
//! corpus in a given memory. [`mod@reference`] holds the methods of the textbooks.
//!
//! ```
//! use rhumb_neardup::{Sketch, shingle};
//! let sketch = |text: &str| {
//!     let mut prints = Vec::new();
//!     shingle::fingerprints(text, shingle::WORDS_DEFAULT, &mut prints);
//!     Sketch::of(&prints)
//! };
//! let a = sketch("The quick brown fox jumps over the lazy dog.").expect("it has words");
//! let b = sketch("the quick brown fox jumps over the lazy dog").expect("it has words");
//! assert_eq!(a.resemblance(&b), 1.0);
//! ```
//!
//! This crate knows nothing of crawling: no URLs, no pages, no markup.

#![warn(missing_docs)]

pub mod bands;
pub mod batch;
pub mod estimate;
pub mod fine;
pub mod online;
pub mod reference;
pub mod resemblance;
pub mod shingle;
pub mod sketch;
pub mod threshold;
pub mod words;

pub use sketch::Sketch;

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
