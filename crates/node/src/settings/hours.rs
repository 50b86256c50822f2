//! `[[hours]]`: when URLs that match a pattern may be asked for.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex::RegexBuilder;
use rhumb_engine::hours::{DAY_MINUTES, Daily, HoursRule, Zone};
use rhumb_engine::time::Time;
use rhumb_page::url::PATTERNS_BYTES_MAX;
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde::{Deserialize as DeriveDeserialize, Serialize as DeriveSerialize};

use super::SettingsError;
use super::quantity::from_text;
use super::word::UrlPattern;

/// How far ahead the shifts of a zone are known to a run: none goes on so long unopened.
const YEARS_AHEAD: i64 = 20;

/// A rule on URLs; the first that matches decides.
#[derive(Clone, Debug, PartialEq, DeriveSerialize)]
pub struct HoursSetting {
    pub pattern: UrlPattern,
    pub from: TimeOfDay,
    pub to: TimeOfDay,
    /// The system's zone, if none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<ZoneName>,
}

#[derive(DeriveDeserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    pattern: UrlPattern,
    from: TimeOfDay,
    to: TimeOfDay,
    zone: Option<ZoneName>,
}

impl<'de> Deserialize<'de> for HoursSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HoursSetting, D::Error> {
        let Fields { pattern, from, to, zone } = Fields::deserialize(deserializer)?;
        if Daily::new(from.0, to.0).is_none() {
            let never = format!(
                "hours from {from} to {to} never open: for all of the day write from = \"00:00\", \
                 to = \"24:00\"; to leave URLs out, use exclude"
            );
            return Err(de::Error::custom(never));
        }
        Ok(HoursSetting { pattern, from, to, zone })
    }
}

impl HoursSetting {
    /// As the engine keeps it, from this moment on.
    pub fn rule(&self, now: Time) -> Result<HoursRule, SettingsError> {
        let pattern = RegexBuilder::new(&self.pattern.0)
            .size_limit(PATTERNS_BYTES_MAX)
            .build()
            .map_err(|error| SettingsError::usage(format!("hours {error}")))?;
        let daily = Daily::new(self.from.0, self.to.0)
            .ok_or_else(|| SettingsError::usage("hours that never open".to_owned()))?;
        let zone = match &self.zone {
            Some(ZoneName { zone, .. }) => shifts(zone, now),
            None => shifts(&TimeZone::system(), now),
        };
        Ok(HoursRule { pattern, daily, zone })
    }
}

/// The shifts of a zone in the years ahead.
fn shifts(zone: &TimeZone, now: Time) -> Zone {
    let now = Timestamp::from_microsecond(now.0 as i64).unwrap_or(Timestamp::UNIX_EPOCH);
    let until = now.as_second() + YEARS_AHEAD * 366 * 86_400;
    let ahead = zone.following(now).take_while(|shift| shift.timestamp().as_second() < until);
    let shifts = ahead.map(|shift| {
        let at = Time(shift.timestamp().as_microsecond().max(0) as u64);
        (at, shift.offset().seconds())
    });
    Zone::new(zone.to_offset(now).seconds(), shifts.collect())
}

/// A minute of the day; 24:00 is its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay(pub u16);

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeOfDay, String> {
        let number = |text: &str| {
            let is_short = (1..=2).contains(&text.len());
            let is_number = text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|_| is_short && is_number)
        };
        let minutes = text.split_once(':').and_then(|(hours, minutes)| {
            let (hours, minutes) = (number(hours)?, number(minutes)?);
            (minutes < 60).then_some(hours * 60 + minutes)
        });
        let minutes = minutes.filter(|minutes| *minutes <= DAY_MINUTES);
        minutes.map(TimeOfDay).ok_or_else(|| format!("{text:?} is no time of day: write 22:30"))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// `Europe/Berlin`, `UTC`, `+05:30`.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneName {
    name: String,
    zone: TimeZone,
}

impl FromStr for ZoneName {
    type Err = String;

    fn from_str(text: &str) -> Result<ZoneName, String> {
        let zone = fixed(text).or_else(|| TimeZone::get(text).ok());
        let zone = zone.ok_or_else(|| {
            format!("{text:?} is no time zone: write Europe/Berlin, UTC or +02:00")
        })?;
        Ok(ZoneName { name: text.to_owned(), zone })
    }
}

/// `+02:00`, of less than a day.
fn fixed(text: &str) -> Option<TimeZone> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let ahead: TimeOfDay = rest.parse().ok().filter(|t: &TimeOfDay| t.0 < DAY_MINUTES)?;
    let offset = jiff::tz::Offset::from_seconds(sign * i32::from(ahead.0) * 60).ok()?;
    Some(TimeZone::fixed(offset))
}

impl fmt::Display for ZoneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

macro_rules! written_as_text {
    ($type:ty, $expecting:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                from_text(deserializer, $expecting)
            }
        }
    };
}

written_as_text!(TimeOfDay, "a time of day");
written_as_text!(ZoneName, "a time zone");

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, DeriveDeserialize)]
    struct Document {
        hours: Vec<HoursSetting>,
    }

    fn read(text: &str) -> Result<HoursSetting, String> {
        let text = format!("[[hours]]\npattern = \"x\"\n{text}");
        let read: Result<Document, _> = toml::from_str(&text);
        read.map(|mut d| d.hours.remove(0)).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn hours_are_by_the_clock_of_their_zone_in_summer_and_in_winter() {
        let text = "from = \"22:00\"\nto = \"06:00\"\nzone = \"Europe/Berlin\"";
        let setting = read(text).unwrap();
        // 2026-07-01 and 2026-12-01, noon in London.
        let (summer, winter) = (Time(1_782_907_200_000_000), Time(1_796_126_400_000_000));
        let opens = |at: Time| setting.rule(summer).unwrap().opens(at).unwrap().since(at);
        assert_eq!(opens(summer).0, 8 * 3_600_000_000);
        assert_eq!(opens(winter).0, 9 * 3_600_000_000);
    }

    #[test]
    fn hours_that_never_open_and_words_that_are_no_times_are_refused() {
        for (text, reason) in [
            ("from = \"9:00\"\nto = \"9:00\"", "hours from 09:00 to 09:00 never open"),
            ("from = \"24:00\"\nto = \"06:00\"", "hours from 24:00 to 06:00 never open"),
            ("from = \"25:00\"\nto = \"06:00\"", "\"25:00\" is no time of day"),
            ("from = \"9\"\nto = \"06:00\"", "\"9\" is no time of day"),
            ("from = \"9:00\"", "missing field `to`"),
            ("from = \"9:00\"\nto = \"10:00\"\nzone = \"Berlin\"", "\"Berlin\" is no time zone"),
            ("from = \"9:00\"\nto = \"10:00\"\nzone = \"+25:00\"", "\"+25:00\" is no time zone"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
        assert!(read("from = \"00:00\"\nto = \"24:00\"\nzone = \"-03:30\"").is_ok());
    }
}
