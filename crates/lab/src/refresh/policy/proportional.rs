//! A page that changes twice as often is visited twice as often.
//!
//! Cho and Garcia-Molina (TODS 2003, section 4) show that this is worse for freshness than
//! visiting all alike, whatever the rates: it spends most on pages that cannot be kept fresh.

use super::Demand;

pub fn share(page: Demand) -> f64 {
    page.rate
}
