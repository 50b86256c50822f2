//! Does it hold for hours? A crawl that goes on, over a web that changes, fails and misleads, in a
//! process of its own; what the kernel and the crawl's report say of it at even intervals, and the
//! slope of each series.
//!
//! The first pages of a crawl fill its buffers, so slopes are those of the second half, by least
//! squares, and are given with the mean of that half: a leak is a slope that is much of it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rhumb_engine::error::Error;
use rhumb_node::settings::NamedValues;
use rhumb_node::watch::CrawlReport;
use rhumb_sim::web::WebConfig;
use serde::Serialize;

use super::scratch::Scratch;
use super::{failed, trouble};
use crate::hostile::{HostileWeb, kinds};
use crate::plot::{Axis, LineChart, PlotLine, Scale, Stroke};
use crate::serve::{ServeOptions, Served};

/// After its time a crawl has this long to end; then it is a failure.
const END_WAIT_MAX: Duration = Duration::from_secs(120);
/// No budget: what is measured is the machine.
const BUDGET: &str = "1000000000/day";
/// Calendars and sessions without end would grow the queue for ever, as they should.
const DEPTH_MAX: &str = "16";
const HOST_PAGES_MAX: &str = "1000";
const SESSIONS: &str = r"/visit\?token=";
const SECONDS_PER_HOUR: f64 = 3_600.0;
/// Samples of the first and last part whose means are compared.
const ENDS: usize = 4;

#[derive(Clone, Debug)]
pub struct SoakOptions {
    pub web: Soaked,
    pub pages: u32,
    pub time: Duration,
    pub every: Duration,
    pub plot: Option<PathBuf>,
    pub tmp: PathBuf,
}

/// Which web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soaked {
    /// About as odd as the real one; it changes within minutes.
    Usual,
    /// One site for each kind of misbehaviour ([`crate::hostile`]).
    Hostile,
}

impl NamedValues for Soaked {
    const WHAT: &'static str = "web";
    const WORDS: &'static [(&'static str, Soaked)] =
        &[("usual", Soaked::Usual), ("hostile", Soaked::Hostile)];
}

/// It is served until this is dropped.
enum Serving {
    Usual(Served),
    Hostile(HostileWeb),
}

impl Serving {
    fn start(options: &SoakOptions) -> std::io::Result<Serving> {
        match options.web {
            Soaked::Hostile => HostileWeb::serve(kinds::all()).map(Serving::Hostile),
            Soaked::Usual => {
                let sites = (options.pages / 10).max(1);
                let demo = WebConfig::demo();
                let (port, pages, seeds) = (0, options.pages, sites.min(50));
                let config = WebConfig { port, pages, sites, seeds, ..demo };
                Served::start(config, &ServeOptions::default()).map(Serving::Usual)
            }
        }
    }

    fn name_server(&self) -> SocketAddr {
        match self {
            Serving::Usual(served) => served.dns,
            Serving::Hostile(web) => web.dns,
        }
    }

    /// One a line.
    fn seeds(&self) -> String {
        match self {
            Serving::Usual(served) => {
                served.web.seeds().iter().map(|url| format!("{url}\n")).collect()
            }
            Serving::Hostile(web) => web.seed(),
        }
    }
}

/// What was seen at one moment.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SoakSample {
    pub seconds: f64,
    pub rss_bytes: u64,
    /// Open files and sockets.
    pub handles: u64,
    pub threads: u64,
    pub known_urls: u64,
    pub queued: u64,
    pub in_flight: u64,
    pub disk_bytes: u64,
    /// Answers received since the sample before.
    pub answers_per_s: f64,
}

/// How one series went on.
#[derive(Clone, Debug, Serialize)]
pub struct Trend {
    pub what: &'static str,
    pub first_quarter: f64,
    pub last_quarter: f64,
    /// Of the second half.
    pub mean: f64,
    pub slope_per_hour: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Soak {
    pub seconds: f64,
    pub pages: u64,
    pub answers: u64,
    pub stopped_because: Option<String>,
    pub trends: Vec<Trend>,
    pub samples: Vec<SoakSample>,
}

/// Serves, crawls for the time that was asked for, and looks; `told` hears of each sample.
pub fn run(options: &SoakOptions, mut told: impl FnMut(&SoakSample)) -> Result<Soak, Error> {
    let scratch = Scratch::create(&options.tmp).map_err(|e| trouble("scratch directory", &e))?;
    let serving = Serving::start(options).map_err(|e| trouble("serving", &e))?;
    let dir = scratch.fresh("crawl").map_err(|e| trouble("crawl", &e))?;
    let mut crawl = Running(start(options, &serving, scratch.path(), &dir)?);
    let (began, mut samples) = (Instant::now(), Vec::new());
    let mut answers = 0;
    while !crawl.has_ended()? {
        if began.elapsed() > options.time + END_WAIT_MAX {
            return Err(failed("the crawl does not end"));
        }
        thread::sleep(options.every.min(END_WAIT_MAX));
        let Some((mut sample, now)) = look(crawl.0.id(), &dir) else { continue };
        sample.seconds = began.elapsed().as_secs_f64();
        let since = sample.seconds - samples.last().map_or(0.0, |s: &SoakSample| s.seconds);
        sample.answers_per_s = now.saturating_sub(answers) as f64 / since.max(0.001);
        answers = now;
        told(&sample);
        samples.push(sample);
    }
    let report = CrawlReport::read(&dir)?.unwrap_or_default();
    let soak = Soak {
        seconds: began.elapsed().as_secs_f64(),
        pages: report.pages,
        answers: report.answers,
        stopped_because: report.stopped_because,
        trends: trends(&samples),
        samples,
    };
    if let Some(path) = &options.plot {
        chart(&soak).write(path).map_err(|e| trouble("plot", &e))?;
    }
    Ok(soak)
}

fn start(
    options: &SoakOptions,
    serving: &Serving,
    scratch: &Path,
    dir: &Path,
) -> Result<Child, Error> {
    let program = std::env::current_exe().map_err(|e| trouble("this program", &e))?;
    let seeds = scratch.join("seeds.txt");
    fs::write(&seeds, serving.seeds()).map_err(|e| trouble("seeds", &e))?;
    Command::new(program)
        .args(["--quiet", "crawl", "--scope", "any", "--allow-private", "--continuous"])
        .args(["--budget", BUDGET, "--delay", "50ms", "--delay-factor", "0"])
        .args(["--max-depth", DEPTH_MAX, "--exclude", SESSIONS])
        .args(["--max-pages-per-host", HOST_PAGES_MAX])
        .args(["--max-time", &format!("{}s", options.time.as_secs().max(1))])
        .args(["--resolver", &serving.name_server().to_string()])
        .args(["--seeds".as_ref(), seeds.as_os_str(), "--dir".as_ref(), dir.as_os_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| trouble("crawl", &e))
}

/// A crawl that is killed when it is dropped.
struct Running(Child);

impl Running {
    fn has_ended(&mut self) -> Result<bool, Error> {
        match self.0.try_wait().map_err(|e| trouble("crawl", &e))? {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => Err(failed(format!("the crawl failed: {status}"))),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended by itself, unless something failed here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is to be seen, and all answers so far; none while there is no report yet, or when the
/// process has just ended.
fn look(process: u32, dir: &Path) -> Option<(SoakSample, u64)> {
    let proc = PathBuf::from(format!("/proc/{process}"));
    let status = fs::read_to_string(proc.join("status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let report = CrawlReport::read(dir).ok().flatten()?;
    let sample = SoakSample {
        seconds: 0.0,
        rss_bytes: field("VmRSS:")? * 1024,
        handles: fs::read_dir(proc.join("fd")).ok()?.count() as u64,
        threads: field("Threads:")?,
        known_urls: report.known_urls,
        queued: report.queued,
        in_flight: report.in_flight,
        disk_bytes: bytes_in(&dir.join("state")),
        answers_per_s: 0.0,
    };
    Some((sample, report.answers))
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_in(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// A series of what is looked at.
type Series = (&'static str, fn(&SoakSample) -> f64);

const SERIES: [Series; 7] = [
    ("memory, bytes", |s| s.rss_bytes as f64),
    ("handles", |s| s.handles as f64),
    ("threads", |s| s.threads as f64),
    ("known URLs", |s| s.known_urls as f64),
    ("queued", |s| s.queued as f64),
    ("state, bytes", |s| s.disk_bytes as f64),
    ("answers/s", |s| s.answers_per_s),
];

fn trends(samples: &[SoakSample]) -> Vec<Trend> {
    let quarter = (samples.len() / ENDS).max(1).min(samples.len());
    let half = &samples[samples.len() / 2..];
    let of = |(what, value): &Series| {
        let mean =
            |some: &[SoakSample]| some.iter().map(value).sum::<f64>() / (some.len().max(1) as f64);
        Trend {
            what,
            first_quarter: mean(&samples[..quarter]),
            last_quarter: mean(&samples[samples.len() - quarter..]),
            mean: mean(half),
            slope_per_hour: slope(half.iter().map(|s| (s.seconds, value(s)))) * SECONDS_PER_HOUR,
        }
    };
    SERIES.iter().map(of).collect()
}

/// By least squares; 0 of fewer than two points.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let mean = |of: fn((f64, f64)) -> f64| points.clone().map(of).sum::<f64>() / count.max(1.0);
    let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
    let above = |(x, y): (f64, f64)| (x - x_mean) * (y - y_mean);
    let below = |(x, _): (f64, f64)| (x - x_mean) * (x - x_mean);
    let spread: f64 = points.clone().map(below).sum();
    if spread > 0.0 { points.map(above).sum::<f64>() / spread } else { 0.0 }
}

/// Each series as a share of its greatest value.
fn chart(soak: &Soak) -> LineChart {
    let drawn = SERIES.iter().filter(|(what, _)| *what != "threads" && *what != "state, bytes");
    let lines = drawn.enumerate().map(|(colour, (what, value))| {
        let most = soak.samples.iter().map(value).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let points = soak.samples.iter().map(|s| (s.seconds / 60.0, value(s) / most));
        let name = format!("{what}, up to {most:.0}");
        PlotLine { name, colour, stroke: Stroke::Solid, points: points.collect() }
    });
    LineChart {
        title: "A crawl that goes on: shares of each series' greatest value".to_owned(),
        x: Axis::new("minutes", Scale::Linear),
        y: Axis::new("share", Scale::Linear).between(0.0, 1.0),
        lines: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_that_of_the_second_half() {
        let sample = |n: u64| SoakSample {
            seconds: n as f64,
            // Grows to begin with, then by one byte a second.
            rss_bytes: if n < 50 { 1_000 * n } else { 50_000 + n },
            handles: 7,
            ..SoakSample::default()
        };
        let samples: Vec<SoakSample> = (0..100).map(sample).collect();
        let trends = trends(&samples);
        assert!((trends[0].slope_per_hour - 3_600.0).abs() < 1e-6, "{:?}", trends[0]);
        assert_eq!((trends[1].mean, trends[1].slope_per_hour), (7.0, 0.0));
        assert!(self::trends(&[]).iter().all(|trend| trend.mean == 0.0));
    }
}
