//! The pages whose visit is most overdue, found in one pass over the hosts that holds no more than
//! them.

use crate::watch::moment::rfc3339;
use rhumb_engine::error::Error;
use rhumb_engine::queue::{Place, Section};
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

const SHOWN_MAX: usize = 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverduePage {
    pub url: String,
    pub due: String,
    pub overdue_s: f64,
    pub visited: Option<String>,
    pub visits: u32,
}

/// Pages that we hold and whose time has come, longest ago first; of the hosts looked at until it
/// is told to `stop`.
pub fn most_overdue(
    now: Time,
    reader: &LocalReader,
    stop: &AtomicBool,
) -> Result<Vec<OverduePage>, Error> {
    let mut worst: Vec<(Time, OverduePage)> = Vec::new();
    for row in reader.hosts().take_while(|_| !stop.load(Ordering::Relaxed)) {
        let (host, record) = row?;
        if record.queued == 0 {
            continue;
        }
        // Within a host the order of the queue is that of due times.
        let after = record.later_after.as_ref();
        let first =
            reader.holding_host(&host).snapshot().queue(&host, Section::Later, after, SHOWN_MAX)?;
        for (place, entry) in first.rows {
            let Place::Later { due, .. } = place else { break };
            let is_full = worst.len() == SHOWN_MAX;
            if due >= now || (is_full && worst.last().is_some_and(|(last, _)| due >= *last)) {
                break;
            }
            if entry.record.past.visited.is_none() {
                continue;
            }
            let page = OverduePage {
                url: entry.url.as_str().to_owned(),
                due: rfc3339(due),
                overdue_s: now.since(due).as_secs_f64(),
                visited: entry.record.past.visited.map(rfc3339),
                visits: entry.record.past.visits,
            };
            let at = worst.partition_point(|(other, _)| *other <= due);
            worst.insert(at, (due, page));
            worst.truncate(SHOWN_MAX);
        }
    }
    Ok(worst.into_iter().map(|(_, page)| page).collect())
}
