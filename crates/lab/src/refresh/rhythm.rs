//! Would a model of hours or weekdays help? The most that it could, by telling it the truth.
//!
//! The changes of all pages of a set are counted by where in a period they fall, over the whole
//! time at once: nobody who learns while crawling knows as much. The policy then lives by a clock
//! that runs fast where changes are dense, so that evidence and waits are measured in changes to be
//! expected, and the visits that a budget allows are placed within each period as [`TokenPlacing`]
//! has it. All that differs from a replay as it is is what the rhythm brings.

use super::histories::Histories;
use super::learned::ReplayedPages;
use super::replay::{Course, visits_within};
use super::score::{Referee, Scores};
use rhumb_engine::refresh::scheduler::SchedulerSettings;

/// A slot without any change is not believed to stay so.
const CHANGES_IMAGINED: f64 = 1.0;

/// When within a period visits are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenPlacing {
    /// As densely as changes are, to this power.
    Dense(f64),
    /// All in one slot.
    In(usize),
}

/// How dense changes are within a period, 1 on average.
#[derive(Clone, Debug)]
pub struct Rhythm {
    period_days: f64,
    density: Vec<f64>,
}

impl Rhythm {
    /// That of these histories.
    pub fn of(histories: &Histories, days: f64, period_days: f64, slots: usize) -> Rhythm {
        let mut counts = vec![CHANGES_IMAGINED; slots];
        for page in 0..histories.len() {
            for change in histories.changes(page).iter().filter(|change| **change < days) {
                let at = (change / period_days).fract() * slots as f64;
                counts[(at as usize).min(slots - 1)] += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / slots as f64;
        Rhythm { period_days, density: counts.iter().map(|count| count / mean).collect() }
    }

    /// Days by a clock that runs as fast as changes come.
    pub fn clock(&self, day: f64) -> f64 {
        let slot_days = self.period_days / self.density.len() as f64;
        let whole = (day / self.period_days).floor();
        let slots = (day / self.period_days - whole) * self.density.len() as f64;
        let full = (slots as usize).min(self.density.len());
        let rest = self.density.get(full).map_or(0.0, |density| density * (slots - full as f64));
        whole * self.period_days + (self.density[..full].iter().sum::<f64>() + rest) * slot_days
    }

    /// When the visit comes that would come on `day` if visits were even.
    pub fn token(&self, day: f64, placing: TokenPlacing) -> f64 {
        let whole = (day / self.period_days).floor();
        let share = |slot: usize| match placing {
            TokenPlacing::Dense(power) => self.density[slot].powf(power),
            TokenPlacing::In(only) => f64::from(u8::from(slot == only)),
        };
        let shares: Vec<f64> = (0..self.density.len()).map(share).collect();
        let mut left = (day / self.period_days - whole) * shares.iter().sum::<f64>();
        let mut slots = 0.0;
        for share in shares {
            if left < share {
                slots += left / share;
                break;
            }
            (left, slots) = (left - share, slots + 1.0);
        }
        (whole + slots / self.density.len() as f64) * self.period_days
    }

    /// The largest share of a period's changes that moves if they were even: 0 if they are.
    pub fn unevenness(&self) -> f64 {
        let above = self.density.iter().map(|density| (density - 1.0).max(0.0));
        above.sum::<f64>() / self.density.len() as f64
    }
}

/// Replays the engine's policy, told the rhythm.
pub fn replay(
    course: Course<'_>,
    settings: SchedulerSettings,
    rhythm: &Rhythm,
    placing: TokenPlacing,
) -> Scores {
    let Course { histories, days, from, .. } = course;
    let mut collection = ReplayedPages::new(histories, settings);
    let mut referee = Referee::new(histories, from, days);
    for visit in 1..=visits_within(settings.budget_per_day, days) {
        let even = (visit as f64 - 0.5) / settings.budget_per_day;
        // The last period may be cut off by the end.
        let now = rhythm.token(even, placing).min(days);
        collection.visit(rhythm.clock(now), |page| referee.visit(page, now));
    }
    referee.finish(settings.budget_per_day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refresh::learned;
    use rhumb_engine::refresh::index::Objective;

    /// Pages that change on the first of every four days.
    fn first_days() -> Histories {
        let mut histories = Histories::default();
        for page in 0..200 {
            let first = f64::from(page % 10) / 10.0;
            let often = f64::from(page % 7 + 1) * 4.0;
            histories.push("h", (0..100).map(|turn| first + often * f64::from(turn)).collect());
        }
        histories
    }

    #[test]
    fn the_clock_counts_changes_and_visits_go_where_the_power_sends_them() {
        let rhythm = Rhythm::of(&first_days(), 400.0, 4.0, 4);
        assert!(rhythm.density[0] > 3.9 && rhythm.unevenness() > 0.7, "{rhythm:?}");
        assert!((rhythm.clock(8.0) - 8.0).abs() < 1e-9 && rhythm.clock(9.0) > 11.9);
        let dense = |day, power| rhythm.token(day, TokenPlacing::Dense(power));
        assert_eq!(dense(13.0, 0.0), 13.0);
        // Nearly all visits of the period fall on its first day, or hardly any.
        assert!(dense(15.0, 1.0) < 13.0, "{}", dense(15.0, 1.0));
        assert!(dense(12.1, -1.0) > 13.0, "{}", dense(12.1, -1.0));
        assert_eq!(rhythm.token(14.0, TokenPlacing::In(1)), 13.5);
    }

    #[test]
    fn whoever_is_told_a_strong_rhythm_gains_by_it() {
        let histories = first_days();
        let course = Course::real(&histories, 400.0);
        let settings = SchedulerSettings::new(Objective::Harmonic, 12.0);
        let rhythm = Rhythm::of(&histories, 400.0, 4.0, 4);
        // On the day after the one on which pages change.
        let told = replay(course, settings, &rhythm, TokenPlacing::In(1)).freshness;
        let untold = learned::replay(course, settings).freshness;
        assert!(told > untold, "{told} told, {untold} untold");
    }
}
