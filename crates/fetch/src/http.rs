//! http: and https: over HTTP/1.1, or HTTP/2 where a server speaks nothing else, on connections of
//! our own.
//!
//! hyper does the protocol, the tee under it keeps the bytes. A request goes out on the host's idle
//! connection if there is one and it is still open. A server may close it in the very moment in
//! which the request goes out. It is not sent again from here, though every HTTP client may do so:
//! who reads the server's log would see two requests at once. It is a failure like any other, which
//! the engine tries again when the host's time has come.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HOST, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Uri};
use rhumb_page::url::{HostKey, Url};

use super::access::{Access, AccessConfig};
use super::address::permitted;
use super::connect::{Line, connect};
use super::dial::{ConnectFailure, Ways};
use super::exchange::exchange;
use super::failure::{FailureKind, FetchFailure};
use super::http2;
use super::open::OpenConnections;
use super::pace::{Pace, Shared};
use super::pool::{Bounds, Pool};
use super::proxy::{Proxies, Proxy, ResolvedBy, is_stand_in};
use super::response::{Oddity, Response};
use super::tls::Protocol;
use super::{ConfigError, Fetch, FetchRequest, TlsConfig};

/// Proxy Authentication Required: no server says that.
const PROXY_LOGIN_WANTED: u16 = 407;

/// Hosts of which it is remembered that they speak HTTP/2 alone; to find out again costs one
/// connection.
const MODERN_MAX: usize = 65_536;

/// Hosts of which it is remembered that a connection is good for one request.
const FRAGILE_MAX: usize = 4_096;

/// How we speak and what we keep open.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    pub user_agent: String,
    pub accept: String,
    /// Only codings that `decode` undoes belong here; empty sends no such header.
    pub accept_encoding: String,
    pub accept_language: Option<String>,
    /// What is sent to some sites alone.
    pub access: AccessConfig,
    pub idle_connections_max: usize,
    /// At one address, however many names it has.
    pub idle_per_address_max: usize,
    pub idle_time_max: Duration,
    /// Loopback and private addresses are connected to only with this.
    pub allow_private: bool,
    pub tls: TlsConfig,
    pub proxies: Proxies,
    /// The address of ours that connections are made from; the system chooses, if none.
    pub bind: Option<IpAddr>,
    /// Received over all connections, at most.
    pub bytes_per_s: Option<u64>,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            user_agent: concat!("rhumb/", env!("CARGO_PKG_VERSION")).to_string(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_string(),
            accept_encoding: "gzip, br, zstd".to_string(),
            accept_language: None,
            access: AccessConfig::default(),
            // Half of the 1,024 descriptors a process usually gets.
            idle_connections_max: 512,
            idle_per_address_max: 4,
            // Servers close after 5 to 75 seconds; most of them before this.
            idle_time_max: Duration::from_secs(60),
            allow_private: false,
            tls: TlsConfig::default(),
            proxies: Proxies::default(),
            bind: None,
            bytes_per_s: None,
        }
    }
}

/// What came of one connection.
enum Tried {
    /// It was made, and this came of the request.
    Answered(Result<Response, FetchFailure>),
    NotReached(FetchFailure),
    /// No request was answered, and perhaps one in another protocol would be.
    SpeaksOtherwise(FetchFailure),
}

pub struct Http {
    /// What every request carries.
    headers: Vec<(HeaderName, HeaderValue)>,
    access: Access,
    allow_private: bool,
    ways: Ways,
    pool: Mutex<Pool>,
    shared: Shared,
    open: OpenConnections,
    /// Hosts that speak HTTP/2 alone, as far as they were met.
    modern: Mutex<HashSet<HostKey>>,
    /// Hosts that keep connections open and do not answer on them again.
    fragile: Mutex<HashSet<HostKey>>,
}

impl Http {
    pub fn new(config: &HttpConfig) -> Result<Http, ConfigError> {
        Ok(Http {
            headers: standing_headers(config)?,
            access: Access::new(&config.access),
            allow_private: config.allow_private,
            ways: Ways {
                tls: config.tls.client()?,
                proxies: config.proxies.clone(),
                bind: config.bind,
            },
            pool: Mutex::new(Pool::new(Bounds {
                connections_max: config.idle_connections_max,
                per_address_max: config.idle_per_address_max,
                idle_time_max: config.idle_time_max,
            })),
            shared: Shared { pace: config.bytes_per_s.map(Pace::new), ..Shared::default() },
            open: OpenConnections::default(),
            modern: Mutex::default(),
            fragile: Mutex::default(),
        })
    }

    /// Who finds out where this URL's name leads: we, or a proxy.
    pub fn resolved_by(&self, url: &Url) -> ResolvedBy {
        self.ways.proxies.resolver_of(url)
    }

    /// Reads the cookies that sites set in an earlier run.
    pub fn load_cookies(&self, path: &Path) -> io::Result<()> {
        self.access.load(path)
    }

    /// Writes the cookies that sites have set, if they are kept, for nobody else to read.
    pub fn save_cookies(&self, path: &Path) -> io::Result<()> {
        self.access.save(path)
    }

    /// The most connections that were ever open to one address at one time.
    pub fn most_open(&self) -> Arc<AtomicU32> {
        self.open.most()
    }

    /// Connections open and unused.
    pub fn idle_connections(&self) -> usize {
        self.pool().len()
    }

    pub fn close_idle_connections(&self) {
        drop(self.idle_to_close());
    }

    /// Connections that are not in use any more: to drop them is to close them, which takes some
    /// time for each.
    pub fn idle_to_close(&self) -> impl Send + use<> {
        self.pool().drain()
    }

    fn modern(&self) -> MutexGuard<'_, HashSet<HostKey>> {
        self.modern.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fragile(&self) -> MutexGuard<'_, HashSet<HostKey>> {
        self.fragile.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().expect("no code panics while it holds the pool")
    }

    async fn fetch_from(
        &self,
        request: &FetchRequest,
        address: IpAddr,
    ) -> Result<Response, FetchFailure> {
        let started = Instant::now();
        let host = request.url.host_key();
        let idle = self.pool().take(&host, address, started);
        if let Some(mut line) = idle
            && line.is_still_open().await
        {
            let outcome = self.exchange_on(line, host.clone(), request, started).await;
            // It ended before the first byte was written: nobody has seen this request yet.
            let was_unsent = |failure: &FetchFailure| {
                failure.kind == FailureKind::Closed && failure.raw_request.is_empty()
            };
            match outcome {
                Err(failure) if was_unsent(&failure) => {}
                outcome => return self.used_again(host, outcome),
            }
        }
        self.fetch_anew(request, address, started).await
    }

    /// What came on a connection that had served before. Some servers keep one open and then do not
    /// answer on it, or only complain: their next requests have connections of their own, and the
    /// page that paid for it is to be asked for again.
    fn used_again(
        &self,
        host: HostKey,
        outcome: Result<Response, FetchFailure>,
    ) -> Result<Response, FetchFailure> {
        const BAD_REQUEST: u16 = 400;
        let is_unanswered = matches!(&outcome, Err(failure)
            if failure.kind == FailureKind::Closed && failure.raw.is_empty());
        let is_complaint = has_status(&outcome, BAD_REQUEST);
        if !is_unanswered && !is_complaint {
            return outcome;
        }
        self.pool().forget(&host);
        let mut fragile = self.fragile();
        if fragile.len() >= FRAGILE_MAX {
            fragile.clear();
        }
        fragile.insert(host);
        match outcome {
            Ok(response) => {
                let detail = "a bad request (400), on a connection that had served others";
                let failure = FetchFailure::new(FailureKind::Closed, detail);
                let (raw_request, raw) = (response.raw_request, response.raw);
                let (address, took) = (response.address, response.took);
                Err(FetchFailure { raw_request, raw, address, took, ..failure })
            }
            outcome => outcome,
        }
    }

    /// On a new connection; on a second one, where the server gives to understand that it speaks
    /// HTTP/2 alone.
    async fn fetch_anew(
        &self,
        request: &FetchRequest,
        address: IpAddr,
        started: Instant,
    ) -> Result<Response, FetchFailure> {
        let host = request.url.host_key();
        let protocol = match self.modern().contains(&host) {
            true => Protocol::Http2,
            false => Protocol::Http1,
        };
        let first = match self.try_with(protocol, request, address, started).await {
            Tried::Answered(outcome) => return outcome,
            Tried::NotReached(failure) => return Err(failure),
            Tried::SpeaksOtherwise(failure) => failure,
        };
        if protocol == Protocol::Http2 {
            // It was so once. The next try begins anew.
            self.modern().remove(&host);
            return Err(first);
        }
        match self.try_with(Protocol::Http2, request, address, started).await {
            Tried::Answered(outcome) => {
                let mut modern = self.modern();
                if modern.len() >= MODERN_MAX {
                    modern.clear();
                }
                modern.insert(host);
                outcome
            }
            Tried::NotReached(_) | Tried::SpeaksOtherwise(_) => Err(first),
        }
    }

    async fn try_with(
        &self,
        protocol: Protocol,
        request: &FetchRequest,
        address: IpAddr,
        started: Instant,
    ) -> Tried {
        let placed = |failure: FetchFailure| FetchFailure {
            address: Some(address),
            took: started.elapsed(),
            ..failure
        };
        let line = match self.connect(protocol, request, address).await {
            Ok(line) => line,
            Err(failed) if failed.speaks_otherwise => {
                return Tried::SpeaksOtherwise(placed(failed.failure));
            }
            Err(failed) => return Tried::NotReached(placed(failed.failure)),
        };
        let may_speak_otherwise = protocol == Protocol::Http1 && line.about().is_silent;
        let host = request.url.host_key();
        match self.exchange_on(line, host, request, started).await {
            Err(failure) if may_speak_otherwise && is_no_http1(&failure) => {
                Tried::SpeaksOtherwise(failure)
            }
            outcome => Tried::Answered(outcome),
        }
    }

    async fn connect(
        &self,
        protocol: Protocol,
        request: &FetchRequest,
        address: IpAddr,
    ) -> Result<Line, ConnectFailure> {
        let attempt = || {
            let open = self.open.open(address);
            connect(&request.url, open, &self.ways, &request.limits, protocol)
        };
        match attempt().await {
            Err(failed) if failed.out_of_descriptors && self.idle_connections() > 0 => {
                self.close_idle_connections();
                attempt().await
            }
            attempted => attempted,
        }
    }

    async fn exchange_on(
        &self,
        mut line: Line,
        host: HostKey,
        request: &FetchRequest,
        started: Instant,
    ) -> Result<Response, FetchFailure> {
        let (message, is_private) = self.message(request, line.about().forwarder.as_deref())?;
        if request.leave.as_ref().is_some_and(|leave| !leave.is_given()) {
            let detail = "the time in which this crawler may ask the host was over";
            return Err(FetchFailure::new(FailureKind::Withheld, detail));
        }
        let wanted = (&request.limits, request.screen.as_ref());
        let mut outcome = match &mut line {
            Line::Http1(connection) => {
                exchange(connection, message, wanted, &self.shared, started).await
            }
            Line::Http2(connection) => {
                let url = Uri::try_from(request.url.as_str())
                    .map_err(|error| FetchFailure::new(FailureKind::BadHttp, error.to_string()))?;
                let message = (&url, message.map(|_| ()));
                http2::exchange(connection, message, wanted, &self.shared, started).await
            }
        };
        if is_private {
            match &mut outcome {
                Ok(response) => self.access.redact(&mut response.raw_request),
                Err(failure) => self.access.redact(&mut failure.raw_request),
            }
        }
        let about = line.about();
        if about.forwarder.is_some() && has_status(&outcome, PROXY_LOGIN_WANTED) {
            let detail = "the proxy wants a user and a password (407): http://USER:PASSWORD@HOST";
            return Err(FetchFailure::new(FailureKind::Proxy, detail));
        }
        if let Ok(response) = &mut outcome {
            self.access.learn(&request.url, response.head());
            response.address = response.address.filter(|_| about.is_there);
            if about.is_unverified {
                response.oddities.push(Oddity::Unverified);
            }
        }
        let is_whole = matches!(&outcome, Ok(response) if response.truncated.is_none());
        if is_whole && line.is_idle() && !self.fragile().contains(&host) {
            self.pool().put(host, line, Instant::now());
        }
        outcome
    }

    /// The request, and whether it says what is only for its site.
    fn message(
        &self,
        request: &FetchRequest,
        forwarder: Option<&Proxy>,
    ) -> Result<(hyper::Request<Empty<Bytes>>, bool), FetchFailure> {
        let unsendable = |error: String| FetchFailure::new(FailureKind::BadHttp, error);
        let target = match forwarder {
            None => PathAndQuery::try_from(request.url.path_and_query()).map(Uri::from),
            Some(_) => Uri::try_from(request.url.as_str()),
        };
        let target = target.map_err(|error| unsendable(error.to_string()))?;
        let host = HeaderValue::from_str(authority(&request.url))
            .map_err(|error| unsendable(error.to_string()))?;
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 3);
        headers.insert(HOST, host);
        let given = self.access.headers_for(&request.url);
        for (name, value) in &self.headers {
            if !given.iter().any(|(other, _)| other == name) {
                headers.append(name, value.clone());
            }
        }
        let mut is_private = self.access.carry(&request.url, &mut headers);
        if let Some(value) = forwarder.and_then(Proxy::authorization) {
            headers.insert(PROXY_AUTHORIZATION, value);
            is_private = true;
        }
        let validators = &request.validators;
        for (name, value) in
            [(IF_NONE_MATCH, &validators.etag), (IF_MODIFIED_SINCE, &validators.last_modified)]
        {
            // One with control characters in it cannot be sent; then the answer is a full one.
            if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_bytes) {
                headers.insert(name, value);
            }
        }
        let mut message = hyper::Request::new(Empty::new());
        *message.method_mut() = Method::GET;
        *message.uri_mut() = target;
        *message.headers_mut() = headers;
        Ok((message, is_private))
    }
}

impl Fetch for Http {
    async fn fetch(&self, request: &FetchRequest) -> Result<Response, FetchFailure> {
        let Some(address) = request.address.or_else(|| request.url.ip()) else {
            return Err(FetchFailure::new(FailureKind::Unresolved, "no address for this name"));
        };
        if is_stand_in(address) && request.url.ip().is_none() {
            // The name is left to a proxy; without one it leads nowhere.
            return match self.ways.proxies.of(&request.url, Some(address)) {
                Some(_) => self.fetch_from(request, address).await,
                None => Err(FetchFailure::new(FailureKind::Unresolved, "no address for this name")),
            };
        }
        if let Err(why) = permitted(address, self.allow_private) {
            let refused = FetchFailure::new(FailureKind::Refused(why), format!("{address}: {why}"));
            return Err(FetchFailure { address: Some(address), ..refused });
        }
        self.fetch_from(request, address).await
    }
}

/// Whether nothing came in answer, or the frame that HTTP/2 begins with.
fn is_no_http1(failure: &FetchFailure) -> bool {
    const SETTINGS: u8 = 4;
    matches!(
        (failure.kind, failure.raw.as_slice()),
        (FailureKind::Closed, [])
            | (FailureKind::BadHttp | FailureKind::Closed, [0, _, _, SETTINGS, ..])
    )
}

fn has_status(outcome: &Result<Response, FetchFailure>, status: u16) -> bool {
    matches!(outcome, Ok(response) if response.status == status)
}

/// Host and port as written: what stands between the scheme and the path.
fn authority(url: &Url) -> &str {
    let text = url.as_str();
    &text[url.scheme().prefix().len()..text.len() - url.path_and_query().len()]
}

fn standing_headers(config: &HttpConfig) -> Result<Vec<(HeaderName, HeaderValue)>, ConfigError> {
    let value = |name: &HeaderName, text: &str| {
        HeaderValue::from_str(text)
            .map_err(|_| ConfigError(format!("header {name}: {text:?} cannot be sent")))
    };
    let mut headers = Vec::new();
    for (name, text) in [
        (USER_AGENT, Some(&config.user_agent)),
        (ACCEPT, Some(&config.accept)),
        (ACCEPT_ENCODING, Some(&config.accept_encoding)),
        (ACCEPT_LANGUAGE, config.accept_language.as_ref()),
    ] {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let value = value(&name, text)?;
            headers.push((name, value));
        }
    }
    Ok(headers)
}
