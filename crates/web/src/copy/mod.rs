//! The cached copy of a page: what was kept, without its scripts, on an origin of its own.
//!
//! Archived pages are strangers' pages. They are served on a second port, so they share no origin
//! with the dashboard, in a sandbox that runs nothing, and refer to nothing but other copies.

mod css;
mod rewrite;

use crate::guard::{ViewerAccess, guard, sibling};
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use axum::{Router, middleware};
use rewrite::{Rewriting, escape_into};
use rhumb_node::copies::{self, KeptCopy};
use rhumb_page::charset;
use rhumb_page::media::{self, ContentType, MediaKind};
use rhumb_page::url::Url;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What an archived page may do: be looked at. It is of its origin only so that what it refers to
/// there is not refused as a stranger's; nothing in it runs.
pub const POLICY: &str = "sandbox allow-same-origin; default-src 'none'; \
                          img-src 'self' data:; media-src 'self'; \
                          style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
                          form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
/// Copies that are read at once.
const READS_MAX: usize = 2;
/// Types that are shown as they are.
const SHOWN: [&str; 5] = ["image/", "font/", "audio/", "video/", "application/font"];

pub struct CopyServer {
    dir: PathBuf,
    /// The port of the dashboard.
    dashboard: u16,
    turn: Semaphore,
}

pub fn router(dir: PathBuf, dashboard: u16, access: Arc<ViewerAccess>) -> Router {
    let copies = CopyServer { dir, dashboard, turn: Semaphore::new(READS_MAX) };
    Router::new()
        .fallback(copy)
        .with_state(Arc::new(copies))
        .layer(middleware::from_fn_with_state(access, guard))
}

/// `/copy/<time>/<url>`: time and URL, if it is that.
pub fn asked_for(path_and_query: &str) -> Option<(String, Url)> {
    let rest = path_and_query.strip_prefix("/copy/")?;
    let (time, url) = rest.split_once('/')?;
    let is_time = time.len() <= 14 && time.bytes().all(|byte| byte.is_ascii_digit());
    // A browser may have made one slash of two.
    let url = match url.split_once(":/") {
        Some((scheme, rest)) if !rest.starts_with('/') => format!("{scheme}://{rest}"),
        _ => url.to_owned(),
    };
    let url = Url::parse(&url).ok()?;
    is_time.then(|| (time.to_owned(), url))
}

async fn copy(State(copies): State<Arc<CopyServer>>, request: Request) -> Response {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let dashboard = sibling(request.headers(), copies.dashboard);
    let Some((time, url)) = asked_for(target) else {
        let what = "Copies are at /copy/<time>/<url>.";
        return (StatusCode::NOT_FOUND, told(&dashboard, what, "")).into_response();
    };
    let Ok(_turn) = copies.turn.acquire().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (at, to) = (Arc::clone(&copies), dashboard.clone());
    let found = tokio::task::spawn_blocking(move || match copies::nearest(&at.dir, &url, &time) {
        Ok(Some(copy)) => shown(&to, &copy, &url),
        Ok(None) => {
            let what = "No copy of this URL was kept.";
            (StatusCode::NOT_FOUND, told(&to, what, url.as_str())).into_response()
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, told(&to, &error.what, "")).into_response(),
    });
    found.await.unwrap_or_else(|_| {
        let what = "This copy cannot be shown.";
        (StatusCode::INTERNAL_SERVER_ERROR, told(&dashboard, what, "")).into_response()
    })
}

/// A copy as it is answered.
fn shown(dashboard: &str, copy: &KeptCopy, asked: &Url) -> Response {
    if let Some(location) = &copy.location
        && let Ok(to) = asked.join(location)
    {
        let place = format!("/copy/{}/{}", copy.timestamp, to.as_str());
        return match HeaderValue::from_str(&place) {
            Ok(place) => (StatusCode::SEE_OTHER, [(LOCATION, place)]).into_response(),
            Err(_) => StatusCode::NOT_FOUND.into_response(),
        };
    }
    let declared = copy.content_type.as_deref();
    let charset = declared.and_then(|value| ContentType::parse(value).charset);
    let decoded = || charset::decode(&copy.body, charset, Some(asked.host())).text;
    let base = Url::parse(&copy.url).unwrap_or_else(|_| asked.clone());
    let essence = declared.unwrap_or_default().split(';').next().unwrap_or_default();
    let essence = essence.trim().to_ascii_lowercase();
    let bar = bar(dashboard, copy);
    let mut rewriting = Rewriting { base, time: &copy.timestamp, bar: &bar };
    let kind = media::kind(declared, &copy.body);
    let (content_type, body) = match kind {
        _ if copy.content_type.is_none() && copy.body.is_empty() => {
            let what = format!("The answer was {}: nothing to show.", copy.status.unwrap_or(0));
            return told(dashboard, &what, &copy.url).into_response();
        }
        MediaKind::Html => {
            ("text/html; charset=utf-8".to_owned(), rewriting.html(&decoded()).into_bytes())
        }
        _ if essence == "text/css" => {
            let css = css::rewritten(&decoded(), &mut |at| rewriting.place(at));
            ("text/css; charset=utf-8".to_owned(), css.into_bytes())
        }
        _ if SHOWN.iter().any(|shown| essence.starts_with(shown)) => (essence, copy.body.clone()),
        _ if is_text(&essence) => {
            ("text/plain; charset=utf-8".to_owned(), decoded().into_owned().into_bytes())
        }
        _ => {
            let headers =
                [(CONTENT_TYPE, "application/octet-stream"), (CONTENT_DISPOSITION, "attachment")];
            return (headers, copy.body.clone()).into_response();
        }
    };
    let content_type = HeaderValue::from_str(&content_type)
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let caching = HeaderValue::from_static("private, max-age=60");
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, caching)], body).into_response()
}

fn is_text(essence: &str) -> bool {
    essence.starts_with("text/") || essence.ends_with("json") || essence.ends_with("xml")
}

const BAR_STYLE: &str = "all:initial;display:block;padding:8px 14px;background:#12363a;\
                         color:#fff;font:14px/1.5 system-ui,sans-serif;overflow-wrap:anywhere";

/// What stands above a copy.
fn bar(dashboard: &str, copy: &KeptCopy) -> String {
    let mut url = String::new();
    escape_into(&copy.url, &mut url);
    let known = format!("{dashboard}/url?url={}", crate::page::encoded(&copy.url));
    format!(
        "<div style=\"{BAR_STYLE}\">Copy of <b>{url}</b> as it was on {}, without its scripts. \
         <a style=\"color:#9fe0e4\" href=\"{known}\">What is known of it, and other captures</a>\
         </div>",
        day(&copy.timestamp)
    )
}

/// A page of ours, in place of a copy.
fn told(dashboard: &str, what: &str, url: &str) -> Html<String> {
    let (mut text, mut shown) = (String::new(), String::new());
    escape_into(what, &mut text);
    escape_into(url, &mut shown);
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>No copy</title>\
         <div style=\"{BAR_STYLE}\">{text} <b>{shown}</b> \
         <a style=\"color:#9fe0e4\" href=\"{dashboard}/\">Back to the dashboard</a></div>"
    ))
}

/// `2026-11-18 16:02` of 14 digits.
pub fn day(timestamp: &str) -> String {
    let part = |from: usize, to: usize| timestamp.get(from..to).unwrap_or("00");
    format!("{}-{}-{} {}:{}", part(0, 4), part(4, 6), part(6, 8), part(8, 10), part(10, 12))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_asked_for_by_time_and_url() {
        let of = |path: &str| asked_for(path).map(|(time, url)| (time, url.as_str().to_owned()));
        let found = Some(("20260101".to_owned(), "https://e.org/a?b=c".to_owned()));
        assert_eq!(of("/copy/20260101/https://e.org/a?b=c"), found);
        assert_eq!(of("/copy/20260101/https:/e.org/a?b=c"), found);
        assert!(of("/copy/soon/https://e.org/").is_none());
        assert!(of("/copy/2026/nowhere").is_none() && of("/other").is_none());
        assert_eq!(day("20261118160211"), "2026-11-18 16:02");
    }
}
