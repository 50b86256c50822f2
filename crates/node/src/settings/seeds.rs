//! Seeds: where a crawl begins, from the command line, from files, or from configuration.
//!
//! One syntax for all: a URL, and after white space a weight. A bare host such as `example.com`
//! is taken as `http://example.com/`: every web server answers or redirects there.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::str::FromStr;

use rhumb_page::url::{Scheme, URL_BYTES_MAX, Url};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::SettingsError;
use super::quantity::from_text;

/// A crawl that is given more than this by hand wants another tool; it also bounds memory.
pub const SEEDS_MAX: usize = 10_000_000;

/// No URL we take is longer, and a file without line ends must not fill memory.
const LINE_BYTES_MAX: usize = URL_BYTES_MAX + 256;

#[derive(Clone, Debug, PartialEq)]
pub struct SeedLine {
    pub url: Url,
    /// Relative to the other seeds; 1 unless said.
    pub weight: f64,
}

impl FromStr for SeedLine {
    type Err = String;

    fn from_str(text: &str) -> Result<SeedLine, String> {
        let mut words = text.split_ascii_whitespace();
        let (Some(url), weight, None) = (words.next(), words.next(), words.next()) else {
            return Err(format!("{text:?} is not a URL and perhaps a weight"));
        };
        let weight = match weight {
            None => 1.0,
            Some(word) => {
                let weight = word.parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0);
                weight.ok_or_else(|| format!("{word:?} is no weight: a number above 0"))?
            }
        };
        Ok(SeedLine { url: parse_url(url)?, weight })
    }
}

fn parse_url(text: &str) -> Result<Url, String> {
    if names_user(text) {
        let hint = "a seed names a user, and what stands in URLs ends in archives and logs: leave \
            that out, and say --auth HOST=USER:PASSWORD_FILE";
        return Err(hint.to_owned());
    }
    let completed = is_bare_host(text).then(|| format!("http://{text}"));
    let url = Url::parse(completed.as_deref().unwrap_or(text))
        .map_err(|error| format!("{text:?} is no seed: {error}"))?;
    match url.scheme() {
        Scheme::Ftp => Err(format!("{text:?} is no seed: ftp is not fetched")),
        Scheme::Http | Scheme::Https | Scheme::File => Ok(url),
    }
}

/// Whether there is something before an `@` in the part of a URL that names its host.
fn names_user(text: &str) -> bool {
    let authority = text.split_once("//").map_or("", |(_, rest)| rest);
    authority.split(['/', '\\', '?', '#']).next().is_some_and(|name| name.contains('@'))
}

/// Whether `text` is a host, with or without port and path, that lacks only its `http://`.
pub fn is_bare_host(text: &str) -> bool {
    let authority = text.split(['/', '?', '#']).next().unwrap_or("");
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let port_fits = port.is_none_or(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    let names_a_host = host.contains('.') || host.starts_with('[') || host == "localhost";
    port_fits && names_a_host && !text.starts_with('.') && !authority.contains(['@', '\\'])
}

impl fmt::Display for SeedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight == 1.0 {
            write!(f, "{}", self.url)
        } else {
            write!(f, "{} {}", self.url, self.weight)
        }
    }
}

impl Serialize for SeedLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SeedLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SeedLine, D::Error> {
        from_text(deserializer, "a URL and perhaps a weight")
    }
}

/// Opens what was named: `-` is standard input, and .gz and .zst are read as such.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path)?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let reader: Box<dyn Read + Send> = match extension {
        Some("gz") => Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))),
        Some("zst") => Box::new(zstd::Decoder::new(file)?),
        _ => Box::new(file),
    };
    Ok(Box::new(BufReader::new(reader)))
}

/// Adds the seeds of a file; a line that is none says where it stands.
pub fn read_file(path: &Path, seeds: &mut Vec<SeedLine>) -> Result<(), SettingsError> {
    let unreadable =
        |error: io::Error| SettingsError::usage(format!("{}: {error}", path.display()));
    read(&mut open(path).map_err(unreadable)?, path, seeds)
}

fn read(
    input: &mut dyn BufRead,
    path: &Path,
    seeds: &mut Vec<SeedLine>,
) -> Result<(), SettingsError> {
    let mut line = Vec::new();
    for number in 1u64.. {
        let wrong = |reason: &dyn fmt::Display| {
            SettingsError::usage(format!("{}:{number}: {reason}", path.display()))
        };
        line.clear();
        let mut limited = Read::take(&mut *input, LINE_BYTES_MAX as u64 + 1);
        if limited.read_until(b'\n', &mut line).map_err(|error| wrong(&error))? == 0 {
            break;
        }
        if line.len() > LINE_BYTES_MAX {
            return Err(wrong(&format!("a line of more than {LINE_BYTES_MAX} bytes")));
        }
        let text = std::str::from_utf8(&line).map_err(|_| wrong(&"not UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        // A fragment names no other page, so only a # that stands alone begins a comment.
        let text = text.split_once(" #").map_or(text, |(before, _)| before.trim_end());
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if seeds.len() >= SEEDS_MAX {
            return Err(wrong(&format!("more than {SEEDS_MAX} seeds")));
        }
        seeds.push(text.parse().map_err(|reason: String| wrong(&reason))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds_of(text: &[u8]) -> Result<Vec<SeedLine>, String> {
        let mut seeds = Vec::new();
        let read = read(&mut &text[..], Path::new("seeds.txt"), &mut seeds);
        read.map(|()| seeds).map_err(|error| error.to_string())
    }

    #[test]
    fn a_seeds_file_has_urls_weights_and_comments() {
        let text = b"\xEF\xBB\xBF# top\n\nhttp://A.com/x#top\r\nb.org:8080/y\t2.5  # twice\n";
        let shown: Vec<String> = seeds_of(text).unwrap().iter().map(SeedLine::to_string).collect();
        assert_eq!(shown, ["http://a.com/x", "http://b.org:8080/y 2.5"]);
    }

    #[test]
    fn a_bad_line_says_file_and_line_and_reason() {
        for (text, reason) in [
            (&b"http://a.com/\nhttp://\n"[..], "seeds.txt:2: \"http://\" is no seed: "),
            (b"a.com -1", "seeds.txt:1: \"-1\" is no weight: a number above 0"),
            (b"\n\na.com 1 2", "seeds.txt:3: \"a.com 1 2\" is not a URL and perhaps a weight"),
            (b"mailto:x@y.com", "seeds.txt:1: \"mailto:x@y.com\" is no seed: scheme"),
            (b"https://ann:secret@a.com/", "seeds.txt:1: a seed names a user"),
            (b"\xff\xfe", "seeds.txt:1: not UTF-8"),
            (&[b'a'; LINE_BYTES_MAX + 2], "seeds.txt:1: a line of more than"),
        ] {
            let error = seeds_of(text).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
