//! Desks: tasks that fetch one URL after the other.
//!
//! A task for each request would be made on the loop's core, some five thousand bytes of it, and
//! begin on another. A desk is made once, and what crosses over is the order alone. There are never
//! more of them than requests in flight at once.

use super::worker::Workers;
use rhumb_engine::event::Fetch;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::sync::Notify;

#[derive(Default)]
pub struct Desks {
    /// Those without work; the last to have had some is the first to get more.
    idle: Arc<Mutex<Vec<Arc<Desk>>>>,
}

/// Where a task finds what it is to do next.
#[derive(Default)]
struct Desk {
    order: Mutex<Option<Fetch>>,
    bell: Notify,
}

impl Desks {
    /// Has a URL fetched; the loop is told of it as an event.
    pub fn fetch(&self, fetch: Fetch, workers: &Arc<Workers>, runtime: &Handle) {
        let idle = lock(&self.idle).pop();
        let desk = idle.unwrap_or_else(|| {
            let desk = Arc::new(Desk::default());
            let idle = Arc::clone(&self.idle);
            runtime.spawn(Arc::clone(&desk).work(Arc::clone(workers), idle));
            desk
        });
        *lock(&desk.order) = Some(fetch);
        desk.bell.notify_one();
    }
}

impl Desk {
    async fn work(self: Arc<Desk>, workers: Arc<Workers>, idle: Arc<Mutex<Vec<Arc<Desk>>>>) {
        loop {
            self.bell.notified().await;
            let Some(fetch) = lock(&self.order).take() else { continue };
            let event = workers.fetch(fetch).await;
            // Before the loop hears of it: it may have the next order ready.
            lock(&idle).push(Arc::clone(&self));
            workers.tell(event);
        }
    }
}

/// Nothing that could panic is done while these are held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
