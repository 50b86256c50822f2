//! Fixed seeds of every scenario: no invariant is broken, with and without faults.

use rhumb_engine::event::StopReason;
use rhumb_engine::record::Refusal;
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::{Faults, Scenario};

fn passes(name: &str, seed: u64, faults: Faults) -> Simulated {
    let scenario =
        Scenario::named(name, seed).expect("a scenario of this name").with_faults(faults);
    let simulated = simulate(&scenario, None);
    assert!(
        simulated.violations.is_empty(),
        "rhumb sim run --scenario {name} --seed {seed}{}: {:#?}",
        if faults == Faults::default() { "" } else { " --faults" },
        simulated.violations
    );
    simulated
}

#[test]
fn no_invariant_breaks_on_a_calm_web() {
    for seed in 1..=6 {
        let simulated = passes("small", seed, Faults::default());
        assert!(simulated.counters.pages > 300, "{simulated:?}");
    }
}

#[test]
fn no_invariant_breaks_on_a_hostile_web_with_lost_and_slow_fetches_and_crashes() {
    for seed in 1..=4 {
        let simulated = passes("hostile", seed, Faults::usual());
        let Faults { crashes, power_cuts, .. } = Faults::usual();
        assert_eq!(simulated.tally.crashes, u64::from(crashes + power_cuts));
    }
}

#[test]
fn a_crawl_that_is_stopped_and_taken_up_or_widened_ends_as_if_it_had_never_been() {
    for name in ["limited", "widened"] {
        for (seed, faults) in [(1, Faults::default()), (2, Faults::usual())] {
            passes(name, seed, faults);
        }
    }
}

#[test]
fn what_pages_are_shown_with_is_fetched_and_breaks_no_invariant() {
    for (seed, faults) in [(1, Faults::default()), (2, Faults::usual()), (3, Faults::usual())] {
        let simulated = passes("shown", seed, faults);
        assert!(simulated.requisites > 20, "{simulated:?}");
    }
}

/// The request for a sitemap that nobody named is lost: that was taken for its absence.
#[test]
fn a_lost_request_for_a_tried_sitemap_is_no_visit() {
    passes("shown", 7, Faults::usual());
}

#[test]
fn narrowed_rules_hold_for_what_waits_and_prove_nothing_false() {
    for (seed, faults) in [(1, Faults::default()), (2, Faults::usual()), (3, Faults::usual())] {
        let simulated = passes("narrowed", seed, faults);
        assert!(simulated.counters.refused[Refusal::Scope as usize] > 0, "{simulated:?}");
    }
}

#[test]
fn long_delays_few_places_and_single_requests_per_address_hold_nobody_up_for_ever() {
    passes("narrow", 1, Faults::default());
    passes("narrow", 2, Faults::usual());
}

#[test]
fn no_host_starves_when_far_more_hosts_have_work_than_may_be_awake() {
    passes("crowded", 1, Faults::default());
    passes("crowded", 2, Faults::usual());
}

#[test]
fn hosts_that_are_down_for_minutes_or_hours_and_come_back_lose_no_page() {
    for (seed, faults) in [(1, Faults::default()), (2, Faults::default()), (3, Faults::usual())] {
        let simulated = passes("recovering", seed, faults);
        assert!(simulated.counters.pages >= 2_000, "{simulated:?}");
        assert_eq!(simulated.stopped, Some(StopReason::HostsFailing), "four hosts are dead");
    }
}

#[test]
fn hours_and_a_rate_of_bytes_hold_whatever_happens_and_hold_nobody_up_for_ever() {
    for (seed, faults) in [(1, Faults::default()), (2, Faults::usual()), (3, Faults::usual())] {
        let simulated = passes("timed", seed, faults);
        assert!(simulated.counters.pages > 300, "{simulated:?}");
    }
}
