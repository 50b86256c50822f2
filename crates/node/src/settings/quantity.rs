//! Durations and sizes as people write them: `300ms`, `5s`, `2h`; `64MB`, `1GiB`; and bounds that
//! can be lifted again with `none`.
//!
//! One spelling for both doors: flags come in through `FromStr`, configuration through serde, which
//! asks `FromStr` too. What is displayed parses to the same value.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// Nothing here waits longer than a hundred years, so that adding to a time cannot overflow.
const PERIOD_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Largest first, as they are tried for display.
const TIME_UNITS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

const SIZE_UNITS: [(&str, u64); 11] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
    ("", 1),
];

/// A length of time, in whole microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Period(pub Duration);

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A value, or `none`: how a bound that an earlier run had is lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionalBound<T>(pub Option<T>);

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Period, String> {
        let (number, unit) = split(text)?;
        if number == 0.0 && unit.is_empty() {
            return Ok(Period(Duration::ZERO));
        }
        let Some((_, scale)) = TIME_UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("{text:?} has no unit of time: write 300ms, 5s, 10m, 2h or 7d"));
        };
        let micros = number * *scale as f64;
        if micros > PERIOD_MAX.as_micros() as f64 {
            return Err(format!("{text:?} is longer than a hundred years"));
        }
        Ok(Period(Duration::from_micros(micros.round() as u64)))
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let (number, unit) = split(text)?;
        let Some((_, scale)) = SIZE_UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("{text:?} has no unit of size: write 500kB, 64MB or 1GiB"));
        };
        let bytes = number * *scale as f64;
        // What TOML can hold.
        if bytes >= i64::MAX as f64 {
            return Err(format!("{text:?} is too large"));
        }
        Ok(Size(bytes.round() as u64))
    }
}

impl<T: FromStr> FromStr for OptionalBound<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<OptionalBound<T>, T::Err> {
        if text == "none" {
            Ok(OptionalBound(None))
        } else {
            text.parse().map(|value| OptionalBound(Some(value)))
        }
    }
}

/// A number without sign and what follows it.
fn split(text: &str) -> Result<(f64, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| format!("{text:?} does not begin with a number"));
    Ok((number?, text[end..].trim()))
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_micros() as u64;
        let (unit, scale) = TIME_UNITS
            .iter()
            .find(|(_, scale)| micros > 0 && micros.is_multiple_of(*scale))
            .unwrap_or(&("s", 1_000_000));
        write!(f, "{}{unit}", micros / scale)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = SIZE_UNITS
            .iter()
            .find(|(unit, scale)| self.0 > 0 && !unit.is_empty() && self.0.is_multiple_of(*scale))
            .unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / scale)
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<T: Serialize> Serialize for OptionalBound<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str("none"),
        }
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Period, D::Error> {
        from_text(deserializer, "a duration such as \"5s\"")
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        from_text(deserializer, "a size such as \"64MB\"")
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for OptionalBound<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OptionalBound<T>, D::Error> {
        from_text(deserializer, "a bound, or \"none\"")
    }
}

/// Reads a value through its `FromStr`; a number counts as its digits.
pub fn from_text<'de, T, D>(deserializer: D, expecting: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    struct Text<T>(&'static str, PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
            self.visit_str(&number.to_string())
        }
    }

    deserializer.deserialize_any(Text(expecting, PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_their_units_and_displayed_to_be_read_again() {
        for (text, micros, shown) in [
            ("300ms", 300_000, "300ms"),
            ("1.5s", 1_500_000, "1500ms"),
            ("90m", 5_400_000_000, "90m"),
            ("48h", 172_800_000_000, "2d"),
            ("0", 0, "0s"),
            ("7us", 7, "7us"),
        ] {
            let period: Period = text.parse().expect(text);
            assert_eq!(period.0.as_micros(), micros, "{text}");
            assert_eq!(period.to_string(), shown);
            assert_eq!(period.to_string().parse(), Ok(period));
        }
        for wrong in ["5", "s", "-1s", "1.2.3s", "5 parsecs", "40000d", ""] {
            assert!(wrong.parse::<Period>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_know_thousands_from_powers_of_two() {
        for (text, bytes, shown) in [
            ("64MB", 64_000_000, "64MB"),
            ("1GiB", 1 << 30, "1GiB"),
            ("1.5 kB", 1_500, "1500B"),
            ("77", 77, "77B"),
            ("0", 0, "0B"),
        ] {
            let size: Size = text.parse().expect(text);
            assert_eq!((size.0, size.to_string().as_str()), (bytes, shown));
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        for wrong in ["1 GB/s", "MB", "9999999TiB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
        assert_eq!("none".parse(), Ok(OptionalBound::<Size>(None)));
    }
}
