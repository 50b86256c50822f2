//! `--metrics ADDR`: the crawl in the text form that Prometheus reads, under `/metrics`.

use super::control::{self, ControlReply, ControlRequest};
use super::live::{Live, LiveMoment};
use super::status::unexpected;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::mass::{Coverage, TopicCoverage};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::Refusal;
use rhumb_engine::refresh::revisit::RevisitCollection;
use std::fmt::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Scrapers come one at a time; a few more do no harm.
const CONNECTIONS_MAX: usize = 8;
const REQUEST_BYTES_MAX: usize = 8 << 10;
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
/// After a failed accept, so that a lack of descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port that is ours: taken before the crawl begins, so that a port in use is told at once.
#[derive(Debug)]
pub struct MetricsPort {
    listener: TcpListener,
    addr: SocketAddr,
}

#[derive(Debug)]
pub struct MetricsBindError {
    addr: SocketAddr,
    why: io::Error,
}

impl fmt::Display for MetricsBindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MetricsBindError { addr, why } = self;
        match why.kind() {
            io::ErrorKind::AddrInUse => {
                write!(f, "metrics: {addr} is in use by another program: choose another port")
            }
            _ => write!(f, "metrics: cannot listen on {addr}: {why}"),
        }
    }
}

impl std::error::Error for MetricsBindError {}

pub fn bind(addr: SocketAddr) -> Result<MetricsPort, MetricsBindError> {
    let bound = || -> io::Result<MetricsPort> {
        let listener = TcpListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        Ok(MetricsPort { listener, addr })
    };
    bound().map_err(|why| MetricsBindError { addr, why })
}

impl MetricsPort {
    /// The port that was given, if 0 was asked for.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

/// The same of the crawl that runs on `dir`, from outside.
pub fn of_dir(dir: &Path) -> Result<String, Error> {
    let asked = control::ask(dir, &ControlRequest::Metrics(true)).map_err(|error| {
        let what = format!("the crawl that runs on {} does not answer: {error}", dir.display());
        Error::new(ErrorKind::Retry, what)
    })?;
    match asked {
        Some(ControlReply::Metrics(text)) => Ok(text),
        Some(reply) => Err(unexpected(reply)),
        None => {
            let what = format!("no crawl runs on {}: there are no metrics", dir.display());
            Err(Error::new(ErrorKind::Invalid, what))
        }
    }
}

/// Answers until the runtime that it runs on ends.
pub async fn serve(bound: MetricsPort, live: Arc<Live>) {
    let listener = match tokio::net::TcpListener::from_std(bound.listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "metrics cannot be served");
            return;
        }
    };
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let live = Arc::clone(&live);
                tokio::spawn(async move {
                    let _ = tokio::time::timeout(REQUEST_TIME_MAX, answer(stream, &live)).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "metrics connection lost");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// One request a connection: scrapers are seldom, and closing keeps the bound simple.
async fn answer(mut stream: TcpStream, live: &Live) -> io::Result<()> {
    let mut request = Vec::with_capacity(1024);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() > REQUEST_BYTES_MAX || stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(|&byte| byte == b'?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        (b"GET" | b"HEAD", b"/metrics") => ("200 OK", exposition(&live.get())),
        (b"GET" | b"HEAD", _) => ("404 Not Found", "metrics are under /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if method != b"HEAD" {
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}

/// Counters are those of the directory, over all its runs: a restart does not set them back.
pub(super) fn exposition(now: &LiveMoment) -> String {
    let mut page = Exposition(String::with_capacity(8 << 10));
    let s = &now.snapshot;
    let c = &s.counters;
    page.counter("rhumb_pages_total", "Page bodies received with a 2xx status.", c.pages);
    page.counter("rhumb_bytes_total", "Bytes received, robots.txt included.", c.bytes);
    page.counter("rhumb_answers_total", "Requests answered in any way.", c.answers);
    page.counter("rhumb_duplicates_total", "Pages with the bytes of another.", c.duplicates);
    page.counter(
        "rhumb_near_duplicates_total",
        "Pages with nearly the text of another.",
        c.near_duplicates,
    );
    page.counter("rhumb_unchanged_total", "Answers 304: not modified.", c.unchanged);
    page.counter("rhumb_moved_total", "Redirects received.", c.moved);
    page.counter("rhumb_gone_total", "URLs answered with a 4xx status.", c.gone);
    page.counter("rhumb_retries_total", "Failures that are tried again.", c.retries);
    page.counter("rhumb_revisits_total", "Visits to pages visited before.", c.revisits);
    page.counter("rhumb_discoveries_total", "Links, redirects and seeds found.", c.discoveries);
    page.counter("rhumb_robots_fetched_total", "robots.txt files fetched.", c.robots_fetched);
    page.counter("rhumb_requests_total", "Requests begun, robots.txt included.", c.asked);
    page.counter("rhumb_changes_seen_total", "Revisits that found a change.", c.changes_seen);
    page.counter("rhumb_announced_total", "Changes announced by sitemaps, feeds.", c.announced);
    page.by_name(
        ("rhumb_failed_total", "URLs given up, by kind of failure.", "counter"),
        "kind",
        FailKind::ALL.iter().map(|&kind| (kind.word(), c.failed[kind as usize])),
    );
    // A refused URL may be admitted later, when the rules change: not a counter.
    page.by_name(
        ("rhumb_refused_urls", "URLs that are refused, by cause.", "gauge"),
        "why",
        Refusal::ALL.iter().map(|&why| (why.word(), c.refused[why as usize])),
    );
    page.gauge("rhumb_scripted_pages", "Pages with next to no text without scripts.", c.scripted);
    page.gauge("rhumb_known_urls", "URLs admitted or refused.", c.known);
    page.gauge("rhumb_queue_urls", "URLs that wait to be fetched.", c.queued);
    page.gauge("rhumb_hosts", "Hosts known.", c.hosts);
    page.gauge("rhumb_in_flight", "Requests under way.", s.in_flight as u64);
    page.gauge("rhumb_hosts_awake", "Hosts with a queue in memory.", s.hosts_awake as u64);
    page.gauge("rhumb_hosts_ready", "Hosts due that wait for a slot.", s.hosts_ready as u64);
    page.gauge("rhumb_hosts_resolving", "Hosts being resolved.", s.hosts_resolving as u64);
    page.gauge("rhumb_hosts_asleep", "Hosts that wait for room in memory.", s.hosts_asleep);
    page.gauge("rhumb_hosts_asleep_until", "Hosts that sleep until due.", s.hosts_asleep_until);
    page.gauge("rhumb_outbox_chunks", "Discoveries not yet sifted, in chunks.", s.outbox);
    page.coverage(s.coverage.as_ref());
    page.topic(s.topic.as_ref(), s.topic_estimate());
    page.collection(s.collection.as_ref());
    let peak = now.peak_rss_bytes;
    page.gauge("rhumb_peak_resident_memory_bytes", "The most memory ever resident.", peak);
    page.gauge("process_resident_memory_bytes", "Resident memory in bytes.", now.rss_bytes);
    let started_s = now.started_at.0 / 1_000_000;
    page.gauge("process_start_time_seconds", "Start of this run, Unix time.", started_s);
    page.0
}

/// The text form, version 0.0.4. Names and labels are ours and need no escapes.
struct Exposition(String);

impl Exposition {
    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head((name, help, "counter"));
        self.line(format_args!("{name} {value}"));
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head((name, help, "gauge"));
        self.line(format_args!("{name} {value}"));
    }

    /// Shares of all importance; left out while they are computed anew.
    fn coverage(&mut self, coverage: Option<&Coverage>) {
        let Some(coverage) = coverage else { return };
        for (name, help, share) in [
            ("rhumb_coverage_bound", "Importance covered for certain.", coverage.bound),
            ("rhumb_coverage_ceiling", "What the bound cannot exceed.", coverage.ceiling),
            ("rhumb_coverage_frontier", "Importance on URLs that wait.", coverage.frontier),
            ("rhumb_coverage_dangling", "Settled on pages without links.", coverage.dangling),
        ] {
            self.head((name, help, "gauge"));
            self.line(format_args!("{name} {share}"));
        }
        let name = "rhumb_coverage_lost";
        self.head((name, "Importance that reached URLs never fetched, by cause.", "gauge"));
        for (cause, share) in &coverage.lost {
            self.line(format_args!("{name}{{cause=\"{cause}\"}} {share}"));
        }
    }

    /// Shares of the crawl's topic.
    fn topic(&mut self, topic: Option<&TopicCoverage>, estimate: Option<f64>) {
        let Some(topic) = topic else { return };
        for (name, help, share) in [
            ("rhumb_topic_bound", "The topic's share covered for certain.", Some(topic.bound)),
            ("rhumb_topic_ceiling", "What the topic's bound cannot exceed.", Some(topic.ceiling)),
            ("rhumb_topic_frontier", "What URLs that wait could bring.", Some(topic.frontier)),
            ("rhumb_topic_estimate", "The topic's share covered, estimated.", estimate),
        ] {
            if let Some(share) = share {
                self.head((name, help, "gauge"));
                self.line(format_args!("{name} {share}"));
            }
        }
        let name = "rhumb_topic_lost";
        self.head((name, "What URLs never fetched could have brought, by cause.", "gauge"));
        for (cause, share) in &topic.lost {
            self.line(format_args!("{name}{{cause=\"{cause}\"}} {share}"));
        }
        self.gauge("rhumb_topic_pages", "Relevant pages.", topic.relevant_pages);
    }

    /// How the pages of a crawl that goes on are doing.
    fn collection(&mut self, collection: Option<&RevisitCollection>) {
        let Some(collection) = collection else { return };
        let pages = collection.pages as f64;
        for (name, help, value) in [
            ("rhumb_collection_pages", "Pages that wait for another visit.", pages),
            ("rhumb_collection_freshness", "Share believed unchanged.", collection.freshness),
            ("rhumb_collection_age_seconds", "Mean age, estimated.", collection.age_s),
            ("rhumb_collection_delay", "Changes unseen for each, estimated.", collection.delay),
            ("rhumb_visit_price", "What a visit must bring to be made.", collection.price),
            ("rhumb_visit_late_seconds", "How late visits come, of late.", collection.late_s),
            ("rhumb_budget_asked", "Requests in the last period.", collection.asked as f64),
            ("rhumb_budget_allowed", "What the budget gave for it.", collection.allowed),
        ] {
            self.head((name, help, "gauge"));
            self.line(format_args!("{name} {value}"));
        }
    }

    fn by_name<'a>(
        &mut self,
        family: (&str, &str, &str),
        label: &str,
        values: impl Iterator<Item = (&'a str, u64)>,
    ) {
        self.head(family);
        for (name, value) in values {
            self.line(format_args!("{}{{{label}=\"{name}\"}} {value}", family.0));
        }
    }

    fn head(&mut self, (name, help, kind): (&str, &str, &str)) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn line(&mut self, text: fmt::Arguments<'_>) {
        writeln!(self.0, "{text}").expect("a string takes all that memory does");
    }
}
