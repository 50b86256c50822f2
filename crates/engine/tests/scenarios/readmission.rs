//! What becomes of URLs that were refused or that failed, when the crawl goes on.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::Config;
use rhumb_engine::counters::Counters;
use rhumb_engine::event::StopReason;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::Status;
use rhumb_engine::time::Span;

/// How often a URL was asked for.
fn asked(stage: &Stage, at: &str) -> usize {
    let at = url(at);
    stage.log.iter().filter(|(_, url)| *url == at).count()
}

/// Begins another run some time later, and takes it to its end.
fn run_again(stage: &mut Stage, config: Config) {
    stage.now = stage.now + Span::secs(600);
    stage.reopen(config);
    assert_eq!(stage.run(), StopReason::Finished);
}

fn failed(counters: &Counters) -> u64 {
    counters.failed.iter().sum()
}

#[test]
fn each_run_tries_what_failed_once_more_and_a_forced_one_with_all_tries() {
    let mut replies = vec![Reply::Status(500); 4 + 1 + 2];
    replies.push(Reply::Links(vec![url("a.test/below")]));
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["a.test/x"])
        .answers("a.test/x", &replies)
        .page("a.test/below", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/x").status, Status::Failed(FailKind::ServerError));
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (4, 1));
    run_again(&mut stage, Config::default());
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (5, 1));
    run_again(&mut stage, Config { retry_failed: true, ..Config::default() });
    assert_eq!(stage.record("a.test/x").status, Status::Fetched);
    assert_eq!(stage.record("a.test/below").status, Status::Fetched);
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (8, 0));
    let counters = stage.engine.counters();
    assert_eq!((counters.admitted, counters.queued), (3, 0), "it was admitted once");
    let host = stage.state.rows.hosts.get(&url("a.test/").host_key()).unwrap();
    assert_eq!((host.admitted, host.queued), (3, 0));
}

#[test]
fn a_header_that_was_too_big_is_tried_again_only_by_force_and_other_failures_always() {
    for kind in FailKind::ALL {
        let mut stage = Stage::new(Config::default())
            .page("a.test/", &["a.test/x"])
            .answers(
                "a.test/x",
                &[vec![Reply::Fails(kind); 9], vec![Reply::Links(vec![])]].concat(),
            )
            .seed(&["a.test/"]);
        stage.run_for(Span::secs(20 * 3_600));
        let before = asked(&stage, "a.test/x");
        let again = |stage: &mut Stage, config| {
            let asked_before = asked(stage, "a.test/x");
            stage.now = stage.now + Span::secs(60);
            stage.reopen(config);
            stage.run_for(Span::secs(3_600));
            asked(stage, "a.test/x") > asked_before
        };
        assert!(before > 0, "{kind:?}");
        let is_tried = again(&mut stage, Config::default());
        assert_eq!(is_tried, kind != FailKind::HeaderTooBig, "{kind:?}");
        let forced = Config { retry_failed: true, ..Config::default() };
        assert!(again(&mut stage, forced), "{kind:?}");
    }
}

#[test]
fn a_run_where_nothing_failed_reads_nothing_again() {
    let mut stage = Stage::new(Config::default()).page("a.test/", &[]).seed(&["a.test/"]);
    stage.run();
    let turns = stage.turns;
    run_again(&mut stage, Config { retry_failed: true, ..Config::default() });
    assert_eq!(stage.turns, turns + 1);
}
