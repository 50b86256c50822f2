//! What politeness costs the order of a crawl: `docs/politeness-cost.md`.
//!
//! One web, crawled in virtual time: as if no host minded, and then with delays, over few hosts and
//! many, with three ways to choose among the hosts that are due. Printed are the pages and the time
//! it took until the links proved half and four fifths of all importance covered, and the pages
//! until the crawl itself said so.
//!
//!     cargo run --release -p rhumb-sim --example politeness

use rhumb_engine::config::{Config, Order, Polite, Selection};
use rhumb_engine::time::Span;
use rhumb_sim::check::Point;
use rhumb_sim::run::simulate;
use rhumb_sim::scenario::Scenario;
use rhumb_sim::web::WebConfig;

const PAGES: u32 = 10_000;
const IN_FLIGHT: usize = 64;

fn main() {
    println!(
        "| hosts | delay | in flight | choice | pages to .5 | to .8 | told .8 | time: .5 | .8 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for hosts in [10, 100, 1_000] {
        crawl(hosts, None, 1, Order::Settled, Selection::Best);
        for delay_s in [1, 10] {
            for selection in [Selection::Best, Selection::Biased, Selection::Patient { octaves: 2 }]
            {
                crawl(hosts, Some(delay_s), IN_FLIGHT, Order::Settled, selection);
            }
        }
        crawl(hosts, Some(1), IN_FLIGHT, Order::Bfs, Selection::Biased);
    }
    for selection in [Selection::Best, Selection::Biased, Selection::Patient { octaves: 2 }] {
        crawl(1_000, Some(1), 4, Order::Settled, selection);
    }
}

fn crawl(hosts: u32, delay_s: Option<u64>, concurrency: usize, order: Order, selection: Selection) {
    let base = Scenario::named("small", 7).expect("a scenario of this name");
    // Without a delay, one request at a time to whoever is best: the order as it was meant.
    let polite = match delay_s {
        Some(s) => Polite { delay: Span::secs(s), ..Polite::default() },
        None => Polite {
            delay: Span::ZERO,
            delay_factor: 0.0,
            per_address: u16::MAX,
            ..Polite::default()
        },
    };
    let web = WebConfig { seed: 7, seeds: 1, ..WebConfig::plain(hosts, PAGES) };
    let config = Config { order, selection, concurrency, polite, ..base.config.clone() };
    let simulated = simulate(&Scenario { web, config, ..base }, None);
    assert!(simulated.violations.is_empty(), "{:?}", simulated.violations);
    let first = |target: f64, of: fn(&Point) -> f64| {
        simulated.curve.iter().find(|point| of(point) >= target).expect("reached in the end")
    };
    let (half, most) = (first(0.5, |p| p.truth), first(0.8, |p| p.truth));
    let told = first(0.8, |p| p.bound);
    let delay = delay_s.map_or("none".to_owned(), |s| format!("{s} s"));
    let minutes = |point: &Point| format!("{:.0} min", point.since.as_secs_f64() / 60.0);
    println!(
        "| {hosts} | {delay} | {concurrency} | {order:?}, {selection:?} | {} | {} | {} | {} | {} |",
        half.pages,
        most.pages,
        told.pages,
        minutes(half),
        minutes(most)
    );
}
