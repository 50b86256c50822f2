//! Numbers as people read them.

/// `12,345`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `12.3 MB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1000.0 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value} B"),
        _ => format!("{scaled:.1} {}", UNITS[unit]),
    }
}

/// `12.3/s`, or `0.04/s` where it is slow.
pub fn rate(per_s: f64) -> String {
    match per_s {
        r if r >= 100.0 => format!("{}/s", count(r.round() as u64)),
        r if r >= 1.0 => format!("{r:.1}/s"),
        r => format!("{r:.2}/s"),
    }
}

pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `850 ms`, `12 s`, `4 min`, `2.1 h`, `3.2 days`.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_their_units() {
        assert_eq!(
            (count(0), count(999), count(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!(
            (bytes(12), bytes(1_500), bytes(12_340_000)),
            ("12 B".into(), "1.5 kB".into(), "12.3 MB".into())
        );
        assert_eq!(
            (rate(0.04), rate(2.73), rate(1234.0)),
            ("0.04/s".into(), "2.7/s".into(), "1,234/s".into())
        );
        assert_eq!(
            (time(0.2), time(90.0), time(7_200.0)),
            ("200 ms".into(), "90 s".into(), "2.0 h".into())
        );
        assert_eq!(percent(0.1234), "12.3 %");
    }
}
