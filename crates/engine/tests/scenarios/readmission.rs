//! What becomes of URLs that were refused or that failed, when the crawl goes on.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::admit::{Reach, Scope};
use rhumb_engine::config::{Config, Traps};
use rhumb_engine::counters::Counters;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;
use rhumb_page::robots::Agent;
use rhumb_page::url::Rules;

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
    assert_eq!(stage.record("a.test/x").status, RecordStatus::Failed(FailKind::ServerError));
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (4, 1));
    run_again(&mut stage, Config::default());
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (5, 1));
    run_again(&mut stage, Config { retry_failed: true, ..Config::default() });
    assert_eq!(stage.record("a.test/x").status, RecordStatus::Fetched);
    assert_eq!(stage.record("a.test/below").status, RecordStatus::Fetched);
    assert_eq!((asked(&stage, "a.test/x"), failed(stage.engine.counters())), (8, 0));
    let counters = stage.engine.counters();
    assert_eq!((counters.admitted, counters.queued), (3, 0), "it was admitted once");
    let host = stage.state.rows.hosts.get(&url("a.test/").host_key()).unwrap();
    assert_eq!((host.admitted, host.queued), (3, 0));
}

#[test]
fn a_header_that_was_too_big_is_tried_again_only_by_force_and_other_failures_always() {
    // Where the host itself fails, its URLs wait on.
    for kind in FailKind::ALL.into_iter().filter(|kind| !kind.concerns_host()) {
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

/// Two hosts with some pages each; the first run ends when the first page was read.
fn cut_short() -> Stage {
    let links = ["a.test/1", "a.test/x/2", "b.test/1", "b.test/x/2", "a.test/x/x/x/x/3"];
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &links)
        .answers("a.test/1", &[Reply::Moved(url("a.test/moved"))])
        .page("a.test/moved", &[])
        .seed(&["a.test/"]);
    for link in &links[1..] {
        stage = stage.page(link, &[]);
    }
    stage.run_for(Span::millis(1_250));
    assert_eq!((stage.pages().len(), stage.engine.counters().queued), (1, 5));
    stage
}

#[test]
fn what_waits_is_held_against_the_rules_of_the_run_that_would_fetch_it() {
    let host_a = {
        let mut scope = Scope::new(Reach::Host);
        scope.add(&url("a.test/"));
        scope
    };
    let no_x = Rules::new(&[], &["/x/2".to_owned()]).unwrap();
    let traps = Traps { segment_repeats_max: 3, ..Traps::default() };
    let narrow = [
        (Config { scope: host_a, ..Config::default() }, Refusal::Scope, 2),
        (Config { rules: no_x, ..Config::default() }, Refusal::Filter, 2),
        (Config { depth_max: Some(0), ..Config::default() }, Refusal::Depth, 5),
        (Config { traps, ..Config::default() }, Refusal::Trap, 1),
        (Config { host_pages_max: Some(2), ..Config::default() }, Refusal::HostBudget, 3),
    ];
    for (config, why, count) in narrow {
        let mut stage = cut_short();
        let before = stage.log.len();
        run_again(&mut stage, config);
        let refused = |stage: &Stage| stage.engine.counters().refused[why as usize];
        assert_eq!(refused(&stage), count, "{why:?}");
        let rows = stage.state.rows.urls.iter();
        let of_rule =
            rows.filter(|(_, r)| r.status == RecordStatus::Refused(why)).collect::<Vec<_>>();
        assert_eq!(of_rule.len() as u64, count, "{why:?}");
        for (key, _) in of_rule {
            let asked = stage.log[before..].iter().any(|(_, url)| *url == key.url());
            assert!(!asked, "{why:?}: {key:?}");
        }
        run_again(&mut stage, Config::default());
        let counters = stage.engine.counters();
        assert_eq!((counters.admitted, counters.queued, refused(&stage)), (7, 0, 0), "{why:?}");
        let admitted: u64 = stage.state.rows.hosts.values().map(|host| host.admitted).sum();
        assert_eq!(admitted, 7, "{why:?}");
    }
}

#[test]
fn filters_leave_a_seed_alone_that_waits() {
    let mut stage = Stage::new(Config { pages_max: Some(0), ..Config::default() })
        .page("a.test/", &[])
        .seed(&["a.test/"]);
    stage.run_for(Span::secs(1));
    stage.send(Span::ZERO, Event::Stopped(StopReason::Interrupted));
    let rules = Rules::new(&["elsewhere".to_owned()], &[]).unwrap();
    stage.reopen(Config { rules, ..Config::default() });
    stage.send_seeds(&["a.test/"], Span::ZERO);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Fetched);
}

#[test]
fn another_user_agent_reads_robots_txt_for_itself() {
    let rules = "User-agent: first\nDisallow: /1\n\nUser-agent: second\nDisallow: /2\n";
    let agent = |agent: &str| Config { agent: Agent::of(agent), ..Config::default() };
    let mut stage = Stage::new(Config { pages_max: Some(1), ..agent("first") })
        .answers("a.test/robots.txt", &[Reply::Rules(rules)])
        .page("a.test/", &["a.test/1", "a.test/2"])
        .page("a.test/1", &[])
        .page("a.test/2", &[])
        .seed(&["a.test/"]);
    stage.agent = "first";
    assert_eq!(stage.run(), StopReason::Pages);
    run_again(&mut stage, Config { pages_max: None, ..agent("FIRST/2.0") });
    let status = |stage: &Stage, at: &str| stage.record(at).status;
    assert_eq!(asked(&stage, "a.test/robots.txt"), 1, "the same agent, the same rules");
    assert_eq!(status(&stage, "a.test/1"), RecordStatus::Refused(Refusal::Robots));
    assert_eq!(status(&stage, "a.test/2"), RecordStatus::Fetched);
    stage.agent = "second";
    run_again(&mut stage, agent("second"));
    assert_eq!(asked(&stage, "a.test/robots.txt"), 2);
    assert_eq!(
        status(&stage, "a.test/1"),
        RecordStatus::Fetched,
        "forbidden to the other one only"
    );
    assert_eq!(stage.engine.counters().refused, [0; Refusal::ALL.len()]);
    assert_eq!(stage.engine.counters().admitted, 3);
}

fn within(reach: Reach) -> Config {
    Config { scope: Scope::new(reach), ..Config::default() }
}

#[test]
fn the_scope_follows_where_seeds_lead_and_the_next_run_has_it_too() {
    let mut stage = Stage::new(within(Reach::Host))
        .answers("a.test/", &[Reply::MovedForNow(url("www.a.test/"))])
        .answers("www.a.test/", &[Reply::Moved(url("https://www.b.test/"))])
        .page("https://www.b.test/", &["https://www.b.test/1", "http://c.test/"])
        .page("https://www.b.test/1", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("https://www.b.test/1").status, RecordStatus::Fetched);
    assert_eq!(stage.record("c.test/").status, RecordStatus::Refused(Refusal::Scope));
    // As the node does: from the rows of seeds alone.
    let again = |stage: &mut Stage| {
        let mut config = within(Reach::Host);
        stage.state.rows.seeds.keys().for_each(|seed| config.scope.add(seed));
        stage.reopen(config);
        assert_eq!(stage.run(), StopReason::Finished);
    };
    let asked_before = stage.log.len();
    again(&mut stage);
    assert_eq!(stage.log.len(), asked_before, "the same scope: nothing is put to admission anew");
    assert_eq!(stage.record("https://www.b.test/1").status, RecordStatus::Fetched);
}

#[test]
fn what_was_refused_before_a_seed_led_there_is_taken_then() {
    let mut stage = Stage::new(within(Reach::Site))
        .page("a.test/", &["b.test/1"])
        .page("b.test/", &[])
        .page("b.test/1", &[])
        .answers("old.test/", &[Reply::Moved(url("b.test/"))])
        .takes("old.test/robots.txt", Span::secs(60))
        .seed(&["a.test/", "old.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("b.test/1").status, RecordStatus::Fetched);
}

#[test]
fn a_temporary_redirect_to_another_site_stays_outside_and_so_does_one_that_no_seed_led_to() {
    let mut stage = Stage::new(within(Reach::Site))
        .answers("a.test/", &[Reply::MovedForNow(url("login.test/"))])
        .page("b.test/", &["b.test/away"])
        .answers("b.test/away", &[Reply::Moved(url("c.test/"))])
        .seed(&["a.test/", "b.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.record("login.test/").status, RecordStatus::Refused(Refusal::Scope));
    assert_eq!(stage.record("c.test/").status, RecordStatus::Refused(Refusal::Scope));
}
