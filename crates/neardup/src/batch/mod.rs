//! Near-duplicates of a whole corpus, in a given memory.
//!
//! Documents are signed in any number of threads ([`DocumentSigner`] into [`DocumentBlock`]s) and
//! added in order ([`Corpus::add`]). Exact copies leave at once. Then either all pairs are found
//! and verified ([`Corpus::matches`]), or only what is connected by them ([`Corpus::links`]), which
//! is linear. [`Corpus::leave_out_common`], before that, takes common shingles away. What does not
//! fit in memory goes through temporary files, in sorted runs; the results are the same. Whoever
//! keeps blocks and [`PairStep`]s can have a later process go on ([`Corpus::matches_after`]).
//!
//! ```
//! use rhumb_neardup::batch::{DocumentBlock, Corpus, BatchError, BatchSettings, DocumentSigner};
//! let settings = BatchSettings { threshold: 0.5, ..BatchSettings::default() };
//! let mut signer = DocumentSigner::new(settings.words);
//! let mut block = DocumentBlock::default();
//! for text in ["a b c d e f g", "A, b, c, d, e, f, h!", "something else"] {
//!     signer.sign(text, &mut block);
//! }
//! let mut corpus = Corpus::new(settings);
//! corpus.add(block)?;
//! corpus.matches()?.each(|pair| {
//!     assert_eq!((pair.a, pair.b, pair.resemblance()), (0, 1, 0.6));
//!     Ok::<(), BatchError>(())
//! })?;
//! # Ok::<(), BatchError>(())
//! ```

mod block;
mod clusters;
mod compare;
mod corpus;
mod difference;
mod error;
mod frequent;
mod leaders;
mod links;
mod mirrors;
mod pairs;
mod progress;
mod runs;
mod sets;
mod spool;
mod steps;
mod union;
mod wide;
mod workers;

pub use block::{DocumentBlock, DocumentSigner};
pub use clusters::{Clusters, Portrait, Portraits};
pub use corpus::{BatchSettings, Corpus, DocumentId, TextCopies, TextId};
pub use error::{BatchError, BatchErrorKind};
pub use frequent::Common;
pub use leaders::Led;
pub use links::PairLinks;
pub use mirrors::{CollectionId, Mirror, Mirrors};
pub use pairs::{Match, Matches};
pub use progress::BatchProgress;
pub use steps::PairStep;
pub use union::Union;
