//! Names and addresses: which address is asked, who holds whose robots.txt, and when a stop ends.

use crate::stage::{DAWN, Reply, Stage, url};
use rhumb_engine::config::Config;
use rhumb_engine::event::{Event, StopReason};
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::{RecordStatus, Refusal};
use rhumb_engine::time::Span;
use rhumb_page::url::Rules;

#[test]
fn a_host_whose_first_addresses_are_dead_is_fetched_from_the_next() {
    let mut stage = Stage::new(Config::default())
        .has_addresses("a.test", &[[9, 0, 0, 1], [9, 0, 0, 2], [9, 0, 0, 3]])
        .dead(&[[9, 0, 0, 1], [9, 0, 0, 2]])
        .page("a.test/", &["a.test/1"])
        .page("a.test/1", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(
        stage.told(),
        [
            "0.0 a.test/robots.txt",
            "1.1 a.test/robots.txt",
            "2.2 a.test/robots.txt",
            "3.3 a.test/",
            "4.4 a.test/1"
        ],
        "one delay apart, and then at the address that answers"
    );
}

#[test]
fn an_address_that_dies_is_left_for_the_next_and_a_host_without_any_fails() {
    let (one, other) = ([9, 0, 0, 1], [9, 0, 0, 2]);
    let mut stage = Stage::new(Config::default())
        .has_addresses("a.test", &[one, other])
        .page("a.test/", &["a.test/1"])
        .page("a.test/1", &[])
        .seed(&["a.test/"]);
    stage.run_for(Span::millis(500));
    stage = stage.dead(&[one]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages(), ["a.test/", "a.test/", "a.test/1"]);

    let mut stage = Stage::new(Config::default())
        .has_addresses("a.test", &[one, other])
        .dead(&[one, other])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    let record = stage.state.rows.hosts.get(&url("a.test/").host_key()).unwrap();
    assert_eq!((record.failing, record.failures), (Some(FailKind::Connect), 6));
    assert_eq!(stage.log.len(), 12, "both addresses in each of six tries");
}

#[test]
fn two_robots_files_that_redirect_to_each_other_hold_nobody_up() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/robots.txt", &[Reply::Moved(url("b.test/robots.txt"))])
        .answers("b.test/robots.txt", &[Reply::Moved(url("a.test/robots.txt"))])
        .page("a.test/", &[])
        .page("b.test/", &[])
        .seed(&["a.test/", "b.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    let mut pages = stage.pages();
    pages.sort_unstable();
    assert_eq!(pages, ["a.test/", "b.test/"]);
    assert!(stage.log.len() <= 14, "{:?}", stage.told());
}

#[test]
fn a_ring_of_robots_files_holds_nobody_up() {
    let hosts = ["a.test", "b.test", "c.test", "d.test"];
    let mut stage = Stage::new(Config::default());
    for (n, host) in hosts.iter().enumerate() {
        let next = Reply::Moved(url(&format!("{}/robots.txt", hosts[(n + 1) % hosts.len()])));
        stage = stage
            .answers(&format!("{host}/robots.txt"), &[next])
            .page(&format!("{host}/"), &[])
            .seed(&[&format!("{host}/")]);
    }
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 4, "{:?}", stage.told());
}

#[test]
fn a_robots_file_sends_us_only_to_robots_files_and_to_what_may_be_fetched() {
    let narrow =
        || Config { rules: Rules::new(&[], &["secret".to_owned()]).unwrap(), ..Config::default() };
    for (to, status) in [
        ("b.test/robots.txt", RecordStatus::Gone),
        ("b.test/rules", RecordStatus::Gone),
        ("b.test/secret", RecordStatus::Queued),
        ("file:///etc/passwd", RecordStatus::Queued),
    ] {
        let mut stage = Stage::new(narrow())
            .answers("a.test/robots.txt", &[Reply::Moved(url(to))])
            .seed(&["a.test/"]);
        stage.run();
        assert_eq!(stage.record("a.test/").status, status, "{to}");
        let asked = stage.log.iter().any(|(_, asked)| *asked == url(to));
        assert_eq!(asked, status == RecordStatus::Gone, "{to}");
    }
}

#[test]
fn a_robots_file_sends_us_nowhere_that_the_other_hosts_rules_forbid() {
    let mut stage = Stage::new(Config::default())
        .answers("good.test/robots.txt", &[Reply::Rules("User-agent: *\nDisallow: /private/\n")])
        .page("good.test/", &["a.test/", "b.test/", "c.test/", "good.test/1"])
        .page("good.test/1", &[])
        .answers("a.test/robots.txt", &[Reply::Moved(url("good.test/private/rules"))])
        .answers("b.test/robots.txt", &[Reply::Moved(url("good.test/rules"))])
        .answers("c.test/robots.txt", &[Reply::Moved(url("good.test/private/robots-c.txt"))])
        .page("a.test/", &[])
        .page("b.test/", &[])
        .page("c.test/", &[])
        .seed(&["good.test/"]);
    assert_eq!(stage.run(), StopReason::HostsFailing);
    assert!(!stage.log.iter().any(|(_, asked)| asked.path() == "/private/rules"));
    assert_eq!(
        stage.record("a.test/").status,
        RecordStatus::Queued,
        "as if its rules were unreachable"
    );
    assert_eq!(stage.record("b.test/").status, RecordStatus::Fetched);
    assert_eq!(
        stage.record("c.test/").status,
        RecordStatus::Fetched,
        "it is a robots.txt by its name"
    );
    assert_eq!(stage.record("good.test/1").status, RecordStatus::Fetched);
}

#[test]
fn a_stop_waits_three_seconds_for_what_hangs_and_no_longer() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &[])
        .takes("a.test/", Span::secs(600))
        .seed(&["a.test/"]);
    stage.run_for(Span::secs(5));
    stage.send(Span::ZERO, Event::Stopped(StopReason::Interrupted));
    let asked = stage.now;
    assert_eq!(stage.run(), StopReason::Interrupted);
    assert_eq!(stage.now.since(asked), Span::secs(3));
    assert!(stage.now > DAWN);
    stage.reopen(Config::default());
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages(), ["a.test/", "a.test/"], "the next run fetches it");
}

#[test]
fn robots_files_are_read_as_google_reads_them() {
    let rules = Reply::Rules("user agent: *\ndisalow: /no\n");
    let mut stage =
        Stage::new(Config::default()).answers("a.test/robots.txt", &[rules]).seed(&["a.test/no"]);
    stage.run();
    assert_eq!(stage.record("a.test/no").status, RecordStatus::Refused(Refusal::Robots));
}

#[test]
fn http_and_https_of_one_name_share_one_delay_and_one_request_at_a_time() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &["https://a.test/s", "a.test/1"])
        .answers("https://a.test/robots.txt", &[Reply::Rules("")])
        .page("https://a.test/s", &["https://a.test/t"])
        .page("https://a.test/t", &[])
        .seed(&["a.test/", "https://a.test/s", "http://a.test:8080/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    // The stage itself fails if a name is asked twice at once, or sooner than its delay.
    let close = stage.log.windows(2).filter(|w| w[1].0.since(w[0].0) < Span::millis(1_100));
    assert_eq!(close.count(), 0, "{:?}", stage.told());
    assert_eq!(stage.pages().len(), 5, "{:?}", stage.told());
}

#[test]
fn what_http_is_asked_to_wait_https_of_that_name_waits_too() {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", &[Reply::Later(429, Span::secs(100)), Reply::Status(404)])
        .takes("https://a.test/s", Span::millis(10))
        .seed(&["a.test/", "https://a.test/s"]);
    stage.run();
    let at = |url: &str| stage.log.iter().position(|(_, u)| u.as_str() == url).unwrap();
    let (told, next) = (at("http://a.test/"), at("https://a.test/s"));
    if told < next {
        assert!(
            stage.log[next].0.since(stage.log[told].0) >= Span::secs(100),
            "{:?}",
            stage.told()
        );
    }
    let held = stage.log.windows(2).any(|w| w[1].0.since(w[0].0) >= Span::secs(100));
    assert!(held, "{:?}", stage.told());
}

#[test]
fn http_and_https_that_redirect_to_each_other_are_asked_once_each() {
    let to = |at: &str| [Reply::Moved(url(at))];
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", &to("https://a.test/"))
        .answers("https://a.test/", &to("http://a.test/"))
        .answers("a.test/deep?x=1", &to("https://a.test/deep?x=1"))
        .answers("https://a.test/deep?x=1", &to("http://a.test/deep?x=1"))
        .seed(&["a.test/", "a.test/deep?x=1"]);
    assert_eq!(stage.run(), StopReason::Finished);
    assert_eq!(stage.pages().len(), 4, "{:?}", stage.told());
}
