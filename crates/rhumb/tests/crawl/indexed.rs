//! `rhumb crawl --index`: an index that is current, also after a kill, and equals one made anew.

use crate::binary;
use crate::documentation;
use crate::scripted::Scripted;
use crate::site::{Site, report_of};
use rhumb_sim::web::{Oddities, WebConfig};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// 300 pages over 30 hosts, with copies and redirects.
fn web() -> WebConfig {
    let oddities = Oddities { copies: 20, redirects: 20, ..Oddities::default() };
    WebConfig { network: 127, oddities, latency_us_mean: 2_000, ..WebConfig::plain(30, 300) }
}

/// What a query finds: ids, sorted, with all near-duplicates.
fn found(dir: &Path, query: &str) -> BTreeSet<String> {
    let answer = search(dir, &[query, "--all", "--limit", "1000"]);
    let results = answer["results"].as_array().expect("results");
    results.iter().map(|shown| shown["id"].as_str().expect("an id").to_owned()).collect()
}

fn search(dir: &Path, arguments: &[&str]) -> Value {
    let mut search = Command::new(binary::rhumb());
    let output = search.arg("search").arg(dir).args(arguments).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

fn index(dir: &Path) {
    let output = Command::new(binary::rhumb()).arg("index").arg(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// All pages, and those of some queries.
fn answers(dir: &Path) -> Vec<BTreeSet<String>> {
    ["type:html", "host", "page", "inurl:1", "\"the\" OR \"a\""].map(|q| found(dir, q)).to_vec()
}

#[test]
fn a_killed_crawl_goes_on_with_its_index_which_equals_one_made_anew() {
    let site = Site::serve(web());
    let dir = site.crawl_dir();
    for answers in [120, 240] {
        let mut child = site.crawl(&["--index"]).spawn().unwrap();
        while site.served.answers() < answers {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    report_of(site.crawl(&["--index"]).spawn().unwrap());
    let kept = answers(&dir);
    assert!(kept[0].len() >= 250, "{} pages are found", kept[0].len());
    fs::remove_dir_all(dir.join("search")).unwrap();
    index(&dir);
    assert_eq!(answers(&dir), kept);
    // Once more changes nothing.
    index(&dir);
    assert_eq!(answers(&dir), kept);
}

#[test]
fn pages_are_found_by_what_links_call_them_and_not_if_they_ask_for_it() {
    let html = |text: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{text}")
    };
    let filler = "Long words about nothing in particular follow each other here without an end. ";
    let site = Scripted::serve(move |asked| {
        let filler = filler.repeat(8);
        let page = match asked.path.as_str() {
            "/robots.txt" => "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n".to_owned(),
            "/" => html(&format!(
                "<title>Start</title><p>{filler}<a href=/moon>lunar almanac</a> and \
                 <a href=/hidden>a secret</a> and <a href=/head>another</a>"
            )),
            "/moon" => html(&format!("<title>Page</title><p>Moon. {filler}<a href=/>zenith</a>")),
            "/hidden" => html(&format!("<meta name=robots content=noindex><p>Treasure {filler}")),
            _ => html(&format!("<p>Gold {filler}")).replacen(
                "Connection",
                "X-Robots-Tag: noindex\r\nConnection",
                1,
            ),
        };
        page.into_bytes()
    });
    let dir = site.dir.path().join("crawl");
    let root = format!("http://127.0.0.1:{}/", site.port);
    let mut crawl = Command::new(binary::rhumb());
    crawl.args(["crawl", &root, "--index", "--allow-private", "--delay", "1ms", "--delay-factor"]);
    let output = crawl.args(["0", "--dir"]).arg(&dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ids = |query| found(&dir, query).into_iter().collect::<Vec<_>>();
    assert_eq!(ids("\"lunar almanac\" -start"), [format!("{root}moon")]);
    assert_eq!(ids("zenith -page"), std::slice::from_ref(&root), "a name that came after the page");
    assert_eq!(ids("treasure"), Vec::<String>::new());
    assert_eq!(ids("gold"), Vec::<String>::new());
    assert_eq!(ids("moon"), [format!("{root}moon")]);
}

#[test]
fn a_documentation_tree_is_found_by_its_own_headings() {
    let Some((dir, _temporary)) = documentation::crawled("python", &["--index"]) else { return };
    let mut asked = 0;
    let mut found_first = 0;
    for query in HEADINGS {
        let answer = search(&dir, &[query, "--limit", "5"]);
        let results = answer["results"].as_array().expect("results");
        assert!(results.len() <= 5 && !results.is_empty(), "{query}");
        let words: Vec<String> = query.to_lowercase().split(' ').map(str::to_owned).collect();
        let holds = |shown: &Value| {
            let title = shown["title"].as_str().unwrap_or_default().to_lowercase();
            let snippet = shown["snippet"].as_str().unwrap_or_default().to_lowercase();
            words.iter().all(|word| title.contains(word) || snippet.contains(word))
        };
        asked += 1;
        found_first += usize::from(results.iter().any(holds));
    }
    assert!(found_first * 10 >= asked * 9, "{found_first} of {asked} headings are found");
}

/// Headings of pages of the Python documentation.
const HEADINGS: [&str; 10] = [
    "Defining Functions",
    "Regular expression operations",
    "Heap queue algorithm",
    "Descriptor Guide",
    "Logging Cookbook",
    "Sorting Techniques",
    "Abstract Base Classes",
    "Unicode HOWTO",
    "Argument Clinic",
    "Virtual Environments and Packages",
];
