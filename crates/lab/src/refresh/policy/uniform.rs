//! Every page alike: the rule that every cleverer one has to beat.

use super::Demand;

pub fn share(_: Demand) -> f64 {
    1.0
}
