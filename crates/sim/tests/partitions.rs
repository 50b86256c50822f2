//! A crawl divided among engines that write each other messages: nobody is forgotten, no mass is
//! paid twice, and the sum of what they prove is true.

use rhumb_sim::mutant::Mutant;
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::{Faults, Scenario};

fn scenario(name: &str, seed: u64, partitions: u32) -> Scenario {
    let base = Scenario::named(name, seed).expect("a scenario of this name");
    Scenario { partitions, ..base }
}

fn passes(scenario: &Scenario) -> Simulated {
    let simulated = simulate(scenario, None);
    let Scenario { name, partitions, .. } = scenario;
    let violations = &simulated.violations;
    assert!(violations.is_empty(), "{name} in {partitions} parts: {violations:#?}");
    assert!(simulated.tally.messages > 0, "{:?}", simulated.tally);
    simulated
}

#[test]
fn together_they_find_all_and_prove_nearly_all_that_one_alone_would() {
    for (seed, partitions) in [(1, 2), (2, 5)] {
        let alone = simulate(&scenario("small", seed, 1), None);
        let parted = passes(&scenario("small", seed, partitions));
        let last = |simulated: &Simulated| *simulated.curve.last().expect("compared at the end");
        let (one, all) = (last(&alone), last(&parted));
        assert!((one.truth - all.truth).abs() < 0.05, "{one:?} alone, {all:?} together");
        assert!(all.bound > all.truth - 1e-4, "{all:?}");
    }
}

#[test]
fn messages_that_come_twice_and_late_and_each_dying_alone_break_nothing() {
    for seed in 1..=3 {
        let scenario = scenario("parted", seed, 3).with_faults(Faults::usual());
        let simulated = passes(&scenario);
        let Faults { crashes, power_cuts, .. } = Faults::usual();
        assert_eq!(simulated.tally.crashes, u64::from(3 * (crashes + power_cuts)));
    }
}

/// A topic: what is proven of it is true through faults, crashes, messages and pages that change.
#[test]
fn what_is_proven_of_a_topic_is_true_alone_and_divided() {
    for (name, seed, partitions) in [("topical", 1, 1), ("topical", 2, 3), ("turning", 3, 3)] {
        let simulated =
            simulate(&scenario(name, seed, partitions).with_faults(Faults::usual()), None);
        let violations = &simulated.violations;
        assert!(violations.is_empty(), "{name} in {partitions} parts: {violations:#?}");
        let last = simulated.curve.last().expect("compared at the end");
        assert!(last.bound > 0.0, "{name}: something is proven: {last:?}");
    }
}

/// Compared after every turn, through faults, crashes and changing links, alone and divided.
#[test]
fn what_is_proven_is_true_after_every_single_turn() {
    for (name, seed, partitions) in [("small", 4, 1), ("shifting", 6, 3)] {
        let scenario = Scenario { compare_every: 1, ..scenario(name, seed, partitions) };
        let simulated = simulate(&scenario.with_faults(Faults::usual()), None);
        assert!(simulated.violations.is_empty(), "{name}: {:#?}", simulated.violations);
        assert!(simulated.curve.len() > 1_000, "{name}: {} comparisons", simulated.curve.len());
    }
}

#[test]
fn links_that_change_take_back_what_was_settled_in_other_partitions() {
    let scenario = scenario("shifting", 2, 4).with_faults(Faults::usual());
    let simulated = passes(&scenario);
    assert!(simulated.counters.revisits > 300, "{:?}", simulated.counters);
}

#[test]
fn the_same_seed_does_the_same() {
    let scenario = scenario("parted", 3, 3).with_faults(Faults::usual());
    assert_eq!(passes(&scenario), passes(&scenario));
}

#[test]
fn who_takes_mass_twice_or_forgets_what_it_sent_is_caught() {
    let caught = |mutant: Mutant, scenario: &Scenario| {
        let violations = simulate(scenario, Some(mutant)).violations;
        assert!(violations.iter().any(|v| v.invariant == mutant.breaks()), "{violations:?}");
        violations.iter().any(|v| v.what.contains("they say"))
    };
    // What is taken twice is proven twice, sooner or later.
    assert!(caught(Mutant::Greedy, &scenario("small", 1, 3)), "no bound was too high");
    caught(Mutant::Indebted, &scenario("small", 1, 3));
}

#[test]
fn who_leaves_out_of_a_topic_what_is_on_its_way_or_takes_it_twice_is_caught() {
    for mutant in [Mutant::Summing, Mutant::Greedy, Mutant::Indebted] {
        let caught = (1..=3).any(|seed| {
            let violations = simulate(&scenario("topical", seed, 3), Some(mutant)).violations;
            violations.iter().any(|violation| violation.invariant == mutant.breaks())
        });
        assert!(caught, "{mutant:?}");
    }
}

/// Power fails at one partition, which falls back to what it had synced; the others have heard only
/// of what was.
#[test]
fn power_cuts_of_each_alone_take_back_nothing_that_another_has_heard_of() {
    for seed in 1..=3 {
        let faults = Faults { power_cuts: 10, ..Faults::usual() };
        let simulated = passes(&scenario("parted", seed, 3).with_faults(faults));
        assert_eq!(simulated.tally.power_cuts, 30);
    }
}

#[test]
fn what_leaves_before_it_is_shipped_is_caught() {
    let faults = Faults { power_cuts: 10, ..Faults::usual() };
    for mutant in [Mutant::Blabbing, Mutant::Assuring, Mutant::Insisting] {
        let caught = (1..=5).any(|seed| {
            let scenario = scenario("parted", seed, 3).with_faults(faults);
            let violations = simulate(&scenario, Some(mutant)).violations;
            violations.iter().any(|violation| violation.invariant == mutant.breaks())
        });
        assert!(caught, "{mutant:?}");
    }
}
