//! Who owns what, and what may leave? The decisions of a crawl on many machines, as pure state
//! machines: no IO, no clock, no randomness, no iteration over hash maps.
//!
//! * [`member`]: which partitions a node opens, holds and lets go, and until when it fetches for
//!   them; [`rank`] says who should have which, [`lease`] until when, [`view`] what is known of
//!   other nodes, [`beat`] and [`event`] what goes in and out.
//! * [`gate`]: what others hear only once the commit that it rests on is shipped.
//! * [`allowance`]: how the limits of the crawl are divided among partitions.
//! * [`collection`]: whether all partitions have come to the end, and the sums behind the coverage.
//! * [`address`]: how the slots at an address are divided among nodes.
//!
//! The node performs their commands against the object store and the network; the simulator runs
//! the same machines in virtual time. Times are of the caller's own boot-time clock, which goes on
//! while the machine is suspended. Nothing here ever compares the clocks of two machines.

pub mod address;
pub mod allowance;
pub mod beat;
pub mod collection;
pub mod event;
pub mod gate;
pub mod lease;
pub mod member;
pub mod rank;
pub mod view;
