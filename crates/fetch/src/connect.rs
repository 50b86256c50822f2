//! A connection to one address: TCP, TLS if the scheme wants it, then hyper with the tee under it.
//!
//! No task runs a connection: the exchange that uses it drives it, and between exchanges it rests.
//! That spares a task and two wake-ups per request, and a connection dies with the request that
//! was dropped.

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rhumb_page::url::{Scheme, Url};

use super::FetchLimits;
use super::dial::{ConnectFailure, Reached, Ways, reach};
use super::failure::{FailureKind, FetchFailure, FetchStage, TlsFault};
use super::http2::{self, Http2};
use super::open::OpenConnection;
use super::proxy::Proxy;
use super::tee::{Tee, TeeStream, Wire};
use super::tls::Protocol;

/// hyper panics below this.
const HYPER_BUFFER_BYTES_MIN: usize = 8 << 10;

/// What is known of a connection whatever is spoken on it.
pub(super) struct About {
    /// Whom it is for: of politeness and of all that is counted. A proxy may connect elsewhere.
    pub address: IpAddr,
    /// Whether it leads to that address for certain.
    pub is_there: bool,
    /// It ends at a proxy, which is told the whole URL.
    pub forwarder: Option<Arc<Proxy>>,
    /// TLS, with a certificate that nobody verified.
    pub is_unverified: bool,
    /// TLS, and the server did not say what it speaks.
    pub is_silent: bool,
    /// Counted as long as it is open.
    _open: OpenConnection,
}

/// An open connection.
pub(super) enum Line {
    Http1(Box<Connection>),
    Http2(Box<Http2>),
}

impl Line {
    pub fn about(&self) -> &About {
        match self {
            Line::Http1(connection) => &connection.about,
            Line::Http2(connection) => &connection.about,
        }
    }

    pub async fn is_still_open(&mut self) -> bool {
        match self {
            Line::Http1(connection) => connection.is_still_open().await,
            Line::Http2(connection) => connection.is_still_open().await,
        }
    }

    pub fn is_idle(&self) -> bool {
        match self {
            Line::Http1(connection) => connection.is_idle(),
            Line::Http2(connection) => connection.is_idle(),
        }
    }
}

/// One on which HTTP/1.1 is spoken.
pub(super) struct Connection {
    pub about: About,
    pub tee: Tee,
    /// It has served a request before.
    pub is_used: bool,
    sender: http1::SendRequest<Empty<Bytes>>,
    /// `None` once it has ended: nothing more will come.
    driver: Option<http1::Connection<TokioIo<TeeStream>, Empty<Bytes>>>,
}

impl Connection {
    /// Lets the connection do what it can without waiting.
    pub fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(driver) = &mut self.driver
            && Pin::new(driver).poll(cx).is_ready()
        {
            self.driver = None;
        }
    }

    /// The response is to be polled together with [`Connection::drive`].
    pub fn send(
        &mut self,
        request: hyper::Request<Empty<Bytes>>,
    ) -> impl Future<Output = hyper::Result<hyper::Response<Incoming>>> + use<> {
        self.sender.send_request(request)
    }

    /// A connection that rested may have been closed by the server meanwhile: asks the kernel
    /// itself, since what the runtime knows of a socket is as old as its last look.
    pub async fn is_still_open(&mut self) -> bool {
        self.tee.lock().ask_kernel = true;
        poll_fn(|cx| {
            self.drive(cx);
            Poll::Ready(())
        })
        .await;
        self.driver.is_some()
    }

    /// The message is over, the connection is not, and it may be used again.
    pub fn is_idle(&self) -> bool {
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// Connects within `connect_time_max`, TLS included.
pub(super) async fn connect(
    url: &Url,
    open: OpenConnection,
    ways: &Ways,
    limits: &FetchLimits,
    protocol: Protocol,
) -> Result<Line, ConnectFailure> {
    let address = open.address();
    let connecting = reach(url, address, ways, protocol);
    let time_max = limits.connect_time_max.min(limits.total_time_max);
    let reached = match tokio::time::timeout(time_max, connecting).await {
        Ok(reached) => reached?,
        Err(_) => {
            let late = FetchFailure::new(
                FailureKind::Timeout(FetchStage::Connect),
                "connecting took too long",
            );
            return Err(late.into());
        }
    };
    let Reached { wire, is_there, forwarder } = reached;
    if protocol == Protocol::Http2 && wire.protocol() != Some(protocol.word()) {
        let detail = "the server did not agree to speak HTTP/2";
        let failure = FetchFailure::new(FailureKind::Tls(TlsFault::Handshake), detail);
        return Err(ConnectFailure { failure, out_of_descriptors: false, speaks_otherwise: true });
    }
    let is_encrypted = url.scheme() == Scheme::Https;
    let about = About {
        address,
        is_there,
        forwarder,
        is_unverified: is_encrypted && !ways.tls.verifies(url),
        is_silent: is_encrypted && wire.protocol().is_none(),
        _open: open,
    };
    match protocol {
        Protocol::Http1 => Ok(Line::Http1(Box::new(speak_http1(wire, about, limits).await?))),
        Protocol::Http2 => Ok(Line::Http2(Box::new(http2::speak(wire, about, limits).await?))),
    }
}

async fn speak_http1(
    wire: Wire,
    about: About,
    limits: &FetchLimits,
) -> Result<Connection, FetchFailure> {
    let tee = Tee::default();
    let stream = TokioIo::new(TeeStream { wire, tee: tee.clone() });
    let (sender, driver) = http1::Builder::new()
        .title_case_headers(true)
        // Browsers take these too; the kept bytes show what was really sent.
        .ignore_invalid_headers_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .max_headers(limits.headers_max)
        .max_header_size(limits.header_bytes_max)
        .max_buf_size(limits.header_bytes_max.max(HYPER_BUFFER_BYTES_MIN))
        .handshake(stream)
        .await
        .map_err(|error| FetchFailure::of_exchange(&error))?;
    Ok(Connection { about, tee, is_used: false, sender, driver: Some(driver) })
}
