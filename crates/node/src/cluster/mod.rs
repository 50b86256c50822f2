//! A crawl on many machines: what a node does, and what its owner asks from anywhere
//! (docs/decisions/0070-nodes.md).
//!
//! [`run`] is a node: it takes its directory ([`home`]) and its port, reads what the crawl is, and
//! hands over to [`node`], the loop that owns the membership machine. What that machine asks for is
//! done by [`perform`] against the store; [`partition`] opens and closes partitions, [`held`] is
//! what the node knows of one that is open, [`obeying`] how orders are obeyed, [`dealings`] what
//! it has to do with others, and [`books`] what the owner of partition 0 does for all. Notes to
//! other nodes go out by [`send`] and come in by [`listen`], as [`wire`] has them. [`told`] is what
//! a node writes for people, [`tell`] makes it, and [`status`] adds it up; [`ask`] is the owner's
//! side, by [`order`]s. [`crawl_file`] is what never changes.
//!
//! Nothing here decides who owns what, until when hosts may be asked, or how limits are divided:
//! that is for `rhumb_cluster`, which the simulator runs, too.

mod ask;
mod books;
mod crawl_file;
mod dealings;
mod held;
mod home;
mod listen;
mod node;
mod obeying;
mod order;
mod partition;
mod perform;
mod run;
mod send;
mod status;
mod tell;
mod told;
mod wire;

pub use ask::{Asked, back_up, check, create, export_to, give};
pub use crawl_file::CrawlFile;
pub use order::{CrawlOrder, SEEDS_OF_ORDER_MAX};
pub use run::{Leaver, NodeEnd, NodeOptions, run};
pub use status::{ClusterStatus, GatheredStatus, NodeStatus, status};
