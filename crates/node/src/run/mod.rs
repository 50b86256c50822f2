//! The node: the engine's loop with real disks, sockets and clocks around it.
//!
//! One thread runs the loop ([`rhumb_engine::turn::run`]) and owns engine, state and archive. One
//! thread reads the state ([`reader`]). Tokio tasks do the network work and read what arrives
//! ([`couriers`], [`worker`], [`reading`]); what they hold until the engine says how to keep it
//! lies in the [`shop`]. Nothing here decides what is fetched when, listens to signals, or ends the
//! process: the caller does, by a [`Stop`].

mod archive;
mod changes;
mod clock;
mod couriers;
mod get;
mod reader;
mod reading;
mod shop;
mod sketching;
mod spool;
mod start;
mod stop;
mod worker;
mod world;

pub use get::{Got, HandOver, Outcome, Render, get};
pub use start::{Crawled, crawl};
pub use stop::{Stop, resume_command};
