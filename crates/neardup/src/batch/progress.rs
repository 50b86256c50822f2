//! How far a batch is, for display by another thread.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of the present stage.
#[derive(Default, Debug)]
pub struct BatchProgress {
    done: AtomicUsize,
    of: AtomicUsize,
}

impl BatchProgress {
    /// Steps done, and all of them; zero of zero before anything has begun.
    pub fn steps(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed))
    }

    pub(super) fn begin(&self, of: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }

    pub(super) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}
