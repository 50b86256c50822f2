//! A crawl as people and machines see it: the report, the metrics, the socket, the status. The
//! store is filled by hand; no crawl runs.

use rhumb_engine::config::Order;
use rhumb_engine::counters::Counters;
use rhumb_engine::discovery::Origin;
use rhumb_engine::event::{Row, StopReason};
use rhumb_engine::host::HostRecord;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::queue::{Entry, Place, SleepPlace};
use rhumb_engine::record::{FoundOn, RecordStatus, Refusal, UrlId, UrlRecord};
use rhumb_engine::snapshot::EngineSnapshot;
use rhumb_engine::time::{Span, Time};
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_node::watch::control::{self, ControlReply, ControlRequest};
use rhumb_node::watch::status::{self, NextVisit};
use rhumb_node::watch::urls::{self, UrlLine, UrlQuery, UrlState};
use rhumb_node::watch::{About, CrawlReport, Live, ProgressKind, Watchers, metrics};
use rhumb_page::url::Url;
use rhumb_state::local::{Home, LocalState};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fs, thread};

const FOUND: Time = Time(1_700_000_000_000_000);

#[test]
fn the_report_has_every_key_of_the_contract_with_the_right_sums() {
    let dir = Scratch::new();
    let report = CrawlReport::running(&live(&dir, &counters()).get());
    report.write(&dir).unwrap();
    let text = fs::read_to_string(dir.join("report.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in [
        "pages",
        "bytes",
        "seconds",
        "pages_per_s",
        "hosts",
        "known_urls",
        "queued",
        "robots_denied",
        "filtered",
        "failed",
        "exact_duplicates",
        "near_duplicates",
        "unchanged",
        "coverage",
        "stopped_because",
        "peak_rss_bytes",
        "admitted",
        "refused",
        "moved",
        "gone",
        "retries",
        "discoveries",
        "hosts_awake",
        "in_flight",
        "next_due",
        "why_idle",
        "version",
        "order",
    ] {
        assert!(json.get(key).is_some(), "{key} is missing from {text}");
    }
    assert_eq!(json["pages"], 700);
    assert_eq!(json["failed"], serde_json::json!({"timeout": 9, "tls": 2}));
    assert_eq!(json["robots_denied"], 5);
    assert_eq!(json["filtered"], 3 + 4);
    assert_eq!(json["refused"]["scope"], 3);
    assert!(json["stopped_because"].is_null() && json["coverage"].is_null());
    assert_eq!(CrawlReport::read(&dir).unwrap().unwrap(), report);
}

#[test]
fn a_reader_of_the_report_finds_a_whole_one_at_every_moment() {
    let dir = Scratch::new();
    let live = live(&dir, &counters());
    CrawlReport::running(&live.get()).write(&dir).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (done, path) = (Arc::clone(&done), dir.join("report.json"));
        thread::spawn(move || {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) || reads == 0 {
                let text = fs::read(&path).unwrap();
                let json: serde_json::Value = serde_json::from_slice(&text).expect("whole");
                assert!(json["pages"].as_u64().unwrap() >= 700);
                reads += 1;
            }
        })
    };
    for turn in 0..300 {
        live.publish(snapshot(|counters| counters.pages += turn));
        CrawlReport::running(&live.get()).write(&dir).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    reader.join().unwrap();
}

#[test]
fn the_report_is_written_again_and_again_though_the_loop_publishes_nothing() {
    let crawl = Crawl::open();
    let watchers = crawl.start(None);
    let written = || CrawlReport::read(&crawl.dir).unwrap().unwrap().written;
    for _ in 0..2 {
        let before = written();
        while written() == before {
            thread::yield_now();
        }
    }
    watchers.finish(StopReason::Finished, snapshot(|_| {})).unwrap();
}

#[test]
fn a_second_run_adds_its_time_to_the_first_and_tells_its_own_pages_apart() {
    let dir = Scratch::new();
    let first = CrawlReport { seconds: 100.0, pages: 700, ..CrawlReport::default() };
    first.write(&dir).unwrap();
    let live = live(&dir, &counters());
    live.publish(snapshot(|counters| counters.pages += 50));
    let report = CrawlReport::running(&live.get());
    assert!(report.seconds >= 100.0);
    assert_eq!((report.pages, report.run.pages), (750, 50));
    assert!((report.pages_per_s - 750.0 / report.seconds).abs() < 1e-3);
}

#[test]
fn metrics_can_be_parsed_and_agree_with_the_snapshot() {
    let crawl = Crawl::open();
    let bound = metrics::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = bound.addr();
    let watchers = crawl.start(Some(bound));
    crawl.live.publish(snapshot(|_| {}));
    let (head, body) = get(addr, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    let samples = parse_exposition(&body);
    let expected = [
        ("rhumb_pages_total", 700),
        ("rhumb_bytes_total", 14_000_000),
        ("rhumb_queue_urls", 40),
        ("rhumb_in_flight", 6),
        ("rhumb_hosts_awake", 17),
        ("rhumb_failed_total{kind=\"timeout\"}", 9),
        ("rhumb_failed_total{kind=\"connect\"}", 0),
        ("rhumb_refused_urls{why=\"robots\"}", 5),
    ];
    for (name, value) in expected {
        assert_eq!(samples.get(name), Some(&value), "{name}");
    }
    if cfg!(target_os = "linux") {
        assert!(samples["process_resident_memory_bytes"] > 0);
    }
    assert!(get(addr, "GET / HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 404 "));
    assert!(get(addr, "POST /metrics HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 405 "));
    assert!(get(addr, "\0\0\r\n\r\n").0.starts_with("HTTP/1.1 405 "));
    watchers.finish(StopReason::Finished, snapshot(|_| {})).unwrap();
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn a_port_in_use_is_told_in_one_line_before_the_crawl() {
    let first = metrics::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let error = metrics::bind(first.addr()).unwrap_err().to_string();
    assert!(error.contains(&first.addr().to_string()) && error.contains("in use"), "{error}");
}

#[test]
fn a_crawl_that_runs_answers_on_its_socket_even_where_a_dead_one_left_its_own() {
    let crawl = Crawl::open();
    let socket = crawl.dir.join(control::SOCKET_FILE);
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let watchers = crawl.start(None);
    crawl.live.publish(snapshot(|_| {}));

    let running = status::of_dir(&crawl.dir).unwrap();
    assert!(running.running);
    assert_eq!((running.report.pages, running.report.in_flight), (700, 6));
    assert_eq!(running.why_nothing_is_fetched, None);
    assert_eq!(running.shown.unwrap().largest_hosts.len(), 10);
    let url = status::of_dir_and_url(&crawl.dir, "http://h3.example/page").unwrap();
    assert_eq!(url.state, "queued");
    let text = status::describe(&crawl.dir, None, false).unwrap();
    assert!(text.contains("running, 6 in flight"), "{text}");

    let bad = ControlRequest::Url("no url at all".to_owned());
    assert!(matches!(control::ask(&crawl.dir, &bad), Ok(Some(ControlReply::Error(_)))));
    assert!(converse(&socket, b"{\"what\":1}\n").starts_with("{\"error\":"));
    let endless = vec![b'x'; 100 << 10];
    assert!(converse(&socket, &endless).starts_with("{\"error\":"));

    let report = watchers.finish(StopReason::Pages, snapshot(|_| {})).unwrap();
    assert_eq!(report.stopped_because.as_deref(), Some("max_pages"));
    assert_eq!(CrawlReport::read(&crawl.dir).unwrap().unwrap(), report);
    assert!(!socket.exists());
}

#[test]
fn the_urls_of_a_crawl_that_runs_are_listed_as_those_of_one_at_rest() {
    let crawl = Crawl::open();
    let query =
        UrlQuery { states: vec![UrlState::Queued, UrlState::Refused], ..UrlQuery::default() };
    let listed = |dir: &Path, query: &UrlQuery| {
        let mut lines = Vec::new();
        let mut take = |line: UrlLine| {
            lines.push(line.text());
            true
        };
        urls::list_dir(dir, query, &mut take).unwrap();
        lines
    };
    let watchers = crawl.start(None);
    let running = listed(&crawl.dir, &query);
    let two = UrlQuery { limit: Some(2), ..query.clone() };
    assert_eq!(listed(&crawl.dir, &two), running[..2]);
    watchers.finish(StopReason::Finished, snapshot(|_| {})).unwrap();
    let dir = crawl.close();
    assert_eq!(listed(&dir, &query), running);
    let wanted = [
        "queued\t-\thttp://h3.example/behind\t-",
        "refused\trobots\thttp://h3.example/denied\thttp://h3.example/page",
        "queued\t-\thttp://h3.example/first\t-",
        "queued\t-\thttp://h3.example/page\t-",
        "queued\t-\thttp://h3.example/second\t-",
    ];
    assert_eq!(running, wanted);
}

#[test]
fn a_crawl_that_waits_says_for_what() {
    let crawl = Crawl::open();
    let watchers = crawl.start(None);
    let due = FOUND + Span::secs(3600);
    crawl.live.publish(EngineSnapshot {
        in_flight: 0,
        next_due: Some((due, "a host is due")),
        ..snapshot(|_| {})
    });
    let why = status::of_dir(&crawl.dir).unwrap().why_nothing_is_fetched.unwrap();
    assert!(why.starts_with("a host is due in "), "{why}");
    let report = watchers.fail("the disk is full").unwrap();
    assert_eq!(report.stopped_because.as_deref(), Some("failed: the disk is full"));
}

#[test]
fn where_the_path_is_too_long_for_a_socket_the_report_speaks_for_the_crawl() {
    let crawl = Crawl::open_in(Scratch::new().deeper(&"d".repeat(150)));
    let watchers = crawl.start(None);
    let running = status::of_dir(&crawl.dir).unwrap();
    assert!(running.running && running.shown.is_none());
    let error = status::of_dir_and_url(&crawl.dir, "http://h3.example/page").unwrap_err();
    assert!(error.what.contains("in use"), "{error}");
    watchers.finish(StopReason::Finished, snapshot(|_| {})).unwrap();
}

#[test]
fn a_crawl_at_rest_tells_its_largest_slowest_and_lost_hosts_and_how_to_go_on() {
    let dir = Crawl::open().close();
    let rest = status::of_dir(&dir).unwrap();
    assert!(!rest.running);
    let why = rest.why_nothing_is_fetched.as_deref().unwrap();
    assert!(why.contains("40 URLs wait") && why.contains("rhumb crawl --dir"), "{why}");
    let shown = rest.shown.as_ref().unwrap();
    let names = |lines: &[status::HostLine]| -> Vec<String> {
        lines.iter().map(|line| line.host.clone()).collect()
    };
    let last_ten: Vec<String> = (15..25).rev().map(|n| format!("http://h{n}.example")).collect();
    assert_eq!(names(&shown.largest_hosts), last_ten);
    let first_ten: Vec<String> = (0..10).map(|n| format!("http://h{n}.example")).collect();
    assert_eq!(names(&shown.slowest_hosts), first_ten);
    let failing = &rest.report.failing_hosts;
    assert_eq!((failing.len(), failing[0].host.as_str()), (1, "http://h7.example"));
    assert_eq!(shown.failing, BTreeMap::from([("dns_not_found".to_owned(), 1)]));

    let text = status::describe(&dir, None, false).unwrap();
    for words in ["largest hosts", "slowest hosts", "hosts that fail: dns_not_found 1"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let json = status::describe(&dir, None, true).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["pages"], 700);
    assert_eq!(json["slowest_hosts"][0]["host"], "http://h0.example");
}

#[test]
fn all_that_is_known_of_a_url_is_told() {
    let dir = Crawl::open().close();
    let of = |url: &str| status::of_dir_and_url(&dir, url).unwrap();

    let queued = of("http://H3.example:80/page#part");
    assert_eq!((queued.url.as_str(), queued.state.as_str()), ("http://h3.example/page", "queued"));
    let record = queued.record.unwrap();
    assert!(matches!(record.next_visit, NextVisit::InTurn { ahead: Some(2) }));
    assert_eq!(record.found, "2023-11-14T22:13:20.000Z");
    let host = queued.host.unwrap();
    assert_eq!((host.crawl_delay_s, host.pages), (Some(2.5), 3));

    let copy = of("http://h3.example/copy?utm_source=letter");
    assert_eq!((copy.url.as_str(), copy.state.as_str()), ("http://h3.example/copy", "duplicate"));
    let record = copy.record.unwrap();
    assert_eq!(record.duplicate_of.as_deref(), Some("http://h3.example/original"));
    assert!(matches!(&record.next_visit, NextVisit::At(at) if at == "2023-11-14T23:13:20.000Z"));
    assert_eq!((record.http_status, record.etag.as_deref()), (Some(200), Some("\"a\x1b[2Jb\"")));

    assert_eq!(of("http://h3.example/denied").meaning, "not fetched: robots.txt forbids it");
    let unknown = of("http://h3.example/never");
    assert!(!unknown.known && unknown.record.is_none() && unknown.host.is_some());
    assert!(of("http://nobody.example/").host.is_none());

    let text = status::describe(&dir, Some("http://h3.example/copy"), false).unwrap();
    assert!(text.contains("duplicate of") && !text.contains('\x1b'), "{text}");
    let json = status::describe(&dir, Some("http://h3.example/copy"), true).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["state"], &json["visits"]), (&"duplicate".into(), &1.into()));
}

#[test]
fn a_directory_without_a_crawl_is_named_and_left_as_it_is() {
    let dir = Scratch::new();
    let error = status::of_dir(&dir).unwrap_err();
    assert!(error.what.ends_with("holds no crawl"), "{error}");
    assert_eq!(fs::read_dir(&*dir).unwrap().count(), 0);
    let error = status::of_dir(&dir.join("absent")).unwrap_err();
    assert!(error.what.ends_with("is no directory"), "{error}");
}

/// A crawl's directory with a filled store, and what a node would hold of it.
struct Crawl {
    dir: Scratch,
    state: LocalState,
    live: Arc<Live>,
}

impl Crawl {
    fn open() -> Crawl {
        Crawl::open_in(Scratch::new())
    }

    fn open_in(dir: Scratch) -> Crawl {
        let (mut state, _) = LocalState::open(
            Home::open(&dir.join("state")).expect("a store"),
            1,
            ArchivePosition::default(),
        )
        .unwrap();
        state.commit(&mut rows(), ArchivePosition::default()).unwrap();
        let live = live(&dir, &counters());
        Crawl { dir, state, live }
    }

    fn start(&self, metrics: Option<metrics::MetricsPort>) -> Watchers {
        let live = Arc::clone(&self.live);
        let reader = self.state.reader();
        Watchers::start(live, &self.dir, reader, ProgressKind::Quiet, metrics).unwrap()
    }

    fn close(self) -> Scratch {
        self.dir
    }
}

fn live(dir: &Path, opening: &Counters) -> Arc<Live> {
    let about = About {
        dir: dir.to_owned(),
        order: Order::Bfs,
        pages_max: None,
        bytes_max: None,
        time_max: None,
        own_sites: Vec::new(),
        insecure: Vec::new(),
    };
    Live::new(about, opening)
}

fn counters() -> Counters {
    let mut counters = Counters {
        pages: 700,
        bytes: 14_000_000,
        known: 800,
        admitted: 793,
        queued: 40,
        hosts: 25,
        ..Counters::default()
    };
    *counters.refused_as(Refusal::Scope) = 3;
    *counters.refused_as(Refusal::Depth) = 4;
    *counters.refused_as(Refusal::Robots) = 5;
    *counters.failed_as(FailKind::Timeout) = 9;
    *counters.failed_as(FailKind::Tls) = 2;
    counters
}

fn snapshot(change: impl FnOnce(&mut Counters)) -> EngineSnapshot {
    let mut counters = counters();
    change(&mut counters);
    EngineSnapshot {
        now: FOUND,
        counters,
        in_flight: 6,
        hosts_awake: 17,
        ..EngineSnapshot::default()
    }
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = (0..25).flat_map(host_rows).collect();
    for (id, path) in ["first", "second", "page", "behind"].into_iter().enumerate() {
        let mut record = record(id as u64, RecordStatus::Queued);
        record.place = Some(Place::Now { class: 1, rank: id as u64, id: id as u64 });
        rows.extend(url_rows(path, record));
    }
    let mut copy = record(7, RecordStatus::Duplicate);
    copy.place = Some(Place::Later { due: FOUND + Span::secs(3600), id: 7 });
    copy.past.duplicate_of = Some(url("original"));
    (copy.past.visits, copy.http_status) = (1, 200);
    // A server may send anything.
    copy.past.etag = Some("\"a\x1b[2Jb\"".into());
    rows.extend(url_rows("copy", copy));
    let mut denied = record(8, RecordStatus::Refused(Refusal::Robots));
    denied.found_on = FoundOn::of(Some(Origin::of(2, false)));
    rows.extend(url_rows("denied", denied));
    rows.push(Row::Counters(Box::new(counters())));
    rows
}

/// The later the host, the larger; the earlier, the slower.
fn host_rows(n: u64) -> Vec<Row> {
    let key = Url::parse(&format!("http://h{n}.example/")).unwrap().host_key();
    let place = SleepPlace::Resting { run: 1, due: FOUND, rank: n };
    let record = HostRecord {
        pages: n,
        queued: n,
        last_took: Span::millis(1000u64.saturating_sub(n)),
        crawl_delay: Some(Span::millis(2500)),
        failing: (n == 7).then_some(FailKind::DnsNotFound),
        sleep: (n == 7).then_some(place),
        ..HostRecord::default()
    };
    let sleep = record.sleep.map(|place| Row::Sleep { host: key.clone(), place, asleep: true });
    [Row::Host { key, record }].into_iter().chain(sleep).collect()
}

fn url_rows(path: &str, record: UrlRecord) -> Vec<Row> {
    let url = url(path);
    let mut rows = vec![Row::Url { key: url.key(), record: record.clone() }];
    if let Some(place) = record.place {
        let host = url.host_key();
        rows.push(Row::Queue { host, place, entry: Some(Entry { url, record }) });
    }
    rows
}

fn record(id: u64, status: RecordStatus) -> UrlRecord {
    UrlRecord::new(UrlId(id), status, 1, 0, FOUND)
}

fn url(path: &str) -> Url {
    Url::parse(&format!("http://h3.example/{path}")).unwrap()
}

fn get(addr: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let length: usize = head
        .split_once("Content-Length: ")
        .unwrap()
        .1
        .split("\r\n")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(length, body.len());
    (head.to_owned(), body.to_owned())
}

/// Sends bytes and hears the first line of the reply.
fn converse(socket: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    // The crawl stops listening to a line that has no end: the rest of it cannot be sent.
    let _ = stream.write_all(bytes);
    let mut line = String::new();
    let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut line);
    line
}

/// A strict reader of the text form: HELP, TYPE, then samples of that family, each once.
fn parse_exposition(text: &str) -> BTreeMap<String, u64> {
    let mut samples = BTreeMap::new();
    let mut family: Option<(String, String)> = None;
    let mut helped = String::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            helped = help.split_once(' ').expect("a name and words").0.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and a type");
            assert_eq!(name, helped, "TYPE follows its HELP");
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            family = Some((name.to_owned(), kind.to_owned()));
        } else {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            let (name_only, labels) = name.split_once('{').unwrap_or((name, "}"));
            assert!(labels.ends_with('}'), "{line}");
            assert_eq!(Some(name_only), family.as_ref().map(|(n, _)| n.as_str()), "{line}");
            let value = value.parse().expect("a whole number");
            assert!(samples.insert(name.to_owned(), value).is_none(), "{line} twice");
        }
    }
    samples
}

/// A directory that goes with the test.
struct Scratch {
    root: PathBuf,
    dir: PathBuf,
}

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("rhumb-watch-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Scratch { dir: root.clone(), root }
    }

    fn deeper(mut self, name: &str) -> Scratch {
        self.dir.push(name);
        fs::create_dir_all(&self.dir).unwrap();
        self
    }
}

impl std::ops::Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
