//! What a policy buys for pages of known rates, in closed form.

use crate::refresh::allocate::{Pages, allocate};
use crate::refresh::closed;
use crate::refresh::host_caps::allocate_capped;
use crate::refresh::policy::{Policy, Rule};

/// For `cap60`, pages count as visited at least once in so many days.
const CAP_DAYS: f64 = 60.0;

/// Means over pages, weighed; infinite where a page that changes is never visited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bought {
    pub freshness: f64,
    pub age_days: f64,
    pub age_days_cap60: f64,
    pub delay: f64,
    pub delay_cap60: f64,
    /// Visits a day.
    pub visits: f64,
    pub price: Option<f64>,
    /// The share of pages that are not visited at all.
    pub starved: f64,
}

/// Hosts, and the visits a day that each can take.
#[derive(Clone, Copy, Debug)]
pub struct Caps<'a> {
    pub host_of: &'a [u32],
    pub visits: &'a [f64],
}

pub fn buy(
    policy: Policy,
    rates: &[f64],
    weights: Option<&[f64]>,
    budget: f64,
    caps: Option<Caps<'_>>,
) -> Bought {
    let pages = Pages::new(rates, weights);
    let (visits, price) = match (caps, policy.rule()) {
        (Some(caps), Rule::Priced(rule)) => {
            let capped = allocate_capped(rule, pages, caps.host_of, caps.visits, budget);
            (capped.visits, Some(capped.price))
        }
        (caps, _) => {
            let free = allocate(policy, pages, budget);
            let visits = match caps {
                Some(caps) => clipped(free.visits, caps),
                None => free.visits,
            };
            (visits, free.price)
        }
    };
    Bought { price, ..measure(pages, &visits) }
}

/// Rates scaled down on hosts that cannot take them; what they cannot take is lost.
pub fn clipped(mut visits: Vec<f64>, caps: Caps<'_>) -> Vec<f64> {
    let mut wanted = vec![0.0; caps.visits.len()];
    for (visit, host) in visits.iter().zip(caps.host_of) {
        wanted[*host as usize] += visit;
    }
    for (visit, host) in visits.iter_mut().zip(caps.host_of) {
        let host = *host as usize;
        if wanted[host] > caps.visits[host] {
            *visit *= caps.visits[host] / wanted[host];
        }
    }
    visits
}

/// What these visits a day buy.
pub fn measure(pages: Pages<'_>, visits: &[f64]) -> Bought {
    let mut sum = Bought::default();
    let mut weights = 0.0;
    for (page, f) in visits.iter().enumerate() {
        let at = pages.get(page);
        let often = f.max(1.0 / CAP_DAYS);
        sum.freshness += at.weight * closed::freshness(at.rate, *f);
        sum.age_days += at.weight * closed::age(at.rate, *f);
        sum.age_days_cap60 += at.weight * closed::age(at.rate, often);
        sum.delay += at.weight * closed::delay(at.rate, *f);
        sum.delay_cap60 += at.weight * closed::delay(at.rate, often);
        sum.visits += f;
        sum.starved += f64::from(*f <= 0.0);
        weights += at.weight;
    }
    let mean = |total: f64| total / weights;
    Bought {
        freshness: mean(sum.freshness),
        age_days: mean(sum.age_days),
        age_days_cap60: mean(sum.age_days_cap60),
        delay: mean(sum.delay),
        delay_cap60: mean(sum.delay_cap60),
        starved: sum.starved / visits.len().max(1) as f64,
        ..sum
    }
}
