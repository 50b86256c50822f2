//! Prices at which every day's budget is asked for, and no more.
//!
//! What a plan is worth at some prices, plus what the budget would cost at them, is at least the
//! fresh days of any plan that keeps to the budget; it is convex in the prices, and its derivative
//! is the budget less the visits. So the least of it is looked for, by Nocedal's method (L-BFGS,
//! "Updating quasi-Newton matrices with limited storage", Math. Comp. 35, 1980).

const STEPS_MAX: usize = 60;
const HALVINGS_MAX: usize = 12;
const REMEMBERED: usize = 25;
/// Of the greatest price the first step may change so much.
const FIRST_STEP: f64 = 0.3;
/// Good enough: visits differ from the budget by this share of it.
const MISFIT: f64 = 0.003;

/// A value and its derivatives.
pub struct Slope {
    pub value: f64,
    pub by: Vec<f64>,
}

/// A step, how much it changed the derivatives, and the product of both.
struct Turn {
    step: Vec<f64>,
    bend: Vec<f64>,
    product: f64,
}

/// Prices of at least 0 at which `of` is least, from these on; `scale` is the size of a
/// derivative that matters.
pub fn least(mut prices: Vec<f64>, scale: f64, of: impl Fn(&[f64]) -> Slope) -> Vec<f64> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut slope = of(&prices);
    for _ in 0..STEPS_MAX {
        if slope.by.iter().map(|by| by.abs()).sum::<f64>() < MISFIT * scale {
            break;
        }
        let way = direction(&slope.by, &turns);
        let falls = dot(&way, &slope.by);
        let shorter = (0..HALVINGS_MAX).map(|times| 0.5f64.powi(times as i32));
        let found = shorter.into_iter().find_map(|length| {
            let go = |(price, way): (&f64, &f64)| (price - length * way).max(0.0);
            let next: Vec<f64> = prices.iter().zip(&way).map(go).collect();
            let there = of(&next);
            (there.value <= slope.value - 1e-4 * length * falls).then_some((next, there))
        });
        let Some((next, there)) = found else { break };
        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>();
        let (step, bend) = (minus(&next, &prices), minus(&there.by, &slope.by));
        let product = dot(&step, &bend);
        if product > 1e-14 {
            turns.push(Turn { step, bend, product });
        }
        if turns.len() > REMEMBERED {
            turns.remove(0);
        }
        (prices, slope) = (next, there);
    }
    prices
}

/// Where to go from here, downwards being positive.
fn direction(by: &[f64], turns: &[Turn]) -> Vec<f64> {
    let mut way = by.to_vec();
    let add = |way: &mut [f64], times: f64, other: &[f64]| {
        way.iter_mut().zip(other).for_each(|(way, other)| *way += times * other);
    };
    let mut shares = Vec::new();
    for turn in turns.iter().rev() {
        let share = dot(&turn.step, &way) / turn.product;
        add(&mut way, -share, &turn.bend);
        shares.push(share);
    }
    let steepest = by.iter().fold(0.0f64, |most, by| most.max(by.abs()));
    let scale = turns
        .last()
        .map_or(FIRST_STEP / steepest, |turn| turn.product / dot(&turn.bend, &turn.bend));
    way.iter_mut().for_each(|way| *way *= scale);
    for (turn, share) in turns.iter().zip(shares.iter().rev()) {
        let back = dot(&turn.bend, &way) / turn.product;
        add(&mut way, share - back, &turn.step);
    }
    way
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
