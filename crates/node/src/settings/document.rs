//! Reading TOML so that a mistake is easy to find: the file and line, the line itself with a caret
//! under the mistake, and the known key nearest to an unknown one.

use std::fmt;
use std::path::Path;

use super::nearest::nearest;
use super::written::WrittenSettings;

/// A configuration is read whole; seeds may be in it.
const CONFIG_BYTES_MAX: u64 = 1 << 30;

/// A drawn line is cut here, so that a list of seeds does not fill the screen.
const DRAWN_CHARS_MAX: usize = 120;

/// A mistake and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    file: String,
    reason: String,
    place: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    text: String,
    /// In characters of `text`.
    start: usize,
    width: usize,
}

pub fn read(path: &Path) -> Result<WrittenSettings, Mistake> {
    let wrong = |reason: String| Mistake { file: name(path), reason, place: None };
    let size = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > CONFIG_BYTES_MAX {
        return Err(wrong(format!("{size} bytes are too many for a configuration")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    parse(&text, path)
}

pub fn parse(text: &str, path: &Path) -> Result<WrittenSettings, Mistake> {
    toml::from_str(text).map_err(|error| Mistake {
        file: name(path),
        reason: reason_of(error.message()),
        place: error.span().map(|span| Place::of(text, span.start, span.end)),
    })
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The reader lists all known keys after an unknown one; the nearest is worth more than the list.
fn reason_of(message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return message.replace('\n', " ");
    };
    let mut quoted = rest.split('`');
    let unknown = quoted.next().unwrap_or("");
    let known: Vec<&str> = quoted.skip(1).step_by(2).collect();
    match nearest(unknown, known.iter().copied()) {
        Some(name) => format!("unknown key {unknown:?}; did you mean {name:?}?"),
        None => format!("unknown key {unknown:?}; known are {}", known.join(", ")),
    }
}

impl Place {
    fn of(document: &str, start: usize, end: usize) -> Place {
        let start = document.floor_char_boundary(start.min(document.len()));
        let line_start = document[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = document[start..].find('\n').map_or(document.len(), |at| start + at);
        let end = document.floor_char_boundary(end.clamp(start, line_end));
        Place {
            line: document[..line_start].matches('\n').count() + 1,
            text: document[line_start..line_end].trim_end().to_owned(),
            start: document[line_start..start].chars().count(),
            width: document[start..end].chars().count().max(1),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Place { line, text, start, width }) = &self.place else {
            return write!(f, "{}: {}", self.file, self.reason);
        };
        writeln!(f, "{}:{line}: {}", self.file, self.reason)?;
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let shown: String = text.chars().take(DRAWN_CHARS_MAX).collect();
        let blanks = " ".repeat((*start).min(DRAWN_CHARS_MAX));
        let carets = "^".repeat((*width).min(DRAWN_CHARS_MAX.saturating_sub(*start).max(1)));
        writeln!(f, " {margin} |")?;
        writeln!(f, " {number} | {}", shown.replace('\t', " "))?;
        write!(f, " {margin} | {blanks}{carets}")
    }
}

impl std::error::Error for Mistake {}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> String {
        parse(text, Path::new("c.toml")).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_shown_in_its_line_with_the_nearest_known_one() {
        let drawn = mistake("delay = \"2s\"\nmax_page = 100\n");
        let wanted = [
            "c.toml:2: unknown key \"max_page\"; did you mean \"max_pages\"?",
            "   |",
            " 2 | max_page = 100",
            "   | ^^^^^^^^",
        ];
        assert_eq!(drawn.lines().collect::<Vec<_>>(), wanted);
        let drawn = mistake("[limits]\n\nheader_bytes = \"1kB\"");
        assert!(
            drawn.starts_with("c.toml:3: unknown key \"header_bytes\"; did you mean"),
            "{drawn}"
        );
        assert!(mistake("zzzzzz = 1").contains("known are "));
    }

    #[test]
    fn a_wrong_value_is_underlined() {
        for (text, reason, carets) in [
            ("delay = 5", "no unit of time", "   |         ^"),
            ("order = \"settle\"", "did you mean", "   |         ^^^^^^^^"),
            ("concurrency = \"many\"", "invalid type: string", "   |               ^^^^^^"),
            ("include = [\"a\", \"(\"]", "unclosed group", "   |                 ^^^"),
            ("seeds = [\"http://\"]", "is no seed", "   |          ^^^^^^^^^"),
            ("delay = ", "", "   |         ^"),
        ] {
            let drawn = mistake(text);
            assert!(drawn.contains(reason), "{drawn}");
            assert_eq!(drawn.lines().last(), Some(carets), "{drawn}");
        }
        let drawn = mistake("[[priority]]\npattern = \"news\"\nmax_interval = \"soon\"\n");
        assert!(drawn.contains("does not begin with a number"), "{drawn}");
        assert!(mistake("[[priority]]\npattern = \"a\"\n").contains("weight or max_interval"));
    }
}
