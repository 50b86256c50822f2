//! Style sheets: what `url(…)` and `@import` name is looked for among the copies.

/// A style sheet whose references are those that `place` gives; what it gives no place for is
/// empty.
pub fn rewritten(css: &str, place: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(css.len() + 256);
    let mut rest = css;
    while let Some((before, kind, after)) = next_reference(rest) {
        out.push_str(before);
        let (reference, after) = match kind {
            MediaKind::Url => url_argument(after),
            MediaKind::Import => quoted(after),
        };
        let found = place(&unescaped(reference)).unwrap_or_default();
        let found = found.replace(['"', '\\', '\n', '\r', '<'], "");
        out.push_str(&match kind {
            MediaKind::Url => format!("url(\"{found}\")"),
            MediaKind::Import => format!("@import \"{found}\""),
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[derive(Clone, Copy)]
enum MediaKind {
    Url,
    Import,
}

/// What stands before the next reference, and what follows `url(` or `@import `.
fn next_reference(css: &str) -> Option<(&str, MediaKind, &str)> {
    let bytes = css.as_bytes();
    let is_at = |at: usize, word: &[u8]| {
        bytes.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    for at in 0..bytes.len() {
        if is_at(at, b"url(") {
            return Some((&css[..at], MediaKind::Url, &css[at + 4..]));
        }
        if is_at(at, b"@import") {
            let after = css[at + 7..].trim_start();
            if after.starts_with(['"', '\'']) {
                return Some((&css[..at], MediaKind::Import, after));
            }
        }
    }
    None
}

/// The argument of `url(`, and what follows its `)`.
fn url_argument(css: &str) -> (&str, &str) {
    let css = css.trim_start();
    if css.starts_with(['"', '\'']) {
        let (reference, after) = quoted(css);
        let after = after.trim_start();
        return (reference, after.strip_prefix(')').unwrap_or(after));
    }
    match css.split_once(')') {
        Some((reference, after)) => (reference.trim(), after),
        None => (css.trim(), ""),
    }
}

/// What stands between quotes, and what follows them.
fn quoted(css: &str) -> (&str, &str) {
    let quote = if css.starts_with('"') { '"' } else { '\'' };
    let inner = &css[1..];
    match inner.find([quote, '\n']) {
        Some(end) => (&inner[..end], &inner[end + 1..]),
        None => (inner, ""),
    }
}

fn unescaped(reference: &str) -> String {
    reference.replace('\\', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, expected: &str) {
        let place = &mut |at: &str| (!at.starts_with("javascript")).then(|| format!("/c/{at}"));
        assert_eq!(rewritten(css, place), expected, "{css}");
    }

    #[test]
    fn references_of_style_sheets_are_placed() {
        check("a{b:url(x.png)}", "a{b:url(\"/c/x.png\")}");
        check("a{b:URL( 'x y.png' ) no-repeat}", "a{b:url(\"/c/x y.png\") no-repeat}");
        check("@import 'a.css' screen;", "@import \"/c/a.css\" screen;");
        check("@import url(a.css);", "@import url(\"/c/a.css\");");
        check("a{b:url(javascript:x)}", "a{b:url(\"\")}");
        check("a{b:url(\"x", "a{b:url(\"/c/x\")");
        check("a{b:url(ü.png)}", "a{b:url(\"/c/ü.png\")}");
        check("", "");
    }
}
