//! `rhumb dedup` as a user meets it: the real binary, its files and its exit codes.

mod binary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rhumb_archive::{
    Capture, Original, Packer, Profile, RecordContent, RecordReader, WarcWriter, Warcinfo,
    WriterLimits,
};
use rhumb_page::url::Url;
use serde_json::Value;

fn dedup(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).arg("dedup").args(arguments).output().unwrap()
}

/// What it says on standard output with --json, and on standard error.
fn done(arguments: &[&str]) -> (Value, String) {
    let output = dedup(&[arguments, &["--json"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

fn path(dir: &Path, name: &str) -> String {
    dir.join(name).display().to_string()
}

/// Documents of 100 words: `changed` words of the base are their own.
fn document(id: &str, url: &str, base: u32, changed: usize) -> String {
    let words: Vec<String> = (0..100)
        .map(|n| if n < changed { format!("{id}x{n}") } else { format!("b{base}w{n}") })
        .collect();
    format!("{{\"id\": \"{id}\", \"url\": \"{url}\", \"text\": \"{}\"}}\n", words.join(" "))
}

/// Resemblance of all pairs by the definition, with the library's sets.
fn truth(rows: &str, threshold: f64) -> BTreeMap<(String, String), String> {
    let sets: Vec<(String, BTreeSet<Vec<String>>)> = rows
        .lines()
        .map(|row| {
            let row: Value = serde_json::from_str(row).unwrap();
            let text = row["text"].as_str().unwrap().to_lowercase();
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            let words: Vec<String> = words.map(str::to_owned).collect();
            let shingles = words.windows(4.min(words.len().max(1))).map(<[String]>::to_vec);
            (row["id"].as_str().unwrap().to_owned(), shingles.collect())
        })
        .collect();
    let mut pairs = BTreeMap::new();
    for (at, (a, one)) in sets.iter().enumerate() {
        for (b, two) in &sets[at + 1..] {
            let both = one.intersection(two).count() as f64;
            let resemblance = both / one.union(two).count().max(1) as f64;
            if resemblance >= threshold {
                pairs.insert((a.clone(), b.clone()), format!("{resemblance:.6}"));
            }
        }
    }
    pairs
}

fn pairs_of(file: &str) -> BTreeMap<(String, String), String> {
    let lines = fs::read_to_string(file).unwrap();
    let pairs = lines.lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        ((fields[0].to_owned(), fields[1].to_owned()), fields[2].to_owned())
    });
    pairs.collect()
}

fn clusters_of(file: &str) -> BTreeMap<String, String> {
    let lines = fs::read_to_string(file).unwrap();
    lines.lines().map(|line| line.split_once('\t').unwrap()).map(own).collect()
}

fn own((a, b): (&str, &str)) -> (String, String) {
    (a.to_owned(), b.to_owned())
}

fn some_rows() -> String {
    let mut rows = String::new();
    for base in 0..12u32 {
        for version in 0..6usize {
            let host = if version % 2 == 0 { "one.test" } else { "two.test" };
            let id = format!("d{base}v{version}");
            let url = format!("http://{host}/docs/{base}.html");
            rows += &document(&id, &url, base, version * 4);
        }
        let copy = document(&format!("copy{base}"), "http://one.test/c", base, 0);
        rows += &copy;
    }
    rows += "{\"id\": \"short\", \"text\": \"two words\"}\n{\"id\": \"empty\", \"text\": \"\"}\n";
    rows += "{\"id\": \"short2\", \"text\": \"Two, WORDS!\"}\n";
    rows
}

#[test]
fn pairs_are_those_of_the_definition_in_memory_and_through_the_disk() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let (input, pairs) = (path(dir, "rows.jsonl"), path(dir, "pairs.tsv"));
    fs::write(&input, some_rows()).unwrap();
    for threshold in ["0.8", "0.5"] {
        let expected = truth(&some_rows(), threshold.parse().unwrap());
        for memory in ["1GiB", "1kB"] {
            let arguments = ["--pairs", &pairs, "--threshold", threshold, "--memory", memory];
            let (report, _) = done(&[&[input.as_str()], &arguments[..]].concat());
            assert_eq!(pairs_of(&pairs), expected, "{threshold}, {memory}");
            assert_eq!(report["pairs"], expected.len(), "{report}");
            assert_eq!(report["spilled_bytes"] != 0, memory == "1kB", "{report}");
            assert_eq!((&report["empty"], &report["documents"]), (&1.into(), &87.into()));
        }
    }
    let left: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left.len(), 2, "nothing but input and output: {left:?}");
}

#[test]
fn clusters_are_the_same_with_and_without_pairs_and_leaders_bound_them() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let (input, pairs) = (path(dir, "rows.jsonl"), path(dir, "pairs.tsv"));
    // A chain: each is a near-duplicate of the next, its ends share nothing.
    let chain: String = (0..30).fold(some_rows(), |mut rows, n| {
        let words: Vec<String> = (n * 4..n * 4 + 100).map(|word| format!("c{word}")).collect();
        writeln!(rows, "{{\"id\": \"chain{n:02}\", \"text\": \"{}\"}}", words.join(" ")).unwrap();
        rows
    });
    fs::write(&input, &chain).unwrap();
    let [with, without, leader] =
        ["with.tsv", "without.tsv", "leader.tsv"].map(|name| path(dir, name));
    done(&[&input, "--pairs", &pairs, "--clusters", &with]);
    let (report, _) = done(&[&input, "--clusters", &without]);
    assert_eq!(clusters_of(&with), clusters_of(&without));
    assert_eq!(clusters_of(&with).len(), 117, "every document");
    assert!(
        clusters_of(&with)
            .iter()
            .all(|(id, cluster)| { !id.starts_with("chain") || cluster == "chain00" })
    );
    let largest = &report["clusters"]["largest"][0];
    assert_eq!((&largest["documents"], &largest["chain"]), (&30.into(), &true.into()), "{report}");
    assert!(largest["resemblance_min"].as_f64().unwrap() < 0.1, "{report}");
    done(&[&input, "--clusters", &leader, "--cluster", "leader"]);
    let pairs = pairs_of(&pairs);
    for (id, led_by) in clusters_of(&leader).into_iter().filter(|(id, led_by)| id != led_by) {
        assert!(pairs.contains_key(&(led_by.clone(), id.clone())), "{id} is not like {led_by}");
    }
}

#[test]
fn mirrors_are_hosts_and_paths_that_hold_the_same() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let mut rows = String::new();
    for page in 0..40u32 {
        rows += &document(&format!("a{page}"), &format!("http://a.test/v1/x/{page}.html"), page, 0);
        if page < 30 {
            let url = format!("http://b.test/mirror/x/{page}.html");
            rows += &document(&format!("b{page}"), &url, page, 3);
        }
        rows += &document(&format!("c{page}"), &format!("http://c.test/{page}"), 1000 + page, 0);
    }
    let [input, mirrors, roots] = ["in.jsonl", "m.tsv", "c.tsv"].map(|name| path(dir, name));
    fs::write(&input, rows).unwrap();
    done(&[&input, "--mirrors", &mirrors, "--collections", &roots]);
    assert_eq!(fs::read_to_string(&mirrors).unwrap(), "a.test\tb.test\t1.0000\n");
    assert_eq!(fs::read_to_string(&roots).unwrap(), "a.test/v1/\tb.test/mirror/\t1.0000\n");
}

#[test]
fn bad_rows_are_named_and_the_rest_is_done() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let (input, pairs) = (path(dir, "rows.jsonl"), path(dir, "pairs.tsv"));
    let mut rows = document("a", "", 1, 0).into_bytes();
    rows.extend_from_slice(b"{\"id\": \"x\", \"text\": \"bad \xff\"}\n\n{\"id\": 3}\nnonsense\n");
    rows.extend_from_slice(document("b", "", 1, 2).as_bytes());
    rows.extend_from_slice(document("a", "", 1, 3).as_bytes());
    rows.extend_from_slice(b"{\"id\":\"h\",\"html\":\"<p>one <b>two</b><script>x</script>\"}");
    fs::write(&input, rows).unwrap();
    let (report, said) = done(&[&input, "--pairs", &pairs]);
    for line in ["line 2: invalid UTF-8", "line 4: neither", "line 5: expected", "line 7: id \"a\""]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!((&report["documents"], &report["skipped"]), (&3.into(), &4.into()));
    assert_eq!(pairs_of(&pairs).len(), 1);
}

#[test]
fn what_cannot_be_done_leaves_no_output() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let input = path(dir, "rows.jsonl");
    fs::write(&input, some_rows()).unwrap();
    let (out, here) = (path(dir, "out.tsv"), path(dir, ""));
    let cases: [(&[&str], i32, &str); 11] = [
        (&["/no/such"], 2, "/no/such: no such file"),
        (&[&input, "--threshold", "80"], 2, "--threshold 80"),
        (&[&input, "--shingle", "0"], 2, "--shingle 0"),
        (&[&input, "--cluster", "leaders"], 2, "did you mean \"leader\"?"),
        (&[&input, "--tmp", "/no/such"], 2, "--tmp /no/such"),
        (&[&input, "--pairs", "/no/such/pairs.tsv"], 1, "/no/such/pairs.tsv"),
        (&[&input, "--pairs", &here], 1, "s a directory"),
        (&[&input, "--pairs", &input], 1, "is the input; name another file"),
        (&[&input, "--pairs", &out, "--clusters", &out], 1, "is asked for twice"),
        (&[&input, "--journal", &input], 1, "is no journal of rhumb dedup"),
        (&["-", "--journal", &out], 2, "cannot be read again"),
    ];
    for (arguments, code, said) in cases {
        let output = dedup(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(said), "{arguments:?}: {error}");
        assert_eq!((error.lines().count(), output.stdout.len()), (1, 0), "{error}");
    }
    assert_eq!(fs::read_dir(dir).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&input).unwrap(), some_rows(), "the input is as it was");
}

#[test]
fn a_packed_file_that_was_cut_off_is_read_as_far_as_it_goes() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let rows: String =
        (0..2000).map(|n| document(&format!("d{n}"), "", n / 2, n as usize % 2)).collect();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(rows.as_bytes()).unwrap();
    let packed = [
        ("rows.jsonl.zst", zstd::encode_all(rows.as_bytes(), 1).unwrap()),
        ("rows.jsonl.gz", gz.finish().unwrap()),
    ];
    for (name, bytes) in packed {
        let (input, pairs) = (path(dir, name), path(dir, "pairs.tsv"));
        fs::write(&input, &bytes[..bytes.len() * 3 / 4]).unwrap();
        let (report, said) = done(&[&input, "--pairs", &pairs]);
        let documents = report["documents"].as_u64().unwrap();
        assert!((500..2000).contains(&documents), "{name}: {documents} of 2000");
        assert!(said.starts_with(&format!("{input}: after line {documents}: ")), "{said}");
        assert!(said.contains("the rest of this file is not read"), "{said}");
        assert_eq!((said.lines().count(), &report["skipped"]), (1, &1.into()), "{said}");
        assert_eq!(pairs_of(&pairs).len() as u64, documents / 2, "{name}");
    }
}

#[test]
fn pipes_are_written_to_and_links_are_followed() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let [input, pipe, link, file] =
        ["in.jsonl", "pipe", "link", "file"].map(|name| path(dir, name));
    // Some editors begin a file with a byte order mark.
    fs::write(&input, format!("\u{feff}{}", some_rows())).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let read = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    done(&[&input, "--clusters", &pipe]);
    fs::write(&file, "what was there before").unwrap();
    done(&[&input, "--clusters", &link]);
    assert_eq!(read.join().unwrap(), fs::read_to_string(&file).unwrap());
    assert_eq!(clusters_of(&file).len(), 87);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(dir).unwrap().count(), 4);
}

/// An archive of captures, in the order given: URL, status, media type, body.
fn archive(dir: &Path, captures: &[(&str, u16, &str, &str)]) -> PathBuf {
    let mut writer =
        WarcWriter::open(dir, Warcinfo::default(), WriterLimits::default(), None).unwrap();
    let mut packer = Packer::default();
    for (at, (url, status, mime, body)) in captures.iter().enumerate() {
        let head = format!("HTTP/1.1 {status} Any\r\nContent-Type: {mime}\r\n\r\n");
        let response = head + body;
        let content = RecordContent::Http {
            request: b"GET / HTTP/1.1\r\n\r\n",
            response: response.as_bytes(),
        };
        let packed = packer.capture(&Capture {
            protocol: None,
            resource_type: None,
            url: &Url::parse(url).unwrap(),
            fetched_us: 1_700_000_000_000_000 + at as u64,
            address: None,
            content,
            truncated: None,
            notes: &[],
        });
        writer.append(&packed).unwrap();
    }
    writer.sync().unwrap();
    let files = fs::read_dir(dir.join("warc")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "gz")).min().unwrap()
}

#[test]
fn exact_copies_and_mirrors_of_a_crawl_are_found_though_the_archive_keeps_their_bytes_once() {
    let temporary = tempfile::tempdir().unwrap();
    let crawl = temporary.path().join("crawl");
    let mut writer =
        WarcWriter::open(&crawl, Warcinfo::default(), WriterLimits::default(), None).unwrap();
    let mut packer = Packer::default();
    let mut at_us = 1_700_000_000_000_000;
    for n in 0..30 {
        let bodies = [page(10 + n, 0), "\u{1}\u{2}".to_owned()];
        for (body, (mime, name)) in bodies.iter().zip([("text/html", "p"), ("image/png", "i")]) {
            let response = format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\n\r\n{body}");
            let [first, copy] = ["a", "b"]
                .map(|host| Url::parse(&format!("http://{host}.test/{name}/{n}")).unwrap());
            let mut capture = Capture {
                protocol: None,
                resource_type: None,
                url: &first,
                fetched_us: at_us,
                address: None,
                content: RecordContent::Http { request: b"", response: response.as_bytes() },
                truncated: None,
                notes: &[],
            };
            let kept = packer.capture(&capture);
            let original =
                Original { url: &first, fetched_us: at_us, payload_digest: kept.payload_digest };
            writer.append(&kept).unwrap();
            // Of another host, and of the same page at a later visit.
            for url in [&copy, &first] {
                at_us += 1;
                (capture.url, capture.fetched_us) = (url, at_us);
                let revisit = packer.revisit(&capture, &original, Profile::IdenticalPayload);
                writer.append(&revisit).unwrap();
            }
            at_us += 1;
        }
    }
    writer.sync().unwrap();
    let [pairs, mirrors] = ["pairs.tsv", "mirrors.tsv"].map(|n| path(temporary.path(), n));
    let crawl = crawl.display().to_string();
    let (report, said) = done(&[&crawl, "--pairs", &pairs, "--mirrors", &mirrors]);
    let counts = ["documents", "exact_duplicates", "recaptures"].map(|n| report[n].as_u64());
    assert_eq!(counts, [Some(60), Some(30), Some(30)], "{said}");
    let pairs = pairs_of(&pairs);
    assert_eq!(pairs.len(), 30);
    for n in 0..30 {
        let [a, b] = ["a", "b"].map(|host| format!("http://{host}.test/p/{n}"));
        assert_eq!(pairs.get(&(a, b)).map(String::as_str), Some("1.000000"));
    }
    assert_eq!(fs::read_to_string(&mirrors).unwrap(), "a.test\tb.test\t1.0000\n");
}

fn page(base: u32, changed: u32) -> String {
    let words = (0..100).map(|n| if n < changed { n + 7000 } else { n + 1000 * base });
    let words: Vec<String> = words.map(|n| format!("<b>w{n}</b>")).collect();
    format!("<html><title>t</title><body><p>{}", words.join(" "))
}

#[test]
fn crawls_and_warc_files_are_read_compressed_or_not_and_torn_ones_to_the_last_whole_record() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let [one, two, three] = [page(1, 0), page(1, 3), page(2, 0)];
    let crawl = dir.join("crawl");
    let warc = archive(
        &crawl,
        &[
            ("http://a.test/robots.txt", 200, "text/plain", "user-agent: x"),
            ("http://a.test/1", 200, "text/html", &one),
            ("http://a.test/1", 200, "text/html", &three),
            ("http://a.test/gone", 404, "text/html", &one),
            ("http://a.test/i.png", 200, "image/png", "\u{1}\u{2}"),
            ("http://b.test/1", 200, "text/html; charset=utf-8", &two),
            ("http://b.test/3", 200, "text/plain", &three),
        ],
    );
    let plain = dir.join("plain.warc");
    let mut bytes = Vec::new();
    let packed = fs::read(&warc).unwrap();
    flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    fs::write(&plain, &bytes).unwrap();
    let pairs = path(dir, "pairs.tsv");
    for input in [&crawl, &warc, &plain] {
        let (report, said) = done(&[&input.display().to_string(), "--pairs", &pairs]);
        let found: Vec<_> = pairs_of(&pairs).into_keys().collect();
        assert_eq!(found, [own(("http://a.test/1", "http://b.test/1"))], "{input:?}: {said}");
        assert_eq!((&report["documents"], &report["recaptures"]), (&3.into(), &1.into()));
        assert_eq!(said, "", "{input:?}");
    }
    // The last records are cut off: the two pages before them are still compared.
    let half = bytes.windows(17).position(|at| at == b"http://b.test/3\r\n").unwrap() + 100;
    fs::write(&plain, &bytes[..half]).unwrap();
    let mut records = RecordReader::open(&warc).unwrap().map(Result::unwrap);
    let last = records.find(|record| record.target() == Some("http://b.test/3")).unwrap();
    fs::write(&warc, &packed[..last.offset as usize + 100]).unwrap();
    for input in [&crawl, &warc, &plain] {
        let (report, said) = done(&[&input.display().to_string(), "--pairs", &pairs]);
        assert_eq!((&report["documents"], &report["skipped"]), (&2.into(), &1.into()), "{said}");
        assert!(said.contains(".warc") && said.contains("the rest of this file"), "{said}");
        assert_eq!(pairs_of(&pairs).len(), 1);
    }
}

#[test]
fn a_full_temporary_disk_is_named_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let (input, tmp) = (path(dir, "rows.jsonl"), path(dir, "tmp"));
    fs::create_dir(&tmp).unwrap();
    let rows: String = (0..400).map(|n| document(&format!("d{n}"), "", n, 0)).collect();
    fs::write(&input, rows).unwrap();
    for output in ["--pairs", "--clusters"] {
        let out = path(dir, "out.tsv");
        // Ignored, the signal becomes an error of the write, as a full disk is.
        let output = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$@\"", "sh"])
            .arg(binary::rhumb())
            .args(["dedup", &input, output, &out])
            .args(["--memory", "1kB", "--tmp", &tmp])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{tmp}: cannot write temporary data")), "{said}");
        assert!(said.contains("a directory with more room"), "{said}");
        assert_eq!((said.lines().count(), fs::read_dir(&tmp).unwrap().count()), (1, 0), "{said}");
    }
    assert_eq!(fs::read_dir(dir).unwrap().count(), 2, "input and the empty directory");
}

#[test]
fn an_interrupted_run_leaves_nothing_and_can_be_started_again() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let pairs = path(dir, "pairs.tsv");
    let mut child = Command::new(binary::rhumb())
        .args(["dedup", "-", "--memory", "1kB", "--tmp", &path(dir, ""), "--pairs", &pairs])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe and a portion hold: it is at work when all of it is written.
    let mut stdin = child.stdin.take().unwrap();
    for n in 0..8000 {
        stdin.write_all(document(&format!("d{n}"), "", n, 0).as_bytes()).unwrap();
    }
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "nothing is left");
    // What an earlier run left on a file system that needs names is taken over.
    fs::write(format!("{pairs}.part"), "half of a li").unwrap();
    fs::write(path(dir, "rows.jsonl"), some_rows()).unwrap();
    done(&[&path(dir, "rows.jsonl"), "--pairs", &pairs]);
    assert_eq!(pairs_of(&pairs), truth(&some_rows(), 0.8));
    assert!(!Path::new(&format!("{pairs}.part")).exists());
}

/// Runs it with the size of files limited: a write beyond that ends the process at once, as kill -9
/// does, in the midst of a record or between two.
fn done_or_killed(arguments: &[&str], file_blocks: u64) -> Option<Value> {
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -c 0; ulimit -f {file_blocks}; exec \"$@\""), "sh"])
        .arg(binary::rhumb())
        .args(["dedup", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.status.signal().is_some(), "{said}");
    output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_run_that_was_killed_anywhere_goes_on_from_its_journal_to_the_same_end() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let [input, out, journal] = ["in.jsonl", "out.tsv", "journal"].map(|name| path(dir, name));
    // Four portions; one row is bad and one comes twice.
    let mut rows: String = (0..5000).fold(String::new(), |rows, n| {
        rows + &document(&format!("d{n}"), "", n / 10, n as usize % 10)
    });
    rows += &format!("nonsense\n{}", document("d17", "", 9999, 0));
    fs::write(&input, &rows).unwrap();
    let cases: [&[&str]; 3] =
        [&["--pairs"], &["--clusters"], &["--common-shingles", "0.4", "--pairs"]];
    for asked in cases {
        let arguments = [&[input.as_str()], asked, &[out.as_str()]].concat();
        let (whole, _) = done(&arguments);
        let expected = fs::read(&out).unwrap();
        fs::remove_file(&out).unwrap();
        let arguments = [&arguments[..], &["--journal", &journal]].concat();
        let (mut killed, mut blocks) = (0, 1);
        let report = loop {
            if let Some(report) = done_or_killed(&arguments, blocks) {
                break report;
            }
            assert!(fs::metadata(&journal).unwrap().len() > 0 && !Path::new(&out).exists());
            killed += 1;
            // In the first records, then in some that hold documents, then in those with pairs.
            blocks = match blocks {
                ..100 => blocks * 3,
                100..6000 => blocks + 1999,
                _ => blocks + 150,
            };
        };
        assert!(killed > 8, "{asked:?}: killed {killed} times");
        assert_eq!(fs::read(&out).unwrap(), expected, "{asked:?}");
        for same in ["documents", "skipped", "bytes", "pairs", "compared", "clusters", "cut_short"]
        {
            assert_eq!(report[same], whole[same], "{asked:?}: {same}");
        }
        assert!(report["documents_kept"].as_u64().unwrap() > 3000, "{report}");
        assert!(!Path::new(&journal).exists(), "it is removed in the end");
    }
    // Other settings, or another input: nothing is mixed.
    assert!(done_or_killed(&[&input, "--journal", &journal], 2000).is_none());
    let wrong = |arguments: &[&str], said: &str| {
        let output = dedup(&[arguments, &["--journal", &journal]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(said), "{error}");
    };
    wrong(&[&input, "--threshold", "0.7"], "\"threshold 0.8\", now \"threshold 0.7\"");
    wrong(&[&input, "--pairs", &out], "now \"asked for pairs\"");
    fs::write(&input, rows + "\n").unwrap();
    wrong(&[&input], "holds the work on something else");
}

#[test]
fn a_huge_document_is_one_like_any_other() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let (input, pairs) = (path(dir, "rows.jsonl"), path(dir, "pairs.tsv"));
    let mut rows = String::new();
    let words: String = (0..12_000_000).fold(String::new(), |mut words, n| {
        write!(words, "w{n} ").unwrap();
        words
    });
    for id in ["one", "two"] {
        writeln!(rows, "{{\"id\": \"{id}\", \"text\": \"{words}{id}\"}}").unwrap();
        rows += &document(&format!("small {id}"), "", 1, if id == "one" { 0 } else { 2 });
    }
    fs::write(&input, rows).unwrap();
    let (report, _) = done(&[&input, "--pairs", &pairs, "--memory", "1MB", "--threads", "2"]);
    assert_eq!((&report["documents"], &report["pairs"]), (&4.into(), &2.into()), "{report}");
    assert!(report["bytes"].as_u64().unwrap() > 200_000_000, "{report}");
    assert!(report["peak_rss_bytes"].as_u64().unwrap() < 600_000_000, "{report}");
}

#[test]
fn what_was_left_out_is_told_common_shingles_and_all_chains() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let input = path(dir, "rows.jsonl");
    let mut rows = String::new();
    // Thirty chains, more than are described, whose texts all end in the same fifty words.
    let common: String = (0..50).map(|n| format!("common{n} ")).collect();
    for chain in 0..30 {
        for link in 0..30 {
            let own: Vec<String> =
                (link * 4..link * 4 + 100).map(|word| format!("c{chain}w{word}")).collect();
            let (id, own) = (format!("{chain}/{link}"), own.join(" "));
            writeln!(rows, "{{\"id\": \"{id}\", \"text\": \"{own} {common}\"}}").unwrap();
        }
    }
    fs::write(&input, rows).unwrap();
    let (report, _) = done(&[&input, "--common-shingles", "0.5"]);
    let common = &report["common_shingles"];
    assert_eq!((&common["shingles"], &common["occurrences"]), (&47.into(), &(900 * 47).into()));
    assert_eq!((&common["share"], &common["emptied"]), (&0.5.into(), &0.into()));
    assert_eq!(report["clusters"]["chains"], 30, "{report}");
    assert_eq!(report["clusters"]["largest"].as_array().unwrap().len(), 20);
    let (report, _) = done(&[&input]);
    assert_eq!(report["common_shingles"], Value::Null);
    assert_eq!(report["cut_short"], 0);
    let wrong = dedup(&[&input, "--common-shingles", "1.5"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn the_shared_corpus_gives_the_true_pairs_clusters_and_mirrors() {
    let Some(given) = rhumb_given::data("neardup") else { return };
    let temporary = tempfile::tempdir().unwrap();
    let [pairs, mirrors] = ["pairs.tsv", "mirrors.tsv"].map(|name| path(temporary.path(), name));
    let corpus = path(&given, "d1.jsonl.zst");
    let (report, _) =
        done(&[&corpus, "--pairs", &pairs, "--mirrors", &mirrors, "--memory", "64MB"]);
    let truth = zstd::decode_all(fs::File::open(given.join("d1_truth.tsv.zst")).unwrap()).unwrap();
    let truth = String::from_utf8(truth).unwrap();
    let mut expected = BTreeMap::new();
    for line in truth.lines() {
        let (pair, similarity) = line.rsplit_once('\t').unwrap();
        if similarity.parse::<f64>().unwrap() >= 0.8 {
            expected.insert(own(pair.split_once('\t').unwrap()), similarity.to_owned());
        }
    }
    // The order of a pair there is that of its numbers, which is that of the input. Its makers
    // lowered ASCII letters only: where a capital É decides, the third digit may differ.
    let found = pairs_of(&pairs);
    let wrong = found.iter().filter(|(pair, value)| {
        let close = |truth: &String| {
            let [truth, value] = [truth, *value].map(|text| text.parse::<f64>().unwrap());
            (truth - value).abs() < 0.002
        };
        !expected.get(*pair).is_some_and(close)
    });
    assert_eq!(wrong.count(), 0, "of {} pairs, with their similarity", found.len());
    let recall = found.len() as f64 / expected.len() as f64;
    assert!(recall >= 0.998, "recall {recall}");
    assert!(report["peak_rss_bytes"].as_u64().unwrap() <= 300_000_000, "{report}");
    let listed: Value =
        serde_json::from_slice(&fs::read(given.join("d1_mirrors.json")).unwrap()).unwrap();
    let name = |value: &Value| value.as_str().unwrap().to_owned();
    let listed: BTreeSet<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|mirror| {
            let (a, b) = (name(&mirror["a"]), name(&mirror["b"]));
            (a.clone().min(b.clone()), a.max(b))
        })
        .collect();
    let found: BTreeSet<_> = pairs_of(&mirrors).into_keys().collect();
    assert_eq!(found, listed);
}
