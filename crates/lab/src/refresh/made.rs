//! Histories made up by rules that are known: what real sets have one at a time, each pure.
//!
//! Every kind has the same mean: a page changes [`CHANGES`] times in [`DAYS`] days. Whoever
//! evaluates a policy on real sets alone tunes it to six webmasters; here the truth is known, and
//! a draw costs nothing.

use super::histories::Histories;
use rhumb_engine::rng::Rng;

pub const DAYS: f64 = 1_000.0;
/// Changes that a page is expected to have.
const CHANGES: f64 = 6.0;
/// Pages that share a host, its mass edits and its releases.
const PAGES_PER_HOST: usize = 25;
const MEAN: f64 = CHANGES / DAYS;

/// How the pages of a set change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeKind {
    /// All at one rate: nothing can be learnt, and nothing should be lost by trying.
    Alike,
    /// Rates are Gamma(½) over the pages: few change often.
    Spread,
    /// Changes come in bursts: now and then some in a day.
    Bursts,
    /// A page is busy for a while, then calm for longer.
    Moods,
    /// Rates double and vanish with the season, for all pages alike.
    Seasons,
    /// Each host releases on its own fixed days, and every page with it.
    Releases,
    /// Edits that touch most pages of everybody at once, and little else.
    MassEdits,
    /// Most pages never change, or stop for good.
    Dead,
    /// Each page trades its rate for another one at some time.
    Drift,
    /// Each page is of one of the other kinds.
    Mixture,
}

impl MadeKind {
    pub const ALL: [MadeKind; 10] = [
        MadeKind::Alike,
        MadeKind::Spread,
        MadeKind::Bursts,
        MadeKind::Moods,
        MadeKind::Seasons,
        MadeKind::Releases,
        MadeKind::MassEdits,
        MadeKind::Dead,
        MadeKind::Drift,
        MadeKind::Mixture,
    ];

    pub fn word(self) -> &'static str {
        match self {
            MadeKind::Alike => "alike",
            MadeKind::Spread => "spread",
            MadeKind::Bursts => "bursts",
            MadeKind::Moods => "moods",
            MadeKind::Seasons => "seasons",
            MadeKind::Releases => "releases",
            MadeKind::MassEdits => "mass edits",
            MadeKind::Dead => "dead pages",
            MadeKind::Drift => "drift",
            MadeKind::Mixture => "mixture",
        }
    }
}

/// A set of one kind; the same for the same seed.
pub fn made(kind: MadeKind, pages: usize, seed: u64) -> Histories {
    let mut dice = Dice(Rng::new(seed ^ ((kind as u64 + 1) << 32)));
    let shocks = dice.poisson(MEAN * 0.8, 0.0, DAYS);
    let mut host = Vec::new();
    let mut histories = Histories::default();
    for page in 0..pages {
        if page % PAGES_PER_HOST == 0 {
            host = dice.releases();
        }
        let of = match kind {
            MadeKind::Mixture => MadeKind::ALL[dice.below(MadeKind::ALL.len() - 1)],
            pure => pure,
        };
        let times = dice.times(of, &host, &shocks);
        histories.push(&format!("host {}", page / PAGES_PER_HOST), times);
    }
    histories
}

struct Dice(Rng);

impl Dice {
    /// Between 0 and 1, both excluded.
    fn share(&mut self) -> f64 {
        ((self.0.draw() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.share() * bound as f64) as usize
    }

    fn exponential(&mut self) -> f64 {
        -self.share().ln()
    }

    fn poisson(&mut self, rate: f64, from: f64, to: f64) -> Vec<f64> {
        let mut times = Vec::new();
        let mut at = from + self.exponential() / rate;
        while at < to {
            times.push(at);
            at += self.exponential() / rate;
        }
        times
    }

    /// A rate of mean [`MEAN`], Gamma(½): half the square of a normal variate, by Box and Muller.
    fn rate(&mut self) -> f64 {
        let normal =
            (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.share()).cos();
        (MEAN * normal * normal).max(MEAN * 1e-9)
    }

    /// A host's fixed days.
    fn releases(&mut self) -> Vec<f64> {
        // Intervals between 0.3 and 1.7 of a mean that is 1.24 times the mean of all: the hosts
        // of short ones change more than the others save.
        let every = 1.24 / MEAN * (0.3 + 1.4 * self.share());
        let first = every * self.share();
        (0..).map(|n| first + f64::from(n) * every).take_while(|at| *at < DAYS).collect()
    }

    fn times(&mut self, kind: MadeKind, host: &[f64], shocks: &[f64]) -> Vec<f64> {
        match kind {
            MadeKind::Alike => self.poisson(MEAN, 0.0, DAYS),
            MadeKind::Spread | MadeKind::Mixture => {
                let rate = self.rate();
                self.poisson(rate, 0.0, DAYS)
            }
            MadeKind::Bursts => {
                let rate = self.rate() / 4.0;
                let begun = self.poisson(rate, 0.0, DAYS);
                begun.into_iter().flat_map(|at| self.burst(at)).collect()
            }
            MadeKind::Moods => self.moods(),
            MadeKind::Seasons => {
                let rate = self.rate() * 2.0;
                let all = self.poisson(rate, 0.0, DAYS);
                let wave = |at: f64| (1.0 + (at / 7.0 * std::f64::consts::TAU).sin()) / 2.0;
                all.into_iter().filter(|at| self.share() < wave(*at)).collect()
            }
            MadeKind::Releases => host.iter().map(|at| at + self.share() / 24.0).collect(),
            MadeKind::MassEdits => {
                let own = self.poisson(MEAN * 0.4, 0.0, DAYS);
                let hit = shocks.iter().filter(|_| self.share() < 0.75).copied();
                hit.collect::<Vec<_>>().into_iter().chain(own).collect()
            }
            MadeKind::Dead => match self.share() {
                lot if lot < 0.6 => Vec::new(),
                lot if lot < 0.8 => {
                    let end = DAYS * self.share();
                    self.poisson(MEAN * 3.0, 0.0, end)
                }
                _ => self.poisson(MEAN * 3.5, 0.0, DAYS),
            },
            MadeKind::Drift => {
                let turn = DAYS * self.share();
                let (before, after) = (self.rate(), self.rate());
                let mut times = self.poisson(before, 0.0, turn);
                times.extend(self.poisson(after, turn, DAYS));
                times
            }
        }
    }

    /// Four changes on average, hours apart.
    fn burst(&mut self, at: f64) -> Vec<f64> {
        let mut times = vec![at];
        let mut last = at;
        while self.share() < 0.75 {
            last += self.exponential() * 0.3;
            times.push(last);
        }
        times
    }

    /// Busy for 30 days, calm for 120.
    fn moods(&mut self) -> Vec<f64> {
        let mut times = Vec::new();
        let mut at = -150.0 * self.share();
        while at < DAYS {
            let busy = at + 30.0 * self.exponential();
            times.extend(self.poisson(MEAN * 5.0, at, busy));
            at = busy + 120.0 * self.exponential();
        }
        times.retain(|at| (0.0..DAYS).contains(at));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_stated_mean_and_the_same_seed_makes_the_same() {
        for kind in MadeKind::ALL {
            let changes = |seed: u64| {
                let set = made(kind, 1_000, seed);
                (0..set.len()).flat_map(|page| set.changes(page).to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(changes(3), changes(3), "{kind:?}");
            let draws = 12;
            let all: usize = (0..draws).map(|seed| changes(seed).len()).sum();
            let mean = all as f64 / 1_000.0 / draws as f64;
            assert!((mean / CHANGES - 1.0).abs() < 0.3, "{kind:?}: {mean} changes a page");
        }
    }
}
