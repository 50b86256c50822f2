//! Which path shows what: every page at its path, its data at the same path with `.json`.

use crate::guard::{self, ViewerAccess};
use crate::page::{self, PageBlock};
use crate::serve::REQUEST_TIME_MAX;
use crate::source::{DashboardSource, Unanswered, read};
use crate::steer::{self, Sent};
use crate::{assets, copy, events, overview, routes_of_one as one, speed, tables, web_picture};
use axum::body::{Body, to_bytes};
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Form, Query, Request, State};
use axum::http::header::{CONNECTION, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Json, Redirect, Response};
use axum::routing::get;
use axum::{Router, middleware};
use rhumb_node::watch::history::Ring;
use rhumb_node::watch::view::{HostsBy, ViewQuery};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::timeout;

/// A pattern or a URL that a person types.
const TYPED_BYTES_MAX: usize = 4 << 10;
/// Of a form that is sent.
const FORM_BYTES_MAX: usize = 16 << 10;

pub type Crawl = State<Arc<Viewed>>;

/// What a page is made of: where its data come from, and what may be done.
pub struct Viewed {
    pub source: Arc<DashboardSource>,
    pub access: Arc<ViewerAccess>,
    /// The port of copies.
    pub copies: u16,
}

impl Viewed {
    /// What a form must carry that changes something, if that is permitted.
    pub fn form(&self) -> Option<&str> {
        self.access.form.as_deref()
    }
}

pub fn router(source: Arc<DashboardSource>, access: Arc<ViewerAccess>, copies: u16) -> Router {
    let viewed = Viewed { source, access: Arc::clone(&access), copies };
    Router::new()
        .route("/", get(overview_page))
        .route("/index.json", get(overview_json))
        .route("/history.json", get(history_json))
        .route("/speed", get(speed_page))
        .route("/speed.json", get(speed_json))
        .route("/frontier", get(frontier_page))
        .route("/frontier.json", get(frontier_json))
        .route("/hosts", get(hosts_page))
        .route("/hosts.json", get(hosts_json))
        .route("/host", get(one::host_page))
        .route("/host.json", get(one::host_json))
        .route("/queue.txt", get(one::queue_text))
        .route("/url", get(one::url_page))
        .route("/url.json", get(one::url_json))
        .route("/pair", get(one::pair_page))
        .route("/pair.json", get(one::pair_json))
        .route("/search", get(one::search_page))
        .route("/search.json", get(one::search_json))
        .route("/duplicates", get(duplicates_page))
        .route("/duplicates.json", get(duplicates_json))
        .route("/web", get(web_page))
        .route("/web.json", get(web_json))
        .route("/freshness", get(freshness_page))
        .route("/freshness.json", get(freshness_json))
        .route("/what-if", get(what_if_page))
        .route("/what-if.json", get(what_if_json))
        .route("/hands", get(hands_page).post(take_hand))
        .route("/hands.json", get(hands_json))
        .route("/metrics", get(metrics))
        .route("/events", get(events::events))
        .route("/style.css", get(assets::style))
        .route("/live.js", get(assets::script))
        .fallback(nowhere)
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(middleware::from_fn(whole_in_time))
        .with_state(Arc::new(viewed))
        .layer(middleware::from_fn_with_state(access, guard::guard))
}

/// A body comes whole within the time of a request, or not at all.
async fn whole_in_time(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let refused = |status: StatusCode, what: &str| {
        // What is still to come of the body is none of a next request.
        (status, [(CONNECTION, "close")], format!("{what}\n")).into_response()
    };
    match timeout(REQUEST_TIME_MAX, to_bytes(body, FORM_BYTES_MAX)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(_)) => refused(StatusCode::PAYLOAD_TOO_LARGE, "a form has 16 kB at most"),
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the form did not come in time"),
    }
}

/// Copies are on another port.
async fn nowhere(State(viewed): Crawl, request: Request) -> Response {
    let source = &viewed.source;
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    if copy::asked_for(target).is_some() {
        let place = guard::sibling(request.headers(), viewed.copies) + target;
        return Redirect::temporary(&place).into_response();
    }
    let what = "there is no such page".to_owned();
    page::trouble(source.dir(), &Unanswered(StatusCode::NOT_FOUND, what))
}

/// Blocks as a page, or the page that says why there are none.
pub fn shown(
    source: &DashboardSource,
    path: &str,
    question: &str,
    blocks: Result<Vec<PageBlock>, Unanswered>,
    data: &str,
) -> Response {
    match blocks {
        Ok(blocks) => page::render(source.dir(), path, question, &blocks, Some(data)),
        Err(unanswered) => page::trouble(source.dir(), &unanswered),
    }
}

pub fn json(value: Result<Value, Unanswered>) -> Response {
    match value {
        Ok(value) => Json(value).into_response(),
        Err(Unanswered(status, what)) => {
            (status, Json(serde_json::json!({ "error": what }))).into_response()
        }
    }
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    month: bool,
}

impl Since {
    fn ring(&self) -> Ring {
        if self.month { Ring::Month } else { Ring::Hour }
    }
}

type AskedSince = Result<Query<Since>, QueryRejection>;

async fn overview_page(State(viewed): Crawl, since: AskedSince) -> Response {
    let blocks = async {
        let ring = query(since)?.ring();
        let status = viewed.source.status().await?;
        let history = viewed.source.history(ring).await?;
        Ok(overview::blocks(&status, &history, viewed.source.disk().await))
    };
    shown(&viewed.source, "/", "What is it doing?", blocks.await, "/index.json")
}

async fn overview_json(State(viewed): Crawl) -> Response {
    json(viewed.source.status_value().await)
}

async fn history_json(State(viewed): Crawl, since: AskedSince) -> Response {
    let value = async {
        let samples = viewed.source.history(query(since)?.ring()).await?;
        Ok(overview::history(&samples))
    };
    json(value.await)
}

async fn speed_page(State(viewed): Crawl) -> Response {
    let blocks = async {
        let status = viewed.source.status().await?;
        Ok(speed::blocks(&read(&viewed.source.view(ViewQuery::Speed).await?)?, &status))
    };
    shown(&viewed.source, "/speed", "Why is it not faster?", blocks.await, "/speed.json")
}

async fn speed_json(State(viewed): Crawl) -> Response {
    json(viewed.source.view(ViewQuery::Speed).await)
}

async fn frontier_page(State(viewed): Crawl) -> Response {
    let blocks =
        async { Ok(tables::frontier(&read(&viewed.source.view(ViewQuery::Frontier).await?)?)) };
    shown(&viewed.source, "/frontier", "What comes next?", blocks.await, "/frontier.json")
}

async fn frontier_json(State(viewed): Crawl) -> Response {
    json(viewed.source.view(ViewQuery::Frontier).await)
}

#[derive(Deserialize)]
struct By {
    #[serde(default)]
    by: HostsBy,
}

/// What was asked after the question mark, or why it cannot be.
fn query<T>(asked: Result<Query<T>, QueryRejection>) -> Result<T, Unanswered> {
    let wrong = |error: QueryRejection| Unanswered(StatusCode::BAD_REQUEST, error.body_text());
    asked.map(|Query(asked)| asked).map_err(wrong)
}

type AskedBy = Result<Query<By>, QueryRejection>;

async fn hosts_page(State(viewed): Crawl, by: AskedBy) -> Response {
    let blocks = async {
        let view = viewed.source.view(ViewQuery::Hosts(query(by)?.by)).await?;
        Ok(tables::hosts(&read(&view)?))
    };
    shown(&viewed.source, "/hosts", "Which hosts?", blocks.await, "/hosts.json")
}

async fn hosts_json(State(viewed): Crawl, by: AskedBy) -> Response {
    let value = async { viewed.source.view(ViewQuery::Hosts(query(by)?.by)).await };
    json(value.await)
}

pub fn typed(text: &str) -> Result<String, Unanswered> {
    match text.len() <= TYPED_BYTES_MAX {
        true => Ok(text.to_owned()),
        false => {
            let what = format!("{} bytes are too many", text.len());
            Err(Unanswered(StatusCode::BAD_REQUEST, what))
        }
    }
}

async fn duplicates_page(State(viewed): Crawl) -> Response {
    let blocks =
        async { Ok(tables::duplicates(&read(&viewed.source.view(ViewQuery::Duplicates).await?)?)) };
    shown(&viewed.source, "/duplicates", "What repeats what?", blocks.await, "/duplicates.json")
}

async fn duplicates_json(State(viewed): Crawl) -> Response {
    json(viewed.source.view(ViewQuery::Duplicates).await)
}

async fn web_page(State(viewed): Crawl) -> Response {
    let blocks = async {
        let view = read(&viewed.source.view(ViewQuery::Web).await?)?;
        Ok(web_picture::blocks(&view))
    };
    shown(&viewed.source, "/web", "What web was seen?", blocks.await, "/web.json")
}

async fn web_json(State(viewed): Crawl) -> Response {
    json(viewed.source.view(ViewQuery::Web).await)
}

async fn freshness_page(State(viewed): Crawl) -> Response {
    let blocks = async { Ok(tables::freshness(&viewed.source.status().await?)) };
    shown(&viewed.source, "/freshness", "How fresh is it?", blocks.await, "/freshness.json")
}

async fn freshness_json(State(viewed): Crawl) -> Response {
    let value = async {
        let status = viewed.source.status_value().await?;
        let of = |name: &str| status.get(name).cloned().unwrap_or(Value::Null);
        Ok(serde_json::json!({
            "collection": of("collection"),
            "most_overdue": of("most_overdue"),
        }))
    };
    json(value.await)
}

async fn hands_page(State(viewed): Crawl) -> Response {
    let blocks = async { Ok(steer::blocks(&viewed.source.hands().await?, viewed.form(), None)) };
    shown(&viewed.source, "/hands", "What was done by hand?", blocks.await, "/hands.json")
}

async fn hands_json(State(viewed): Crawl) -> Response {
    let value = async { to_json(&viewed.source.hands().await?) };
    json(value.await)
}

/// A form that changes something. Who may send it, the guard has asked.
async fn take_hand(State(viewed): Crawl, form: Result<Form<Sent>, FormRejection>) -> Response {
    let blocks = async {
        let Form(sent) =
            form.map_err(|error| Unanswered(StatusCode::BAD_REQUEST, error.body_text()))?;
        let ours = viewed.form().unwrap_or_default();
        if ours.is_empty() || !guard::is_equal(sent.form.as_bytes(), ours.as_bytes()) {
            let what = "this form is not of this dashboard: load the page again".to_owned();
            return Err(Unanswered(StatusCode::FORBIDDEN, what));
        }
        let request = sent.request().map_err(|what| Unanswered(StatusCode::BAD_REQUEST, what))?;
        let said = viewed.source.steer(request).await?;
        Ok(steer::blocks(&viewed.source.hands().await?, viewed.form(), Some(&said)))
    };
    shown(&viewed.source, "/hands", "What was done by hand?", blocks.await, "/hands.json")
}

async fn metrics(State(viewed): Crawl) -> Response {
    match viewed.source.metrics().await {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(Unanswered(status, what)) => (status, what + "\n").into_response(),
    }
}

pub fn to_json<T: serde::Serialize>(value: &T) -> Result<Value, Unanswered> {
    serde_json::to_value(value)
        .map_err(|error| Unanswered(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}

#[derive(Deserialize)]
struct Tried {
    #[serde(default)]
    exclude: String,
    #[serde(default)]
    delay: String,
}

impl Tried {
    fn query(&self) -> Result<ViewQuery, Unanswered> {
        let delay = self.delay.trim();
        let seconds: Option<f64> = match delay.is_empty() {
            true => None,
            false => Some(delay.parse().map_err(|_| wrong_delay(delay))?),
        };
        if seconds.is_some_and(|seconds| !(0.0..=86_400.0).contains(&seconds)) {
            return Err(wrong_delay(delay));
        }
        let exclude = typed(self.exclude.trim())?;
        Ok(ViewQuery::WhatIf {
            exclude: (!exclude.is_empty()).then_some(exclude),
            delay_ms: seconds.map(|seconds| (1000.0 * seconds) as u64),
        })
    }
}

fn wrong_delay(text: &str) -> Unanswered {
    let what = format!("{text:?} is no delay: a number of seconds up to a day");
    Unanswered(StatusCode::BAD_REQUEST, what)
}

async fn what_if_page(State(viewed): Crawl, Query(tried): Query<Tried>) -> Response {
    let blocks = async {
        let view = read(&viewed.source.view(tried.query()?).await?)?;
        Ok(tables::what_if(&view, viewed.form(), viewed.source.dir()))
    };
    shown(&viewed.source, "/what-if", "What if?", blocks.await, "/what-if.json")
}

async fn what_if_json(State(viewed): Crawl, Query(tried): Query<Tried>) -> Response {
    let value = async { viewed.source.view(tried.query()?).await };
    json(value.await)
}
