//! Moments as people read them: RFC 3339 in UTC; and lengths of time in words.

use rhumb_engine::time::Time;
use rhumb_page::calendar::{DAY_S, Date};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last year that RFC 3339 can write.
const YEAR_MAX: i64 = 9999;

pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// `2026-11-03T09:15:00.250Z`; moments beyond the year 9999 are written as its last second.
pub fn rfc3339(time: Time) -> String {
    let (seconds, ms) = (time.0 / 1_000_000, time.0 % 1_000_000 / 1000);
    let date = Date::of_days((seconds / DAY_S) as i64);
    if date.year > YEAR_MAX {
        return format!("{YEAR_MAX}-12-31T23:59:59.999Z");
    }
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{date}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// `850ms`, `12.3s`, `4m07s`, `2h05m`, `3d04h`: two parts at most.
pub fn short(duration: Duration) -> String {
    let s = duration.as_secs();
    match s {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{:.1}s", duration.as_secs_f64()),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        3600..DAY_S => format!("{}h{:02}m", s / 3600, s / 60 % 60),
        _ => format!("{}d{:02}h", s / DAY_S, s / 3600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::time::Span;

    #[test]
    fn moments_agree_with_the_calendar_at_its_odd_places() {
        let check = |seconds: u64, text: &str| {
            assert_eq!(rfc3339(Time::ZERO + Span::secs(seconds)), text);
        };
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399, "2000-02-28T23:59:59.000Z");
        check(951_782_400, "2000-02-29T00:00:00.000Z");
        check(1_709_251_199, "2024-02-29T23:59:59.000Z");
        check(4_107_542_400, "2100-03-01T00:00:00.000Z");
        assert_eq!(rfc3339(Time(1_250_000)), "1970-01-01T00:00:01.250Z");
        assert_eq!(rfc3339(Time(u64::MAX)), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn lengths_of_time_have_two_parts_at_most() {
        let words = [850, 12_300, 247_000, 7_500_000, 273_600_000].map(Duration::from_millis);
        assert_eq!(words.map(short), ["850ms", "12.3s", "4m07s", "2h05m", "3d04h"]);
    }
}
