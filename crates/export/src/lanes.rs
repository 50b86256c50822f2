//! Work on several threads, taken back in order.
//!
//! Each thread has a lane: a channel of work and one of results, both holding a few. What is given
//! comes back in the order in which it was given, and memory is bounded by what is in flight. All
//! pages of a host go into one lane, so what they teach each other is the same whatever the number
//! of threads.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::ExportFailure;

/// Pieces in a lane, as work or as results: its channels hold as many, so nobody waits for one who
/// waits.
const HELD_MAX: usize = 8;

struct Lane<W, R> {
    give: SyncSender<W>,
    results: Receiver<R>,
    held: usize,
}

/// Gives all of `work` to `threads` threads, each with a worker that `make` makes, and hands the
/// results to `take` in the order of the work. `host` names what is to stay together.
pub fn in_order<W: Send, R: Send, D: FnMut(W) -> R>(
    threads: usize,
    work: impl Iterator<Item = Result<W, ExportFailure>>,
    host: impl Fn(&W) -> u64,
    make: impl Fn() -> D + Sync,
    mut take: impl FnMut(R) -> Result<(), ExportFailure>,
) -> Result<(), ExportFailure> {
    std::thread::scope(|scope| {
        let mut lanes = Vec::new();
        for _ in 0..threads.max(1) {
            let (give, given) = sync_channel::<W>(HELD_MAX);
            let (send, results) = sync_channel::<R>(HELD_MAX);
            let make = &make;
            scope.spawn(move || {
                let mut worker = make();
                for piece in given {
                    if send.send(worker(piece)).is_err() {
                        return;
                    }
                }
            });
            lanes.push(Lane { give, results, held: 0 });
        }
        let ended = || ExportFailure::Failed("a thread of the export ended too early".to_owned());
        let mut in_flight: VecDeque<usize> = VecDeque::new();
        let mut take_next = |lanes: &mut Vec<Lane<W, R>>, in_flight: &mut VecDeque<usize>| {
            let Some(lane) = in_flight.pop_front() else { return Ok(()) };
            let result = lanes[lane].results.recv().map_err(|_| ended())?;
            lanes[lane].held -= 1;
            take(result)
        };
        for piece in work {
            let piece = piece?;
            let lane = (host(&piece) % lanes.len() as u64) as usize;
            while lanes[lane].held >= HELD_MAX {
                take_next(&mut lanes, &mut in_flight)?;
            }
            lanes[lane].give.send(piece).map_err(|_| ended())?;
            lanes[lane].held += 1;
            in_flight.push_back(lane);
        }
        while !in_flight.is_empty() {
            take_next(&mut lanes, &mut in_flight)?;
        }
        Ok(())
    })
}

/// The number of a host's lane.
pub fn lane_of(host: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    host.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_in_order_and_a_failure_ends_all() {
        let work = |n: u64| (0..n).map(Ok);
        let mut results = Vec::new();
        let take = |result: u64| {
            results.push(result);
            Ok(())
        };
        in_order(3, work(500), |n| n / 7, || |n| n * 2, take).expect("done");
        assert_eq!(results, (0..500).map(|n| n * 2).collect::<Vec<_>>());
        let fail = |n| if n == 40 { Err(ExportFailure::Failed("full".to_owned())) } else { Ok(()) };
        assert!(in_order(2, work(500), |n| *n, || |n: u64| n, fail).is_err());
        let broken =
            (0..9).map(|n| if n == 5 { Err(ExportFailure::Failed(String::new())) } else { Ok(n) });
        assert!(in_order(2, broken, |n| *n, || |n: u64| n, |_| Ok(())).is_err());
    }
}
