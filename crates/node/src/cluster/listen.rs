//! What a node answers: notes of other nodes, to those who have the crawl's token; and how it is
//! doing, to those who can reach it.

use super::send::PATH;
use super::wire::{BATCH_BYTES_MAX, Note, Refused, unpack};
use crate::run::Carrier;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rhumb_engine::error::{Error, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Nodes keep one open, scrapers come one at a time.
const CONNECTIONS_MAX: usize = 512;
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// After a failed accept, so that a lack of descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A port that is ours.
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// What others see of the node, as of a moment ago.
#[derive(Clone, Debug, Default)]
pub struct NodeShown {
    /// It has joined, and may work.
    pub is_ready: bool,
    pub status: String,
    pub metrics: String,
}

/// What answers are made of.
pub struct Answering {
    pub crawl: String,
    pub partitions: u32,
    pub token: String,
    pub carrier: Arc<Carrier>,
    /// Takes what no partition is to hear.
    pub noted: Box<dyn Fn(Note) + Send + Sync>,
    pub shown: Mutex<NodeShown>,
}

impl Listener {
    pub fn bind(address: SocketAddr) -> Result<Listener, Error> {
        let bound = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok(Listener { listener, address })
        };
        bound().map_err(|error: std::io::Error| {
            let what = format!("cannot listen on {address}: {error}; choose another --listen");
            Error::new(ErrorKind::Invalid, what)
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same port, to listen at again.
    pub fn again(&self) -> Result<Listener, Error> {
        let listener = self.listener.try_clone();
        let failed = |error: std::io::Error| Error::new(ErrorKind::Retry, error.to_string());
        Ok(Listener { listener: listener.map_err(failed)?, address: self.address })
    }

    /// Answers until the runtime ends.
    pub fn serve(self, answering: Arc<Answering>, runtime: &Handle) {
        let app = Router::new()
            .route(PATH, post(take))
            .route("/metrics", get(metrics))
            .route("/healthz", get(|| async { "alive\n" }))
            .route("/readyz", get(ready))
            .route("/status", get(status))
            .layer(DefaultBodyLimit::max(BATCH_BYTES_MAX))
            .with_state(answering);
        runtime.spawn(accept(self.listener, app));
    }
}

impl Answering {
    pub fn shown(&self) -> MutexGuard<'_, NodeShown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, app: Router) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "other nodes cannot be answered");
            return;
        }
    };
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let app = app.clone();
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, app).await {
                        tracing::debug!(%error, "a node's connection was lost");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a node's connection was lost");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, app: Router) -> hyper::Result<()> {
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app))
        .await
}

async fn take(
    State(answering): State<Arc<Answering>>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    if !has_token(&headers, &answering.token) {
        let told = "this is no node of the crawl: its token is another\n";
        return (StatusCode::UNAUTHORIZED, told.to_owned());
    }
    match unpack(&body, &answering.crawl, answering.partitions) {
        Ok(batch) => {
            batch.notes.into_iter().for_each(|note| answering.hear(note));
            (StatusCode::OK, String::new())
        }
        Err(Refused::Foreign(why)) => (StatusCode::CONFLICT, why),
        Err(Refused::Wrong(why)) => {
            tracing::warn!(why, "notes of another node refused");
            (StatusCode::BAD_REQUEST, why)
        }
    }
}

impl Answering {
    fn hear(&self, note: Note) {
        match note {
            Note::Message { from, to, number, message } => {
                // One whose addressee has moved on is sent again to where it is.
                self.carrier.deliver(from, to, number, Arc::new(message));
            }
            Note::Acknowledgement { by, to, number } => {
                self.carrier.acknowledged(by, to, number);
            }
            note => (self.noted)(note),
        }
    }
}

/// Compared in the same time whatever it is.
fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
    let wanted = format!("Bearer {token}");
    let differs = given.iter().zip(wanted.as_bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && differs == 0
}

async fn metrics(State(answering): State<Arc<Answering>>) -> Response {
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, answering.shown().metrics.clone()).into_response()
}

async fn ready(State(answering): State<Arc<Answering>>) -> (StatusCode, &'static str) {
    match answering.shown().is_ready {
        true => (StatusCode::OK, "ready\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not yet\n"),
    }
}

async fn status(State(answering): State<Arc<Answering>>) -> Response {
    let kind = [(CONTENT_TYPE, "application/json")];
    (kind, answering.shown().status.clone()).into_response()
}
