//! What if? A synthetic web, virtual time, faults, and the invariants that must hold.
//!
//! [`web`] is the web itself, a pure function. [`run`] drives the engine's own loop over it in
//! virtual time, or several engines that write each other messages (`drive`, `mail`), or the nodes
//! of a crawl on many machines ([`cluster`]); `process` is one engine with its place, [`world`]
//! performs their actions, `store` keeps their rows and bodies and crashes where it is told to,
//! `power` knows what a power cut leaves of them and `history` what the watch knows then,
//! [`check`] watches everything and knows what must never happen, and [`mutant`] holds the broken
//! engines by which we know that the watch is awake.
//! Nothing here may decide anything that production decides otherwise.

pub mod check;
pub mod cluster;
mod drive;
mod end;
mod history;
pub mod importance;
mod mail;
pub mod mutant;
mod numbers;
mod power;
mod process;
pub mod run;
pub mod scenario;
mod store;
mod topic;
mod topical;
pub mod web;
pub mod world;
mod written;
