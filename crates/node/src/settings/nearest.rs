//! The known name that was probably meant: by edit distance, if it is near enough to be a slip.

/// `; did you mean "x"?`, or nothing if no name is near.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(given, known).map_or(String::new(), |name| format!("; did you mean {name:?}?"))
}

/// The nearest of `known`, if no more than a third of its letters (and one) are wrong.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = spelling(given);
    known
        .map(|name| (distance(&given, &spelling(name)), name))
        .filter(|(wrong, name)| *wrong <= name.len() / 3 + 1)
        .min_by_key(|(wrong, _)| *wrong)
        .map(|(_, name)| name)
}

/// Case and the choice of `-` or `_` are no differences worth counting. Keys are short: what is
/// longer than any key is not looked at to its end.
fn spelling(name: &str) -> Vec<char> {
    name.chars().take(64).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Letters to insert, remove, replace, or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_nearest_name_and_a_strange_word_none() {
        let known = ["max_pages", "max_bytes", "max_time", "delay", "delay_max"];
        for (given, meant) in [
            ("max_page", Some("max_pages")),
            ("Max-Pages", Some("max_pages")),
            ("dealy", Some("delay")),
            ("max_delay", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(given, known.into_iter()), meant, "{given}");
        }
    }
}
