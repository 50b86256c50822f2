//! What next? The deterministic state machine of the crawler.
//!
//! The engine is sans-IO: it must never see tokio, a clock, a file, a socket, a thread or the
//! iteration order of a hash map. Time and randomness are arguments. Begin with [`turn`], the
//! loop that drives it, then [`event`], what goes in and out, then [`engine`].

mod admission;
pub mod admit;
pub mod allowance;
mod books;
pub mod ceilings;
mod compare;
pub mod config;
mod copies;
pub mod counters;
mod crowded;
pub mod discovery;
mod dispatch;
pub mod engine;
pub mod error;
pub mod event;
mod failing;
mod fetched;
pub mod flow;
mod focus;
pub mod forget;
pub mod frontier;
pub mod gates;
pub mod hands;
pub mod holdups;
pub mod host;
mod hosts;
pub mod hours;
pub mod known;
mod limits;
mod links;
pub mod log;
mod lookups;
pub mod marks;
pub mod mass;
pub mod near;
mod nearer;
pub mod order;
pub mod outbound;
mod outbox;
pub mod outcome;
pub mod partition;
pub mod polite;
pub mod queue;
pub mod record;
pub mod refresh;
pub mod requisites;
pub mod review;
pub mod rng;
pub mod screen;
pub mod seeds;
mod shares;
mod sifted;
mod site_budget;
mod sitemaps;
pub mod snapshot;
mod tally;
pub mod time;
mod traffic;
pub mod traps;
pub mod turn;
