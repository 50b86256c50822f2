//! How often to visit a page whose rate of change is known: one policy a file.
//!
//! A policy either shares the budget in proportion to something, or follows a *price* μ, what one
//! visit a day must bring to be worth making: the Lagrange multiplier of the budget. A lower price
//! means more visits; [`super::allocate`] finds the price at which they cost what we have.

pub mod age;
pub mod binary;
pub mod delay;
pub mod freshness;
pub mod harmonic;
pub mod proportional;
pub mod uniform;

/// How visits are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    Uniform,
    Proportional,
    Delay,
    Freshness,
    Age,
    Binary,
    Harmonic,
}

impl Policy {
    pub const ALL: [Policy; 7] = [
        Policy::Uniform,
        Policy::Proportional,
        Policy::Delay,
        Policy::Freshness,
        Policy::Age,
        Policy::Binary,
        Policy::Harmonic,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Policy::Uniform => "uniform",
            Policy::Proportional => "proportional",
            Policy::Delay => "delay",
            Policy::Freshness => "freshness",
            Policy::Age => "age",
            Policy::Binary => "binary",
            Policy::Harmonic => "harmonic",
        }
    }

    pub fn rule(self) -> Rule {
        match self {
            Policy::Uniform => Rule::Shares(uniform::share),
            Policy::Proportional => Rule::Shares(proportional::share),
            Policy::Delay => Rule::Shares(delay::share),
            Policy::Freshness => Rule::Priced(freshness::visits),
            Policy::Age => Rule::Priced(age::visits),
            Policy::Binary => Rule::Priced(binary::visits),
            Policy::Harmonic => Rule::Priced(harmonic::visits),
        }
    }
}

/// A page as the policies see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Changes a day.
    pub rate: f64,
    pub weight: f64,
}

/// Visits a day at a price, and how they answer to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PolicyVisits {
    pub per_day: f64,
    /// Their derivative by ln μ: never positive.
    pub slope: f64,
}

#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The budget is shared in proportion to this.
    Shares(fn(Demand) -> f64),
    /// Visits a day at a price.
    Priced(fn(Demand, f64) -> PolicyVisits),
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::refresh::belief::Gamma;
    use rhumb_engine::refresh::index::{Objective, due_after};

    #[test]
    fn a_rate_known_for_sure_gives_the_optimal_interval_of_its_policy() {
        for (rate, price) in [(0.05, 3.0), (0.7, 0.2), (4.0, 0.05)] {
            let sure = Gamma { a: 1e7, b: 1e7 / rate };
            let page = Demand { rate, weight: 1.0 };
            let t = |objective| due_after(objective, sure, price, 1e6).days;
            let near = |t: f64, f: f64| assert!((t * f - 1.0).abs() < 3e-3, "{t} for {}", 1.0 / f);
            near(t(Objective::Freshness), freshness::visits(page, price).per_day);
            near(t(Objective::Age), age::visits(page, price).per_day);
            let often = binary::visits(page, price).per_day;
            if often > 0.0 {
                near(t(Objective::Binary), often);
            }
            near(t(Objective::Delay), delay::share(page) / (2.0 * price).sqrt());
        }
    }
}
