//! `rhumb robots`: what a robots.txt says, and which of its lines says it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rhumb_page::robots::{ROBOTS_BYTES_MAX, Robots, RobotsReading, Verdict};
use rhumb_page::url::Url;
use serde::Serialize;

use super::ended::{Ended, Trouble};
use super::{json, robots_batch};
use rhumb_node::settings::{NamedValue, open_input};
use rhumb_node::watch::printable;

/// A line of a file may be far longer than what anybody wants to see.
const LINE_CHARS_SHOWN: usize = 200;

/// Tell whether a robots.txt allows URLs, and which line decides.
///
/// The exit code is 0 whatever the answer is, and 2 if the question cannot be asked.
#[derive(Args)]
#[command(after_help = "\
Examples:
  rhumb robots --agent mybot --file robots.txt https://example.org/a /b?c
  curl -s https://example.org/robots.txt | rhumb robots --agent mybot --file - /a --json
  rhumb robots --batch < questions.jsonl > answers.jsonl

URLs are made canonical, as a crawl does before it asks: /%7Ejoe/ and /~joe/ are one path.

With --batch, URLs are taken as they are written, as the test suites of other parsers do, but for
escapes of unreserved characters, which are decoded. A question is a line
{\"robots\": TEXT, \"agent\": NAME, \"url\": URL} and its answer a line {\"allowed\": true}, in the
same order. A robots.txt that is no UTF-8 can be given as \"robots_hex\" instead. A line that is no
question is answered {\"error\": REASON}, and the exit code is 1 then.")]
pub struct RobotsFlags {
    /// URLs, or paths that begin with /
    #[arg(value_name = "URL", required_unless_present = "batch", conflicts_with = "batch")]
    urls: Vec<String>,

    /// The crawler's product token; of name/1.0, the name
    #[arg(long, value_name = "NAME", required_unless_present = "batch")]
    #[arg(conflicts_with = "batch")]
    agent: Option<String>,

    /// The robots.txt; - is standard input; .gz and .zst are read as such
    #[arg(long, value_name = "FILE", required_unless_present = "batch", conflicts_with = "batch")]
    file: Option<PathBuf>,

    /// Answer JSON lines from standard input
    #[arg(long)]
    batch: bool,

    /// Compare as Google's parser does, or by the letter of RFC 9309; a crawl does the first
    #[arg(long, value_name = "google|rfc", default_value = "google")]
    reading: NamedValue<RobotsReading>,

    /// Print one JSON value
    #[arg(long, conflicts_with = "batch")]
    json: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    allowed: bool,
    /// Absent if no rule matches, which allows.
    line: Option<Line>,
}

#[derive(Serialize)]
struct Line {
    number: usize,
    /// As the file has it.
    text: String,
}

pub fn run(flags: &RobotsFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let (Some(agent), Some(file), false) = (&flags.agent, &flags.file, flags.batch) else {
        return robots_batch::run(&mut io::stdin().lock(), out, flags.reading.0);
    };
    let body = read(file)?;
    let robots = Robots::parse_as(&body, agent, flags.reading.0);
    let answers: Vec<Answer<'_>> = flags
        .urls
        .iter()
        .map(|url| {
            let Verdict { allowed, line } = verdict(&robots, url);
            let line = line.map(|(number, rule)| Line {
                number,
                text: line_of(&body, number).unwrap_or(rule),
            });
            Answer { url, allowed, line }
        })
        .collect();
    if flags.json {
        json::print(out, &answers)?;
        return Ok(Ended::Done);
    }
    for Answer { url, allowed, line } in &answers {
        let word = if *allowed { "allowed" } else { "denied " };
        match line {
            Some(Line { number, text }) => {
                let text = printable(text);
                writeln!(out, "{word}  {url}  (line {number}: {text})")?;
            }
            None => writeln!(out, "{word}  {url}  (no rule matches)")?,
        }
    }
    out.flush()?;
    Ok(Ended::Done)
}

/// What a crawl would decide on this URL, which it makes canonical before it asks. A path is one of
/// any host; text that is no URL is taken as it is.
fn verdict(robots: &Robots, text: &str) -> Verdict {
    let url = match text.starts_with('/') {
        true => Url::parse(&format!("http://host{text}")),
        false => Url::parse(text),
    };
    url.map_or_else(|_| robots.verdict_of_text(text), |url| robots.verdict(&url))
}

/// One byte more than is obeyed tells the parser that there was more.
fn read(path: &Path) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    open_input(path)
        .and_then(|input| input.take(ROBOTS_BYTES_MAX as u64 + 1).read_to_end(&mut body))
        .map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))?;
    Ok(body)
}

/// The line of that number, from 1, cut as the parser cuts them: at LF, CR or CR LF.
fn line_of(body: &[u8], number: usize) -> Option<String> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut ends_in_cr = false;
    let line = body
        .split_inclusive(|byte| matches!(byte, b'\n' | b'\r'))
        .filter(|line| {
            let is_half_of_cr_lf = ends_in_cr && *line == b"\n";
            ends_in_cr = line.ends_with(b"\r");
            !is_half_of_cr_lf
        })
        .nth(number.checked_sub(1)?)?;
    Some(String::from_utf8_lossy(line.trim_ascii()).chars().take(LINE_CHARS_SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_judged_as_a_crawl_would_however_it_is_spelt() {
        let file = "User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /a%3cb\nDisallow: /my files/\n\
            Disallow: /caf\u{e9}";
        let robots = Robots::parse_as(file.as_bytes(), "bot", RobotsReading::Google);
        for path in ["/~joe/", "/%7Ejoe/", "/%7ejoe/x", "/a%3Cb", "/a%3cb", "/a<b", "/x/../a<b"]
            .into_iter()
            .chain(["/my files/1", "/my%20files/1", "/caf\u{e9}", "/caf%c3%a9"])
        {
            assert!(!verdict(&robots, path).allowed, "{path}");
            let url = format!("https://example.org{path}");
            assert!(!verdict(&robots, &url).allowed, "{url}");
            let as_crawled = Url::parse(&url).expect("a URL");
            assert!(!robots.allows(&as_crawled), "{as_crawled}");
        }
        assert!(verdict(&robots, "/joe/").allowed && verdict(&robots, "/a%253Cb").allowed);
        assert!(!verdict(&robots, "no URL:/%7Ejoe/").allowed);
    }

    #[test]
    fn the_line_shown_is_the_one_the_parser_counted() {
        let body =
            b"\xEF\xBB\xBF# top\r\n\r\nUser-agent: *\rdisalow : /a  # why\n\nAllow: /a/b\xff\n";
        let robots = Robots::parse_as(body, "bot", RobotsReading::Google);
        for (path, shown) in [("/a", "disalow : /a  # why"), ("/a/b\u{ff}", "disalow")] {
            let (number, _) = robots.verdict_of_text(path).line.expect("a rule matches");
            let text = line_of(body, number).expect("the line is there");
            assert!(text.starts_with(shown), "{path} is decided by {number}: {text}");
        }
        assert_eq!(line_of(body, 1).as_deref(), Some("# top"));
        assert_eq!(line_of(body, 2).as_deref(), Some(""));
        assert_eq!(line_of(body, 3).as_deref(), Some("User-agent: *"));
        assert_eq!(line_of(body, 7), None);
        assert_eq!(line_of(body, 0), None);
    }
}
