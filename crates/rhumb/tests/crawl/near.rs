//! Near-duplicates through the whole crawler, over real sockets.

use crate::binary;
use crate::server::{Pages, Server};
use crate::site::assert_tools_accept;
use rhumb_archive::RecordReader;
use rhumb_engine::record::{RecordStatus, UrlRecord};
use rhumb_page::url::Url;
use rhumb_state::local::LocalReader;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

/// Where the pages are served.
fn serve(pages: Pages) -> SocketAddr {
    Server::of(pages).address
}

/// A site's page: all of them have the same surroundings, and some have them in elements that say
/// nothing of what they are for.
fn page(title: &str, main: &str, has_elements: bool) -> String {
    let links: String = (0..40)
        .map(|n| format!("<li><a href=\"/s{n}\">Section {n} of the Daily Bugle</a></li>"))
        .collect();
    let menu = format!("<a href=/>The Daily Bugle, all the news of the day</a><ul>{links}</ul>");
    let legal = "The Daily Bugle and its owners reserve all rights";
    let (top, bottom) = match has_elements {
        true => (
            format!("<header>{legal}<nav>{menu}</nav></header>"),
            format!("<footer>{}</footer>", [legal; 9].join(". ")),
        ),
        false => (format!("<div>{menu}</div>"), format!("<div>{legal}</div>")),
    };
    format!("<!doctype html><title>{title}</title><body>{top}<main>{main}</main>{bottom}")
}

/// So many words, different for every subject.
fn words(subject: u64, count: u64) -> String {
    let word = |n: u64| format!("w{:x} ", (subject * 7_919 + n).wrapping_mul(0x9e37_79b9) % 9_973);
    (0..count).map(word).collect()
}

fn crawl(seeds: &[String], dir: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "--scope", "host", "--allow-private", "--json"])
        .args(["--delay", "0s", "--delay-factor", "0", "--dir"])
        .arg(dir)
        .args(seeds)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report")
}

fn records(dir: &Path) -> BTreeMap<Url, UrlRecord> {
    let reader = LocalReader::open(&dir.join("state")).unwrap();
    let rows = reader.urls().map(|row| row.unwrap());
    rows.map(|(key, record)| (key.url(), record)).collect()
}

/// Bodies of the metadata records, and the URLs of responses.
fn archived(dir: &Path) -> (Vec<(String, String)>, BTreeSet<String>) {
    let (mut metadata, mut responses) = (Vec::new(), BTreeSet::new());
    for entry in fs::read_dir(dir.join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
            let record = record.expect("a whole record");
            let url = record.target().unwrap_or_default().to_owned();
            match record.kind() {
                "metadata" => {
                    metadata.push((url, String::from_utf8_lossy(&record.block).into_owned()));
                }
                "response" => assert!(responses.insert(url), "kept twice"),
                _ => {}
            }
        }
    }
    (metadata, responses)
}

/// 20 articles of one site, the first ten again with another date and a link more, and one of them
/// as it was.
fn daily_bugle() -> Pages {
    let article = |n: u64, date: &str| {
        let main = format!("<h1>Article {n}</h1><p>{date}<p>{}", words(n, 150));
        page("The Daily Bugle", &main, n.is_multiple_of(2))
    };
    let mut pages = Pages::new();
    for n in 0..20 {
        pages.insert(format!("/{n}"), article(n, "Monday, 3 March 2025"));
    }
    for n in 0..10 {
        let date = format!("<a href=/only/{n}>Friday</a>, 21 November 2025");
        pages.insert(format!("/again/{n}"), article(n, &date));
    }
    pages.insert("/copy".to_owned(), pages["/3"].clone());
    let mut links: Vec<String> = pages.keys().cloned().collect();
    // The articles come first: `/` lists them, `/later` what repeats them.
    links.retain(|path| path[1..].parse::<u64>().is_ok());
    links.push("/later".to_owned());
    pages.insert("/".to_owned(), list(&links));
    let again: Vec<String> =
        (0..10).map(|n| format!("/again/{n}")).chain(["/copy".into()]).collect();
    pages.insert("/later".to_owned(), list(&again));
    pages
}

fn list(paths: &[String]) -> String {
    paths.iter().map(|path| format!("<p><a href=\"{path}\">{path}</a>")).collect()
}

#[test]
fn a_shared_template_makes_no_near_duplicates_and_another_date_does() {
    let site = serve(daily_bugle());
    let dir = tempfile::tempdir().unwrap();
    let report = crawl(&[format!("http://{site}/")], dir.path(), &["--order", "bfs"]);
    assert_eq!(
        (&report["near_duplicates"], &report["exact_duplicates"]),
        (&10.into(), &1.into()),
        "{report}"
    );
    let records = records(dir.path());
    for n in 0..20 {
        let url = |path: String| -> Url { format!("http://{site}{path}").parse().unwrap() };
        let first = &records[&url(format!("/{n}"))];
        assert_eq!(first.past.near, None, "only the template is shared");
        let Some(again) = records.get(&url(format!("/again/{n}"))) else { continue };
        let near = again.past.near.as_ref().expect("only the date differs");
        assert_eq!(near.url, url(format!("/{n}")));
        assert!(near.resemblance() >= 0.8, "{}", near.resemblance());
    }
    assert_eq!(only_linked_by_members(&records), 10, "links of near-duplicates are followed");
    let (metadata, responses) = archived(dir.path());
    let noted = metadata.iter().filter(|(_, text)| text.contains("nearDuplicateOf: http://"));
    assert_eq!(noted.count(), 10);
    assert!(metadata.iter().all(|(_, text)| text.contains("hopsFromSeed: ")), "{metadata:?}");
    assert!(responses.contains(&format!("http://{site}/again/1")), "kept by default");
    assert_tools_accept(dir.path());

    let url = format!("http://{site}/again/4");
    let status = Command::new(binary::rhumb())
        .args(["status", "--json", "--url", &url])
        .arg(dir.path())
        .output()
        .unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["near_duplicate_of"], format!("http://{site}/4"), "{status}");
    assert!(status["resemblance"].as_f64().is_some_and(|r| r >= 0.8), "{status}");
}

#[test]
fn skipped_near_duplicates_are_recorded_not_archived_and_not_followed() {
    let site = serve(daily_bugle());
    let dir = tempfile::tempdir().unwrap();
    let seed = format!("http://{site}/");
    let asked = ["--near-duplicates", "skip", "--follow-near-duplicates=false"];
    let report = crawl(&[seed], dir.path(), &[&["--order", "bfs"], &asked[..]].concat());
    assert_eq!(report["near_duplicates"], 10, "{report}");
    let (_, responses) = archived(dir.path());
    let again = responses.iter().filter(|url| url.contains("/again/")).count();
    assert_eq!(again, 0, "{responses:?}");
    let records = records(dir.path());
    assert_eq!(records.values().filter(|record| record.past.near.is_some()).count(), 10);
    assert_eq!(only_linked_by_members(&records), 0, "their links are not followed");
}

fn only_linked_by_members(records: &BTreeMap<Url, UrlRecord>) -> usize {
    let visited = |(url, record): &(&Url, &UrlRecord)| {
        url.path().starts_with("/only/") && record.status == RecordStatus::Gone
    };
    records.iter().filter(visited).count()
}

const HOSTS: usize = 8;
/// Pages of the shared corpus that are served; a variable of this name has more of them served.
const PAGES: &str = "RHUMB_TEST_NEAR_PAGES";
const PAGES_DEFAULT: usize = 3_000;
const NEAR: f64 = 0.8;

#[test]
fn nearly_all_pages_with_an_earlier_near_duplicate_are_caught() {
    let Some(data) = rhumb_given::data("neardup") else { return };
    let max = std::env::var(PAGES).ok().and_then(|text| text.parse().ok());
    let (truth, chosen) = chosen(&data.join("d1_truth.tsv.zst"), max.unwrap_or(PAGES_DEFAULT));
    let mut sites: Vec<Pages> = vec![Pages::new(); HOSTS];
    for line in BufReader::new(unpacked(&data.join("d1.jsonl.zst"))).lines() {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, text) = (row["id"].as_u64().unwrap(), row["text"].as_str().unwrap());
        if chosen.contains(&id) {
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let main = text.lines().map(|line| format!("<p>{line}")).collect::<String>();
            sites[id as usize % HOSTS].insert(format!("/{id}"), page("A page", &main, true));
        }
    }
    for pages in &mut sites {
        let links: Vec<String> = pages.keys().cloned().collect();
        pages.insert("/".to_owned(), list(&links));
    }
    let seeds: Vec<String> = sites.into_iter().map(|s| format!("http://{}/", serve(s))).collect();
    let dir = tempfile::tempdir().unwrap();
    let report = crawl(&seeds, dir.path(), &["--exclude", "/s[0-9]+$"]);
    let found = Found::of(&truth, &records(dir.path()));
    println!("{found:?} {report}");
    assert_eq!(found.pages, chosen.len());
    assert!(found.caught * 100 >= found.catchable * 95, "{found:?}");
    assert!(found.below * 100 <= found.near * 4, "{found:?}");
    assert!(found.far * 1000 <= found.near, "{found:?}");
}

/// What the crawl found, held against the truth.
#[derive(Debug, Default)]
struct Found {
    pages: usize,
    /// Pages with a near-duplicate that was fetched before them.
    catchable: usize,
    caught: usize,
    /// Pages said to be near-duplicates, bytes not equal.
    near: usize,
    /// Of these, those whose leader is less alike than the threshold, and much less.
    below: usize,
    far: usize,
}

type Truth = BTreeMap<u64, BTreeMap<u64, f64>>;

impl Found {
    fn of(truth: &Truth, records: &BTreeMap<Url, UrlRecord>) -> Found {
        let id = |url: &Url| url.path()[1..].parse::<u64>().ok();
        let by_id: BTreeMap<u64, &UrlRecord> = records
            .iter()
            .filter(|(_, record)| record.past.visits > 0)
            .filter_map(|(url, record)| Some((id(url)?, record)))
            .collect();
        let none = BTreeMap::new();
        let mut found = Found { pages: by_id.len(), ..Found::default() };
        for (page, record) in &by_id {
            let alike = truth.get(page).unwrap_or(&none);
            let is_earlier = |other: &u64| {
                by_id.get(other).is_some_and(|o| o.past.visited < record.past.visited)
            };
            if alike.iter().any(|(other, j)| *j >= NEAR && is_earlier(other)) {
                found.catchable += 1;
                let is_caught = record.past.near.is_some() || record.past.duplicate_of.is_some();
                found.caught += usize::from(is_caught);
            }
            if let Some(leader) = record.past.near.as_ref().and_then(|near| id(&near.url)) {
                let truly = alike.get(&leader).copied().unwrap_or(0.0);
                found.near += 1;
                found.below += usize::from(truly < NEAR);
                found.far += usize::from(truly < NEAR - 0.1);
            }
        }
        found
    }
}

/// Who resembles whom, both ways, and the pages to serve: those of the first pairs.
fn chosen(path: &Path, max: usize) -> (Truth, BTreeSet<u64>) {
    let (mut truth, mut chosen) = (Truth::new(), BTreeSet::new());
    for line in BufReader::new(unpacked(path)).lines() {
        let line = line.unwrap();
        let mut fields = line.split('\t');
        let mut id = || fields.next().and_then(|field| field.parse().ok()).expect("a number");
        let (a, b): (u64, u64) = (id(), id());
        let j: f64 = fields.next().and_then(|field| field.parse().ok()).expect("a resemblance");
        truth.entry(a).or_default().insert(b, j);
        truth.entry(b).or_default().insert(a, j);
        if chosen.len() + 2 <= max {
            chosen.extend([a, b]);
        }
    }
    (truth, chosen)
}

fn unpacked(path: &Path) -> impl Read {
    let packed = fs::File::open(path).unwrap();
    let mut decoder = zstd::stream::read::Decoder::new(packed).unwrap();
    decoder.window_log_max(27).unwrap();
    decoder
}
