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
pub struct Visits {
    pub per_day: f64,
    /// Their derivative by ln μ: never positive.
    pub slope: f64,
}

#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The budget is shared in proportion to this.
    Shares(fn(Demand) -> f64),
    /// Visits a day at a price.
    Priced(fn(Demand, f64) -> Visits),
}
