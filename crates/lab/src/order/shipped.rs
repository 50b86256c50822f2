//! The orders as they ship: the engine's own policies and books over a graph that is known.
//!
//! All pages are of one host that is never slow, so the URL with the best place always comes next;
//! everything else is what `rhumb crawl --order` does: classes by octave, a URL that moves up only
//! when a link to it is seen and its class is better, pushes paid for by pages, and one bound for
//! all orders. The papers' exact forms are beside this file; here is what they lose in a crawl.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rhumb_engine::config::{Config, Order};
use rhumb_engine::event::Step;
use rhumb_engine::known::KnownLinks;
use rhumb_engine::mass::{Mass, Surfer, node};
use rhumb_engine::order::{self, OrderPolicy};
use rhumb_engine::queue::Place;
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_graph::PageNumber;
use rhumb_page::url::Url;

use super::Experiment;
use super::record::Watch;

/// The name of an order that ships, as `rhumb sim order` knows it.
pub(super) fn name(order: Order) -> &'static str {
    match order {
        Order::Settled => "crawl-settled",
        Order::RankMass => "crawl-rankmass",
        Order::Windowed => "crawl-windowed",
        Order::LNeighbor => "crawl-lneighbor",
        Order::Opic => "crawl-opic",
        Order::Backlink => "crawl-backlink",
        Order::PartialPr => "crawl-partialpr",
        Order::Bfs => "crawl-bfs",
        Order::Dfs => "crawl-dfs",
        Order::Random => "crawl-random",
        Order::Focused => "crawl-focused",
        Order::FocusedProven => "crawl-focused-proven",
    }
}

/// A page that has no number in the books yet.
const UNKNOWN: u32 = u32::MAX;

pub(super) fn run(experiment: &Experiment<'_>, order: Order, watch: &mut Watch<'_>) {
    let mut crawl = Crawl::new(experiment, order);
    while !watch.is_over()
        && let Some(id) = crawl.next()
    {
        watch.downloaded(crawl.pages[id as usize]);
        crawl.fetch(experiment, id);
        crawl.tell(watch);
    }
    // As a crawl does when it is over: nearly all that can be proven is.
    crawl.mass.push_at_end();
    crawl.tell(watch);
}

struct Crawl {
    policy: Box<dyn OrderPolicy>,
    mass: Mass,
    /// The page of each number. Numbers are given in the order of discovery, as in a crawl.
    pages: Vec<PageNumber>,
    ids: Vec<u32>,
    depths: Vec<u16>,
    waits: Vec<bool>,
    /// A page that has moved up stands at its old place as well, where it is passed over.
    queue: BinaryHeap<Reverse<Place>>,
    /// Rows that a crawl would commit.
    step: Step,
}

impl Crawl {
    fn new(experiment: &Experiment<'_>, order: Order) -> Crawl {
        let config = Config { order, seed: experiment.seed, ..Config::default() };
        let mut crawl = Crawl {
            policy: order::policy(&config),
            mass: Mass::default(),
            pages: Vec::new(),
            ids: vec![UNKNOWN; experiment.pages()],
            depths: Vec::new(),
            waits: Vec::new(),
            queue: BinaryHeap::new(),
            step: Step::default(),
        };
        let url =
            |page: PageNumber| Url::parse(&format!("http://graph.test/{page}")).expect("a URL");
        let weights = experiment.trust.weights();
        crawl.mass.seeded(weights.iter().map(|(page, weight)| (url(*page), *weight)));
        for (page, _) in weights {
            let id = crawl.number(*page, 0);
            let trusted = crawl.mass.seed_is(&url(*page), UrlId(id.into()));
            if let Some((node, share)) = trusted {
                crawl.policy.trusted(node, share);
            }
        }
        for id in 0..crawl.pages.len() as u32 {
            crawl.file(id);
        }
        crawl
    }

    /// The number of a page: a new one if it was not found before.
    fn number(&mut self, page: PageNumber, depth: u16) -> u32 {
        let known = self.ids[page as usize];
        if known != UNKNOWN {
            return known;
        }
        let id = self.pages.len() as u32;
        self.ids[page as usize] = id;
        self.pages.push(page);
        self.depths.push(depth);
        self.waits.push(true);
        self.mass.stand(&self.record(id, RecordStatus::Queued));
        id
    }

    fn record(&self, id: u32, status: RecordStatus) -> UrlRecord {
        let depth = self.depths[id as usize];
        UrlRecord::new(UrlId(id.into()), status, depth, 0, Time::ZERO)
    }

    fn place(&self, id: u32) -> Place {
        let of = ("", self.depths[id as usize], UrlId(id.into()));
        order::place(self.policy.as_ref(), &[], of, &self.mass)
    }

    fn file(&mut self, id: u32) {
        let place = self.place(id);
        let Place::Now { class, .. } = place else { return };
        self.mass.file(UrlId(id.into()), Some(class));
        self.queue.push(Reverse(place));
    }

    fn next(&mut self) -> Option<u32> {
        loop {
            let Reverse(place) = self.queue.pop()?;
            let id = place.id().0 as u32;
            if std::mem::replace(&mut self.waits[id as usize], false) {
                return Some(id);
            }
        }
    }

    /// What a crawl does once the links of a page have their numbers.
    fn fetch(&mut self, experiment: &Experiment<'_>, id: u32) {
        let depth = self.depths[id as usize].saturating_add(1);
        self.mass.stand(&self.record(id, RecordStatus::Fetched));
        let found = self.pages.len() as u32;
        let links = experiment.graph.links_of(self.pages[id as usize]);
        let mut ids: Vec<u32> = links.map(|target| self.number(target, depth)).collect();
        ids.sort_unstable();
        ids.dedup();
        let page = node(UrlId(id.into())).expect("the books have room for a graph in memory");
        let whole = match ids.is_empty() {
            true => self.mass.linked_to_none(page, Surfer::USUAL, &mut self.step),
            false => {
                let mut known = KnownLinks::with_room(depth, ids.len());
                ids.iter().for_each(|id| known.push(*id, None));
                let links = (&known, Surfer::USUAL);
                self.mass.linked_to_known(page, u64::from(id), links, &mut self.step)
            }
        };
        self.step.rows.clear();
        self.policy.linked(&whole, &self.mass);
        for id in ids {
            if id >= found {
                self.file(id);
            } else if self.policy.follows_importance() && self.waits[id as usize] {
                self.raise(id);
            }
        }
        self.mass.push_due(self.policy.pushing());
    }

    /// A link to a page that waits was seen: it moves up if its class is better.
    fn raise(&mut self, id: u32) {
        let Place::Now { class, .. } = self.place(id) else { return };
        if self.mass.ledger().filed(id).is_some_and(|filed| class < filed) {
            self.file(id);
        }
    }

    fn tell(&self, watch: &mut Watch<'_>) {
        let bound = self.mass.coverage().map_or(0.0, |coverage| coverage.bound);
        watch.proven(bound, self.mass.ledger().pushes, self.mass.ledger().edges);
    }
}
