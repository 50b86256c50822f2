//! Nodes that die, that are stopped, and that leave.

use super::nodes::{Cluster, asked_twice};
use crate::killed::web;
use crate::site::{Site, pages_in_archive, reachable};

/// What a machine that is lost takes with it was fetched so long before, at most: frames are
/// shipped every two seconds, by machines that are busy with tests.
const LOST_US_MAX: u64 = 20_000_000;

#[test]
fn killed_nodes_lose_no_page_and_repeat_only_what_they_fetched_last() {
    let mut cluster = Cluster::of(Site::serve(web(3_000)), 4, &[]);
    for node in ["one", "two"] {
        cluster.start(node, &[]);
    }
    cluster.wait_until("some answers", |cluster| cluster.site.served.answers() > 600);
    // With its disk … Requests may come until it is dead.
    cluster.kill("one");
    let mut kills = vec![cluster.site.served.log().unwrap().now_us()];
    cluster.start("one", &[]);
    let answers = cluster.site.served.answers() + 600;
    cluster.wait_until("more answers", |cluster| cluster.site.served.answers() > answers);
    // … and without.
    cluster.kill("two");
    kills.push(cluster.site.served.log().unwrap().now_us());
    std::fs::remove_dir_all(cluster.dir("two")).unwrap();
    cluster.start("three", &[]);
    cluster.finish();
    let requests = cluster.site.requests();
    let repeated = asked_twice(&requests);
    println!("{} requests, {} repeated", requests.len(), repeated.len());
    // One that was given up besides has lost some, too.
    let repeated = repeated.into_iter().filter(|_| cluster.given_up == 0);
    for (host, path, first_us) in repeated {
        let is_lost = |kill: &u64| (kill.saturating_sub(LOST_US_MAX)..=*kill).contains(&first_us);
        assert!(kills.iter().any(is_lost), "{host}{path} at {first_us}, kills at {kills:?}");
    }
    let web = &cluster.site.served.web;
    assert_eq!(pages_in_archive(web, &cluster.export()), reachable(web));
}

#[test]
fn a_node_that_slept_past_its_lease_is_fenced_and_says_so() {
    let mut cluster = Cluster::of(Site::serve(web(2_000)), 4, &[]);
    for node in ["one", "two"] {
        cluster.start(node, &[]);
    }
    cluster.wait_until("both own some", |cluster| {
        let status = cluster.status();
        let nodes = status["nodes"].as_array().unwrap();
        let own = |node: &serde_json::Value| !node["partitions"].as_array().unwrap().is_empty();
        nodes.len() == 2 && nodes.iter().all(own)
    });
    cluster.signal("one", "-STOP");
    cluster.wait_until("the other takes over", |cluster| cluster.owned_by("two") == 4);
    cluster.signal("one", "-CONT");
    assert_eq!(cluster.end_of("one"), Some(3), "{}", cluster.logs());
    assert!(cluster.log("one").contains("fenced"), "{}", cluster.log("one"));
    cluster.start("one", &[]);
    cluster.finish();
    let web = &cluster.site.served.web;
    assert_eq!(pages_in_archive(web, &cluster.export()), reachable(web));
}

#[test]
fn a_node_that_is_told_to_leave_repeats_nothing_and_one_that_comes_back_finds_its_partitions() {
    let mut cluster = Cluster::of(Site::serve(web(1_500)), 4, &[]);
    cluster.start("one", &["--rejoin", "120s"]);
    cluster.wait_until("some answers", |cluster| cluster.site.served.answers() > 300);
    cluster.signal("one", "-TERM");
    assert_eq!(cluster.end_of("one"), Some(0));
    // Another does not take what waits for it.
    cluster.start("two", &[]);
    cluster.start("one", &["--rejoin", "120s"]);
    cluster.wait_until("its own again", |cluster| cluster.owned_by("one") > 0);
    cluster.signal("two", "-TERM");
    assert_eq!(cluster.end_of("two"), Some(0));
    cluster.finish();
    cluster.assert_none_twice();
    let web = &cluster.site.served.web;
    assert_eq!(pages_in_archive(web, &cluster.export()), reachable(web));
}

#[test]
#[ignore = "two pieces are left behind: open"]
fn what_nobody_had_when_the_crawl_was_stopped_is_made_whole_by_whoever_comes() {
    let mut cluster = Cluster::of(Site::serve(web(1_000)), 2, &[]);
    cluster.start("one", &[]);
    cluster.wait_until("pages that are shipped", |cluster| {
        cluster.status()["pages"].as_u64().is_some_and(|pages| pages > 100)
    });
    cluster.kill("one");
    cluster.done("stop", &[]);
    // Its owner's heart-beat is old by then.
    cluster.wait_until("silence", |cluster| cluster.status()["owned"] == 0);
    cluster.start("two", &[]);
    assert_eq!(cluster.end_of("two"), Some(0), "{}", cluster.logs());
    let found = pages_in_archive(&cluster.site.served.web, &cluster.export());
    assert!(found.len() > 50, "{} pages", found.len());
    let pieces = |partition: &str| {
        let dir = cluster.site.dir.path().join("bucket/web/p").join(partition).join("warc");
        std::fs::read_dir(dir).map_or(0, |files| files.count())
    };
    assert_eq!((pieces("000"), pieces("001")), (0, 0), "no pieces are left");
}

#[test]
fn a_node_that_others_cannot_reach_is_told_of_and_nothing_ends_without_it() {
    let mut cluster = Cluster::of(Site::serve(web(400)), 4, &[]);
    cluster.start("one", &[]);
    // Nobody listens there.
    cluster.start("two", &["--advertise", "127.0.0.1:1"]);
    cluster.wait_until("it is told", |cluster| {
        let status = cluster.status();
        let stuck = status["stuck"].as_array().unwrap();
        let is_said = |said: &serde_json::Value| {
            said.as_str().unwrap().contains("node one cannot send to 127.0.0.1:1")
        };
        stuck.iter().any(is_said)
    });
    assert_eq!(cluster.status()["finished"], false);
    cluster.signal("two", "-TERM");
    assert_eq!(cluster.end_of("two"), Some(0));
    cluster.finish();
    let web = &cluster.site.served.web;
    assert_eq!(pages_in_archive(web, &cluster.export()), reachable(web));
}
