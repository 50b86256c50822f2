//! Apache Nutch, `AdaptiveFetchSchedule`: a fifth shorter after a change, a fifth longer without.

pub fn adapt(days: f64, changed: bool) -> f64 {
    days * if changed { 0.8 } else { 1.2 }
}
