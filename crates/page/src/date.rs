//! Dates as sitemaps and feeds write them: W3C (`2024-05-01T10:00:00+02:00`) and RFC 822 (`Wed, 01
//! May 2024 10:00 GMT`).
//!
//! Lenient in form, strict in sense: a day that does not exist is no date.

use crate::calendar::Date;

/// Seconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub i64);

/// Bytes of a date; a longer text is none.
const DATE_BYTES_MAX: usize = 64;

impl UnixSeconds {
    /// Reads either form; what is missing of the time is zero, what is missing of the zone is UTC.
    pub fn parse(text: &str) -> Option<UnixSeconds> {
        let text = text.trim();
        if text.len() > DATE_BYTES_MAX || !text.is_ascii() {
            return None;
        }
        w3c(text).or_else(|| rfc_822(text))
    }
}

fn w3c(text: &str) -> Option<UnixSeconds> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim())),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |part| digits(part, 2))?;
    let day = parts.next().map_or(Some(1), |part| digits(part, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let Some(time) = time else { return Some(UnixSeconds(days * 86_400)) };
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    Some(UnixSeconds(days * 86_400 + clock_seconds(clock)? - zone_seconds(zone)?))
}

fn rfc_822(text: &str) -> Option<UnixSeconds> {
    let after_weekday = text.split_once(',').map_or(text, |(_, rest)| rest);
    let mut words = after_weekday.split([' ', '-']).filter(|word| !word.is_empty());
    let day = words.next()?.parse().ok()?;
    let month = month_number(words.next()?)?;
    let year: i64 = words.next()?.parse().ok()?;
    // Two digits are from before 2000 had to be thought of.
    let year = match year {
        0..=49 => year + 2000,
        50..=99 => year + 1900,
        _ => year,
    };
    let days = days_since_1970(year, month, day)?;
    let clock = words.next().map_or(Some(0), clock_seconds)?;
    // A zone east of Greenwich has a '+'; the '-' of one west of it was taken for a separator.
    let zone = match after_weekday.rsplit_once(" -") {
        Some((_, west)) => -zone_seconds(&format!("+{west}"))?,
        None => words.next().map_or(Some(0), zone_seconds)?,
    };
    Some(UnixSeconds(days * 86_400 + clock - zone))
}

/// `10:30`, `10:30:15`, `10:30:15.250`.
fn clock_seconds(clock: &str) -> Option<i64> {
    let mut parts = clock.trim().split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = match parts.next() {
        Some(part) => digits(part.split('.').next()?, 2)?,
        None => 0,
    };
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Seconds east of Greenwich: `Z`, `+02:00`, `-0500`, `EST`.
fn zone_seconds(zone: &str) -> Option<i64> {
    let hours = match zone.trim() {
        "" | "Z" | "z" | "GMT" | "UT" | "UTC" => 0,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        "CET" => 1,
        "CEST" => 2,
        offset => return offset_seconds(offset),
    };
    Some(hours * 3600)
}

fn offset_seconds(offset: &str) -> Option<i64> {
    let sign = match offset.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let figures: String = offset[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match figures.len() {
        2 => (digits(&figures, 2)?, 0),
        4 => (digits(&figures[..2], 2)?, digits(&figures[2..], 2)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn month_number(name: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let short = name.get(..3)?;
    NAMES.iter().position(|known| short.eq_ignore_ascii_case(known)).map(|i| i as i64 + 1)
}

/// A number of at most `figures` digits and nothing else.
fn digits(text: &str, figures: usize) -> Option<i64> {
    let is_number = (1..=figures).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar, if it exists.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    Some(Date::of(year, month, day)?.days())
}

#[cfg(test)]
mod tests {
    use super::UnixSeconds;

    #[test]
    fn both_forms_are_read_and_impossible_days_are_not() {
        for (text, seconds) in [
            ("1970-01-01", Some(0)),
            ("2024", Some(1_704_067_200)),
            ("2024-02-29", Some(1_709_164_800)),
            ("2024-05-01T10:00:00+02:00", Some(1_714_550_400)),
            ("2024-05-01T08:00Z", Some(1_714_550_400)),
            ("2024-05-01 08:00:00.123", Some(1_714_550_400)),
            ("Wed, 01 May 2024 08:00:00 GMT", Some(1_714_550_400)),
            ("1 May 24 04:00 EDT", Some(1_714_550_400)),
            ("Wed, 01 May 2024 10:00:00 +0200", Some(1_714_550_400)),
            ("Wed, 01 May 2024 03:00:00 -0500", Some(1_714_550_400)),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-05-01T25:00Z", None),
            ("yesterday", None),
            ("", None),
            ("é", None),
        ] {
            assert_eq!(UnixSeconds::parse(text).map(|t| t.0), seconds, "{text}");
        }
    }
}
