//! Random batches into both stores, random questions to both: the one in memory is the model of
//! the one on disk.

use crate::chance::{Chance, all_rows};
use crate::scratch::{Scratch, open_store};
use rhumb_engine::event::Row;
use rhumb_engine::rng::Rng;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_state::local::LocalSnapshot;
use rhumb_state::memory::MemoryState;

const SEED: u64 = 11;
const THRESHOLD: f64 = 0.8;
/// Bytes of rows in memory: so few that most rounds begin to flush some, and all of a test's.
const MEMTABLE_BYTES: [usize; 2] = [6 << 10, 24 << 20];

#[test]
fn both_stores_answer_every_question_alike_also_after_reopening() {
    for seed in 1..=6 {
        let scratch = Scratch::new(&format!("model-{seed}"));
        let mut chance = Chance(Rng::new(seed));
        let mut memory = MemoryState::new(SEED);
        let memtable_bytes = MEMTABLE_BYTES[seed as usize % 2];
        let open = |seed| {
            let (local, opening) = open_store(scratch.path(), seed).expect("the store");
            (local.with_fresh_bytes(memtable_bytes), opening)
        };
        let (mut local, _) = open(SEED);
        memory.compare_texts(THRESHOLD);
        local.compare_texts(THRESHOLD).expect("no leaders");
        for round in 0..60 {
            let mut rows: Vec<Row> = (0..chance.below(40)).map(|_| chance.row()).collect();
            memory.commit(&mut rows.clone());
            local.commit(&mut rows, ArchivePosition::default()).expect("a commit");
            if chance.below(10) == 0 {
                local.sync().expect("a sync");
            }
            if chance.below(12) == 0 {
                drop(local);
                let (again, opening) = open(SEED + round);
                local = again;
                assert_eq!(format!("{opening:?}"), format!("{:?}", memory.reopen()));
                memory.compare_texts(THRESHOLD);
                local.compare_texts(THRESHOLD).expect("all leaders");
            }
            for _ in 0..12 {
                let question = chance.question();
                let asked = format!("seed {seed} round {round}: {question:?}");
                let model = memory.answer(question.clone()).expect("an answer from memory");
                let system = local.reader().answer(question).expect("an answer from disk");
                assert_eq!(format!("{model:?}"), format!("{system:?}"), "{asked}");
            }
        }
        let urls: Result<Vec<_>, _> = local.reader().urls().collect();
        let urls = urls.expect("all URLs");
        assert!(urls.iter().map(|(key, record)| (key, record)).eq(memory.rows.urls.sorted()));
        let hosts: Result<Vec<_>, _> = local.reader().hosts().collect();
        let hosts = hosts.expect("all hosts");
        assert!(hosts.iter().map(|(key, record)| (key, record)).eq(memory.rows.hosts.sorted()));
        let seeds = local.reader().seeds().expect("all seeds");
        assert!(seeds.into_iter().eq(memory.rows.seeds.clone()));
        assert_eq!(local.reader().counters().expect("counters"), memory.rows.counters);
    }
}

/// How many snapshots are held at once.
const SNAPSHOTS: usize = 3;

#[test]
fn a_snapshot_shows_its_moment_whatever_is_committed_and_stowed_meanwhile() {
    let scratch = Scratch::new("moments");
    let mut chance = Chance(Rng::new(7));
    let mut memory = MemoryState::new(SEED);
    let (local, _) = open_store(scratch.path(), SEED).expect("a new store");
    let mut local = local.with_fresh_bytes(48 << 10);
    let reader = local.reader();
    let mut held: Vec<(LocalSnapshot<'_>, String)> = Vec::new();
    for round in 0..200 {
        let mut rows: Vec<Row> = (0..chance.below(30)).map(|_| chance.row()).collect();
        memory.commit(&mut rows.clone());
        local.commit(&mut rows, ArchivePosition::default()).expect("a commit");
        if chance.below(4) == 0 {
            if held.len() == SNAPSHOTS {
                held.swap_remove(chance.below(SNAPSHOTS as u64) as usize);
            }
            held.push((reader.snapshot(), all_rows(&memory.rows)));
        }
        for (snapshot, model) in &held {
            let system = all_rows(snapshot);
            let other = system.lines().zip(model.lines()).find(|(a, b)| a != b);
            assert_eq!(other, None, "round {round}");
        }
    }
}
