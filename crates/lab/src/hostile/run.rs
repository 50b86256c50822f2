//! One crawl over the hostile web, by the release binary, and the verdicts.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_page::url::Url;
use serde::Serialize;
use serde_json::Value;

use super::judge::{self, KindVerdict, ReportedFailures};
use super::kind::HostileKind;
use super::{HEALTHY, HostileWeb, kept, kinds};

/// A crawl that has not stopped so long after its limit is ended by us.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What is there when a crawl has ended; nothing else.
const LEFT_BEHIND: [&str; 3] = ["crawl", "events.jsonl", "stderr.txt"];

#[derive(Clone, Debug)]
pub struct HostileOptions {
    /// The program that crawls.
    pub program: PathBuf,
    /// An empty directory.
    pub dir: PathBuf,
    /// `--max-time` of the crawl.
    pub time: Duration,
    /// These kinds beside the healthy one; all if empty.
    pub only: Vec<String>,
    /// Flags of `rhumb crawl` besides.
    pub flags: Vec<String>,
}

/// What came of all of it.
#[derive(Clone, Debug, Serialize)]
pub struct HostileOutcome {
    pub seconds: f64,
    /// From the limit on time to the end of the process; 0 if it ended before.
    pub stop_seconds: f64,
    pub healthy_pages: u64,
    pub peak_rss_bytes: u64,
    /// To one address, as the servers count them.
    pub open_connections_max: u64,
    pub stopped_because: String,
    pub pages: u64,
    /// Response and revisit records.
    pub captures: u64,
    /// What is wrong beside the kinds.
    pub faults: Vec<String>,
    pub kinds: Vec<KindVerdict>,
}

pub fn run(options: &HostileOptions) -> Result<HostileOutcome, Error> {
    let kinds = chosen(&options.only)?;
    let web = HostileWeb::serve(kinds).map_err(|error| trouble("serving", &error))?;
    let ended = crawl(options, &web).map_err(|error| trouble("crawl", &error))?;
    judge_all(options, &web, &ended).map_err(|error| trouble("reading the crawl", &error))
}

fn trouble(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{what}: {error}"))
}

fn chosen(only: &[String]) -> Result<Vec<HostileKind>, Error> {
    let mut kinds = kinds::all();
    for name in only {
        if !kinds.iter().any(|kind| kind.name == name) {
            return Err(Error::new(ErrorKind::Invalid, format!("there is no kind {name:?}")));
        }
    }
    if !only.is_empty() {
        kinds.retain(|kind| kind.name == HEALTHY || only.iter().any(|name| name == kind.name));
    }
    Ok(kinds)
}

struct CrawlEnd {
    seconds: f64,
    peak_rss_bytes: u64,
    faults: Vec<String>,
}

fn crawl(options: &HostileOptions, web: &HostileWeb) -> io::Result<CrawlEnd> {
    let stderr = fs::File::create(options.dir.join("stderr.txt"))?;
    let mut child = Command::new(&options.program)
        .args(["crawl", &web.seed(), "--allow-private", "--scope", "any", "--delay", "50ms"])
        .args(["--max-pages-per-host", "300", "--resolver", &web.dns.to_string()])
        .args(["--max-time", &format!("{}ms", options.time.as_millis())])
        .arg("--events")
        .arg(options.dir.join("events.jsonl"))
        .arg("--dir")
        .arg(options.dir.join("crawl"))
        .args(&options.flags)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()?;
    let began = Instant::now();
    let mut end = CrawlEnd { seconds: 0.0, peak_rss_bytes: 0, faults: Vec::new() };
    loop {
        end.peak_rss_bytes = end.peak_rss_bytes.max(peak_rss_bytes(&child));
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                end.faults.push(format!("the crawl ended with {status}"));
            }
            break;
        }
        if began.elapsed() > options.time + PATIENCE {
            end.faults.push("the crawl did not stop and was killed".into());
            child.kill()?;
            child.wait()?;
            break;
        }
        thread::sleep(LOOK_EVERY);
    }
    end.seconds = began.elapsed().as_secs_f64();
    Ok(end)
}

fn peak_rss_bytes(child: &Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let status = fs::read_to_string(path).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kibibytes.unwrap_or(0u64) * 1_024
}

fn judge_all(
    options: &HostileOptions,
    web: &HostileWeb,
    ended: &CrawlEnd,
) -> io::Result<HostileOutcome> {
    let dir = options.dir.join("crawl");
    let kept = kept::read(&dir, &web.kinds)?;
    let failures = reported_failures(&options.dir.join("events.jsonl"))?;
    let report: Value = serde_json::from_slice(&fs::read(dir.join("report.json"))?)?;
    let number = |key: &str| report[key].as_u64().unwrap_or(0);
    let kinds: Vec<KindVerdict> = (0..web.kinds.len())
        .map(|index| judge::judge(&web.kinds[index], &web.ledgers.of(index), &kept, &failures))
        .collect();
    let mut faults = [ended.faults.clone(), kept.faults.clone()].concat();
    faults.extend(judge_traces(options, &report)?);
    if web.ledgers.decoy_connections() > 0 {
        faults.push("connected to the address of an answer to no question of ours".into());
    }
    Ok(HostileOutcome {
        seconds: ended.seconds,
        stop_seconds: (ended.seconds - options.time.as_secs_f64()).max(0.0),
        healthy_pages: judge::healthy_pages(&kept),
        peak_rss_bytes: ended.peak_rss_bytes.max(number("peak_rss_bytes")),
        open_connections_max: kinds.iter().map(|kind| kind.open_max).max().unwrap_or(0),
        stopped_because: report["stopped_because"].as_str().unwrap_or_default().to_owned(),
        pages: number("pages"),
        captures: kept.captures,
        faults,
        kinds,
    })
}

/// What is wrong with the report, with what was said, and with what lies about.
fn judge_traces(options: &HostileOptions, report: &Value) -> io::Result<Vec<String>> {
    const ENDS: [&str; 3] = ["max_time", "finished", "hosts_failing"];
    let mut faults = Vec::new();
    let because = report["stopped_because"].as_str().unwrap_or_default();
    if !ENDS.contains(&because) {
        faults.push(format!("the report says that it stopped because of {because:?}"));
    }
    if report["failed"].get("internal").is_some() {
        faults.push(format!("failures of our own: {}", report["failed"]));
    }
    let said = fs::read_to_string(options.dir.join("stderr.txt"))?;
    faults.extend(said.lines().find(|line| line.contains("panicked")).map(str::to_owned));
    for entry in fs::read_dir(&options.dir)? {
        let name = entry?.file_name();
        if !LEFT_BEHIND.iter().any(|known| name == *known) {
            faults.push(format!("{} was written outside the directory", name.display()));
        }
    }
    if Path::new("/tmp/hostile-out").exists() {
        faults.push("/tmp/hostile-out was written".into());
    }
    Ok(faults)
}

fn reported_failures(events: &Path) -> io::Result<ReportedFailures> {
    let mut failures = ReportedFailures::new();
    let mut torn = BTreeSet::new();
    for line in BufReader::new(fs::File::open(events)?).lines() {
        let line = line?;
        let Ok(event) = serde_json::from_str::<Value>(&line) else {
            torn.insert(line);
            continue;
        };
        let place = match event["event"].as_str() {
            Some("failed") => &event["url"],
            Some("host_failing") => &event["host"],
            Some("robots") if !event["kind"].is_null() => &event["host"],
            _ => continue,
        };
        let url = Url::parse(place.as_str().unwrap_or_default()).ok();
        let host = url.map(|url| url.host().to_string()).unwrap_or_default();
        let (Some(label), Some(kind)) = (judge::label_of(&host), event["kind"].as_str()) else {
            continue;
        };
        let of_kind = failures.entry(label.to_owned()).or_default();
        *of_kind.entry(kind.to_owned()).or_default() += 1;
    }
    match torn.pop_first() {
        Some(line) => Err(io::Error::other(format!("no event: {line}"))),
        None => Ok(failures),
    }
}
