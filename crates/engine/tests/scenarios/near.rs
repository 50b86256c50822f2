//! Pages with nearly the same text.

use crate::stage::{Stage, url};
use rhumb_engine::config::{Config, NearDuplicates, NearPolicy};
use rhumb_engine::record::RecordStatus;
use rhumb_engine::time::Span;

const PAGES: [&str; 3] = ["a.test/", "b.test/", "c.test/"];

fn stage(near: NearDuplicates, lag: Span) -> Stage {
    let mut stage = Stage::new(Config { near, ..Config::default() })
        .page("a.test/", &["a.test/1"])
        .page("b.test/", &["b.test/1"])
        .page("c.test/", &["c.test/1"])
        .same_text(&PAGES)
        .takes("b.test/robots.txt", Span(100_000 + lag.0))
        .takes("c.test/robots.txt", Span(100_000 + 2 * lag.0))
        .seed(&PAGES);
    stage.answers_after = |_| Span::millis(20);
    stage.run();
    stage
}

fn known(stage: &Stage, at: &str) -> bool {
    stage.state.rows.urls.contains_key(&url(at).key())
}

#[test]
fn of_pages_with_nearly_the_same_text_one_leads_and_the_others_name_it() {
    // In one batch, one after the other, and while the first is still being compared.
    for lag in [Span::ZERO, Span::secs(9), Span::millis(5)] {
        let stage = stage(NearDuplicates::default(), lag);
        let leaders: Vec<_> = stage.state.rows.leaders.values().collect();
        assert_eq!(leaders.len(), 1, "{lag:?}");
        for page in PAGES {
            let record = stage.record(page);
            assert_eq!(record.status, RecordStatus::Fetched);
            match &record.past.near {
                Some(near) => {
                    assert_eq!(near.url, leaders[0].url);
                    assert!(near.resemblance() > 0.8, "{}", near.resemblance());
                }
                None => assert_eq!(leaders[0].url, url(page)),
            }
            let link = format!("{page}1");
            assert!(known(&stage, &link), "links are followed: {link}");
        }
        assert_eq!(stage.engine.counters().near_duplicates, 2);
        assert_eq!(stage.state.rows.content.len(), 3, "all are kept");
    }
}

#[test]
fn what_is_skipped_is_recorded_and_its_bytes_are_not_said_to_be_kept() {
    let policy = NearPolicy::Skip;
    let near = NearDuplicates { policy, follow: false, ..NearDuplicates::default() };
    for lag in [Span::ZERO, Span::secs(9)] {
        let stage = stage(near, lag);
        assert_eq!(stage.engine.counters().near_duplicates, 2);
        let members = PAGES.iter().filter(|page| stage.record(page).past.near.is_some());
        assert_eq!(members.count(), 2);
        let followed = PAGES.iter().filter(|page| known(&stage, &format!("{page}1"))).count();
        assert_eq!(followed, 1, "only the leader's links");
        assert_eq!(stage.state.rows.content.len(), 1, "the leader alone");
    }
}

#[test]
fn leaders_outlive_the_process_and_nobody_looks_if_it_is_off() {
    let mut stage = Stage::new(Config::default())
        .page("a.test/", &[])
        .page("b.test/", &[])
        .same_text(&PAGES)
        .seed(&["a.test/"]);
    stage.run();
    stage.now = stage.now + Span::secs(60);
    stage.reopen(Config::default());
    stage.send_seeds(&["b.test/"], Span::ZERO);
    stage.run();
    let near = stage.record("b.test/").past.near.clone().expect("a leader from before");
    assert_eq!(near.url, url("a.test/"));

    let near = NearDuplicates { policy: NearPolicy::Off, ..NearDuplicates::default() };
    let stage = self::stage(near, Span::ZERO);
    assert!(stage.state.rows.leaders.is_empty());
    assert_eq!(stage.engine.counters().near_duplicates, 0);
}
