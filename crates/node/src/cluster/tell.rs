//! What a node tells of itself: in its object, at `/status` and at `/metrics`.

use super::held::HeldPart;
use super::node::Node;
use super::send::PostCounts;
use super::told::{AllTold, NodeObject, NodeTold, PartTold};
use crate::run::ITEMS_WAITING_MAX;
use crate::watch::memory;
use rhumb_cluster::beat::Heartbeat;
use rhumb_engine::error::Error;
use rhumb_engine::snapshot::EngineSnapshot;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Rates are over this time.
const RATE_OVER: Duration = Duration::from_secs(15);
/// A node that has not taken notes for so long is told of.
const STUCK_AFTER: Duration = Duration::from_secs(20);
/// The last object is written within this time, or not at all.
const LAST_WITHIN: Duration = Duration::from_secs(10);

/// What is told of a partition that has come to this.
pub fn part_told(held: &HeldPart, snapshot: Option<&EngineSnapshot>) -> PartTold {
    let progress = held.open.shipping.progress();
    let mut told = PartTold {
        epoch: held.open.epoch,
        counters: held.open.counters.clone(),
        commit: progress.shipped,
        unshipped_bytes: progress.unshipped_bytes,
        ..PartTold::default()
    };
    if let Some(snapshot) = snapshot {
        told.counters = snapshot.counters.clone();
        told.in_flight = snapshot.in_flight as u64;
        told.hosts_awake = snapshot.hosts_awake as u64;
        told.hosts_failing = snapshot.hosts_failing;
        told.is_paused = snapshot.paused;
        if let Some(part) = &snapshot.part {
            told.is_idle = part.idle.is_some();
            told.sent.clone_from(&part.numbers.sent);
            told.taken.clone_from(&part.numbers.taken);
        }
        told.why = snapshot.why_idle().unwrap_or_default();
    }
    told
}

impl Node {
    /// What this node does, as far as it is shipped.
    pub(super) fn told(&self) -> NodeTold {
        let now = self.parts.clock.now();
        let mut parts = self.last.clone();
        parts.extend(self.held.iter().map(|(&partition, held)| {
            let told = part_told(held, held.reported.as_ref());
            (partition, PartTold { is_allowed: now < held.allowed_until, ..told })
        }));
        NodeTold {
            pages_per_s: self.pages_per_s(),
            region: self.parts.region.clone(),
            dir: self.parts.opener.dir.display().to_string(),
            peak_rss_bytes: memory::of_this_process().peak_rss_bytes,
            parts,
            stuck: self.stuck(),
            all: self.last_all.clone(),
        }
    }

    /// What the owner of partition 0 knows of all. What it knew last stays true when it is not
    /// known anew: pages that are fetched stay so.
    pub(super) fn add_up(&mut self) {
        let Some(books) = &self.books else { return };
        let order = self.parts.mandate.order;
        if let Some(sums) = books.sums(self.parts.clock.now(), &self.parts.mandate) {
            let coverage = Some(sums.of_importance().bound);
            self.last_all = Some(AllTold { order, sums: Some(sums), coverage });
        }
    }

    /// What does not go on, and why.
    fn stuck(&self) -> Vec<String> {
        let id = &self.parts.identity.id;
        let mut stuck = Vec::new();
        if let Some(trouble) = &self.trouble {
            stuck.push(format!("node {id}: the store cannot be asked: {trouble}"));
        }
        for (partition, held) in &self.held {
            if let Some(error) = held.open.shipping.progress().trouble {
                stuck.push(format!("partition {partition}: not shipped: {}", error.what));
            }
        }
        for (from, to, items) in self.parts.carrier.crowded(ITEMS_WAITING_MAX) {
            stuck.push(format!(
                "partition {from} begins nothing: {items} URLs wait for partition {to}, which does \
                 not take them"
            ));
        }
        let now = self.parts.clock.now();
        let still = self.books.as_ref().map(|books| books.stuck(now)).unwrap_or_default();
        for (from, to, count) in still {
            stuck.push(format!(
                "{count} messages of partition {from} to {to} have not arrived for a minute"
            ));
        }
        for (address, (why, since)) in self.parts.post.told().failing {
            if since.elapsed() >= STUCK_AFTER {
                let seconds = since.elapsed().as_secs();
                stuck.push(format!(
                    "node {id} cannot send to {address} for {seconds} s: {why}; check --advertise \
                     and that nodes reach each other"
                ));
            }
        }
        stuck
    }

    /// Pages of the partitions that are here, for rates.
    pub(super) fn sample(&mut self) {
        let now = Instant::now();
        let pages = |held: &HeldPart| {
            let latest = held.open.latest();
            let pages = latest.map_or(held.open.counters.pages, |s| s.counters.pages);
            pages.saturating_sub(held.open.counters.pages)
        };
        let gone: u64 = self.fetched_before;
        let pages = gone + self.held.values().map(pages).sum::<u64>();
        self.samples.push_back((now, pages));
        while self.samples.pop_front_if(|(at, _)| now.duration_since(*at) > RATE_OVER).is_some() {}
    }

    fn pages_per_s(&self) -> f64 {
        let (Some((from, before)), Some((to, after))) = (self.samples.front(), self.samples.back())
        else {
            return 0.0;
        };
        let seconds = to.duration_since(*from).as_secs_f64();
        if seconds <= 0.0 { 0.0 } else { after.saturating_sub(*before) as f64 / seconds }
    }

    /// What others see of it.
    pub(super) fn show(&self) {
        let told = self.told();
        let metrics = exposition(&told, &self.parts.post.told());
        let status = serde_json::to_string(&told).expect("plain data always encodes");
        let mut shown = self.parts.answering.shown();
        (shown.status, shown.metrics) = (status, metrics);
    }

    /// The crawl is over: the object stays, for people, and says that all is released.
    pub(super) fn write_last(&self) -> Result<(), Error> {
        let Some(last) = self.beat.clone() else { return Ok(()) };
        let mut released = last.released;
        released.extend(last.owned);
        let beat = Heartbeat {
            counter: last.counter + 1,
            owned: Default::default(),
            released,
            is_leaving: true,
            ..last
        };
        let object = NodeObject { beat, told: self.told() };
        let put = self.performer.objects.put_node(&self.parts.identity.id, object.encode().into());
        let within = async { tokio::time::timeout(LAST_WITHIN, put).await.unwrap_or(Ok(())) };
        self.performer.runtime.block_on(within)
    }
}

/// As Prometheus reads it.
fn exposition(told: &NodeTold, post: &PostCounts) -> String {
    let mut page = String::new();
    let mut family = |name: &str, kind: &str, help: &str, of: &dyn Fn(&PartTold) -> u64| {
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (partition, part) in &told.parts {
            let _ = writeln!(page, "{name}{{partition=\"{partition}\"}} {}", of(part));
        }
    };
    let (counter, gauge) = ("counter", "gauge");
    family("rhumb_pages_total", counter, "Pages fetched.", &|part| part.counters.pages);
    family("rhumb_bytes_total", counter, "Bytes received.", &|part| part.counters.bytes);
    family("rhumb_requests_total", counter, "Requests made.", &|part| part.counters.asked);
    family("rhumb_queued", gauge, "URLs that wait.", &|part| part.counters.queued);
    family("rhumb_in_flight", gauge, "Requests under way.", &|part| part.in_flight);
    family("rhumb_hosts_awake", gauge, "Hosts awake.", &|part| part.hosts_awake);
    family("rhumb_epoch", gauge, "The partition's epoch.", &|part| part.epoch);
    family("rhumb_shipped_commit", counter, "The last shipped commit.", &|part| part.commit);
    family("rhumb_unshipped_bytes", gauge, "Bytes that are not shipped.", &|part| {
        part.unshipped_bytes
    });
    family("rhumb_allowed", gauge, "Whether it may ask hosts now.", &|part| {
        u64::from(part.is_allowed)
    });
    let mut single = |name: &str, kind: &str, help: &str, value: f64| {
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    };
    single("rhumb_pages_per_second", gauge, "Pages a second, of late.", told.pages_per_s);
    single("rhumb_peak_rss_bytes", gauge, "Memory at its most.", told.peak_rss_bytes as f64);
    single("rhumb_stuck", gauge, "What does not go on.", told.stuck.len() as f64);
    single("rhumb_note_requests_total", counter, "Batches sent.", post.requests as f64);
    single("rhumb_note_urls_total", counter, "URLs sent to other nodes.", post.items as f64);
    single("rhumb_note_bytes_total", counter, "Bytes of batches sent.", post.bytes as f64);
    single("rhumb_notes_dropped_total", counter, "Notes dropped.", post.dropped as f64);
    page
}
