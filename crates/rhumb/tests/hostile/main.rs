//! The crawler against servers that mean it no good.

#[path = "../binary/mod.rs"]
mod binary;
mod private;
mod web;
