//! `rhumb wacz` and `rhumb export`: what they write is read by other people's tools, and bad input
//! leaves nothing half-written.

use crate::binary;
use crate::scripted::{self, Scripted, answer, not_found};
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
    validate(&package);
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

fn validate(package: &Path) {
    let validated =
        Command::new(tool("wacz")).arg("validate").arg("-f").arg(package).output().unwrap();
    let said = String::from_utf8_lossy(&validated.stdout).into_owned();
    assert!(validated.status.success() && said.contains("is valid"), "{said}");
}

/// Divides the only WARC file of a crawl into two, between two captures.
fn divide_warc(dir: &Path) {
    let warcs = dir.join("warc");
    let only = warcs.join(&names(&warcs)[0]);
    let bytes = fs::read(&only).unwrap();
    let records = rhumb_archive::RecordReader::open(&only).unwrap().map(Result::unwrap);
    let mut responses = records.filter(|record| record.kind() == "response");
    let middle = responses.find(|record| record.offset > bytes.len() as u64 / 2).unwrap();
    let (first, second) = bytes.split_at(middle.offset as usize);
    fs::write(warcs.join("divided-00001.warc.gz"), first).unwrap();
    fs::write(warcs.join("divided-00002.warc.gz"), second).unwrap();
    fs::remove_file(only).unwrap();
}

#[test]
fn packages_of_a_divided_crawl_and_one_with_a_large_index_are_valid() {
    let site = crawled();
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let captures = lines(&dir.join("index.cdxj")) as u64;
    // As if the index were beyond its limit.
    let package = temporary.path().join("zipnum.wacz");
    let source = rhumb_export::source::CrawlSource::open(&dir, &package).unwrap();
    let job = rhumb_export::wacz::WaczJob {
        output: package.clone(),
        size_max: u64::MAX,
        plain_index_bytes_max: 1_000,
        threads: 1,
        title: None,
        signer: None,
        created: "2026-05-01T10:00:00Z".to_owned(),
        facts: Value::Null,
    };
    rhumb_export::wacz::write(&source, &job).unwrap();
    drop(source);
    validate(&package);
    let found = read_by_others(&[Path::new("package"), &package]);
    let named: Vec<&str> =
        found["names"].as_array().unwrap().iter().flat_map(|n| n.as_str()).collect();
    assert!(named.contains(&"indexes/index.idx") && !named.contains(&"indexes/index.cdxj"));
    assert_eq!(found["lines"], captures);
    if let Some(shown) = replayed(&package, found["main"].as_str().unwrap()) {
        let text = found["main_text"].as_str().unwrap();
        let longest = text.lines().max_by_key(|line| line.len()).unwrap();
        assert!(shown.contains(longest), "{longest}\nis not in\n{shown}");
    }
    divide_warc(&dir);
    let packages = temporary.path().join("packages");
    let arguments = ["-o", packages.to_str().unwrap(), "--max-size", "1kB"];
    done(&rhumb("wacz", &dir, &arguments));
    let parts = ["crawl-00001.wacz", "crawl-00002.wacz"];
    assert_eq!(names(&packages), [parts[0], parts[1], "datapackage.json"]);
    let description = fs::read(packages.join("datapackage.json")).unwrap();
    let description: Value = serde_json::from_slice(&description).unwrap();
    assert_eq!(
        (&description["profile"], &description["title"]),
        (&"multi-wacz-package".into(), &"crawl".into())
    );
    let mut of_all = 0;
    for (part, resource) in parts.iter().zip(description["resources"].as_array().unwrap()) {
        let path = packages.join(part);
        validate(&path);
        assert_eq!(
            (&resource["path"], &resource["bytes"]),
            (&(*part).into(), &path.metadata().unwrap().len().into())
        );
        of_all += read_by_others(&[Path::new("package"), &path])["lines"].as_u64().unwrap();
    }
    assert_eq!(of_all, captures);
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
    assert!(found["domains"].as_u64().unwrap() > 10, "{found}");
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
fn columns_say_what_pages_and_the_crawl_say_and_pages_without_text_are_counted() {
    let text = "The tides rise and fall twice a day: spring tide and neap tide, by the moon. ";
    let tides = text.repeat(12);
    let site = Scripted::serve(move |asked| match asked.path.as_str() {
        "/robots.txt" => answer(
            "200 OK",
            &[("Content-Type", "text/plain")],
            "User-agent: *\nDisallow: /secret\nAllow: /tides\n",
        ),
        "/" => scripted::html(
            "<html lang=en><title>Start</title><a href=/tides>All about <b>tides</b></a> \
             <a href=/near>nearly that</a> <a href=/reserved></a> \
             <a href=/empty>nothing</a> <a rel=nofollow href=/secret>a secret</a>",
        ),
        "/tides" => scripted::html(format!("<title>Tides</title><p>{tides}")),
        "/near" => scripted::html(format!("<title>Tides</title><p>{tides} Copied.")),
        "/reserved" => answer(
            "200 OK",
            &[("Content-Type", "text/html"), ("TDM-Reservation", "1")],
            "<title>Gold</title><p>".to_owned() + &"Gold is a metal, and rare. ".repeat(12),
        ),
        "/empty" => scripted::html("<title></title><script>1</script>"),
        _ => not_found(),
    });
    site.crawl(&[]);
    let tables = site.dir.path().join("tables");
    let arguments = ["--parquet", tables.to_str().unwrap(), "--json"];
    let output = rhumb("export", &site.crawl_dir(), &arguments);
    done(&output);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["without_text"], 1, "{told}");
    let found = read_by_others(&[Path::new("columns"), &tables]);
    let of = |table: &str, name: &str| found[table][name].clone();
    let [tides, near] = ["/tides", "/near"].map(|path| of("captures", path));
    assert_eq!((&tides["robots_line"], &near["robots_line"]), (&3.into(), &Value::Null), "{found}");
    assert_eq!((&tides["depth"], &tides["found_on"]), (&1.into(), &site.url("/").into()));
    assert_eq!(tides["content_languages"], "eng", "{found}");
    assert_eq!(tides["change_rate"], Value::Null, "it was visited once: {found}");
    // Whichever came first leads.
    let alike: Vec<f64> =
        [&tides, &near].iter().filter_map(|capture| capture["similarity"].as_f64()).collect();
    assert!(matches!(alike[..], [one] if one > 0.8 && one < 1.0), "{found}");
    let [tides, near] = ["/tides", "/near"].map(|path| of("pages", path));
    let leads = |page: &Value| page["is_leader"] == true && page["duplicate_of"].is_null();
    assert_eq!([&tides, &near].iter().filter(|page| leads(page)).count(), 1, "{found}");
    assert_eq!(tides["topic"], Value::Null, "the crawl has none: {found}");
    let reserved = |path: &str| of("pages", path)["tdm_reserved"].clone();
    assert_eq!((reserved("/reserved"), reserved("/tides")), (true.into(), false.into()));
    assert!(found["pages"]["/empty"].is_null() && !found["captures"]["/empty"].is_null());
    let link = |path: &str| {
        let link = of("links", path);
        (link["anchor"].clone(), link["rel"].clone(), link["position"].clone())
    };
    assert_eq!(link("/tides"), ("All about tides".into(), Value::Null, 0.into()));
    assert_eq!(link("/near"), ("nearly that".into(), Value::Null, 1.into()));
    assert_eq!(link("/reserved").0, Value::Null);
    assert_eq!(link("/secret"), (Value::Null, "nofollow".into(), 4.into()));
}

#[test]
fn a_crawl_of_several_partitions_is_exported_and_packed_whole() {
    let site =
        Site::serve(WebConfig { network: 127, latency_us_mean: 2_000, ..WebConfig::plain(6, 60) });
    report_of(site.crawl(&["--partitions", "2"]).spawn().unwrap());
    let (dir, temporary) = (site.crawl_dir(), tempfile::tempdir().unwrap());
    let captures = lines(&dir.join("index.cdxj"));
    let tables = temporary.path().join("tables");
    done(&rhumb("export", &dir, &["--parquet", tables.to_str().unwrap()]));
    let found = read_by_others(&[Path::new("tables"), &tables, &dir.join("index.cdxj")]);
    assert_eq!(found["captures"], captures);
    assert!(found["found_on"].as_u64().unwrap() > 30, "{found}");
    let package = temporary.path().join("crawl.wacz");
    done(&rhumb("wacz", &dir, &["-o", package.to_str().unwrap()]));
    validate(&package);
    assert_eq!(read_by_others(&[Path::new("package"), &package])["lines"], captures);
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
    let held = rhumb_state::local::LocalReader::open(&dir.join("state")).unwrap();
    let (code, error) = refused(&rhumb("rank", &dir, &[]));
    assert!(code == 1 && error.contains("in use by another rhumb"), "{error}");
    drop(held);
    // What exists is not replaced, whichever of the files it is.
    for (option, place, kept) in [
        ("--export-bv", "other", "other.graph"),
        ("--export-bv", "other", "other.urls"),
        ("--export-bv", "other", "other.part"),
        ("--save", "saved", "saved"),
        ("--save", "saved", "saved.part"),
    ] {
        let (place, kept) = (temporary.path().join(place), temporary.path().join(kept));
        fs::write(&kept, "mine").unwrap();
        let (code, error) = refused(&rhumb("rank", &dir, &[option, place.to_str().unwrap()]));
        assert!(code == 2 && error.contains(kept.to_str().unwrap()), "{error}");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "mine");
        fs::remove_file(&kept).unwrap();
    }
    assert_eq!(names(temporary.path()).len(), 4);
    let saved = temporary.path().join("saved");
    done(&rhumb("rank", &dir, &["--save", saved.to_str().unwrap()]));
    let mut mapped = Command::new(binary::rhumb());
    done(&mapped.args(["rank", "--graph"]).arg(&saved).output().unwrap());
    assert_eq!(names(temporary.path()).len(), 5);
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
        let (wet, dolma) = (out.join("c.wet.gz"), out.join("c.jsonl"));
        let [wet, dolma] = [&wet, &dolma].map(|path| path.to_str().unwrap());
        for (verb, arguments) in [
            ("wacz", ["-o", wacz]),
            ("export", ["--parquet", tables]),
            ("export", ["--wet", wet]),
            ("export", ["--dolma", dolma]),
        ] {
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o", "/dev/null", "-P", wacz, "-e", "trace=write"]);
            strace.args(["-e", "inject=write:error=ENOSPC:when=1+", "-P"]);
            strace.arg(format!("{wacz}.part/out"));
            strace.args(["-P", &format!("{tables}.part/out/captures/part-00000.parquet")]);
            strace.args(["-P", &format!("{wet}.part/out"), "-P", &format!("{dolma}.part/out")]);
            let output =
                strace.arg(binary::rhumb()).arg(verb).arg(&dir).args(arguments).output().unwrap();
            let (code, error) = refused(&output);
            assert!(code == 1 && error.contains("No space left"), "{verb}: {error}");
            assert_eq!(names(out), Vec::<String>::new(), "{verb}");
        }
    }
    // One file by two names is asked for twice.
    let roundabout = out.join("..").join(out.file_name().unwrap()).join("c.gz");
    let names_of_one = [out.join("c.gz"), roundabout];
    let names_of_one = names_of_one.map(|path| path.to_str().unwrap().to_owned());
    let [one, other] = &names_of_one;
    let (code, error) = refused(&rhumb("export", &dir, &["--wet", one, "--dolma", other]));
    assert!(code == 2 && error.contains("is asked for twice"), "{error}");
    // What others have called as we call what is unfinished stays.
    let theirs = PathBuf::from(format!("{tables}.part"));
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("mine"), "mine").unwrap();
    let (code, error) = refused(&rhumb("export", &dir, &["--parquet", tables]));
    assert!(code == 2 && error.contains("no unfinished output"), "{error}");
    assert_eq!(fs::read_to_string(theirs.join("mine")).unwrap(), "mine");
    fs::remove_dir_all(&theirs).unwrap();
    assert_eq!(names(out), Vec::<String>::new());
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
    // Damage within is told by the crawl's own path.
    let mut wrong = before.clone();
    let middle = wrong.len() / 2;
    wrong[middle..middle + 300].fill(0);
    fs::write(&last, wrong).unwrap();
    let (code, error) = refused(&rhumb("export", &dir, &["--parquet", tables]));
    assert!(code == 1 && error.contains(last.to_str().unwrap()), "{error}");
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
