//! One partition: its loop, on a thread of its own, and what belongs to it alone.

use super::Publish;
use super::carrier::Carrier;
use super::gate::{PartitionGate, Shipped};
use crate::run::archive::NodeArchive;
use crate::run::clock::Clock;
use crate::run::fetch_tasks::FetchTasks;
use crate::run::held_bodies::HeldBodies;
use crate::run::permit::Permit;
use crate::run::published::Published;
use crate::run::reader;
use crate::run::start::{Network, Wired, invalid, make_workers, no_reader, send_seeds};
use crate::run::work_times::{TimedState, WorkTimes};
use crate::run::world::NodeWorld;
use crate::settings::Settings;
use crate::watch::EventLog;
use rhumb_archive::{Packer, WarcWriter};
use rhumb_engine::config::Config;
use rhumb_engine::engine::{Engine, Opening};
use rhumb_engine::error::Error;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::order;
use rhumb_engine::time::Time;
use rhumb_engine::turn::{self, ArchivePosition};
use rhumb_state::local::LocalState;
use rhumb_topic::Topic;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use tokio::runtime::Handle;

/// A partition whose store and archive are open.
pub struct OpenedPartition {
    pub own: u32,
    pub count: u32,
    pub state: LocalState,
    pub opening: Opening,
    pub writer: Option<WarcWriter>,
    pub archive_end: ArchivePosition,
}

/// What a partition is started with.
pub struct PartitionPart<'a> {
    pub settings: &'a Settings,
    pub config: Config,
    pub network: &'a Network,
    pub runtime: &'a Handle,
    pub clock: Clock,
    pub carrier: &'a Arc<Carrier>,
    pub gate: Arc<PartitionGate>,
    /// Takes what it is doing, every now and then.
    pub publish: Publish,
    /// Called when its loop has ended, however it did.
    pub on_end: Box<dyn FnOnce() + Send>,
    /// Of one that others may take over.
    pub permit: Option<Permit>,
    pub topic: Option<Arc<Topic>>,
    pub log: Option<Arc<EventLog>>,
    pub stop_at: Option<Time>,
    /// What it is told before anything else: what it may use, above all.
    pub first: Vec<Event>,
}

/// A partition whose loop runs.
pub struct Running {
    pub events: Sender<Event>,
    pub thread: JoinHandle<Result<StopReason, Error>>,
}

impl PartitionPart<'_> {
    pub fn start(self, opened: OpenedPartition) -> Result<Running, Error> {
        let PartitionPart { settings, config, network, runtime, clock, carrier, gate, .. } = self;
        let OpenedPartition { own, state, opening, writer, archive_end, .. } = opened;
        let (events_in, events) = channel();
        let (questions, questions_out) = channel();
        let (failed, reader_failed) = channel();
        let bodies = Arc::new(HeldBodies::default());
        let rows = None;
        let wired = Wired {
            bodies: &bodies,
            known: Some(state.reader()),
            seed: state.seed(),
            rows: &rows,
            follows_links: true,
            topic: self.topic,
            permit: self.permit,
        };
        let follows_importance = order::policy(&config).follows_importance();
        let (at, to) = (clock.clone(), events_in.clone());
        let workers = make_workers(settings, network, at, wired, follows_importance, to);
        let answering = state.reader();
        let answer = move |question| answering.answer(question);
        reader::start(answer, questions_out, events_in.clone(), failed).map_err(no_reader)?;
        for event in self.first {
            // The loop that will receive it has not begun: it cannot have ended either.
            let _ = events_in.send(event);
        }
        send_seeds(settings, events_in.clone());
        carrier.begin(own, state.reader(), events_in.clone())?;
        let times = network.times();
        let (dir, level) = (settings.dir.clone(), settings.compression_level);
        let world = NodeWorld {
            workers: Arc::new(workers),
            fetch_tasks: FetchTasks::default(),
            runtime: runtime.clone(),
            clock: clock.clone(),
            events,
            questions,
            reader_failed,
            stop_at: self.stop_at,
            log: self.log,
            gate: Some(Arc::clone(&gate)),
            was_busy: false,
            in_flight: 0,
        };
        let on_end = Some(self.on_end);
        let ending = Ending { own, carrier: Arc::clone(carrier), on_end };
        let publish = self.publish;
        let state = Shipped { state, gate };
        let spawn = std::thread::Builder::new().name(format!("rhumb-{own:03}"));
        let thread = spawn.spawn(move || {
            let _ending = ending;
            let engine = Engine::open(config, opening, clock.now());
            let archive = NodeArchive {
                writer,
                dir,
                makes_index: false,
                indexing: None,
                packer: Packer::new(level),
                bodies,
                rows: None,
                end: archive_end,
                times: Arc::clone(&times),
            };
            Lives { node: Published::new(engine, publish), archive, world }.run(state, times)
        });
        let thread = thread.map_err(|e| invalid(format!("no thread for a partition: {e}")))?;
        Ok(Running { events: events_in, thread })
    }
}

/// Tells the others that a partition has ended, however it did.
struct Ending {
    own: u32,
    carrier: Arc<Carrier>,
    on_end: Option<Box<dyn FnOnce() + Send>>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.carrier.end(self.own);
        if let Some(on_end) = self.on_end.take() {
            on_end();
        }
    }
}

/// What the loop works on.
struct Lives {
    node: Published<Publish>,
    archive: NodeArchive,
    world: NodeWorld,
}

impl Lives {
    fn run(self, state: Shipped, times: Arc<WorkTimes>) -> Result<StopReason, Error> {
        let mut state = TimedState { state, times };
        let Lives { mut node, mut archive, mut world } = self;
        let ended = turn::run(&mut node, &mut archive, &mut state, &mut world);
        node.publish(world.clock.now());
        let closed = archive.closed();
        let reason = ended?;
        closed?;
        Ok(reason)
    }
}
