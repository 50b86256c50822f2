//! The books against plain power iteration on small graphs that grow, change and are blocked.

use super::coverage::coverage;
use super::fixed::ONE;
use super::surfer::PushedLinks;
use super::{Coverage, Ledger, MassStanding};
use crate::rng::Rng;

/// A small web beside the books: what they may know of it, and the truth.
struct World {
    ledger: Ledger,
    links: Vec<Vec<u32>>,
    crawled: Vec<bool>,
    outside: Vec<bool>,
    rng: Rng,
}

impl World {
    fn new(nodes: usize, seed: u64) -> World {
        let mut rng = Rng::new(seed);
        let mut links = Vec::new();
        for _ in 0..nodes {
            links.push(some_links(&mut rng, nodes));
        }
        let outside = (0..nodes).map(|n| n > 2 && rng.draw().is_multiple_of(9)).collect();
        let mut ledger = Ledger::default();
        (0..nodes as u32).for_each(|n| ledger.stand(n, MassStanding::Waiting));
        let mut world = World { ledger, links, crawled: vec![false; nodes], outside, rng };
        for n in 0..nodes as u32 {
            if world.outside[n as usize] {
                world.ledger.stand(n, MassStanding::Outside);
            }
        }
        world.ledger.trust(0, ONE / 4 * 3);
        world.ledger.trust(1, ONE / 4);
        world
    }

    fn below(&mut self, n: usize) -> usize {
        (self.rng.draw() % n as u64) as usize
    }

    fn turn(&mut self) {
        let node = self.below(self.links.len());
        match self.below(12) {
            0..=3 if !self.outside[node] && !self.is_lost(node) => {
                self.ledger.stand(node as u32, MassStanding::Fetched);
                self.crawled[node] = true;
                self.ledger.link(node as u32, &PushedLinks::alike(&self.links[node], 0));
            }
            4 if self.crawled[node] => {
                self.links[node] = some_links(&mut self.rng, self.links.len());
                self.ledger.link(node as u32, &PushedLinks::alike(&self.links[node], 0));
            }
            5 if !self.crawled[node] && !self.outside[node] => {
                let cause = MassStanding::LOST[self.rng.draw() as usize % 7];
                self.ledger.stand(node as u32, cause);
            }
            6 => assert_eq!(self.ledger.pass(0, u64::MAX), None),
            7 => self.ledger.sweep(u64::MAX),
            8 => self.ledger.push_until(ONE / 1_000, self.rng.draw() % 60),
            _ => self.ledger.push_heaviest(),
        }
    }

    fn is_lost(&self, node: usize) -> bool {
        MassStanding::LOST.contains(&self.ledger.standing(node as u32))
    }

    fn proven(&self) -> Coverage {
        self.ledger.audit().unwrap();
        coverage(&self.ledger.sums())
    }

    /// What crawled pages have if nothing ever comes back from the others.
    fn truth(&self) -> f64 {
        let n = self.links.len();
        let mut rank = vec![0.0; n + 1];
        rank[0] = 1.0;
        for _ in 0..250 {
            let mut next = vec![0.0; n + 1];
            let mut jumps = 0.15;
            for (links, (is_crawled, mass)) in self.links.iter().zip(self.crawled.iter().zip(&rank))
            {
                let is_inside = |j: &&u32| !self.outside[**j as usize];
                let inside: Vec<u32> = links.iter().filter(is_inside).copied().collect();
                let mass = 0.85 * mass;
                match (*is_crawled, inside.len()) {
                    (false, _) => next[n] += mass,
                    (true, 0) => jumps += mass,
                    (true, c) => inside.iter().for_each(|&j| next[j as usize] += mass / c as f64),
                }
            }
            next[n] += 0.85 * rank[n];
            next[0] += 0.75 * jumps;
            next[1] += 0.25 * jumps;
            rank = next;
        }
        (0..n).filter(|&node| self.crawled[node]).map(|node| rank[node]).sum()
    }
}

fn some_links(rng: &mut Rng, nodes: usize) -> Vec<u32> {
    let count = [0, 1, 2, 3, 8][rng.draw() as usize % 5];
    let mut links: Vec<u32> = (0..count).map(|_| (rng.draw() % nodes as u64) as u32).collect();
    links.sort_unstable();
    links.dedup();
    links
}

#[test]
fn the_bound_never_exceeds_the_truth_and_in_the_end_is_nearly_all_of_it() {
    for seed in 0..60 {
        let mut world = World::new(6 + seed as usize % 20, seed);
        for turn in 0..150 {
            world.turn();
            let (bound, truth) = (world.proven().bound, world.truth());
            assert!(bound <= truth + 1e-9, "seed {seed} turn {turn}: {bound} > {truth}");
        }
        world.ledger.push_until(ONE / 1_000_000_000, u64::MAX);
        let (proven, truth) = (world.proven(), world.truth());
        let lost: f64 = proven.lost.iter().map(|(_, share)| share).sum();
        assert!(proven.bound > truth - 1e-6, "seed {seed}: {} of {truth}", proven.bound);
        assert!(proven.bound <= proven.ceiling + 1e-9, "seed {seed}: {proven:?}");
        let all = proven.bound + proven.frontier + lost;
        assert!((all - 1.0).abs() < 1e-6, "seed {seed}: {all} of all mass in {proven:?}");
    }
}

#[test]
fn books_opened_from_whatever_was_written_of_them_prove_nothing_false() {
    for seed in 0..40 {
        let mut world = World::new(12, seed);
        (0..120).for_each(|_| world.turn());
        // Some of it is old, some was never written, some is nonsense.
        for node in 0..12 {
            let s = match world.below(3) {
                0 => world.ledger.settled(node),
                1 => 0,
                _ => ONE / 16 * world.below(9) as i64,
            };
            world.ledger.restore_settled(node, s);
        }
        world.ledger.rebase(vec![(0, ONE / 4 * 3), (1, ONE / 4)]);
        for _ in 0..400 {
            let (bound, truth) = (world.proven().bound, world.truth());
            assert!(bound <= truth + 1e-9, "seed {seed}: {bound} > {truth}");
            world.ledger.push_heaviest();
        }
        let (bound, truth) = (world.proven().bound, world.truth());
        assert!(bound > truth - 0.02, "seed {seed}: {bound} of {truth}");
    }
}

/// Node 0 is trusted with all; these pages are crawled, with these links.
fn crawled(pages: &[(u32, &[u32])], others: &[(u32, MassStanding)]) -> Ledger {
    let mut ledger = Ledger::default();
    let all = pages.iter().flat_map(|(page, links)| links.iter().chain([page]));
    all.for_each(|&n| ledger.stand(n, MassStanding::Waiting));
    others.iter().for_each(|&(n, standing)| ledger.stand(n, standing));
    ledger.trust(0, ONE);
    for (page, links) in pages {
        ledger.stand(*page, MassStanding::Fetched);
        ledger.link(*page, &PushedLinks::alike(links, 0));
    }
    settle(&mut ledger);
    ledger
}

fn settle(ledger: &mut Ledger) {
    while ledger.rest() > 1_000 && ledger.push_level().is_some() {
        ledger.push_heaviest();
    }
}

fn proven(ledger: &Ledger) -> Coverage {
    ledger.audit().unwrap();
    coverage(&ledger.sums())
}

#[test]
fn what_reaches_a_blocked_page_is_lost_and_not_divided_out() {
    let ledger = crawled(&[(0, &[1])], &[(1, MassStanding::Robots)]);
    let coverage = proven(&ledger);
    assert!((coverage.bound - 0.15).abs() < 1e-9, "{coverage:?}");
    assert!((coverage.ceiling - 0.15).abs() < 1e-9, "{coverage:?}");
    assert!((coverage.lost[0].1 - 0.85).abs() < 1e-9, "{coverage:?}");
    // Seen without links, it is another matter.
    let ledger = crawled(&[(0, &[1]), (1, &[])], &[]);
    assert!(proven(&ledger).bound > 1.0 - 1e-9);
}

#[test]
fn trusted_pages_without_links_are_told_with_the_trust_that_lies_on_them() {
    let mut ledger = crawled(&[(0, &[1]), (1, &[])], &[]);
    assert_eq!(proven(&ledger).dead_ends, 0);
    ledger.rebase(vec![(1, ONE / 4), (0, ONE / 4 * 3)]);
    let coverage = proven(&ledger);
    assert_eq!((coverage.dead_ends, coverage.dead_end_trust), (1, 0.25));
    ledger.link(1, &PushedLinks::alike(&[0], 0));
    assert_eq!(proven(&ledger).dead_end_trust, 0.0);
    ledger.link(0, &PushedLinks::alike(&[], 0));
    assert_eq!(proven(&ledger).dead_end_trust, 0.75);
}

#[test]
fn a_link_to_itself_keeps_its_share() {
    let ledger = crawled(&[(0, &[0, 1])], &[]);
    // r0 = .15 + .85 · r0 / 2
    let coverage = proven(&ledger);
    assert!((coverage.bound - 0.15 / (1.0 - 0.425)).abs() < 1e-9, "{coverage:?}");
}

#[test]
fn links_that_change_take_back_what_was_settled_by_them() {
    let mut ledger = crawled(&[(0, &[1]), (1, &[0])], &[]);
    assert!(proven(&ledger).bound > 1.0 - 1e-9);
    ledger.stand(2, MassStanding::Waiting);
    ledger.link(0, &PushedLinks::alike(&[2], 0));
    assert!(proven(&ledger).bound <= 0.15 + 1e-9);
    settle(&mut ledger);
    let coverage = proven(&ledger);
    assert!((coverage.bound - 0.15).abs() < 1e-6, "{coverage:?}");
    assert!((coverage.frontier - 0.85).abs() < 1e-6, "{coverage:?}");
}

#[test]
fn the_books_take_nine_bytes_a_url_and_thirty_six_a_crawled_page_at_any_size() {
    for nodes in [100_000, 131_073, 1_000_001] {
        let mut ledger = Ledger::default();
        let pages = nodes / 10;
        (0..nodes).for_each(|n| ledger.stand(n, MassStanding::Waiting));
        (0..pages).for_each(|n| ledger.stand(n, MassStanding::Fetched));
        // A ninth more pages than there are, and a part of a segment.
        let bytes = ledger.heap_bytes() - (64 << 10);
        assert!(bytes <= (9 * nodes + 36 * pages) as usize, "{bytes} bytes for {nodes}");
    }
}

#[test]
fn the_bound_that_is_told_is_no_lower_than_those_of_windowed_and_of_l_neighbor() {
    for seed in 0..20 {
        let mut world = World::new(40, seed);
        let (mut level, mut depth) = (vec![0u32, 1], 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for node in std::mem::take(&mut level) {
                let is_new = !world.crawled[node as usize] && !world.outside[node as usize];
                if is_new {
                    world.ledger.stand(node, MassStanding::Fetched);
                    world.crawled[node as usize] = true;
                    world.ledger.link(node, &PushedLinks::alike(&world.links[node as usize], 0));
                    next.extend_from_slice(&world.links[node as usize]);
                }
            }
            // Windowed counts what is settled alone, whatever was pushed.
            let sums = world.ledger.sums();
            assert!(world.proven().bound >= sums.settled.all() as f64 / ONE as f64 - 1e-9);
            depth += 1;
            settle(&mut world.ledger);
            let of_levels = 1.0 - 0.85f64.powi(depth);
            let bound = world.proven().bound;
            assert!(bound >= of_levels - 1e-9, "seed {seed}: {bound} after {depth} levels");
            level = next;
        }
    }
}
