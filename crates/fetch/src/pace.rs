//! A cap on bytes a second over all connections, where large bodies are read.
//!
//! The engine begins requests no faster than the cap allows, by what answers brought of late; this
//! spreads the bytes of one large answer. The rest of a body is read a piece at a time, and each
//! piece waits until the pieces before it have had their time. What a server sends meanwhile waits
//! in its own machine: a socket that nobody reads from fills up.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::large::{self, LargeBodies};

/// What may come at once.
const BURST: Duration = Duration::from_secs(1);
/// A piece is what comes in so short a time, between these bounds.
const PIECES_PER_S: usize = 8;
const PIECE_BYTES_MIN: usize = 4 << 10;
const PIECE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Pace {
    bytes_per_s: u64,
    /// The rate is spent until then.
    spent: Mutex<Instant>,
}

impl Pace {
    pub fn new(bytes_per_s: u64) -> Pace {
        Pace { bytes_per_s: bytes_per_s.max(1), spent: Mutex::new(Instant::now()) }
    }

    /// Bytes read without waiting in between.
    pub fn piece(&self) -> usize {
        let bytes_per_s = usize::try_from(self.bytes_per_s).unwrap_or(usize::MAX);
        (bytes_per_s / PIECES_PER_S).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX)
    }

    /// Waits until so many bytes more may come, or until the time is up.
    pub async fn wait_for(&self, bytes: usize, until: Instant) {
        let may_come = self.charge(bytes).checked_sub(BURST);
        if let Some(at) = may_come {
            tokio::time::sleep_until(at.min(until).into()).await;
        }
    }

    /// Takes account of bytes that have come; until when the rate is spent.
    pub fn charge(&self, bytes: usize) -> Instant {
        let cost = Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
        let mut spent = self.lock();
        *spent = (*spent).max(Instant::now()) + cost;
        *spent
    }

    fn lock(&self) -> MutexGuard<'_, Instant> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all exchanges share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub large: LargeBodies,
    pub pace: Option<Pace>,
}

impl Shared {
    /// Bytes of a body that are read before anything is waited for.
    pub fn first_piece(&self) -> usize {
        self.pace.as_ref().map_or(LargeBodies::FREE_BYTES, Pace::piece)
    }

    /// Bytes that are read next, of a body of which so many were.
    pub fn next_piece(&self, read: usize) -> usize {
        self.pace.as_ref().map_or(read.min(large::PIECE_BYTES_MAX), Pace::piece)
    }

    pub async fn wait_for(&self, bytes: usize, until: Instant) {
        if let Some(pace) = &self.pace {
            pace.wait_for(bytes, until).await;
        }
    }

    /// An answer has come: what of it nothing waited for.
    pub fn came(&self, message_bytes: usize, body_bytes: usize) {
        if let Some(pace) = &self.pace {
            let waited_for = body_bytes.saturating_sub(pace.piece());
            pace.charge(message_bytes.saturating_sub(waited_for));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_takes_its_time_and_pieces_are_short() {
        let pace = Pace::new(100_000);
        assert_eq!(pace.piece(), 12_500);
        assert_eq!(Pace::new(1).piece(), PIECE_BYTES_MIN);
        assert_eq!(Pace::new(1 << 40).piece(), PIECE_BYTES_MAX);
        let first = pace.charge(1_000_000);
        assert_eq!(pace.charge(50_000) - first, Duration::from_millis(500));
    }
}
