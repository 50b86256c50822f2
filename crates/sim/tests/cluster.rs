//! A crawl on many machines in virtual time: whatever happens to machines, network and bucket, the
//! invariants hold over the union of all partitions, and every page that can be reached is found.

use rhumb_engine::event::StopReason;
use rhumb_sim::cluster::plan::{ClusterPlan, ClusterTally, PlannedTrouble};
use rhumb_sim::mutant::Mutant;
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::{Faults, Scenario};

fn scenario(name: &str, seed: u64) -> Scenario {
    Scenario::named(name, seed).expect("a scenario of this name")
}

fn passes(scenario: &Scenario) -> (Simulated, ClusterTally) {
    let simulated = simulate(scenario, None);
    let violations = &simulated.violations;
    assert!(violations.is_empty(), "{} {}: {violations:#?}", scenario.name, scenario.config.seed);
    let tally = simulated.cluster.clone().expect("a crawl on machines");
    (simulated, tally)
}

#[test]
fn three_nodes_find_what_one_machine_finds() {
    for seed in 1..=2 {
        let (simulated, tally) = passes(&scenario("cluster", seed));
        let alone = simulate(&Scenario { cluster: None, ..scenario("cluster", seed) }, None);
        assert_eq!(simulated.counters.pages, alone.counters.pages, "{tally:?}");
        assert!(simulated.tally.messages > 0, "{tally:?}");
    }
}

/// What is lost with them is what they committed in their last seconds: the watch looks at that.
#[test]
fn machines_that_are_lost_for_ever_take_their_last_seconds_and_no_page() {
    let mut lost = 0;
    for seed in 1..=4 {
        let (_, tally) = passes(&scenario("lost", seed));
        assert!(tally.machines_lost > 5 && tally.elsewhere > 5, "{tally:?}");
        lost += tally.commits_lost;
    }
    assert!(lost > 50, "{lost} commits were lost");
}

#[test]
fn as_many_pages_as_are_allowed_are_shipped_and_no_more_whoever_is_lost() {
    for seed in 1..=4 {
        let (simulated, _) = passes(&scenario("allowed", seed));
        let Some(ClusterPlan { pages_max, .. }) = scenario("allowed", seed).cluster else {
            panic!()
        };
        assert_eq!(Some(simulated.counters.pages), pages_max);
        assert_eq!(simulated.stopped, Some(StopReason::Pages));
    }
}

#[test]
fn machines_cut_off_stopped_killed_and_lost_and_a_bucket_that_is_away_break_nothing() {
    let mut all = ClusterTally::default();
    for seed in 1..=8 {
        // Processes die between two lines of the loop as well.
        let faults = Faults { clock_jump_s: 1, ..Faults::usual() };
        let (_, tally) = passes(&scenario("cluster", seed).with_faults(faults));
        all.stops += tally.stops;
        all.cut_offs += tally.cut_offs;
        all.store_away += tally.store_away;
        all.leaves += tally.leaves;
        all.fenced += tally.fenced;
    }
    let ClusterTally { stops, cut_offs, store_away, leaves, fenced, .. } = all;
    assert!([stops, cut_offs, store_away, leaves, fenced].iter().all(|n| *n > 5), "{all:?}");
}

#[test]
fn packets_and_operations_lost_doubled_and_late_break_nothing() {
    for seed in 1..=3 {
        let (simulated, _) = passes(&scenario("lossy", seed));
        assert_eq!(simulated.stopped, Some(StopReason::Finished));
    }
    passes(&scenario("moving", 1));
}

#[test]
fn the_same_seed_does_the_same_on_many_machines() {
    let scenario = scenario("cluster", 5).with_faults(Faults::usual());
    assert_eq!(passes(&scenario), passes(&scenario));
}

/// Of which invariant the watch complains, in one of these seeds.
fn is_caught(mutant: Mutant, seeds: &[u64], of: impl Fn(u64) -> Scenario) {
    let caught = seeds.iter().any(|seed| {
        let violations = simulate(&of(*seed), Some(mutant)).violations;
        violations.iter().any(|violation| violation.invariant == mutant.breaks())
    });
    assert!(caught, "{mutant:?}");
}

#[test]
fn what_leaves_a_machine_before_it_is_shipped_is_caught() {
    for mutant in [Mutant::Blabbing, Mutant::Assuring, Mutant::Insisting] {
        is_caught(mutant, &[1], |seed| scenario("lossy", seed));
    }
}

#[test]
fn journals_removed_marks_written_and_epochs_used_too_early_are_caught() {
    let machines = |seed| {
        let trouble = PlannedTrouble::all();
        let plan = ClusterPlan { nodes: 3, pages_max: None, trouble, cost: None };
        Scenario { cluster: Some(plan), ..scenario("cluster", seed) }
    };
    is_caught(Mutant::Tidy, &[1, 3], machines);
    is_caught(Mutant::Presuming, &[1, 5], machines);
    is_caught(Mutant::Recycling, &[1, 2], machines);
}

/// All of them need a network that loses something.
#[test]
fn leases_that_are_too_long_mass_that_is_forgotten_and_ends_that_come_too_soon_are_caught() {
    is_caught(Mutant::Tardy, &[17], |seed| scenario("moving", seed));
    is_caught(Mutant::Forgiving, &[1, 2], |seed| scenario("moving", seed));
    is_caught(Mutant::Concluding, &[10, 52], |seed| scenario("lossy", seed));
}
