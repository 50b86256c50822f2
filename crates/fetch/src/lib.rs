//! Fetching: one request at a time, as told, under limits; what happened comes back as data.
//!
//! The engine decides what is fetched and when. Here nothing is followed, repeated or delayed: a
//! redirect is a response, a failure is a [`FetchFailure`], and politeness lives elsewhere. The way
//! of a request:
//!
//! 1. `dns` turns a name into addresses, `address` says which of them we may connect to;
//! 2. `dial` reaches exactly the address that was judged, through a `proxy` if one is set, and
//!    `connect` begins to speak there, or `pool` has a connection open;
//! 3. `tee` copies the bytes of both directions under hyper: the archive wants them as they were;
//! 4. `exchange` sends the request and reads the response under one timer, `chunks` says where a
//!    chunked body ended; `http2` does all that where a server speaks nothing else;
//! 5. `access` says what the site alone is told, and takes it out of what is kept;
//! 6. `head` reads the kept bytes of the head, `decode` undoes content codings when asked.
//!
//! A scheme is one file behind the trait [`Fetch`]: `http` (and https), `file`.
//!
//! Invariant: whatever a server sends, a fetch ends within `total_time_max` (plus one connect) and
//! holds no more than `header_bytes_max` + `body_bytes_max` and a read buffer in memory.

pub mod access;
pub mod address;
pub mod date;
pub mod decode;
pub mod dns;
pub mod head;
pub mod proxy;

mod chunks;
mod connect;
mod dial;
mod exchange;
mod failure;
mod file;
mod http;
mod http2;
mod large;
mod open;
mod pace;
mod pool;
mod response;
mod tee;
mod tls;

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rhumb_page::url::{Scheme, Url};

use head::HeadBytes;

pub use failure::{FailureKind, FetchFailure, FetchStage, TlsFault};
pub use file::{File, FileConfig};
pub use http::{Http, HttpConfig};
pub use response::{Oddity, Response, Truncation};
pub use tls::TlsConfig;

/// One scheme's way to get what a URL names.
pub trait Fetch {
    fn fetch(
        &self,
        request: &FetchRequest,
    ) -> impl Future<Output = Result<Response, FetchFailure>> + Send;
}

/// What to fetch, from where, and how much of it.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    pub url: Url,
    /// Resolved and judged already: the connection goes to exactly this address. Without one, the
    /// URL must name an address itself.
    pub address: Option<IpAddr>,
    pub validators: Validators,
    pub limits: FetchLimits,
    /// Whether the body is wanted, if that is to be asked.
    pub screen: Option<HeadScreen>,
    /// Whether it may still go out, if that is to be asked.
    pub leave: Option<RequestLeave>,
}

/// Says by the head of an answer whether its body is wanted; if not, it is not read.
#[derive(Clone)]
pub struct HeadScreen(Arc<dyn Fn(HeadBytes<'_>) -> bool + Send + Sync>);

impl HeadScreen {
    pub fn new(wants: impl Fn(HeadBytes<'_>) -> bool + Send + Sync + 'static) -> HeadScreen {
        HeadScreen(Arc::new(wants))
    }

    fn wants(&self, head: HeadBytes<'_>) -> bool {
        (self.0)(head)
    }
}

impl fmt::Debug for HeadScreen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeadScreen")
    }
}

/// Asked immediately before the first byte of a request goes out: until when a crawler may ask a
/// host can have passed while it connected.
#[derive(Clone)]
pub struct RequestLeave(Arc<dyn Fn() -> bool + Send + Sync>);

impl RequestLeave {
    pub fn new(is_given: impl Fn() -> bool + Send + Sync + 'static) -> RequestLeave {
        RequestLeave(Arc::new(is_given))
    }

    fn is_given(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for RequestLeave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leave")
    }
}

/// What an earlier response said of its version, sent back as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
}

/// The bounds of one fetch.
#[derive(Clone, Debug)]
pub struct FetchLimits {
    /// A connection keeps the two limits on heads of the request that opened it.
    pub header_bytes_max: usize,
    pub headers_max: usize,
    /// Encoded, without transfer coding; a longer body is cut and kept.
    pub body_bytes_max: usize,
    pub decoded_bytes_max: usize,
    /// Decoded bytes per received byte, above `decode::RATIO_FREE_BYTES`.
    pub decoded_ratio_max: usize,
    /// Name to usable connection: TCP and TLS.
    pub connect_time_max: Duration,
    pub first_byte_time_max: Duration,
    /// From the start of the fetch, connecting included.
    pub total_time_max: Duration,
    /// Once bytes flow: fewer than this in each `slow_window`, and the response is cut.
    pub slow_bytes_per_s_min: u64,
    pub slow_window: Duration,
}

impl Default for FetchLimits {
    fn default() -> FetchLimits {
        FetchLimits {
            // A connection may keep a buffer of this size while idle if it had such a head.
            header_bytes_max: 64 << 10,
            headers_max: 256,
            body_bytes_max: 64 << 20,
            decoded_bytes_max: 64 << 20,
            decoded_ratio_max: 200,
            connect_time_max: Duration::from_secs(10),
            first_byte_time_max: Duration::from_secs(30),
            total_time_max: Duration::from_secs(300),
            slow_bytes_per_s_min: 100,
            slow_window: Duration::from_secs(10),
        }
    }
}

/// Why a client could not be made from its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// All schemes this crawl fetches; one that is off answers with `UnsupportedScheme`.
pub struct Fetcher {
    pub http: Http,
    /// Off by default: a crawl of the web has no business on our disk.
    pub file: Option<File>,
}

impl Fetch for Fetcher {
    async fn fetch(&self, request: &FetchRequest) -> Result<Response, FetchFailure> {
        match (request.url.scheme(), &self.file) {
            (Scheme::Http | Scheme::Https, _) => self.http.fetch(request).await,
            (Scheme::File, Some(file)) => file.fetch(request).await,
            (scheme @ (Scheme::File | Scheme::Ftp), _) => {
                Err(FetchFailure::new(FailureKind::UnsupportedScheme, scheme.as_str()))
            }
        }
    }
}
