//! The loop of a node: it owns the membership machine, and all that is known of the partitions that
//! are open here. Whatever takes time is done elsewhere and comes back as something that happened.

use super::books::{Books, limits_of};
use super::held::{HeldPart, is_needy};
use super::listen::Answering;
use super::order::{CrawlOrder, Mandate, OrderEffect};
use super::partition::{Closing, OpenAnswer, OpenPart, Opener, PartEvent, close};
use super::perform::Performer;
use super::run::{Leaver, NodeEnd};
use super::send::Post;
use super::tell::part_told;
use super::told::{AllTold, NodeObject, PartTold};
use super::wire::Note;
use crate::run::{Carrier, Clock, ITEMS_WAITING_MAX};
use crate::settings::Settings;
use rhumb_cluster::beat::{Heartbeat, Identity, Timing};
use rhumb_cluster::event::{Command, Dropped, Exit, MemberEvent};
use rhumb_cluster::member::Member;
use rhumb_engine::allowance::{CrawlLimits, Granter};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::time::{Span, Time};
use rhumb_shipped::Objects;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The loop turns at least this often.
const TICK: Duration = Duration::from_millis(100);
/// What is not urgent is done this often.
const SECOND: Duration = Duration::from_secs(1);
/// Orders are looked for this often.
const POLL_EVERY: Duration = Duration::from_secs(2);
/// Bytes of one partition's journal and archive that may be unshipped; above it, it begins nothing.
const UNSHIPPED_BYTES_MAX: u64 = 256 << 20;
/// One try to ship what a partition that is closed has committed.
const SHIP_TRY: Duration = Duration::from_secs(10);
/// All files of a crawl that is over are whole, or it is tried again.
const WHOLE_TRY: Duration = Duration::from_secs(60);
/// Events of one turn: a machine that is slow still sees its leases end.
const EVENTS_MAX: usize = 1_000;

/// What happened.
pub enum Happened {
    /// For the membership machine.
    Member(MemberEvent),
    /// The objects of all nodes, as of a look that began then.
    Looked {
        began: Time,
        objects: Result<Vec<NodeObject>, Error>,
    },
    /// Orders behind the last that was known, as of a look that began then.
    Polled {
        began: Time,
        orders: Result<Vec<(u64, CrawlOrder)>, Error>,
    },
    Opened {
        partition: u32,
        opened: Result<OpenAnswer, Error>,
    },
    Closed {
        partition: u32,
        epoch: u64,
        closing: Closing,
        closed: Result<(), Error>,
    },
    Part {
        partition: u32,
        epoch: u64,
        event: PartEvent,
    },
    /// Another node says so.
    Noted(Note),
    /// The ledger of the limits was written, or not.
    LedgerWritten(bool),
    /// The end of the crawl is an order now, or another order was first.
    EndPut,
}

/// What a node is made of.
pub struct NodeParts {
    pub clock: Clock,
    pub objects: Objects,
    pub opener: Arc<Opener>,
    pub carrier: Arc<Carrier>,
    pub post: Arc<Post>,
    pub answering: Arc<Answering>,
    pub identity: Identity,
    pub has_own_disk: bool,
    pub settings: Settings,
    pub mandate: Mandate,
    pub rejoin: Option<Span>,
    pub region: String,
    pub leaver: Leaver,
}

pub struct Node {
    pub(super) parts: NodeParts,
    pub(super) performer: Performer,
    pub(super) member: Member,
    pub(super) held: BTreeMap<u32, HeldPart>,
    /// Openings under way.
    opening: u32,
    /// Closings under way, and loops of partitions that were dropped: a partition is not opened
    /// before they have ended.
    pub(super) closing: BTreeMap<u32, JoinHandle<()>>,
    pub(super) books: Option<Books>,
    granter: Granter,
    /// What orders of this run asked for, in order.
    pub(super) effects: Vec<(u64, OrderEffect)>,
    pub(super) polling: bool,
    pub(super) polled_at: Option<Instant>,
    pub(super) putting_end: bool,
    slow_at: Instant,
    /// Why the store could not be asked the last time.
    pub(super) trouble: Option<String>,
    pub(super) samples: VecDeque<(Instant, u64)>,
    /// Pages that partitions fetched here which are not here any more.
    pub(super) fetched_before: u64,
    /// Of partitions that are not here any more.
    pub(super) last: BTreeMap<u32, PartTold>,
    pub(super) last_all: Option<AllTold>,
    /// The last heart-beat, and whether it is being written.
    pub(super) beat: Option<Heartbeat>,
    beating: bool,
    pub(super) restarting: bool,
    failed: Option<Error>,
    pub(super) inbox: Sender<Happened>,
}

impl Node {
    pub fn new(parts: NodeParts, inbox: Sender<Happened>) -> Result<Node, Error> {
        let partitions = parts.opener.crawl.partitions;
        let own_disk = parts.has_own_disk;
        let member = Member::new(parts.identity.clone(), partitions, own_disk, Timing::default());
        let slots = parts.settings.concurrency.max(partitions as usize);
        let limits = CrawlLimits { pages: None, bytes: None, slots };
        let mut granter = Granter::new(limits, partitions as usize);
        (0..partitions as usize).for_each(|own| granter.end(own));
        let performer = Performer {
            objects: parts.objects.clone(),
            runtime: parts.opener.store.handle().clone(),
            clock: parts.clock.clone(),
            inbox: inbox.clone(),
        };
        Ok(Node {
            performer,
            member,
            held: BTreeMap::new(),
            opening: 0,
            closing: BTreeMap::new(),
            books: None,
            granter,
            effects: Vec::new(),
            polling: false,
            polled_at: None,
            putting_end: false,
            slow_at: Instant::now(),
            trouble: None,
            samples: VecDeque::new(),
            fetched_before: 0,
            last: BTreeMap::new(),
            last_all: None,
            beat: None,
            beating: false,
            restarting: false,
            failed: None,
            inbox,
            parts,
        })
    }

    /// Runs until it is to end.
    pub fn run(mut self, happened: &Receiver<Happened>) -> Result<NodeEnd, Error> {
        self.tell_member(MemberEvent::Tick)?;
        loop {
            match happened.recv_timeout(TICK) {
                Ok(event) => self.take(event)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender"),
            }
            for event in happened.try_iter().take(EVENTS_MAX) {
                self.take(event)?;
            }
            self.tick()?;
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if let Some(end) = self.ended()? {
                return Ok(end);
            }
        }
    }

    /// Whether it has ended, and how.
    fn ended(&mut self) -> Result<Option<NodeEnd>, Error> {
        if let Some(exit) = self.member.exit() {
            return Ok(Some(match exit {
                Exit::Left | Exit::Late if self.restarting => NodeEnd::Restart,
                Exit::Left | Exit::Late => NodeEnd::Left,
                Exit::Fenced => NodeEnd::Fenced(
                    "other nodes saw no heart-beat of this one for 10 s, and have taken over its \
                     partitions: nothing it wrote since counts; start it again when it reaches \
                     the store in time"
                        .to_owned(),
                ),
                Exit::IdInUse => {
                    let what = format!(
                        "another process has the id {}: give each node an --id and a --dir of \
                         its own",
                        self.parts.identity.id
                    );
                    return Err(Error::new(ErrorKind::Invalid, what));
                }
            }));
        }
        let Some(reason) = self.parts.mandate.ended else { return Ok(None) };
        self.closing.retain(|_, thread| !thread.is_finished());
        let is_quiet = self.opening == 0 && !self.beating;
        if self.held.is_empty() && self.closing.is_empty() && is_quiet {
            self.write_last()?;
            return Ok(Some(NodeEnd::Finished(reason)));
        }
        Ok(None)
    }

    pub(super) fn now(&self) -> Time {
        self.parts.clock.now()
    }

    fn take(&mut self, happened: Happened) -> Result<(), Error> {
        match happened {
            Happened::Member(event) => {
                let is_beat =
                    matches!(event, MemberEvent::Beaten { .. } | MemberEvent::BeatFailed { .. });
                self.beating &= !is_beat;
                self.tell_member(event)
            }
            Happened::Looked { began, objects } => self.looked(began, objects),
            Happened::Polled { began, orders } => self.polled(began, orders),
            Happened::Opened { partition, opened } => self.opened(partition, opened),
            Happened::Closed { partition, epoch, closing, closed } => {
                self.closed((partition, epoch), closing, closed)
            }
            Happened::Part { partition, epoch, event } => self.part(partition, epoch, event),
            Happened::Noted(note) => {
                self.noted(note);
                Ok(())
            }
            Happened::LedgerWritten(is_durable) => {
                let said = self.books.as_mut().map(|books| books.written(is_durable));
                self.say(said.unwrap_or_default());
                Ok(())
            }
            Happened::EndPut => {
                self.putting_end = false;
                self.polled_at = None;
                Ok(())
            }
        }
    }

    /// A step of the membership machine, and what it asks for.
    pub(super) fn tell_member(&mut self, event: MemberEvent) -> Result<(), Error> {
        let mut commands = Vec::new();
        self.member.step(self.now(), event, &mut commands);
        commands.into_iter().try_for_each(|command| self.perform(command))
    }

    fn perform(&mut self, command: Command) -> Result<(), Error> {
        match command {
            Command::Look => self.performer.look(),
            Command::Beat(beat) => {
                let told = self.told();
                (self.beat, self.beating) = (Some((*beat).clone()), true);
                self.performer.beat(NodeObject { beat: *beat, told });
            }
            Command::Open { partition, known } => self.open(partition, known),
            Command::Allow { partition, until, .. } => {
                if let Some(held) = self.held.get_mut(&partition) {
                    held.allowed_until = until;
                    held.open.permitter.allow(until);
                }
            }
            Command::Pause { partition } => {
                if let Some(held) = self.held.get_mut(&partition) {
                    held.allowed_until = Time::ZERO;
                    held.open.permitter.pause();
                    held.bound(true);
                }
            }
            Command::Prove { partition, epoch } => {
                if let Some(held) = self.held.get(&partition) {
                    self.performer.prove(partition, epoch, &held.open.shipping);
                }
            }
            // There is nothing to copy ahead: an opening reads the database as it is then.
            Command::Copy { partition } => {
                return self.tell_member(MemberEvent::Copied { partition });
            }
            Command::Release { partition, .. } => {
                if let Some(held) = self.held.get_mut(&partition) {
                    held.stop(StopReason::Interrupted, Closing::Release);
                }
            }
            Command::Drop { partition, why } => self.drop_part(partition, why),
            Command::Exit(exit) => tracing::info!(?exit, "node ends"),
        }
        Ok(())
    }

    fn open(&mut self, partition: u32, known: u64) {
        let (inbox, opener) = (self.inbox.clone(), Arc::clone(&self.parts.opener));
        let mandate = self.parts.mandate.clone();
        let before = self.closing.remove(&partition);
        self.opening += 1;
        let work = move || {
            // What it was before, here, has let go of its files.
            before.into_iter().for_each(|thread| drop(thread.join()));
            let opened = match mandate.ended {
                None => opener.open_unclaimed(partition, known, &mandate),
                Some(_) => Err(Error::new(ErrorKind::Retry, "the crawl is over")),
            };
            drop(inbox.send(Happened::Opened { partition, opened }));
        };
        let spawn = std::thread::Builder::new().name(format!("rhumb-open-{partition:03}"));
        if let Err(error) = spawn.spawn(work) {
            let error = Error::new(ErrorKind::Retry, format!("no thread: {error}"));
            drop(self.inbox.send(Happened::Opened { partition, opened: Err(error) }));
        }
    }

    fn opened(&mut self, partition: u32, opened: Result<OpenAnswer, Error>) -> Result<(), Error> {
        self.opening -= 1;
        let open = match opened {
            Ok(OpenAnswer::Open(open)) => *open,
            Ok(OpenAnswer::Claimed(epoch)) => {
                tracing::info!(partition, epoch, "another node has opened the partition");
                return self.tell_member(MemberEvent::Claimed { partition, epoch });
            }
            Err(error) => {
                tracing::warn!(partition, error = %error.what, "partition cannot be opened");
                if matches!(error.kind, ErrorKind::Invalid | ErrorKind::Corrupt) {
                    self.failed = Some(error);
                }
                return self.tell_member(MemberEvent::OpenFailed { partition });
            }
        };
        let (epoch, order) = (open.epoch, open.order);
        let (_, is_limited) = limits_of(&self.parts.settings);
        let mandate = &self.parts.mandate;
        if partition == 0 {
            let created = self.parts.opener.crawl.created;
            let settings = (&self.parts.settings, created);
            let partitions = self.parts.opener.crawl.partitions;
            self.books = Some(Books::open(partitions, open.kept.as_deref(), mandate, settings)?);
        }
        let held = HeldPart::new(
            partition,
            self.parts.clock.now(),
            open,
            is_limited,
            self.parts.settings.per_address,
        );
        self.granter.begin(partition as usize);
        self.held.insert(partition, held);
        let missed: Vec<OrderEffect> = self
            .effects
            .iter()
            .filter(|(number, _)| *number > order)
            .map(|(_, effect)| effect.clone())
            .collect();
        for effect in missed {
            self.apply(partition, &effect);
        }
        self.polled_at = None;
        self.tell_member(MemberEvent::Opened { partition, epoch })
    }

    /// Its loop and its shipping end by themselves; what is unshipped stays so.
    fn drop_part(&mut self, partition: u32, why: Dropped) {
        tracing::warn!(partition, ?why, "partition dropped");
        let Some(held) = self.held.remove(&partition) else { return };
        self.lost(partition, &held);
        held.send(Event::Stopped(StopReason::Interrupted));
        let OpenPart { thread, shipping, permitter, .. } = held.open;
        permitter.pause();
        drop(shipping);
        let ending = std::thread::spawn(move || {
            // Requests that wait for a permission are given up with their loop, not before it: they
            // have not failed.
            drop(thread.join());
            drop(permitter);
        });
        self.closing.insert(partition, ending);
    }

    /// A partition is no longer here.
    fn lost(&mut self, partition: u32, held: &HeldPart) {
        let pages = held.open.latest().map_or(0, |snapshot| snapshot.counters.pages);
        self.fetched_before += pages.saturating_sub(held.open.counters.pages);
        self.granter.end(partition as usize);
        if partition == 0 {
            self.books = None;
        }
    }

    fn part(&mut self, partition: u32, epoch: u64, event: PartEvent) -> Result<(), Error> {
        let Some(held) = self.held.get_mut(&partition).filter(|held| held.open.epoch == epoch)
        else {
            return Ok(());
        };
        match event {
            PartEvent::Reported(snapshot, age) => {
                let obeyed = held.reported(*snapshot);
                self.report(partition, age);
                match obeyed {
                    Some(order) => self.tell_member(MemberEvent::Obeyed { partition, order }),
                    None => Ok(()),
                }
            }
            PartEvent::Proven { began_us } => {
                let began = self.parts.clock.at(began_us);
                self.tell_member(MemberEvent::Durable { partition, epoch, began })
            }
            PartEvent::Failed(error) if error.kind == ErrorKind::Fenced => {
                self.tell_member(MemberEvent::Fenced { partition })
            }
            PartEvent::Failed(error) => {
                self.failed = Some(error);
                Ok(())
            }
            PartEvent::Ended => {
                self.loop_ended(partition);
                Ok(())
            }
        }
    }

    /// It was stopped, or has failed: then it says why when it is joined.
    fn loop_ended(&mut self, partition: u32) {
        let Some(held) = self.held.remove(&partition) else { return };
        let epoch = held.open.epoch;
        let closing = held.closing.unwrap_or(Closing::Release);
        let within = if closing == Closing::Release { SHIP_TRY } else { WHOLE_TRY };
        let in_flight = held.open.latest().map_or(0, |snapshot| snapshot.in_flight);
        if in_flight > 0 {
            tracing::warn!(partition, in_flight, "requests are left behind: they are made again");
        }
        let (inbox, store) = (self.inbox.clone(), Arc::clone(&self.parts.opener.store));
        self.lost(partition, &held);
        // Its last words are published, and shipped before it counts as closed.
        self.last.insert(partition, part_told(&held, held.open.latest().as_ref()));
        let thread = std::thread::spawn(move || {
            let closed = close(&store, held.open, closing, within);
            drop(inbox.send(Happened::Closed { partition, epoch, closing, closed }));
        });
        self.closing.insert(partition, thread);
    }

    fn closed(
        &mut self,
        (partition, epoch): (u32, u64),
        closing: Closing,
        closed: Result<(), Error>,
    ) -> Result<(), Error> {
        self.closing.remove(&partition);
        match closed {
            Ok(()) => {
                tracing::info!(partition, ?closing, "partition closed");
                self.tell_member(MemberEvent::Closed { partition, epoch })
            }
            Err(error) if error.kind == ErrorKind::Fenced => {
                self.tell_member(MemberEvent::Fenced { partition })
            }
            Err(error) => {
                self.failed = Some(error);
                Ok(())
            }
        }
    }

    fn looked(
        &mut self,
        began: Time,
        objects: Result<Vec<NodeObject>, Error>,
    ) -> Result<(), Error> {
        match objects {
            Ok(objects) => {
                self.trouble = None;
                let beats = objects.into_iter().map(|object| object.beat).collect();
                self.tell_member(MemberEvent::Looked { began, beats })?;
                self.parts.post.route(self.routes());
                self.parts.answering.shown().is_ready = true;
                Ok(())
            }
            Err(error) => {
                tracing::warn!(error = %error.what, "the store cannot be asked");
                self.trouble = Some(error.what);
                self.tell_member(MemberEvent::LookFailed)
            }
        }
    }

    fn tick(&mut self) -> Result<(), Error> {
        if self.parts.leaver.is_asked() && !self.member.is_leaving() {
            self.tell_member(MemberEvent::Leave { returns_within: self.parts.rejoin })?;
        }
        self.tell_member(MemberEvent::Tick)?;
        self.parts.carrier.tick()?;
        let is_due = self.polled_at.is_none_or(|at| at.elapsed() >= POLL_EVERY);
        if is_due && !self.polling {
            (self.polling, self.polled_at) = (true, Some(Instant::now()));
            self.performer.poll(self.parts.mandate.order);
        }
        self.divide_slots();
        self.bound_parts()?;
        if self.slow_at.elapsed() >= SECOND {
            self.slow_at = Instant::now();
            self.second();
        }
        Ok(())
    }

    fn divide_slots(&mut self) {
        for (&partition, held) in &self.held {
            let latest = held.open.latest();
            let in_force = latest.and_then(|snapshot| snapshot.part?.in_force);
            if let Some(in_force) = in_force {
                self.granter.hear(partition as usize, in_force);
            }
        }
        for (own, allowance) in self.granter.grant() {
            if let Some(held) = self.held.get(&(own as u32)) {
                held.send(Event::Allowed(allowance));
            }
        }
    }

    /// What each partition may begin now, and whether it has anything to.
    fn bound_parts(&mut self) -> Result<(), Error> {
        let now = self.now();
        let crowded = self.parts.carrier.crowded(ITEMS_WAITING_MAX);
        let mut busy = Vec::new();
        for (&partition, held) in &mut self.held {
            let unshipped = held.open.shipping.progress().unshipped_bytes;
            let is_held = now >= held.allowed_until
                || unshipped >= UNSHIPPED_BYTES_MAX
                || crowded.iter().any(|(from, ..)| *from == partition);
            held.bound(is_held);
            if held.open.gate.is_urgent() || held.obeyed.is_none() {
                held.open.shipping.hurry();
            }
            let is_busy = held.open.latest().is_none_or(|snapshot| is_needy(&snapshot));
            if held.was_busy != Some(is_busy) {
                held.was_busy = Some(is_busy);
                busy.push((partition, is_busy));
            }
        }
        for (partition, is_busy) in busy {
            self.tell_member(MemberEvent::Busy { partition, is_busy })?;
        }
        Ok(())
    }

    /// What is done once a second.
    fn second(&mut self) {
        let (_, is_limited) = limits_of(&self.parts.settings);
        if is_limited {
            let set_by = self.parts.mandate.set_by;
            let asked: Vec<_> =
                self.held.values().filter_map(|held| held.request(set_by)).collect();
            asked.into_iter().for_each(|request| self.tell_books(Note::Request(request)));
        }
        self.ask_slots();
        self.divide_limits();
        self.add_up();
        self.end_if_over();
        self.sample();
        self.show();
    }
}
