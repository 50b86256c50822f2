//! A connection to one address: TCP, TLS if the scheme wants it, then hyper with the tee under it.
//!
//! No task runs a connection: the exchange that uses it drives it, and between exchanges it rests.
//! That spares a task and two wake-ups per request, and a connection dies with the request that
//! was dropped.

use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rhumb_page::url::{Scheme, Url};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Limits;
use super::failure::{Failure, FailureKind, Stage, TlsFault};
use super::open::OpenConnection;
use super::proxy::{Goal, Proxies, Proxy, ProxyKind, is_stand_in, socks, tunnel};
use super::tee::{Tee, TeeStream, Wire};
use super::tls::Tls;

/// hyper panics below this.
const HYPER_BUFFER_BYTES_MIN: usize = 8 << 10;

pub(super) struct Connection {
    /// Whom it is for: of politeness and of all that is counted. A proxy may connect elsewhere.
    pub address: IpAddr,
    /// Whether it leads to that address for certain.
    pub is_there: bool,
    /// It ends at a proxy, which is told the whole URL.
    pub forwarder: Option<Arc<Proxy>>,
    pub tee: Tee,
    /// Counted as long as it is open.
    _open: OpenConnection,
    /// It has served a request before.
    pub is_used: bool,
    /// TLS, with a certificate that nobody verified.
    pub is_unverified: bool,
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

/// How connections are made, whatever the URL.
pub(super) struct Ways {
    pub tls: Tls,
    pub proxies: Proxies,
    /// The address of ours that they are made from; the system chooses, if none.
    pub bind: Option<IpAddr>,
}

/// Connects within `connect_time_max`, TLS included.
pub(super) async fn connect(
    url: &Url,
    open: OpenConnection,
    ways: &Ways,
    limits: &Limits,
) -> Result<Connection, ConnectFailure> {
    let address = open.address();
    let connecting = connect_wire(url, address, ways);
    let time_max = limits.connect_time_max.min(limits.total_time_max);
    let reached = match tokio::time::timeout(time_max, connecting).await {
        Ok(reached) => reached?,
        Err(_) => {
            let late =
                Failure::new(FailureKind::Timeout(Stage::Connect), "connecting took too long");
            return Err(late.into());
        }
    };
    let tee = Tee::default();
    let Reached { wire, is_there, forwarder } = reached;
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
    let is_unverified = url.scheme() == Scheme::Https && !ways.tls.verifies(url);
    let driver = Some(driver);
    Ok(Connection {
        address,
        is_there,
        forwarder,
        tee,
        _open: open,
        is_used: false,
        is_unverified,
        sender,
        driver,
    })
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

/// What a connection ends at.
struct Reached {
    wire: Wire,
    is_there: bool,
    forwarder: Option<Arc<Proxy>>,
}

async fn connect_wire(url: &Url, address: IpAddr, ways: &Ways) -> Result<Reached, ConnectFailure> {
    let Some(proxy) = ways.proxies.of(url, Some(address)) else {
        let tcp = dial(SocketAddr::new(address, port_of(url)), ways.bind).await?;
        let wire = match url.scheme() {
            Scheme::Https => Wire::Tls(Box::new(encrypt(url, tcp, &ways.tls).await?)),
            _ => Wire::Plain(tcp),
        };
        return Ok(Reached { wire, is_there: true, forwarder: None });
    };
    let is_there = matches!(proxy.kind, ProxyKind::Socks { .. }) && !is_stand_in(address);
    let forwarder = proxy.forwards(url).then(|| Arc::clone(proxy));
    let tcp = dial_proxy(proxy, ways.bind).await?;
    let wire = match proxy.kind {
        ProxyKind::Https => through_encrypted(url, tcp, proxy, &ways.tls).await?,
        _ => through(url, address, tcp, proxy, &ways.tls).await?,
    };
    Ok(Reached { wire, is_there, forwarder })
}

/// Through a proxy that is spoken to in the clear.
async fn through(
    url: &Url,
    address: IpAddr,
    mut tcp: TcpStream,
    proxy: &Proxy,
    tls: &Tls,
) -> Result<Wire, Failure> {
    match proxy.kind {
        ProxyKind::Socks { .. } => {
            let name = url.host().trim_start_matches('[').trim_end_matches(']');
            let goal = match url.ip().or((!is_stand_in(address)).then_some(address)) {
                Some(address) => Goal::Address(address),
                None => Goal::Name(name),
            };
            socks(&mut tcp, goal, port_of(url), proxy.login.as_ref()).await?;
        }
        _ if proxy.forwards(url) => return Ok(Wire::Plain(tcp)),
        _ => tunnel(&mut tcp, &authority_of(url), proxy.authorization().as_ref()).await?,
    }
    Ok(match url.scheme() {
        Scheme::Https => Wire::Tls(Box::new(encrypt(url, tcp, tls).await?)),
        _ => Wire::Plain(tcp),
    })
}

/// Through a proxy that is spoken to over TLS; what is meant for an https server goes over TLS
/// within that.
async fn through_encrypted(
    url: &Url,
    tcp: TcpStream,
    proxy: &Proxy,
    tls: &Tls,
) -> Result<Wire, Failure> {
    let to_proxy = format!("{}{}:{}/", Scheme::Https.prefix(), proxy.host, proxy.port);
    let failed = |detail: String| Failure::new(FailureKind::Proxy, format!("the proxy: {detail}"));
    let to_proxy = Url::parse(&to_proxy).map_err(|error| failed(error.to_string()))?;
    let mut outer = encrypt(&to_proxy, tcp, tls).await.map_err(|failure| failed(failure.detail))?;
    if proxy.forwards(url) {
        return Ok(Wire::Tls(Box::new(outer)));
    }
    tunnel(&mut outer, &authority_of(url), proxy.authorization().as_ref()).await?;
    Ok(Wire::Nested(Box::new(encrypt(url, outer, tls).await?)))
}

/// TLS with the server that the URL names.
async fn encrypt<T: AsyncRead + AsyncWrite + Unpin>(
    url: &Url,
    stream: T,
    tls: &Tls,
) -> Result<TlsStream<T>, Failure> {
    let unsafe_peer = |fault, detail: String| Failure::new(FailureKind::Tls(fault), detail);
    let name = match url.ip() {
        Some(ip) => ServerName::from(ip),
        None => ServerName::try_from(url.host().to_string())
            .map_err(|error| unsafe_peer(TlsFault::Handshake, error.to_string()))?,
    };
    let connecting = tls.connector(url).connect(name, stream);
    connecting.await.map_err(|error| unsafe_peer(TlsFault::of(&error), error.to_string()))
}

fn port_of(url: &Url) -> u16 {
    url.port().unwrap_or(url.scheme().default_port())
}

/// Host and port, the port always written.
fn authority_of(url: &Url) -> String {
    format!("{}:{}", url.host(), port_of(url))
}

/// TCP to a proxy. Its name is the owner's word, and so is where that leads: the guard is for what
/// strangers name.
async fn dial_proxy(proxy: &Proxy, bind: Option<IpAddr>) -> Result<TcpStream, ConnectFailure> {
    let name = proxy.host.trim_start_matches('[').trim_end_matches(']');
    let failed = |detail: String| {
        Failure::new(FailureKind::Proxy, format!("the proxy {proxy} cannot be reached: {detail}"))
    };
    let found = tokio::net::lookup_host((name, proxy.port)).await;
    let mut last = None;
    for address in found.map_err(|error| failed(error.to_string()))? {
        match dial(address, bind).await {
            Ok(tcp) => return Ok(tcp),
            Err(failure) if failure.out_of_descriptors => return Err(failure),
            Err(failure) => last = Some(failure.failure.detail),
        }
    }
    Err(failed(last.unwrap_or_else(|| "its name has no address".to_owned())).into())
}

/// TCP to one address, from the address of ours that was chosen.
async fn dial(to: SocketAddr, from: Option<IpAddr>) -> Result<TcpStream, ConnectFailure> {
    let tcp = match from {
        None => TcpStream::connect(to).await,
        Some(from) => connect_from(from, to).await,
    };
    let tcp = tcp.map_err(|error| ConnectFailure {
        failure: Failure::of_connecting(&error),
        out_of_descriptors: super::failure::is_out_of_descriptors(&error),
    })?;
    // A request is one small write; waiting to fill a packet with it helps nobody.
    tcp.set_nodelay(true).map_err(|error| Failure::of_connecting(&error))?;
    Ok(tcp)
}

async fn connect_from(from: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    if from.is_ipv4() != to.is_ipv4() {
        let other = "an address of the other family than the one we are bound to";
        return Err(io::Error::new(io::ErrorKind::NetworkUnreachable, other));
    }
    let socket = if to.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(to).await
}
