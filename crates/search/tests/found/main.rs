//! What an index finds, as a whole: judged collections, near-duplicates, killed writers, languages.

mod clusters;
mod corpus;
mod judged;
mod measure;
mod queries;
mod writing;
