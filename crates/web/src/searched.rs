//! Which pages say this? The index of the crawl, asked from a page.

use crate::figures::{count, percent};
use crate::page::{Field, FoundNear, HtmlForm, PageBlock, SearchResult, encoded};
use crate::source::Unanswered;
use axum::http::StatusCode;
use rhumb_node::index::INDEX_DIR;
use rhumb_search::{Index, SearchAnswer, SearchError, SearchOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Results of a page.
pub const RESULTS: usize = 10;
/// An index that is being written has more to find after this time.
const INDEX_AGE_MAX: Duration = Duration::from_secs(10);

/// The index of a crawl, opened anew as it grows.
pub struct CrawlIndex {
    dir: PathBuf,
    open: Mutex<Option<(Instant, Arc<Index>)>>,
}

impl CrawlIndex {
    pub fn new(dir: &Path) -> CrawlIndex {
        CrawlIndex { dir: dir.join(INDEX_DIR), open: Mutex::default() }
    }

    pub fn search(&self, query: &str, wanted: &SearchOptions) -> Result<SearchAnswer, Unanswered> {
        let index = self.index().map_err(unanswered)?;
        index.search(query, wanted).map_err(unanswered)
    }

    fn index(&self) -> Result<Arc<Index>, SearchError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, index)) = open.as_ref().filter(|(at, _)| at.elapsed() < INDEX_AGE_MAX) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(Index::open(&self.dir)?);
        *open = Some((Instant::now(), Arc::clone(&index)));
        Ok(index)
    }
}

fn unanswered(error: SearchError) -> Unanswered {
    match error {
        SearchError::Absent(_) => {
            let what = "this crawl has no search index: crawl with --index, or run rhumb index DIR";
            Unanswered(StatusCode::NOT_FOUND, what.to_owned())
        }
        error => Unanswered(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    }
}

pub fn form(query: &str) -> PageBlock {
    PageBlock::Form(HtmlForm {
        action: "/search",
        fields: vec![Field {
            name: "q",
            label: "words, \"phrases\", -not, OR, site: host: inurl: intitle: lang: type: before: \
                    after: similar:",
            value: query.to_owned(),
            hint: "spring tides",
        }],
        button: "Search",
    })
}

pub fn blocks(answer: &SearchAnswer) -> Vec<PageBlock> {
    let mut blocks = vec![form(&answer.query)];
    let pages = count(answer.total as u64);
    blocks.push(PageBlock::Note(format!("{}: {pages} pages.", answer.understood)));
    let results = answer.results.iter().map(|shown| {
        let url = encoded(&shown.url);
        let title = if shown.title.is_empty() { &shown.url } else { &shown.title };
        let facts = [
            shown.day.clone().unwrap_or_default(),
            shown.language.clone(),
            shown.kind.clone(),
            shown.similarity.map(|alike| format!("{} alike", percent(alike))).unwrap_or_default(),
            match shown.crowded {
                0 => String::new(),
                more => format!("{more} more of this host"),
            },
        ];
        let near = shown.near.iter().map(|near| FoundNear {
            url: near.url.clone(),
            alike: percent(near.similarity),
            differs: differs(&near.added, &near.missing),
            href: format!("/pair?a={url}&b={}", encoded(&near.url)),
        });
        SearchResult {
            title: title.clone(),
            url: shown.url.clone(),
            href: format!("/url?url={url}"),
            copy: is_web(&shown.url).then(|| copy_of(&shown.url, "")),
            snippet: shown.snippet.clone(),
            facts: facts.into_iter().filter(|fact| !fact.is_empty()).collect(),
            omitted: match shown.omitted {
                0 => String::new(),
                n => format!("and {} nearly the same", count(n as u64)),
            },
            near: near.collect(),
        }
    });
    blocks.push(PageBlock::Results(results.collect()));
    if answer.results.is_empty() {
        blocks.push(PageBlock::Note("No page matches.".to_owned()));
    }
    blocks
}

/// Links of strangers are only followed where they are of the web.
pub fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}

/// Where the copy of a URL is that is nearest to a time, the last one without.
pub fn copy_of(url: &str, time: &str) -> String {
    let time = if time.is_empty() { "9999" } else { time };
    format!("/copy/{time}/{url}")
}

fn differs(added: &[String], missing: &[String]) -> String {
    let side = |sign: &str, words: &[String]| match words.is_empty() {
        true => String::new(),
        false => format!("{sign} {}", words.join(" ")),
    };
    format!("{} {}", side("+", added), side("−", missing)).trim().to_owned()
}
