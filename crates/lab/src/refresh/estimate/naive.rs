//! Changes seen over time watched. Biased low, since several changes between two visits count as
//! one, and more visits do not cure it.

/// Changes a day: `changed` of the visits over `days` found a change.
pub fn rate(changed: u64, days: f64) -> f64 {
    if days > 0.0 { changed as f64 / days } else { 0.0 }
}
