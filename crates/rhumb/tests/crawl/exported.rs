//! `rhumb wacz` and `rhumb export`: what they write is read by other people's tools, and bad input
//! leaves nothing half-written.

use crate::binary;
use crate::site::{Site, report_of};
use crate::traced::can_trace;
use rhumb_sim::web::{Oddities, WebConfig};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Copies and redirects are there; 300 pages over 30 hosts.
fn crawled() -> Site {
    let oddities = Oddities { copies: 20, redirects: 20, ..Oddities::default() };
    let site = Site::serve(WebConfig {
        network: 127,
        oddities,
        latency_us_mean: 2_000,
        ..WebConfig::plain(30, 300)
    });
    report_of(site.crawl(&[]).spawn().unwrap());
    site
}

fn rhumb(verb: &str, dir: &Path, arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).arg(verb).arg(dir).args(arguments).output().unwrap()
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A program of `.venv`.
fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("sh").arg(root.join("scripts/python-env")).status().unwrap();
    assert!(made.success(), "scripts/python-env failed");
    root.join(".venv/bin").join(name)
}

/// What a page of a package says in ReplayWeb.page in a real browser, if these can be had.
fn replayed(package: &Path, url: &str) -> Option<String> {
    /// Node.js is absent, or npm cannot install.
    const ABSENT: i32 = 3;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/replay-wacz");
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-wacz");
    let output = Command::new("sh").arg(script).arg(into).arg(package).arg(url).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(ABSENT) {
        rhumb_given::left_out(said.trim());
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// What `exported.py` says.
fn read_by_others(arguments: &[&Path]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crawl/exported.py");
    let output = Command::new(tool("python")).arg(script).args(arguments).output().unwrap();
    done(&output);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn a_package_is_valid_and_says_how_complete_the_crawl_is() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let package = temporary.path().join("crawl.wacz");
    let key = temporary.path().join("key.pem");
    fs::write(&key, PRIVATE_KEY).unwrap();
    let arguments = ["-o", package.to_str().unwrap(), "--sign", key.to_str().unwrap(), "--json"];
    let output = rhumb("wacz", &dir, &arguments);
    done(&output);
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    let validated =
        Command::new(tool("wacz")).arg("validate").arg("-f").arg(&package).output().unwrap();
    let said = String::from_utf8_lossy(&validated.stdout).into_owned();
    assert!(validated.status.success() && said.contains("is valid"), "{said}");
    let found = read_by_others(&[Path::new("package"), &package]);
    assert_eq!(found["version"], "1.1.1");
    assert_eq!(found["lines"], lines(&dir.join("index.cdxj")));
    assert_eq!(found["lines"], made["captures"]);
    assert_eq!(found["pages"], made["pages"]);
    assert!(found["texts"].as_u64().unwrap() >= 250, "{found}");
    assert!(!found["seeds"].as_array().unwrap().is_empty(), "{found}");
    assert_eq!(found["main"], found["seeds"][0]);
    assert!(found["facts"]["coverage"]["bound"].as_f64().unwrap() > 0.5, "{found}");
    assert_eq!(found["signed"], true);
    if let Some(shown) = replayed(&package, found["main"].as_str().unwrap()) {
        let text = found["main_text"].as_str().unwrap();
        let longest = text.lines().max_by_key(|line| line.len()).unwrap();
        assert!(shown.contains(longest), "{longest}\nis not in\n{shown}");
    }
    let packages = temporary.path().join("packages");
    // No WARC file is divided, so this one is a package of its own.
    let arguments = ["-o", packages.to_str().unwrap(), "--max-size", "1kB"];
    done(&rhumb("wacz", &dir, &arguments));
    let again = read_by_others(&[Path::new("package"), &packages]);
    assert_eq!(again["lines"], found["lines"]);
}

#[test]
fn tables_are_read_by_duckdb_and_pyarrow_and_answer_common_crawls_questions() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let tables = temporary.path().join("tables");
    let output = rhumb("export", &dir, &["--parquet", tables.to_str().unwrap(), "--json"]);
    done(&output);
    let done: Value = serde_json::from_slice(&output.stdout).unwrap();
    let index = dir.join("index.cdxj");
    let found = read_by_others(&[Path::new("tables"), &tables, &index]);
    assert_eq!(found["captures"], lines(&index));
    assert_eq!(found["pages"], done["pages"]);
    for query in ["by_tld", "by_status", "by_mime", "home_pages", "robots"] {
        assert!(found["queries"][query].as_u64().unwrap() > 0, "{query}: {found}");
    }
    let leaders = found["leaders"].as_u64().unwrap();
    assert!(leaders > 100 && found["texts"] == leaders, "each text once: {found}");
    let mass = found["mass"].as_f64().unwrap();
    assert!(mass > 0.3 && mass <= 1.0, "{found}");
    assert!(found["found_on"].as_u64().unwrap() > 200, "{found}");
    assert!(found["linked"].as_u64().unwrap() > 200, "{found}");
    // The same on any number of threads, byte for byte.
    let again = temporary.path().join("again");
    let arguments = ["--parquet", again.to_str().unwrap(), "--threads", "3"];
    let output = rhumb("export", &dir, &arguments);
    assert!(output.status.success());
    for table in ["captures", "pages", "links", "host_links"] {
        let file = format!("{table}/part-00000.parquet");
        assert!(fs::read(tables.join(&file)).unwrap() == fs::read(again.join(&file)).unwrap());
    }
}

#[test]
fn texts_are_written_as_wet_records_and_as_json_lines() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let wet = temporary.path().join("crawl.warc.wet.gz");
    let dolma = temporary.path().join("crawl.jsonl.zst");
    let arguments = ["--wet", wet.to_str().unwrap(), "--dolma", dolma.to_str().unwrap()];
    done(&rhumb("export", &dir, &arguments));
    let output = Command::new(tool("warcio")).args(["check", "-v"]).arg(&wet).output().unwrap();
    done(&output);
    let index = Command::new(tool("warcio"))
        .args(["index", "-f", "warc-type,warc-target-uri,content-length"])
        .arg(&wet)
        .output()
        .unwrap();
    done(&index);
    let index = String::from_utf8(index.stdout).unwrap();
    let rows = zstd::decode_all(fs::File::open(&dolma).unwrap()).unwrap();
    let rows: Vec<Value> = String::from_utf8(rows)
        .unwrap()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert!(rows.len() >= 250, "{} rows", rows.len());
    assert_eq!(index.matches("\"conversion\"").count(), rows.len());
    let keys = ["id", "text", "source", "added", "created", "metadata"];
    assert!(rows.iter().all(|row| keys.iter().all(|key| !row[key].is_null())));
    let (code, error) = refused(&rhumb("export", &dir, &arguments));
    assert!(code == 2 && error.contains("exists already"), "{error}");
}

#[test]
fn a_crawl_is_ranked_and_its_graph_is_written_for_others() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let name = temporary.path().join("links");
    let arguments = ["--trust", "seeds", "--top", "9", "--json", "--export-bv"];
    let arguments = [&arguments[..], &[name.to_str().unwrap()]].concat();
    let output = rhumb("rank", &dir, &arguments);
    done(&output);
    let ranked: Vec<(String, f64)> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ranked.len(), 9);
    assert!(ranked.iter().all(|(url, value)| url.starts_with("http") && *value > 0.0));
    assert!(ranked.is_sorted_by(|one, other| one.1 >= other.1), "{ranked:?}");
    let kept = names(temporary.path());
    assert_eq!(kept, ["links.graph", "links.offsets", "links.properties", "links.urls"]);
    let listed = fs::read_to_string(temporary.path().join("links.urls")).unwrap();
    assert!(ranked.iter().all(|(url, _)| listed.lines().any(|l| l.ends_with(url.as_str()))));
    let output = rhumb("rank", temporary.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
}

/// Exit code and what was said.
fn refused(output: &Output) -> (i32, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    (output.status.code().unwrap_or(-1), said)
}

/// Names in a directory, sorted.
fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| name(e).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn bad_input_of_an_export_is_told_and_leaves_nothing_behind() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let out = temporary.path();
    let wacz = out.join("c.wacz");
    let (wacz, tables) = (wacz.to_str().unwrap(), out.join("tables"));
    let tables = tables.to_str().unwrap();
    let (code, error) = refused(&rhumb("export", &dir, &[]));
    assert!(code == 2 && error.contains("--parquet"), "{error}");
    let (code, error) = refused(&rhumb("wacz", out, &["-o", wacz]));
    assert!(code == 2 && error.contains("warc/"), "{error}");
    fs::write(wacz, "mine").unwrap();
    let (code, error) = refused(&rhumb("wacz", &dir, &["-o", wacz]));
    assert!(code == 2 && error.contains("exists already"), "{error}");
    assert_eq!(fs::read_to_string(wacz).unwrap(), "mine");
    fs::remove_file(wacz).unwrap();
    if can_trace() {
        // A full disk, from some write on.
        for (verb, arguments) in [("wacz", ["-o", wacz]), ("export", ["--parquet", tables])] {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o", "/dev/null", "-P", wacz, "-e", "trace=write"]);
            strace.args(["-e", "inject=write:error=ENOSPC:when=1+", "-P"]);
            strace.arg(format!("{wacz}.part"));
            strace.args(["-P", &format!("{tables}.part/captures/part-00000.parquet")]);
            let output =
                strace.arg(binary::rhumb()).arg(verb).arg(&dir).args(arguments).output().unwrap();
            let (code, error) = refused(&output);
            assert!(code == 1 && error.contains("No space left"), "{verb}: {error}");
            assert_eq!(names(out), Vec::<String>::new(), "{verb}");
        }
    }
    // A torn tail is left out and told, and so is an index that lacks it.
    let warcs = dir.join("warc");
    let last = warcs.join(names(&warcs).pop().unwrap());
    let before = fs::read(&last).unwrap();
    fs::write(&last, [&before[..], &before[..100]].concat()).unwrap();
    let output = rhumb("wacz", &dir, &["-o", wacz]);
    done(&output);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("warning:") && said.contains("100 bytes are left out"), "{said}");
    let found = read_by_others(&[Path::new("package"), Path::new(wacz)]);
    assert_eq!(found["facts"]["gaps"].as_array().unwrap().len(), 1);
    assert_eq!(names(out), ["c.wacz"], "no index of ours is left");
    fs::write(&last, before).unwrap();
    // A crawl that runs holds its state.
    let held = rhumb_state::local::LocalReader::open(&dir.join("state")).unwrap();
    let (code, error) = refused(&rhumb("export", &dir, &["--parquet", tables]));
    assert!(code == 1 && error.contains("a crawl is running on it"), "{error}");
    drop(held);
    assert_eq!(names(out), ["c.wacz"]);
}

/// ECDSA P-384, made for this test.
const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAg1aXfj7HlTQd9pnE/\n\
    YU10GrvqMys5E3hC8I6qMqyCptjL9uKR5FcOqrTZrE24DY+hZANiAAQ2TlXetYAr\n\
    Tzn+8Utn1P3eroops0sgX/9gFQFZ1/8i4HxN06J3U4YF9QVob3saG0qJCMoahKrw\n\
    1hJT5tnzDAqSCrkk3Ex1OG4PXLpCv6vmkceFKjXBVGyJtdf9Z/OqxWY=\n\
    -----END PRIVATE KEY-----\n";
