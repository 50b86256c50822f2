//! Settings from words to meaning and back.

use super::*;
use std::path::Path;

fn typed(dir: &Path, config: Option<&str>, flags: WrittenSettings, seeds: &[&str]) -> Typed {
    let config = config.map(|text| {
        let path = dir.join("given.toml");
        std::fs::write(&path, text).expect("a file to test with");
        path
    });
    Typed {
        seeds: seeds.iter().map(|seed| seed.to_string()).collect(),
        dir: dir.to_owned(),
        config,
        written: flags,
        ..Typed::default()
    }
}

const EVERYTHING: &str = r#"
seeds = ["https://a.test/ 2.5"]
scope = "host"
include = ["/news/", 'x\d+"y']
exclude = ["print"]
strip = "sid,utm_*,;v"
max_depth = 7
max_pages_per_host = 1000
max_redirects = 3
sitemaps = false
requisites = true
max_requisites_per_page = 50
order = "random"
patience = 3
coverage = 0.9
revisit = "36h"
random_seed = 42
max_pages = 5000
max_bytes = "3GiB"
max_time = "90m"
delay = "250ms"
delay_factor = 2
delay_max = "30s"
per_address = 4
address_delay = "10ms"
robots_ttl = "12h"
user_agent = "mybot/1.0 (+https://example.org/bot)"
concurrency = 64
partitions = 1
hosts_awake_max = 999
resolver = "127.0.0.1:5353"
allow_private = true
allow_file = "/srv/www"
metrics = "[::1]:9090"
archive = "none"
warc_bytes_max = "64MB"
compression_level = 6
extract = true
index = true
near_duplicates = "skip"
minor_changes = "ignore"
near_threshold = 0.9
follow_near_duplicates = false
below = true
only_seeds = true
types = "text/html,image/*"
bytes_per_second = "250kB"
retry = { wait_min = "1s", tries_max = 9 }
traps = { url_bytes_max = 512 }
[limits]
body_bytes_max = "5MB"
slow_window = "1s"
[[priority]]
pattern = "/news/"
class = 2
[[priority]]
pattern = "/archive/"
weight = 0.25
[[hours]]
pattern = "//a[.]test/"
from = "22:30"
to = "06:00"
zone = "Europe/Berlin"
[[hours]]
pattern = "//b[.]test/"
from = "09:00"
to = "24:00"
"#;

#[test]
fn the_effective_settings_are_read_again_as_they_were_written() {
    let scratch = tempfile::tempdir().unwrap();
    let settings = typed(scratch.path(), Some(EVERYTHING), WrittenSettings::default(), &["b.test"]);
    let settings = settings.settings().unwrap();
    assert_eq!(settings.notes, ["seed \"b.test\" is taken as http://b.test/"]);
    assert_eq!(settings.user_agent.token, "mybot");
    assert_eq!(settings.limits.body_bytes_max, 5_000_000);
    assert_eq!(settings.retry.tries_max, 9);
    assert_eq!(settings.retry.wait_max, Retry::default().wait_max);
    settings.write_crawl_toml(&scratch.path().join(CRAWL_TOML)).unwrap();

    let again = typed(scratch.path(), None, WrittenSettings::default(), &[]).settings().unwrap();
    // What made the run stop is not taken over.
    let (max_pages, max_bytes, max_time) = (again.max_pages, again.max_bytes, again.max_time);
    let coverage = again.coverage;
    assert_eq!((max_pages, max_bytes, max_time, coverage), (None, None, None, None));
    let without_end = Settings { max_pages, max_bytes, max_time, coverage, ..settings.clone() };
    assert_eq!(again.written(), without_end.written());
    let (path, by_hand) = (scratch.path().join(CRAWL_TOML), scratch.path().join("elsewhere"));
    let again = Typed { config: Some(path), dir: by_hand, ..Typed::default() }.settings().unwrap();
    assert_eq!(again.written(), settings.written(), "as a --config it is taken whole");
    let seeds: Vec<String> = again.seeds.iter().map(SeedLine::to_string).collect();
    assert_eq!(seeds, ["https://a.test/ 2.5", "http://b.test/"]);
    let config = again.engine_config().unwrap();
    assert_eq!(config.depth_max, Some(7));
    assert_eq!((config.priorities.len(), config.hours.rules.len()), (2, 2));
    assert_eq!((config.bytes_per_s, config.follows_links), (Some(250_000), false));
    assert!(config.scope.admits(&SeedLine::from_text("b.test/x").url));
    assert!(!config.scope.admits(&SeedLine::from_text("www.b.test/x").url));
}

#[test]
fn flags_win_over_config_which_wins_over_the_last_run_and_a_bound_can_be_lifted() {
    let scratch = tempfile::tempdir().unwrap();
    let first = typed(
        scratch.path(),
        Some("max_pages = 10\ndelay = \"9s\""),
        WrittenSettings::default(),
        &["a.test"],
    );
    let first = first.settings().unwrap();
    first.write_crawl_toml(&scratch.path().join(CRAWL_TOML)).unwrap();

    let lifted = WrittenSettings {
        max_pages: Some(quantity::OptionalBound(None)),
        ..WrittenSettings::default()
    };
    let second = typed(scratch.path(), Some("concurrency = 3\nmax_pages = 20"), lifted, &[]);
    let second = second.settings().unwrap();
    assert_eq!(second.max_pages, None);
    assert_eq!(second.concurrency, 3);
    assert_eq!(second.delay, Duration::from_secs(9));
}

#[test]
fn what_makes_no_sense_together_is_refused_in_one_line() {
    let scratch = tempfile::tempdir().unwrap();
    for (config, seeds, reason) in [
        ("", &[][..], "no seeds"),
        ("concurrency = 0", &["a.test"], "concurrency is 1 to"),
        ("", &["file:///etc/"], "--allow-file"),
        ("", &["a.test 0"], "is no weight"),
        ("near_threshold = 1.5", &["a.test"], "near_threshold is 0.5 to 1, not 1.5"),
        ("bytes_per_second = 10", &["a.test"], "bytes_per_second is at least 1kB"),
        ("compression_level = 40", &["a.test"], "compression_level is 1 to 12"),
    ] {
        let error =
            typed(scratch.path(), Some(config), WrittenSettings::default(), seeds).settings();
        let error = error.unwrap_err().to_string();
        assert!(error.contains(reason) && error.lines().count() == 1, "{error}");
    }
}

impl SeedLine {
    fn from_text(text: &str) -> SeedLine {
        text.parse().expect(text)
    }
}
