//! Counts in sentences.

use indicatif::HumanCount;

/// `1 URL waits`, `2,000 URLs wait`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", HumanCount(count), if count == 1 { one } else { many })
}

/// `once`, `twice`, `3 times`.
pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{} times", HumanCount(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_told_as_one() {
        let waits = |count| counted(count, "URL waits", "URLs wait");
        assert_eq!([0, 1, 2_000].map(waits), ["0 URLs wait", "1 URL waits", "2,000 URLs wait"]);
        assert_eq!([1, 2, 3].map(times), ["once", "twice", "3 times"]);
    }
}
