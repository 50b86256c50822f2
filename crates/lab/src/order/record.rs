//! What is written down of a run: the order, and when which share of the mass was had or proven.

use rhumb_graph::PageNumber;

use super::{Algorithm, Experiment, Until};

/// Points of a curve lie at least this factor of downloads apart.
const CURVE_STEP: f64 = 1.01;
/// No proof is worth more work; a run that has not come further by then is cut.
const PUSHES_MAX: u64 = 20_000_000_000;

/// A target that was reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Milestone {
    pub downloads: u32,
    pub pushes: u64,
    pub edge_updates: u64,
    pub cpu_s: f64,
}

#[derive(Clone, Debug)]
pub struct OrderRecord {
    pub algorithm: Algorithm,
    pub targets: Vec<f64>,
    pub order: Vec<PageNumber>,
    /// For each target, when the algorithm's own bound reached it.
    pub guaranteed: Vec<Option<Milestone>>,
    /// For each target, the fewest downloads that truly had it.
    pub actual: Vec<Option<u32>>,
    /// Downloads and what was proven then.
    pub bound_curve: Vec<(u32, f64)>,
    /// Downloads and the mass they had in truth.
    pub actual_curve: Vec<(u32, f64)>,
    pub pushes: u64,
    pub edge_updates: u64,
    pub cpu_s: f64,
    until: Until,
    reachable: u32,
    mass: f64,
    bound: f64,
}

impl OrderRecord {
    pub(super) fn new(
        experiment: &Experiment<'_>,
        algorithm: Algorithm,
        targets: &[f64],
        until: Until,
        began_s: f64,
    ) -> OrderRecord {
        let mut targets = targets.to_vec();
        targets.sort_by(f64::total_cmp);
        OrderRecord {
            algorithm,
            order: Vec::new(),
            guaranteed: vec![None; targets.len()],
            actual: vec![None; targets.len()],
            targets,
            bound_curve: Vec::new(),
            actual_curve: Vec::new(),
            pushes: 0,
            edge_updates: 0,
            // Until the end, the moment when it began.
            cpu_s: began_s,
            until,
            reachable: experiment.reachable,
            mass: 0.0,
            bound: 0.0,
        }
    }

    /// The best that was proven.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The mass of all downloads, in truth; not a number where the truth is not known.
    pub fn mass(&self) -> f64 {
        self.mass
    }
}

/// A record being written.
pub(super) struct Watch<'a> {
    pub record: &'a mut OrderRecord,
    pub truth: &'a [f64],
    pub clock: &'a mut dyn FnMut() -> f64,
}

impl Watch<'_> {
    pub fn downloaded(&mut self, page: PageNumber) {
        let record = &mut *self.record;
        record.order.push(page);
        record.mass += self.truth.get(page as usize).copied().unwrap_or(f64::NAN);
        let (downloads, mass) = (record.order.len() as u32, record.mass);
        for (target, actual) in record.targets.iter().zip(&mut record.actual) {
            if actual.is_none() && mass >= *target {
                *actual = Some(downloads);
            }
        }
        if mass.is_finite() {
            note(&mut record.actual_curve, downloads, mass);
        }
    }

    /// The next target that is not proven yet.
    pub fn target(&self) -> Option<f64> {
        let record = &*self.record;
        let open = record.guaranteed.iter().position(Option::is_none);
        open.map(|at| record.targets[at]).or(match record.until {
            Until::Exhausted(bound) if record.bound < bound => Some(bound),
            _ => None,
        })
    }

    /// So much is proven after so much work.
    pub fn proven(&mut self, bound: f64, pushes: u64, edge_updates: u64) {
        let record = &mut *self.record;
        (record.pushes, record.edge_updates) = (pushes, edge_updates);
        if bound <= record.bound {
            return;
        }
        record.bound = bound;
        let downloads = record.order.len() as u32;
        for (target, guaranteed) in record.targets.iter().zip(&mut record.guaranteed) {
            if guaranteed.is_none() && bound >= *target {
                let cpu_s = (self.clock)() - record.cpu_s;
                *guaranteed = Some(Milestone { downloads, pushes, edge_updates, cpu_s });
            }
        }
        note(&mut record.bound_curve, downloads, bound);
    }

    /// Whether there is nothing left to show.
    pub fn is_over(&self) -> bool {
        let record = &*self.record;
        if record.order.len() as u32 >= record.reachable && !record.algorithm.has_bound() {
            return true;
        }
        let all_proven = record.guaranteed.iter().all(Option::is_some);
        let all_had = record.actual.iter().all(Option::is_some);
        match record.until {
            _ if record.pushes >= PUSHES_MAX => true,
            Until::Targets if record.algorithm.has_bound() => all_proven,
            Until::Targets => all_had,
            Until::Exhausted(bound) => record.bound >= bound && all_proven,
        }
    }

    pub fn end(&mut self) {
        let record = &mut *self.record;
        record.cpu_s = (self.clock)() - record.cpu_s;
        let downloads = record.order.len() as u32;
        if record.mass.is_finite() {
            end_at(&mut record.actual_curve, downloads, record.mass);
        }
        if record.algorithm.has_bound() {
            end_at(&mut record.bound_curve, downloads, record.bound);
        }
    }
}

fn note(curve: &mut Vec<(u32, f64)>, downloads: u32, value: f64) {
    let far =
        curve.last().is_none_or(|last| f64::from(downloads) >= f64::from(last.0) * CURVE_STEP);
    if far {
        curve.push((downloads, value));
    }
}

fn end_at(curve: &mut Vec<(u32, f64)>, downloads: u32, value: f64) {
    if curve.last().is_none_or(|last| *last != (downloads, value)) {
        curve.push((downloads, value));
    }
}
