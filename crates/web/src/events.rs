//! `/events`: what moves on every page, once a second, as server-sent events. One question answers
//! all viewers; the number of streams is bounded.

use crate::figures;
use crate::routes::Crawl;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use rhumb_node::watch::status::CrawlStatus;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const STREAMS_MAX: usize = 64;
const EVERY: Duration = Duration::from_secs(1);

static STREAMS: AtomicUsize = AtomicUsize::new(0);

/// A place among the streams, given back when the viewer goes.
struct Seat;

impl Seat {
    fn take() -> Option<Seat> {
        let taken = STREAMS.fetch_add(1, Ordering::Relaxed) + 1;
        let seat = Seat;
        (taken <= STREAMS_MAX).then_some(seat)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        STREAMS.fetch_sub(1, Ordering::Relaxed);
    }
}

pub async fn events(State(viewed): Crawl) -> Response {
    let source = Arc::clone(&viewed.source);
    let Some(seat) = Seat::take() else {
        let what = "too many viewers: this page stays as it is\n";
        return (StatusCode::SERVICE_UNAVAILABLE, what).into_response();
    };
    let moments = stream::unfold((source, seat, true), |(source, seat, is_first)| async move {
        if !is_first {
            tokio::time::sleep(EVERY).await;
        }
        let data = match source.status().await {
            Ok(status) => moving(&status),
            Err(unanswered) => json!({ "error": unanswered.1 }),
        };
        let event = Event::default().data(data.to_string());
        Some((Ok::<_, Infallible>(event), (source, seat, false)))
    });
    Sse::new(moments).keep_alive(KeepAlive::default()).into_response()
}

/// The texts of what moves, by the names that the pages' elements have.
pub fn moving(status: &CrawlStatus) -> Value {
    let report = &status.report;
    let failed: u64 = report.failed.values().sum();
    let (bound, ceiling) =
        report.coverage.as_ref().map_or((0.0, 0.0), |covered| (covered.bound, covered.ceiling));
    json!({
        "running": status.running,
        "paused": report.run.paused,
        "pages": figures::count(report.pages),
        "rate": figures::rate(report.run.pages_per_s_now),
        "queued": figures::count(report.queued),
        "hosts": figures::count(report.hosts),
        "bytes": figures::bytes(report.bytes),
        "failed": figures::count(failed),
        "in_flight": figures::count(report.in_flight),
        "bound": figures::percent(bound),
        "ceiling": figures::percent(ceiling),
        "why": status.why_nothing_is_fetched.clone().unwrap_or_default(),
    })
}
