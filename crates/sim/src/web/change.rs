//! Pages that change: each by its own Poisson process, asked at any time without a history.
//!
//! Time is cut into windows of one page's own length. The number of changes in a window is drawn
//! from a Poisson distribution of mean 1 and their times within it evenly, which is the same as
//! the process itself; the version at a time is then the last change before it, found by looking
//! back window by window: less than two on average.

use super::Web;
use super::chance::{Purpose, Stream, draw, scale};
use super::site::page_draw;

/// The web is this old when its time begins, so that pages have changed before anyone looks.
pub const AGE_US: u64 = 365 * 24 * 3_600 * 1_000_000;
/// Windows looked back before a page counts as unchanged since its birth: 2^-46 of them are missed.
const LOOK_BACK: u64 = 32;
/// P(count <= k) for a Poisson variable of mean 1, times 2^32.
const POISSON_1: [u64; 8] = [
    1_580_030_169,
    3_160_060_337,
    3_950_075_421,
    4_213_413_783,
    4_279_248_373,
    4_292_415_291,
    4_294_609_777,
    4_294_923_275,
];

impl Web {
    /// When the page as it is at `now_us` came to be, in µs of the web's own time (its age at the
    /// start included). Two times with equal answers saw equal bytes.
    pub fn version(&self, site: u32, n: u32, now_us: u64) -> u64 {
        let Some(period_us) = self.change_period_us(site, n) else { return 0 };
        let now_us = now_us + AGE_US;
        let page = page_draw(self.config.seed, Purpose::Change, site, n);
        let current = now_us / period_us;
        (0..LOOK_BACK.min(current + 1))
            .find_map(|back| last_change(page, current - back, period_us, now_us))
            .unwrap_or(0)
    }

    /// Mean time between changes of a page; none if it never changes. Periods are spread over four
    /// powers of two around the configured one, and one page in five is still.
    pub fn change_period_us(&self, site: u32, n: u32) -> Option<u64> {
        if self.config.change_period_us == 0 {
            return None;
        }
        let mut chance = Stream::new(page_draw(self.config.seed, Purpose::Change, n, site));
        if chance.below(5) == 0 {
            return None;
        }
        let spread = chance.below(5);
        Some((self.config.change_period_us << spread >> 2).max(1))
    }
}

/// The last change of a window that is not after `now_us`.
fn last_change(page: u64, window: u64, period_us: u64, now_us: u64) -> Option<u64> {
    let mut chance = Stream::new(draw(page, Purpose::Change, window, 0));
    let level = u64::from(scale(chance.next(), u32::MAX));
    let count = POISSON_1.iter().take_while(|&&below| level >= below).count();
    (0..count)
        .map(|_| {
            let within = (u128::from(chance.next()) * u128::from(period_us)) >> 64;
            // Whole seconds, as dates in HTTP are.
            (window * period_us + within as u64) / 1_000_000 * 1_000_000
        })
        .filter(|&at| at <= now_us)
        .max()
}
