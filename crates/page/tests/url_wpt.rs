//! The URL cases of the web platform tests, with what our canonical form changes on purpose.
//!
//! `url_expected_failures.txt` names every case that ends otherwise, with its reason, and the test
//! also fails when one of them passes.

use rhumb_page::url::{Url, UrlError};
use serde_json::Value;

#[test]
fn the_web_platform_cases_end_as_the_standard_says() {
    let Some(file) = rhumb_given::data("url/urltestdata.json") else { return };
    let text = std::fs::read_to_string(file).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).expect("the cases are JSON");
    let expected: Vec<&str> = include_str!("url_expected_failures.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.rsplit_once("  #").expect("a case, two blanks, # and its reason").0.trim())
        .collect();
    let mut judged = 0;
    let mut failed: Vec<String> = Vec::new();
    for case in cases.iter().filter(|case| case.is_object()) {
        judged += 1;
        if let Err(found) = judge(case) {
            let name = name_of(case);
            if !expected.contains(&name.as_str()) {
                println!("{name}  # {found}");
            }
            failed.push(name);
        }
    }
    assert!(judged > 800, "only {judged} cases");
    let surprises: Vec<_> =
        failed.iter().filter(|name| !expected.contains(&name.as_str())).collect();
    assert!(surprises.is_empty(), "failed, though not expected to: {surprises:#?}");
    let passed: Vec<_> =
        expected.iter().filter(|name| !failed.iter().any(|failed| failed == *name)).collect();
    assert!(passed.is_empty(), "passed, so no longer expected failures: {passed:#?}");
}

fn name_of(case: &Value) -> String {
    format!("{} @ {}", case["input"], case["base"])
}

fn judge(case: &Value) -> Result<(), String> {
    let input = case["input"].as_str().expect("an input");
    // A base that is not crawled (data:, about:) never gets here in a crawl: only what does not
    // need it can be resolved.
    let ours = match case["base"].as_str().and_then(|base| Url::parse(base).ok()) {
        Some(base) => base.join(input),
        None => Url::parse(input),
    };
    let failure = case["failure"].as_bool().unwrap_or(false);
    let wanted = if failure { None } else { canonical(case) };
    match (wanted, ours) {
        (None, Err(_)) => Ok(()),
        (None, Ok(url)) => Err(format!("should be refused, is {url}")),
        (Some(text), Ok(url)) if url.as_str() == text => Ok(()),
        (Some(text), Ok(url)) => Err(format!("should be {text}, is {url}")),
        // Refused on purpose: DNS cannot hold the host, or the port is 0.
        (Some(_), Err(UrlError::Host(_))) if !is_dns_host(hostname(case)) => Ok(()),
        (Some(_), Err(_)) if case["port"] == "0" => Ok(()),
        (Some(text), Err(error)) => Err(format!("should be {text}, is refused: {error}")),
    }
}

/// The standard's answer in our form: no userinfo, fragment, empty query or final dot, and
/// percent-escapes normalised. `None` for schemes that are not crawled.
fn canonical(case: &Value) -> Option<String> {
    let part = |name: &str| case[name].as_str().unwrap_or("");
    let scheme = part("protocol");
    if !["http:", "https:", "ftp:", "file:"].contains(&scheme) {
        return None;
    }
    let port = if part("port").is_empty() { String::new() } else { format!(":{}", part("port")) };
    let (path, query) = (part("pathname"), part("search"));
    let (path, query) = match scheme {
        "file:" => (upper_escapes(path), upper_escapes(query)),
        _ => (normal_escapes(path), normal_escapes(query)),
    };
    let query = if query == "?" { String::new() } else { query };
    Some(format!("{scheme}//{}{port}{path}{query}", hostname(case)))
}

fn hostname(case: &Value) -> &str {
    let host = case["hostname"].as_str().unwrap_or("");
    host.strip_suffix('.').unwrap_or(host)
}

fn is_dns_host(host: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    host.starts_with('[')
        || (host.len() <= 253
            && host
                .split('.')
                .all(|label| (1..=63).contains(&label.len()) && label.chars().all(plain)))
}

fn upper_escapes(text: &str) -> String {
    each_escape(text, |digits| format!("%{}", digits.to_ascii_uppercase()))
}

fn normal_escapes(text: &str) -> String {
    each_escape(text, |digits| {
        let byte = u8::from_str_radix(digits, 16).expect("two hex digits") as char;
        if byte.is_ascii_alphanumeric() || "-._~".contains(byte) {
            byte.to_string()
        } else {
            format!("%{}", digits.to_ascii_uppercase())
        }
    })
}

fn each_escape(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match rest.get(1..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(digits) => {
                out.push_str(&change(digits));
                rest = &rest[3..];
            }
            None => {
                out.push('%');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}
