//! What a replay is put to admission by: freshness, age and delay, from a given day on.

use super::histories::Histories;

/// For `age_cap60`, pages count as visited at least this often.
const CAP_DAYS: f64 = 60.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    pub freshness: f64,
    pub age_days: f64,
    pub age_days_cap60: f64,
    pub delay: f64,
    pub visits: u64,
    pub budget_used: f64,
}

/// Follows the visits of a replay.
pub struct Referee<'a> {
    histories: &'a Histories,
    from: f64,
    days: f64,
    last: Vec<f32>,
    fresh: f64,
    age: f64,
    age_cap60: f64,
    delay: f64,
    visits: u64,
}

impl<'a> Referee<'a> {
    pub fn new(histories: &'a Histories, from: f64, days: f64) -> Referee<'a> {
        Referee {
            histories,
            from,
            days,
            last: vec![0.0; histories.len()],
            fresh: 0.0,
            age: 0.0,
            age_cap60: 0.0,
            delay: 0.0,
            visits: 0,
        }
    }

    /// How many there were.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// A visit; whether it finds a change since the one before.
    pub fn visit(&mut self, page: usize, at: f64) -> bool {
        self.visits += 1;
        let before = f64::from(self.last[page]);
        // A visit is seen at the precision it is kept in, so that no change falls between two.
        let at = f64::from(at as f32);
        self.account(page, before, at);
        self.last[page] = at as f32;
        first_after(self.histories.changes(page), before).is_some_and(|change| change <= at)
    }

    pub fn finish(mut self, budget: f64) -> Scores {
        for page in 0..self.histories.len() {
            self.account(page, f64::from(self.last[page]), self.days);
        }
        let whole = (self.days - self.from) * self.histories.len().max(1) as f64;
        Scores {
            freshness: self.fresh / whole,
            age_days: self.age / whole,
            age_days_cap60: self.age_cap60 / whole,
            delay: self.delay / whole,
            visits: self.visits,
            budget_used: self.visits as f64 / (budget * self.days).max(f64::MIN_POSITIVE),
        }
    }

    /// Books the time between two visits, as far as it counts.
    fn account(&mut self, page: usize, before: f64, at: f64) {
        let at = at.min(self.days);
        if at <= self.from || at <= before {
            return;
        }
        let changes = self.histories.changes(page);
        let first = first_after(changes, before).unwrap_or(f64::INFINITY);
        self.fresh += span(before.max(self.from), first.min(at));
        self.age += aged(first, self.from, at);
        let unseen = changes.partition_point(|change| *change <= before);
        for change in changes[unseen..].iter().take_while(|change| **change < at) {
            self.delay += span(change.max(self.from), at);
        }
        let mut begin = before;
        while begin < at {
            let end = (begin + CAP_DAYS).min(at);
            let first = first_after(changes, begin).unwrap_or(f64::INFINITY);
            self.age_cap60 += aged(first, self.from, end);
            begin = end;
        }
    }
}

fn first_after(changes: &[f64], before: f64) -> Option<f64> {
    changes.get(changes.partition_point(|change| *change <= before)).copied()
}

fn span(from: f64, to: f64) -> f64 {
    (to - from).max(0.0)
}

/// ∫ (s − first) ds over the part of [from, at] that comes after `first`.
fn aged(first: f64, from: f64, at: f64) -> f64 {
    if first >= at {
        return 0.0;
    }
    let begin = first.max(from);
    let (young, old) = (begin - first, at - first);
    (old * old - young * young).max(0.0) / 2.0
}
