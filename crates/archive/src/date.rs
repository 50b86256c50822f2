//! Microseconds since the Unix epoch, written as WARC dates and as 14-digit CDX timestamps.
//!
//! Only years 1970 to 9999.

use rhumb_page::calendar::{DAY_S, Date};

/// Last microsecond whose year has four digits, 9999-12-31T23:59:59.999999Z; later is cut to it.
const TIME_US_MAX: u64 = 253_402_300_799_999_999;

/// `2026-11-15T21:07:00.123456Z`
pub fn warc_date(time_us: u64) -> String {
    let time_us = time_us.min(TIME_US_MAX);
    let date = Date::of_days((time_us / 1_000_000 / DAY_S) as i64);
    let second = time_us / 1_000_000 % DAY_S;
    format!(
        "{date}T{:02}:{:02}:{:02}.{:06}Z",
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
    fn a_timestamp_is_read_from_a_date_and_from_nothing_else() {
        let expected = Some("20240229010203".to_string());
        assert_eq!(timestamp_of("2024-02-29T01:02:03Z"), expected);
        assert_eq!(timestamp_of("2024-02-29T01:02:03.5Z"), expected);
        assert_eq!(timestamp_of("2024-02-29"), None);
        assert_eq!(timestamp_of("2024-02-29 01:02:03Z"), None);
    }
}
