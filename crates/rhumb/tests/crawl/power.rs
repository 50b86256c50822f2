//! Power cuts: whatever was not synced may be gone, of each file by itself. The crawl goes on, and
//! no page that it believes to have is missing from the archive.

use crate::site::{Site, assert_tools_accept, pages_in_archive, reachable, report_of};
use crate::traced::{Disk, can_trace, traced, tracee};
use rhumb_engine::rng::Rng;
use rhumb_sim::web::{Oddities, WebConfig};

/// Power is cut when the server has answered so many requests of a run. One of 5 s has been synced
/// once: the last is longer.
const CUT_AFTER: [u64; 5] = [25, 65, 60, 250, 1_100];
const DELAY_MS: u64 = 60;
/// Of the long test: so many cuts, each so many answers after the one before at most.
const CUTS: usize = 200;
const ANSWERS_BETWEEN_MAX: u64 = 80;

fn web(pages: u32) -> WebConfig {
    let oddities = Oddities { copies: 60, redirects: 60, ..Oddities::default() };
    WebConfig { network: 127, oddities, latency_us_mean: 1_000, ..WebConfig::plain(12, pages) }
}

#[test]
fn a_page_that_a_power_cut_took_from_the_archive_is_fetched_again() {
    crawl_cut(web(1_500), CUT_AFTER);
}

#[test]
#[ignore = "takes some ten minutes: 200 power cuts"]
fn two_hundred_power_cuts_take_no_page_for_good() {
    let mut rng = Rng::new(17);
    // More than two hundred cuts leave time to fetch.
    crawl_cut(web(4_000), (0..CUTS).map(|_| 1 + rng.draw() % ANSWERS_BETWEEN_MAX));
}

fn crawl_cut(web: WebConfig, cuts: impl IntoIterator<Item = u64>) {
    if !can_trace() {
        return;
    }
    let site = Site::serve(web);
    // Few bytes a file, so that several are begun.
    let arguments = ["--config", &config(&site)];
    let mut rng = Rng::new(1);
    for answers in cuts {
        let answers = site.served.answers() + answers;
        let disk = Disk::of(&site.crawl_dir());
        let trace = site.dir.path().join("trace");
        let mut strace =
            traced(&site.crawl_with_delay(DELAY_MS, &arguments), &trace, &[]).spawn().unwrap();
        // By progress, not by time: the server itself says how far it is.
        while site.served.answers() < answers {
            assert!(strace.try_wait().unwrap().is_none(), "ended before its power was cut");
            std::thread::yield_now();
        }
        let pid = tracee(strace.id()).expect("a crawl that runs");
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.unwrap().success());
        strace.wait().unwrap();
        let cut = disk.after(&trace).cut_power(&mut |n| rng.draw() % n);
        println!("after {answers} answers:\n  {}", cut.join("\n  "));
        assert!(!cut.is_empty(), "there is always something that is not synced");
    }
    let report = report_of(site.crawl_with_delay(DELAY_MS, &arguments).spawn().unwrap());
    let web = &site.served.web;
    let (kept, all) = (pages_in_archive(web, &site.crawl_dir()), reachable(web));
    let lost: Vec<_> = all.difference(&kept).collect();
    assert!(lost.is_empty(), "{} of {} pages lost: {lost:?}", lost.len(), all.len());
    assert_eq!((&report["stopped_because"], &report["queued"]), (&"finished".into(), &0.into()));
    assert_tools_accept(&site.crawl_dir());
}

fn config(site: &Site) -> String {
    let path = site.dir.path().join("config.toml");
    std::fs::write(&path, "warc_bytes_max = \"1MB\"\n").unwrap();
    path.to_str().unwrap().to_owned()
}
