//! Hosts that can take no more visits: politeness as a price of its own.
//!
//! Kolobov, Peres, Lubetzky and Horvitz, "Optimal freshness crawl under politeness constraints",
//! SIGIR 2019: with a bound on the visits to each host a page pays max(μ, ν_h), where ν_h is the
//! price at which its host alone is used to the full. What a saturated host cannot take goes to
//! the others, where clipping its visits would lose it.

use super::allocate::{Pages, price, root};
use super::policy::{Demand, PolicyVisits};

#[derive(Clone, Debug, PartialEq)]
pub struct Capped {
    /// The price of a visit to a host that can take more.
    pub price: f64,
    /// What a page of each host pays.
    pub host_prices: Vec<f64>,
    pub visits: Vec<f64>,
}

/// Shares `budget` among pages of hosts (`host_of` names each page's) of which host h takes at
/// most `caps[h]` visits a day.
pub fn allocate_capped(
    rule: fn(Demand, f64) -> PolicyVisits,
    pages: Pages<'_>,
    host_of: &[u32],
    caps: &[f64],
    budget: f64,
) -> Capped {
    assert_eq!(host_of.len(), pages.len(), "a host for every page");
    let budget = budget.min(caps.iter().sum());
    let mut members = vec![Vec::new(); caps.len()];
    for (page, host) in host_of.iter().enumerate() {
        members[*host as usize].push(page);
    }
    let spent_at = |host: usize, price: f64| {
        members[host].iter().map(|page| rule(pages.get(*page), price)).fold(NONE, sum)
    };
    let global = root(price(rule, pages, budget).ln(), budget, |price| {
        let clipped = (0..caps.len()).map(|host| match spent_at(host, price) {
            free if free.per_day < caps[host] => free,
            _ => PolicyVisits { per_day: caps[host], slope: 0.0 },
        });
        clipped.fold(NONE, sum)
    })
    .exp();
    let host_prices: Vec<f64> = (0..caps.len())
        .map(|host| {
            if spent_at(host, global).per_day <= caps[host] {
                return global;
            }
            root(global.ln(), caps[host], |price| spent_at(host, price)).exp().max(global)
        })
        .collect();
    let paid = |page: usize| host_prices[host_of[page] as usize];
    let visits = (0..pages.len()).map(|page| rule(pages.get(page), paid(page)).per_day).collect();
    Capped { price: global, host_prices, visits }
}

const NONE: PolicyVisits = PolicyVisits { per_day: 0.0, slope: 0.0 };

fn sum(one: PolicyVisits, other: PolicyVisits) -> PolicyVisits {
    PolicyVisits { per_day: one.per_day + other.per_day, slope: one.slope + other.slope }
}
