//! A way to a server: TCP from the address of ours that was chosen, through a proxy if one is set,
//! and TLS if the scheme wants it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rhumb_page::url::{Scheme, Url};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use super::failure::{FailureKind, FetchFailure, TlsFault, speaks_otherwise};
use super::proxy::{Goal, Proxies, Proxy, ProxyKind, is_stand_in, socks, tunnel};
use super::tee::Wire;
use super::tls::{Protocol, Tls};

/// How connections are made, whatever the URL.
pub(super) struct Ways {
    pub tls: Tls,
    pub proxies: Proxies,
    /// The address of ours that they are made from; the system chooses, if none.
    pub bind: Option<IpAddr>,
}

/// A failure, and whether it was for lack of descriptors, which idle connections hold too.
pub(super) struct ConnectFailure {
    pub failure: FetchFailure,
    pub out_of_descriptors: bool,
    /// The server speaks none of the protocols that it was offered.
    pub speaks_otherwise: bool,
}

impl From<FetchFailure> for ConnectFailure {
    fn from(failure: FetchFailure) -> ConnectFailure {
        ConnectFailure { failure, out_of_descriptors: false, speaks_otherwise: false }
    }
}

/// What a connection ends at.
pub(super) struct Reached {
    pub wire: Wire,
    /// Whether it leads to the address asked for, for certain.
    pub is_there: bool,
    /// A proxy that is told the whole URL.
    pub forwarder: Option<Arc<Proxy>>,
}

pub(super) async fn reach(
    url: &Url,
    address: IpAddr,
    ways: &Ways,
    protocol: Protocol,
) -> Result<Reached, ConnectFailure> {
    let Some(proxy) = ways.proxies.of(url, Some(address)) else {
        let tcp = dial(SocketAddr::new(address, port_of(url)), ways.bind).await?;
        let wire = match url.scheme() {
            Scheme::Https => Wire::Tls(Box::new(encrypt(url, tcp, &ways.tls, protocol).await?)),
            _ => Wire::Plain(tcp),
        };
        return Ok(Reached { wire, is_there: true, forwarder: None });
    };
    let is_there = matches!(proxy.kind, ProxyKind::Socks { .. }) && !is_stand_in(address);
    let forwarder = proxy.forwards(url).then(|| Arc::clone(proxy));
    let tcp = dial_proxy(proxy, ways.bind).await?;
    let wire = match proxy.kind {
        ProxyKind::Https => through_encrypted(url, tcp, proxy, (&ways.tls, protocol)).await?,
        _ => through(url, address, tcp, proxy, (&ways.tls, protocol)).await?,
    };
    Ok(Reached { wire, is_there, forwarder })
}

/// Through a proxy that is spoken to in the clear.
async fn through(
    url: &Url,
    address: IpAddr,
    mut tcp: TcpStream,
    proxy: &Proxy,
    (tls, protocol): (&Tls, Protocol),
) -> Result<Wire, ConnectFailure> {
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
        Scheme::Https => Wire::Tls(Box::new(encrypt(url, tcp, tls, protocol).await?)),
        _ => Wire::Plain(tcp),
    })
}

/// Through a proxy that is spoken to over TLS; what is meant for an https server goes over TLS
/// within that.
async fn through_encrypted(
    url: &Url,
    tcp: TcpStream,
    proxy: &Proxy,
    (tls, protocol): (&Tls, Protocol),
) -> Result<Wire, ConnectFailure> {
    let to_proxy = format!("{}{}:{}/", Scheme::Https.prefix(), proxy.host, proxy.port);
    let failed =
        |detail: String| FetchFailure::new(FailureKind::Proxy, format!("the proxy: {detail}"));
    let to_proxy = Url::parse(&to_proxy).map_err(|error| failed(error.to_string()))?;
    let mut outer = encrypt(&to_proxy, tcp, tls, Protocol::Http1)
        .await
        .map_err(|failed_so| failed(failed_so.failure.detail))?;
    if proxy.forwards(url) {
        return Ok(Wire::Tls(Box::new(outer)));
    }
    tunnel(&mut outer, &authority_of(url), proxy.authorization().as_ref()).await?;
    Ok(Wire::Nested(Box::new(encrypt(url, outer, tls, protocol).await?)))
}

/// TLS with the server that the URL names.
async fn encrypt<T: AsyncRead + AsyncWrite + Unpin>(
    url: &Url,
    stream: T,
    tls: &Tls,
    protocol: Protocol,
) -> Result<TlsStream<T>, ConnectFailure> {
    let unsafe_peer = |fault, detail: String| FetchFailure::new(FailureKind::Tls(fault), detail);
    let name = match url.ip() {
        Some(ip) => ServerName::from(ip),
        None => ServerName::try_from(url.host().to_string())
            .map_err(|error| unsafe_peer(TlsFault::Handshake, error.to_string()))?,
    };
    let connecting = tls.connector(url, protocol).connect(name, stream);
    connecting.await.map_err(|error| ConnectFailure {
        failure: unsafe_peer(TlsFault::of(&error), error.to_string()),
        out_of_descriptors: false,
        speaks_otherwise: speaks_otherwise(&error),
    })
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
        FetchFailure::new(
            FailureKind::Proxy,
            format!("the proxy {proxy} cannot be reached: {detail}"),
        )
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
        failure: FetchFailure::of_connecting(&error),
        out_of_descriptors: super::failure::is_out_of_descriptors(&error),
        speaks_otherwise: false,
    })?;
    // A request is one small write; waiting to fill a packet with it helps nobody.
    tcp.set_nodelay(true).map_err(|error| FetchFailure::of_connecting(&error))?;
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
