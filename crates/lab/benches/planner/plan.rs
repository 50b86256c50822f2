//! The best that can be done with one page when visits have a price that changes with time.
//!
//! Backwards over all beliefs: the fresh days to come, less the price of visits, if the next visit
//! is placed best. Entries are weighed by their chance, so that what a visit leads to is a sum.
//!
//! A temperature above 0 makes all choices by lot, the better ones more often (by a soft maximum):
//! so visits move smoothly with the prices, and pages that are alike can be treated unlike.

use crate::beliefs::{Beliefs, Row};

/// What happens to a page that was seen to change more often than is recorded.
#[derive(Clone, Copy, PartialEq)]
pub enum Beyond {
    /// Its rate is told from then on: no plan can do better.
    Told,
    /// It is never visited again: a plan that can be carried out.
    Left,
}

pub struct Plan<'a> {
    beliefs: &'a Beliefs,
    prices: &'a [f64],
    temperature: f64,
    worth: Vec<f64>,
    /// Of pages that are told their rate, by nodes; empty if none is.
    told: Vec<Told>,
}

/// What is done with a page of known rate, from each step on.
struct Told {
    worth: Vec<f64>,
    /// Visits to each later step, by the step from which it goes on.
    visits: Vec<Vec<f64>>,
}

/// What comes of a plan, a page. Of pages that are told their rate only the visits are followed.
pub struct Lived {
    pub fresh_days: f64,
    /// Those before the last step that counts.
    pub counted_days: f64,
    /// By steps.
    pub visits: Vec<f64>,
}

impl<'a> Plan<'a> {
    pub fn new(
        beliefs: &'a Beliefs,
        prices: &'a [f64],
        temperature: f64,
        beyond: Beyond,
    ) -> Plan<'a> {
        let worth = vec![0.0; beliefs.chance.len()];
        let mut plan = Plan { beliefs, prices, temperature, worth, told: Vec::new() };
        if beyond == Beyond::Told {
            plan.told = plan.told();
        }
        let mut choices = Vec::new();
        for row in beliefs.rows.iter().rev() {
            if row.is_last {
                plan.end(row);
                continue;
            }
            for t in (0..row.left).rev() {
                plan.choices(row, t, &mut choices);
                let scale = temperature * beliefs.chance[row.begin + t];
                plan.worth[row.begin + t] = soft_max(&choices, scale);
            }
        }
        plan
    }

    /// Fresh days less the price of visits, a page.
    pub fn worth(&self) -> f64 {
        self.worth[0]
    }

    /// What a next visit after 1, 2, … steps is worth; the last choice is none at all.
    fn choices(&self, row: &Row, t: usize, choices: &mut Vec<f64>) {
        let Beliefs { steps, chance, fresh, changed, .. } = self.beliefs;
        let at = row.begin + t;
        let now = steps - row.left + t;
        choices.clear();
        choices.extend((1..row.left - t).map(|wait| {
            let found = self.worth[at + wait] + self.worth[changed[row.begin + wait] as usize + t];
            fresh[at + wait] - fresh[at] - self.prices[now + wait] * chance[at] + found
        }));
        choices.push(fresh[row.begin + row.left] - fresh[at]);
    }

    /// Pages that are not followed any further.
    fn end(&mut self, row: &Row) {
        let Beliefs { steps, fresh, .. } = self.beliefs;
        let shares = self.beliefs.shares(row);
        for t in 0..row.left {
            let now = steps - row.left + t;
            self.worth[row.begin + t] = if self.told.is_empty() {
                fresh[row.begin + row.left] - fresh[row.begin + t]
            } else {
                let each = shares.iter().zip(self.beliefs.decay(t)).zip(&self.told);
                each.map(|((share, decay), told)| share * decay * told.worth[now]).sum()
            };
        }
    }

    fn told(&self) -> Vec<Told> {
        let Beliefs { steps, step_days, nodes, .. } = self.beliefs;
        let of = |rate: f64| {
            let fresh = |wait: usize| -(-rate * step_days * wait as f64).exp_m1() / rate;
            let mut told =
                Told { worth: vec![0.0; steps + 1], visits: vec![Vec::new(); steps + 1] };
            let mut choices = Vec::new();
            for now in (0..*steps).rev() {
                choices.clear();
                choices.extend(
                    (now + 1..*steps)
                        .map(|then| fresh(then - now) - self.prices[then] + told.worth[then]),
                );
                choices.push(fresh(steps - now));
                told.worth[now] = soft_max(&choices, self.temperature);
                lots(&mut choices, self.temperature);
                choices.pop();
                let mut visits = vec![0.0; steps + 1];
                for (then, lot) in (now + 1..).zip(&choices).filter(|(_, lot)| **lot > 0.0) {
                    visits[then] += lot;
                    let later = visits.iter_mut().zip(&told.visits[then]);
                    later.for_each(|(visits, later)| *visits += lot * later);
                }
                told.visits[now] = visits;
            }
            told
        };
        nodes.iter().map(|node| of(node.rate)).collect()
    }

    /// Carries it out; the freshness of the first `counted` steps counts.
    pub fn lived(&self, counted: usize) -> Lived {
        let Beliefs { steps, chance, fresh, changed, rows, .. } = self.beliefs;
        let mut lived = Lived { fresh_days: 0.0, counted_days: 0.0, visits: vec![0.0; steps + 1] };
        // How likely the lots lead to an entry, given what is found there.
        let mut reached = vec![0.0; chance.len()];
        reached[0] = 1.0;
        let mut choices = Vec::new();
        for row in rows {
            for t in 0..row.left {
                let (at, now) = (row.begin + t, steps - row.left + t);
                if reached[at] == 0.0 {
                    continue;
                }
                let until = |wait: usize| fresh[at + wait] - fresh[at];
                let mut live = |wait: usize, share: f64| {
                    lived.fresh_days += share * until(wait);
                    lived.counted_days += share * until(wait.min(counted.saturating_sub(now)));
                };
                if row.is_last {
                    live(row.left - t, reached[at]);
                    self.visits_when_told(row, t, reached[at], &mut lived.visits);
                    continue;
                }
                self.choices(row, t, &mut choices);
                lots(&mut choices, self.temperature * chance[at]);
                let never = choices.pop().unwrap_or_default();
                live(row.left - t, reached[at] * never);
                for (wait, lot) in (1..).zip(&choices).filter(|(_, lot)| **lot > 0.0) {
                    let share = reached[at] * lot;
                    live(wait, share);
                    lived.visits[now + wait] += share * chance[at];
                    reached[at + wait] += share;
                    reached[changed[row.begin + wait] as usize + t] += share;
                }
            }
        }
        lived
    }

    /// Adds the visits to pages that are told their rate at this entry.
    fn visits_when_told(&self, row: &Row, t: usize, reached: f64, visits: &mut [f64]) {
        if self.told.is_empty() {
            return;
        }
        let now = self.beliefs.steps - row.left + t;
        let shares = self.beliefs.shares(row);
        for ((share, decay), told) in shares.iter().zip(self.beliefs.decay(t)).zip(&self.told) {
            let later = visits.iter_mut().zip(&told.visits[now]);
            later.for_each(|(visits, later)| *visits += reached * share * decay * later);
        }
    }
}

fn best(choices: &[f64]) -> f64 {
    choices.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The maximum, or at some temperature a little more.
fn soft_max(choices: &[f64], scale: f64) -> f64 {
    let best = best(choices);
    if scale < f64::MIN_POSITIVE {
        return best;
    }
    best + scale * choices.iter().map(|worth| ((worth - best) / scale).exp()).sum::<f64>().ln()
}

/// How often each choice is made: the derivatives of [`soft_max`].
fn lots(choices: &mut [f64], scale: f64) {
    /// Who comes by less often than this does not come by.
    const RARE: f64 = 1e-10;
    let best = best(choices);
    let scale = scale.max(f64::MIN_POSITIVE);
    choices.iter_mut().for_each(|worth| *worth = ((*worth - best) / scale).exp());
    choices.iter_mut().for_each(|lot| *lot = if *lot > RARE { *lot } else { 0.0 });
    let sum: f64 = choices.iter().sum();
    choices.iter_mut().for_each(|lot| *lot /= sum);
}
