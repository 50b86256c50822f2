//! What the engine costs: per discovery (from a page's links to admitted rows), per fetched page
//! (from choosing to settling), and the filter's memory per known URL.
//!
//! Only `step` and `conclude` are timed; the store and the web answer outside the clock. A store
//! in memory, virtual time. Targets: 2 µs, 20 µs, and well under 60 bytes.

use rhumb_engine::config::Config;
use rhumb_engine::discovery::{Discovery, FoundAs, FoundUrl};
use rhumb_engine::engine::{Engine, Opening};
use rhumb_engine::event::{Action, Event, FetchOrder, Purpose, ResolvedName, Step};
use rhumb_engine::outcome::{FetchReport, Outcome, PageContent, RobotsAnswer};
use rhumb_engine::record::UrlId;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::BATCH_MAX;
use rhumb_page::url::Url;
use rhumb_state::memory::MemoryState;
use rhumb_state::seen::SeenFilter;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

fn main() {
    // Cargo hands on its own arguments, `--bench` among them.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    // First, while the heap is fresh: what others freed would hide what it takes.
    if is_wanted("memory") {
        memory();
    }
    if is_wanted("discoveries") {
        discoveries("new, over 2,000 hosts", |page, n| ((page * 7 + n) % 2_000, page * LINKS + n));
        discoveries("new, all of one host", |page, n| (0, page * LINKS + n));
        discoveries("known before", |_, n| (n, n));
    }
    if is_wanted("pages") {
        pages("over 2,000 hosts", 2_000, 100);
        pages("over 100 hosts", 100, 2_000);
        pages("over 100,000 hosts", 100_000, 2);
    }
}

/// Links of one page in the bench of discoveries.
const LINKS: u64 = 1_000;

/// Pages of a thousand links: nearly all the work is discovering.
fn discoveries(what: &str, link: impl Fn(u64, u64) -> (u64, u64)) {
    let mut crawl = Crawl::new();
    crawl.links = (0..400)
        .map(|page| {
            let found = (0..LINKS).map(|n| link(page, n));
            found.map(|(host, path)| url(host, &format!("some/path/{path}"))).collect()
        })
        .collect();
    let seeds: Vec<Url> = (0..400).map(|page| url(1_000_000 + page, "seed")).collect();
    crawl.seed(seeds);
    crawl.run(|crawl| crawl.engine.counters().discoveries >= 400 * LINKS && crawl.is_sifted());
    let counters = crawl.engine.counters();
    let (found, new) = (counters.discoveries, counters.known);
    let each = crawl.spent.as_secs_f64() * 1e6 / found as f64;
    println!("per discovery, {what}: {each:.2} µs ({found} found, {new} new)");
}

/// Pages without links: nearly all the work is choosing, comparing and settling.
fn pages(what: &str, hosts: u64, pages: u64) {
    let mut crawl = Crawl::new();
    let all = (0..pages).flat_map(|n| (0..hosts).map(move |h| url(h, &format!("page/{n}"))));
    crawl.seed(all.collect());
    crawl.fetches = false;
    crawl.run(|crawl| crawl.is_sifted());
    crawl.fetches = true;
    crawl.spent = Duration::ZERO;
    let waiting = std::mem::take(&mut crawl.held_back);
    waiting.into_iter().for_each(|fetch| crawl.fetch(fetch));
    let began = Instant::now();
    crawl.run(|crawl| crawl.engine.over().is_some());
    let counters = crawl.engine.counters();
    let each = crawl.spent.as_secs_f64() * 1e6 / counters.pages as f64;
    let share = crawl.spent.as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
    println!(
        "per fetched page, {what}: {each:.2} µs ({} pages, robots.txt of {} hosts, {share:.0} % of \
         the run)",
        counters.pages, counters.hosts
    );
}

/// The filter's memory as the system sees it.
fn memory() {
    let before = resident_bytes();
    let mut seen = SeenFilter::new(1);
    let empty = resident_bytes();
    println!("filter, empty: {} MB", (empty - before) >> 20);
    let mut at_million = 0;
    for n in 1..=10_000_000u64 {
        let print = seen.fingerprint_key(format!("test,h{},:http:80/{n}", n % 9_999).as_bytes());
        seen.insert(print, (n % 9) as u16, UrlId(n));
        if n == 1_000_000 || n % 3_000_000 == 0 || n == 10_000_000 {
            let bytes = resident_bytes() - before;
            if n == 1_000_000 {
                at_million = bytes;
            }
            let further = bytes.saturating_sub(at_million) as f64 / (n - 999_999) as f64;
            println!(
                "filter, {n} URLs: {} MB, {further:.1} B per URL beyond a million",
                bytes >> 20
            );
        }
    }
}

/// The engine among the things it needs, with a clock around the engine alone.
struct Crawl {
    engine: Engine,
    state: MemoryState,
    now: Time,
    coming: BTreeMap<(Time, u64), Event>,
    sent: u64,
    /// Links of the pages to come; none when these are used up.
    links: Vec<Vec<Url>>,
    fetches: bool,
    held_back: Vec<FetchOrder>,
    spent: Duration,
}

impl Crawl {
    fn new() -> Crawl {
        let now = Time(1_000_000_000);
        Crawl {
            engine: Engine::open(Config::default(), Opening::default(), now),
            state: MemoryState::new(1),
            now,
            coming: BTreeMap::new(),
            sent: 0,
            links: Vec::new(),
            fetches: true,
            held_back: Vec::new(),
            spent: Duration::ZERO,
        }
    }

    fn seed(&mut self, seeds: Vec<Url>) {
        let seed = |url| Discovery { url, kind: FoundAs::Seed, depth: 0, hops: 0, from: None };
        let seeds = seeds.into_iter().map(|url| (seed(url), 1.0));
        let event = Event::Seeded { seeds: seeds.collect() };
        self.send(Span::ZERO, event);
    }

    fn is_sifted(&self) -> bool {
        let counters = self.engine.counters();
        counters.known > 0 && counters.outbox_head == counters.next_outbox
    }

    fn run(&mut self, is_done: impl Fn(&Crawl) -> bool) {
        let (mut step, mut events) = (Step::default(), Vec::new());
        while !is_done(self) {
            let wakeup = self.engine.next_wakeup(self.now).map(|(at, _)| at);
            let coming = self.coming.keys().next().map(|(at, _)| *at);
            self.now = wakeup.into_iter().chain(coming).min().expect("something to wait for");
            while events.len() < BATCH_MAX {
                let entry = self.coming.first_entry().filter(|e| e.key().0 <= self.now);
                let Some(entry) = entry else { break };
                events.push(entry.remove());
            }
            let began = Instant::now();
            events.drain(..).for_each(|event| self.engine.step(self.now, event, &mut step));
            self.engine.conclude(self.now, &mut step);
            self.spent += began.elapsed();
            step.keeps.clear();
            self.state.commit(&mut step.rows);
            step.actions.drain(..).for_each(|action| self.perform(action));
        }
    }

    fn send(&mut self, after: Span, event: Event) {
        self.sent += 1;
        self.coming.insert((self.now + after, self.sent), event);
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Fetch(fetch) if self.fetches => self.fetch(fetch),
            Action::Fetch(fetch) => self.held_back.push(fetch),
            Action::Resolve { host } => {
                let [a, b, c, ..] = url(self.sent, "").fingerprint(0).to_le_bytes();
                let until = self.now + Span::secs(86_400);
                let answer = Ok(ResolvedName { ips: vec![IpAddr::from([10, a, b, c])], until });
                self.send(Span::millis(5), Event::Resolved { host, answer });
            }
            Action::Acknowledge { .. } | Action::Log(_) => unreachable!("one partition, no log"),
            Action::Ask(question) => {
                let answer = self.state.answer(question).expect("an answer from memory");
                self.send(Span::millis(1), Event::Answered(answer));
            }
        }
    }

    fn fetch(&mut self, fetch: FetchOrder) {
        let outcome = match fetch.purpose {
            Purpose::Robots => Outcome::Robots(RobotsAnswer::Absent),
            _ => {
                let links = self.links.pop().unwrap_or_default();
                let found = links.into_iter().map(|url| FoundUrl::new(url, FoundAs::Link));
                let content = fetch.url.fingerprint(0).to_le_bytes();
                Outcome::Page(Box::new(PageContent {
                    content,
                    found: found.collect(),
                    ..PageContent::default()
                }))
            }
        };
        let took = Span::millis(20 + fetch.id.0 % 60);
        let report =
            FetchReport { outcome, status: 200, bytes: 20_000, at: self.now, took, held: true };
        self.send(took, Event::Fetched { fetch: fetch.id, report });
    }
}

fn url(host: u64, path: &str) -> Url {
    Url::parse(&format!("http://www.host{host}.test/{path}")).expect("a URL")
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4_096
}
