//! What a known URL costs: the memory of a crawl that knows so many, and the time to resume it.
//!
//! For each number of URLs a crawl of its own reads lists until it knows them, is killed as `kill
//! -9` does, and is started again; a resume has taken as long as it takes until the first request
//! of the new process arrives.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rhumb_engine::error::Error;
use serde::Serialize;

use super::lists::Lists;
use super::scratch::Scratch;
use super::{failed, trouble};
use rhumb_node::watch::CrawlReport;

/// Far more than any level should take; a bench is to end.
const LEVEL_TIME_MAX: Duration = Duration::from_secs(3_600);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Silent hosts are waited for until the crawl is killed.
const CONFIG: &str = "[limits]\nfirst_byte_time_max = \"2h\"\ntotal_time_max = \"2h\"\n";

#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// Numbers of URLs, each a crawl of its own.
    pub urls: Vec<u64>,
    pub tmp: PathBuf,
}

#[derive(Clone, Debug, Serialize)]
pub struct Level {
    pub known_urls: u64,
    /// Until they were known.
    pub seconds: f64,
    pub peak_rss_bytes: u64,
    /// Compared with the level before; none for the first.
    pub bytes_per_further_url: Option<f64>,
    /// From the start of a process after kill -9 to its first request.
    pub resume_seconds: f64,
    pub resumed_peak_rss_bytes: u64,
}

/// Runs all levels; `told` hears of each.
pub fn run(options: &MemoryOptions, mut told: impl FnMut(&Level)) -> Result<Vec<Level>, Error> {
    let scratch = Scratch::create(&options.tmp).map_err(|e| trouble("scratch directory", &e))?;
    let lists = Lists::start().map_err(|e| trouble("serving", &e))?;
    let mut levels: Vec<Level> = Vec::with_capacity(options.urls.len());
    for &urls in &options.urls {
        let mut level = measure(&scratch, &lists, urls)?;
        level.bytes_per_further_url = levels.last().and_then(|before| {
            let more = level.known_urls.checked_sub(before.known_urls).filter(|&n| n > 0)?;
            let bytes = level.peak_rss_bytes as f64 - before.peak_rss_bytes as f64;
            Some(bytes / more as f64)
        });
        told(&level);
        levels.push(level);
    }
    Ok(levels)
}

fn measure(scratch: &Scratch, lists: &Lists, urls: u64) -> Result<Level, Error> {
    let dir = scratch.fresh("crawl").map_err(|e| trouble("crawl", &e))?;
    let (seeds, config) = (scratch.path().join("lists.txt"), scratch.path().join("limits.toml"));
    fs::write(&seeds, lists.seeds(urls))
        .and_then(|()| fs::write(&config, CONFIG))
        .map_err(|e| trouble("seeds", &e))?;
    let began = Instant::now();
    let mut crawl = Running::start(&dir, &seeds, &config)?;
    let known = |report: Option<CrawlReport>| report.map(|r| r.known_urls).filter(|&n| n >= urls);
    let known_urls = crawl.wait_for(|| known(CrawlReport::read(&dir).ok().flatten()))?;
    let (seconds, peak_rss_bytes) = (began.elapsed().as_secs_f64(), crawl.peak_rss_bytes());
    drop(crawl);
    let (asked, began) = (lists.asked(), Instant::now());
    let mut crawl = Running::start(&dir, &seeds, &config)?;
    crawl.wait_for(|| (lists.asked() > asked).then_some(()))?;
    Ok(Level {
        known_urls,
        seconds,
        peak_rss_bytes,
        bytes_per_further_url: None,
        resume_seconds: began.elapsed().as_secs_f64(),
        resumed_peak_rss_bytes: crawl.peak_rss_bytes(),
    })
}

/// A crawl that is killed when it is dropped.
struct Running {
    child: Child,
}

impl Running {
    fn start(dir: &Path, seeds: &Path, config: &Path) -> Result<Running, Error> {
        let program = std::env::current_exe().map_err(|e| trouble("this program", &e))?;
        let child = Command::new(program)
            .args(["--quiet", "crawl", "--scope", "any", "--allow-private", "--archive", "none"])
            .args(["--delay", "100ms", "--delay-factor", "0", "--concurrency", "512"])
            .args(["--config".as_ref(), config.as_os_str()])
            .args(["--seeds".as_ref(), seeds.as_os_str()])
            .args(["--dir".as_ref(), dir.as_os_str()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| trouble("crawl", &e))?;
        Ok(Running { child })
    }

    fn wait_for<T>(&mut self, mut look: impl FnMut() -> Option<T>) -> Result<T, Error> {
        let began = Instant::now();
        loop {
            if let Some(found) = look() {
                return Ok(found);
            }
            if let Some(status) = self.child.try_wait().map_err(|e| trouble("crawl", &e))? {
                return Err(failed(format!("the crawl ended too early: {status}")));
            }
            if began.elapsed() > LEVEL_TIME_MAX {
                return Err(failed("the crawl does not get there"));
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn peak_rss_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        kibibytes.unwrap_or(0u64) * 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
