//! What these tests share: a served web, the program, and what it left behind.

use crate::binary;
use rhumb_archive::RecordReader;
use rhumb_lab::serve::{Logged, ServeOptions, Served};
use rhumb_sim::web::{ReachScope, Web, WebConfig, What};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// From the end of a response to the next request.
pub const DELAY_MS: u64 = 20;

pub struct Site {
    pub served: Served,
    pub dir: tempfile::TempDir,
}

impl Site {
    pub fn serve(config: WebConfig) -> Site {
        let options = ServeOptions { log: true, ..ServeOptions::default() };
        let served = Served::start(WebConfig { port: 0, ..config }, &options).unwrap();
        Site { served, dir: tempfile::tempdir().unwrap() }
    }

    pub fn crawl_dir(&self) -> PathBuf {
        self.dir.path().join("crawl")
    }

    /// `rhumb crawl` over all seeds of the web, with these arguments besides.
    pub fn crawl(&self, arguments: &[&str]) -> Command {
        self.crawl_with_delay(DELAY_MS, arguments)
    }

    pub fn crawl_with_delay(&self, delay_ms: u64, arguments: &[&str]) -> Command {
        let seeds = self.dir.path().join("seeds.txt");
        let list: String = self.served.web.seeds().iter().map(|url| format!("{url}\n")).collect();
        fs::write(&seeds, list).unwrap();
        let mut command = Command::new(binary::rhumb());
        command
            .args(["--quiet", "crawl", "--scope", "any", "--allow-private", "--json"])
            .args(["--delay", &format!("{delay_ms}ms"), "--delay-factor", "0"])
            .arg("--resolver")
            .arg(self.served.dns.to_string())
            .arg("--seeds")
            .arg(seeds)
            .arg("--dir")
            .arg(self.crawl_dir())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn requests(&self) -> Vec<Logged> {
        let log = self.served.log().expect("asked for");
        assert_eq!(log.left_out(), 0, "the log must be whole");
        log.requests()
    }
}

/// Runs to the end; the report that it printed.
pub fn report_of(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    serde_json::from_slice(&output.stdout).expect("--json prints one JSON value")
}

/// Never two requests open to one host, the gap kept, robots first and obeyed.
pub fn assert_polite(web: &Web, requests: &[Logged]) {
    let mut by_host: BTreeMap<&str, Vec<&Logged>> = BTreeMap::new();
    for request in requests {
        assert!(request.open_on_host <= 1, "two requests open: {request:?}");
        assert!(request.open_on_address <= 2, "three requests at one address: {request:?}");
        by_host.entry(&request.host).or_default().push(request);
    }
    for (host, mut list) in by_host {
        list.sort_by_key(|request| request.start_us);
        assert_eq!(list[0].path, "/robots.txt", "the first request to {host}");
        for pair in list.windows(2) {
            // From start to start, because the server may note an end well after we have read it;
            // a response cannot have ended before its request arrived.
            let gap_us = pair[1].start_us - pair[0].start_us;
            let least_us = DELAY_MS * 1_000;
            assert!(gap_us >= least_us, "{gap_us} µs between {:?} and {:?}", pair[0], pair[1]);
        }
        for request in list {
            let url = format!("http://{}{}", request.host, request.path).parse().unwrap();
            assert!(web.permits(&url), "robots forbid {url}");
        }
    }
}

/// Every page that can be reached has a record in the WARC files: (site, number).
pub fn pages_in_archive(web: &Web, dir: &Path) -> BTreeSet<(u32, u32)> {
    let mut pages = BTreeSet::new();
    for entry in fs::read_dir(dir.join("warc")).unwrap() {
        for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
            let record = record.expect("a whole record");
            let kept = matches!(record.kind(), "response" | "revisit");
            let url = record.target().filter(|_| kept).map(|text| text.parse().unwrap());
            let Some(place) = url.and_then(|url| web.place(&url)) else { continue };
            let place = web.original(place);
            let ok = record.http_head().starts_with(b"HTTP/1.1 200");
            if let (What::Page(n), true) = (place.what, ok) {
                pages.insert((place.site, n));
            }
        }
    }
    pages
}

pub fn reachable(web: &Web) -> BTreeSet<(u32, u32)> {
    web.reachable(&web.seeds(), ReachScope::Any).pages(web)
}

/// warcio finds every record whole and every digest right; cdxj-indexer finds what we indexed.
pub fn assert_tools_accept(dir: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new("sh").arg(root.join("scripts/python-env")).status().unwrap();
    assert!(made.success(), "scripts/python-env failed");
    let tools = root.join(".venv/bin");
    let warcs: Vec<PathBuf> =
        fs::read_dir(dir.join("warc")).unwrap().map(|entry| entry.unwrap().path()).collect();
    for warc in &warcs {
        let check = Command::new(tools.join("warcio")).arg("check").arg(warc).output().unwrap();
        assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    }
    let indexed = Command::new(tools.join("cdxj-indexer")).arg("-s").args(&warcs).output().unwrap();
    assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
    let ours = fs::read_to_string(dir.join("index.cdxj")).unwrap();
    assert!(ours.lines().is_sorted(), "index.cdxj is sorted");
    assert_eq!(ours, String::from_utf8(indexed.stdout).unwrap(), "index.cdxj is cdxj-indexer's");
}
