//! When to visit a page again: learning how pages change and placing visits where they pay.
//!
//! [`belief`] is what we know of one page, [`population`] what we know of all, [`tuning`] how fast
//! either is forgotten, and [`tide`] what moves all pages at once. [`index`] says how long a page
//! may wait at a price, [`turn`] keeps it in turn while that is doubtful, and [`scheduler`] finds
//! the price at which the budget is spent, on a [`sample`] of the pages. [`detect`] says what a
//! visit found, [`trust`] how far servers are believed. [`constants`] are those that trials chose.
//!
//! The engine's side of it: [`past`] is what visits left in a URL's record, `learn` what one more
//! visit teaches and when the next is due, `announce` moves a visit up when a sitemap or a feed
//! tells of a change, and [`revisit`] keeps the [`budget`] and the scheduler's row.
//!
//! What is exact for pages whose rates are known, and the estimators of the literature, is in the
//! laboratory (`crates/lab/src/refresh`): no crawl needs it.

pub(crate) mod announce;
pub mod belief;
pub mod budget;
pub mod constants;
pub mod detect;
pub mod index;
mod learn;
pub mod past;
pub mod population;
pub mod revisit;
pub mod sample;
pub mod scheduler;
pub mod tide;
pub mod trust;
pub mod tuning;
pub mod turn;
