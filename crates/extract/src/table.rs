//! The table: two looks, each a forest, read from the text file that training wrote.

use std::sync::LazyLock;

use super::context::CONTEXT;
use super::features::FEATURES;
use super::forest::Forest;

/// The first look and the second.
pub(super) struct Table {
    pub first: Forest,
    pub second: Forest,
}

/// Read once; a file that does not fit the features is our own mistake.
pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| parse(include_str!("table.txt")).expect("the table fits the features"));

fn parse(text: &str) -> Option<Table> {
    let (first, second) = text.split_once("look second\n")?;
    let (_, first) = first.split_once("look first\n")?;
    let table =
        Table { first: Forest::parse(first.lines())?, second: Forest::parse(second.lines())? };
    let fits =
        table.first.feature_max() < FEATURES && table.second.feature_max() < FEATURES + CONTEXT;
    fits.then_some(table)
}
