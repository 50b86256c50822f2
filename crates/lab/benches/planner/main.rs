//! How near can anybody come to an oracle who must learn every rate? A bound.
//!
//! The measure of docs/lab/freshness.md: pages whose rates are Gamma(½, 1) or lognormal, all
//! fetched at 0, a tenth or a half of a visit a page and day, freshness over 60 days beside an
//! oracle that visits at the best constant rates from the start. The learner here is told the
//! distribution, the end, and has all the time there is to plan.
//!
//! Lagrangian relaxation: let visits of each day have a price and forget the budget. Then pages
//! have nothing to do with each other, and the best plan for one is found exactly, backwards over
//! everything that can be known of it ([`beliefs`], [`plan`]). Its worth plus the price of the
//! budget bounds all that keep to the budget, whatever the [`prices`]; the best ones make it
//! tight. What is not exact is the grid of times: it is refined until that no longer matters.
//!
//! At half a visit a day grids must be finer and histories are more: there a page is told its rate
//! after fewer changes, which makes the bound higher, not lower.
//!
//! `cargo bench -p rhumb-lab --bench planner`, and for one case alone
//! `cargo bench -p rhumb-lab --bench planner -- lognormal 0.5`

mod beliefs;
mod plan;
mod prices;

use beliefs::Beliefs;
use plan::{Beyond, Lived, Plan};
use prices::{Slope, least};
use rhumb_lab::refresh::allocate::{Pages, allocate};
use rhumb_lab::refresh::policy::Policy;
use rhumb_lab::refresh::rates::{RateSpread, rates};

const PAGES: usize = 20_000;
const DAYS: f64 = 60.0;
/// What is planned for.
struct Case {
    spread: RateSpread,
    /// Visits a page and day.
    often: f64,
    /// Pages that were seen to change more often are told their rate, or in a plan that can be
    /// carried out never visited again.
    changes_max: usize,
    /// Few enough pages change that often for such a plan to come near.
    is_planned: bool,
    grids_days: &'static [f64],
}

const CASES: [Case; 4] = [
    Case {
        spread: RateSpread::Gamma,
        often: 0.1,
        changes_max: 9,
        is_planned: true,
        grids_days: &[2.0, 1.5, 1.25, 1.0],
    },
    Case {
        spread: RateSpread::Lognormal,
        often: 0.1,
        changes_max: 9,
        is_planned: true,
        grids_days: &[2.0, 1.5],
    },
    Case {
        spread: RateSpread::Gamma,
        often: 0.5,
        changes_max: 3,
        is_planned: false,
        grids_days: &[1.0, 0.75, 0.5],
    },
    Case {
        spread: RateSpread::Lognormal,
        often: 0.5,
        changes_max: 3,
        is_planned: false,
        grids_days: &[1.0, 0.75, 0.5],
    },
];
/// Lots are drawn at these, one after the other.
const TEMPERATURES: [f64; 2] = [0.01, 0.003];
/// Somebody who does not know when time ends plans for this long, on this grid.
const LONGER_DAYS: f64 = 75.0;
const LONGER_GRID_DAYS: f64 = 1.5;

fn main() {
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    for case in &CASES {
        let name = [format!("{:?}", case.spread).to_lowercase(), case.often.to_string()];
        if asked.is_empty() || asked == name {
            println!("{} rates, {} visits a page and day", name[0], name[1]);
            case.show();
        }
    }
}

impl Case {
    fn show(&self) {
        let oracle = self.oracle();
        let show = |what: &str, fresh: f64| {
            println!("  {what}: {fresh:.4} fresh, {:.2} % of the oracle", 100.0 * fresh / oracle);
        };
        println!("oracle: {oracle:.4} fresh");
        let mut prices = vec![1.0, 1.0];
        for grid in self.grids_days {
            let beliefs = self.beliefs(DAYS, *grid);
            println!("visits every {grid} days, {} beliefs", beliefs.chance.len());
            show("a budget for all the time, bound", self.in_all(&beliefs));
            for ends in [Ends::Given, Ends::Lost] {
                let budget = Budget::new(self.often, &beliefs, ends);
                let beyond = if self.is_planned { Beyond::Left } else { Beyond::Told };
                prices = budget.prices(&beliefs, stretched(&prices, beliefs.steps), beyond);
                show(
                    &format!("a budget for each day, ends {ends:?}, bound"),
                    budget.bound(&beliefs, &prices),
                );
                if self.is_planned {
                    let lived = reached(&beliefs, &prices);
                    show("reached by a plan", lived.fresh_days / DAYS);
                }
            }
        }
        if self.plans_beyond() {
            let beliefs = self.beliefs(LONGER_DAYS, LONGER_GRID_DAYS);
            let budget = Budget::new(self.often, &beliefs, Ends::Lost);
            let first = stretched(&prices, beliefs.steps);
            let prices = budget.prices(&beliefs, first, Beyond::Left);
            let lived = reached(&beliefs, &prices);
            show(&format!("planned for {LONGER_DAYS} days"), lived.counted_days / DAYS);
        }
    }

    /// Where somebody who does not know the end is looked at.
    fn plans_beyond(&self) -> bool {
        self.is_planned && self.grids_days.contains(&LONGER_GRID_DAYS)
    }

    fn beliefs(&self, days: f64, grid: f64) -> Beliefs {
        let steps = (days / grid).round() as usize;
        Beliefs::new(self.spread, self.changes_max, steps, grid)
    }
}

/// Visits in the half steps at both ends: made in the next step, or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Given,
    Lost,
}

/// Visits a page for each step. A step stands for the time from half a step before to half a step
/// after it; what is visited at the end is of no use.
struct Budget {
    visits: Vec<f64>,
}

impl Budget {
    fn new(often: f64, beliefs: &Beliefs, ends: Ends) -> Budget {
        let steps = beliefs.steps;
        let mut visits = vec![often * beliefs.step_days; steps + 1];
        (visits[0], visits[steps]) = (0.0, 0.0);
        if ends == Ends::Given {
            visits[1] *= 1.5;
            visits[steps - 1] *= 1.5;
        }
        Budget { visits }
    }

    fn cost(&self, prices: &[f64]) -> f64 {
        self.visits.iter().zip(prices).map(|(visits, price)| visits * price).sum()
    }

    /// Those at which the budget of each step is asked for.
    fn prices(&self, beliefs: &Beliefs, first: Vec<f64>, beyond: Beyond) -> Vec<f64> {
        TEMPERATURES.into_iter().fold(first, |prices, temperature| {
            least(prices, self.visits.iter().sum(), |prices| {
                let plan = Plan::new(beliefs, prices, temperature, beyond);
                let asked = plan.lived(beliefs.steps).visits;
                let by = self.visits.iter().zip(&asked).map(|(given, asked)| given - asked);
                Slope { value: plan.worth() + self.cost(prices), by: by.collect() }
            })
        })
    }

    /// No plan that keeps to the budget is fresher.
    fn bound(&self, beliefs: &Beliefs, prices: &[f64]) -> f64 {
        let days = beliefs.steps as f64 * beliefs.step_days;
        let plan = Plan::new(beliefs, prices, 0.0, Beyond::Told);
        (plan.worth() + self.cost(prices)) / days
    }
}

fn reached(beliefs: &Beliefs, prices: &[f64]) -> Lived {
    let [.., coldest] = TEMPERATURES;
    let counted = (DAYS / beliefs.step_days).round() as usize;
    Plan::new(beliefs, prices, coldest, Beyond::Left).lived(counted)
}

impl Case {
    /// The bound if the visits of all days may be made on any: one price for all.
    fn in_all(&self, beliefs: &Beliefs) -> f64 {
        const HALVINGS: usize = 12;
        let (mut low, mut high) = (0.05f64, 3.0f64);
        let mut least = f64::INFINITY;
        for _ in 0..HALVINGS {
            let price = (low * high).sqrt();
            let prices = vec![price; beliefs.steps + 1];
            let plan = Plan::new(beliefs, &prices, 0.0, Beyond::Told);
            least = least.min(plan.worth() / DAYS + price * self.often);
            let asked: f64 = plan.lived(beliefs.steps).visits.iter().sum();
            if asked > self.often * DAYS { low = price } else { high = price }
        }
        least
    }
}

/// Prices of another grid as a first guess.
fn stretched(prices: &[f64], steps: usize) -> Vec<f64> {
    let at = |step: usize| {
        let x = step as f64 / steps as f64 * (prices.len() - 1) as f64;
        let from = (x as usize).min(prices.len() - 2);
        prices[from] + (prices[from + 1] - prices[from]) * (x - from as f64)
    };
    (0..=steps).map(at).collect()
}

impl Case {
    /// What the oracle is expected to have: pages are visited at even intervals, from any moment of
    /// the first on.
    fn oracle(&self) -> f64 {
        const MOMENTS: usize = 16;
        let rates = rates(self.spread, PAGES);
        let often =
            allocate(Policy::Freshness, Pages::new(&rates, None), self.often * PAGES as f64).visits;
        let page = |(rate, often): (&f64, &f64)| {
            let fresh = |days: f64| -(-rate * days).exp_m1() / rate;
            if often * DAYS < 1e-6 {
                return fresh(DAYS);
            }
            let interval = 1.0 / often;
            let from = |moment: usize| {
                let first = (moment as f64 + 0.5) / MOMENTS as f64 * interval;
                if first >= DAYS {
                    return fresh(DAYS);
                }
                let whole = ((DAYS - first) / interval).floor();
                fresh(first) + whole * fresh(interval) + fresh(DAYS - first - whole * interval)
            };
            (0..MOMENTS).map(from).sum::<f64>() / MOMENTS as f64
        };
        rates.iter().zip(&often).map(page).sum::<f64>() / DAYS / PAGES as f64
    }
}
