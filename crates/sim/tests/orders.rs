//! Every order, through faults and changing links: nobody is forgotten, and no bound exceeds the
//! truth.

use rhumb_engine::config::{Config, Order};
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::{Faults, Scenario};

const ORDERS: [Order; 10] = [
    Order::Settled,
    Order::RankMass,
    Order::Windowed,
    Order::LNeighbor,
    Order::Opic,
    Order::Backlink,
    Order::PartialPr,
    Order::Bfs,
    Order::Dfs,
    Order::Random,
];

fn passes(name: &str, seed: u64, order: Order) -> Simulated {
    passes_with(name, seed, order, Faults::usual())
}

fn passes_with(name: &str, seed: u64, order: Order, faults: Faults) -> Simulated {
    let base = Scenario::named(name, seed).expect("a scenario of this name");
    let before = base.before.iter().map(|config| Config { order, ..config.clone() }).collect();
    let config = Config { order, ..base.config.clone() };
    let scenario = Scenario { config, before, ..base }.with_faults(faults);
    let simulated = simulate(&scenario, None);
    let violations = &simulated.violations;
    assert!(violations.is_empty(), "{name} {seed} {order:?}: {violations:#?}");
    simulated
}

#[test]
fn every_order_finds_all_through_crashes_and_proves_nothing_false() {
    for order in ORDERS {
        let simulated = passes("small", 5, order);
        let bound = simulated.curve.last().expect("compared at the end").bound;
        assert!(bound > 0.5, "{order:?}: {bound}");
    }
}

/// A row of its host may say that nothing waits before a place, from when it lay down.
#[test]
fn a_url_that_rose_while_its_host_was_awake_is_found_again_after_a_crash() {
    let faults = Faults { crashes: 6, ..Faults::usual() };
    for seed in 1..6 {
        for order in [Order::Backlink, Order::Opic] {
            passes_with("small", seed, order, faults);
        }
    }
}

#[test]
fn what_is_proven_stays_true_when_links_change_and_when_rules_do() {
    let simulated = passes("revisit", 2, Order::Settled);
    assert!(simulated.counters.revisits > 500, "{:?}", simulated.counters);
    for seed in [3, 4] {
        passes("widened", seed, Order::Settled);
    }
}

/// Over several webs, so that no seed decides.
#[test]
fn important_pages_come_sooner_than_by_depth() {
    let reached = |order| -> u64 {
        let pages = (9..13).map(|seed| {
            let simulated = passes("hostile", seed, order);
            let first = simulated.curve.iter().find(|point| point.truth >= 0.5);
            first.map(|point| point.pages).expect("half of it is covered at some time")
        });
        pages.sum()
    };
    let (settled, bfs) = (reached(Order::Settled), reached(Order::Bfs));
    assert!(settled < bfs, "{settled} pages by importance, {bfs} by depth");
}
