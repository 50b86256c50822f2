//! What the partitions of a node share: threads, memory, and the right to put whole files.

use crate::database::MemoryBudget;
use crate::objects::Objects;
use rhumb_engine::error::{Error, ErrorKind};
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;

/// Threads that ship; requests and SlateDB's own tasks share them.
const THREADS: usize = 1;
/// Whole files that are put at once: each is read again, and holds a few parts in memory.
const WHOLE_FILES_MAX: usize = 1;
/// Lowers the priority of merging below that of the crawl.
const NICENESS: i32 = 10;
/// Memory for rows in all databases of a node, unless said otherwise.
pub const BYTES_DEFAULT: usize = 96 << 20;

/// The store of a crawl, as a node uses it. Its threads end when it is dropped, whatever they do.
pub struct ShippedStore {
    pub(crate) objects: Objects,
    pub(crate) budget: MemoryBudget,
    pub(crate) whole_files: Arc<Semaphore>,
    shipping: Option<Runtime>,
    merging: Option<Runtime>,
}

impl ShippedStore {
    /// For a node that may come to own so many partitions, which share these bytes of memory.
    pub fn start(objects: Objects, partitions: usize, bytes: usize) -> Result<ShippedStore, Error> {
        let shipping = runtime("rhumb-shipping", || {})?;
        let merging = runtime("rhumb-merging", || {
            // A system that does not let us is no slower for it.
            let _ = rustix::process::setpriority_process(None, NICENESS);
        })?;
        let budget = MemoryBudget { bytes, partitions, merging: merging.handle().clone() };
        Ok(ShippedStore {
            objects,
            budget,
            whole_files: Arc::new(Semaphore::new(WHOLE_FILES_MAX)),
            shipping: Some(shipping),
            merging: Some(merging),
        })
    }

    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Where shipping runs. Threads without a runtime of their own block on it.
    pub fn handle(&self) -> &Handle {
        self.shipping.as_ref().expect("until it is dropped").handle()
    }
}

impl Drop for ShippedStore {
    fn drop(&mut self) {
        for runtime in [self.shipping.take(), self.merging.take()].into_iter().flatten() {
            runtime.shutdown_background();
        }
    }
}

fn runtime(name: &str, on_start: impl Fn() + Send + Sync + 'static) -> Result<Runtime, Error> {
    let built = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name(name)
        .on_thread_start(on_start)
        .enable_all()
        .build();
    built.map_err(|e| Error::new(ErrorKind::Retry, format!("no threads for the store: {e}")))
}
