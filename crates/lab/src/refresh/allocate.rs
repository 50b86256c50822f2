//! Sharing a budget of visits among pages of known rates, exactly.
//!
//! A priced policy spends less the higher the price, so there is one price at which the visits of
//! all pages add up to the budget. Newton's method on ln(spent) over ln μ finds it; a bracket keeps
//! it honest. A sample is solved first: then few passes over all pages are needed.

use super::policy::{Demand, Policy, PolicyVisits, Rule};

/// Passes over all pages; Newton's method needs three or four.
const PASSES_MAX: usize = 60;
/// How near to the budget is near enough: within a page or two of a million. A page at the edge of
/// being given up jumps, so that no price may spend the budget to the last digit.
const TOLERANCE: f64 = 5e-7;
const SAMPLE_PAGES: usize = 1024;
/// ln μ lies within these bounds for any rates and budgets that a crawl can have.
const LN_PRICE: (f64, f64) = (-120.0, 120.0);

/// Pages with their rates and weights; all weights are 1 if there are none.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    rates: &'a [f64],
    weights: Option<&'a [f64]>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Allocation {
    /// What one more visit a day would bring; none where the budget is shared by proportion.
    pub price: Option<f64>,
    /// Visits a day, page by page.
    pub visits: Vec<f64>,
}

impl<'a> Pages<'a> {
    pub fn new(rates: &'a [f64], weights: Option<&'a [f64]>) -> Pages<'a> {
        assert!(weights.is_none_or(|w| w.len() == rates.len()), "a weight for every page");
        Pages { rates, weights }
    }

    pub fn len(&self) -> usize {
        self.rates.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    pub fn get(&self, page: usize) -> Demand {
        Demand { rate: self.rates[page], weight: self.weights.map_or(1.0, |w| w[page]) }
    }

    fn every(&self, step: usize) -> impl Iterator<Item = Demand> {
        (0..self.len()).step_by(step).map(|page| self.get(page))
    }
}

/// The allocation of `budget` visits a day. Nobody is visited if no page can use a visit.
pub fn allocate(policy: Policy, pages: Pages<'_>, budget: f64) -> Allocation {
    match policy.rule() {
        Rule::Shares(share) => {
            let total: f64 = pages.every(1).map(share).sum();
            let unit = if total > 0.0 { budget / total } else { 0.0 };
            let visits = pages.every(1).map(|page| share(page) * unit).collect();
            Allocation { price: None, visits }
        }
        Rule::Priced(rule) => {
            let price = price(rule, pages, budget);
            let visits = pages.every(1).map(|page| rule(page, price).per_day).collect();
            Allocation { price: Some(price), visits }
        }
    }
}

/// The price at which `rule` spends `budget` on these pages.
pub fn price(rule: fn(Demand, f64) -> PolicyVisits, pages: Pages<'_>, budget: f64) -> f64 {
    let step = (pages.len() / SAMPLE_PAGES).max(1);
    let seen = pages.len().div_ceil(step) as f64;
    let of_sample = budget * seen / pages.len().max(1) as f64;
    let rough = if step > 1 {
        root(0.0, of_sample, |price| spent(rule, pages.every(step), price))
    } else {
        0.0
    };
    root(rough, budget, |price| spent(rule, pages.every(1), price)).exp()
}

fn spent(
    rule: fn(Demand, f64) -> PolicyVisits,
    pages: impl Iterator<Item = Demand>,
    price: f64,
) -> PolicyVisits {
    pages.map(|page| rule(page, price)).fold(PolicyVisits::default(), |sum, visits| PolicyVisits {
        per_day: sum.per_day + visits.per_day,
        slope: sum.slope + visits.slope,
    })
}

/// The ln μ at which `spent` equals `budget`, from a first guess.
pub fn root(guess: f64, budget: f64, spent: impl Fn(f64) -> PolicyVisits) -> f64 {
    let (mut low, mut high) = LN_PRICE;
    if budget <= 0.0 {
        return high;
    }
    let mut x = guess;
    for _ in 0..PASSES_MAX {
        let PolicyVisits { per_day, slope } = spent(x.exp());
        if (per_day / budget - 1.0).abs() < TOLERANCE {
            break;
        }
        if per_day > budget {
            low = x;
        } else {
            high = x;
        }
        let newton = x - (per_day / budget).ln() * per_day / slope;
        let inside = newton.is_finite() && newton > low && newton < high;
        let next = if inside { newton } else { midpoint(low, high, x) };
        if next == x {
            break;
        }
        x = next;
    }
    x
}

/// Halves a bracket that both ends have been tightened of; otherwise walks towards the open end.
fn midpoint(low: f64, high: f64, x: f64) -> f64 {
    let stride = 4.0;
    if low == LN_PRICE.0 {
        (x - stride).max((low + high) / 2.0)
    } else if high == LN_PRICE.1 {
        (x + stride).min((low + high) / 2.0)
    } else {
        (low + high) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_spends_the_budget_exactly_whatever_the_rates() {
        let rates: Vec<f64> = (0..5_000).map(|i| (f64::from(i) * 0.004 - 12.0).exp()).collect();
        let weights: Vec<f64> = (0..5_000).map(|i| 1.0 / f64::from(1 + i % 77)).collect();
        for policy in Policy::ALL {
            for budget in [0.01, 500.0, 1e6] {
                let pages = Pages::new(&rates, Some(&weights));
                let spent: f64 = allocate(policy, pages, budget).visits.iter().sum();
                assert!((spent / budget - 1.0).abs() < 1e-6, "{policy:?}: {spent} of {budget}");
            }
        }
    }

    #[test]
    fn no_budget_and_pages_that_never_change_are_no_trouble() {
        for policy in Policy::ALL {
            let still = [0.0; 3];
            let none = allocate(policy, Pages::new(&[1.0, 2.0], None), 0.0);
            assert!(none.visits.iter().all(|f| *f < 1e-20), "{policy:?}: {:?}", none.visits);
            let rest = allocate(policy, Pages::new(&still, None), 1.0);
            assert!(rest.visits.iter().all(|f| f.is_finite()), "{policy:?}: {:?}", rest.visits);
            assert!(allocate(policy, Pages::new(&[], None), 1.0).visits.is_empty());
        }
    }
}
