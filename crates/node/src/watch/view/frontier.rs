//! The frontier: hosts with work by when they are due, and what waits by class.

use super::{ceiling, each_host, each_url};
use rhumb_engine::config::{CLASSES, Polite};
use rhumb_engine::error::Error;
use rhumb_engine::polite;
use rhumb_engine::record::Status;
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};

/// Cells of the grid: the hosts that are due first.
const CELLS_MAX: usize = 400;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FrontierView {
    pub hosts_with_work: u64,
    pub hosts_due: u64,
    pub hosts_waiting: u64,
    pub hosts_resting: u64,
    /// The hosts that are due first.
    pub cells: Vec<HostCell>,
    /// URLs that wait, by class: the best first.
    pub classes: Vec<u64>,
    pub hosts_of_first: Option<u64>,
    pub urls_of_first: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostCell {
    pub host: String,
    pub queued: u64,
    /// `due`, `waiting` for its delay, or `resting` because it fails.
    pub state: String,
    pub wait_s: f64,
    pub delay_s: f64,
    pub cause: String,
}

pub fn read(reader: &LocalReader, polite: &Polite, now: Time) -> Result<FrontierView, Error> {
    let mut view = FrontierView::default();
    view.hosts_of_first = each_host(reader, |key, record| {
        if record.queued == 0 {
            return;
        }
        view.hosts_with_work += 1;
        let (count, state) = if record.rests_for().is_some() {
            (&mut view.hosts_resting, "resting")
        } else if record.not_before > now {
            (&mut view.hosts_waiting, "waiting")
        } else {
            (&mut view.hosts_due, "due")
        };
        *count += 1;
        let wait_s = record.not_before.since(now).as_secs_f64();
        if view.cells.len() == CELLS_MAX && view.cells.last().is_some_and(|l| l.wait_s <= wait_s) {
            return;
        }
        let place = view.cells.partition_point(|other| other.wait_s <= wait_s);
        let cell = HostCell {
            host: key.origin(),
            queued: record.queued,
            state: state.to_owned(),
            wait_s,
            delay_s: polite::delay(polite, record).as_secs_f64(),
            cause: ceiling::cause(polite, record).to_owned(),
        };
        view.cells.insert(place, cell);
        view.cells.truncate(CELLS_MAX);
    })?;
    let mut classes = vec![0; CLASSES];
    view.urls_of_first = each_url(reader, |row| {
        if row.record.status == Status::Queued
            && let Some(count) = classes.get_mut(usize::from(row.record.class))
        {
            *count += 1;
        }
        Ok(())
    })?;
    view.classes = classes;
    Ok(view)
}
