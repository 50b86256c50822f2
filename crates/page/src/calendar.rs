//! The Gregorian calendar in UTC: from a date to days since 1970-01-01, and back.
//!
//! The one calendar of the workspace. A year is counted from March, so that a leap day is its last
//! and every 400 years have the same 146,097 days (H. Hinnant, "chrono-compatible low-level date
//! algorithms").

/// Seconds of a day.
pub const DAY_S: u64 = 86_400;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;
const FOUR_CENTURIES_DAYS: i64 = 146_097;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Counted as ISO 8601 does: there is a year 0.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Date {
    /// The date so many days after 1970-01-01; before it, if they are less than 0.
    ///
    /// ```
    /// use rhumb_page::calendar::Date;
    /// assert_eq!(Date::of_days(19_844).to_string(), "2024-05-01");
    /// ```
    pub fn of_days(days: i64) -> Date {
        let days = days.saturating_add(EPOCH_DAYS);
        let (era, of_era) =
            (days.div_euclid(FOUR_CENTURIES_DAYS), days.rem_euclid(FOUR_CENTURIES_DAYS));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Date { year, month: month as u8, day: day as u8 }
    }

    /// A date of the years 1 to 9999, if there is one: the 30th of February is none.
    pub fn of(year: i64, month: i64, day: i64) -> Option<Date> {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + i64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let is_date =
            (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=days).contains(&day);
        is_date.then_some(Date { year, month: month as u8, day: day as u8 })
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i64 {
        let Date { year, month, day } = self;
        let year = if month <= 2 { year - 1 } else { year };
        let from_march = (i64::from(month) + 9) % 12;
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        era * FOUR_CENTURIES_DAYS + of_era - EPOCH_DAYS
    }
}

impl std::fmt::Display for Date {
    /// `2024-05-01`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_thousand_years_follows_the_day_before_and_is_read_back() {
        let first = Date { year: 1700, month: 1, day: 1 };
        let mut previous = Date::of_days(first.days() - 1);
        assert_eq!(previous, Date { year: 1699, month: 12, day: 31 });
        for days in first.days()..first.days() + 365_000 {
            let date = Date::of_days(days);
            assert_eq!(date.days(), days);
            let Date { year, month, day } = date;
            assert_eq!(Date::of(year, i64::from(month), i64::from(day)), Some(date));
            let follows = match (day, month) {
                (1, 1) => (previous.month, previous.day) == (12, 31),
                (1, _) => {
                    let next = i64::from(previous.day) + 1;
                    let (year, month) = (previous.year, i64::from(previous.month));
                    previous.month + 1 == date.month && Date::of(year, month, next).is_none()
                }
                _ => previous == Date { day: day - 1, ..date },
            };
            assert!(follows, "{previous} then {date}");
            previous = date;
        }
    }

    #[test]
    fn the_odd_places_of_the_calendar_are_where_others_have_them() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_015, "2000-02-28"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_782, "2024-02-29"),
            (47_541, "2100-03-01"),
            (2_932_896, "9999-12-31"),
        ] {
            assert_eq!(Date::of_days(days).to_string(), text);
        }
        for (year, month, day) in [(2023, 2, 29), (2100, 2, 29), (2024, 4, 31), (2024, 13, 1)] {
            assert_eq!(Date::of(year, month, day), None);
        }
        assert_eq!(Date::of(0, 1, 1), None);
        assert_eq!(Date::of(10_000, 1, 1), None);
    }
}
