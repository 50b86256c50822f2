//! Room for large bodies. Many small ones fit in memory whatever happens; large ones share a room
//! of a fixed size, and wait at its door.
//!
//! A body takes all the room it may need at once, so none waits while it holds a part.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of large bodies held at one time, over all requests.
pub const LARGE_BYTES_MAX: usize = 256 << 20;

pub(super) struct LargeBodies {
    /// Counted in units of `FREE_BYTES`.
    units: Arc<Semaphore>,
}

/// Given back when the response is dropped.
pub(super) type Room = Arc<OwnedSemaphorePermit>;

impl LargeBodies {
    /// A body up to this size needs no room.
    pub const FREE_BYTES: usize = 1 << 20;

    pub fn new() -> LargeBodies {
        LargeBodies { units: Arc::new(Semaphore::new(LARGE_BYTES_MAX / LargeBodies::FREE_BYTES)) }
    }

    /// Room for a body of so many bytes, if there is some in time.
    pub async fn room(&self, bytes: usize, until: Instant) -> Option<Room> {
        let units = bytes.min(LARGE_BYTES_MAX).div_ceil(LargeBodies::FREE_BYTES) as u32;
        let permit = Arc::clone(&self.units).acquire_many_owned(units);
        let permit = tokio::time::timeout_at(until.into(), permit).await;
        permit.ok()?.ok().map(Arc::new)
    }
}
