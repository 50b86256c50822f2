//! The whole crawl beside the plain client: pages per second, CPU time per page, memory.
//!
//! The plain client knows its URLs, keeps connections alive and throws bodies away: what this
//! machine can do at most with the server beside it. The crawl finds the same pages by itself, from
//! the front pages of all sites: as people crawl, the important pages first and texts compared, and
//! as simply as other crawlers do. wget2 does that without anything durable; it counts only when it
//! is installed. Another build of this program may crawl in turns with this one: what a change
//! costs. wrk fetches one page over and over, and so does the plain client: to show that
//! the plain client is not the slow one.

use std::path::{Path, PathBuf};
use std::process::Command;

use rhumb_engine::error::Error;
use rhumb_sim::web::WebConfig;
use serde::{Deserialize, Serialize};

use super::scratch::Scratch;
use super::{failed, median, process, rival, trouble};
use crate::serve::plain::{self, PlainOptions};
use crate::serve::{ServeOptions, Served};
use rhumb_node::settings::ArchiveKind;

const PLAIN_CONNECTIONS: usize = 64;
/// What other crawlers do: breadth first, and pages told apart by their bytes alone.
const SIMPLY: [&str; 4] = ["--order", "bfs", "--near-duplicates", "off"];
/// Pages that the plain client fetches beside wrk.
const ONE_PAGE_TIMES: usize = 60_000;

#[derive(Clone, Debug)]
pub struct CrawlOptions {
    pub pages: u32,
    pub hosts: u32,
    pub page_bytes: u32,
    pub concurrency: usize,
    pub rounds: usize,
    pub archives: Vec<ArchiveKind>,
    /// Other programs are left out, installed or not.
    pub alone: bool,
    /// Another build of this program; if there is one, simple crawls are left out.
    pub against: Option<PathBuf>,
    /// Flags of the crawls; if there are any, only crawls with them are measured.
    pub crawl_flags: Vec<String>,
    /// Where crawls are written while they are measured.
    pub tmp: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BenchContender {
    Plain,
    CrawlWithoutArchive,
    CrawlWithWarc,
    SimplyWithoutArchive,
    SimplyWithWarc,
    OtherWithoutArchive,
    OtherWithWarc,
    Wget2,
}

/// One contender in one round.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lap {
    pub pages: u64,
    pub seconds: f64,
    pub pages_per_s: f64,
    pub client_cpu_us_per_page: f64,
    pub server_cpu_us_per_page: f64,
    /// 0 if unknown.
    pub peak_rss_bytes: u64,
    /// To the plain client, as it ran right before and right after.
    pub ratio: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct ContenderStanding {
    pub contender: BenchContender,
    /// Of each number, over the rounds.
    pub median: Lap,
    pub laps: Vec<Lap>,
}

/// One page, over and over.
#[derive(Clone, Debug, Serialize)]
pub struct BesideWrk {
    pub plain_pages_per_s: f64,
    pub wrk_pages_per_s: f64,
    pub ratio: f64,
}

/// This program to the other build of it: medians to medians.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    pub contender: BenchContender,
    pub pages_per_s: f64,
    pub client_cpu_us_per_page: f64,
    pub peak_rss_bytes: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct CrawlFigures {
    pub pages: u32,
    pub hosts: u32,
    pub page_bytes: u32,
    pub concurrency: usize,
    pub standings: Vec<ContenderStanding>,
    /// One for each crawl, if another build was named.
    pub against: Vec<Against>,
    /// None if it is not installed.
    pub beside_wrk: Option<BesideWrk>,
    /// Contenders that are not here.
    pub absent: Vec<&'static str>,
}

/// Runs all rounds; `told` hears of each lap.
pub fn run(
    options: &CrawlOptions,
    mut told: impl FnMut(BenchContender, &Lap),
) -> Result<CrawlFigures, Error> {
    let scratch = Scratch::create(&options.tmp).map_err(|e| trouble("scratch directory", &e))?;
    let serving = ServeOptions { latency: false, ..ServeOptions::default() };
    let served = Served::start(web(options), &serving).map_err(|e| trouble("serving", &e))?;
    let course = Course { options, served, scratch };
    let seeds: String = course.served.web.seeds().iter().map(|url| format!("{url}\n")).collect();
    std::fs::write(course.seeds(), seeds).map_err(|e| trouble("seeds", &e))?;
    let (contenders, absent) = contenders(options);
    let mut standings: Vec<ContenderStanding> = contenders
        .iter()
        .map(|&contender| ContenderStanding { contender, median: Lap::default(), laps: Vec::new() })
        .collect();
    let (plain, others) = standings.split_first_mut().expect("the plain client");
    for _ in 0..options.rounds {
        let mut before = course.plain_lap(plain, &mut told)?;
        for standing in &mut *others {
            let mut lap = course.lap(standing.contender)?;
            let after = course.plain_lap(plain, &mut told)?;
            lap.ratio = lap.pages_per_s / ((before + after) / 2.0);
            before = after;
            told(standing.contender, &lap);
            standing.laps.push(lap);
        }
    }
    for standing in &mut standings {
        standing.median = middle(&standing.laps);
    }
    let has_wrk = !options.alone && rival::is_installed("wrk");
    let beside_wrk = has_wrk.then(|| course.beside_wrk()).transpose()?;
    let CrawlOptions { pages, hosts, page_bytes, concurrency, .. } = *options;
    let against = against(&standings);
    Ok(CrawlFigures {
        pages,
        hosts,
        page_bytes,
        concurrency,
        standings,
        against,
        beside_wrk,
        absent,
    })
}

fn web(options: &CrawlOptions) -> WebConfig {
    WebConfig {
        port: 0,
        sites: options.hosts,
        seeds: options.hosts,
        pages: options.pages.max(options.hosts),
        page_bytes_mean: options.page_bytes,
        ..WebConfig::bench()
    }
}

fn contenders(options: &CrawlOptions) -> (Vec<BenchContender>, Vec<&'static str>) {
    let mut contenders = vec![BenchContender::Plain];
    let crawls = [BenchContender::CrawlWithoutArchive, BenchContender::CrawlWithWarc];
    let simple = [BenchContender::SimplyWithoutArchive, BenchContender::SimplyWithWarc];
    let other = [BenchContender::OtherWithoutArchive, BenchContender::OtherWithWarc];
    let second = match options.against {
        Some(_) => Some(other),
        None if options.crawl_flags.is_empty() => Some(simple),
        None => None,
    };
    for [without_archive, with_warc] in [Some(crawls), second].into_iter().flatten() {
        contenders.extend(options.archives.iter().map(|archive| match archive {
            ArchiveKind::None => without_archive,
            ArchiveKind::Warc => with_warc,
        }));
    }
    let mut absent = Vec::new();
    if options.alone {
        return (contenders, absent);
    }
    match rival::is_installed("wget2") {
        true => contenders.push(BenchContender::Wget2),
        false => absent.push("wget2"),
    }
    if !rival::is_installed("wrk") {
        absent.push("wrk");
    }
    (contenders, absent)
}

fn middle(laps: &[Lap]) -> Lap {
    let of = |number: fn(&Lap) -> f64| median(laps.iter().map(number).collect());
    Lap {
        pages: of(|lap| lap.pages as f64) as u64,
        seconds: of(|lap| lap.seconds),
        pages_per_s: of(|lap| lap.pages_per_s),
        client_cpu_us_per_page: of(|lap| lap.client_cpu_us_per_page),
        server_cpu_us_per_page: of(|lap| lap.server_cpu_us_per_page),
        peak_rss_bytes: of(|lap| lap.peak_rss_bytes as f64) as u64,
        ratio: of(|lap| lap.ratio),
    }
}

fn against(standings: &[ContenderStanding]) -> Vec<Against> {
    let of = |contender| standings.iter().find(|standing| standing.contender == contender);
    let pairs = [
        (BenchContender::CrawlWithoutArchive, BenchContender::OtherWithoutArchive),
        (BenchContender::CrawlWithWarc, BenchContender::OtherWithWarc),
    ];
    let both = pairs.into_iter().filter_map(|(ours, theirs)| Some((of(ours)?, of(theirs)?)));
    both.map(|(ours, theirs)| {
        let (contender, ours, theirs) = (ours.contender, &ours.median, &theirs.median);
        Against {
            contender,
            pages_per_s: ours.pages_per_s / theirs.pages_per_s,
            client_cpu_us_per_page: ours.client_cpu_us_per_page / theirs.client_cpu_us_per_page,
            peak_rss_bytes: ours.peak_rss_bytes as f64 / theirs.peak_rss_bytes as f64,
        }
    })
    .collect()
}

/// What all laps share.
struct Course<'a> {
    options: &'a CrawlOptions,
    served: Served,
    scratch: Scratch,
}

/// What the report of a crawl must have: another build may know less than this one, or more.
#[derive(Deserialize)]
struct Reported {
    pages: u64,
    peak_rss_bytes: u64,
}

/// What a contender says of itself.
struct Run {
    pages: u64,
    seconds: f64,
    cpu_us: u64,
    peak_rss_bytes: u64,
}

impl Course<'_> {
    fn seeds(&self) -> PathBuf {
        self.scratch.path().join("seeds.txt")
    }

    /// Its pages per second.
    fn plain_lap(
        &self,
        plain: &mut ContenderStanding,
        told: &mut impl FnMut(BenchContender, &Lap),
    ) -> Result<f64, Error> {
        let lap = Lap { ratio: 1.0, ..self.lap(BenchContender::Plain)? };
        told(BenchContender::Plain, &lap);
        let pages_per_s = lap.pages_per_s;
        plain.laps.push(lap);
        Ok(pages_per_s)
    }

    fn lap(&self, contender: BenchContender) -> Result<Lap, Error> {
        let before_us = self.served.cpu_us();
        let run = match contender {
            BenchContender::Plain => self.plain()?,
            BenchContender::CrawlWithoutArchive => self.crawl(&this()?, "none", &[])?,
            BenchContender::CrawlWithWarc => self.crawl(&this()?, "warc", &[])?,
            BenchContender::SimplyWithoutArchive => self.crawl(&this()?, "none", &SIMPLY)?,
            BenchContender::SimplyWithWarc => self.crawl(&this()?, "warc", &SIMPLY)?,
            BenchContender::OtherWithoutArchive => self.crawl(self.other()?, "none", &[])?,
            BenchContender::OtherWithWarc => self.crawl(self.other()?, "warc", &[])?,
            BenchContender::Wget2 => self.wget2()?,
        };
        let server_us = self.served.cpu_us() - before_us;
        let pages = run.pages.max(1) as f64;
        Ok(Lap {
            pages: run.pages,
            seconds: run.seconds,
            pages_per_s: run.pages as f64 / run.seconds,
            client_cpu_us_per_page: run.cpu_us as f64 / pages,
            server_cpu_us_per_page: server_us as f64 / pages,
            peak_rss_bytes: run.peak_rss_bytes,
            ratio: 0.0,
        })
    }

    fn plain(&self) -> Result<Run, Error> {
        let pages = self.served.web.config().pages as usize;
        let options = PlainOptions { connections: PLAIN_CONNECTIONS, threads: 1, pages };
        let report = plain::run(&self.served.web, &options).map_err(|e| trouble("plain", &e))?;
        let (pages, seconds, cpu_us) = (report.pages, report.seconds, report.cpu_us);
        Ok(Run { pages, seconds, cpu_us, peak_rss_bytes: 0 })
    }

    fn other(&self) -> Result<&Path, Error> {
        self.options.against.as_deref().ok_or_else(|| failed("no other build was named"))
    }

    /// From start to exit of the process: opening, index and last sync included.
    fn crawl(&self, program: &Path, archive: &str, flags: &[&str]) -> Result<Run, Error> {
        let dir = self.scratch.fresh("crawl").map_err(|e| trouble("crawl", &e))?;
        let mut command = Command::new(program);
        command
            .args(["--quiet", "crawl", "--json", "--scope", "any", "--allow-private"])
            .args(["--delay", "0", "--delay-factor", "0", "--archive", archive])
            .args(["--concurrency", &self.options.concurrency.to_string()])
            .args(["--resolver", &self.served.dns.to_string()])
            .args(["--seeds".as_ref(), self.seeds().as_os_str()])
            .args(["--dir".as_ref(), dir.as_os_str()])
            .args(flags)
            .args(&self.options.crawl_flags);
        let name = program.display().to_string();
        let ran = process::run(&mut command).map_err(|e| trouble(&name, &e))?;
        if !ran.output.status.success() {
            let why = String::from_utf8_lossy(&ran.output.stderr);
            return Err(failed(format!("the crawl of {name} failed: {}", why.trim())));
        }
        let Reported { pages, peak_rss_bytes } = serde_json::from_slice(&ran.output.stdout)
            .map_err(|e| failed(format!("the report of {name}: {e}")))?;
        Ok(Run { pages, seconds: ran.seconds, cpu_us: ran.cpu_us, peak_rss_bytes })
    }

    /// It keeps no count that can be had cheaply: the server does.
    fn wget2(&self) -> Result<Run, Error> {
        let dir = self.scratch.fresh("wget2").map_err(|e| trouble("wget2", &e))?;
        let before = self.served.pages();
        let ran = rival::wget2(&self.served, &self.seeds(), &dir)?;
        let pages = self.served.pages() - before;
        Ok(Run { pages, seconds: ran.seconds, cpu_us: ran.cpu_us, peak_rss_bytes: 0 })
    }

    fn beside_wrk(&self) -> Result<BesideWrk, Error> {
        let options =
            PlainOptions { connections: PLAIN_CONNECTIONS, threads: 1, pages: ONE_PAGE_TIMES };
        let rounds = self.options.rounds.max(1);
        let mut plain_rates = Vec::with_capacity(rounds);
        let mut wrk_rates = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let report = plain::run_on_one_page(&self.served.web, &options);
            plain_rates.push(report.map_err(|e| trouble("plain", &e))?.pages_per_s());
            wrk_rates.push(rival::wrk(&self.served, PLAIN_CONNECTIONS)?);
        }
        let ratios = plain_rates.iter().zip(&wrk_rates).map(|(plain, wrk)| plain / wrk).collect();
        Ok(BesideWrk {
            plain_pages_per_s: median(plain_rates),
            wrk_pages_per_s: median(wrk_rates),
            ratio: median(ratios),
        })
    }
}

fn this() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(|e| trouble("this program", &e))
}

impl BenchContender {
    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            BenchContender::Plain => "plain client",
            BenchContender::CrawlWithoutArchive => "crawl, no archive",
            BenchContender::CrawlWithWarc => "crawl, WARC",
            BenchContender::SimplyWithoutArchive => "simple crawl, no archive",
            BenchContender::SimplyWithWarc => "simple crawl, WARC",
            BenchContender::OtherWithoutArchive => "other build, no archive",
            BenchContender::OtherWithWarc => "other build, WARC",
            BenchContender::Wget2 => "wget2, 64 threads",
        }
    }
}
