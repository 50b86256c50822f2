//! The node: the engine's loop with real disks, sockets and clocks around it.
//!
//! One thread runs the loop ([`rhumb_engine::turn::run`]) and owns engine, state and archive. One
//! thread reads the state ([`reader`]). Tokio tasks do the network work and read what arrives
//! ([`fetch_tasks`], [`worker`], [`reading`]); what they hold until the engine says how to keep it
//! lies in the [`held_bodies`]. Nothing here decides what is fetched when, listens to signals, or
//! ends the process: the caller does, by a [`StopHandle`].

mod address_turns;
mod alike;
mod archive;
mod changes;
mod clock;
mod divided;
mod fetch_tasks;
mod get;
mod held_bodies;
mod permit;
mod published;
mod reader;
mod reading;
mod sketching;
mod spool;
mod start;
mod stop;
mod work_times;
mod worker;
mod world;

pub(crate) use clock::{Clock, steady_us};
pub(crate) use divided::carrier::{Carrier, ITEMS_WAITING_MAX, Outgoing};
pub(crate) use divided::part::{OpenedPartition, PartitionPart};
pub(crate) use divided::{PartitionGate, config_of, memtable_share};
pub(crate) use permit::{Permitter, permission};
pub(crate) use start::{Network, make_network, warc_limits, warcinfo};

pub use archive::position as archive_end;
pub use get::{GetOutcome, Got, HandOver, Render, Rendering, get};
pub use start::{Crawled, crawl};
pub use stop::{StopHandle, resume_command};
pub use work_times::{WORKS, Work, WorkTimes};
