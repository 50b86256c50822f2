//! Which pages need scripts: shells as the builds of frameworks leave them, and real pages, which
//! need none.

use std::fs;
use std::path::{Path, PathBuf};

use rhumb_extract::{ExtractOptions, PageWanted, Told, extract, read_wanted};
use rhumb_page::html::PageLimits;
use rhumb_page::url::Url;

fn told(body: &[u8], wanted: &PageWanted<'_>) -> Told {
    let url = Url::parse("https://tides.test/harbours/index").unwrap();
    read_wanted(body, None, &url, &PageLimits::default(), wanted)
}

fn is_scripted(body: &[u8]) -> bool {
    told(body, &PageWanted { scripts: true, ..PageWanted::default() }).scripts.is_scripted
}

/// Files below a directory whose names end so.
fn files(dir: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        // Links among directories may lead in circles.
        if entry.file_type().unwrap().is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|it| it == ending) && path.is_file() {
            found.push(path);
        }
    }
}

fn shells() -> Vec<PathBuf> {
    let mut shells = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shells"), "html", &mut shells);
    shells
}

#[test]
fn the_shells_of_eight_frameworks_need_scripts_whatever_else_is_asked_of_them() {
    assert_eq!(shells().len(), 8);
    let options = ExtractOptions::default();
    let ways = [
        PageWanted { own_text: true, ..PageWanted::default() },
        PageWanted { fingerprint: true, ..PageWanted::default() },
        PageWanted { main_text: true, ..PageWanted::default() },
        PageWanted {
            own_text: true,
            extracted: Some(options),
            anchors: true,
            ..PageWanted::default()
        },
        PageWanted { requisites_max: Some(9), ..PageWanted::default() },
    ];
    for shell in shells() {
        let body = fs::read(&shell).unwrap();
        for way in ways {
            let told = told(&body, &PageWanted { scripts: true, ..way });
            assert!(told.scripts.is_scripted, "{}, asked for {way:?}", shell.display());
            assert_eq!(told.scripts.links, [], "{}", shell.display());
        }
    }
}

#[test]
fn no_page_of_the_apache_manual_needs_scripts() {
    of_tree("apache", 500);
}

#[test]
fn no_page_of_the_python_documentation_needs_scripts() {
    of_tree("python", 500);
}

#[test]
fn no_page_of_the_postgresql_documentation_needs_scripts() {
    of_tree("postgresql", 1_000);
}

#[test]
fn no_page_of_the_git_documentation_needs_scripts() {
    of_tree("git", 200);
}

fn of_tree(name: &str, pages_min: usize) {
    let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(tree) = rhumb_given::debian_docs(build, name) else { return };
    let mut pages = Vec::new();
    files(&tree, "html", &mut pages);
    assert!(pages.len() >= pages_min, "{} pages of {name} are not the whole tree", pages.len());
    let scripted: Vec<&PathBuf> =
        pages.iter().filter(|page| is_scripted(&fs::read(page).unwrap())).collect();
    assert!(scripted.is_empty(), "{scripted:?} of {} pages", pages.len());
}

#[test]
fn of_937_real_pages_of_eight_kinds_none_is_taken_for_a_shell_or_read_by_its_state() {
    let Some(data) = rhumb_given::data("extraction/dev.jsonl.zst") else { return };
    let rows = zstd::decode_all(fs::File::open(data).unwrap()).unwrap();
    let (mut pages, mut scripted, mut by_state) = (0, Vec::new(), Vec::new());
    for line in rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let row: serde_json::Value = serde_json::from_slice(line).unwrap();
        let html = row["html"].as_str().unwrap();
        let url = Url::parse("https://tides.test/").unwrap();
        let found = extract(html, &url, &ExtractOptions::default());
        pages += 1;
        if found.is_scripted {
            scripted.push(row["id"].to_string());
        }
        if found.method == rhumb_extract::Method::EmbeddedState {
            by_state.push(row["id"].to_string());
        }
    }
    println!("{pages} pages; scripted: {scripted:?}; by their state: {by_state:?}");
    assert_eq!(pages, 937);
    // These have all of their text in markup, some of them within `noscript`.
    assert!(scripted.is_empty() && by_state.is_empty(), "{scripted:?} {by_state:?}");
}

/// A page of Next.js whose text its scripts would have made of the data beside it.
#[test]
fn prose_of_embedded_state_is_the_main_text_and_its_links_are_found() {
    let prose = "The tide comes in twice a day, and the tables say when and how high. ".repeat(8);
    let state = serde_json::json!({"props": {"pageProps": {
        "article": {"title": "Tides of the harbour", "body": format!("<p>{prose}</p><p>See <a \
            href='/harbours/north'>the northern harbour</a>.</p>")},
        "related": [{"href": "/harbours/south"}, {"href": "https://elsewhere.test/"}],
    }}, "page": "/harbours/[name]"});
    let shell =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shells/next.html"));
    let (head, rest) = shell.as_ref().unwrap().split_once("type=\"application/json\">").unwrap();
    let (_, tail) = rest.split_once("</script>").unwrap();
    // As frameworks write it, so that no end tag ends the script.
    let state = state.to_string().replace('<', "\\u003c");
    let html = format!("{head}type=\"application/json\">{state}</script>{tail}");
    let extracted = Some(ExtractOptions { markdown: true, ..ExtractOptions::default() });
    let wanted = PageWanted { scripts: true, main_text: true, extracted, ..PageWanted::default() };
    let told = told(html.as_bytes(), &wanted);
    let found = told.extracted.unwrap();
    assert!(found.main.contains("The tide comes in twice a day") && !found.main.contains('<'));
    assert_eq!(found.method, rhumb_extract::Method::EmbeddedState);
    assert_eq!(told.main_text.unwrap().text, found.main);
    assert!(!found.is_scripted && !told.scripts.is_scripted);
    let links: Vec<&str> = told.scripts.links.iter().map(Url::as_str).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    for link in ["https://tides.test/harbours/north", "https://tides.test/harbours/south"] {
        assert!(links.contains(&link), "{links:?}");
    }
}
