//! The world as the loop sees it: actions go out to workers and reader, events come in.

use super::clock::Clock;
use super::divided::PartitionGate;
use super::fetch_tasks::FetchTasks;
use super::work_times::Work;
use super::worker::Workers;
use crate::watch::EventLog;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Action, Event, Question, StopReason};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{BATCH_MAX, World};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The loop turns at least this often, so that limits on time and progress are seen.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// A turn with this many events is followed by one that waits a little for more, unless there are
/// enough: a commit costs nearly the same for one page as for twenty.
const BUSY_EVENTS: usize = 4;
const ENOUGH_EVENTS: usize = 32;
const GATHER: Duration = Duration::from_micros(500);
/// With fewer requests than this in flight the workers would run out of work meanwhile.
const GATHER_IN_FLIGHT_MIN: usize = 64;
/// Events of one turn. Workers get more to do at its end: while it lasts they must not run out.
const EVENTS_MAX: usize = 128;
const _: () = assert!(EVENTS_MAX <= BATCH_MAX);

pub struct NodeWorld {
    pub workers: Arc<Workers>,
    pub fetch_tasks: FetchTasks,
    pub runtime: Handle,
    pub clock: Clock,
    pub events: Receiver<Event>,
    pub questions: Sender<Question>,
    pub reader_failed: Receiver<Error>,
    pub stop_at: Option<Time>,
    /// Where it is told what happens, if that is asked for.
    pub log: Option<Arc<EventLog>>,
    /// Of one partition of several: what waits to be shipped.
    pub gate: Option<Arc<PartitionGate>>,
    /// The last turn had so many events that the next will have some too.
    pub was_busy: bool,
    /// Requests of which no event has been taken yet.
    pub in_flight: usize,
}

impl NodeWorld {
    fn take(&mut self, event: Event, events: &mut Vec<Event>) {
        self.in_flight -= usize::from(matches!(event, Event::Fetched { .. }));
        events.push(event);
    }

    /// What is there already.
    fn take_more(&mut self, events: &mut Vec<Event>) {
        while events.len() < EVENTS_MAX {
            let Ok(event) = self.events.try_recv() else { break };
            self.take(event, events);
        }
    }
}

impl World for NodeWorld {
    fn wait(
        &mut self,
        wakeup: Option<(Time, &'static str)>,
        events: &mut Vec<Event>,
    ) -> Result<Time, Error> {
        let now = self.clock.now();
        let wait = match wakeup {
            Some((at, _)) => Duration::from_micros(at.since(now).0).min(WAIT_MAX),
            None => WAIT_MAX,
        };
        let wait = match &self.gate {
            Some(gate) => {
                gate.note_idle(self.in_flight == 0);
                gate.due_in().map_or(wait, |due| wait.min(due))
            }
            None => wait,
        };
        let idle = Instant::now();
        match self.events.recv_timeout(wait) {
            Ok(event) => self.take(event, events),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::new(ErrorKind::Corrupt, "all workers have ended"));
            }
        }
        self.take_more(events);
        let can_wait = self.was_busy && self.in_flight >= GATHER_IN_FLIGHT_MIN;
        if can_wait && events.len() < ENOUGH_EVENTS {
            std::thread::sleep(GATHER);
            self.take_more(events);
        }
        self.workers.times.add(Work::Idle, idle);
        self.was_busy = events.len() >= BUSY_EVENTS;
        if let Ok(error) = self.reader_failed.try_recv() {
            return Err(error);
        }
        tracing::trace!(events = events.len(), in_flight = self.in_flight, "turn");
        let now = self.clock.now();
        if self.stop_at.is_some_and(|at| now >= at) {
            self.stop_at = None;
            events.push(Event::Stopped(StopReason::Time));
        }
        Ok(now)
    }

    fn now(&mut self) -> Time {
        self.clock.now()
    }

    fn perform(&mut self, action: Action) -> Result<(), Error> {
        match action {
            Action::Fetch(fetch) => {
                tracing::trace!(url = %fetch.url, "fetch");
                self.in_flight += 1;
                self.fetch_tasks.fetch(fetch, &self.workers, &self.runtime);
            }
            Action::Resolve { host } => {
                tracing::trace!(host = host.as_str(), "resolve");
                self.runtime.spawn(Arc::clone(&self.workers).resolve(host));
            }
            Action::Acknowledge { to, number } => {
                let gate = self.gate.as_ref().expect("there are other partitions");
                gate.acknowledge(to, number);
            }
            Action::Log(entry) => {
                if let Some(log) = &self.log {
                    log.take(entry);
                }
            }
            Action::Ask(question) => self
                .questions
                .send(question)
                .map_err(|_| Error::new(ErrorKind::Corrupt, "the reading thread has ended"))?,
        }
        Ok(())
    }

    fn rest(&mut self) {
        // Others may still use the connections.
        if self.gate.is_some() {
            return;
        }
        let idle = self.workers.fetcher.http.idle_to_close();
        self.runtime.spawn_blocking(move || drop(idle));
    }
}
