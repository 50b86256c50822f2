//! What scheduling costs: CPU time of a decision, and the memory of all that is scheduled.
//!
//! A decision is a visit as the scheduler sees it: the page that is due is found, what the visit
//! brought is learnt, and the next is filed. The change itself is a hash, so that nothing but the
//! scheduler's own state is held. Targets: 0.5 µs, and 300 MB for ten million pages.
//!
//! `cargo bench -p rhumb-lab --bench refresh`

use rhumb_engine::refresh::index::Objective;
use rhumb_engine::refresh::scheduler::SchedulerSettings;
use rhumb_engine::rng::mix;
use rhumb_lab::refresh::learned::ReplayedPages;

/// Visits a page and day.
const OFTEN: f64 = 0.5;
/// Of ten visits to a page of the busiest kind so many find a change; of the calmest none.
const CHANGES_OF_TEN: u64 = 8;

fn main() {
    for pages in [100_000, 1_000_000, 10_000_000] {
        for objective in Objective::OFFERED {
            measure(pages, objective);
        }
    }
}

fn measure(pages: usize, objective: Objective) {
    let before = resident_bytes();
    let settings = SchedulerSettings::new(objective, OFTEN * pages as f64);
    let mut collection = ReplayedPages::fresh(pages, settings);
    let mut visits = 0u64;
    let mut run = |count: u64| {
        for _ in 0..count {
            visits += 1;
            let now = visits as f64 / settings.budget_per_day;
            let lot = mix(visits);
            collection.visit(now, |page| lot % 10 < mix(page as u64) % (CHANGES_OF_TEN + 1));
        }
    };
    // A round to leave the beginning behind, in which all pages are alike.
    run(pages as u64);
    let began = cpu_ns();
    let count = 2_000_000;
    run(count);
    let each_us = (cpu_ns() - began) as f64 / 1e3 / count as f64;
    let taken = resident_bytes().saturating_sub(before) as f64 / 1e6;
    let word = objective.word();
    println!("{pages} pages, {word}: {each_us:.3} µs a decision, {taken:.0} MB in all");
}

/// CPU time of this process, as the scheduler of the system counts it.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kb.unwrap_or(0) * 1_024
}
