//! Where the pages' data come from: the crawl's directory, asked one question at a time.

use crate::overview::DiskRoom;
use crate::searched::{CrawlIndex, RESULTS};
use axum::http::StatusCode;
use rhumb_node::copies::{self, CopyCapture};
use rhumb_node::watch::history::{self, Ring, SampledSecond};
use rhumb_node::watch::status::{self, CrawlStatus, UrlStatus};
use rhumb_node::watch::steering::{self, HandRequest, ToldLine};
use rhumb_node::watch::view::{self, ViewQuery};
use rhumb_node::watch::{Error, ErrorKind, metrics};
use rhumb_page::url::Url;
use rhumb_search::{SearchAnswer, SearchOptions};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// Answers are this old at most: many viewers cost as much as one.
const ANSWER_AGE_MAX: Duration = Duration::from_millis(900);
/// Answers that are kept.
const ANSWERS_MAX: usize = 32;
/// Searches and readings of copies at once.
const READS_MAX: usize = 2;

pub struct DashboardSource {
    dir: PathBuf,
    /// One question at a time: they compete with the crawl for the disk.
    turn: Semaphore,
    answers: Mutex<Vec<(Question, Instant, Value)>>,
    index: CrawlIndex,
    /// Searches and readings of copies do not compete with the crawl for its store.
    reading: Semaphore,
}

#[derive(Clone, Debug, PartialEq)]
enum Question {
    Status,
    View(ViewQuery),
}

/// Why there is no answer: a status, and a sentence.
#[derive(Clone, Debug)]
pub struct Unanswered(pub StatusCode, pub String);

impl DashboardSource {
    pub fn new(dir: &Path) -> DashboardSource {
        DashboardSource {
            dir: dir.to_owned(),
            turn: Semaphore::new(1),
            answers: Mutex::default(),
            index: CrawlIndex::new(dir),
            reading: Semaphore::new(READS_MAX),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub async fn status(self: &Arc<DashboardSource>) -> Result<CrawlStatus, Unanswered> {
        read(&self.status_value().await?)
    }

    pub async fn status_value(self: &Arc<DashboardSource>) -> Result<Value, Unanswered> {
        self.ask(Question::Status).await
    }

    pub async fn view(self: &Arc<DashboardSource>, query: ViewQuery) -> Result<Value, Unanswered> {
        self.ask(Question::View(query)).await
    }

    pub async fn url(self: &Arc<DashboardSource>, url: String) -> Result<UrlStatus, Unanswered> {
        let source = Arc::clone(self);
        let asked = move || status::of_dir_and_url_briefly(&source.dir, &url);
        self.in_turn(move || asked().map_err(|e| unavailable(e.what))).await
    }

    pub async fn history(
        self: &Arc<DashboardSource>,
        ring: Ring,
    ) -> Result<Vec<SampledSecond>, Unanswered> {
        let source = Arc::clone(self);
        let read = move || history::read(&source.dir, ring);
        self.beside(move || read().map_err(|e| unavailable(e.to_string()))).await
    }

    /// Room on the disk; none where the system does not tell.
    pub async fn disk(self: &Arc<DashboardSource>) -> Option<DiskRoom> {
        let source = Arc::clone(self);
        let read = move || {
            let told = rustix::fs::statvfs(&source.dir).ok()?;
            let bytes = |path: &Path| -> u64 {
                let files = std::fs::read_dir(path).into_iter().flatten().flatten();
                let sizes = files.filter_map(|file| file.metadata().ok());
                sizes.filter(|data| data.is_file()).map(|data| data.len()).sum()
            };
            let used = bytes(&source.dir) + bytes(&source.dir.join("warc"));
            Some(DiskRoom { free: told.f_bavail * told.f_frsize, used })
        };
        tokio::task::spawn_blocking(read).await.ok().flatten()
    }

    pub async fn hands(self: &Arc<DashboardSource>) -> Result<Vec<ToldLine>, Unanswered> {
        let source = Arc::clone(self);
        self.in_turn(move || steering::log_of_dir(&source.dir).map_err(|e| unavailable(e.what)))
            .await
    }

    /// Asks the crawl to do something; what it has done, or why not.
    pub async fn steer(
        self: &Arc<DashboardSource>,
        request: HandRequest,
    ) -> Result<String, Unanswered> {
        let source = Arc::clone(self);
        // What cannot be done is the asker's mistake, but for what may be done later.
        let refused = |error: Error| match error.kind {
            ErrorKind::Invalid => Unanswered(StatusCode::BAD_REQUEST, error.what),
            _ => unavailable(error.what),
        };
        self.in_turn(move || steering::ask_dir(&source.dir, request).map_err(refused)).await
    }

    pub async fn metrics(self: &Arc<DashboardSource>) -> Result<String, Unanswered> {
        let source = Arc::clone(self);
        self.in_turn(move || metrics::of_dir(&source.dir).map_err(|e| unavailable(e.what))).await
    }

    pub async fn search(
        self: &Arc<DashboardSource>,
        query: String,
    ) -> Result<SearchAnswer, Unanswered> {
        let source = Arc::clone(self);
        let wanted = SearchOptions { unfold: true, limit: RESULTS, ..SearchOptions::default() };
        self.beside(move || source.index.search(&query, &wanted)).await
    }

    pub async fn captures(
        self: &Arc<DashboardSource>,
        url: String,
    ) -> Result<Vec<CopyCapture>, Unanswered> {
        let source = Arc::clone(self);
        self.beside(move || match Url::parse(&url) {
            Ok(url) => copies::captures(&source.dir, &url).map_err(|e| unavailable(e.what)),
            Err(_) => Ok(Vec::new()),
        })
        .await
    }

    /// The main text of a page, as it was kept last.
    pub async fn text(self: &Arc<DashboardSource>, url: String) -> Result<String, Unanswered> {
        let source = Arc::clone(self);
        self.beside(move || {
            let wrong = |error: &dyn std::fmt::Display| {
                Unanswered(StatusCode::BAD_REQUEST, format!("{url:?}: {error}"))
            };
            let parsed = Url::parse(&url).map_err(|error| wrong(&error))?;
            let text = copies::text(&source.dir, &parsed).map_err(|e| unavailable(e.what))?;
            text.ok_or_else(|| {
                Unanswered(StatusCode::NOT_FOUND, format!("no copy of {url} was kept"))
            })
        })
        .await
    }

    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Unanswered> + Send + 'static,
    ) -> Result<T, Unanswered> {
        let failed = |what: String| Unanswered(StatusCode::SERVICE_UNAVAILABLE, what);
        let _turn = self.reading.acquire().await.map_err(|error| failed(error.to_string()))?;
        tokio::task::spawn_blocking(work).await.map_err(|error| failed(error.to_string()))?
    }

    async fn ask(self: &Arc<DashboardSource>, question: Question) -> Result<Value, Unanswered> {
        if let Some(value) = self.recent(&question) {
            return Ok(value);
        }
        let (source, asked) = (Arc::clone(self), question.clone());
        let answer = move || {
            // Somebody may have asked the same while this one waited for its turn.
            if let Some(value) = source.recent(&asked) {
                return Ok(value);
            }
            let value = match &asked {
                Question::Status => status::of_dir_briefly(&source.dir)
                    .map_err(|e| e.what)
                    .and_then(|status| serde_json::to_value(status).map_err(|e| e.to_string()))
                    .map_err(unavailable)?,
                Question::View(query) => {
                    view::of_dir(&source.dir, query).map_err(|e| unavailable(e.what))?
                }
            };
            source.keep(asked, &value);
            Ok(value)
        };
        self.in_turn(answer).await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Unanswered> + Send + 'static,
    ) -> Result<T, Unanswered> {
        let _turn = self.turn.acquire().await.map_err(|error| unavailable(error.to_string()))?;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| unavailable(error.to_string()))?
    }

    fn recent(&self, question: &Question) -> Option<Value> {
        let answers = self.answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let known = answers
            .iter()
            .find(|(known, at, _)| known == question && at.elapsed() < ANSWER_AGE_MAX);
        known.map(|(_, _, value)| value.clone())
    }

    fn keep(&self, question: Question, value: &Value) {
        let mut answers = self.answers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        answers.retain(|(known, at, _)| *known != question && at.elapsed() < ANSWER_AGE_MAX);
        if answers.len() < ANSWERS_MAX {
            answers.push((question, Instant::now(), value.clone()));
        }
    }
}

fn unavailable(what: String) -> Unanswered {
    Unanswered(StatusCode::SERVICE_UNAVAILABLE, what)
}

/// A page's data in their own type.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Unanswered> {
    T::deserialize(value)
        .map_err(|error| Unanswered(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
