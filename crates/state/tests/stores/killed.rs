//! kill -9: what was acknowledged is there, whole; what was not is there whole or not at all.
//!
//! The child is this test binary itself, told by an environment variable to commit numbered
//! batches and to print each number once its commit has returned.

use crate::scratch::{Scratch, open_store};
use rhumb_engine::counters::Counters;
use rhumb_engine::event::{Answer, Question, Row};
use rhumb_engine::near::{Leader, Likeness};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::rng::{Rng, mix};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_neardup::Sketch;
use rhumb_page::url::Url;
use rhumb_state::snapshot::StateSnapshot;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

const DIR: &str = "RHUMB_TEST_COMMIT_UNTIL_KILLED";
const ACKNOWLEDGED: &str = "acknowledged ";
const ROUNDS: u64 = 10;
/// Commits between two syncs of the child.
const SYNC_EVERY: u64 = 7;

#[test]
fn what_was_acknowledged_survives_a_kill_and_no_batch_is_torn() {
    let scratch = Scratch::new("killed");
    let mut rng = Rng::new(17);
    let mut checked = 0;
    for round in 0..ROUNDS {
        let acknowledged = kill_after(scratch.path(), 1 + rng.draw() % 40).max(checked);
        let (mut state, opening) = open_store(scratch.path(), 1).expect("it opens again");
        state.compare_texts(0.8).expect("all leaders");
        let last = opening.counters.known;
        assert!(last >= acknowledged, "round {round}: {acknowledged} acknowledged, {last} there");
        let from = if round + 1 == ROUNDS { 1 } else { checked + 1 };
        let reader = state.reader();
        let snapshot = reader.snapshot();
        for number in from..=last {
            for url in batch_urls(number) {
                assert!(snapshot.has_url(&url.key()).unwrap(), "batch {number} lacks {url}");
            }
        }
        let texts = (from..=last + 1).map(|number| ([0; 16], Some(sketch(number)))).collect();
        let Ok(Answer::Twinned { pages }) = reader.answer(Question::Twin { pages: texts }) else {
            panic!("no answer about leaders");
        };
        let led = pages.iter().filter(|likeness| matches!(likeness, Likeness::Near(_))).count();
        assert_eq!(led as u64, last + 1 - from, "one leader a batch, and none of half a batch");
        for url in batch_urls(last + 1) {
            assert!(!snapshot.has_url(&url.key()).unwrap(), "half of batch {} is there", last + 1);
        }
        checked = last;
    }
    assert!(checked >= ROUNDS, "the children got through {checked} batches");
}

/// Starts a child, kills it after so many acknowledgements; the last that it gave.
fn kill_after(dir: &Path, count: u64) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "killed::the_child_commits_until_it_is_killed", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| number_in(&line));
    let mut last = 0;
    // What it printed before it died but we had not read yet counts as well.
    for (n, number) in numbers.enumerate() {
        last = number;
        if n as u64 + 1 == count {
            child.kill().expect("a child that lives");
        }
    }
    child.wait().expect("its end");
    last
}

fn number_in(line: &str) -> Option<u64> {
    // The test harness may have begun the line.
    let at = line.find(ACKNOWLEDGED)? + ACKNOWLEDGED.len();
    line[at..].parse().ok()
}

#[test]
fn the_child_commits_until_it_is_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let (state, opening) = open_store(Path::new(&dir), 1).expect("the store");
    // So few that some are being flushed at any time.
    let mut state = state.with_fresh_bytes(256 << 10);
    for number in opening.counters.known + 1.. {
        let mut rows: Vec<Row> = batch_urls(number).map(|url| row(&url, number)).collect();
        let url = batch_urls(number).next().expect("a batch is never empty");
        let leader = Leader { url, sketch: sketch(number) };
        rows.push(Row::Leader { id: number as u32, leader });
        rows.push(Row::Counters(Box::new(Counters { known: number, ..Counters::default() })));
        state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
        if number.is_multiple_of(SYNC_EVERY) {
            state.sync().expect("a sync");
        }
        // Not `println`, which waits for the line to be whole in a buffer of its own.
        let mut out = std::io::stdout().lock();
        writeln!(out, "{ACKNOWLEDGED}{number}").expect("someone who listens");
        out.flush().expect("someone who listens");
    }
}

fn batch_urls(number: u64) -> impl Iterator<Item = Url> {
    let len = 50 + number * 37 % 300;
    (0..len).map(move |n| Url::parse(&format!("http://h{number}.test/page/{n}")).expect("a URL"))
}

fn sketch(number: u64) -> Arc<Sketch> {
    let prints: Vec<u64> = (0..200).map(|n| mix(number << 20 | n)).collect();
    Arc::new(Sketch::of(&prints).expect("shingles"))
}

fn row(url: &Url, number: u64) -> Row {
    let record = UrlRecord::new(UrlId(number), RecordStatus::Queued, 0, 0, Time::ZERO);
    Row::Url { key: url.key(), record }
}
