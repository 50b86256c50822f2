//! Is this about it? Topics, given by words, examples, a trained model or a pattern, and how much
//! a text or a link has to do with them.
//!
//! The story: a text becomes features, its distinct words and pairs of words ([`features`]). A
//! [`linear::Linear`] model has a weight for each, learnt from examples and from texts that are
//! none ([`training`]), and its score becomes a relevance between 0 and 1 by what held-out texts
//! scored ([`calibration`]); who names no such texts has those of [`background`]. [`naming`] does
//! without examples: it counts words or matches of a pattern. [`mod@fasttext`] reads what others
//! have trained. A [`Topic`] is one or several of these, joined by "or", in a file of its own
//! ([`mod@file`]).
//! [`link`] says how likely a link leads there, before anybody has seen its target.
//!
//! No IO, no clock, no randomness; it knows nothing of crawling.

pub mod background;
pub mod calibration;
pub mod explain;
pub mod fasttext;
pub mod features;
pub mod file;
pub mod linear;
pub mod link;
pub mod naming;
pub mod spec;
pub mod topic;
pub mod training;

pub use spec::Spec;
pub use topic::{Scored, Topic, TopicPart};
