//! The dashboard as a browser meets it: the real binary, a real crawl of a small site on loopback,
//! requests over sockets, honest and hostile, and a real browser.

#[path = "../binary/mod.rs"]
mod binary;
mod browser;
mod copies;
mod hands;
mod pages;
mod site;
