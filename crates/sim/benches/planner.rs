//! How near to an oracle can anybody come who has to learn? A planner that is told the
//! distribution of rates and the end of time, and may place its visits on any day it likes.
//!
//! Pages of rates Gamma(½, 1), all fetched at 0, are to be fresh over 60 days with six visits each
//! on average. For a price of a visit the problem falls apart into single pages; the value of a
//! belief is found backwards in time on a grid of beliefs, and the price by bisection. The planner
//! is then set on drawn pages. The oracle has the same freedom and knows every rate: it spaces a
//! page's visits evenly. What is between them is what learning costs at least, but for the grid
//! and for beliefs that are Gamma distributions.
//!
//! `cargo bench -p rhumb-sim --bench planner`

use rhumb_engine::refresh::belief::{Gamma, Seen};
use rhumb_engine::rng::Rng;
use rhumb_sim::refresh::rates::{Spread, rates};

const DAYS: f64 = 60.0;
const STEPS: usize = 120;
const STEP_DAYS: f64 = DAYS / STEPS as f64;
const VISITS: f64 = 6.0;
const PAGES: usize = 20_000;
const PRIOR: Gamma = Gamma { a: 0.5, b: 1.0 };
/// The grid of beliefs: ln a and ln of the mean, each from, to, and in so many points.
const LN_SHAPE: (f64, f64, usize) = (-3.5, 4.5, 44);
const LN_MEAN: (f64, f64, usize) = (-7.5, 5.5, 110);
const BISECTIONS: usize = 10;

fn main() {
    let rates = rates(Spread::Gamma, PAGES);
    let (mut low, mut high) = (1.0f64, 2.0f64);
    let (mut free, mut visits) = (0.0, 0.0);
    for _ in 0..BISECTIONS {
        let price = (low * high).sqrt();
        let plan = Plan::solved(price);
        (free, visits) = plan.lived(&rates);
        println!("price {price:.3}: fresh {free:.4} with {visits:.3} visits a page");
        if visits > VISITS { low = price } else { high = price }
    }
    // What is spent too much or too little, at its price.
    let learnt = free - (visits - VISITS) * (low * high).sqrt() / DAYS;
    let known = oracle(&rates);
    println!("planner {learnt:.4}, oracle {known:.4}: {:.1} %", 100.0 * learnt / known);
}

/// The freshness of pages of known rates with the best numbers of evenly spaced visits.
fn oracle(rates: &[f64]) -> f64 {
    let fresh = |rate: f64, visits: f64| {
        let x = rate * DAYS / (visits + 1.0);
        -(-x).exp_m1() / x
    };
    // Each visit goes where it adds most; what one adds falls with their number.
    let adds = |rate: f64, visits: f64| fresh(rate, visits + 1.0) - fresh(rate, visits);
    let (mut low, mut high) = (0.0f64, 1.0f64);
    let mut sum = 0.0;
    for _ in 0..60 {
        let price = (low + high) / 2.0;
        let mut spent = 0.0;
        sum = 0.0;
        for rate in rates {
            let mut best = (fresh(*rate, 0.0), 0.0);
            let mut visits = 0.0;
            // Freshness is first convex in the visits to a page that changes all the time.
            while visits < 400.0 && (adds(*rate, visits) > price || visits * price < 1.0) {
                visits += 1.0;
                if fresh(*rate, visits) - price * visits > best.0 - price * best.1 {
                    best = (fresh(*rate, visits), visits);
                }
            }
            (sum, spent) = (sum + best.0, spent + best.1);
        }
        if spent > VISITS * rates.len() as f64 { low = price } else { high = price }
    }
    sum / rates.len() as f64
}

/// The worth of beliefs, by the steps that are left: the fresh days to come, less visits' price.
struct Plan {
    price: f64,
    worth: Vec<Vec<f32>>,
}

/// A visit after some steps: what it finds, and where on the grid that leads.
struct Move {
    fresh_days: f64,
    unchanged: f64,
    after: [(f64, f64); 2],
}

impl Move {
    fn of(gamma: Gamma, steps: usize) -> Move {
        let t = steps as f64 * STEP_DAYS;
        let unchanged = gamma.ln_unchanged(t).exp();
        let k = gamma.a - 1.0;
        let x = 1.0 + t / gamma.b;
        let grown = if k.abs() < 1e-6 { x.ln() } else { (1.0 - unchanged * x) / k };
        let after = [Seen::Unchanged, Seen::Changed].map(|seen| place(gamma.after(t, seen)));
        Move { fresh_days: gamma.b * grown, unchanged, after }
    }
}

/// Where on the grid a belief is.
fn place(gamma: Gamma) -> (f64, f64) {
    let along = |value: f64, (from, to, points): (f64, f64, usize)| {
        let last = (points - 1) as f64;
        ((value - from) / (to - from) * last).clamp(0.0, last - 1e-3)
    };
    (along(gamma.a.ln(), LN_SHAPE), along(gamma.mean().ln(), LN_MEAN))
}

impl Plan {
    fn solved(price: f64) -> Plan {
        let (shapes, means) = (LN_SHAPE.2, LN_MEAN.2);
        let mut plan = Plan { price, worth: vec![vec![0.0; shapes * means]; STEPS + 1] };
        let at = |(from, to, points): (f64, f64, usize), index: usize| {
            (from + (to - from) * index as f64 / (points - 1) as f64).exp()
        };
        let moves: Vec<Vec<Move>> = (0..shapes * means)
            .map(|cell| {
                let a = at(LN_SHAPE, cell / means);
                let gamma = Gamma { a, b: a / at(LN_MEAN, cell % means) };
                (1..=STEPS).map(|steps| Move::of(gamma, steps)).collect()
            })
            .collect();
        for left in 1..=STEPS {
            for (cell, moves) in moves.iter().enumerate() {
                plan.worth[left][cell] = plan.best(left, |steps| &moves[steps - 1]).1 as f32;
            }
        }
        plan
    }

    /// After how many steps to visit next (never, if all that are left) and what that is worth.
    fn best<M: std::borrow::Borrow<Move>>(
        &self,
        left: usize,
        of: impl Fn(usize) -> M,
    ) -> (usize, f64) {
        let mut best = (left, of(left).borrow().fresh_days);
        for steps in 1..left {
            let next = of(steps);
            let Move { fresh_days, unchanged, after } = next.borrow();
            let [same, changed] = after.map(|place| self.worth_at(left - steps, place));
            let worth = fresh_days - self.price + unchanged * same + (1.0 - unchanged) * changed;
            if worth > best.1 {
                best = (steps, worth);
            }
        }
        best
    }

    /// Between the points of the grid by cubics: lines would make all beliefs look better.
    fn worth_at(&self, left: usize, (x, y): (f64, f64)) -> f64 {
        let (shapes, means) = (LN_SHAPE.2, LN_MEAN.2);
        let (i, j) = (x as usize, y as usize);
        let near =
            |at: usize, points: usize| [at.saturating_sub(1), at, at + 1, (at + 2).min(points - 1)];
        let columns = near(j, means);
        let of_row = |row: usize| {
            let points = columns.map(|column| f64::from(self.worth[left][row * means + column]));
            cubic(points, y - j as f64)
        };
        cubic(near(i, shapes).map(of_row), x - i as f64)
    }

    /// Sets the planner on pages of these rates: their freshness, and the visits to each.
    fn lived(&self, rates: &[f64]) -> (f64, f64) {
        let mut rng = Rng::new(7);
        let (mut fresh_days, mut visits) = (0.0, 0u64);
        for rate in rates {
            let (mut belief, mut left) = (PRIOR, STEPS);
            while left > 0 {
                let (steps, _) = self.best(left, |steps| Move::of(belief, steps));
                let t = steps as f64 * STEP_DAYS;
                let chance = ((rng.draw() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                let change = -chance.ln() / rate;
                fresh_days += change.min(t);
                left -= steps;
                visits += u64::from(left > 0);
                let seen = if change < t { Seen::Changed } else { Seen::Unchanged };
                belief = belief.after(t, seen);
            }
        }
        (fresh_days / DAYS / rates.len() as f64, visits as f64 / rates.len() as f64)
    }
}

/// Through the inner two of four points (Catmull and Rom, 1974).
fn cubic([before, from, to, after]: [f64; 4], at: f64) -> f64 {
    let bend = 3.0 * (from - to) + after - before;
    let curve = 2.0 * before - 5.0 * from + 4.0 * to - after;
    from + 0.5 * at * (to - before + at * (curve + at * bend))
}
