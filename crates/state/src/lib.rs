//! What do we know? The rows of a crawl: in memory for the simulator, on disk for the node.
//!
//! The state never judges: it keeps what the engine tells it, whole batches at a time, and
//! answers the engine's questions from a snapshot ([`answer`]). Both stores are the same to the
//! engine; a model test drives them side by side.

pub mod answer;
pub mod leaders;
pub mod local;
pub mod memory;
pub mod plain;
pub mod seen;
mod slots;
pub mod snapshot;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A thread that panicked has said so itself; those who share with it go on.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
