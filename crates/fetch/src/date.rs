//! HTTP dates, all three forms of RFC 9110 section 5.6.7, as seconds since 1970.

use rhumb_page::calendar::{DAY_S, Date};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`.
/// The weekday is not checked. Years before 1970 are none of ours.
pub fn parse(text: &str) -> Option<u64> {
    let text = text.split_once(',').map_or(text, |(_, rest)| rest);
    let mut fields = text.split([' ', '-']).filter(|field| !field.is_empty());
    let first = fields.next()?;
    if first.bytes().all(|b| b.is_ascii_digit()) {
        let (day, month, year) = (number(first)?, month(fields.next()?)?, fields.next()?);
        return seconds(four_digit_year(year)?, month, day, fields.next()?);
    }
    let (month, day, time) = (month(fields.next()?)?, number(fields.next()?)?, fields.next()?);
    seconds(four_digit_year(fields.next()?)?, month, day, time)
}

/// The usual form, as servers send it and as we send a file's date.
pub fn format(seconds: u64) -> String {
    let (days, second) = (seconds / DAY_S, seconds % DAY_S);
    let Date { year, month, day } = Date::of_days(days as i64);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    let name = MONTHS[usize::from(month) - 1];
    let (initial, rest) = name.split_at(1);
    format!(
        "{weekday}, {day:02} {}{rest} {year:04} {:02}:{:02}:{:02} GMT",
        initial.to_ascii_uppercase(),
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

fn number(text: &str) -> Option<u64> {
    if text.len() > 4 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn month(text: &str) -> Option<u64> {
    let start = text.get(..3)?.to_ascii_lowercase();
    MONTHS.iter().position(|name| *name == start).map(|index| index as u64 + 1)
}

fn four_digit_year(text: &str) -> Option<u64> {
    let year = number(text)?;
    Some(match text.len() {
        // RFC 850 years: the century that makes sense for a web that began in 1990.
        2 if year < 70 => 2000 + year,
        2 => 1900 + year,
        _ => year,
    })
}

fn seconds(year: u64, month: u64, day: u64, time: &str) -> Option<u64> {
    let mut parts = time.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let days = Date::of(year as i64, month as i64, day as i64)?.days();
    let is_time = hour < 24 && minute < 60 && second <= 60;
    let seconds = u64::try_from(days).ok()? * DAY_S + hour * 3600 + minute * 60 + second;
    is_time.then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_of_a_date_mean_the_same_second() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "06 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), Some(784_111_777), "{text}");
        }
        assert_eq!(format(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn every_day_of_four_centuries_is_written_and_read_back() {
        for day in 0..146_097 {
            let second = day * 86_400 + 86_399;
            assert_eq!(parse(&format(second)), Some(second));
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            ",",
            "0",
            "-1",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "é, é é",
            "Sun Nov",
            "Sun, 06 Nov 1994 8h",
            "Thu, 01 Jan 1900 00:00:00 GMT",
            "1 éé 1994 1:1:1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
