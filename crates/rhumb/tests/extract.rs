//! `rhumb extract` as a user meets it.

mod binary;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

const PAGE: &str = "<html><head><title>Tides | The Daily</title></head><body><nav><ul>\
    <li><a href=/n>News</a></li><li><a href=/s>Sport</a></li><li><a href=/w>Weather</a></li></ul>\
    </nav><main><article><h1>Tides</h1><p>The sea rises and falls twice a day, drawn by the moon \
    and a little by the <a href=/sun>sun</a>, as sailors have known for long.</p><p>In narrow bays \
    the water piles up, and the difference may be fifteen metres or more, as in Fundy.</p>\
    </article></main><footer><a href=/i>Imprint</a> <a href=/p>Privacy</a></footer></body></html>";

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

#[test]
fn a_page_is_printed_as_text_markdown_or_json() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("page.html");
    std::fs::write(&path, PAGE).expect("written");
    let path = path.to_str().expect("a name");
    let (code, text, _) = rhumb(&["extract", path], b"");
    assert_eq!(code, 0);
    assert!(text.contains("drawn by the moon") && !text.contains("Weather"), "{text}");
    let with = ["extract", path, "--url", "https://d.test/a", "--format", "markdown"];
    let (_, markdown, _) = rhumb(&with, b"");
    assert!(markdown.contains("[sun](https://d.test/sun)"), "{markdown}");
    let (_, json, _) = rhumb(&["extract", "-", "--json", "--all"], PAGE.as_bytes());
    let row: Value = serde_json::from_str(&json).expect("one JSON value");
    assert_eq!(row["title"], "Tides");
    // Forty words and no word of its maker's: too little to call it an article.
    assert_eq!(row["kind"], "other");
    assert!(row["all"].as_str().expect("all").contains("Weather"));
    assert_eq!(row["metadata"]["title"]["source"], "text");
}

#[test]
fn every_line_of_a_corpus_is_answered_in_its_place() {
    let page = |id: u64| {
        let html = PAGE.replace("Tides", &format!("Tides {id}"));
        serde_json::json!({ "id": id, "html": html, "url": "https://d.test/a" }).to_string()
    };
    let mut lines: Vec<String> = (0..50).map(page).collect();
    lines.insert(7, "{broken".to_owned());
    lines.insert(9, "{\"id\":\"x\"}".to_owned());
    let input = lines.join("\n");
    let (code, out, _) = rhumb(&["extract", "-", "--threads", "3"], input.as_bytes());
    assert_eq!(code, 0);
    let rows: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 52);
    assert!(rows[7]["error"].is_string() && rows[7]["text"] == "");
    assert!(rows[9]["error"].is_string() && rows[9]["id"] == "x");
    assert_eq!(rows[51]["id"], 49);
    assert_eq!(rows[51]["title"], "Tides 49");
    assert!(rows[51]["us"].is_u64());
}

/// A page alone cannot tell a line about the house from the article; those of its site can.
#[test]
fn what_recurs_on_a_site_counts_for_less() {
    let about = "<p>The Daily Tide is made by sailors for sailors, printed on the quay every morning \
        since 1902, and read by all who wait for high water, in every harbour of the coast.</p>";
    let page = |n: u64| {
        let words: Vec<String> =
            (0..60).map(|w| format!("w{}", (n * 977 + w * 31) % 5_003)).collect();
        let html =
            format!("<body><div><h1>Day {n}</h1><p>{}, as told.</p>{about}</div>", words.join(" "));
        serde_json::json!({ "id": n, "html": html, "url": format!("https://d.test/{n}") })
    };
    let input: String = (0..6).map(|n| format!("{}\n", page(n))).collect();
    let last_says = |arguments: &[&str]| {
        let arguments = [&["extract", "-", "--threads", "2"], arguments].concat();
        let (_, out, _) = rhumb(&arguments, input.as_bytes());
        let last: Value = serde_json::from_str(out.lines().last().expect("a row")).expect("JSON");
        let text = last["text"].as_str().expect("text").to_owned();
        (text.contains("as told"), text.contains("The Daily Tide"))
    };
    assert_eq!(last_says(&[]), (true, true));
    assert_eq!(last_says(&["--templates"]), (true, false));
}

#[test]
fn a_hostile_pdf_ends_in_a_process_of_its_own() {
    let (code, out, _) = rhumb(&["extract", "-", "--json"], b"%PDF-1.7\nnothing of use");
    assert_eq!(code, 1);
    let read: Value = serde_json::from_str(&out).expect("one JSON value");
    assert!(!read["oddities"].as_array().expect("oddities").is_empty(), "{out}");
}

#[test]
fn wrong_usage_is_one_line() {
    for arguments in
        [&["extract"][..], &["extract", "no-such-file.html"], &["extract", "-", "--threads", "0"]]
    {
        let (code, out, error) = rhumb(arguments, b"");
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
    }
}

/// The committed table has seen these pages: this shows only that the path is whole, from a
/// compressed corpus to rows. How good it is on pages it has not seen, `train_extract` tells.
#[test]
fn real_pages_have_a_main_text_nearly_always() {
    let Some(pages) = rhumb_given::data("extraction/dev.jsonl.zst") else { return };
    let pages = pages.display().to_string();
    let (code, out, _) = rhumb(&["extract", &pages, "--threads", "2"], b"");
    assert_eq!(code, 0);
    let rows: Vec<Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let empty = rows.iter().filter(|row| row["text"] == "").count();
    assert!(rows.len() > 900 && empty * 200 < rows.len(), "{empty} of {} are empty", rows.len());
    assert!(rows.iter().all(|row| row["error"].is_null()));
}

/// A page without an address has no address in what is printed of it.
#[test]
fn links_of_a_page_without_url_are_printed_as_written() {
    let page = PAGE.replace("<head>", "<head><link rel=canonical href=/tides>");
    let (_, markdown, _) = rhumb(&["extract", "-", "--format", "markdown"], page.as_bytes());
    assert!(markdown.contains("[sun](/sun)"), "{markdown}");
    let (_, json, _) = rhumb(&["extract", "-", "--json", "--all"], page.as_bytes());
    assert!(!json.contains("page.invalid"), "{json}");
    let row: Value = serde_json::from_str(&json).expect("one JSON value");
    assert_eq!(row["canonical"], "/tides");
}

#[test]
fn a_language_is_named_alike_whether_declared_or_detected() {
    let declared = PAGE.replace("<html>", "<html lang=eng>");
    let nonsense = PAGE.replace("<html>", "<html lang=English>");
    for page in [PAGE, &declared, &nonsense] {
        let (_, json, _) = rhumb(&["extract", "-", "--json"], page.as_bytes());
        let row: Value = serde_json::from_str(&json).expect("one JSON value");
        assert_eq!(row["language"], "en", "{json}");
    }
}

/// Real pages: each page of a command of SQL says how it is written.
#[test]
fn the_synopses_of_postgresql_are_not_lost() {
    let build = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(tree) = rhumb_given::debian_docs(build, "postgresql") else { return };
    let (mut input, mut synopses) = (String::new(), Vec::new());
    for entry in std::fs::read_dir(tree).expect("a tree") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.starts_with("sql-") || !name.ends_with(".html") {
            continue;
        }
        let html = std::fs::read_to_string(&path).expect("a page");
        let synopsis = html.split_once("<pre class=\"synopsis\">");
        let Some((synopsis, _)) = synopsis.and_then(|(_, rest)| rest.split_once("</pre>")) else {
            continue;
        };
        synopses.push((name.clone(), words_of(synopsis)));
        let line = serde_json::json!({ "id": name, "html": html, "url": "https://pg.test/" });
        input.push_str(&format!("{line}\n"));
    }
    assert!(synopses.len() > 150, "{} pages are not the manual", synopses.len());
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("pages.jsonl");
    std::fs::write(&path, input).expect("written");
    let (code, out, _) = rhumb(&["extract", path.to_str().expect("a name")], b"");
    assert_eq!(code, 0);
    let lost: Vec<&String> = out
        .lines()
        .zip(&synopses)
        .filter(|(line, (name, synopsis))| {
            let row: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(row["id"], **name);
            !words_of(row["text"].as_str().expect("text")).contains(synopsis.as_str())
        })
        .map(|(_, (name, _))| name)
        .collect();
    assert!(lost.is_empty(), "{} of {} synopses lost: {lost:?}", lost.len(), synopses.len());
}

/// The words of a text or of simple markup, with nothing between them.
fn words_of(markup: &str) -> String {
    let mut words = String::new();
    let mut in_tag = false;
    for c in markup.replace("&lt;", "\u{1}").replace("&gt;", "\u{2}").chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            '\u{1}' => words.push('<'),
            '\u{2}' => words.push('>'),
            c if !in_tag && !c.is_whitespace() => words.push(c),
            _ => (),
        }
    }
    words.replace("&amp;", "&").replace("&quot;", "\"")
}
