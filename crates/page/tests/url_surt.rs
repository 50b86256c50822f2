//! SURT keys compared with PyPI `surt`, which cdxj-indexer and pywb use.
//!
//! Our URLs are canonical before they become keys, so both sides are given the canonical text: it
//! is what the WARC record and the CDXJ line hold.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rhumb_page::url::Url;

/// Random URLs asked about, next to the fixed ones.
const GENERATED: usize = 3_000;

const FIXED: &[(&str, &str)] = &[
    ("http://www.example.com/", "com,example)/"),
    ("https://www2.Example.com:443/A/B/?b=2&a=1&B", "com,example)/a/b?a=1&b&b=2"),
    ("http://www.example.com:8080/a//b/", "com,example:8080)/a/b"),
    ("https://www.com/", "com)/"),
    ("http://192.168.1.2/x", "2,1,168,192)/x"),
    ("http://[2001:db8::1]:8080/x", "2001:db8::1:8080)/x"),
    ("ftp://ftp.example.com/pub/", "com,example,ftp)/pub"),
    ("file:///etc/Hosts", "file:/etc/hosts"),
    ("http://a.com/%2525%2541/%2e%2e/b%20c", "com,a)/b%20c"),
    ("http://a.com/(a(0123456789abcdefghijklmn))/p.aspx?q", "com,a)/p.aspx?q"),
    ("http://a.com/(0123456789abcdefghijklmn)/p.aspx", "com,a)/p.aspx"),
    ("http://a.com/?x=1&sid=0123456789abcdef0123456789ABCDEF", "com,a)/?&x=1"),
    ("http://a.com/?jsessionid=0123456789abcdef0123456789abcdef&y", "com,a)/?y"),
    ("http://a.com/?CFID=1&CFTOKEN=2&z=3", "com,a)/?z=3"),
    ("http://bücher.de/ä?ö=ü", "de,xn--bcher-kva)/%c3%a4?%c3%b6=%c3%bc"),
];

#[test]
fn fixed_urls_have_the_keys_that_surt_gives() {
    for (text, key) in FIXED {
        let url = Url::parse(text).expect(text);
        assert_eq!(url.surt().as_str(), *key, "{text}");
    }
}

#[test]
fn keys_are_equal_to_those_of_pypi_surt() {
    let mut urls: Vec<Url> = FIXED.iter().filter_map(|(text, _)| Url::parse(text).ok()).collect();
    urls.extend(generated());
    let theirs = ask_surt(&python(), &urls);
    assert_eq!(theirs.len(), urls.len(), "surt answered for every URL");
    let differing: Vec<String> = urls
        .iter()
        .zip(&theirs)
        .filter(|(url, theirs)| url.surt().as_str() != theirs.as_str())
        .map(|(url, theirs)| format!("{url}\n  ours   {}\n  theirs {theirs}", url.surt()))
        .collect();
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}

fn generated() -> Vec<Url> {
    let texts = "(http|https|ftp)://(www[0-9]?\\.)?[a-c]{1,2}(\\.www|\\.[a-c0-9_]{1,3}){0,2}\\.(com|de)(:[0-9]{2,4})?\
        (/(\\.\\.|[a-cA-C.;=]{0,3}|%[0-9a-fA-F]{2}|%2[5eEfF]|%25[0-9]{2}|\\([A-C]\\([a-z0-9]{24}\\)\\)|[|'\"<>^`{}\\\\]){1,2}){0,4}(\\.aspx)?\
        (\\?([a-cA-C&=%+?/#;:'^|~-]|%[0-9a-fA-F]{2}|&[a-c]{0,2}(sid|PHPSESSID|jsessionid)=[a-f0-9]{32}|cfid=1&cftoken=a){0,8})?";
    let strategy = proptest::string::string_regex(texts).expect("a constant pattern");
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..GENERATED)
        .map(|_| strategy.new_tree(&mut runner).expect("a text").current())
        .filter_map(|text| Url::parse(&text).ok())
        .collect()
}

/// The Python of the workspace's environment, made now if it is not there yet.
fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new(root.join("scripts/python-env")).status().expect("scripts/python-env");
    assert!(made.success(), "scripts/python-env failed: Python's surt is needed for this test");
    root.join(".venv/bin/python")
}

fn ask_surt(python: &Path, urls: &[Url]) -> Vec<String> {
    let program = "import sys, surt\nfor line in sys.stdin: print(surt.surt(line.rstrip('\\n')))";
    let mut child = Command::new(python)
        .args(["-W", "ignore", "-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut input = child.stdin.take().expect("piped");
    let lines: String = urls.iter().map(|url| format!("{url}\n")).collect();
    // On its own thread, since Python answers while it is still being asked.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("Python ends");
    writer.join().expect("no panic").expect("Python reads all");
    assert!(output.status.success(), "surt failed");
    String::from_utf8(output.stdout).expect("ASCII").lines().map(str::to_owned).collect()
}
