//! Nodes that are killed at random moments, with their disks and without.

use super::nodes::{Cluster, asked_twice};
use crate::killed::web;
use crate::site::{Site, pages_in_archive, reachable};
use rhumb_engine::rng::Rng;

/// Answers between two kills, at most.
const ANSWERS_BETWEEN_MAX: u64 = 160;

/// Two nodes crawl; again and again one of them, drawn by chance, is killed after some more
/// answers, and started again, with its disk or without. Every third time both are killed at once.
fn crawl_killed(pages: u32, kills: u32, seed: u64) {
    let mut cluster = Cluster::of(Site::serve(web(pages)), 4, &[]);
    let mut rng = Rng::new(seed);
    let nodes = ["one", "two"];
    for node in nodes {
        cluster.start(node, &[]);
    }
    let (mut killed, mut answers) = (0, 0);
    while killed < kills {
        answers += 1 + rng.draw() % ANSWERS_BETWEEN_MAX;
        cluster.wait_until("more answers, or the end", |cluster| {
            cluster.restart_given_up();
            cluster.site.served.answers() >= answers || cluster.has_ended()
        });
        if cluster.has_ended() {
            break;
        }
        answers = cluster.site.served.answers();
        let is_both = rng.draw().is_multiple_of(3);
        let first = (rng.draw() % 2) as usize;
        for node in [nodes[first], nodes[1 - first]].into_iter().take(1 + usize::from(is_both)) {
            cluster.kill(node);
            killed += 1;
            if rng.draw().is_multiple_of(2) {
                // One that was killed at once has none yet.
                let _ = std::fs::remove_dir_all(cluster.dir(node));
            }
            cluster.start(node, &[]);
        }
    }
    cluster.finish();
    let requests = cluster.site.requests();
    let repeated = asked_twice(&requests);
    println!("{killed} kills, {} requests, {} repeated", requests.len(), repeated.len());
    let web = &cluster.site.served.web;
    assert_eq!(pages_in_archive(web, &cluster.export()), reachable(web));
    assert!(requests.iter().all(|request| request.open_on_host <= 1), "two at one host");
    assert!(cluster.done("check", &[]).contains("all is well"));
}

#[test]
#[ignore = "takes minutes, and was not run to its end"]
fn nodes_that_are_killed_at_random_lose_no_page() {
    crawl_killed(2_500, 5, 5);
}

#[test]
#[ignore = "takes many minutes: 50 kills"]
fn nodes_that_are_killed_fifty_times_at_random_lose_no_page() {
    crawl_killed(12_000, 50, 50);
}
