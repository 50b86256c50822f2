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

/// The first node that owns a partition is stopped, and goes on at any moment.
fn stopped(mut world: World) -> World {
    let owner = world.owner_of(0);
    world.nodes[owner].is_stopped = true;
    world
}

fn holds(name: &str, world: World, budget: Budget, ticks: u64) {
    let explored = explore(world, budget, ticks);
    println!("{name}: {} states, {} ends", explored.states, explored.ends);
    assert_eq!(explored.violation, None, "{name}");
    assert!(explored.ends > 0, "{name}");
}

const SLOW: Budget = Budget { slow: 1, ..NOTHING };
const LOST: Budget = Budget { lost: 1, ..NOTHING };

#[test]
fn two_that_take_a_new_partition() {
    let new = || World::new(2, 1, None);
    holds("all goes well", new(), NOTHING, 8);
    holds("one is slow", new(), SLOW, 2);
    holds("one is lost", new(), LOST, 2);
}

#[test]
fn an_owner_whose_operations_are_slow_or_lost() {
    holds("two are slow", settled(2, 1, None), Budget { slow: 2, ..NOTHING }, 4);
    holds("one is slow", settled(2, 1, None), SLOW, 7);
    holds("two are lost", settled(2, 1, None), Budget { lost: 2, ..NOTHING }, 6);
    holds("one is slow and one lost", settled(2, 1, None), Budget { slow: 1, ..LOST }, 4);
    holds("two partitions", settled(2, 2, None), LOST, 3);
}

#[test]
fn an_owner_that_stands_still_and_goes_on() {
    holds("at any moment", settled(2, 1, None), Budget { stops: 1, ..NOTHING }, 5);
    holds("past its lease", stopped(settled(2, 1, None)), NOTHING, 9);
    holds("and one is slow", stopped(settled(2, 1, None)), SLOW, 6);
    holds("before two takers", stopped(settled(3, 1, None)), NOTHING, 5);
}

#[test]
fn a_node_that_is_started_again() {
    holds("at any moment", settled(2, 1, None), Budget { restarts: 1, ..NOTHING }, 9);
    let budget = Budget { restarts: 1, ..LOST };
    holds("and one is lost", settled(2, 1, None), budget, 3);
    let mut lost = settled(2, 1, None);
    lost.nodes.iter_mut().for_each(|node| node.has_own_disk = false);
    holds("without its disk", lost, Budget { restarts: 1, ..NOTHING }, 9);
}

#[test]
fn a_node_that_leaves_and_one_that_joins() {
    holds("leaves", settled(2, 1, None), Budget { leaves: 1, ..NOTHING }, 9);
    holds("and one is slow", settled(2, 1, None), Budget { leaves: 1, ..SLOW }, 3);
    let mut joined = settled(1, 2, None);
    joined.join();
    holds("joins", joined.clone(), NOTHING, 7);
    holds("joins, and one is lost", joined, LOST, 3);
}

#[test]
fn what_is_wrong_with_the_world_is_caught() {
    let caught = |mutant, budget, ticks| {
        let stopped = stopped(settled(2, 1, Some(mutant)));
        let worlds = [settled(2, 1, Some(mutant)), stopped];
        let wrong = worlds.into_iter().find_map(|world| explore(world, budget, ticks).violation);
        println!("{mutant:?}: {wrong:?}");
        wrong
    };
    let fetch = caught(Mutant::LeaseFromTheEnd, Budget { slow: 2, ..NOTHING }, 6);
    assert!(fetch.is_some_and(|what| what.contains("fetch for")));
    let fetch = caught(Mutant::NoProof, SLOW, 7);
    assert!(fetch.is_some_and(|what| what.contains("fetch for")));
    let read = caught(Mutant::EpochUsedAgain, Budget { restarts: 1, ..NOTHING }, 9);
    assert!(read.is_some_and(|what| what.contains("both are read")));
    let early = caught(Mutant::ReleasedUnshipped, Budget { leaves: 1, ..NOTHING }, 6);
    assert!(early.is_some_and(|what| what.contains("not everything shipped")));
}
