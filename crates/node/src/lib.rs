//! How is a crawl run? The engine's loop with real disks, sockets and clocks around it.
//!
//! [`settings`] says what a crawl is to do, [`run`] drives the loop, [`extract`] writes what pages
//! say while it runs, [`watch`] tells people about it, [`copies`] finds what was kept of a URL, and
//! [`forget`] takes it down. [`cluster`] runs a crawl that is on many machines.
//! Nothing here decides what is fetched when: that is the engine's.

pub mod cluster;
pub mod copies;
pub mod extract;
pub mod forget;
pub mod index;
pub mod run;
pub mod settings;
pub mod topic;
pub mod watch;
