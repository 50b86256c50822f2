//! Indexes that tests are made with.

use std::path::Path;

use rhumb_search::{Index, IndexMark, Indexer, SearchAnswer, SearchOptions, SearchPage};

/// An English page of a URL.
pub fn page(url: &str, title: &str, text: &str) -> SearchPage {
    SearchPage {
        id: url.to_owned(),
        url: url.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        language: "en".to_owned(),
        ..SearchPage::default()
    }
}

/// An index of some pages.
pub fn index(dir: &Path, pages: impl IntoIterator<Item = SearchPage>) -> Index {
    let mut writer = Indexer::open(dir).expect("opened");
    pages.into_iter().for_each(|page| writer.add(page).expect("taken"));
    writer.finish(IndexMark::default()).expect("finished");
    Index::open(dir).expect("an index")
}

/// The answer to a query.
pub fn answer(index: &Index, query: &str) -> SearchAnswer {
    index.search(query, &SearchOptions::default()).expect("an answer")
}

/// Ids of what a query finds, in order.
pub fn ids(index: &Index, query: &str) -> Vec<String> {
    answer(index, query).results.into_iter().map(|shown| shown.id).collect()
}
