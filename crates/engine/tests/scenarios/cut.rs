//! Bodies that end early: what came is kept, and nothing is lost.

use crate::stage::{Reply, Stage, url};
use rhumb_engine::config::Config;
use rhumb_engine::event::StopReason;
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::RecordStatus;

fn cut(links: &[&str], missing: u8) -> Reply {
    Reply::Cut(links.iter().map(|link| url(link)).collect(), missing)
}

fn whole(links: &[&str]) -> Reply {
    Reply::Links(links.iter().map(|link| url(link)).collect())
}

/// Runs from `a.test/`, which answers so in turn.
fn crawled(replies: &[Reply]) -> Stage {
    let mut stage = Stage::new(Config::default())
        .answers("a.test/", replies)
        .page("a.test/1", &[])
        .page("a.test/2", &[])
        .seed(&["a.test/"]);
    assert_eq!(stage.run(), StopReason::Finished);
    stage
}

#[test]
fn a_page_that_comes_whole_the_second_time_is_whole() {
    let stage = crawled(&[cut(&["a.test/1"], 9), whole(&["a.test/1", "a.test/2"])]);
    let record = stage.record("a.test/");
    assert_eq!((record.status, record.past.marks), (RecordStatus::Fetched, Marks::NONE));
    assert_eq!((record.past.visits, stage.engine.counters().pages), (1, 3));
    assert_eq!(stage.pages(), ["a.test/", "a.test/", "a.test/1", "a.test/2"]);
}

#[test]
fn a_server_that_announces_too_much_is_asked_twice_and_its_page_is_taken_as_it_is() {
    let stage = crawled(&[cut(&["a.test/1", "a.test/2"], 9)]);
    let record = stage.record("a.test/");
    assert_eq!((record.status, record.past.marks), (RecordStatus::Fetched, Marks::TRUNCATED));
    assert_eq!(stage.pages(), ["a.test/", "a.test/", "a.test/1", "a.test/2"]);
    assert_eq!(stage.engine.counters().pages, 3);
}

#[test]
fn a_page_that_is_always_cut_elsewhere_is_taken_as_it_is_at_the_last_try() {
    let replies: Vec<Reply> = (1..9).map(|missing| cut(&["a.test/1"], missing)).collect();
    let stage = crawled(&replies);
    let record = stage.record("a.test/");
    assert_eq!((record.status, record.past.marks), (RecordStatus::Fetched, Marks::TRUNCATED));
    let tries = stage.pages().iter().filter(|page| **page == "a.test/").count();
    assert_eq!(tries, usize::from(Config::default().retry.tries_max));
}

#[test]
fn the_links_of_a_part_are_followed_even_if_no_more_of_its_page_ever_comes() {
    let stage = crawled(&[cut(&["a.test/1"], 9), Reply::Fails(FailKind::Closed)]);
    assert_eq!(stage.record("a.test/").status, RecordStatus::Failed(FailKind::Closed));
    assert_eq!(stage.record("a.test/1").status, RecordStatus::Fetched);
}
