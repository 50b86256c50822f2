//! Figures of docs/lab/cluster.md: run by hand, with a released program, alone on the machine.
//!
//!     RHUMB_TEST_BIN=target/release/rhumb cargo test --workspace --test crawl figures:: -- \
//!         --ignored --nocapture --test-threads 1

use super::bucket::{BUCKET, Bucket};
use super::nodes::Cluster;
use super::refused::get;
use crate::site::{Site, report_of};
use rhumb_lab::bench::{children_cpu_us, median};
use rhumb_sim::web::WebConfig;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
const PAGES: u32 = 12_000;
const HOSTS: u32 = 800;
/// For what an idle node asks of the store.
const IDLE: Duration = Duration::from_secs(60);

fn web() -> Site {
    let config = WebConfig::plain(HOSTS, PAGES);
    Site::serve(WebConfig { network: 127, latency_us_mean: 1_000, ..config })
}

/// Seconds and CPU seconds of children that were begun and ended meanwhile.
fn measured<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (cpu, began) = (children_cpu_us(), Instant::now());
    let done = work();
    (done, began.elapsed().as_secs_f64(), (children_cpu_us() - cpu) as f64 / 1e6)
}

/// Pages a second and CPU microseconds a page.
fn rates(pages: f64, seconds: f64, cpu: f64) -> [f64; 2] {
    [pages / seconds, cpu * 1e6 / pages]
}

fn crawled(partitions: &str) -> [f64; 2] {
    let site = web();
    let run = || report_of(site.crawl(&["--partitions", partitions]).spawn().unwrap());
    let (report, seconds, cpu) = measured(run);
    rates(report["pages"].as_f64().unwrap(), seconds, cpu)
}

/// From the first request on: nodes wait for each other before it.
fn clustered(nodes: &[&str]) -> [f64; 2] {
    let mut cluster = Cluster::of(web(), 4, &[]);
    let ((), _, cpu) = measured(|| {
        nodes.iter().for_each(|node| cluster.start(node, &[]));
        cluster.finish();
    });
    let requests = cluster.site.requests();
    let begun = requests.iter().map(|request| request.start_us).min().unwrap();
    let ended = requests.iter().map(|request| request.end_us).max().unwrap();
    let pages = cluster.status()["pages"].as_f64().unwrap();
    rates(pages, (ended - begun) as f64 / 1e6, cpu)
}

#[test]
#[ignore = "measures"]
fn rates_beside_each_other() {
    let mut all: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for _ in 0..ROUNDS {
        all.entry("1 partition").or_default().push(crawled("1"));
        all.entry("4 partitions").or_default().push(crawled("4"));
        all.entry("1 node").or_default().push(clustered(&["one"]));
        all.entry("2 nodes").or_default().push(clustered(&["one", "two"]));
    }
    for (name, rounds) in all {
        let of = |at: usize| median(rounds.iter().map(|round| round[at]).collect());
        println!("{name}: {:.0} pages/s, {:.0} us CPU a page; {rounds:.0?}", of(0), of(1));
    }
}

/// A number of a node's metrics, or their sum over partitions.
fn metric(address: &str, name: &str) -> f64 {
    let page = get(address, "/metrics");
    let values = page.lines().filter(|line| line.starts_with(name));
    values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

fn address_of(cluster: &Cluster, node: &str) -> String {
    let status = cluster.status();
    let found = status["nodes"].as_array().unwrap().iter().find(|found| found["id"] == node);
    found.expect("it has joined")["address"].as_str().unwrap().to_owned()
}

#[test]
#[ignore = "measures"]
fn what_a_crawl_over_s3_writes_and_sends() {
    let Some(bucket) = Bucket::start() else { return };
    let mut cluster = Cluster::over_s3(web(), (BUCKET, bucket.port()), 4, &[]);
    let nodes = ["one", "two"];
    nodes.iter().for_each(|node| cluster.start(node, &[]));
    cluster.wait_until("some", |cluster| cluster.site.served.answers() > u64::from(PAGES) * 3 / 4);
    let addresses = nodes.map(|node| address_of(&cluster, node));
    let sent = |name: &str| addresses.iter().map(|at| metric(at, name)).sum::<f64>();
    let [bytes, urls, requests] =
        ["bytes", "urls", "requests"].map(|what| sent(&format!("rhumb_note_{what}_total")));
    println!("messages: {:.0} B a URL, {:.0} URLs a request", bytes / urls, urls / requests);
    cluster.finish();
    let (traffic, pages) = (bucket.traffic(), cluster.status()["pages"].as_f64().unwrap());
    let [warc, other] = [traffic.warc_bytes, traffic.other_bytes].map(|n| n as f64 / pages);
    println!("store: {warc:.0} B a page of WARC, {other:.0} B else; {} requests", traffic.requests);
}

#[test]
#[ignore = "measures"]
fn what_partitions_cost_that_do_nothing() {
    let Some(bucket) = Bucket::start() else { return };
    let mut rss = Vec::new();
    for (name, partitions) in [("few", 2), ("web", 16)] {
        let mut cluster = Cluster::over_s3(web(), (BUCKET, bucket.port()), partitions, &[]);
        cluster.done("pause", &[]);
        cluster.start("one", &[]);
        cluster.wait_until(name, |cluster| {
            let status = cluster.status();
            status["owned"] == partitions && status["obeyed"] == status["order"]
        });
        let address = address_of(&cluster, "one");
        let (before, began) = (bucket.traffic().requests, Instant::now());
        cluster.wait_until("a while", |_| began.elapsed() >= IDLE);
        let requests = (bucket.traffic().requests - before) as f64 / IDLE.as_secs_f64();
        rss.push(metric(&address, "rhumb_peak_rss_bytes") / 1e6);
        println!(
            "{partitions} partitions: {requests:.2} requests a second, {:.0} MB",
            rss.last().unwrap()
        );
        cluster.signal("one", "-TERM");
        assert_eq!(cluster.end_of("one"), Some(0));
        bucket.forget();
    }
    println!("a partition: {:.1} MB", (rss[1] - rss[0]) / 14.0);
}

#[test]
#[ignore = "measures"]
fn how_long_a_partition_is_without_an_owner() {
    let mut cluster = Cluster::of(web(), 4, &["--max-pages", "2000"]);
    for node in ["one", "two"] {
        cluster.start(node, &[]);
    }
    cluster.wait_until("all pages", |cluster| cluster.site.served.answers() > 2_000);
    cluster.done("set", &["--max-pages", "100000"]);
    let two = address_of(&cluster, "two");
    let allowed = |at: &str| metric(at, "rhumb_allowed{");
    cluster.wait_until("two each", |_| allowed(&two) == 2.0);
    cluster.kill("one");
    let began = Instant::now();
    cluster.wait_until("all four", |_| allowed(&two) == 4.0);
    println!("taken over after {:.1} s", began.elapsed().as_secs_f64());
    cluster.kill("two");
    let began = Instant::now();
    cluster.start("two", &[]);
    let log = cluster.log("two").len();
    let answers = |cluster: &Cluster| {
        let said = cluster.log("two")[log..].to_owned();
        Some(said.split_once("http://")?.1.split_once("/status")?.0.to_owned())
    };
    cluster.wait_until("it answers", |cluster| answers(cluster).is_some());
    let two = answers(&cluster).expect("just seen");
    cluster.wait_until("all again", |_| allowed(&two) == 4.0);
    println!("on its own disk after {:.1} s", began.elapsed().as_secs_f64());
}
