//! Why not faster: what hosts wait for, and that it adds up.

use crate::stage::{Stage, url};
use rhumb_engine::config::{Config, Polite};
use rhumb_engine::event::Event;
use rhumb_engine::hands::Hand;
use rhumb_engine::holdups::{HeldUpBy, Holdup};
use rhumb_engine::time::Span;

const HOSTS: usize = 40;
const PAGES: usize = 60;
const EVERY: Span = Span::millis(100);
const SAMPLES: usize = 200;

/// Forty hosts, each with more pages than can be fetched while it is watched.
fn web(config: Config, takes: Span, is_one_address: bool) -> Stage {
    let mut stage = Stage::new(config);
    let mut seeds = Vec::new();
    for host in 0..HOSTS {
        if is_one_address {
            stage = stage.has_addresses(&format!("h{host}.test"), &[[10, 0, 0, 1]]);
        }
        for page in 0..PAGES {
            let at = format!("h{host}.test/{page}");
            stage = stage.page(&at, &[]).takes(&at, takes);
            seeds.push(at);
        }
    }
    stage.seed(&seeds.iter().map(String::as_str).collect::<Vec<_>>())
}

struct Watched {
    by: HeldUpBy,
    requests_per_s: f64,
    addresses_lost_per_s: f64,
}

/// The means of twenty seconds, once it is under way.
fn watched(stage: &mut Stage) -> Watched {
    stage.run_for(Span::secs(10));
    let (asked, mut by) = (stage.engine.counters().asked, HeldUpBy::default());
    let mut addresses_lost_per_s = 0.0;
    for _ in 0..SAMPLES {
        stage.run_for(EVERY);
        let holdups = stage.engine.holdups(stage.now);
        addresses_lost_per_s += (holdups.awake_per_s - holdups.addresses_per_s) / SAMPLES as f64;
        for (mean, state) in by.iter_mut().zip(holdups.by) {
            mean.hosts += state.hosts / SAMPLES as f64;
            mean.per_s += state.per_s / SAMPLES as f64;
        }
    }
    let seconds = EVERY.as_secs_f64() * SAMPLES as f64;
    let requests_per_s = (stage.engine.counters().asked - asked) as f64 / seconds;
    Watched { by, requests_per_s, addresses_lost_per_s }
}

/// What is reached is what the hosts at work make, and what loses most is this.
fn check(what: &str, stage: &mut Stage, cause: Option<Holdup>) {
    let Watched { by, requests_per_s, .. } = watched(stage);
    let told: Vec<_> = Holdup::ALL
        .into_iter()
        .map(|holdup| (holdup, by[holdup as usize]))
        .filter(|(_, state)| state.hosts > 0.0)
        .collect();
    let at_work: f64 =
        [Holdup::Fetching, Holdup::Delay].map(|holdup| by[holdup as usize].per_s).iter().sum();
    assert!(
        (at_work - requests_per_s).abs() < 0.06 * requests_per_s + 0.1,
        "{what}: {at_work} at work, {requests_per_s} requests: {told:?}"
    );
    let hosts: f64 = by.iter().map(|state| state.hosts).sum();
    assert!((hosts - HOSTS as f64).abs() < 0.5, "{what}: each host is in one state: {told:?}");
    let lost = told.iter().filter(|(h, _)| !matches!(h, Holdup::Fetching | Holdup::Delay));
    let most = lost.max_by(|a, b| a.1.per_s.total_cmp(&b.1.per_s));
    match cause {
        Some(cause) => assert_eq!(most.map(|(h, _)| *h), Some(cause), "{what}: {told:?}"),
        None => {
            let lost = most.map_or(0.0, |(_, state)| state.per_s);
            assert!(lost < 0.02 * requests_per_s, "{what}: {told:?}");
        }
    }
}

#[test]
fn what_hosts_wait_for_and_what_is_reached_make_up_the_ceiling() {
    let short = Span::millis(100);
    let many = Config { concurrency: 64, ..Config::default() };
    check("nothing", &mut web(many.clone(), short, false), None);
    let slots = Config { concurrency: 2, ..Config::default() };
    check("slots", &mut web(slots, short, false), Some(Holdup::Slots));
    check("an address", &mut web(many.clone(), Span::millis(500), true), Some(Holdup::Address));
    let flow = Config { bytes_per_s: Some(5_000), ..many.clone() };
    check("the rate of bytes", &mut web(flow, short, false), Some(Holdup::ByteRate));
    let few_awake = Config { hosts_awake_max: 8, ..many.clone() };
    check("few awake", &mut web(few_awake, short, false), Some(Holdup::Asleep));
    let mut paused = web(many, short, false);
    paused.run_for(Span::secs(5));
    paused.send(Span::ZERO, Event::Told(Hand::Pause));
    check("a pause", &mut paused, Some(Holdup::Paused));
}

#[test]
fn hosts_that_share_an_address_lose_what_it_does_not_take() {
    let polite = Polite { per_address: 1, ..Polite::default() };
    let config = Config { concurrency: 64, polite, ..Config::default() };
    let mut stage = web(config, Span::millis(100), true);
    let Watched { by, requests_per_s, addresses_lost_per_s } = watched(&mut stage);
    // Forty hosts could make 36 requests a second; one at a time of 100 ms each are ten.
    assert!((9.0..=10.5).contains(&requests_per_s), "{requests_per_s}");
    let ceiling: f64 = by.iter().map(|state| state.per_s).sum();
    let left = ceiling - addresses_lost_per_s;
    assert!((left - 10.0).abs() < 0.5, "{left} of {ceiling}");
    let crowded = stage.engine.holdups(stage.now).crowded.expect("a crowd");
    assert_eq!((crowded.ip, crowded.hosts), ([10, 0, 0, 1].into(), HOSTS as u64));
}

#[test]
fn an_answer_that_does_not_come_is_a_loss_and_no_work() {
    let config = Config { concurrency: 8, ..Config::default() };
    let mut stage = Stage::new(config)
        .page("a.test/", &["a.test/1"])
        .page("a.test/1", &[])
        .takes("a.test/1", Span::secs(600))
        .seed(&["a.test/"]);
    stage.run_for(Span::secs(60));
    assert_eq!(stage.log.last().map(|(_, asked)| asked), Some(&url("a.test/1")));
    let by = stage.engine.holdups(stage.now).by;
    assert_eq!(by[Holdup::SlowAnswer as usize].hosts, 1.0, "{by:?}");
}
