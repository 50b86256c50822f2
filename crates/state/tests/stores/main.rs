//! The two stores: the same answers from both, what opening refuses, and what a kill leaves.

mod chance;
mod flushing;
mod killed;
mod model;
mod mutated;
mod opening;
mod scratch;
