//! What does this page say? Pure functions over the bytes that the web sends.
//!
//! This crate never does IO, never reads a clock, and never panics on any bytes.

#![warn(missing_docs)]

pub mod calendar;
pub mod charset;
pub mod css;
pub mod date;
pub mod feed;
pub mod html;
pub mod media;
pub mod media_list;
pub mod robots;
pub mod sitemap;
pub mod url;
pub mod xml;
