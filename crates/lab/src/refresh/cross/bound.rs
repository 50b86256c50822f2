//! What nobody can exceed.
//!
//! Two bounds. The clairvoyant knows all changes and may spend the visits of all days on any: a
//! visit right after a change buys the time to the next one, so the longest such times are bought.
//! Nobody exceeds that on these very histories, whatever they know. The other is told each page's
//! mean rate, and exceeded only by who uses that real changes are not Poisson.

use crate::refresh::histories::Histories;
use crate::refresh::policy::Policy;
use crate::refresh::rates;
use crate::refresh::replay::{Course, visits_within};
use crate::refresh::table::buy;

/// Freshness that no placing of `budget` visits a day exceeds.
pub fn clairvoyant(course: Course<'_>, budget: f64) -> f64 {
    let Course { histories, days, from, .. } = course;
    let mut fresh = 0.0;
    let mut stretches = Vec::new();
    for page in 0..histories.len() {
        let within = |change: &&f64| **change > 0.0 && **change < days;
        let changes: Vec<f64> = histories.changes(page).iter().filter(within).copied().collect();
        let counted = |begin: f64, end: f64| (end - begin.max(from)).max(0.0);
        // Fetched at 0, and right until the first change.
        fresh += counted(0.0, changes.first().copied().unwrap_or(days));
        let ends = changes.iter().skip(1).copied().chain([days]);
        stretches.extend(changes.iter().zip(ends).map(|(begin, end)| counted(*begin, end)));
    }
    stretches.sort_by(|a, b| b.total_cmp(a));
    let visits = visits_within(budget, days);
    fresh += stretches.iter().take(visits as usize).sum::<f64>();
    fresh / ((days - from) * histories.len().max(1) as f64)
}

/// Freshness in the long run at the best rates for pages that change as often as these, if their
/// changes were Poisson and `budget` visits a day.
pub fn told(histories: &Histories, days: f64, budget: f64) -> f64 {
    let rates: Vec<f64> =
        (0..histories.len()).map(|page| rates::seen(histories.changes(page), days)).collect();
    buy(Policy::Freshness, &rates, None, budget, None).freshness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clairvoyant_buys_the_longest_stretches_with_the_visits_there_are() {
        let mut histories = Histories::default();
        histories.push("h", vec![4.0, 7.0]);
        histories.push("h", vec![]);
        let course = Course { histories: &histories, days: 10.0, from: 2.0, rates: None };
        // The second page is always right; the first from 2 to 4, and after visits at 4 and 7.
        let none = clairvoyant(course, 0.0);
        assert!((none - (2.0 + 8.0) / 16.0).abs() < 1e-12, "{none}");
        let one = clairvoyant(course, 0.1);
        assert!((one - (2.0 + 3.0 + 8.0) / 16.0).abs() < 1e-12, "{one}");
        assert!((clairvoyant(course, 5.0) - 1.0).abs() < 1e-12);
    }
}
