//! FetchTasks: tasks that fetch one URL after the other.
//!
//! A task for each request would be made on the loop's core, some five thousand bytes of it, and
//! begin on another. A task is made once, and what crosses over is the order alone. There are
//! never more of them than requests in flight at once.

use super::worker::Workers;
use rhumb_engine::event::{Event, FetchOrder, Purpose};
use rhumb_engine::outcome::{FailKind, FetchReport, of_failure};
use rhumb_engine::time::{Span, Time};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;
use tokio::runtime::Handle;
use tokio::sync::Notify;

#[derive(Default)]
pub struct FetchTasks {
    /// Those without an order; the last to have had one is the first to get another.
    idle: Idle,
}

type Idle = Arc<Mutex<Vec<Arc<FetchTask>>>>;

/// Where a task finds its next order. While it has none it holds nothing else: the store is closed
/// when the crawl has ended, whether or not the task has heard of it.
#[derive(Default)]
struct FetchTask {
    order: Mutex<Option<(FetchOrder, Arc<Workers>)>>,
    bell: Notify,
}

impl FetchTasks {
    /// Has a URL fetched; the loop is told of it as an event.
    pub fn fetch(&self, fetch: FetchOrder, workers: &Arc<Workers>, runtime: &Handle) {
        let idle = lock(&self.idle).pop();
        let task = idle.unwrap_or_else(|| {
            let task = Arc::new(FetchTask::default());
            runtime.spawn(Arc::clone(&task).work(Arc::clone(&self.idle)));
            task
        });
        *lock(&task.order) = Some((fetch, Arc::clone(workers)));
        task.bell.notify_one();
    }
}

impl FetchTask {
    async fn work(self: Arc<FetchTask>, idle: Idle) {
        loop {
            self.bell.notified().await;
            let Some((fetch, workers)) = lock(&self.order).take() else { continue };
            let id = fetch.id;
            let purpose = fetch.purpose;
            let at = workers.clock.date();
            let event = match unharmed(workers.fetch(fetch)).await {
                Some(event) => event,
                None => Event::Fetched { fetch: id, report: panicked(purpose, at) },
            };
            // Before the loop hears of it: it may have the next order ready.
            lock(&idle).push(Arc::clone(&self));
            workers.tell(event);
        }
    }
}

/// What a task makes of its work, or none if it panicked: the crawl goes on without it, and whoever
/// waits for it is told.
pub async fn unharmed<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Some),
        Err(_) => {
            tracing::error!("a task panicked: this is a fault of rhumb's, please report it");
            Poll::Ready(None)
        }
    })
    .await
}

/// The report of a request whose task panicked.
fn panicked(purpose: Purpose, at: Time) -> FetchReport {
    FetchReport {
        outcome: of_failure(purpose, FailKind::Internal),
        status: 0,
        bytes: 0,
        at,
        took: Span::ZERO,
        held: false,
    }
}

/// Nothing that could panic is done while these are held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_is_a_failure_of_that_request_and_of_nothing_else() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(unharmed(async { 7 })), Some(7));
        let harmed = async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "a fault of ours");
        };
        assert_eq!(runtime.block_on(unharmed(harmed)), None);
        let report = panicked(Purpose::Page, Time(1));
        assert_eq!(report.outcome.failed_as(), Some(FailKind::Internal));
    }
}
