//! Power cuts between any two lines of the loop: archive and state keep any part of what was not
//! synced, each by itself, and no page is lost.

use rhumb_sim::mutant::Mutant;
use rhumb_sim::run::simulate;
use rhumb_sim::scenario::{Faults, Scenario};

const POWER_CUTS: u32 = 20;

fn scenario(name: &str, seed: u64) -> Scenario {
    let faults = Faults { power_cuts: POWER_CUTS, ..Faults::usual() };
    Scenario::named(name, seed).expect("a scenario of this name").with_faults(faults)
}

#[test]
fn two_hundred_power_cuts_lose_no_page() {
    let mut cuts = 0;
    for seed in 1..=10 {
        let simulated = simulate(&scenario("hostile", seed), None);
        let violations = &simulated.violations;
        assert!(violations.is_empty(), "hostile with seed {seed}: {violations:#?}");
        cuts += simulated.tally.power_cuts;
    }
    assert_eq!(cuts, 10 * u64::from(POWER_CUTS));
}

#[test]
fn power_cuts_break_no_crawl_that_is_limited_widened_crowded_or_goes_on() {
    for name in ["limited", "widened", "crowded", "revisit"] {
        let simulated = simulate(&scenario(name, 3), None);
        let violations = &simulated.violations;
        assert!(violations.is_empty(), "{name}: {violations:#?}");
        assert!(simulated.tally.power_cuts > 0, "{name}: {:?}", simulated.tally);
    }
}

#[test]
fn an_archive_that_is_not_synced_first_and_an_opening_that_believes_all_are_caught() {
    for mutant in [Mutant::Rash, Mutant::Gullible] {
        let violations = simulate(&scenario("hostile", 1), Some(mutant)).violations;
        let caught = violations.iter().any(|violation| violation.invariant == mutant.breaks());
        assert!(caught, "{mutant:?}: {violations:?}");
    }
}
