//! The present, as the engine knows it: never backwards, whatever the system's clock does.

use rhumb_engine::time::Time;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    epoch_us: u64,
}

impl Clock {
    pub fn start() -> Clock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { began: Instant::now(), epoch_us: since.as_micros() as u64 }
    }

    pub fn now(&self) -> Time {
        Time(self.epoch_us + self.began.elapsed().as_micros() as u64)
    }
}
