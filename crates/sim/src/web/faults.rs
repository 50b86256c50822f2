//! What goes wrong on the way, as a function of the place and of how often it was tried.

use super::Web;
use super::chance::{Purpose, Stream};
use super::place::{WebPlace, What};
use super::site::page_draw;

/// What happens to a request instead of, or beside, its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Nobody listens.
    Refused,
    /// The request is taken and never answered.
    Silent,
    /// The connection is reset instead of an answer.
    Reset,
    /// The connection ends after so many percent of the body.
    Cut(u8),
    /// After so many percent the body comes so slowly that waiting for it makes no sense.
    Drip(u8),
}

/// How a flaky page fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flake {
    Status { status: u16, retry_after_s: Option<u32> },
    Fault(Fault),
}

impl Web {
    /// How a page fails at this attempt (counted from 0); most never do, the others recover.
    pub(crate) fn flake(&self, original: WebPlace, attempt: u32) -> Option<Flake> {
        let share = self.config.oddities.flaky;
        let What::Page(n) = original.what else { return None };
        if share == 0 {
            return None;
        }
        let mut chance = Stream::new(page_draw(self.config.seed, Purpose::Fault, original.site, n));
        if !chance.per_mille(share) || attempt > chance.below(2) {
            return None;
        }
        let retry_after_s = Some(1 + chance.below(3));
        // Somewhere else each time.
        let percent = 30 + 20 * attempt as u8;
        Some(match chance.below(7) {
            0 => Flake::Status { status: 500, retry_after_s: None },
            1 => Flake::Status { status: 503, retry_after_s },
            2 => Flake::Status { status: 429, retry_after_s },
            3 => Flake::Fault(Fault::Reset),
            4 => Flake::Fault(Fault::Silent),
            5 => Flake::Fault(Fault::Drip(percent)),
            _ => Flake::Fault(Fault::Cut(percent)),
        })
    }
}
