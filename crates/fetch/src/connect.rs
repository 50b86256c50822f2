//! A connection to one address: TCP, TLS if the scheme wants it, then hyper with the tee under it.
//!
//! No task runs a connection: the exchange that uses it drives it, and between exchanges it rests.
//! That spares a task and two wake-ups per request, and a connection dies with the request that
//! was dropped.

use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rhumb_page::url::{Scheme, Url};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Limits;
use super::failure::{Failure, FailureKind, Stage, TlsFault};
use super::open::OpenConnection;
use super::tee::{Tee, TeeStream, Wire};

/// hyper panics below this.
const HYPER_BUFFER_BYTES_MIN: usize = 8 << 10;

pub(super) struct Connection {
    pub address: IpAddr,
    pub tee: Tee,
    /// Counted as long as it is open.
    _open: OpenConnection,
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
    tls: &TlsConnector,
    limits: &Limits,
) -> Result<Connection, ConnectFailure> {
    let address = open.address();
    let connecting = connect_wire(url, address, tls);
    let time_max = limits.connect_time_max.min(limits.total_time_max);
    let wire = match tokio::time::timeout(time_max, connecting).await {
        Ok(wire) => wire?,
        Err(_) => {
            let late =
                Failure::new(FailureKind::Timeout(Stage::Connect), "connecting took too long");
            return Err(late.into());
        }
    };
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
        .map_err(|error| Failure::of_exchange(&error))?;
    Ok(Connection { address, tee, _open: open, is_used: false, sender, driver: Some(driver) })
}

/// A failure, and whether it was for lack of descriptors, which idle connections hold too.
pub(super) struct ConnectFailure {
    pub failure: Failure,
    pub out_of_descriptors: bool,
}

impl From<Failure> for ConnectFailure {
    fn from(failure: Failure) -> ConnectFailure {
        ConnectFailure { failure, out_of_descriptors: false }
    }
}

async fn connect_wire(
    url: &Url,
    address: IpAddr,
    tls: &TlsConnector,
) -> Result<Wire, ConnectFailure> {
    let port = url.port().unwrap_or(url.scheme().default_port());
    let tcp = TcpStream::connect(SocketAddr::new(address, port)).await.map_err(|error| {
        ConnectFailure {
            failure: Failure::of_connecting(&error),
            out_of_descriptors: super::failure::is_out_of_descriptors(&error),
        }
    })?;
    // A request is one small write; waiting to fill a packet with it helps nobody.
    tcp.set_nodelay(true).map_err(|error| Failure::of_connecting(&error))?;
    if url.scheme() != Scheme::Https {
        return Ok(Wire::Plain(tcp));
    }
    let unsafe_peer = |fault, detail: String| Failure::new(FailureKind::Tls(fault), detail);
    let name = match url.ip() {
        Some(ip) => ServerName::from(ip),
        None => ServerName::try_from(url.host().to_string())
            .map_err(|error| unsafe_peer(TlsFault::Handshake, error.to_string()))?,
    };
    let stream = tls
        .connect(name, tcp)
        .await
        .map_err(|error| unsafe_peer(TlsFault::of(&error), error.to_string()))?;
    Ok(Wire::Tls(Box::new(stream)))
}
