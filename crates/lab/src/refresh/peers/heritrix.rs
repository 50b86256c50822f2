//! Heritrix 1.x, `WaitEvaluator`: divided by 1.5 after a change, multiplied by it without.

pub fn adapt(days: f64, changed: bool) -> f64 {
    if changed { days / 1.5 } else { days * 1.5 }
}
