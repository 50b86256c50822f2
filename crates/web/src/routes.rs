//! Which path shows what: every page at its path, its data at the same path with `.json`.

use crate::guard::{Access, guard};
use crate::page::{self, Block};
use crate::source::{Source, Unanswered, read};
use crate::{assets, events, overview, tables};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use axum::{Router, middleware};
use rhumb_node::watch::history::Ring;
use rhumb_node::watch::view::{HostsBy, HostsView, ViewQuery};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// A pattern or a URL that a person types.
const TYPED_BYTES_MAX: usize = 4 << 10;

type Crawl = State<Arc<Source>>;

pub fn router(source: Arc<Source>, access: Arc<Access>) -> Router {
    Router::new()
        .route("/", get(overview_page))
        .route("/index.json", get(overview_json))
        .route("/speed", get(speed_page))
        .route("/speed.json", get(speed_json))
        .route("/frontier", get(frontier_page))
        .route("/frontier.json", get(frontier_json))
        .route("/hosts", get(hosts_page))
        .route("/hosts.json", get(hosts_json))
        .route("/host", get(host_page))
        .route("/host.json", get(host_json))
        .route("/url", get(url_page))
        .route("/url.json", get(url_json))
        .route("/duplicates", get(duplicates_page))
        .route("/duplicates.json", get(duplicates_json))
        .route("/web", get(web_page))
        .route("/web.json", get(hosts_json))
        .route("/freshness", get(freshness_page))
        .route("/freshness.json", get(freshness_json))
        .route("/what-if", get(what_if_page))
        .route("/what-if.json", get(what_if_json))
        .route("/events", get(events::events))
        .route("/style.css", get(assets::style))
        .route("/live.js", get(assets::script))
        .fallback(nowhere)
        .with_state(source)
        .layer(middleware::from_fn_with_state(access, guard))
}

async fn nowhere(State(source): Crawl) -> Response {
    let what = "there is no such page".to_owned();
    page::trouble(source.dir(), &Unanswered(StatusCode::NOT_FOUND, what))
}

/// Blocks as a page, or the page that says why there are none.
fn shown(
    source: &Source,
    path: &str,
    question: &str,
    blocks: Result<Vec<Block>, Unanswered>,
    data: &str,
) -> Response {
    match blocks {
        Ok(blocks) => page::render(source.dir(), path, question, &blocks, Some(data)),
        Err(unanswered) => page::trouble(source.dir(), &unanswered),
    }
}

fn json(value: Result<Value, Unanswered>) -> Response {
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

async fn overview_page(State(source): Crawl, Query(since): Query<Since>) -> Response {
    let ring = if since.month { Ring::Month } else { Ring::Hour };
    let blocks = async {
        let status = source.status().await?;
        let history = source.history(ring).await?;
        Ok(overview::blocks(&status, &history))
    };
    shown(&source, "/", "What is it doing?", blocks.await, "/index.json")
}

async fn overview_json(State(source): Crawl) -> Response {
    json(source.status_value().await)
}

async fn speed_page(State(source): Crawl) -> Response {
    let blocks = async {
        let status = source.status().await?;
        Ok(tables::speed(&read(&source.view(ViewQuery::Speed).await?)?, &status))
    };
    shown(&source, "/speed", "Why is it not faster?", blocks.await, "/speed.json")
}

async fn speed_json(State(source): Crawl) -> Response {
    json(source.view(ViewQuery::Speed).await)
}

async fn frontier_page(State(source): Crawl) -> Response {
    let blocks = async { Ok(tables::frontier(&read(&source.view(ViewQuery::Frontier).await?)?)) };
    shown(&source, "/frontier", "What comes next?", blocks.await, "/frontier.json")
}

async fn frontier_json(State(source): Crawl) -> Response {
    json(source.view(ViewQuery::Frontier).await)
}

#[derive(Deserialize)]
struct By {
    #[serde(default)]
    by: HostsBy,
}

async fn hosts_page(State(source): Crawl, Query(By { by }): Query<By>) -> Response {
    let blocks = async { Ok(tables::hosts(&read(&source.view(ViewQuery::Hosts(by)).await?)?)) };
    shown(&source, "/hosts", "Which hosts?", blocks.await, "/hosts.json")
}

async fn hosts_json(State(source): Crawl, Query(By { by }): Query<By>) -> Response {
    json(source.view(ViewQuery::Hosts(by)).await)
}

#[derive(Deserialize)]
struct Key {
    #[serde(default)]
    key: String,
}

async fn host_page(State(source): Crawl, Query(Key { key }): Query<Key>) -> Response {
    let path = format!("/host.json?key={}", page::encoded(&key));
    let blocks = async {
        if key.is_empty() {
            return Ok(tables::host(&Default::default()));
        }
        let view = source.view(ViewQuery::Host(typed(&key)?)).await?;
        Ok(tables::host(&read(&view)?))
    };
    shown(&source, "/host", "What of this host?", blocks.await, &path)
}

async fn host_json(State(source): Crawl, Query(Key { key }): Query<Key>) -> Response {
    let value = async { source.view(ViewQuery::Host(typed(&key)?)).await };
    json(value.await)
}

#[derive(Deserialize)]
struct Address {
    #[serde(default)]
    url: String,
}

async fn url_page(State(source): Crawl, Query(Address { url }): Query<Address>) -> Response {
    let path = format!("/url.json?url={}", page::encoded(&url));
    let blocks = async {
        if url.is_empty() {
            return Ok(tables::url(None, ""));
        }
        let status = source.url(typed(&url)?).await?;
        Ok(tables::url(Some(&status), &url))
    };
    shown(&source, "/url", "What became of this URL?", blocks.await, &path)
}

async fn url_json(State(source): Crawl, Query(Address { url }): Query<Address>) -> Response {
    let value = async {
        let status = source.url(typed(&url)?).await?;
        serde_json::to_value(status)
            .map_err(|error| Unanswered(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    };
    json(value.await)
}

fn typed(text: &str) -> Result<String, Unanswered> {
    match text.len() <= TYPED_BYTES_MAX {
        true => Ok(text.to_owned()),
        false => {
            let what = format!("{} bytes are too many", text.len());
            Err(Unanswered(StatusCode::BAD_REQUEST, what))
        }
    }
}

async fn duplicates_page(State(source): Crawl) -> Response {
    let blocks =
        async { Ok(tables::duplicates(&read(&source.view(ViewQuery::Duplicates).await?)?)) };
    shown(&source, "/duplicates", "What repeats what?", blocks.await, "/duplicates.json")
}

async fn duplicates_json(State(source): Crawl) -> Response {
    json(source.view(ViewQuery::Duplicates).await)
}

async fn web_page(State(source): Crawl) -> Response {
    let blocks = async {
        let view: HostsView = read(&source.view(ViewQuery::Hosts(HostsBy::Pages)).await?)?;
        Ok(tables::web(&view))
    };
    shown(&source, "/web", "What web was seen?", blocks.await, "/web.json")
}

async fn freshness_page(State(source): Crawl) -> Response {
    let blocks = async { Ok(tables::freshness(&source.status().await?)) };
    shown(&source, "/freshness", "How fresh is it?", blocks.await, "/freshness.json")
}

async fn freshness_json(State(source): Crawl) -> Response {
    let value = async {
        let status = source.status_value().await?;
        let of = |name: &str| status.get(name).cloned().unwrap_or(Value::Null);
        Ok(serde_json::json!({
            "collection": of("collection"),
            "most_overdue": of("most_overdue"),
        }))
    };
    json(value.await)
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

async fn what_if_page(State(source): Crawl, Query(tried): Query<Tried>) -> Response {
    let blocks = async { Ok(tables::what_if(&read(&source.view(tried.query()?).await?)?)) };
    shown(&source, "/what-if", "What if?", blocks.await, "/what-if.json")
}

async fn what_if_json(State(source): Crawl, Query(tried): Query<Tried>) -> Response {
    let value = async { source.view(tried.query()?).await };
    json(value.await)
}
