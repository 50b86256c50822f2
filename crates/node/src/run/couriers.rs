//! Couriers: tasks that fetch one URL after the other.
//!
//! A task for each request would be made on the loop's core, some five thousand bytes of it, and
//! begin on another. A courier is made once, and what crosses over is the order alone. There are
//! never more of them than requests in flight at once.

use super::worker::Workers;
use rhumb_engine::event::Fetch;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::sync::Notify;

#[derive(Default)]
pub struct Couriers {
    /// Those without an order; the last to have had one is the first to get another.
    idle: Idle,
}

type Idle = Arc<Mutex<Vec<Arc<Courier>>>>;

/// Where a task finds its next order. While it has none it holds nothing else: the store is closed
/// when the crawl has ended, whether or not the task has heard of it.
#[derive(Default)]
struct Courier {
    order: Mutex<Option<(Fetch, Arc<Workers>)>>,
    bell: Notify,
}

impl Couriers {
    /// Has a URL fetched; the loop is told of it as an event.
    pub fn fetch(&self, fetch: Fetch, workers: &Arc<Workers>, runtime: &Handle) {
        let idle = lock(&self.idle).pop();
        let courier = idle.unwrap_or_else(|| {
            let courier = Arc::new(Courier::default());
            runtime.spawn(Arc::clone(&courier).work(Arc::clone(&self.idle)));
            courier
        });
        *lock(&courier.order) = Some((fetch, Arc::clone(workers)));
        courier.bell.notify_one();
    }
}

impl Courier {
    async fn work(self: Arc<Courier>, idle: Idle) {
        loop {
            self.bell.notified().await;
            let Some((fetch, workers)) = lock(&self.order).take() else { continue };
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
