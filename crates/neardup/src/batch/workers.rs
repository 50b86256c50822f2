//! Threads that share numbered pieces of work.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Has every number below `count` done by one of the threads; the first failure ends it all.
pub fn share<E: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    if let Err(error) = work(number) {
                        next.store(count, Ordering::Relaxed);
                        failure.lock().expect("no thread panicked").get_or_insert(error);
                    }
                }
            });
        }
    });
    failure.into_inner().expect("no thread panicked").map_or(Ok(()), Err)
}
