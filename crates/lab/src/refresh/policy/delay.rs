//! The least mean number of unseen changes: visits in proportion to √(wλ).
//!
//! Delay per interval I is λI²/2, so a page costs wλ/(2f); the least sum at a given budget has
//! wλ/(2f²) = μ for all pages.

use super::Demand;

pub fn share(page: Demand) -> f64 {
    (page.rate * page.weight).sqrt()
}
