//! What an opening finds: the rows of the model, whichever machine is left.

use crate::chance::{Chance, all_rows};
use crate::partition::{Partition, Place, SEED};
use rhumb_engine::error::ErrorKind;
use rhumb_engine::rng::Rng;
use rhumb_shipped::OpenedHow;
use rhumb_state::memory::MemoryState;

pub fn assert_same(partition: &Partition, model: &MemoryState, told: &str) {
    let system = all_rows(&partition.state.reader().snapshot());
    let model = all_rows(&model.rows);
    let other = system.lines().zip(model.lines()).find(|(a, b)| a != b);
    assert_eq!(other, None, "{told}");
}

#[test]
fn all_that_was_shipped_is_there_wherever_the_partition_is_opened_next() {
    for seed in 1..=3 {
        let place = Place::new();
        let mut chance = Chance(Rng::new(seed));
        let mut model = MemoryState::new(SEED);
        let mut partition = Partition::take(&place.address(), "a", &place.node("a")).expect("new");
        assert_eq!((partition.opened, partition.epoch), (OpenedHow::New, 1));
        for round in 0..60 {
            partition.commit(&mut chance, &mut model);
            if chance.below(8) > 0 {
                continue;
            }
            partition.drain();
            let epoch = partition.epoch;
            partition.kill();
            // At home the local store is kept, elsewhere it is made anew.
            let (name, opened) = match chance.below(2) {
                0 => (format!("b-{round}"), OpenedHow::Elsewhere),
                _ => ("a".to_owned(), OpenedHow::Home),
            };
            let at = place.node(&name);
            partition = Partition::take(&place.address(), &name, &at).expect("taken");
            let told = format!("seed {seed} round {round} in {name}");
            assert_same(&partition, &model, &told);
            assert_eq!(partition.opening(), format!("{:?}", model.reopen()), "{told}");
            assert!(partition.epoch > epoch);
            if partition.opened != opened {
                // Somebody else had it since.
                assert_eq!(partition.opened, OpenedHow::Elsewhere, "{told}");
            }
        }
    }
}

#[test]
fn what_was_committed_and_not_shipped_is_shipped_by_the_next_run_at_home() {
    let place = Place::new();
    let mut chance = Chance(Rng::new(5));
    let mut model = MemoryState::new(SEED);
    let take = |name: &str| Partition::take(&place.address(), name, &place.node(name));
    let mut partition = take("a").expect("new");
    for _ in 0..30 {
        partition.commit(&mut chance, &mut model);
    }
    partition.kill();
    let partition = take("a").expect("taken again");
    assert_same(&partition, &model, "at home");
    let shipped = partition.drain();
    assert_eq!(shipped.shipped, partition.state.commits());
    partition.kill();
    let partition = take("b").expect("taken elsewhere");
    assert_eq!(partition.opened, OpenedHow::Elsewhere);
    assert_same(&partition, &model, "elsewhere");
}

#[test]
fn the_second_to_open_fences_the_first_whose_later_commits_are_nowhere() {
    let place = Place::new();
    let mut chance = Chance(Rng::new(6));
    let mut model = MemoryState::new(SEED);
    let take = |name: &str| Partition::take(&place.address(), name, &place.node(name));
    let mut first = take("a").expect("new");
    for _ in 0..10 {
        first.commit(&mut chance, &mut model);
    }
    assert!(first.drain().failed.is_none());
    let second = take("b").expect("taken over");
    let mut stale = MemoryState::new(SEED);
    let rows_before = first.state.commits();
    while first.state.commits() < rows_before + 3 {
        first.commit(&mut chance, &mut stale);
    }
    let failed = first.drain().failed.expect("fenced");
    assert_eq!(failed.kind, ErrorKind::Fenced, "{failed}");
    assert_eq!(
        failed.what,
        "another node has taken over partition 7: nothing that this one \
                             writes counts"
    );
    assert_same(&second, &model, "the second");
    first.kill();
    second.kill();
    // What it has beyond is of a history that nobody shares.
    let again = take("a").expect("taken back");
    assert_eq!(again.opened, OpenedHow::Elsewhere);
    assert_same(&again, &model, "the first again");
}

#[test]
fn a_directory_with_a_crawl_of_its_own_is_not_thrown_away() {
    let place = Place::new();
    let dir = place.node("own");
    std::fs::create_dir_all(dir.join("warc")).expect("a crawl's directory");
    let error = Partition::take(&place.address(), "a", &dir).err().expect("refused");
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.what.contains("give another --dir"), "{error}");
    assert!(dir.join("warc").exists());
}
