//! Made-up collections: rates on a grid of quantiles, weights after Zipf, hosts that halve.

use super::normal::quantile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSpread {
    /// Gamma(½, 1): mean ½ a day.
    Gamma,
    /// Median 0.1 a day, two deviations an order of magnitude.
    Lognormal,
}

/// Changes a day of `pages` pages, in the middle of as many equal shares of the distribution.
pub fn rates(spread: RateSpread, pages: usize) -> Vec<f64> {
    let share = |page: usize| (page as f64 + 0.5) / pages as f64;
    (0..pages)
        .map(|page| match spread {
            RateSpread::Gamma => {
                let z = quantile((1.0 + share(page)) / 2.0);
                z * z / 2.0
            }
            RateSpread::Lognormal => 0.1 * (2.0 * quantile(share(page))).exp(),
        })
        .collect()
}

/// Changes a day that a page had within so many days.
pub fn seen(changes: &[f64], days: f64) -> f64 {
    changes.iter().filter(|change| **change > 0.0 && **change <= days).count() as f64 / days
}

/// Weights of mean 1 that fall with the 0.6th power of a rank that has nothing to do with rates.
pub fn zipf(pages: usize) -> Vec<f64> {
    let of = |page: usize| (1.0 + ((page * 61_803) % pages) as f64).powf(-0.6);
    let sum: f64 = (0..pages).map(of).sum();
    let scale = pages as f64 / sum;
    (0..pages).map(|page| of(page) * scale).collect()
}

/// Hosts of which each has half the pages of the one before, and the last as many as the last but
/// one; pages are scattered over them.
pub fn halving_hosts(pages: usize, hosts: usize) -> Vec<u32> {
    let host_of = |page: usize| {
        let at = ((page * 7_919) % pages) as f64 + 0.5;
        let mut edge = 0.0;
        for host in 0..hosts.saturating_sub(1) {
            edge += pages as f64 / 2f64.powi(host as i32 + 1);
            if at < edge {
                return host as u32;
            }
        }
        hosts.saturating_sub(1) as u32
    };
    (0..pages).map(host_of).collect()
}
