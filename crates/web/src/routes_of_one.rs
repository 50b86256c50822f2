//! Pages about one thing that a person names: a host, a URL, two texts, a query.

use crate::page::{self, PageBlock};
use crate::routes::{Crawl, json, shown, to_json, typed};
use crate::searched;
use crate::side_by_side;
use crate::source::{Unanswered, read};
use crate::{figures, host_page, url_page};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rhumb_node::watch::view::{HostView, ViewQuery};
use rhumb_page::url::Url;
use rhumb_search::clusters::{resemblance, shingles};
use serde::Deserialize;
use serde_json::json as value;

#[derive(Deserialize)]
pub struct HostQuery {
    #[serde(default)]
    key: String,
}

/// What a person typed as a URL: mistakes are told before the crawl is asked.
fn typed_url(text: &str) -> Result<String, Unanswered> {
    let text = typed(text)?;
    match Url::parse(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let what = format!("{text:?} is not a URL: {error}");
            Err(Unanswered(StatusCode::BAD_REQUEST, what))
        }
    }
}

/// The same of a host: an origin, or a name alone.
fn typed_host(text: &str) -> Result<String, Unanswered> {
    let origin = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    match typed_url(&origin) {
        Ok(_) => Ok(text.to_owned()),
        Err(Unanswered(status, _)) => Err(Unanswered(status, format!("{text:?} is no host"))),
    }
}

pub async fn host_page(
    State(viewed): Crawl,
    Query(HostQuery { key }): Query<HostQuery>,
) -> Response {
    let path = format!("/host.json?key={}", page::encoded(&key));
    let blocks = async {
        if key.is_empty() {
            return Ok(host_page::blocks(&HostView::default(), None));
        }
        let view = viewed.source.view(ViewQuery::Host(typed_host(&key)?)).await?;
        Ok(host_page::blocks(&read(&view)?, viewed.form()))
    };
    shown(&viewed.source, "/host", "What of this host?", blocks.await, &path)
}

pub async fn host_json(
    State(viewed): Crawl,
    Query(HostQuery { key }): Query<HostQuery>,
) -> Response {
    let value = async { viewed.source.view(ViewQuery::Host(typed_host(&key)?)).await };
    json(value.await)
}

/// The head of a host's queue, a URL a line.
pub async fn queue_text(
    State(viewed): Crawl,
    Query(HostQuery { key }): Query<HostQuery>,
) -> Response {
    let lines = async {
        let view = viewed.source.view(ViewQuery::Host(typed_host(&key)?)).await?;
        let view: HostView = read(&view)?;
        if view.known.is_none() {
            let what = format!("nothing is known of {}", view.host);
            return Err(Unanswered(StatusCode::NOT_FOUND, what));
        }
        Ok::<_, Unanswered>(view.queue.iter().map(|url| format!("{url}\n")).collect::<String>())
    };
    match lines.await {
        Ok(text) => text.into_response(),
        Err(Unanswered(status, what)) => (status, what + "\n").into_response(),
    }
}

#[derive(Deserialize)]
pub struct UrlAddress {
    #[serde(default)]
    url: String,
}

pub async fn url_page(
    State(viewed): Crawl,
    Query(UrlAddress { url }): Query<UrlAddress>,
) -> Response {
    let path = format!("/url.json?url={}", page::encoded(&url));
    let blocks = async {
        if url.is_empty() {
            return Ok(url_page::nothing_asked());
        }
        let status = viewed.source.url(typed_url(&url)?).await?;
        let captures = viewed.source.captures(status.url.clone()).await?;
        Ok(url_page::blocks(&status, &captures, &url, viewed.form()))
    };
    shown(&viewed.source, "/url", "What became of this URL?", blocks.await, &path)
}

pub async fn url_json(
    State(viewed): Crawl,
    Query(UrlAddress { url }): Query<UrlAddress>,
) -> Response {
    let value = async {
        let status = viewed.source.url(typed_url(&url)?).await?;
        let captures = viewed.source.captures(status.url.clone()).await?;
        let mut value = to_json(&status)?;
        value["captures"] = to_json(&captures)?;
        Ok(value)
    };
    json(value.await)
}

#[derive(Deserialize)]
pub struct Two {
    #[serde(default)]
    a: String,
    #[serde(default)]
    b: String,
}

async fn both(viewed: &Crawl, two: &Two) -> Result<(String, String, f64), Unanswered> {
    if two.a.is_empty() || two.b.is_empty() {
        let what = "two URLs are held against each other: /pair?a=URL&b=URL".to_owned();
        return Err(Unanswered(StatusCode::BAD_REQUEST, what));
    }
    let source = &viewed.source;
    let (a, b) = (source.text(typed(&two.a)?).await?, source.text(typed(&two.b)?).await?);
    let alike = resemblance(&shingles(&a), &shingles(&b));
    Ok((a, b, alike))
}

pub async fn pair_page(viewed: Crawl, Query(two): Query<Two>) -> Response {
    let (a, b) = (page::encoded(&two.a), page::encoded(&two.b));
    let path = format!("/pair.json?a={a}&b={b}");
    let blocks = async {
        let (one, other, alike) = both(&viewed, &two).await?;
        let told = format!(
            "These texts are {} alike: so many of all runs of four words that one or the other \
             has are in both. They are marked.",
            figures::percent(alike)
        );
        let pair = side_by_side::pair((&two.a, &one), (&two.b, &other));
        Ok(vec![PageBlock::Lead(told), PageBlock::Pair(Box::new(pair))])
    };
    shown(&viewed.source, "/pair", "How alike are they?", blocks.await, &path)
}

pub async fn pair_json(viewed: Crawl, Query(two): Query<Two>) -> Response {
    let value = async {
        let (one, other, alike) = both(&viewed, &two).await?;
        Ok(value!({ "a": two.a, "b": two.b, "similarity": alike, "text_a": one, "text_b": other }))
    };
    json(value.await)
}

#[derive(Deserialize)]
pub struct UrlAsked {
    #[serde(default)]
    q: String,
}

pub async fn search_page(State(viewed): Crawl, Query(UrlAsked { q }): Query<UrlAsked>) -> Response {
    let path = format!("/search.json?q={}", page::encoded(&q));
    let blocks = async {
        if q.trim().is_empty() {
            return Ok(vec![searched::form(&q)]);
        }
        Ok(searched::blocks(&viewed.source.search(typed(&q)?).await?))
    };
    shown(&viewed.source, "/search", "Which pages say this?", blocks.await, &path)
}

pub async fn search_json(State(viewed): Crawl, Query(UrlAsked { q }): Query<UrlAsked>) -> Response {
    let value = async { to_json(&viewed.source.search(typed(&q)?).await?) };
    json(value.await)
}
