//! When to visit a page again: learning how pages change and placing visits where they pay.
//!
//! [`belief`] is what we know of one page. [`index`] says how long a page may wait at a price.
//! The rest is for pages whose rates are known: [`policy`] (one a file), [`allocate`] and
//! [`host_caps`] (exact solutions), [`closed`] (what they buy), and [`estimate`] (the estimators of
//! the literature).

pub mod allocate;
pub mod belief;
pub mod closed;
pub mod estimate;
pub mod host_caps;
pub mod index;
pub mod policy;
