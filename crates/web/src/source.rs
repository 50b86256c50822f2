//! Where the pages' data come from: the crawl's directory, asked one question at a time.

use axum::http::StatusCode;
use rhumb_node::watch::history::{self, Ring, Sampled};
use rhumb_node::watch::status::{self, Status, UrlStatus};
use rhumb_node::watch::view::{self, ViewQuery};
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

pub struct Source {
    dir: PathBuf,
    /// One question at a time: they compete with the crawl for the disk.
    turn: Semaphore,
    answers: Mutex<Vec<(Question, Instant, Value)>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Question {
    Status,
    View(ViewQuery),
}

/// Why there is no answer: a status, and a sentence.
#[derive(Clone, Debug)]
pub struct Unanswered(pub StatusCode, pub String);

impl Source {
    pub fn new(dir: &Path) -> Source {
        Source { dir: dir.to_owned(), turn: Semaphore::new(1), answers: Mutex::default() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub async fn status(self: &Arc<Source>) -> Result<Status, Unanswered> {
        read(&self.status_value().await?)
    }

    pub async fn status_value(self: &Arc<Source>) -> Result<Value, Unanswered> {
        self.ask(Question::Status).await
    }

    pub async fn view(self: &Arc<Source>, query: ViewQuery) -> Result<Value, Unanswered> {
        self.ask(Question::View(query)).await
    }

    pub async fn url(self: &Arc<Source>, url: String) -> Result<UrlStatus, Unanswered> {
        let source = Arc::clone(self);
        self.in_turn(move || status::of_dir_and_url(&source.dir, &url).map_err(|e| e.what)).await
    }

    pub async fn history(self: &Arc<Source>, ring: Ring) -> Result<Vec<Sampled>, Unanswered> {
        let source = Arc::clone(self);
        self.in_turn(move || history::read(&source.dir, ring).map_err(|e| e.to_string())).await
    }

    async fn ask(self: &Arc<Source>, question: Question) -> Result<Value, Unanswered> {
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
                Question::Status => status::of_dir(&source.dir)
                    .map_err(|e| e.what)
                    .and_then(|status| serde_json::to_value(status).map_err(|e| e.to_string()))?,
                Question::View(query) => view::of_dir(&source.dir, query).map_err(|e| e.what)?,
            };
            source.keep(asked, &value);
            Ok(value)
        };
        self.in_turn(answer).await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, Unanswered> {
        let failed = |what: String| Unanswered(StatusCode::SERVICE_UNAVAILABLE, what);
        let _turn = self.turn.acquire().await.map_err(|error| failed(error.to_string()))?;
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| failed(error.to_string()))?.map_err(failed)
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

/// A page's data in their own type.
pub fn read<T: DeserializeOwned>(value: &Value) -> Result<T, Unanswered> {
    T::deserialize(value)
        .map_err(|error| Unanswered(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
