//! `rhumb robots --batch`: many questions, one JSON line each, answered in order.
//!
//! Answers are gathered while questions wait, and sent as soon as none does, so that a program may
//! hold a conversation. A file asked about again and again is parsed once.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};

use rhumb_page::robots::{Robots, RobotsReading};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::ended::{Ended, Trouble};

/// A question may carry a large robots.txt in escapes, and no more.
const QUESTION_BYTES_MAX: usize = 64 << 20;

const BUFFER_BYTES: usize = 256 << 10;

#[derive(serde::Deserialize)]
struct Question<'a> {
    #[serde(borrow)]
    robots: Option<Octets<'a>>,
    #[serde(borrow)]
    robots_hex: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent: Octets<'a>,
    #[serde(borrow)]
    url: Octets<'a>,
}

/// A JSON string as octets. It may hold half a surrogate pair: there is no such text, but there
/// are such files.
struct Octets<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Octets<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Octets<'a>, D::Error> {
        struct Seen;

        impl<'de> Visitor<'de> for Seen {
            type Value = Octets<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_bytes<E: de::Error>(self, b: &'de [u8]) -> Result<Octets<'de>, E> {
                Ok(Octets(Cow::Borrowed(b)))
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Octets<'de>, E> {
                Ok(Octets(Cow::Owned(restored(bytes))))
            }
        }

        deserializer.deserialize_bytes(Seen)
    }
}

/// U+DC80 to U+DCFF alone stand for the octets 80 to FF, as Python reads text that is no UTF-8.
fn restored(bytes: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        match rest {
            [0xED, middle @ (0xB2 | 0xB3), low, after @ ..] => {
                octets.push((middle & 1) << 6 | (low & 0x3F) | 0x80);
                rest = after;
            }
            _ => {
                octets.push(*first);
                rest = after;
            }
        }
    }
    octets
}

/// The last file read, and for whom.
struct Known {
    body: Vec<u8>,
    agent: String,
    robots: Robots,
}

pub fn run(
    input: &mut impl Read,
    out: &mut impl Write,
    reading: RobotsReading,
) -> Result<Ended, Trouble> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut known = None;
    let mut ended = Ended::Done;
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)
        .map_err(|error| Trouble::Failed(format!("standard input: {error}")))?
    {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match answer(&line, reading, &mut known) {
            Ok(true) => out.write_all(b"{\"allowed\":true}\n")?,
            Ok(false) => out.write_all(b"{\"allowed\":false}\n")?,
            Err(reason) => {
                ended = Ended::Failed;
                writeln!(out, "{}", serde_json::json!({ "error": reason }))?;
            }
        }
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(ended)
}

/// Reads a line; of one that is too long, what is beyond the limit is skipped.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    input.take(QUESTION_BYTES_MAX as u64 + 1).read_until(b'\n', line)?;
    if line.len() > QUESTION_BYTES_MAX && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(!line.is_empty())
}

fn answer(line: &[u8], reading: RobotsReading, known: &mut Option<Known>) -> Result<bool, String> {
    if line.len() > QUESTION_BYTES_MAX {
        return Err(format!("a line of more than {QUESTION_BYTES_MAX} bytes"));
    }
    let question: Question<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let body = match (question.robots, question.robots_hex) {
        (Some(Octets(body)), None) => body,
        (None, Some(hex)) => Cow::Owned(from_hex(&hex)?),
        _ => return Err("either robots or robots_hex".to_owned()),
    };
    let agent = String::from_utf8_lossy(&question.agent.0);
    let url = String::from_utf8_lossy(&question.url.0);
    let known = match known {
        Some(known) if *known.body == *body && *known.agent == *agent => known,
        _ => known.insert(Known {
            robots: Robots::parse_as(&body, &agent, reading),
            body: body.into_owned(),
            agent: agent.into_owned(),
        }),
    };
    Ok(known.robots.verdict_of_text(&url).allowed)
}

fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect::<Option<_>>().ok_or_else(|| "robots_hex is not pairs of hex digits".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(questions: &str) -> (String, Ended) {
        let mut out = Vec::new();
        let ended = run(&mut questions.as_bytes(), &mut out, RobotsReading::Google);
        (String::from_utf8(out).expect("text"), ended.expect("a batch that ends"))
    }

    #[test]
    fn a_broken_line_is_answered_in_its_place_and_the_batch_fails_at_its_end() {
        let (text, ended) = answers(concat!(
            "{\"robots\":\"user-agent: *\\ndisallow: /a\",\"agent\":\"b\",\"url\":\"/a\"}\n",
            "{\"robots\":\"\",\"agent\":\n",
            "\n",
            "{\"robots\":\"user-agent: *\\ndisallow: /a\",\"agent\":\"b\",\"url\":\"/b\"}\n",
            "{\"agent\":\"b\",\"url\":\"/b\"}\n",
            "{\"robots_hex\":\"757365722d6167656e743a2a0a646973616c6c6f773a2f\",\
             \"agent\":\"b\",\"url\":\"/b\"}",
        ));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert_eq!(lines[0], "{\"allowed\":false}");
        assert!(lines[1].starts_with("{\"error\":\"EOF while parsing"), "{text}");
        assert_eq!(lines[2], "{\"allowed\":true}");
        assert_eq!(lines[3], "{\"error\":\"either robots or robots_hex\"}");
        assert_eq!(lines[4], "{\"allowed\":false}");
        assert_eq!(ended, Ended::Failed);
    }

    #[test]
    fn octets_that_are_no_text_come_through_as_lone_surrogates() {
        let question = r#"{"robots":"\udcff\ud83d\ude00\udc80","agent":"\u00e9","url":"/"}"#;
        let read: Question<'_> = serde_json::from_str(question).expect("a question");
        assert_eq!(&*read.robots.expect("given").0, b"\xFF\xF0\x9F\x98\x80\x80");
        assert_eq!(&*read.agent.0, "\u{e9}".as_bytes());
    }
}
