//! A crawl on many machines, in virtual time: nodes, the bucket, and the network between them.
//!
//! Each node runs the membership machine of production, and for each partition that it owns the
//! engine in its loop, the gate, and its part in allowances and collections. Here is what carries
//! out their commands: a bucket whose objects have conditional puts and whose databases fence
//! ([`database`]), operations on it that are slow, lost on the way there or back, or find it away
//! (`operations`), opening and shipping (`taking`, `shipping`), packets that are lost, doubled and
//! late (`network`), what partitions do together (`together`), and what goes wrong (`trouble`).
//!
//! A place is a partition on a node's disk ([`journal`]). A partition may be alive at two places,
//! while its earlier owner does not yet know that it is none; what is committed there nobody reads,
//! and the watch looks at its requests alone.

pub mod database;
pub mod doors;
mod drive;
pub mod journal;
pub mod life;
mod network;
pub mod node;
mod operations;
pub mod plan;
mod shipping;
mod taking;
mod together;
pub mod told;
mod trouble;

pub use drive::SimCluster;
