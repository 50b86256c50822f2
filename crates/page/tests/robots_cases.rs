//! The public robots.txt cases: the suites of Google, Protego, reppy and texting_robots.
//!
//! Each case has the answer of its suite and that of Google's own parser, our reference where
//! suites disagree. A crawl reads as Google reads, but decodes escapes of unreserved characters
//! first; by the letter of RFC 9309 more differs. Where an answer is not Google's, a list beside
//! this file has the case and the reason; the test also fails when a listed case passes.

use rhumb_page::robots::{Robots, RobotsReading};
use serde_json::Value;

#[test]
fn as_a_crawl_reads_the_cases_end_as_with_google_but_for_escaped_unreserved_characters() {
    check(RobotsReading::Google, include_str!("robots_expected_differences.txt"));
}

#[test]
fn read_by_the_rfc_the_cases_differ_only_where_it_says_so() {
    check(RobotsReading::Rfc, include_str!("robots_expected_failures.txt"));
}

/// Compares with a list of the cases that end otherwise than with Google, each with its reason.
fn check(reading: RobotsReading, list: &str) {
    let Some(cases) = cases() else {
        return;
    };
    let expected: Vec<&str> = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once("  #").expect("a case, two blanks, # and its reason").0.trim())
        .collect();
    let failed = failures(&cases, reading);
    let failed: Vec<&str> = failed.iter().map(String::as_str).collect();
    let surprises: Vec<_> = failed.iter().filter(|name| !expected.contains(name)).collect();
    assert!(surprises.is_empty(), "failed, though not expected to: {surprises:#?}");
    let passed: Vec<_> = expected.iter().filter(|name| !failed.contains(name)).collect();
    assert!(passed.is_empty(), "passed, so no longer expected failures: {passed:#?}");
}

/// The numbers and URLs of the cases that do not end as Google's parser says.
fn failures(cases: &[Value], reading: RobotsReading) -> Vec<String> {
    cases
        .iter()
        .filter(|case| {
            let robots = Robots::parse_as(&body(case), text(case, "agent"), reading);
            let allowed = robots.verdict_of_text(text(case, "url")).allowed;
            Some(allowed) != case["google_reference_allowed"].as_bool()
        })
        .map(|case| {
            let url: String = text(case, "url").chars().take(60).collect();
            format!("{} {} {url}", case["id"], text(case, "agent"))
        })
        .collect()
}

fn cases() -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(rhumb_given::data("robots/cases.json")?).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    assert_eq!(cases.len(), 859);
    Some(cases)
}

fn body(case: &Value) -> Vec<u8> {
    match case["robots_hex"].as_str() {
        None => text(case, "robots").as_bytes().to_vec(),
        Some(hex) => (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex digits"))
            .collect(),
    }
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().expect(name)
}
