//! The known name that was probably meant: by edit distance, if it is near enough to be a slip.

use strsim::osa_distance;

/// `; did you mean "x"?`, or nothing if no name is near.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(given, known).map_or(String::new(), |name| format!("; did you mean {name:?}?"))
}

/// The nearest of `known`, if no more than a third of its letters (and one) are wrong.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = spelling(given);
    known
        .map(|name| (osa_distance(&given, &spelling(name)), name))
        .filter(|(wrong, name)| *wrong <= name.len() / 3 + 1)
        .min_by_key(|(wrong, _)| *wrong)
        .map(|(_, name)| name)
}

/// Case and the choice of `-` or `_` are no differences worth counting. Keys are short: what is
/// longer than any key is not looked at to its end.
fn spelling(name: &str) -> String {
    name.chars().take(64).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
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
