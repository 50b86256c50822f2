//! Microseconds since the Unix epoch, written as WARC dates and as 14-digit CDX timestamps.
//!
//! Small enough not to need a calendar crate: only UTC, only years 1970 to 9999.

const DAY_S: u64 = 86_400;

/// Last microsecond whose year has four digits, 9999-12-31T23:59:59.999999Z; later is cut to it.
const TIME_US_MAX: u64 = 253_402_300_799_999_999;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: u64 = 719_468;

/// Years here begin in March, so that a leap day is the last day of its year, of its four years,
/// and of its four centuries: every shorter span then has a fixed length.
const YEAR_DAYS: u64 = 365;
const FOUR_YEARS_DAYS: u64 = 4 * YEAR_DAYS + 1;
const CENTURY_DAYS: u64 = 25 * FOUR_YEARS_DAYS - 1;
const FOUR_CENTURIES_DAYS: u64 = 4 * CENTURY_DAYS + 1;
const MONTH_DAYS_FROM_MARCH: [u64; 12] = [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29];

/// `2026-11-15T21:07:00.123456Z`
pub fn warc_date(time_us: u64) -> String {
    let time_us = time_us.min(TIME_US_MAX);
    let (year, month, day) = civil(time_us / 1_000_000 / DAY_S);
    let second = time_us / 1_000_000 % DAY_S;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second / 3600,
        second / 60 % 60,
        second % 60,
        time_us % 1_000_000
    )
}

/// `20261115210700`
pub(crate) fn timestamp(time_us: u64) -> String {
    let date = warc_date(time_us);
    timestamp_of(&date).expect("our own dates are whole")
}

/// The 14 digits of a WARC date given to the second or finer; `None` for anything else.
pub(crate) fn timestamp_of(warc_date: &str) -> Option<String> {
    const SHAPE: &[u8; 19] = b"0000-00-00T00:00:00";
    let bytes = warc_date.as_bytes().get(..SHAPE.len())?;
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    if !bytes.iter().zip(SHAPE).all(fits) {
        return None;
    }
    Some(bytes.iter().filter(|byte| byte.is_ascii_digit()).map(|&byte| byte as char).collect())
}

/// Year, month and day of a day counted from the epoch.
fn civil(days: u64) -> (u64, u64, u64) {
    let mut day = days + EPOCH_DAYS;
    let mut year = day / FOUR_CENTURIES_DAYS * 400;
    day %= FOUR_CENTURIES_DAYS;
    let centuries = (day / CENTURY_DAYS).min(3);
    year += centuries * 100;
    day -= centuries * CENTURY_DAYS;
    year += day / FOUR_YEARS_DAYS * 4;
    day %= FOUR_YEARS_DAYS;
    let years = (day / YEAR_DAYS).min(3);
    year += years;
    day -= years * YEAR_DAYS;
    let mut month = 3;
    for length in MONTH_DAYS_FROM_MARCH {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    if month > 12 { (year + 1, month - 12, day + 1) } else { (year, month, day + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_agree_with_the_calendar_at_its_odd_places() {
        let cases = [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (951_868_800_000_000, "2000-03-01T00:00:00.000000Z"),
            (1_709_164_800_000_000, "2024-02-29T00:00:00.000000Z"),
            (1_735_689_599_000_001, "2024-12-31T23:59:59.000001Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (TIME_US_MAX, "9999-12-31T23:59:59.999999Z"),
            (u64::MAX, "9999-12-31T23:59:59.999999Z"),
        ];
        for (time_us, date) in cases {
            assert_eq!(warc_date(time_us), date);
        }
    }

    #[test]
    fn every_day_follows_the_day_before() {
        let mut previous = civil(0);
        for day in 1..200_000 {
            let (year, month, date) = civil(day);
            let follows = match previous {
                (y, m, d) if date > 1 => (year, month, date) == (y, m, d + 1),
                (y, 12, 31) => (year, month) == (y + 1, 1),
                (y, 2, d) => (year, month) == (y, 3) && d == 28 + u64::from(leap(y)),
                (y, m, d) => (year, month) == (y, m + 1) && d == 31 - u64::from(short(m)),
            };
            assert!(follows, "{previous:?} then {:?}", (year, month, date));
            previous = (year, month, date);
        }
    }

    #[test]
    fn a_timestamp_is_read_from_a_date_and_from_nothing_else() {
        let expected = Some("20240229010203".to_string());
        assert_eq!(timestamp_of("2024-02-29T01:02:03Z"), expected);
        assert_eq!(timestamp_of("2024-02-29T01:02:03.5Z"), expected);
        assert_eq!(timestamp_of("2024-02-29"), None);
        assert_eq!(timestamp_of("2024-02-29 01:02:03Z"), None);
    }

    fn leap(year: u64) -> bool {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    }

    fn short(month: u64) -> bool {
        matches!(month, 4 | 6 | 9 | 11)
    }
}
