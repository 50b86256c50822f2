//! The node: the engine's loop with real disks, sockets and clocks around it.
//!
//! One thread runs the loop ([`rhumb_engine::turn::run`]) and owns engine, state and archive. One
//! thread reads the state ([`reader`]). Tokio tasks do the network work and read what arrives
//! ([`fetch_tasks`], [`worker`], [`reading`]); what they hold until the engine says how to keep it
//! lies in the [`bodies`]. Nothing here decides what is fetched when, listens to signals, or ends
//! the process: the caller does, by a [`Stop`].

mod address_turns;
mod archive;
mod changes;
mod clock;
mod divided;
mod fetch_tasks;
mod get;
mod held_bodies;
mod published;
mod reader;
mod reading;
mod sketching;
mod spool;
mod start;
mod stop;
mod worker;
mod world;

pub use archive::position as archive_end;
pub use get::{Got, HandOver, Outcome, Render, Rendering, get};
pub use start::{Crawled, crawl};
pub use stop::{Stop, resume_command};
