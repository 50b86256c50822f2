//! What politeness costs the order of a crawl: `docs/politeness-cost.md`.
//!
//! One web, crawled in virtual time: as if no host minded, and then with delays, over few hosts and
//! many, with the two ways to choose among the hosts that are due. Printed are the pages that it
//! took until the links proved half, four fifths and nine tenths of all importance covered.
//!
//!     cargo run --release -p rhumb-sim --example politeness

use rhumb_engine::config::{Config, Order, Polite, Selection};
use rhumb_engine::time::Span;
use rhumb_sim::run::simulate;
use rhumb_sim::scenario::Scenario;
use rhumb_sim::web::WebConfig;

const PAGES: u32 = 10_000;
const TARGETS: [f64; 3] = [0.5, 0.8, 0.9];

fn main() {
    println!("| hosts | delay | in flight | order | choice | .5 | .8 | .9 | .9 told |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for hosts in [10, 100, 1_000] {
        run(hosts, None, Order::Settled, Selection::Best);
        for delay in [1, 10] {
            for (order, selection) in [
                (Order::Settled, Selection::Best),
                (Order::Settled, Selection::Biased),
                (Order::Bfs, Selection::Biased),
            ] {
                run(hosts, Some(delay), order, selection);
            }
        }
    }
}

fn run(hosts: u32, delay_s: Option<u64>, order: Order, selection: Selection) {
    let base = Scenario::named("small", 7).expect("a scenario of this name");
    let polite = Polite { delay: Span::secs(delay_s.unwrap_or(0)), ..Polite::default() };
    let impolite =
        Polite { delay: Span::ZERO, delay_factor: 0.0, per_address: u16::MAX, ..Polite::default() };
    // One request at a time to whoever is best is the order as it was meant.
    let concurrency = if delay_s.is_some() { 64 } else { 1 };
    let web = WebConfig { seed: 7, seeds: 1, ..WebConfig::plain(hosts, PAGES) };
    let config = Config {
        order,
        selection,
        concurrency,
        polite: if delay_s.is_some() { polite } else { impolite },
        ..base.config.clone()
    };
    let simulated = simulate(&Scenario { web, config, ..base }, None);
    assert!(simulated.violations.is_empty(), "{:?}", simulated.violations);
    let pages = |target: f64, of: fn(&(u64, f64, f64)) -> f64| {
        let first = simulated.curve.iter().find(|point| of(point) >= target);
        first.map_or("–".to_owned(), |(pages, ..)| pages.to_string())
    };
    let provable = TARGETS.map(|target| pages(target, |point| point.2)).join(" | ");
    let told = pages(0.9, |point| point.1);
    let delay = delay_s.map_or("none".to_owned(), |s| format!("{s} s"));
    println!(
        "| {hosts} | {delay} | {concurrency} | {order:?} | {selection:?} | {provable} | {told} |"
    );
}
