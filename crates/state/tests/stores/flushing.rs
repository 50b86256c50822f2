//! When rows leave memory for the tables.

use crate::scratch::{Scratch, open_store};
use rhumb_engine::event::Row;
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_page::url::Url;
use rhumb_state::local::LocalState;
use std::path::{Path, PathBuf};

#[test]
fn rows_are_stowed_after_a_sync_and_never_before() {
    let scratch = Scratch::new("flushing");
    let (local, _) = open_store(scratch.path(), 1).expect("a new store");
    let mut local = local.with_fresh_bytes(64 << 10);
    let mut number = 0;
    let mut commit = |local: &mut LocalState| {
        number += 1;
        let url = Url::parse(&format!("http://a.test/{number:09}")).expect("a URL");
        let record = UrlRecord::new(UrlId(number), RecordStatus::Queued, 0, 0, Time::ZERO);
        local
            .commit(&mut vec![Row::Url { key: url.key(), record }], ArchivePosition::default())
            .expect("a commit");
    };
    let mut enough = 0u64;
    while !local.wants_sync() {
        commit(&mut local);
        enough += 1;
    }
    let first = newest_journal(scratch.path());
    (0..4 * enough).for_each(|_| commit(&mut local));
    assert_eq!(newest_journal(scratch.path()), first, "flushed before its archive was synced");
    assert!(local.wants_sync());
    local.sync().expect("a sync");
    assert!(newest_journal(scratch.path()) > first, "synced, and not flushed");
}

/// A journal's file ends when its rows are to be flushed.
fn newest_journal(dir: &Path) -> PathBuf {
    let files = std::fs::read_dir(dir.join("format-11/journal"))
        .expect("a directory")
        .flatten()
        .map(|entry| entry.path());
    let journals = files.filter(|path| path.extension().is_some_and(|e| e == "journal"));
    journals.max().expect("a journal")
}
