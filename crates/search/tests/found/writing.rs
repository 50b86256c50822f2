//! Writers that are killed, indexes that are damaged or of another version.

use std::fs;

use rhumb_search::{Index, IndexMark, Indexer, SearchError, SearchOptions, SearchPage};

use super::corpus::{answer, ids, index, page};

fn numbered(n: u32) -> SearchPage {
    page(
        &format!("https://h{n}.org/"),
        "Tides",
        &format!("Page number{n} tells of tides and cats{}", n % 7),
    )
}

/// All pages, and answers to some queries.
fn contents(index: &Index) -> (Vec<SearchPage>, Vec<(String, Vec<String>)>) {
    let mut pages = Vec::new();
    index.each_page(|page| pages.push(page));
    let queries = ["tides", "cats3", "number12", "\"tells of\" -cats1"];
    (pages, queries.map(|query| (query.to_owned(), ids(index, query))).to_vec())
}

#[test]
fn what_was_not_committed_is_not_there_and_a_writer_goes_on_behind_its_mark() {
    let whole = tempfile::tempdir().expect("a directory");
    let expected = contents(&index(whole.path(), (0..40).map(numbered)));
    let dir = tempfile::tempdir().expect("a directory");
    for (committed, lost) in [(0u32, 3u32), (10, 15), (10, 10), (25, 31)] {
        let mut writer = Indexer::open(dir.path()).expect("opened");
        let from = writer.mark().offset as u32;
        (from..committed).for_each(|n| writer.add(numbered(n)).expect("taken"));
        writer.commit(IndexMark { file: 1, offset: committed.into() }).expect("committed");
        (committed..lost).for_each(|n| writer.add(numbered(n)).expect("taken"));
        // Dropped here: as if killed.
    }
    let mut writer = Indexer::open(dir.path()).expect("opened");
    assert_eq!(writer.mark(), IndexMark { file: 1, offset: 25 });
    (25..40).for_each(|n| writer.add(numbered(n)).expect("taken"));
    writer.finish(IndexMark { file: 1, offset: 40 }).expect("finished");
    assert_eq!(contents(&Index::open(dir.path()).expect("an index")), expected);
}

#[test]
fn a_page_of_an_id_that_is_there_takes_the_place_of_the_earlier_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Indexer::open(dir.path()).expect("opened");
    writer.add(page("https://a.org/", "Tides", "About tides.")).expect("taken");
    writer.add(page("https://b.org/", "Tides", "Other tides elsewhere.")).expect("taken");
    writer.add(page("https://a.org/", "Cats", "About cats.")).expect("taken");
    let counts = writer.finish(IndexMark::default()).expect("finished");
    assert_eq!((counts.pages, counts.replaced), (2, 1));
    let index = Index::open(dir.path()).expect("an index");
    assert_eq!(ids(&index, "tides"), ["https://b.org/"]);
    assert_eq!(ids(&index, "cats"), ["https://a.org/"]);
}

#[test]
fn documents_without_text_are_found_by_their_title_and_url() {
    let dir = tempfile::tempdir().expect("a directory");
    let empty = SearchPage { id: "7".to_owned(), ..SearchPage::default() };
    let index = index(
        dir.path(),
        [page("https://a.org/deep/tides", "", ""), empty, page("https://b.org/", "Cats", "")],
    );
    assert_eq!(index.pages(), 3);
    assert_eq!(ids(&index, "tides"), ["https://a.org/deep/tides"]);
    assert_eq!(ids(&index, "cats"), ["https://b.org/"]);
    assert_eq!(answer(&index, "-cats").total, 2);
}

#[test]
fn what_is_no_index_or_damaged_or_of_another_version_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    assert!(matches!(Index::open(dir.path()), Err(SearchError::Absent(_))));
    index(dir.path(), (0..5).map(numbered));
    let told = |dir: &std::path::Path| Index::open(dir).err().map(|error| error.to_string());
    let rows = fs::read(dir.path().join("rows")).expect("read");
    fs::write(dir.path().join("rows"), &rows[..rows.len() / 2]).expect("written");
    assert!(told(dir.path()).is_some_and(|error| error.contains("rows: shorter")));
    assert!(Indexer::open(dir.path()).is_err());
    fs::write(dir.path().join("rows"), rows).expect("written");
    assert!(Index::open(dir.path()).is_ok());
    fs::write(dir.path().join("version"), "99\n").expect("written");
    assert!(told(dir.path()).is_some_and(|error| error.contains("format 99")));
    fs::write(dir.path().join("version"), "1\n").expect("written");
    fs::write(dir.path().join("terms/meta.json"), "{").expect("written");
    assert!(matches!(Index::open(dir.path()), Err(SearchError::Damaged(_))));
}

#[test]
fn what_links_say_is_found_whenever_it_comes_and_what_is_removed_is_not() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Indexer::open(dir.path()).expect("opened");
    writer.anchor("https://a.org/", "lunar almanac").expect("taken");
    writer.add(page("https://a.org/", "A", "First page.")).expect("taken");
    writer.add(page("https://b.org/", "B", "Second page.")).expect("taken");
    writer.add(page("https://c.org/", "C", "Third page.")).expect("taken");
    writer.commit(IndexMark::default()).expect("committed");
    writer.anchor("https://b.org/", "solar handbook").expect("taken");
    assert!(writer.remove("https://c.org/").expect("removed"));
    assert!(!writer.remove("https://d.org/").expect("nothing to remove"));
    writer.commit(IndexMark::default()).expect("committed");
    drop(writer);
    let mut writer = Indexer::open(dir.path()).expect("opened");
    writer.rename().expect("indexed again");
    let counts = writer.finish(IndexMark::default()).expect("finished");
    assert_eq!((counts.pages, counts.replaced, counts.near_duplicates), (2, 0, 0));
    let index = Index::open(dir.path()).expect("an index");
    assert_eq!(ids(&index, "almanac"), ["https://a.org/"]);
    assert_eq!(ids(&index, "\"solar handbook\""), ["https://b.org/"]);
    assert_eq!(ids(&index, "third"), Vec::<String>::new());
    assert_eq!(answer(&index, "page").total, 2);
}

#[test]
fn a_page_is_written_again_for_a_new_word_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = Indexer::open(dir.path()).expect("opened");
    writer.add(page("https://a.org/tides", "The Moon", "First page.")).expect("taken");
    writer.commit(IndexMark::default()).expect("committed");
    writer.anchor("https://a.org/tides", "moon, tides").expect("taken");
    writer.rename().expect("nothing to do");
    assert_eq!(writer.uncommitted(), 0);
    writer.anchor("https://a.org/tides", "moon and stars").expect("taken");
    writer.rename().expect("indexed again");
    assert_eq!(writer.uncommitted(), 1);
    writer.finish(IndexMark::default()).expect("finished");
    let index = Index::open(dir.path()).expect("an index");
    assert_eq!(ids(&index, "\"moon, tides\" stars"), ["https://a.org/tides"]);
}

#[test]
fn a_new_version_stays_as_important_and_no_name_makes_a_page_older() {
    let dir = tempfile::tempdir().expect("a directory");
    let of = |text: &str, fetched: u32| SearchPage { fetched, ..page("https://a.org/", "", text) };
    let terms_of = |index: &Index| {
        let wanted = SearchOptions { explain: true, ..SearchOptions::default() };
        let shown = index.search("tides", &wanted).expect("an answer").results.remove(0);
        (shown.explain.expect("explained").importance, shown.fetched.expect("a time"))
    };
    let mut writer = Indexer::open(dir.path()).expect("opened");
    writer.add(of("About tides.", 1_000_000)).expect("taken");
    assert!(writer.weigh("https://a.org/", 0.5).expect("weighed"));
    writer.commit(IndexMark::default()).expect("committed");
    let (important, _) = terms_of(&Index::open(dir.path()).expect("an index"));
    assert!(important > 0.0);
    writer.add(of("More about tides.", 2_000_000)).expect("taken");
    assert!(writer.fetched_again("https://a.org/", 3_000_000).expect("written"));
    assert!(!writer.fetched_again("https://b.org/", 3_000_000).expect("nothing to write"));
    writer.anchor("https://a.org/", "almanac").expect("taken");
    writer.rename().expect("indexed again");
    writer.finish(IndexMark::default()).expect("finished");
    let index = Index::open(dir.path()).expect("an index");
    assert_eq!(ids(&index, "almanac more"), ["https://a.org/"]);
    assert_eq!(terms_of(&index), (important, "1970-02-04T17:20:00Z".to_owned()));
}

#[test]
fn bytes_that_changed_within_the_rows_are_an_error_and_no_empty_result() {
    let dir = tempfile::tempdir().expect("a directory");
    index(dir.path(), (0..20).map(numbered));
    let path = dir.path().join("rows");
    let whole = fs::read(&path).expect("read");
    for step in [1, 3, 40] {
        let mut wrong = whole.clone();
        wrong.iter_mut().step_by(step).for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, wrong).expect("written");
        let index = Index::open(dir.path()).expect("as long as it was");
        for unfold in [false, true] {
            let wanted = SearchOptions { unfold, ..SearchOptions::default() };
            let error = index.search("tides", &wanted).expect_err("damaged").to_string();
            assert!(error.contains("rows: a page cannot be read"), "{error}");
            assert!(error.contains("rhumb index"), "what to do: {error}");
        }
    }
}

#[test]
fn damage_that_only_a_query_meets_is_an_error_and_no_panic() {
    let dir = tempfile::tempdir().expect("a directory");
    index(dir.path(), (0..200).map(numbered));
    let terms = dir.path().join("terms");
    let files = fs::read_dir(&terms).expect("read").map(|entry| entry.expect("an entry").path());
    let words = files.filter(|path| path.extension().is_some_and(|name| name == "term"));
    for path in words {
        let whole = fs::read(&path).expect("read");
        for seed in 0u8..32 {
            let mut wrong = whole.clone();
            // The footer at the end says how long the file is: without it nothing is opened.
            let middle = wrong.len() * 3 / 4;
            wrong[..middle].iter_mut().skip(seed.into()).step_by(37).for_each(|b| *b ^= seed | 9);
            fs::write(&path, wrong).expect("written");
            let Ok(index) = Index::open(dir.path()) else { continue };
            for query in ["tides", "number12 cats3", "\"tells of\" -cats1", "lang:en tides"] {
                if let Err(error) = index.search(query, &SearchOptions::default()) {
                    assert!(error.to_string().contains("search index"), "{error}");
                }
            }
        }
        fs::write(&path, whole).expect("written");
    }
}
