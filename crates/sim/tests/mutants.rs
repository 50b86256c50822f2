//! The watch is awake: every invariant has a broken engine that it catches.

use rhumb_sim::mutant::Mutant;
use rhumb_sim::run::simulate;
use rhumb_sim::scenario::{Faults, Scenario};
use rhumb_sim::web::WebConfig;

fn scenario(seed: u64) -> Scenario {
    Scenario::named("small", seed).expect("a scenario of this name")
}

/// Of which invariants the watch complains.
fn caught(scenario: &Scenario, mutant: Mutant) -> Vec<u8> {
    simulate(scenario, Some(mutant)).violations.iter().map(|v| v.invariant).collect()
}

#[test]
fn each_mutant_is_caught_by_the_invariant_it_breaks() {
    use Mutant::*;
    let mutants = [Hasty, Deaf, Credulous, Forgetful, Miscounting, Careless];
    let of_importance = [Overpaying, Vain, Lenient];
    for mutant in mutants.into_iter().chain(of_importance) {
        let caught = caught(&scenario(1), mutant);
        assert!(caught.contains(&mutant.breaks()), "{mutant:?}: caught {caught:?}");
    }
}

#[test]
fn who_takes_night_for_day_or_answers_for_empty_is_caught() {
    let timed = Scenario::named("timed", 1).expect("a scenario of this name");
    for mutant in [Mutant::Sleepless, Mutant::Gluttonous] {
        let caught = caught(&timed, mutant);
        assert!(caught.contains(&mutant.breaks()), "{mutant:?}: caught {caught:?}");
    }
}

#[test]
fn who_misjudges_pages_or_changes_its_mind_about_links_proves_what_is_not_true() {
    for mutant in [Mutant::Partisan, Mutant::Fickle, Mutant::Overpaying, Mutant::Lenient] {
        let topical = |seed| Scenario::named("topical", seed).expect("a scenario of this name");
        let caught = (1..=2).flat_map(|seed| caught(&topical(seed), mutant)).collect::<Vec<_>>();
        assert!(caught.contains(&mutant.breaks()), "{mutant:?}: caught {caught:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_actions_and_a_capricious_engine_does_not() {
    for faults in [Faults::default(), Faults::usual()] {
        let scenario = scenario(3).with_faults(faults);
        assert_eq!(simulate(&scenario, None), simulate(&scenario, None));
    }
    let other = scenario(4);
    assert_ne!(simulate(&scenario(3), None).digest, simulate(&other, None).digest);
    let twice = [0, 1].map(|_| simulate(&scenario(3), Some(Mutant::Capricious)).digest);
    assert_ne!(twice[0], twice[1], "an engine that acts by whim was not noticed");
}

#[test]
fn an_engine_that_hoards_what_it_hears_exceeds_the_stated_bound() {
    let mut scenario = Scenario::named("crowded", 1).expect("a scenario of this name");
    scenario.web = WebConfig { ..WebConfig::plain(60, 30_000) };
    let honest = simulate(&scenario, None);
    assert!(honest.violations.is_empty(), "{:?}", honest.violations);
    let caught = caught(&scenario, Mutant::Hoarding);
    assert!(caught.contains(&Mutant::Hoarding.breaks()), "caught {caught:?}");
}
