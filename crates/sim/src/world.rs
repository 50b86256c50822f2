//! The outside world in virtual time: performs the engine's actions against the synthetic web.

use crate::history::PageChange;
use crate::mail::Envelope;
use crate::mutant::Mutant;
use crate::scenario::Faults;
use crate::store::{Shared, SharedRef};
use crate::topic;
use crate::web::{
    AGE_US, DnsAnswer, EPOCH_S, Fault, PageRef, UrlTruth, Web, WebBody, WebLinkKind, WebReply, What,
};
use rhumb_engine::discovery::{FoundAs, FoundUrl};
use rhumb_engine::error::Error;
use rhumb_engine::event::{Action, Event, FetchOrder, Purpose, Question, ResolvedName};
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::{
    AnswerHead, FailKind, FetchReport, Outcome, PageContent, of_failure, of_page, of_robots,
    read_robots,
};
use rhumb_engine::rng::{Rng, mix};
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{BATCH_MAX, World};
use rhumb_neardup::Sketch;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// The product token by which the simulated crawler reads robots.txt.
pub const AGENT: &str = "rhumb";
/// When a request that is never answered is given up.
const TIMEOUT: Span = Span::secs(30);
/// Addresses that begin with these bytes are those of servers that are gone for good.
const DEAD_NETWORK: [u8; 2] = [10, 255];

pub struct SimWorld {
    web: Rc<Web>,
    shared: SharedRef,
    /// Its partition, and where that lies.
    own: u32,
    place: usize,
    faults: Faults,
    mutant: Option<Mutant>,
    rng: Rng,
    coming: BinaryHeap<Coming>,
    order: u64,
    pub stop_at: Option<Time>,
    /// Whether visits are kept, and those that were.
    pub keeps_visits: bool,
    pub visits: Vec<Visited>,
    /// Links to what is known carry their addresses, as the order wants it.
    pub wants_addresses: bool,
    /// Requests that may not begin yet: without a lease, or to an address that has enough of them.
    withheld: VecDeque<FetchOrder>,
    /// Turns since time last passed or anything last happened.
    idle_turns: u32,
}

/// An engine that wants to be called again so often, though nothing happens, goes in circles.
const IDLE_TURNS_MAX: u32 = 10_000;

/// A visit to a page that was answered with 200 or 304.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visited {
    pub site: u32,
    pub n: u32,
    pub at: Time,
    /// What was received; none with 304.
    pub version: Option<u64>,
}

/// What is on its way.
struct Coming {
    at: Time,
    order: u64,
    /// In a box: the heap moves what it holds a dozen times.
    what: Box<Due>,
}

enum Due {
    Event(Event, Option<Box<FetchOrder>>),
    /// The reading thread gets to a question, and answers after this long.
    Read(Question, Span),
}

impl SimWorld {
    pub fn new(
        web: Rc<Web>,
        (shared, own, place): (SharedRef, u32, usize),
        faults: Faults,
        (seed, mutant): (u64, Option<Mutant>),
    ) -> SimWorld {
        SimWorld {
            web,
            shared,
            own,
            place,
            faults,
            mutant,
            rng: Rng::new(seed ^ 0x301d ^ (place as u64) << 32),
            coming: BinaryHeap::new(),
            order: 0,
            stop_at: None,
            keeps_visits: false,
            visits: Vec::new(),
            wants_addresses: true,
            withheld: VecDeque::new(),
            idle_turns: 0,
        }
    }

    pub fn send(&mut self, after: Span, event: Event) {
        self.schedule(after, event, None);
    }

    /// It comes from another partition.
    pub fn arrive(&mut self, at: Time, event: Event) {
        self.order += 1;
        let what = Box::new(Due::Event(event, None));
        self.coming.push(Coming { at, order: self.order, what });
    }

    /// The crawler's time.
    pub fn clock(&self) -> Time {
        let clock = self.shared.borrow().clock;
        self.told(clock)
    }

    /// The process died: nothing that was under way will be heard of.
    pub fn forget(&mut self) {
        self.coming.clear();
        self.withheld.clear();
    }

    /// Begins the requests that waited and may begin now.
    pub fn begin_withheld(&mut self) {
        for fetch in std::mem::take(&mut self.withheld) {
            self.fetch_if_permitted(fetch);
        }
    }

    /// Closes the connections of all requests: the engine hears that they were closed.
    pub fn drop_requests(&mut self) {
        let told = self.clock();
        for fetch in self.take_requests() {
            let outcome = of_failure(fetch.purpose, FailKind::Closed);
            let (at, took) = (told, Span::ZERO);
            let report = FetchReport { outcome, status: 0, bytes: 0, at, took, held: false };
            self.send(Span::ZERO, Event::Fetched { fetch: fetch.id, report });
        }
    }

    /// Nobody waits for the answers of requests any more, by number.
    pub fn take_requests(&mut self) -> Vec<Box<FetchOrder>> {
        let (requests, others): (Vec<Coming>, Vec<Coming>) = std::mem::take(&mut self.coming)
            .into_iter()
            .partition(|coming| matches!(*coming.what, Due::Event(_, Some(_))));
        self.coming.extend(others);
        let fetches = requests.into_iter().filter_map(|coming| match *coming.what {
            Due::Event(_, fetch) => fetch,
            Due::Read(..) => None,
        });
        let mut fetches: Vec<Box<FetchOrder>> = fetches.collect();
        fetches.sort_unstable_by_key(|fetch| fetch.id);
        let shared = &mut *self.shared.borrow_mut();
        for fetch in &fetches {
            let part = &mut shared.parts[self.place];
            part.held.remove(&fetch.id);
            shared.doors.get_mut(part.node()).into_iter().for_each(|d| d.leave(fetch.address));
        }
        fetches
    }

    /// Looks at the lease, and at the requests to the address, immediately before it begins.
    fn fetch_if_permitted(&mut self, fetch: FetchOrder) {
        let may = {
            let shared = &mut *self.shared.borrow_mut();
            let (now, part) = (shared.clock, &shared.parts[self.place]);
            let may = part.journal.as_ref().is_none_or(|journal| now < journal.fetches_until);
            let doors = shared.doors.get_mut(part.node());
            may && doors.is_none_or(|doors| doors.enter(fetch.address, now))
        };
        match may {
            true => self.fetch(fetch),
            false => self.withheld.push_back(fetch),
        }
    }

    /// When there is something to do, for an engine that wants to be called then.
    pub fn next(&self, wakeup: Option<(Time, &'static str)>) -> Option<Time> {
        let wakeup = wakeup.map(|(at, _)| self.shared.borrow().part(self.place).truly(at));
        self.coming.peek().map(|coming| coming.at).into_iter().chain(wakeup).min()
    }

    fn told(&self, at: Time) -> Time {
        self.shared.borrow().part(self.place).told(at)
    }

    fn schedule(&mut self, after: Span, event: Event, fetch: Option<FetchOrder>) {
        self.expect(after, Due::Event(event, fetch.map(Box::new)));
    }

    fn expect(&mut self, after: Span, what: Due) {
        let at = self.shared.borrow().clock + after;
        self.order += 1;
        self.coming.push(Coming { at, order: self.order, what: Box::new(what) });
    }

    /// As the reading thread does, which is neither quick nor slow by any rule: an answer may know
    /// less than the engine does when it hears it, and more than when it asked.
    fn ask(&mut self, question: Question) {
        let usual = 200 + self.rng.draw() % 2_000;
        let factor = if self.chance(self.faults.late_per_mille) { 5_000 } else { 1 };
        let took = Span(usual * factor);
        let unread = Span(took.0 * (self.rng.draw() % 3) / 2);
        self.expect(unread, Due::Read(question, Span(took.0 - unread.0)));
    }

    /// What is due by now. Events that come of it may be due as well.
    fn take_due(&mut self, now: Time, events: &mut Vec<Event>) -> Result<(), Error> {
        while events.len() < BATCH_MAX && self.coming.peek().is_some_and(|c| c.at <= now) {
            match *self.coming.pop().expect("peeked").what {
                Due::Event(mut event, fetch) => {
                    if let (Some(fetch), Event::Fetched { report, .. }) = (&fetch, &event) {
                        let shared = &mut *self.shared.borrow_mut();
                        let (is_current, node) = {
                            let part = &shared.parts[self.place];
                            (part.is_current(), part.node())
                        };
                        let Shared { checker, history, doors, .. } = shared;
                        doors.get_mut(node).into_iter().for_each(|d| d.leave(fetch.address));
                        checker.fetch_ended((self.place, is_current), now, fetch, report);
                        let is_page = fetch.purpose != Purpose::Robots;
                        if let Some(history) = history.as_mut().filter(|_| is_page && is_current) {
                            let report = Box::new(report.clone());
                            history.push(self.own, PageChange::Answered(fetch.url.clone(), report));
                        }
                    }
                    if let (false, Event::Fetched { report, .. }) =
                        (self.wants_addresses, &mut event)
                        && let Outcome::Page(page) = &mut report.outcome
                    {
                        page.known.without_addresses();
                    }
                    events.push(event);
                }
                Due::Read(question, took) => {
                    let answer = self.shared.borrow().part(self.place).state.answer(question)?;
                    self.schedule(took, Event::Answered(answer), None);
                }
            }
        }
        Ok(())
    }

    fn fetch(&mut self, fetch: FetchOrder) {
        let now = self.shared.borrow().clock;
        {
            let shared = &mut *self.shared.borrow_mut();
            let is_current = shared.parts[self.place].is_current();
            shared.checker.fetch_began((self.place, is_current), now, &fetch, &self.web);
        }
        let attempt = self.shared.borrow().attempts.get(&fetch.url).copied().unwrap_or(0);
        let mut reply = self.web.respond(&fetch.url, now.0, attempt);
        if is_dead(fetch.address) {
            reply.fault = Fault::Refused;
        }
        if reply.status >= 400 || reply.status == 0 || reply.fault != Fault::None {
            let attempts = &mut self.shared.borrow_mut().attempts;
            *attempts.entry(fetch.url.clone()).or_default() += 1;
        }
        if self.chance(self.faults.lost_per_mille) {
            reply.fault = Fault::Silent;
        }
        if self.chance(self.faults.slow_per_mille) {
            reply.latency_us *= 100;
        }
        if self.keeps_visits {
            self.keep_visit(&fetch, &reply, now);
        }
        let reply = reply.unless(fetch.etag.as_deref(), date_of(fetch.last_modified.as_deref()));
        let took = match reply.fault {
            Fault::Silent | Fault::Drip(_) => TIMEOUT,
            _ => Span(reply.latency_us.clamp(100, TIMEOUT.0)),
        };
        let told = self.told(now);
        let mut report = self.report(&fetch, reply, told, took);
        if let Outcome::Page(page) = &mut report.outcome {
            let shared = self.shared.borrow();
            // The checker wants to hear of all links, whatever the order: addresses that the
            // engine would not get are taken away behind it.
            shared.part(self.place).state.set_known_apart(page, fetch.depth, true);
        }
        if report.held {
            let shared = &mut *self.shared.borrow_mut();
            shared.parts[self.place].held.insert(fetch.id, fetch.url.clone());
        }
        self.schedule(took, Event::Fetched { fetch: fetch.id, report }, Some(fetch));
    }

    /// Only originals count: a copy is as fresh as it happens to be.
    fn keep_visit(&mut self, fetch: &FetchOrder, reply: &WebReply, at: Time) {
        let (UrlTruth::Page { site, n }, Purpose::Page) =
            (self.web.truth(&fetch.url), fetch.purpose)
        else {
            return;
        };
        let conditional =
            reply.clone().unless(fetch.etag.as_deref(), date_of(fetch.last_modified.as_deref()));
        let version = conditional.body.page().map(|page| page.version);
        if reply.status == 200 && reply.fault == Fault::None {
            self.visits.push(Visited { site, n, at, version });
        }
    }

    /// Some names have a second address, which comes first and where nobody answers.
    fn addresses(&self, host: &HostKey, ip: Ipv4Addr) -> Vec<IpAddr> {
        let draw = mix(xxh3_64(host.host().as_bytes()) ^ u64::from(ip.to_bits()));
        let [a, b, ..] = draw.to_le_bytes();
        let dead = Ipv4Addr::new(DEAD_NETWORK[0], DEAD_NETWORK[1], a, b);
        let has_dead = draw >> 32 & 1_023 < u64::from(self.faults.dead_addresses_per_mille);
        let first = has_dead.then_some(IpAddr::V4(dead));
        first.into_iter().chain([IpAddr::V4(ip)]).collect()
    }

    fn chance(&mut self, per_mille: u32) -> bool {
        per_mille > 0 && self.rng.draw() % 1_000 < u64::from(per_mille)
    }

    fn report(&self, fetch: &FetchOrder, reply: WebReply, at: Time, took: Span) -> FetchReport {
        let failed = match reply.fault {
            // A page that is cut is a page with a note, as far as it goes.
            Fault::None | Fault::Cut(_) | Fault::Drip(_) => None,
            Fault::Refused => Some(FailKind::Connect),
            Fault::Silent => Some(FailKind::Timeout),
            Fault::Reset => Some(FailKind::Closed),
        };
        if let Some(kind) = failed {
            let outcome = of_failure(fetch.purpose, kind);
            return FetchReport { outcome, status: 0, bytes: 0, at, took, held: false };
        }
        let head = AnswerHead {
            status: reply.status,
            location: reply.location.clone(),
            retry_after: reply.retry_after_s.map(|s| Span::secs(u64::from(s))),
        };
        let outcome = match fetch.purpose {
            Purpose::Robots => of_robots(head, || self.robots(&reply)),
            _ => of_page(head, || self.page(&reply, at)),
        };
        let bytes = u64::from(self.web.config().page_bytes_mean);
        FetchReport { outcome, status: reply.status, bytes, at, took, held: true }
    }

    fn page(&self, reply: &WebReply, at: Time) -> PageContent {
        let hash = self.web.content_hash(&reply.body);
        let (low, high) = (mix(hash).to_le_bytes(), mix(!hash).to_le_bytes());
        let sketch = text_sketch(self.subject(&reply.body), mix(hash));
        let marks = Marks::NOINDEX.when(reply.noindex) | Marks::NOFOLLOW.when(reply.nofollow);
        let is_sitemap = matches!(reply.body, WebBody::Sitemap(_));
        let mut page = PageContent { marks, sketch, is_sitemap, ..PageContent::default() };
        page.content[..8].copy_from_slice(&low);
        page.content[8..].copy_from_slice(&high);
        page.payload[..8].copy_from_slice(&low);
        page.payload[8..16].copy_from_slice(&high);
        page.etag = reply.etag.as_deref().map(Into::into);
        page.last_modified = reply.last_modified_s.map(|s| s.to_string().into_boxed_str());
        let own_us = |s: u64| (s.saturating_sub(EPOCH_S) * 1_000_000).saturating_sub(AGE_US);
        page.modified = reply.last_modified_s.map(|s| self.told(Time(own_us(s))));
        let now = self.shared.borrow().part(self.place).truly(at);
        if !reply.nofollow {
            let links = self.web.links(reply).into_iter().filter(|link| !link.nofollow);
            page.found = links
                .map(|link| {
                    let kind = match (link.kind, &reply.body) {
                        (WebLinkKind::Sitemap, _) if self.is_sitemap(&link.url) => FoundAs::Sitemap,
                        (WebLinkKind::Sitemap, _) => self.listed(&link.url, now),
                        (WebLinkKind::Item, _) => FoundAs::Listed,
                        _ => FoundAs::Link,
                    };
                    let weight = topic::weight(&link.url, hash);
                    FoundUrl { weight, ..FoundUrl::new(link.url, kind) }
                })
                .collect();
        }
        page.requisites = self.web.requisites(&reply.body);
        page.relevance = topic::relevance(hash);
        match reply.fault {
            Fault::Cut(percent) => cut(page, percent, FailKind::Closed),
            Fault::Drip(percent) => cut(page, percent, FailKind::Slow),
            _ => page,
        }
    }

    /// What a page is about: another thing at each version, unless its edits are small.
    fn subject(&self, body: &WebBody) -> u64 {
        if let WebBody::Html(page) = *body {
            let place = self.web.text_of(page.place);
            if place != page.place {
                let same = WebBody::Html(PageRef { place, version: 0 });
                // One that has a sketch, and is of no family.
                return mix(self.web.content_hash(&same)) | 2;
            }
            let first = WebBody::Html(PageRef { version: 0, ..page });
            let subject = mix(self.web.content_hash(&first));
            if subject % 1_000 < u64::from(self.web.config().lies.small_edits) {
                return subject;
            }
        }
        mix(self.web.content_hash(body))
    }

    /// A page in a sitemap, with what that says of its last change.
    fn listed(&self, url: &Url, now: Time) -> FoundAs {
        let place = self.web.place(url);
        let lastmod = place.and_then(|place| self.web.lastmod_us(place, now.0));
        match lastmod.map(|us| self.told(Time(us)).0 / 1_000_000) {
            Some(s) => FoundAs::Announced(u32::try_from(s).unwrap_or(u32::MAX)),
            None => FoundAs::Listed,
        }
    }

    fn is_sitemap(&self, url: &Url) -> bool {
        let what = self.web.place(url).map(|place| place.what);
        matches!(what, Some(What::Sitemap | What::SitemapPart(_)))
    }

    fn robots(&self, reply: &WebReply) -> Robots {
        let mut bytes = Vec::new();
        if matches!(reply.body, WebBody::Robots(_)) {
            self.web.render(&reply.body, &mut bytes);
        }
        read_robots(&bytes, AGENT)
    }
}

fn is_dead(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.octets()[..2] == DEAD_NETWORK)
}

/// What came of a page whose body ended after so many percent.
fn cut(mut page: PageContent, percent: u8, kind: FailKind) -> PageContent {
    page.content.iter_mut().chain(&mut page.payload).for_each(|byte| *byte ^= percent);
    page.found.truncate(page.found.len() * usize::from(percent) / 100);
    page.marks = page.marks | Marks::TRUNCATED;
    page.cut = Some(kind);
    page
}

/// The text of a page, as far as comparing goes: one page in eight says nearly what many others
/// say, and one in eight says too little. Few words are not of its subject.
fn text_sketch(subject: u64, hash: u64) -> Option<Arc<Sketch>> {
    const FAMILIES: u64 = 20;
    const SHINGLES: u64 = 200;
    const OWN_SHINGLES: u64 = 8;
    let subject = match subject % 8 {
        0 => return None,
        1 => (subject >> 8) % FAMILIES,
        _ => subject,
    };
    let shared = (0..SHINGLES).map(|n| mix(mix(subject) ^ n));
    let own = (0..OWN_SHINGLES).map(|n| mix(mix(!hash) ^ n));
    Sketch::of(&shared.chain(own).collect::<Vec<_>>()).map(Arc::new)
}

/// The simulated web writes dates as plain seconds.
fn date_of(text: Option<&str>) -> Option<u64> {
    text.and_then(|t| t.parse().ok())
}

impl World for SimWorld {
    fn wait(
        &mut self,
        wakeup: Option<(Time, &'static str)>,
        events: &mut Vec<Event>,
    ) -> Result<Time, Error> {
        let next = self.coming.peek().map(|coming| coming.at);
        let Some(until) = self.next(wakeup) else {
            let what = "the engine waits for nothing that will come";
            return Err(Error::new(rhumb_engine::error::ErrorKind::Invalid, what));
        };
        let shared = Rc::clone(&self.shared);
        let mut shared = shared.borrow_mut();
        let is_idle = until <= shared.clock && next.is_none_or(|at| at > shared.clock);
        self.idle_turns = if is_idle { self.idle_turns + 1 } else { 0 };
        if self.idle_turns > IDLE_TURNS_MAX {
            let what = "the engine wants to be called again at once, for ever";
            return Err(Error::new(rhumb_engine::error::ErrorKind::Invalid, what));
        }
        shared.clock = shared.clock.max(until);
        let now = shared.clock;
        shared.checker.now = now;
        shared.parts[self.place].crash.point()?;
        drop(shared);
        self.take_due(now, events)?;
        if self.stop_at.is_some_and(|at| now >= at) {
            self.stop_at = None;
            events.push(Event::Stopped(rhumb_engine::event::StopReason::Time));
        }
        Ok(self.told(now))
    }

    fn now(&mut self) -> Time {
        self.clock()
    }

    fn perform(&mut self, action: Action) -> Result<(), Error> {
        self.shared.borrow_mut().parts[self.place].crash.point()?;
        self.shared.borrow_mut().checker.acted(&action);
        match action {
            Action::Fetch(fetch) => self.fetch_if_permitted(fetch),
            Action::Resolve { host } => {
                let now = self.now();
                let answer = match self.web.address_at(&host.host(), now.0) {
                    DnsAnswer::Found { ip, ttl_s } => {
                        let is_brief = self.chance(self.faults.brief_per_mille);
                        let good_for = if is_brief { 0 } else { u64::from(ttl_s) };
                        let ips = self.addresses(&host, ip);
                        Ok(ResolvedName { ips, until: now + Span::secs(good_for) })
                    }
                    DnsAnswer::NoSuchName => Err(FailKind::DnsNotFound),
                    DnsAnswer::ServerFailure => Err(FailKind::DnsTemporary),
                };
                let after = Span::millis(1 + self.rng.draw() % 50);
                self.schedule(after, Event::Resolved { host, answer }, None);
            }
            Action::Acknowledge { to, number } => {
                let envelope = Envelope::Acknowledgement { by: self.own, to, number };
                self.shared.borrow_mut().hold(self.place, envelope, self.mutant);
            }
            Action::Log(_) => {}
            Action::Ask(question) => self.ask(question),
        }
        self.shared.borrow_mut().parts[self.place].crash.point()
    }
}

/// Earliest first; of two at the same moment, the one that was sent first.
impl Ord for Coming {
    fn cmp(&self, other: &Coming) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

impl PartialOrd for Coming {
    fn partial_cmp(&self, other: &Coming) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Coming {
    fn eq(&self, other: &Coming) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Coming {}

/// Whether an outcome puts robots rules in force.
pub fn puts_rules_in_force(outcome: &Outcome) -> bool {
    use rhumb_engine::outcome::RobotsAnswer;
    matches!(
        outcome,
        Outcome::Robots(RobotsAnswer::Rules(_) | RobotsAnswer::Absent | RobotsAnswer::Moved { .. })
    )
}
