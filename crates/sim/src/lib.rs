//! (being built)
pub mod web;
