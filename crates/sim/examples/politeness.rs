//! What politeness costs the order of a crawl: `docs/lab/politeness-cost.md`.
//!
//! One web, crawled in virtual time: as if no host minded, and then with delays, over few hosts and
//! many, with three ways to choose among the hosts that are due, and divided among partitions.
//! Printed are the pages and the time it took until the links proved half and four fifths of all
//! importance covered, and the pages until the crawl itself said so.
//!
//!     cargo run --release -p rhumb-sim --example politeness [delays|slots|partitions]

use rhumb_engine::config::{Config, Order, Polite, Selection};
use rhumb_engine::time::Span;
use rhumb_sim::check::Point;
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::Scenario;
use rhumb_sim::web::WebConfig;

const PAGES: u32 = 10_000;
const IN_FLIGHT: usize = 64;

const SELECTIONS: [Selection; 3] =
    [Selection::Best, Selection::Biased, Selection::Patient { octaves: 2 }];

fn main() {
    let wanted = std::env::args().nth(1);
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    println!(
        "| parts | hosts | delay | in flight | choice | pages to .5 | to .8 | told .8 | time: .5 \
         | .8 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    if is_wanted("delays") {
        delays();
    }
    if is_wanted("slots") {
        SELECTIONS.into_iter().for_each(|choice| Crawl { choice, in_flight: 4, ..MANY }.print());
    }
    if is_wanted("partitions") {
        for hosts in [100, 1_000] {
            for partitions in [1, 4, 16] {
                let crawl = Crawl { hosts, partitions, ..MANY };
                // Each partition asks for what is best in its own eyes; one with as many in flight
                // shows what that alone costs.
                let at_once = Crawl { delay_s: None, in_flight: partitions as usize, ..crawl };
                at_once.print();
                if partitions > 1 {
                    Crawl { partitions: 1, ..at_once }.print();
                }
                crawl.print();
            }
        }
    }
}

fn delays() {
    for hosts in [10, 100, 1_000] {
        Crawl { hosts, delay_s: None, in_flight: 1, ..MANY }.print();
        for delay_s in [1, 10].map(Some) {
            for choice in SELECTIONS {
                Crawl { hosts, delay_s, choice, ..MANY }.print();
            }
        }
        Crawl { hosts, order: Order::Bfs, choice: Selection::Biased, ..MANY }.print();
    }
}

#[derive(Clone, Copy)]
struct Crawl {
    partitions: u32,
    hosts: u32,
    delay_s: Option<u64>,
    /// Over all partitions.
    in_flight: usize,
    order: Order,
    choice: Selection,
}

const MANY: Crawl = Crawl {
    partitions: 1,
    hosts: 1_000,
    delay_s: Some(1),
    in_flight: IN_FLIGHT,
    order: Order::Settled,
    choice: Selection::Best,
};

impl Crawl {
    fn print(self) {
        let Crawl { partitions, hosts, delay_s, in_flight, order, choice } = self;
        let simulated = self.simulate();
        let first = |target: f64, of: fn(&Point) -> f64| {
            simulated.curve.iter().find(|point| of(point) >= target).expect("reached in the end")
        };
        let (half, most) = (first(0.5, |p| p.truth), first(0.8, |p| p.truth));
        let told = first(0.8, |p| p.bound);
        let delay = delay_s.map_or("none".to_owned(), |s| format!("{s} s"));
        let minutes = |point: &Point| format!("{:.0} min", point.since.as_secs_f64() / 60.0);
        println!(
            "| {partitions} | {hosts} | {delay} | {in_flight} | {order:?}, {choice:?} | {} | {} | \
             {} | {} | {} |",
            half.pages,
            most.pages,
            told.pages,
            minutes(half),
            minutes(most)
        );
    }

    fn simulate(self) -> Simulated {
        let base = Scenario::named("small", 7).expect("a scenario of this name");
        // Without a delay, one request at a time to whoever is best: the order as it was meant.
        let polite = match self.delay_s {
            Some(s) => Polite { delay: Span::secs(s), ..Polite::default() },
            None => Polite {
                delay: Span::ZERO,
                delay_factor: 0.0,
                per_address: u16::MAX,
                ..Polite::default()
            },
        };
        let web = WebConfig { seed: 7, seeds: 1, ..WebConfig::plain(self.hosts, PAGES) };
        let concurrency = self.in_flight / self.partitions as usize;
        let Crawl { order, choice: selection, partitions, .. } = self;
        let config = Config { order, selection, concurrency, polite, ..base.config.clone() };
        let simulated = simulate(&Scenario { web, config, partitions, ..base }, None);
        assert!(simulated.violations.is_empty(), "{:?}", simulated.violations);
        simulated
    }
}
