//! Hours: when URLs that match a pattern may be asked for (`[[hours]]`).
//!
//! A rule that matches a host's front page holds for the whole host, its robots.txt included: the
//! host sleeps until its hours begin, and keeps the run alive meanwhile. A rule that matches single
//! URLs puts off those alone. Where both speak, both must be open. Of several rules that match, the
//! first decides.
//!
//! A zone is a list of shifts, made once by whoever knows the zones of the world: here nothing
//! reads a clock or a table of zones.

use crate::time::Time;
use regex::Regex;
use rhumb_page::url::{HostKey, Url};

pub const DAY_MINUTES: u16 = 24 * 60;
const DAY_S: i64 = 86_400;
const MICROS: i64 = 1_000_000;

/// The rules, in their order.
#[derive(Clone, Debug, Default)]
pub struct Hours {
    pub rules: Vec<HoursRule>,
}

#[derive(Clone, Debug)]
pub struct HoursRule {
    pub pattern: Regex,
    pub daily: Daily,
    pub zone: Zone,
}

/// From one minute of the day until another, which may be of the next day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Daily {
    from: u16,
    to: u16,
}

/// How far clocks are ahead of UTC, in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    first: i32,
    /// Since when they are ahead by so much, in the order of time.
    shifts: Vec<(Time, i32)>,
}

impl Daily {
    /// None if there is no such minute, or no minute between the two.
    pub fn new(from: u16, to: u16) -> Option<Daily> {
        let is_of_day = from < DAY_MINUTES && to <= DAY_MINUTES;
        (is_of_day && from != to).then_some(Daily { from, to })
    }

    fn has(self, second_of_day: i64) -> bool {
        let minute = (second_of_day / 60) as u16;
        match self.from < self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl Zone {
    pub fn fixed(seconds: i32) -> Zone {
        Zone { first: seconds, shifts: Vec::new() }
    }

    pub fn new(first: i32, mut shifts: Vec<(Time, i32)>) -> Zone {
        shifts.sort_by_key(|(at, _)| *at);
        Zone { first, shifts }
    }

    /// What holds at a moment, and until when.
    fn at(&self, moment: Time) -> (i64, Option<Time>) {
        let passed = self.shifts.partition_point(|(at, _)| *at <= moment);
        let seconds = passed.checked_sub(1).map_or(self.first, |last| self.shifts[last].1);
        (i64::from(seconds), self.shifts.get(passed).map(|(at, _)| *at))
    }
}

impl HoursRule {
    /// When it opens, if it is closed now.
    pub fn opens(&self, now: Time) -> Option<Time> {
        let mut at = now;
        loop {
            let (ahead, shift) = self.zone.at(at);
            let local = (at.0 / MICROS as u64) as i64 + ahead;
            let second_of_day = local.rem_euclid(DAY_S);
            if self.daily.has(second_of_day) {
                return (at > now).then_some(at);
            }
            let from = i64::from(self.daily.from) * 60;
            let wait = (from - second_of_day).rem_euclid(DAY_S);
            let opens = local + if wait == 0 { DAY_S } else { wait } - ahead;
            let opens = Time((opens.max(0) * MICROS) as u64);
            match shift {
                // Clocks are set before that: there may be no such minute, or it may come sooner.
                Some(shift) if shift <= opens => at = shift,
                _ => return Some(opens),
            }
        }
    }
}

impl Hours {
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rule for all of a host, if there is one.
    pub fn of_host(&self, host: &HostKey) -> Option<&HoursRule> {
        if self.is_empty() {
            return None;
        }
        self.of_text(&format!("{}/", host.origin()))
    }

    /// The rule for a URL.
    pub fn of_url(&self, url: &Url) -> Option<&HoursRule> {
        self.of_text(url.as_str())
    }

    fn of_text(&self, text: &str) -> Option<&HoursRule> {
        // Most crawls have none.
        self.rules.iter().find(|rule| rule.pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    const HOUR: Span = Span::secs(3_600);

    fn rule(from: u16, to: u16, zone: Zone) -> HoursRule {
        let daily = Daily::new(from * 60, to * 60).expect("hours");
        HoursRule { pattern: Regex::new("").expect("a pattern"), daily, zone }
    }

    fn at(day: u64, hour: u64) -> Time {
        Time::ZERO + Span::secs(day * 86_400 + hour * 3_600)
    }

    #[test]
    fn hours_open_on_the_minute_within_a_day_and_over_midnight() {
        let night = rule(22, 6, Zone::fixed(0));
        assert_eq!(night.opens(at(9, 12)), Some(at(9, 22)));
        assert_eq!(night.opens(at(9, 22)), None);
        assert_eq!(night.opens(at(10, 5)), None);
        assert_eq!(night.opens(at(10, 6)), Some(at(10, 22)));
        let day = rule(9, 17, Zone::fixed(2 * 3_600));
        assert_eq!(day.opens(at(9, 6)), Some(at(9, 7)), "two hours ahead of UTC");
        assert_eq!(day.opens(at(9, 15)), Some(at(10, 7)));
        let always = rule(0, 24, Zone::fixed(-3_600));
        assert!((0..48).all(|hour| always.opens(at(9, hour)).is_none()));
        assert_eq!(Daily::new(60, 60), None, "never");
        assert_eq!(Daily::new(DAY_MINUTES, 60), None);
    }

    #[test]
    fn an_hour_that_clocks_skip_opens_on_the_next_day_and_one_that_comes_twice_opens_twice() {
        // Set forward at 01:00 UTC of day 9, from 02:00 to 03:00, and back at 01:00 UTC of day 19.
        let zone = Zone::new(3_600, vec![(at(9, 1), 7_200), (at(19, 1), 3_600)]);
        let skipped = rule(2, 3, zone);
        assert_eq!(skipped.opens(at(8, 20)), Some(at(10, 0)), "02:00 is 00:00 UTC from then on");
        assert_eq!(skipped.opens(at(8, 1)), None);
        assert_eq!(skipped.opens(at(18, 20)), Some(at(19, 0)));
        assert_eq!(skipped.opens(at(19, 1)), None, "02:00 again");
        assert_eq!(skipped.opens(at(19, 2)), Some(at(20, 1)));
    }

    #[test]
    fn what_is_said_to_open_is_open_then_and_closed_until_then() {
        let zone = Zone::new(3_600, vec![(at(9, 1), 7_200), (at(19, 1), 3_600)]);
        for (from, to) in [(22, 6), (2, 3), (3, 2), (0, 1), (23, 24), (1, 23)] {
            let rule = rule(from, to, zone.clone());
            for quarter in 0..30 * 96 {
                let now = Time::ZERO + Span::secs(quarter * 900);
                let Some(opens) = rule.opens(now) else { continue };
                assert!(rule.opens(opens).is_none() && opens.since(now) < HOUR.times(48.0));
                let before = opens - Span(1);
                assert!(rule.opens(before).is_some(), "{from}-{to} at {now:?}");
            }
        }
    }
}
