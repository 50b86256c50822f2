//! The frontier, after Mercator (Heydon and Najork, World Wide Web 2(4), 1999).
//!
//! A host with work to do is *awake* or *asleep*. Awake hosts have a back queue in memory
//! ([`back_queue`]) and an earliest time for their next request; those whose time has come stand
//! in the front queue of their best class ([`ready`]), from which a biased selector takes them.
//! All other hosts sleep in the state, by class or by due time ([`sleepers`]), until a place
//! becomes free. So memory is bounded by the hosts awake, not by the URLs known.

pub mod address_list;
pub mod awake;
pub mod back_queue;
pub mod ready;
pub mod sleepers;
