//! What opening refuses, and in what words.

use crate::scratch::{Scratch, open_store};
use fjall::{Database, KeyspaceCreateOptions, PersistMode};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Question, Refill, Row};
use rhumb_engine::queue::Section;
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_page::url::Url;
use rhumb_state::local::{Home, LocalReader, LocalState};
use rhumb_state::snapshot::StateSnapshot;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

fn open(dir: &Path) -> Result<LocalState, Error> {
    open_store(dir, 1).map(|(state, _)| state)
}

fn refusal(dir: &Path) -> Error {
    open(dir).err().expect("a directory that must be refused")
}

/// A store with three commits, synced, and closed.
fn three_commits(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let mut state = open(scratch.path()).expect("a new store");
    for n in 0..3 {
        let url = Url::parse(&format!("http://a.test/{n}")).expect("a URL");
        let record = UrlRecord::new(UrlId(n), RecordStatus::Queued, 0, 0, Time::ZERO);
        state
            .commit(&mut vec![Row::Url { key: url.key(), record }], ArchivePosition::default())
            .expect("a commit");
    }
    state.sync().expect("a sync");
    assert_eq!(state.commits(), 3);
    scratch
}

/// Where the store itself lies.
fn store_of(scratch: &Scratch) -> PathBuf {
    scratch.path().join("format-11")
}

/// Writes a row that this program would not.
fn plant(scratch: &Scratch, keyspace: &str, key: &[u8], value: &[u8]) {
    let database =
        Database::builder(store_of(scratch).join("fjall")).open().expect("the store itself");
    let keyspace = database.keyspace(keyspace, KeyspaceCreateOptions::default).expect("a keyspace");
    keyspace.insert(key, value).expect("an insert");
    database.persist(PersistMode::SyncAll).expect("a sync");
}

#[test]
fn a_row_of_another_version_is_refused_and_not_guessed() {
    let scratch = three_commits("version");
    plant(&scratch, "url", Url::parse("http://b.test/").unwrap().key().as_bytes(), &[9, 1]);
    let error = refusal(scratch.path());
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert_eq!(error.what, "url row has version 9, this program reads 1");
}

#[test]
fn a_row_that_cannot_be_read_is_an_error_of_its_question_and_no_panic() {
    let scratch = three_commits("damaged");
    let host = Url::parse("http://a.test/").unwrap().host_key();
    let mut key = xxh3_64(host.as_str().as_bytes()).to_be_bytes()[..4].to_vec();
    key.extend_from_slice(host.as_str().as_bytes());
    key.extend_from_slice(&[0, 0, 8]);
    key.extend_from_slice(&[0; 16]);
    plant(&scratch, "queue", &key, &[1, 200, 200]);
    let state = open(scratch.path()).expect("a store whose queue nobody has read yet");
    let refill = Refill { host, section: Section::Now, after: None, rows_max: 4 };
    let error = state.reader().answer(Question::Refill { hosts: vec![refill] }).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Corrupt);
    assert!(error.what.starts_with("queue row cannot be read"), "{error}");
}

#[test]
fn a_store_with_fewer_commits_than_were_promised_is_refused() {
    let scratch = three_commits("mark");
    assert_eq!(open(scratch.path()).expect("as it was").commits(), 3);
    fs::write(store_of(&scratch).join("MARK"), "7\n").unwrap();
    let error = refusal(scratch.path());
    assert_eq!(error.kind, ErrorKind::Corrupt);
    assert!(error.what.contains("3 commits, but 7 were written"), "{error}");
    fs::write(store_of(&scratch).join("MARK"), "seven\n").unwrap();
    let error = refusal(scratch.path());
    assert!(error.what.ends_with("MARK does not hold numbers"), "{error}");
}

/// Three commits, each when the archive had grown by 100 bytes; synced after so many of them.
fn three_archived(name: &str, synced: u64) -> Scratch {
    let scratch = Scratch::new(name);
    let mut state = open(scratch.path()).expect("a new store");
    for n in 0..3 {
        let url = Url::parse(&format!("http://a.test/{n}")).expect("a URL");
        let record = UrlRecord::new(UrlId(n), RecordStatus::Fetched, 0, 0, Time::ZERO);
        let archived = ArchivePosition { file: 1, length: 100 * (n + 1) };
        state.commit(&mut vec![Row::Url { key: url.key(), record }], archived).expect("a commit");
        if n + 1 == synced {
            state.sync().expect("a sync");
        }
    }
    scratch
}

#[test]
fn a_commit_that_speaks_of_more_than_the_archive_holds_is_not_believed() {
    let ends = [(0, 0), (1, 0), (1, 99), (1, 100), (1, 250), (1, 299), (1, 300), (2, 0)];
    for (end, believed) in ends.into_iter().zip([0, 0, 0, 1, 2, 2, 3, 3]) {
        for synced in 0..=3 {
            let scratch = three_archived("beyond", synced);
            let home = Home::open(scratch.path()).expect("the store");
            let promised = ArchivePosition { file: u32::from(synced > 0), length: 100 * synced };
            assert_eq!(home.archived().unwrap(), Some(promised));
            let archive_end = ArchivePosition { file: end.0, length: end.1 };
            let (mut state, _) = LocalState::open(home, 1, archive_end).expect("what is believed");
            // What was synced is believed whatever became of the archive: its owner may have moved
            // it away.
            assert_eq!(state.commits(), believed.max(synced), "{end:?}, {synced} synced");
            assert_eq!(state.reader().urls().count() as u64, state.commits());
            // The numbers that are free now are given again.
            let url = Url::parse("http://a.test/new").unwrap();
            let record = UrlRecord::new(UrlId(9), RecordStatus::Queued, 0, 0, Time::ZERO);
            let rows = &mut vec![Row::Url { key: url.key(), record }];
            state.commit(rows, archive_end).expect("a commit");
            let commits = state.commits();
            drop(state);
            let home = Home::open(scratch.path()).expect("the store");
            let (state, _) = LocalState::open(home, 1, archive_end).expect("as it was");
            assert_eq!(state.commits(), commits);
            assert!(state.reader().snapshot().has_url(&url.key()).unwrap());
        }
    }
}

#[test]
fn to_look_at_a_store_changes_nothing_in_it() {
    let scratch = three_archived("look", 1);
    let journal = journal_of(&scratch);
    let bytes = fs::read(&journal).unwrap();
    for _ in 0..2 {
        let reader = LocalReader::open(scratch.path()).expect("a store at rest");
        assert_eq!(reader.urls().count(), 3, "all that is written, whatever the archive holds");
        let key = Url::parse("http://a.test/2").unwrap().key();
        assert!(reader.snapshot().has_url(&key).unwrap());
        assert_eq!(fs::read(&journal).unwrap(), bytes);
    }
}

/// The only file of the journal.
fn journal_of(scratch: &Scratch) -> PathBuf {
    let mut files = fs::read_dir(store_of(scratch).join("journal")).expect("the journal");
    let file = files.next().expect("a file").expect("its name").path();
    assert!(files.next().is_none(), "one file");
    file
}

#[test]
fn a_commit_that_is_torn_or_damaged_ends_the_journal_and_takes_no_other_with_it() {
    let whole = three_commits("torn");
    let bytes = fs::read(journal_of(&whole)).expect("three commits");
    // Cut anywhere, and with any one byte changed.
    for at in (1..bytes.len()).step_by(bytes.len() / 7) {
        for is_cut in [true, false] {
            let scratch = Scratch::new("torn-again");
            drop(open(scratch.path()).expect("a new store"));
            fs::remove_file(journal_of(&scratch)).unwrap();
            let mut damaged = bytes.clone();
            match is_cut {
                true => damaged.truncate(at),
                false => damaged[at] ^= 0x10,
            }
            fs::write(store_of(&scratch).join("journal/000000000007.journal"), damaged).unwrap();
            let state = open(scratch.path()).expect("what is whole");
            assert_eq!(state.commits(), (3 * at / bytes.len()) as u64, "{is_cut} {at}");
            let urls = state.reader().urls().count() as u64;
            assert_eq!(urls, state.commits(), "a row for each commit");
        }
    }
}

#[test]
fn commits_behind_a_gap_are_not_taken_for_the_next_ones() {
    let scratch = three_commits("gap");
    let journal = journal_of(&scratch);
    let bytes = fs::read(&journal).unwrap();
    // All three commits are of the same length, up to their numbers.
    fs::write(&journal, &bytes[bytes.len() / 3..]).unwrap();
    let error = refusal(scratch.path());
    assert!(error.what.contains("0 commits, but 3 were written"), "{error}");
    assert!(journal.exists(), "what is refused stays as it is");
}

#[test]
fn a_journal_that_comes_back_after_its_rows_were_stowed_changes_nothing() {
    let scratch = three_commits("ghost");
    let ghost = fs::read(journal_of(&scratch)).unwrap();
    let mut state = open(scratch.path()).expect("all three, flushed by now");
    let url = Url::parse("http://a.test/0").unwrap();
    let record = UrlRecord::new(UrlId(0), RecordStatus::Gone, 0, 0, Time::ZERO);
    state
        .commit(&mut vec![Row::Url { key: url.key(), record }], ArchivePosition::default())
        .expect("a commit");
    drop(state);
    drop(open(scratch.path()).expect("all four, flushed by now"));
    // The directory forgot that it was removed, and the file lost its end.
    let path = store_of(&scratch).join("journal/000000000000.journal");
    fs::write(path, &ghost[..ghost.len() * 4 / 5]).unwrap();
    let state = open(scratch.path()).expect("as it was");
    assert_eq!(state.commits(), 4);
    let record = state.reader().snapshot().url(&url.key()).unwrap().expect("a row");
    assert_eq!(record.status, RecordStatus::Gone);
}

#[test]
fn a_directory_of_another_format_is_refused_and_left_as_it_is() {
    let scratch = three_commits("format");
    for other in ["rhumb state 12", "rhumb state 8"] {
        fs::write(scratch.path().join("FORMAT"), format!("{other}\n")).unwrap();
        let error = refusal(scratch.path());
        assert_eq!(error.kind, ErrorKind::Invalid);
        let what = format!(
            "{other:?}, this program reads \"rhumb state 11\" and migrates \"rhumb state 10\" and \
             \"rhumb state 9\""
        );
        assert!(error.what.contains(&what), "{error}");
    }
    fs::write(scratch.path().join("FORMAT"), "rhumb state 11\n").unwrap();
    assert_eq!(open(scratch.path()).expect("nothing was touched").commits(), 3);
}

#[test]
fn a_store_of_format_9_without_its_format_file_is_refused() {
    let scratch = Scratch::new("no-format");
    fs::create_dir(scratch.path().join("fjall")).unwrap();
    assert!(refusal(scratch.path()).what.contains("without a FORMAT file"));
}

#[test]
fn a_store_that_was_made_before_its_format_was_written_is_taken_as_it_is() {
    let scratch = three_commits("no-word");
    fs::remove_file(scratch.path().join("FORMAT")).unwrap();
    assert_eq!(open(scratch.path()).expect("a whole store").commits(), 3);
}

#[test]
fn a_store_that_was_not_made_to_the_end_is_made_again() {
    let scratch = Scratch::new("half");
    fs::create_dir_all(scratch.path().join("format-11.new/fjall/keyspaces")).unwrap();
    drop(open(scratch.path()).expect("a new store"));
    assert!(!scratch.path().join("format-11.new").exists());
    fs::remove_dir_all(store_of(&scratch)).unwrap();
    assert!(refusal(scratch.path()).what.contains("is gone"), "and never without a word");
}

#[test]
fn a_format_file_cut_short_at_birth_does_not_bar_an_empty_directory() {
    let scratch = Scratch::new("birth");
    fs::write(scratch.path().join("FORMAT"), "").unwrap();
    open(scratch.path()).expect("there is nothing to lose here");
}

#[test]
fn a_store_in_use_says_so() {
    let scratch = three_commits("locked");
    let _held = open(scratch.path()).expect("the first");
    let error = refusal(scratch.path());
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.what.ends_with("is in use by another rhumb"), "{error}");
}
