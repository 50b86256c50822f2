//! A budget as people write it: `5000/day`, `200/h`, `600/min`, `300/10s`. The period is the
//! crawl's day: what it learns and plans is measured in it, so a short one is a day in quick
//! motion.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rhumb_engine::refresh::budget::RequestBudget;
use rhumb_engine::time::Span;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::quantity::{Period, from_text};

const PERIODS: [(&str, u64); 5] =
    [("day", 86_400), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
/// More requests than any one machine can make.
const REQUESTS_MAX: u64 = 10_000_000_000;
/// What a crawl that goes on may ask for if nobody says.
const REQUESTS_USUAL: u64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestsAllowed(pub RequestBudget);

impl Default for RequestsAllowed {
    fn default() -> RequestsAllowed {
        RequestsAllowed(RequestBudget {
            requests: REQUESTS_USUAL,
            period: Span::secs(PERIODS[0].1),
        })
    }
}

impl FromStr for RequestsAllowed {
    type Err = String;

    fn from_str(text: &str) -> Result<RequestsAllowed, String> {
        let wrong = || format!("{text:?} is no budget: write 5000/day, 200/h or 600/min");
        let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
        let requests: u64 = number.trim().parse().map_err(|_| wrong())?;
        let named = PERIODS.iter().find(|(name, _)| *name == unit.trim());
        let period = match named {
            Some((_, seconds)) => Span::secs(*seconds),
            None => {
                let Period(length) = unit.trim().parse().map_err(|_| wrong())?;
                Span(length.as_micros() as u64)
            }
        };
        if period == Span::ZERO {
            return Err(wrong());
        }
        if requests > REQUESTS_MAX {
            return Err(format!("{text:?} is more than {REQUESTS_MAX}"));
        }
        Ok(RequestsAllowed(RequestBudget { requests, period }))
    }
}

impl fmt::Display for RequestsAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RequestBudget { requests, period } = self.0;
        match PERIODS.iter().find(|(_, seconds)| Span::secs(*seconds) == period) {
            Some((name, _)) => write!(f, "{requests}/{name}"),
            None => write!(f, "{requests}/{}", Period(Duration::from_micros(period.0))),
        }
    }
}

impl Serialize for RequestsAllowed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RequestsAllowed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RequestsAllowed, D::Error> {
        from_text(deserializer, "a budget such as \"5000/day\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_in_their_periods_and_displayed_to_be_read_again() {
        for text in ["5000/day", "200/h", "600/min", "3/s", "0/day", "300/10s"] {
            let allowance: RequestsAllowed = text.parse().expect(text);
            assert_eq!(allowance.to_string(), text);
        }
        for wrong in ["5000", "/day", "-1/day", "1.5/h", "5/week", "5/0s", "99999999999999/day"] {
            assert!(wrong.parse::<RequestsAllowed>().is_err(), "{wrong}");
        }
    }
}
