//! Our one pass against html5ever's tree, on real pages: links, base, title and text must be equal.

mod html_truth;

use std::io::{BufRead, BufReader};

use html_truth::{Truth, truth};
use rhumb_page::html::{PageLimits, read_with_text};
use rhumb_page::url::Url;
use serde_json::Value;

#[test]
fn real_pages_give_the_links_and_text_that_html5ever_gives() {
    let Some(file) = rhumb_given::data("extraction/dev.jsonl.zst") else { return };
    let file = std::fs::File::open(file).unwrap();
    let lines = BufReader::new(zstd::Decoder::new(file).unwrap()).lines();
    let (mut pages, mut links) = (0, 0);
    let mut differences = Vec::new();
    for line in lines {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, html) = (row["id"].as_str().unwrap(), row["html"].as_str().unwrap());
        let url = row["url"].as_str().and_then(|url| Url::parse(url).ok());
        let url = url.unwrap_or_else(|| Url::parse("http://page.test/a/b").unwrap());
        pages += 1;
        let (count, found) = compare(html, &url);
        links += count;
        differences.extend(found.into_iter().map(|found| format!("{id} {found}")));
    }
    println!("{pages} pages, {links} links, {} differences", differences.len());
    for difference in &differences {
        println!("{difference}");
    }
    assert!(differences.is_empty());
}

/// How many links the page has, and how ours differs.
fn compare(html: &str, url: &Url) -> (usize, Vec<String>) {
    let expected = truth(html);
    let (page, text) = read_with_text(html.as_bytes(), Some("utf-8"), url, &PageLimits::default());
    let base = expected.base.as_ref().and_then(|base| url.join(base).ok());
    let expected_links = resolved(&expected, base.as_ref().unwrap_or(url));
    let links: Vec<String> =
        page.links.iter().map(|link| format!("{:?} {}", link.kind, link.url.as_str())).collect();
    let mut differences = Vec::new();
    if page.base != base {
        differences.push(format!("base: {base:?} is {:?}", page.base));
    }
    if let Some(difference) = first_difference(&expected_links, &links) {
        differences.push(format!("links: {difference}"));
    }
    if page.title != expected.title {
        differences.push(format!("title: {:?} is {:?}", expected.title, page.title));
    }
    let shown: String = text.chars().filter(|c| *c > ' ').collect();
    if shown != expected.text {
        let at = shown.bytes().zip(expected.text.bytes()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| {
            let text = &text.as_bytes()[at.saturating_sub(20)..text.len().min(at + 40)];
            String::from_utf8_lossy(text).into_owned()
        };
        differences.push(format!("text: {:?} is {:?}", around(&expected.text), around(&shown)));
    }
    (links.len(), differences)
}

fn resolved(expected: &Truth, base: &Url) -> Vec<String> {
    let mut links = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (kind, reference) in &expected.references {
        let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Ok(url) = base.join(reference)
            && seen.insert(url.as_str().to_owned())
        {
            links.push(format!("{kind} {}", url.as_str()));
        }
    }
    links
}

fn first_difference(expected: &[String], got: &[String]) -> Option<String> {
    let at = expected.iter().zip(got).take_while(|(a, b)| a == b).count();
    (expected.len() > at || got.len() > at).then(|| {
        let (of, is) = (expected.len(), got.len());
        format!("{of} are {is}, from {at}: {:?} is {:?}", expected.get(at), got.get(at))
    })
}
