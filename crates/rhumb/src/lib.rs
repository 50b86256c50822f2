//! The outside world: network, disk, command line. Decisions belong to the engine.

pub mod bench;
pub mod cli;
pub mod dedup;
pub mod demo;
pub mod extract;
pub mod fetch;
pub mod node;
pub mod plot;
pub mod serve;
pub mod settings;
pub mod watch;
