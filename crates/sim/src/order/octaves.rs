//! Settled in whole numbers, for graphs of any size: 8 bytes a page and no heap.
//!
//! The same algorithm as [`super::settled`] with three changes that make it fast and its bound a
//! proof also to the last digit:
//!
//! - Mass is a whole number of units of 2⁻⁵⁸, always rounded down; what rounding loses is nobody's.
//!   The lowest bit of a page's residual says whether it was downloaded, so that a link costs one
//!   access to memory.
//! - Instead of a heap there is a list for each octave of residual. A page is appended to a list
//!   when its residual crosses into that octave, which the leading zeros tell; an entry that is
//!   stale when its turn comes is dropped. Within an octave first come, first served: pages gather
//!   residual while they wait, so there are fewer pushes than in exact order.
//! - Pages without links lose what they would send, and the bound is divided by what can remain:
//!   (settled + inside) / (1 − d/(1−d) · settled on dangling pages). That is the same as jumping
//!   to the trusted pages, at no cost, whose number does not matter then.

use std::collections::VecDeque;

use rhumb_graph::{Graph, Page};

use super::Experiment;
use super::record::Watch;

/// The mass 1. Seventeen times the residual of all pages still fits into 64 bits.
const ONE: u64 = 1 << 58;
/// d = 17 / 20.
const D_OVER: u64 = 17;
const D_UNDER: u64 = 20;
const D: f64 = D_OVER as f64 / D_UNDER as f64;
/// The bit of a residual that says that its page was downloaded.
const DOWNLOADED: u64 = 1;
const OCTAVES: usize = 64;
/// As in [`super::settled`], but coarser: on a graph of 1.3 M pages 0.1 proves 0.99 with an eighth
/// fewer downloads for half again as many pushes.
const SLACK: f64 = 0.5;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment);
    while let Some(target) = watch.target() {
        // A proof in reach comes first, then the order's sake, then the next download.
        let page = if mass.is_doubtful(target) || mass.inside.best() > mass.outside.best() {
            mass.next_inside()
        } else {
            mass.next_outside()
        };
        let Some(page) = page else {
            if mass.outside.is_empty() {
                break;
            }
            continue;
        };
        if mass.residual[page as usize] & DOWNLOADED == 0 {
            watch.downloaded(page);
        }
        mass.push(page);
        watch.proven(mass.proven(), mass.pushes, mass.edge_updates);
        if watch.is_over() {
            break;
        }
    }
}

struct Mass<'a> {
    graph: &'a Graph,
    residual: Vec<u64>,
    inside: Lists,
    outside: Lists,
    settled: u64,
    /// Of what has settled, that on pages without links.
    dangling: u64,
    residual_inside: u64,
    residual_outside: u64,
    pushes: u64,
    edge_updates: u64,
}

impl<'a> Mass<'a> {
    fn new(experiment: &Experiment<'a>) -> Mass<'a> {
        let mut mass = Mass {
            graph: experiment.graph,
            residual: vec![0; experiment.pages()],
            inside: Lists::new(),
            outside: Lists::new(),
            settled: 0,
            dangling: 0,
            residual_inside: 0,
            residual_outside: 0,
            pushes: 0,
            edge_updates: 0,
        };
        for &(page, weight) in experiment.trust.weights() {
            let share = ((1.0 - D) * weight * ONE as f64) as u64 & !DOWNLOADED;
            mass.residual[page as usize] = share;
            mass.residual_outside += share;
            mass.outside.append(octave(share), page);
        }
        mass
    }

    /// What is certain of the downloaded pages.
    fn proven(&self) -> f64 {
        (self.settled + self.residual_inside) as f64 / self.remaining()
    }

    /// What pushing alone could prove at most.
    fn possible(&self) -> f64 {
        1.0 - self.residual_outside as f64 / ((1.0 - D) * self.remaining())
    }

    fn remaining(&self) -> f64 {
        ONE as f64 - D / (1.0 - D) * self.dangling as f64
    }

    fn is_doubtful(&self, target: f64) -> bool {
        let (possible, proven) = (self.possible(), self.proven());
        possible >= target && proven < target && possible - proven > SLACK * (1.0 - target)
    }

    fn next_inside(&mut self) -> Option<Page> {
        self.inside.take(&self.residual, DOWNLOADED)
    }

    fn next_outside(&mut self) -> Option<Page> {
        self.outside.take(&self.residual, 0)
    }

    /// Downloads a page if it was not, and settles what it has.
    fn push(&mut self, page: Page) {
        let before = std::mem::replace(&mut self.residual[page as usize], DOWNLOADED);
        let x = before & !DOWNLOADED;
        if before & DOWNLOADED == 0 {
            self.residual_outside -= x;
        } else {
            self.residual_inside -= x;
        }
        self.settled += x;
        self.pushes += 1;
        let graph = self.graph;
        let links = graph.links_of(page);
        if links.len() == 0 {
            self.dangling += x;
            return;
        }
        let count = links.len() as u64;
        self.edge_updates += count;
        let share = (x * D_OVER / (D_UNDER * count)) & !DOWNLOADED;
        let mut inside = 0;
        for target in links {
            let residual = &mut self.residual[target as usize];
            let (old, new) = (*residual, *residual + share);
            *residual = new;
            inside += new & DOWNLOADED;
            if octave(old) != octave(new) {
                let lists =
                    if new & DOWNLOADED == 0 { &mut self.outside } else { &mut self.inside };
                lists.append(octave(new), target);
            }
        }
        self.residual_inside += inside * share;
        self.residual_outside += (count - inside) * share;
    }
}

/// Pages by the octave of their residual; entries may be stale.
struct Lists {
    lists: Vec<VecDeque<Page>>,
    /// A bit for each list that has entries.
    filled: u64,
}

impl Lists {
    fn new() -> Lists {
        Lists { lists: vec![VecDeque::new(); OCTAVES], filled: 0 }
    }

    fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// The best octave with entries, from 1; 0 if there is none.
    fn best(&self) -> u32 {
        u64::BITS - self.filled.leading_zeros()
    }

    #[inline]
    fn append(&mut self, octave: u32, page: Page) {
        self.lists[octave as usize].push_back(page);
        self.filled |= 1 << octave;
    }

    /// The first page of the best octave, unless its entry is stale.
    fn take(&mut self, residual: &[u64], downloaded: u64) -> Option<Page> {
        let best = self.best().checked_sub(1)?;
        let list = &mut self.lists[best as usize];
        let page = list.pop_front();
        if list.is_empty() {
            self.filled &= !(1 << best);
        }
        page.filter(|page| {
            let residual = residual[*page as usize];
            octave(residual) == best && residual & DOWNLOADED == downloaded
        })
    }
}

/// From 0 for nothing to 63.
#[inline]
fn octave(residual: u64) -> u32 {
    (residual | 1).ilog2()
}
