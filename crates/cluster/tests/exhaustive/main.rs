//! Ownership and hand-over, exhaustively for few nodes and partitions: every order in which
//! operations take effect and are answered, with as many slow and lost ones, stops and restarts as
//! the budget of each case allows.
//!
//! In no state do two nodes fetch for one partition, or two write so that both are read, or is
//! anything released that is not shipped; and from every state in which the time of a case ends,
//! somebody has each partition before long, if all goes well from there on.

mod model;

use model::{Budget, Mutant, Step, World};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

const NOTHING: Budget = Budget { slow: 0, lost: 0, stops: 0, restarts: 0, leaves: 0 };
/// In which somebody has every partition again, from any state.
const RECOVERY: u64 = 24;

struct Explored {
    states: usize,
    ends: usize,
    violation: Option<String>,
}

/// All states that can be reached within so many ticks.
fn explore(mut world: World, budget: Budget, ticks: u64) -> Explored {
    world.budget = budget;
    world.until = world.now + ticks;
    let hasher: BuildHasherDefault<DefaultHasher> = BuildHasherDefault::default();
    let mut seen = HashSet::new();
    let mut explored = Explored { states: 0, ends: 0, violation: None };
    seen.insert(hasher.hash_one(&world));
    let mut stack: Vec<(World, Vec<Step>)> = vec![(world.clone(), world.steps())];
    while let Some((world, steps)) = stack.last_mut() {
        let Some(step) = steps.pop() else {
            stack.pop();
            continue;
        };
        let mut next = world.clone();
        next.step(step);
        if !seen.insert(hasher.hash_one(&next)) {
            continue;
        }
        explored.states += 1;
        if explored.states > 1_000_000 {
            return explored;
        }
        if next.violation.is_none() && next.now >= next.until {
            explored.ends += 1;
            next.violation = recovers(next.clone());
        }
        if let Some(what) = &next.violation {
            let way: Vec<String> =
                stack.iter().map(|(world, _)| format!("{}", world.now)).collect();
            explored.violation = Some(format!("{what}, after {} steps", way.len()));
            return explored;
        }
        if next.now < next.until {
            let steps = next.steps();
            stack.push((next, steps));
        }
    }
    explored
}

/// What is wrong if somebody does not have each partition in the end.
fn recovers(mut world: World) -> Option<String> {
    world.run_well(RECOVERY);
    if world.violation.is_some() || world.nodes.iter().all(|node| node.gone.is_some()) {
        return world.violation;
    }
    let left = (0..world.partitions).find(|partition| world.fetching(*partition).len() != 1);
    left.map(|partition| format!("nobody has {partition} in the end: {world:#?}"))
}

/// Nodes that have begun and divided the partitions.
fn settled(nodes: usize, partitions: u32, mutant: Option<Mutant>) -> World {
    let mut world = World::new(nodes, partitions, mutant);
    world.run_well(12);
    for partition in 0..partitions {
        assert_eq!(world.fetching(partition).len(), 1, "{world:#?}");
    }
    world
}

fn holds(name: &str, world: World, budget: Budget, ticks: u64) {
    let explored = explore(world, budget, ticks);
    assert_eq!(explored.violation, None, "{name}");
    println!("{name}: {} states, {} ends", explored.states, explored.ends);
}

#[test]
fn count() {
    let only: Option<usize> = std::env::var("CASE").ok().and_then(|c| c.parse().ok());
    for mutant in [
        None,
        Some(Mutant::LeaseFromTheEnd),
        Some(Mutant::EpochUsedAgain),
        Some(Mutant::ReleasedUnshipped),
        Some(Mutant::NoProof),
        Some(Mutant::LateBeats),
    ] {
        for (nodes, partitions, slow, lost, stops, restarts, leaves, ticks) in [
            (2, 1, 0, 0, 1, 0, 0, 9),
            (2, 1, 1, 0, 1, 0, 0, 7),
            (2, 1, 0, 0, 0, 1, 0, 9),
            (2, 1, 1, 0, 0, 1, 0, 7),
            (2, 1, 0, 0, 0, 0, 1, 9),
            (2, 1, 1, 0, 0, 0, 1, 6),
            (2, 1, 0, 1, 0, 0, 1, 6),
            (2, 1, 0, 1, 0, 1, 0, 6),
            (2, 1, 1, 1, 0, 0, 0, 6),
            (2, 1, 2, 0, 0, 0, 0, 6),
            (2, 1, 0, 2, 0, 0, 0, 6),
            (3, 1, 0, 0, 1, 0, 0, 6),
            (2, 2, 0, 0, 1, 0, 0, 6),
            (3, 2, 0, 0, 0, 0, 1, 5),
        ] {
            if mutant.is_some() && nodes * partitions > 2 {
                continue;
            }
            let budget = Budget { slow, lost, stops, restarts, leaves };
            let explored = explore(settled(nodes, partitions as u32, mutant), budget, ticks);
            println!(
                "{mutant:?} {nodes} {partitions} slow {slow} lost {lost} stop {stops} restart {restarts} leave {leaves} for {ticks}: {} states, {} ends {:?}",
                explored.states,
                explored.ends,
                explored.violation.map(|v| v[..v.len().min(100)].to_owned())
            );
        }
        if only.is_none() {
            break;
        }
    }
}
