//! URLs that grow without end: each page of such a trap leads to a longer one.

use crate::config::Traps;
use rhumb_page::url::Url;

/// What makes a URL look like a trap: it, or the way to it, grows without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapRule {
    /// The URL is too long.
    Length,
    /// Its path has too many segments.
    Segments,
    /// One segment comes too often in its path, or one parameter with one value in its query.
    Repeats,
    /// A parameter has a URL as its value that has the same parameter.
    Nested,
    /// It is too many links from a seed.
    Depth,
}

/// The first rule by which a URL of this depth is a trap, or none.
pub fn trap_rule(traps: &Traps, url: &Url, depth: u16) -> Option<TrapRule> {
    if depth > traps.depth_max {
        return Some(TrapRule::Depth);
    }
    if url.as_str().len() > traps.url_bytes_max {
        return Some(TrapRule::Length);
    }
    if let Some(rule) = url.query().and_then(|query| of_query(traps, query)) {
        return Some(rule);
    }
    let path = url.path();
    let segments = path.bytes().filter(|&b| b == b'/').count();
    if segments <= traps.segment_repeats_max {
        return None;
    }
    if segments > traps.path_segments_max {
        return Some(TrapRule::Segments);
    }
    let segments = path.split('/').filter(|s| !s.is_empty());
    comes_often(segments, traps.segment_repeats_max).then_some(TrapRule::Repeats)
}

fn of_query(traps: &Traps, query: &str) -> Option<TrapRule> {
    if query.split(['&', ';']).any(is_nested) {
        return Some(TrapRule::Nested);
    }
    let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
    comes_often(pairs, traps.segment_repeats_max).then_some(TrapRule::Repeats)
}

fn comes_often<'a>(parts: impl Iterator<Item = &'a str>, max: usize) -> bool {
    let mut sorted: Vec<&str> = parts.collect();
    if sorted.len() <= max {
        return false;
    }
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).any(|run| run.len() > max)
}

/// `next=/login?next=/login…`: its value has its own name once more, with an equals sign behind it,
/// plain or escaped, however often.
fn is_nested(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else { return false };
    if name.is_empty() || value.len() <= name.len() {
        return false;
    }
    let mut begins = value.match_indices(name).map(|(at, _)| at);
    begins.any(|at| {
        let before = &value[..at];
        let after = &value[at + name.len()..];
        let escapes = after.trim_start_matches('%').trim_start_matches("25");
        let is_set = after.starts_with('=')
            || (after.starts_with('%') && escapes.get(..2).is_some_and(is_equals));
        is_set && before.ends_with(['?', '&', ';', 'F', 'f', '6', 'B', 'b'])
    })
}

fn is_equals(escape: &str) -> bool {
    escape.eq_ignore_ascii_case("3d")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_path_that_repeats_a_segment_or_grows_without_end_is_a_trap() {
        let traps = Traps::default();
        let rule = |text: &str| trap_rule(&traps, &url(text), 3);
        assert_eq!(rule("http://a.test/x/y/x/y/x/y/z"), None);
        assert_eq!(rule("http://a.test/x/x/x/x/x/"), Some(TrapRule::Repeats));
        let repeats = format!("http://a.test/{}", "a1/b2/c3/".repeat(5));
        assert_eq!(rule(&repeats), Some(TrapRule::Repeats));
        let deep: String = (0..40).map(|n| format!("/{n}")).collect();
        assert_eq!(rule(&format!("http://a.test{deep}")), Some(TrapRule::Segments));
        let long = format!("http://a.test/{}", "q".repeat(2_001));
        assert_eq!(rule(&long), Some(TrapRule::Length));
        let far = trap_rule(&traps, &url("http://a.test/"), traps.depth_max + 1);
        assert_eq!(far, Some(TrapRule::Depth));
    }

    #[test]
    fn a_parameter_that_holds_itself_or_comes_again_and_again_is_a_trap() {
        let traps = Traps::default();
        let rule = |text: &str| trap_rule(&traps, &url(&format!("http://a.test{text}")), 3);
        for nested in [
            "/login?next=/login?next=/topic/5",
            "/login?next=%2Flogin%3Fnext%3D%2Ftopic%2F5",
            "/login?next=/login%3Fnext%3D/login%253Fnext%253D/topic/5",
            "/x?a=1&back=/y%3Fb%3D2%26back%3D/z",
        ] {
            assert_eq!(rule(nested), Some(TrapRule::Nested), "{nested}");
        }
        assert_eq!(rule("/x?a=1&a=1&a=1&a=1&a=1"), Some(TrapRule::Repeats));
        for plain in [
            "/login?next=/topic/5",
            "/login?next=/what-comes-next",
            "/x?tag=a&tag=b&tag=c&tag=d&tag=e&tag=f",
            "/s?q=q%3D1",
            "/s?page=2&from=/list%3Fpages%3D3",
        ] {
            assert_eq!(rule(plain), None, "{plain}");
        }
    }
}
