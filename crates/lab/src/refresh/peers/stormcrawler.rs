//! StormCrawler, `AdaptiveScheduler`: half-way to an hour after a change, half as long again
//! without.

const DAYS_MIN: f64 = 1.0 / 24.0;

pub fn adapt(days: f64, changed: bool) -> f64 {
    if changed { 0.5 * days + 0.5 * DAYS_MIN } else { 1.5 * days }
}
