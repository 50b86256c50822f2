//! Settled in whole numbers and in sweeps, for graphs of any size: 8 bytes a page and no queue.
//!
//! The same idea as [`super::settled`], made for graphs that no cache holds. What costs time there
//! is not arithmetic but memory: a queue by residual jumps from one end of the graph to the other.
//!
//! - Pages are not queued but swept over in the order of their numbers: whoever has at least so
//!   much residual is pushed, and when few are left, half as much is asked for. Neighbours in
//!   number are neighbours on the web, so links and residuals are read nearly in order, and a page
//!   gathers residual from a whole sweep before it is pushed again.
//! - While a proof is in reach, only downloaded pages are swept over, and only those are pushed
//!   that have the mean residual of them all or more.
//! - Mass is a whole number of units of 2⁻⁵⁸, always rounded down; what rounding loses is nobody's.
//!   The lowest bit of a page's residual says whether it was downloaded, so that a link costs one
//!   access to memory.
//! - Pages without links lose what they would send, and the bound is divided by what can remain:
//!   (settled + inside) / (1 − d/(1−d) · settled on dangling pages). That is the same as jumping
//!   to the trusted pages, at no cost, whose number does not matter then.

use rhumb_graph::{Graph, PageNumber};

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
/// As in [`super::settled`], but coarser. On 10 M pages half of 1 − target proves .99 with an
/// eighth more downloads for three quarters of the edge updates; a fiftieth saves another fiftieth
/// of the downloads for a quarter more of them.
const SLACK: f64 = 0.1;
/// A sweep with fewer pushes than this part of those of its octave's first is the octave's last.
const FEW: f64 = 0.3;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut mass = Mass::new(experiment);
    let mut order = Octaves::new(&mass);
    let mut proof = Proof { least: 0, at: experiment.pages() };
    while let Some(target) = watch.target() {
        // A proof in reach comes first, then whoever has the most.
        let doubtful = if mass.is_doubtful(target) { proof.next(&mass) } else { None };
        let Some(page) = doubtful.or_else(|| order.next(&mass)) else { break };
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

/// Sweeps over all pages, for the order's sake.
struct Octaves {
    /// Whoever has as much is pushed.
    least: u64,
    at: usize,
    /// Pushes of this sweep, and of the first one of this octave.
    pushes: u64,
    pushes_first: Option<u64>,
}

impl Octaves {
    fn new(mass: &Mass<'_>) -> Octaves {
        let most = mass.residual.iter().max().copied().unwrap_or(0);
        Octaves { least: 1 << most.max(1).ilog2(), at: 0, pushes: 0, pushes_first: None }
    }

    /// Whose turn it is; nobody's when nothing is left to push.
    fn next(&mut self, mass: &Mass<'_>) -> Option<PageNumber> {
        while self.least > DOWNLOADED {
            let mut rest = mass.residual[self.at..].iter();
            if let Some(further) = rest.position(|residual| *residual >= self.least) {
                let page = self.at + further;
                self.at = page + 1;
                self.pushes += 1;
                return Some(page as PageNumber);
            }
            self.end_sweep();
        }
        None
    }

    fn end_sweep(&mut self) {
        let pushes = std::mem::take(&mut self.pushes);
        let first = *self.pushes_first.get_or_insert(pushes);
        if pushes as f64 <= FEW * first as f64 {
            self.least /= 2;
            self.pushes_first = None;
        }
        self.at = 0;
    }
}

/// Sweeps over what was downloaded, for the proof's sake.
struct Proof {
    least: u64,
    at: usize,
}

impl Proof {
    fn next(&mut self, mass: &Mass<'_>) -> Option<PageNumber> {
        if mass.residual_inside == 0 {
            return None;
        }
        // Somebody has the mean, so that a sweep from the beginning finds someone.
        for _ in 0..2 {
            let is_due = |r: &u64| *r >= self.least && r & DOWNLOADED != 0;
            if let Some(further) = mass.residual[self.at..].iter().position(is_due) {
                let page = self.at + further;
                self.at = page + 1;
                return Some(page as PageNumber);
            }
            self.least = (mass.residual_inside / mass.downloads).max(DOWNLOADED + 1);
            self.at = 0;
        }
        None
    }
}

struct Mass<'a> {
    graph: &'a Graph,
    residual: Vec<u64>,
    settled: u64,
    /// Of what has settled, that on pages without links.
    dangling: u64,
    residual_inside: u64,
    residual_outside: u64,
    downloads: u64,
    pushes: u64,
    edge_updates: u64,
}

impl<'a> Mass<'a> {
    fn new(experiment: &Experiment<'a>) -> Mass<'a> {
        let mut mass = Mass {
            graph: experiment.graph,
            residual: vec![0; experiment.pages()],
            settled: 0,
            dangling: 0,
            residual_inside: 0,
            residual_outside: 0,
            downloads: 0,
            pushes: 0,
            edge_updates: 0,
        };
        for &(page, weight) in experiment.trust.weights() {
            let share = ((1.0 - D) * weight * ONE as f64) as u64 & !DOWNLOADED;
            mass.residual[page as usize] = share;
            mass.residual_outside += share;
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

    /// Downloads a page if it was not, and settles what it has.
    fn push(&mut self, page: PageNumber) {
        let before = std::mem::replace(&mut self.residual[page as usize], DOWNLOADED);
        let x = before & !DOWNLOADED;
        if before & DOWNLOADED == 0 {
            self.residual_outside -= x;
            self.downloads += 1;
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
            let new = *residual + share;
            *residual = new;
            inside += new & DOWNLOADED;
        }
        self.residual_inside += inside * share;
        self.residual_outside += (count - inside) * share;
    }
}
