//! `rhumb index` and `rhumb search` as a user meets them.

mod binary;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn rhumb(arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = Command::new(binary::rhumb())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // A verb that refuses its arguments reads nothing.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn lines(rows: &[Value]) -> Vec<u8> {
    rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
}

/// An index of rows, in a directory of its own.
fn indexed(rows: &[Value]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("index");
    let (code, _, errors) = rhumb(&["index", "-", "--out", name(&out)], &lines(rows));
    assert_eq!(code, 0, "{errors}");
    (dir, out)
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a name")
}

fn rows() -> Vec<Value> {
    let text = "The moon draws the sea, and spring tides are the highest of the month. ".repeat(9);
    vec![
        json!({"id": "a", "url": "https://a.org/tides", "title": "Tides", "text": text}),
        json!({"id": "b", "url": "https://b.org/tides", "title": "Tides", "text": format!("{text}Copied.")}),
        json!({"id": 3, "url": "https://c.org/", "html": "<title>Hills</title><h1>Hills</h1><p>There is \
            no water on these hills, and the way up is long and steep for whoever walks it."}),
    ]
}

#[test]
fn lines_are_indexed_and_searched() {
    let (_dir, index) = indexed(&rows());
    let (code, out, _) = rhumb(&["search", name(&index), "spring", "tide", "--json"], b"");
    assert_eq!(code, 0);
    let answer: Value = serde_json::from_str(&out).expect("one JSON value");
    assert_eq!(
        (&answer["total"], &answer["understood"]),
        (&json!(2), &json!("words spring, tide"))
    );
    let results = answer["results"].as_array().expect("results");
    assert_eq!(results.len(), 1, "{answer}");
    assert_eq!((&results[0]["id"], &results[0]["omitted"]), (&json!("a"), &json!(1)));
    assert!(results[0]["snippet"].as_str().expect("a snippet").contains("spring tides"));
    let (_, out, _) = rhumb(&["search", name(&index), "tide", "--all", "--json"], b"");
    let all: Value = serde_json::from_str(&out).expect("one JSON value");
    assert_eq!(all["results"].as_array().expect("results").len(), 2);
    let (_, text, _) = rhumb(&["search", name(&index), "tide", "--explain", "--unfold"], b"");
    assert!(text.contains("and 1 nearly the same") && text.contains("= bm25"), "{text}");
    assert!(text.contains("https://b.org/tides  + copied"), "{text}");
    let (_, text, _) = rhumb(&["search", name(&index), "steep intitle:hills -water"], b"");
    assert!(text.starts_with("words steep; hills in the title; without water: 0 pages"), "{text}");
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let (_dir, index) = indexed(&rows());
    let queries =
        b"{\"id\": 1, \"query\": \"hills\"}\n{\"id\": \"x\", \"query\": \"nowhere\"}\n\n{bad\n";
    let (code, out, _) = rhumb(&["search", name(&index), "--batch", "-", "--limit", "5"], queries);
    let answers: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
    assert_eq!(code, 1, "a line that is none");
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["results"][0]["id"], "3");
    assert!(answers[0]["results"][0]["score"].as_f64().expect("a score") > 0.0);
    assert_eq!((&answers[1]["id"], &answers[1]["results"]), (&json!("x"), &json!([])));
    assert!(answers[2]["error"].is_string());
}

#[test]
fn bad_input_is_named_and_nothing_is_lost() {
    let mut rows = rows();
    rows.push(json!({"id": "a", "url": "https://a.org/", "text": "An id twice."}));
    rows.push(json!({"text": "no id"}));
    rows.push(json!({"id": "empty", "text": ""}));
    let dir = tempfile::tempdir().expect("a directory");
    let index = dir.path().join("index");
    let (code, out, errors) =
        rhumb(&["index", "-", "--out", name(&index), "--json"], &lines(&rows));
    assert_eq!(code, 0, "{errors}");
    let report: Value = serde_json::from_str(&out).expect("one JSON value");
    assert_eq!(report["pages"], 4);
    assert_eq!((&report["replaced"], &report["skipped"]), (&json!(1), &json!(1)));
    assert!(errors.contains("line 5: no id") && errors.contains("more than once"), "{errors}");
    // A long query is understood as far as its limit.
    let long = "tide ".repeat(100_000);
    let query = lines(&[json!({"id": 1, "query": long})]);
    let (code, out, _) = rhumb(&["search", name(&index), "--batch", "-"], &query);
    assert!(code == 0 && out.contains("\"b\""), "{out}");
    for query in ["-", "OR", "\"", "site:", "-tide"] {
        assert_eq!(rhumb(&["search", name(&index), query], b"").0, 0, "{query}");
    }
    // What is there stays as it is if a new index cannot be made.
    let (code, _, errors) = rhumb(&["index", "/nowhere", "--out", name(&index)], b"");
    assert_eq!(code, 2, "{errors}");
    let other = dir.path().join("other");
    fs::create_dir(&other).expect("a directory");
    fs::write(other.join("file"), "mine").expect("written");
    let (code, _, errors) = rhumb(&["index", "-", "--out", name(&other)], b"");
    assert!(code == 2 && errors.contains("something else"), "{errors}");
    let (code, _, errors) = rhumb(&["search", name(&other), "x"], b"");
    assert!(code == 1 && errors.contains("no search index"), "{errors}");
    let (code, _, errors) = rhumb(&["index", name(&other)], b"");
    assert!(code == 1 && errors.contains("no crawl's directory"), "{errors}");
    fs::write(index.join("version"), "7\n").expect("written");
    let (code, _, errors) = rhumb(&["search", name(&index), "x"], b"");
    assert!(code == 1 && errors.contains("format 7"), "{errors}");
}

/// Directories that an earlier version took for its own.
#[test]
fn what_lies_beside_an_index_stays_and_what_a_killed_run_left_does_not() {
    let (dir, out) = indexed(&rows());
    let mine = ["index.old", "index.new"].map(|name| dir.path().join(name));
    for path in &mine {
        fs::create_dir(path).expect("made");
        fs::write(path.join("mine"), "mine").expect("written");
    }
    let again = || rhumb(&["index", "-", "--out", name(&out)], &lines(&rows()[..1]));
    assert_eq!(again().0, 0);
    for path in &mine {
        assert_eq!(fs::read_to_string(path.join("mine")).expect("kept"), "mine");
    }
    // Hidden names are ours, but not what somebody else has put there.
    for hidden in [".index.new", ".index.old"] {
        let hidden = dir.path().join(hidden);
        fs::create_dir(&hidden).expect("made");
        fs::write(hidden.join("mine"), "mine").expect("written");
        let (code, _, errors) = again();
        assert!(code == 1 && errors.contains("something else than an index (mine)"), "{errors}");
        assert_eq!(fs::read_to_string(hidden.join("mine")).expect("kept"), "mine");
        fs::remove_dir_all(&hidden).expect("removed");
    }
    fs::write(out.join("mine"), "mine").expect("written");
    let (code, _, errors) = again();
    assert!(code == 2 && errors.contains("something else than an index (mine)"), "{errors}");
    fs::remove_file(out.join("mine")).expect("removed");
    // Killed in the midst: the index that was there answers, and the next run makes a new one.
    let mut child = Command::new(binary::rhumb())
        .args(["index", "-", "--out", name(&out)])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let unfinished = dir.path().join(".index.new/rows");
    while unfinished.metadata().map_or(0, |data| data.len()) == 0 {
        input.write_all(&lines(&rows())).expect("it reads");
    }
    let (code, _, errors) = again();
    assert!(code == 1 && errors.contains("another process is making this index"), "{errors}");
    child.kill().expect("killed");
    child.wait().expect("ended");
    let pages = || rhumb(&["search", name(&out), "type:html OR tide", "--all"], b"").1;
    assert!(pages().contains(": 1 page\n"), "{}", pages());
    let (code, _, errors) = rhumb(&["index", "-", "--out", name(&out)], &lines(&rows()));
    assert_eq!(code, 0, "{errors}");
    assert!(pages().contains(": 3 pages\n"), "{}", pages());
    let hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let left = fs::read_dir(dir.path()).expect("listed").flatten().filter(hidden).count();
    assert_eq!(left, 0, "nothing of ours is left");
}
