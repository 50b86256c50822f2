//! `rhumb crawl --index`: an index that is current, also after a kill, and equals one made anew.

use crate::binary;
use crate::documentation;
use crate::scripted::{self, Scripted, not_found};
use crate::site::{Site, report_of};
use rhumb_sim::web::{Oddities, WebConfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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
    let (code, said) = indexing(dir, &[]);
    assert_eq!(code, 0, "{said}");
}

/// Exit code of `rhumb index`, and what it said.
fn indexing(dir: &Path, arguments: &[&str]) -> (i32, String) {
    let mut index = Command::new(binary::rhumb());
    let Output { status, stderr, .. } =
        index.arg("index").arg(dir).args(arguments).output().unwrap();
    (status.code().unwrap_or(-1), String::from_utf8_lossy(&stderr).into_owned())
}

/// A crawl of 20 pages on 2 hosts, without an index.
fn small_crawl() -> Site {
    let site =
        Site::serve(WebConfig { network: 127, latency_us_mean: 2_000, ..WebConfig::plain(2, 20) });
    report_of(site.crawl(&[]).spawn().unwrap());
    site
}

fn only_warc(dir: &Path) -> PathBuf {
    let files: Vec<PathBuf> =
        fs::read_dir(dir.join("warc")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    files[0].clone()
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
fn an_index_that_was_killed_while_it_was_made_is_made_whole_by_the_next() {
    let site = Site::serve(web());
    report_of(site.crawl(&["--index"]).spawn().unwrap());
    let dir = site.crawl_dir();
    let kept = answers(&dir);
    fs::remove_dir_all(dir.join("search")).unwrap();
    let mut child =
        Command::new(binary::rhumb()).arg("index").arg(&dir).stdout(Stdio::null()).spawn().unwrap();
    while dir.join("search/rows").metadata().map_or(0, |data| data.len()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    index(&dir);
    assert_eq!(answers(&dir), kept);
}

#[test]
fn an_archive_with_a_torn_tail_is_indexed_up_to_it_and_the_tear_is_told() {
    let site = small_crawl();
    let dir = site.crawl_dir();
    let warc = only_warc(&dir);
    let whole = fs::read(&warc).unwrap();
    fs::write(&warc, &whole[..whole.len() - 50]).unwrap();
    let (code, said) = indexing(&dir, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("warning:") && said.contains("bytes are not indexed"), "{said}");
    assert!(said.contains(warc.to_str().unwrap()), "{said}");
    assert!(found(&dir, "type:html").len() >= 18);
    // Whole again, what was torn is found, and nothing is told.
    fs::write(&warc, &whole).unwrap();
    let (code, said) = indexing(&dir, &[]);
    assert_eq!((code, said.as_str()), (0, ""));
    let mended = answers(&dir);
    fs::remove_dir_all(dir.join("search")).unwrap();
    index(&dir);
    assert_eq!(answers(&dir), mended);
    // Damage within: what comes before it is found.
    let mut wrong = whole.clone();
    let middle = wrong.len() / 2;
    wrong[middle..middle + 300].fill(0);
    fs::write(&warc, wrong).unwrap();
    fs::remove_dir_all(dir.join("search")).unwrap();
    let (code, said) = indexing(&dir, &[]);
    assert!(code == 0 && said.contains("bytes are not indexed"), "{said}");
    let some = found(&dir, "type:html").len();
    assert!(some > 0 && some < 20, "{some}");
}

#[test]
fn an_index_is_made_where_nothing_else_is_and_goes_on_for_its_own_crawl_alone() {
    let (one, other) = (small_crawl(), small_crawl());
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let to = |out: &Path| ["--out".to_owned(), out.to_str().unwrap().to_owned()];
    let made = |site: &Site, out: &Path| {
        let [flag, out] = to(out);
        indexing(&site.crawl_dir(), &[&flag, &out])
    };
    fs::create_dir(&out).unwrap();
    fs::write(out.join("precious"), "mine").unwrap();
    let (code, said) = made(&one, &out);
    assert!(code == 2 && said.contains("something else than an index (precious)"), "{said}");
    assert_eq!(fs::read_to_string(out.join("precious")).unwrap(), "mine");
    fs::remove_file(out.join("precious")).unwrap();
    // An empty directory is taken, and gone on with.
    assert_eq!(made(&one, &out).0, 0);
    assert_eq!(made(&one, &out).0, 0);
    let kept = answers(&out);
    let (code, said) = made(&other, &out);
    assert!(code == 2 && said.contains("index of something else"), "{said}");
    assert_eq!(answers(&out), kept);
    fs::write(out.join("precious"), "mine").unwrap();
    assert_eq!(made(&other, &out).0, 2);
    assert_eq!(fs::read_to_string(out.join("precious")).unwrap(), "mine");
    // An index of JSON lines is none of a crawl.
    let lines = place.path().join("lines.jsonl");
    fs::write(&lines, "{\"id\": 1, \"text\": \"tide\"}\n").unwrap();
    let corpus = place.path().join("corpus");
    let [flag, corpus_name] = to(&corpus);
    assert_eq!(indexing(&lines, &[&flag, &corpus_name]).0, 0);
    let (code, said) = made(&one, &corpus);
    assert!(code == 2 && said.contains("index of something else"), "{said}");
    assert_eq!(found(&corpus, "tide").len(), 1);
    // A crawl's own directory has the index of its own archive, whatever lies there.
    let own = one.crawl_dir().join("search");
    let [flag, own_name] = to(&own);
    assert_eq!(indexing(&lines, &[&flag, &own_name]).0, 0);
    fs::write(own.join("precious"), "mine").unwrap();
    index(&one.crawl_dir());
    assert_eq!(answers(&one.crawl_dir()), kept);
    assert_eq!(fs::read_to_string(own.join("precious")).unwrap(), "mine");
}

#[test]
fn a_page_is_as_new_as_its_last_visit_and_one_that_became_a_copy_is_not_found() {
    let text = "Tides rise and fall twice a day, drawn by the moon, and by the sun a little. ";
    let tides = format!("<title>Tides</title><p>{}", text.repeat(9));
    let visits = AtomicU32::new(0);
    let site = Scripted::serve(move |asked| match asked.path.as_str() {
        "/" => scripted::html("<title>Start</title><a href=/same>one</a> <a href=/copy>two</a>"),
        "/same" => scripted::html(&tides),
        "/copy" if visits.fetch_add(1, Ordering::SeqCst) == 0 => {
            scripted::html(format!("<title>Almanac</title><p>{}", "The moon is full. ".repeat(30)))
        }
        "/copy" => scripted::html(&tides),
        _ => not_found(),
    });
    let going_on = ["--continuous", "--index", "--budget", "24/8s", "--random-seed", "1"];
    let mut child = site.command(&going_on).spawn().unwrap();
    let times = |path: &str| site.asked().iter().filter(|asked| *asked == path).count();
    while times("/same") < 3 || times("/copy") < 3 {
        assert!(child.try_wait().unwrap().is_none(), "a crawl that goes on does not end");
        std::thread::park_timeout(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    let dir = site.crawl_dir();
    let shown = |dir: &Path| search(dir, &["moon", "--all"])["results"].clone();
    let kept = shown(&dir);
    let [only] = kept.as_array().unwrap().as_slice() else { panic!("one page: {kept}") };
    assert_eq!(only["url"], site.url("/same"), "{kept}");
    let captures = only["captures"].as_array().unwrap();
    assert!(captures.len() >= 2, "{kept}");
    let digits = |text: &Value| {
        let digits = text.as_str().unwrap().chars().filter(char::is_ascii_digit);
        digits.collect::<String>()
    };
    let [first, last] = [&captures[0], &captures[captures.len() - 1]];
    assert_eq!((&first["is_revisit"], &last["is_revisit"]), (&false.into(), &true.into()));
    assert_eq!(digits(&only["fetched"]), digits(&last["timestamp"]), "{kept}");
    let mut told = Command::new(binary::rhumb());
    let told = told.arg("search").arg(&dir).arg("moon").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let copy = format!("copy {} in warc/", digits(&first["timestamp"]));
    let others = format!("; {} other capture", captures.len() - 1);
    assert!(told.contains(&copy) && told.contains(&others), "{told}");
    fs::remove_dir_all(dir.join("search")).unwrap();
    index(&dir);
    assert_eq!(shown(&dir), kept);
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

/// Pages of the Python documentation by those of their headings of a level that no other page has.
fn headings_of(tree: &Path, level: &str) -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (open, close) = (format!("<{level}>"), format!("</{level}>"));
    for folder in ["library", "howto", "tutorial", "reference", "faq", "using"] {
        for entry in fs::read_dir(tree.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Ok(html) = fs::read_to_string(&path) else { continue };
            let name = format!("/{folder}/{}", path.file_name().unwrap().to_string_lossy());
            for after in html.split(&open).skip(1) {
                let inner = after.split(&close).next().unwrap_or_default();
                // The sign that links a heading to itself is no part of it.
                let inner = inner.split("<a class=\"headerlink\"").next().unwrap_or_default();
                let text: String = inner
                    .split('<')
                    .map(|part| part.rsplit_once('>').map_or(part, |(_, text)| text))
                    .collect();
                pages.entry(text.trim().to_lowercase()).or_default().push(name.clone());
            }
        }
    }
    let own = pages.into_iter().filter(|(heading, pages)| {
        // Entities and numbers alone say nothing here.
        pages.len() == 1 && !heading.contains('&') && heading.split(' ').count() > 1
    });
    own.map(|(heading, mut pages)| (heading, pages.remove(0))).collect()
}

/// Of headings, the share whose page is among the first so many results.
fn share_found(dir: &Path, headings: &BTreeMap<String, String>, first: usize) -> f64 {
    let queries: String = headings
        .iter()
        .map(|(heading, page)| format!("{}\n", json!({"id": page, "query": heading})))
        .collect();
    let file = dir.with_file_name("queries.jsonl");
    fs::write(&file, queries).unwrap();
    let mut search = Command::new(binary::rhumb());
    search.arg("search").arg(dir).args(["--limit", &first.to_string(), "--batch"]).arg(&file);
    let output = search.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    let is_found = |line: &&str| {
        let answer: Value = serde_json::from_str(line).unwrap();
        let page = answer["id"].as_str().unwrap().to_owned();
        let results = answer["results"].as_array().unwrap().clone();
        results.iter().any(|result| result["id"].as_str().unwrap().ends_with(&page))
    };
    assert_eq!(answers.lines().count(), headings.len());
    answers.lines().filter(is_found).count() as f64 / headings.len() as f64
}

#[test]
fn a_documentation_tree_is_found_by_its_own_headings() {
    let Some((dir, _temporary)) = documentation::crawled("python", &["--index"]) else { return };
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let tree = rhumb_given::debian_docs(build, "python").expect("it was crawled");
    let [titles, sections] = ["h1", "h2"].map(|level| headings_of(&tree, level));
    assert!(titles.len() > 200 && sections.len() > 500, "{} {}", titles.len(), sections.len());
    let first = share_found(&dir, &titles, 1);
    let some = share_found(&dir, &sections, 5);
    println!("{} titles: {first:.3} first; {} sections: {some:.3}", titles.len(), sections.len());
    assert!(first >= 0.8, "of titles, {first:.3} have their page first");
    assert!(some >= 0.8, "of sections, {some:.3} have their page among five");
}
