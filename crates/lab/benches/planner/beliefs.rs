//! All that can be known of a page, exactly.
//!
//! Visits fall on a grid of times. What they leave behind is the time in which nothing was found
//! to have changed, T, and the intervals d after which something had; their order says nothing.
//! With the prior's density π the chance of such a history is G(T, d…) = ∫ π(λ) e^−λT Π(1 − e^−λd)
//! dλ, and the fresh days until a next visit follow from the same integral. Since T and the
//! intervals add up to the time gone by, there are few enough of them to be written down: one row
//! for each multiset of intervals, one entry in it for each T.
//!
//! The prior is Gamma(½, 1), so λ = z²/2 with a normal z, or lognormal, λ = e^2z/10: the midpoint
//! rule in z is exact to many digits for all these integrands.

use rhumb_lab::refresh::rates::RateSpread;
use std::collections::HashMap;

const Z_STEP: f64 = 0.1;
const Z_MAX: f64 = 8.5;

/// One rate of the prior and its share.
#[derive(Clone, Copy)]
pub struct Node {
    pub rate: f64,
    share: f64,
}

pub struct Row {
    /// Where its entries begin, one for each T from 0 to `left`.
    pub begin: usize,
    /// Steps left until the end if T is 0.
    pub left: usize,
    /// Nothing is recorded after the changes of this one.
    pub is_last: bool,
    intervals: Vec<u8>,
}

pub struct Beliefs {
    pub steps: usize,
    pub step_days: f64,
    pub nodes: Vec<Node>,
    /// By the sum of their intervals, so that whatever follows from a row comes after it.
    pub rows: Vec<Row>,
    /// G of each entry.
    pub chance: Vec<f64>,
    /// ∫ π Π(1 − e^−λd) (1 − e^−λT)/λ dλ: differences of it are fresh days.
    pub fresh: Vec<f64>,
    /// The beginning of the row to which a change seen after some steps leads, at row + steps.
    pub changed: Vec<u32>,
    /// e^−λt, by steps and nodes.
    decay: Vec<Vec<f64>>,
}

impl Beliefs {
    /// Pages that were seen to change more than `changes_max` times are not followed any further.
    pub fn new(spread: RateSpread, changes_max: usize, steps: usize, step_days: f64) -> Beliefs {
        let nodes = nodes(spread);
        let decayed = |step: usize| {
            let days = step as f64 * step_days;
            nodes.iter().map(|node| (-node.rate * days).exp()).collect()
        };
        let decay = (0..=steps).map(decayed).collect();
        let rows = rows(steps, changes_max);
        let entries = rows.last().map_or(0, |row| row.begin + row.left + 1);
        let (chance, fresh) = (vec![0.0; entries], vec![0.0; entries]);
        let changed = vec![u32::MAX; entries];
        let mut beliefs = Beliefs { steps, step_days, nodes, rows, chance, fresh, changed, decay };
        beliefs.link();
        beliefs.integrate();
        beliefs
    }

    /// Shares of the nodes in a row at T = 0, not normed.
    pub fn shares(&self, row: &Row) -> Vec<f64> {
        let of = |(at, node): (usize, &Node)| {
            let seen = row.intervals.iter().map(|steps| 1.0 - self.decay[usize::from(*steps)][at]);
            node.share * seen.product::<f64>()
        };
        self.nodes.iter().enumerate().map(of).collect()
    }

    pub fn decay(&self, steps: usize) -> &[f64] {
        &self.decay[steps]
    }

    fn link(&mut self) {
        let known: HashMap<&[u8], u32> =
            self.rows.iter().map(|row| (&row.intervals[..], row.begin as u32)).collect();
        for row in self.rows.iter().filter(|row| !row.is_last) {
            for steps in 1..row.left {
                let mut longer = row.intervals.clone();
                let at = longer.partition_point(|known| usize::from(*known) < steps);
                longer.insert(at, steps as u8);
                self.changed[row.begin + steps] = known[&longer[..]];
            }
        }
    }

    fn integrate(&mut self) {
        for row in &self.rows {
            let shares = self.shares(row);
            for t in 0..=row.left {
                let (mut chance, mut fresh) = (0.0, 0.0);
                for ((share, decay), node) in shares.iter().zip(&self.decay[t]).zip(&self.nodes) {
                    chance += share * decay;
                    fresh += share * (1.0 - decay) / node.rate;
                }
                self.chance[row.begin + t] = chance;
                self.fresh[row.begin + t] = fresh;
            }
        }
    }
}

fn nodes(spread: RateSpread) -> Vec<Node> {
    let count = (Z_MAX / Z_STEP) as usize;
    let normal = |z: f64| (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * Z_STEP;
    let midpoint = |number: usize| (number as f64 + 0.5) * Z_STEP;
    match spread {
        RateSpread::Gamma => {
            let of = |z: f64| Node { rate: z * z / 2.0, share: 2.0 * normal(z) };
            (0..count).map(midpoint).map(of).collect()
        }
        RateSpread::Lognormal => {
            let of = |z: f64| Node { rate: 0.1 * (2.0 * z).exp(), share: normal(z) };
            (0..2 * count).map(midpoint).map(|z| of(z - Z_MAX)).collect()
        }
    }
}

fn rows(steps: usize, changes_max: usize) -> Vec<Row> {
    let mut multisets = Vec::new();
    grow(steps, changes_max, &mut Vec::new(), &mut multisets);
    let sum = |intervals: &Vec<u8>| -> usize { intervals.iter().map(|d| usize::from(*d)).sum() };
    multisets.sort_by_key(sum);
    let mut begin = 0;
    let of = |intervals: Vec<u8>| {
        let left = steps - sum(&intervals);
        let is_last = intervals.len() == changes_max;
        let row = Row { begin, left, is_last, intervals };
        begin += left + 1;
        row
    };
    multisets.into_iter().map(of).collect()
}

/// All multisets that begin with these intervals and end before the time does.
fn grow(left: usize, changes_max: usize, intervals: &mut Vec<u8>, all: &mut Vec<Vec<u8>>) {
    all.push(intervals.clone());
    if intervals.len() == changes_max {
        return;
    }
    let least = intervals.last().map_or(1, |last| usize::from(*last));
    for steps in least..left {
        intervals.push(steps as u8);
        grow(left - steps, changes_max, intervals, all);
        intervals.pop();
    }
}
