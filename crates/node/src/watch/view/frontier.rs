//! The frontier: hosts awake by what they do, those asleep by when they are due, and what waits by
//! class. Of a crawl that runs the engine tells all but the dates; of one at rest the store does.

use super::ceiling::{self, WorkStanding, standing};
use super::{each_host, each_url};
use rhumb_engine::config::{CLASSES, Polite};
use rhumb_engine::error::Error;
use rhumb_engine::holdups::{Holdup, Holdups, NamedAwake};
use rhumb_engine::polite;
use rhumb_engine::queue::SleepPlace;
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot;
use serde::{Deserialize, Serialize};

/// Cells of the grid.
const CELLS_MAX: usize = 400;
/// Sleeping hosts that are listed, the first to be due first.
const SLEEPING_MAX: usize = 50;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FrontierView {
    pub hosts_with_work: u64,
    pub hosts_due: u64,
    pub hosts_waiting: u64,
    pub hosts_resting: u64,
    /// The cells are hosts awake in a crawl that runs; else those that are due first.
    #[serde(default)]
    pub is_awake: bool,
    #[serde(default)]
    pub hosts_awake: u64,
    pub cells: Vec<HostCell>,
    /// Hosts by class, the best first: due and awake, asleep and due. None of a crawl at rest.
    #[serde(default)]
    pub fronts: Vec<ClassLine>,
    /// Hosts that sleep until a moment, the first to be due first.
    #[serde(default)]
    pub sleeping: Vec<SleepingHost>,
    /// URLs that wait, by class: the best first.
    pub classes: Vec<u64>,
    pub hosts_of_first: Option<u64>,
    pub urls_of_first: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostCell {
    pub host: String,
    pub queued: u64,
    /// `due`, `fetching`, `waiting` for its delay, `robots` (unknown yet), `backing_off`, `held` up
    /// by something, `later` (nothing is due), or `resting` because it fails.
    pub state: String,
    /// What it waits for, if something holds it up.
    #[serde(default)]
    pub holdup: Option<String>,
    pub wait_s: f64,
    pub delay_s: f64,
    pub cause: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ClassLine {
    pub class: u8,
    pub due: u64,
    pub asleep: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SleepingHost {
    pub host: String,
    pub wait_s: f64,
    pub queued: u64,
}

pub fn read(
    reader: &LocalReader,
    polite: &Polite,
    now: Time,
    awake: Option<&Holdups>,
) -> Result<FrontierView, Error> {
    let mut view = FrontierView::default();
    view.hosts_of_first = each_host(reader, |key, record| {
        if record.queued == 0 {
            return;
        }
        view.hosts_with_work += 1;
        let (count, state) = match standing(record, now) {
            WorkStanding::Fails => (&mut view.hosts_resting, "resting"),
            WorkStanding::Held | WorkStanding::Later => (&mut view.hosts_waiting, "later"),
            WorkStanding::Works if record.not_before > now => (&mut view.hosts_waiting, "waiting"),
            WorkStanding::Works => (&mut view.hosts_due, "due"),
        };
        *count += 1;
        if awake.is_some() {
            return;
        }
        let due = match record.sleep {
            Some(SleepPlace::Later { due, .. } | SleepPlace::Resting { due, .. }) => due,
            _ => Time::ZERO,
        };
        let wait_s = due.max(record.not_before).since(now).as_secs_f64();
        if view.cells.len() == CELLS_MAX && view.cells.last().is_some_and(|l| l.wait_s <= wait_s) {
            return;
        }
        let place = view.cells.partition_point(|other| other.wait_s <= wait_s);
        let cell = HostCell {
            host: key.origin(),
            queued: record.queued,
            state: state.to_owned(),
            holdup: None,
            wait_s,
            delay_s: polite::delay(polite, record).as_secs_f64(),
            cause: ceiling::cause(polite, record).to_owned(),
        };
        view.cells.insert(place, cell);
        view.cells.truncate(CELLS_MAX);
    })?;
    if let Some(awake) = awake {
        (view.is_awake, view.hosts_awake) = (true, awake.awake as u64);
        view.cells = awake.named.iter().map(|host| cell(host, now)).collect();
        view.fronts = fronts(awake);
    }
    view.sleeping = sleeping(reader, now)?;
    let mut classes = vec![0; CLASSES];
    view.urls_of_first = each_url(reader, |row| {
        if row.record.status == RecordStatus::Queued
            && let Some(count) = classes.get_mut(usize::from(row.record.class))
        {
            *count += 1;
        }
        Ok(())
    })?;
    view.classes = classes;
    Ok(view)
}

/// A host that is awake.
fn cell(host: &NamedAwake, now: Time) -> HostCell {
    let state = match host.holdup {
        None => "later",
        Some(Holdup::Fetching | Holdup::SlowAnswer) if !host.is_robots_known => "robots",
        Some(Holdup::Fetching | Holdup::SlowAnswer) => "fetching",
        Some(Holdup::Delay) => "waiting",
        Some(Holdup::Backoff) => "backing_off",
        Some(Holdup::Turn | Holdup::Slots) => "due",
        Some(_) => "held",
    };
    HostCell {
        host: host.host.origin(),
        queued: host.queued,
        state: state.to_owned(),
        holdup: host.holdup.map(|holdup| holdup.word().to_owned()),
        wait_s: host.due.since(now).as_secs_f64(),
        delay_s: host.delay.as_secs_f64(),
        cause: String::new(),
    }
}

fn fronts(awake: &Holdups) -> Vec<ClassLine> {
    let lines = (0..).zip(awake.classes);
    lines
        .map(|(class, (due, asleep))| ClassLine { class, due, asleep })
        .filter(|line| line.due + line.asleep > 0)
        .collect()
}

fn sleeping(reader: &LocalReader, now: Time) -> Result<Vec<SleepingHost>, Error> {
    let mut sleeping = Vec::new();
    for part in reader.parts() {
        let snapshot = part.snapshot();
        // Whenever they are due.
        let (hosts, _) = snapshot.sleepers_due(Time(u64::MAX), None, SLEEPING_MAX)?;
        for sleeper in hosts {
            let SleepPlace::Later { due, .. } = sleeper.place else { continue };
            let Some(record) = snapshot.host(&sleeper.host)? else { continue };
            let (host, wait_s) = (sleeper.host.origin(), due.since(now).as_secs_f64());
            sleeping.push(SleepingHost { host, wait_s, queued: record.queued });
        }
    }
    sleeping.sort_by(|a, b| a.wait_s.total_cmp(&b.wait_s));
    sleeping.truncate(SLEEPING_MAX);
    Ok(sleeping)
}
