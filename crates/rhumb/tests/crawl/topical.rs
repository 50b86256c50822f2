//! `rhumb crawl --topic`: pages of the topic first, and how much of it is covered for certain.

use crate::binary;
use crate::scripted::Scripted;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TIDES: usize = 8;
const DULL: usize = 60;
const FILLER: &str = "Long words about nothing in particular follow each other without an end. ";

fn page(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// A start page, dull pages that it names first, and pages about tides, each behind the last one:
/// all but the first are reached through a page that says little.
fn site() -> Scripted {
    Scripted::serve(|asked| {
        let path = asked.path.as_str();
        let number = || path.rsplit('/').next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        let dull = |n: usize| format!("<a href=/dull/{n}>Something else {n}</a> ");
        if path == "/robots.txt" {
            return b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n".to_vec();
        }
        let filler = FILLER.repeat(8);
        if path.starts_with("/tide/") {
            let text =
                format!("The tides rise and fall: spring tide, neap tide. {filler}").repeat(3);
            let next = match number() + 1 {
                last if last >= TIDES => String::new(),
                next => format!("<a href=/via/{next}>More on the tide</a>"),
            };
            return page(&format!("<title>Tides</title><p>{text}</p>{next}{}", dull(number())));
        }
        if path.starts_with("/via/") {
            return page(&format!("<p>{filler}<a href=/tide/{}>Tides, part two</a>", number()));
        }
        if path.starts_with("/dull/") {
            return page(&format!(
                "<title>Dull</title><p>{filler} No {path}.{}",
                dull(number() + 1)
            ));
        }
        let all: String = (0..DULL).map(dull).collect();
        page(&format!("<title>Start</title><p>{filler}{all}<a href=/tide/0>The tides</a>"))
    })
}

fn crawl(site: &Scripted, dir: &Path, flags: &[&str]) -> Output {
    let root = format!("http://127.0.0.1:{}/", site.port);
    let mut crawl = Command::new(binary::rhumb());
    crawl.args(["crawl", &root, "--allow-private", "--delay", "1ms", "--delay-factor", "0"]);
    // One after the other, so that it is the order that is seen; texts are nearly the same.
    let each = if flags.contains(&"--partitions") { "2" } else { "1" };
    crawl.args(["--concurrency", each, "--near-duplicates", "off", "--lift-traps", "all"]);
    crawl.args(["--max-depth", "200", "--json", "--dir"]).arg(dir);
    crawl.args(flags).output().unwrap()
}

fn report(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON value")
}

#[test]
fn the_topic_comes_first_and_what_is_proven_of_it_grows_to_nearly_all() {
    let site = site();
    let dir = site.dir.path().join("crawl");
    let first = ["--topic", "words:tide,spring tide,neap tide", "--max-pages", "24"];
    let begun = report(&crawl(&site, &dir, &first));
    assert_eq!(begun["order"], "focused");
    assert_eq!(begun["coverage"], Value::Null, "the books are those of the topic");
    let topic = |report: &Value, name: &str| report["topic"][name].as_f64().expect("a number");
    assert!(topic(&begun, "relevant_pages") >= 4.0, "{}", begun["topic"]);
    let by_depth = [&first[..], &["--order", "bfs"]].concat();
    let other = report(&crawl(&site, &site.dir.path().join("by depth"), &by_depth));
    assert_eq!(topic(&other, "relevant_pages"), 0.0, "dull pages are named first");
    let bound = topic(&begun, "bound");
    assert!(bound > 0.1 && bound < 1.0, "{bound}");
    // Without flags it goes on with the same topic.
    let ended = report(&crawl(&site, &dir, &["--max-pages", "none"]));
    assert_eq!(ended["stopped_because"], "finished");
    assert_eq!(topic(&ended, "relevant_pages"), TIDES as f64);
    assert!(topic(&ended, "bound") > 0.99, "{}", ended["topic"]);
    assert_eq!(exported_topics(&dir), TIDES, "the tables know what is of the topic");
    let status = Command::new(binary::rhumb()).arg("status").arg(&dir).output().unwrap();
    let shown = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(shown.contains("of the topic; 8 relevant pages"), "{shown}");
    let other = crawl(&site, &dir, &["--topic", "words:moon"]);
    assert_eq!(other.status.code(), Some(2));
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(said.contains("another topic needs another --dir"), "{said}");
}

/// Pages of the table `pages` that are more of the topic than not.
fn exported_topics(dir: &Path) -> usize {
    let tables = dir.with_file_name("tables");
    let mut export = Command::new(binary::rhumb());
    let made = export.arg("export").arg(dir).arg("--parquet").arg(&tables).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let venv = Command::new("sh").arg(root.join("scripts/python-env")).status().unwrap();
    assert!(venv.success(), "scripts/python-env failed");
    let counts = "import duckdb, sys; print(duckdb.sql(f\"SELECT count(*) FROM \
        '{sys.argv[1]}/pages/*.parquet' WHERE topic > .5\").fetchall()[0][0])";
    let mut python = Command::new(root.join(".venv/bin/python"));
    let counted = python.args(["-c", counts]).arg(&tables).output().unwrap();
    let text = String::from_utf8_lossy(&counted.stdout).into_owned();
    text.trim().parse().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&counted.stderr)))
}

#[test]
fn a_page_by_its_address_is_an_example() {
    let site = site();
    let (dir, others) = (site.dir.path().join("crawl"), site.dir.path().join("others"));
    fs::create_dir(&others).unwrap();
    for n in 0..20 {
        let text = format!("A text of something else with words enough to tell {n}. ").repeat(8);
        fs::write(others.join(n.to_string()), format!("{text}{}", FILLER.repeat(n + 1))).unwrap();
    }
    let like = format!("like:http://127.0.0.1:{}/tide/3", site.port);
    let against = others.to_str().unwrap();
    let flags = ["--topic", &like, "--topic-against", against, "--max-pages", "30"];
    let found = report(&crawl(&site, &dir, &flags));
    assert!(found["topic"]["relevant_pages"].as_u64() >= Some(4), "{}", found["topic"]);
    let gone = like.replace("127.0.0.1", "127.0.0.2");
    let other = site.dir.path().join("other");
    let refused = crawl(&site, &other, &["--topic", &gone, "--topic-against", against]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("like:http://127.0.0.2"), "{said}");
    assert!(!other.join("crawl.toml").exists());
}

#[test]
fn a_bound_on_the_topic_ends_a_crawl_and_hard_focus_leaves_out_what_dull_pages_link_to() {
    let site = site();
    let dir = site.dir.path().join("covered");
    let topic = "words:tide,spring tide,neap tide";
    let covered = report(&crawl(&site, &dir, &["--topic", topic, "--coverage", "0.3"]));
    assert_eq!(covered["stopped_because"], "coverage");
    assert!(covered["topic"]["bound"].as_f64() >= Some(0.3));
    assert!(covered["pages"].as_u64() < Some(DULL as u64), "{}", covered["pages"]);
    let dir = site.dir.path().join("hard");
    let hard = report(&crawl(&site, &dir, &["--topic", topic, "--topic-min", "0.5"]));
    assert_eq!(hard["stopped_because"], "finished");
    assert_eq!(hard["topic"]["relevant_pages"], 1, "the others stand behind dull pages");
    assert!(hard["topic"]["lost"]["unfollowed"].as_f64() > Some(0.0), "{}", hard["topic"]);
}

#[test]
fn a_topic_that_says_nothing_is_refused_with_what_to_do() {
    let site = site();
    let dir = site.dir.path().join("crawl");
    let garbage = site.dir.path().join("garbage");
    fs::write(&garbage, b"\x7fELF\0\0").unwrap();
    let model = format!("model:{}", garbage.display());
    let like = format!("like:{}", garbage.display());
    for (flags, says) in [
        (&["--topic", "tides"][..], "words:"),
        (&["--topic", "words:"][..], "no word"),
        (&["--topic", "regex:("][..], "regex"),
        (&["--topic", &model][..], "rhumb topic train"),
        (&["--topic", &like][..], "no example has any text"),
        (&["--order", "focused"][..], "need a --topic"),
        (&["--topic-min", "0.5"][..], "without --topic"),
        (&["--topic", "words:tide", "--topic-min", "7"][..], "0 to 1"),
    ] {
        let output = crawl(&site, &dir, flags);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{flags:?}");
        assert!(said.contains(says), "{flags:?}: {said}");
        assert!(!dir.join("crawl.toml").exists(), "{flags:?}: nothing was begun");
    }
    // A word that no page has: told, and the crawl works.
    let rare = crawl(&site, &dir, &["--topic", "words:xylograph", "--max-pages", "5"]);
    assert_eq!(report(&rare)["topic"]["relevant_pages"], 0);
    assert!(String::from_utf8_lossy(&rare.stderr).contains("one word"));
}

#[test]
fn seeds_that_are_all_off_topic_are_told_with_what_to_do_and_crawled() {
    let site = site();
    let dir = site.dir.path().join("crawl");
    let off = crawl(&site, &dir, &["--topic", "words:volcano, lava, magma", "--max-pages", "8"]);
    let found = report(&off);
    assert_eq!((&found["pages"], &found["topic"]["relevant_pages"]), (&8.into(), &0.into()));
    let said = String::from_utf8_lossy(&off.stderr).into_owned();
    assert!(said.contains("none of 8 pages is of the topic: name seeds that are"), "{said}");
    let of_topic = site.dir.path().join("tides");
    let on = crawl(&site, &of_topic, &["--topic", "words:tide, spring tide", "--max-pages", "8"]);
    let said = String::from_utf8_lossy(&on.stderr).into_owned();
    assert!(on.status.success() && !said.contains("is of the topic"), "{said}");
}

#[test]
fn two_topics_are_joined_by_or_and_divided_or_not_the_crawl_speaks_of_both() {
    let site = site();
    for partitions in ["1", "2"] {
        // A single host belongs to one of them.
        let dir = site.dir.path().join(partitions);
        let topics = ["--topic", "words:xylograph, woodcut", "--topic", "regex:neap tides?"];
        let found =
            report(&crawl(&site, &dir, &[&topics[..], &["--partitions", partitions]].concat()));
        let topic = &found["topic"];
        assert_eq!(topic["relevant_pages"], TIDES as u64, "{topic}");
        let (bound, estimate) = (topic["bound"].as_f64(), topic["estimate"].as_f64());
        assert!(bound > Some(0.9) && estimate >= bound, "in {partitions} parts: {topic}");
        let mut covered = Command::new(binary::rhumb());
        let covered = covered.arg("coverage").arg(&dir).output().unwrap();
        let shown = String::from_utf8_lossy(&covered.stdout).into_owned();
        assert!(shown.contains("of the topic") && shown.contains("8 relevant pages"), "{shown}");
    }
}

#[test]
fn words_of_links_count_as_much_where_the_crawl_keeps_an_index_as_where_it_does_not() {
    let site = site();
    let topic = ["--topic", "words:tide, spring tide, neap tide", "--max-pages", "24"];
    let bound = |more: &[&str], name: &str| {
        let dir = site.dir.path().join(name);
        report(&crawl(&site, &dir, &[&topic[..], more].concat()))["topic"]["bound"].as_f64()
    };
    let [indexed, plain] =
        [bound(&["--index"], "indexed"), bound(&[], "plain")].map(|bound| bound.unwrap());
    // What is asked for first depends on when answers come.
    assert!((indexed - plain).abs() < 0.03, "{indexed} and {plain}");
}
