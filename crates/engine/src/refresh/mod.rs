//! When to visit a page again: learning how pages change and placing visits where they pay.
//!
//! [`belief`] is what we know of one page, [`population`] what we know of all, [`tuning`] how fast
//! either is forgotten, and [`tide`] what moves all pages at once. [`index`] says how long a page
//! may wait at a price, [`turn`] keeps it in turn while that is doubtful, and [`scheduler`] finds
//! the price at which the budget is spent, on a [`sample`] of the pages. [`detect`] says what a
//! visit found, [`trust`] how far servers are believed.
//!
//! The rest is for pages whose rates are known: [`policy`] (one a file), [`allocate`] and
//! [`host_caps`] (exact solutions), [`closed`] (what they buy), and [`estimate`] (the estimators of
//! the literature).

pub mod allocate;
pub mod belief;
pub mod budget;
pub mod closed;
pub mod detect;
pub mod estimate;
pub mod host_caps;
pub mod index;
pub mod policy;
pub mod population;
pub mod sample;
pub mod scheduler;
pub mod tide;
pub mod trust;
pub mod tuning;
pub mod turn;
