//! Crawls on many machines, by real processes over a store of files.

mod crawled;
mod lost;
mod nodes;
mod refused;
