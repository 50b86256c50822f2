//! The public html5lib tokenizer tests: start tags with attributes, end tags and text must be
//! equal. (Comments, doctypes and parse errors are not handed out by our lexer.)
//!
//! The list of expected failures holds both ways: a test on it that passes fails the run.

use serde_json::Value;

use super::Tag;
use super::lexer::{Lexed, Lexer, Model};
use super::token::Token;

/// File, start of the description, reason.
const EXPECTED_FAILURES: &[(&str, &str, &str)] = &[];

#[test]
fn the_html5lib_tokenizer_tests_give_the_same_tags_and_text() {
    let Some(folder) = rhumb_given::data("html5lib/tokenizer") else { return };
    let (mut run, mut unrepresentable) = (0, 0);
    let mut surprises = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let suite: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        // The one file without "tests" is about coercion to XML, which we do not do.
        for test in suite["tests"].as_array().into_iter().flatten() {
            let Some(case) = Case::of(test) else {
                unrepresentable += 1;
                continue;
            };
            for state in &case.states {
                run += 1;
                let got = case.run(state);
                let is_expected = EXPECTED_FAILURES
                    .iter()
                    .any(|(f, d, _)| *f == file && case.description.starts_with(d));
                if (got == case.expected) == is_expected {
                    let (description, expected) = (&case.description, &case.expected);
                    surprises.push(format!(
                        "{file}: {description} ({state})\n  {expected:?}\n  {got:?}"
                    ));
                }
            }
        }
    }
    println!("{run} run, {unrepresentable} hold lone surrogates, which no decoded page can");
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
    assert!(run > 6000);
}

struct Case {
    description: String,
    input: String,
    states: Vec<String>,
    last_start_tag: String,
    expected: Vec<Seen>,
}

#[derive(Debug, PartialEq)]
enum Seen {
    Start { name: String, attributes: Vec<(String, String)>, self_closing: bool },
    End(String),
    Text(String),
}

impl Case {
    /// None if the test holds what Rust's strings cannot.
    fn of(test: &Value) -> Option<Case> {
        let escaped = test["doubleEscaped"].as_bool().unwrap_or(false);
        let text = |value: &Value| {
            let text = value.as_str().unwrap_or_default();
            if escaped { unescaped(text) } else { Some(text.to_owned()) }
        };
        let mut expected = Vec::new();
        for token in test["output"].as_array()? {
            match token[0].as_str()? {
                "StartTag" => {
                    let mut attributes = Vec::new();
                    for (name, value) in token[2].as_object()? {
                        attributes.push((text(&Value::from(name.as_str()))?, text(value)?));
                    }
                    attributes.sort();
                    let self_closing = token[3].as_bool().unwrap_or(false);
                    expected.push(Seen::Start { name: text(&token[1])?, attributes, self_closing });
                }
                "EndTag" => expected.push(Seen::End(text(&token[1])?)),
                "Character" => push_text(&mut expected, &text(&token[1])?),
                _ => (),
            }
        }
        let states = match test["initialStates"].as_array() {
            Some(states) => states.iter().filter_map(|s| s.as_str().map(str::to_owned)).collect(),
            None => vec!["Data state".to_owned()],
        };
        Some(Case {
            description: test["description"].as_str()?.to_owned(),
            input: text(&test["input"])?,
            states,
            last_start_tag: test["lastStartTag"].as_str().unwrap_or("none-was-seen").to_owned(),
            expected,
        })
    }

    fn run(&self, state: &str) -> Vec<Seen> {
        let in_section = format!("<![CDATA[{}", self.input);
        let mut lexer =
            Lexer::new(if state == "CDATA section state" { &in_section } else { &self.input });
        match state {
            "Data state" => (),
            "CDATA section state" => lexer.cdata = true,
            "PLAINTEXT state" => lexer.model = Model::PlainText,
            "RCDATA state" => lexer.model = Model::Rcdata(&self.last_start_tag),
            "RAWTEXT state" => lexer.model = Model::RawText(&self.last_start_tag),
            "Script data state" => lexer.model = Model::Script(&self.last_start_tag),
            other => panic!("unknown state {other}"),
        }
        let mut seen = Vec::new();
        while let Some(token) = lexer.next_token::<true>(true).map(Lexed::token) {
            match token {
                Token::Start(start) => {
                    let mut attributes: Vec<(String, String)> = Vec::new();
                    for attribute in start.attributes() {
                        let name = normal(attribute.name);
                        if attributes.iter().all(|(earlier, _)| *earlier != name) {
                            attributes.push((name, attribute.value().into_owned()));
                        }
                    }
                    attributes.sort();
                    let self_closing = start.self_closing;
                    seen.push(Seen::Start { name: normal(start.name), attributes, self_closing });
                }
                Token::End(end) => seen.push(Seen::End(normal(end.name))),
                Token::Text(text) => push_text(&mut seen, &text.decoded()),
            }
        }
        assert_eq!(lexer.owner, Tag::Other);
        seen
    }
}

/// Names are handed out as written; the standard's are in lower case and without NUL.
fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('\0', "\u{FFFD}")
}

fn push_text(seen: &mut Vec<Seen>, text: &str) {
    match seen.last_mut() {
        Some(Seen::Text(last)) => last.push_str(text),
        _ if text.is_empty() => (),
        _ => seen.push(Seen::Text(text.to_owned())),
    }
}

/// Undoes the four-digit escapes of a test that is escaped twice.
fn unescaped(text: &str) -> Option<String> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\u") {
        units.extend(rest[..at].encode_utf16());
        units.push(u16::from_str_radix(rest.get(at + 2..at + 6)?, 16).ok()?);
        rest = &rest[at + 6..];
    }
    units.extend(rest.encode_utf16());
    String::from_utf16(&units).ok()
}
