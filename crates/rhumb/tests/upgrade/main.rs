//! Directories that the version before this one left in mid-crawl: they are migrated, nothing that
//! they know is lost, and the crawl goes on to its end.

#[path = "../binary/mod.rs"]
mod binary;
mod cut_short;
mod fixture;
mod migrated;
mod site;
#[path = "../binary/strace.rs"]
mod strace;
