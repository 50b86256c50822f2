//! Crawls on many machines, by real processes over a store of files.

#[path = "../binary/mod.rs"]
mod binary;
mod crawled;
mod lost;
mod nodes;
mod refused;
#[allow(dead_code)]
#[path = "../crawl/site.rs"]
mod site;
