//! Who owns what, and what may leave? The decisions of a crawl on many machines, as pure state
//! machines: no IO, no clock, no randomness, no iteration over hash maps.
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
