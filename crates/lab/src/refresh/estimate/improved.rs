//! The bias-reduced estimator for regular visits.
//!
//! Cho and Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003, section 4.2:
//! −ln((n − X + ½)/(n + ½)) changes an interval. The halves keep it finite when every visit found
//! a change. Applied to irregular visits with their mean interval.

pub fn rate(visits: u64, changed: u64, days: f64) -> f64 {
    if visits == 0 || days <= 0.0 {
        return 0.0;
    }
    let (n, x) = (visits as f64, changed.min(visits) as f64);
    ((n + 0.5) / (n - x + 0.5)).ln() * n / days
}
