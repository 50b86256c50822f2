//! Servers that speak nothing but HTTP/2: what is kept, and that all limits hold there too.

use std::future::poll_fn;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use h2::server::SendResponse;
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use rhumb_fetch::access::AccessConfig;
use rhumb_fetch::{FailureKind, Fetch, FetchLimits, Http, HttpConfig, TlsConfig};
use rhumb_page::url::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::Acceptor;

use crate::server::{LOOPBACK, limits, request, run, words};

const NAME: &str = "modern.test";

/// How a server that speaks only HTTP/2 meets a client that offers only HTTP/1.1.
#[derive(Clone, Copy, PartialEq)]
enum Refuses {
    /// By a TLS alert, as most.
    Handshake,
    /// By silence about it, and by closing when a request comes, as nghttpd.
    Request,
}

struct Server {
    port: u16,
    certificate: CertificateDer<'static>,
    requests: Receiver<hyper::Request<()>>,
    connections: Arc<Mutex<usize>>,
}

type Answer = fn(SendResponse<Bytes>);

/// Answers every request so; `raw`, if any, is written in place of anything else.
fn start(refuses: Refuses, answer: Answer, raw: Option<&'static [u8]>) -> Server {
    let key = rcgen::KeyPair::generate().unwrap();
    let made = rcgen::CertificateParams::new(vec![NAME.to_string()]).unwrap();
    let made = made.self_signed(&key).unwrap();
    let certificate = made.der().clone();
    let config = |protocols: &[&[u8]]| {
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    };
    let (modern, silent) = (config(&[b"h2"]), config(&[]));
    let (port_in, port) = channel();
    let (requests_in, requests) = channel();
    let connections = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&connections);
    std::thread::spawn(move || {
        run(async move {
            let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
            port_in.send(listener.local_addr().unwrap().port()).unwrap();
            loop {
                let (tcp, _) = listener.accept().await.unwrap();
                *counted.lock().unwrap() += 1;
                let Ok(hello) = LazyConfigAcceptor::new(Acceptor::default(), tcp).await else {
                    continue;
                };
                let offers = {
                    let client = hello.client_hello();
                    client.alpn().is_some_and(|mut names| names.any(|name| name == b"h2"))
                };
                let is_silent = !offers && refuses == Refuses::Request;
                let config = if is_silent { &silent } else { &modern };
                let Ok(mut tls) = hello.into_stream(Arc::clone(config)).await else { continue };
                if is_silent {
                    let _ = tls.read(&mut [0; 1024]).await;
                    continue;
                }
                if let Some(raw) = raw {
                    while tls.write_all(raw).await.is_ok() {}
                    continue;
                }
                let requests = requests_in.clone();
                tokio::spawn(async move {
                    let Ok(mut h2) = h2::server::handshake(tls).await else { return };
                    while let Some(Ok((request, respond))) = h2.accept().await {
                        let _ = requests.send(request.map(|_| ()));
                        answer(respond);
                    }
                });
            }
        });
    });
    Server { port: port.recv().unwrap(), certificate, requests, connections }
}

fn client(server: &Server) -> Http {
    let tls = TlsConfig { extra_roots: vec![server.certificate.clone()], ..TlsConfig::default() };
    let mut access = AccessConfig::default();
    access.sites.add(&url(server, "/"));
    access.header("Authorization: Bearer secret").unwrap();
    Http::new(&HttpConfig { allow_private: true, tls, access, ..HttpConfig::default() }).unwrap()
}

fn url(server: &Server, path: &str) -> Url {
    Url::parse(&format!("https://{NAME}:{}{path}", server.port)).unwrap()
}

fn hello(mut respond: SendResponse<Bytes>) {
    let head = Response::builder()
        .header("content-type", "text/plain")
        .header("set-cookie", "a=1")
        .header("set-cookie", "b=2");
    let mut body = respond.send_response(head.body(()).unwrap(), false).unwrap();
    body.send_data(Bytes::from_static(b"hello"), true).unwrap();
}

#[test]
fn a_server_that_speaks_nothing_else_is_read_and_kept_as_http_1_1() {
    for refuses in [Refuses::Handshake, Refuses::Request] {
        let server = start(refuses, hello, None);
        let client = client(&server);
        run(async {
            for path in ["/a?b=c", "/d"] {
                let fetched = client.fetch(&request(url(&server, path), limits())).await;
                let response = fetched.unwrap();
                let kept = String::from_utf8(response.raw_request.clone()).unwrap();
                let port = server.port;
                let line =
                    format!("GET {path} HTTP/1.1\r\nhost: {NAME}:{port}\r\nuser-agent: rhumb");
                assert!(kept.starts_with(&line), "{kept}");
                assert!(kept.contains("authorization: REDACTED\r\n"), "{kept}");
                assert!(kept.ends_with("\r\n\r\n"));
                let raw = String::from_utf8(response.raw.clone()).unwrap();
                assert_eq!(
                    raw,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nset-cookie: a=1\r\n\
                     set-cookie: b=2\r\n\r\nhello"
                );
                assert!(response.is_http2);
                let sent = server.requests.recv().unwrap();
                assert_eq!(sent.headers()["authorization"], "Bearer secret");
                assert_eq!(sent.uri().to_string(), url(&server, path).as_str());
                assert!(!sent.headers().contains_key("host"));
            }
            // The first was refused; the second is kept open.
            assert_eq!(*server.connections.lock().unwrap(), 2);
            assert_eq!(client.idle_connections(), 1);
        });
    }
}

/// Sends pieces of a body for as long as anybody takes them.
fn endless(mut respond: SendResponse<Bytes>) {
    let mut body = respond.send_response(Response::new(()), false).unwrap();
    tokio::spawn(async move {
        loop {
            body.reserve_capacity(16 << 10);
            let Some(Ok(room)) = poll_fn(|cx| body.poll_capacity(cx)).await else { return };
            if body.send_data(Bytes::from(vec![b'x'; room]), false).is_err() {
                return;
            }
        }
    });
}

#[test]
fn limits_on_bodies_heads_and_times_hold() {
    let large_head: Answer = |mut respond| {
        let head = Response::builder().header("x", "y".repeat(20_000));
        let _ = respond.send_response(head.body(()).unwrap(), true);
    };
    let many_headers: Answer = |mut respond| {
        let head = (0..300).fold(Response::builder(), |head, n| head.header(format!("x{n}"), "y"));
        let _ = respond.send_response(head.body(()).unwrap(), true);
    };
    let silent: Answer = |respond| {
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(respond);
        });
    };
    let stops: Answer = |mut respond| {
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"begun"), false).unwrap();
        tokio::spawn(async move {
            std::future::pending::<()>().await;
            drop(body);
        });
    };
    let missing: Answer = |mut respond| {
        let head = Response::builder().status(StatusCode::NOT_FOUND);
        let _ = respond.send_response(head.body(()).unwrap(), true);
    };
    let short = Duration::from_millis(200);
    // Connecting twice, with TLS, is part of it.
    let in_all = Duration::from_secs(2);
    let usual = || FetchLimits { header_bytes_max: 16 << 10, ..limits() };
    for (answer, limits, wanted) in [
        (endless as Answer, FetchLimits { body_bytes_max: 700_000, ..usual() }, "200 Length"),
        (endless as Answer, FetchLimits { body_bytes_max: 1_000, ..usual() }, "200 Length"),
        (large_head, usual(), "header_too_big"),
        (many_headers, usual(), "header_too_big"),
        (silent, FetchLimits { first_byte_time_max: short, ..usual() }, "timeout_first_byte"),
        (silent, FetchLimits { total_time_max: in_all, ..usual() }, "timeout_head"),
        (stops, FetchLimits { total_time_max: in_all, ..usual() }, "200 begun Time"),
        (stops, FetchLimits { slow_window: short, ..usual() }, "200 begun Slow"),
        (missing, usual(), "404 "),
    ] {
        let server = start(Refuses::Handshake, answer, None);
        let bytes_max = limits.body_bytes_max;
        let outcome = run(client(&server).fetch(&request(url(&server, "/"), limits)));
        if let Ok(response) = outcome
            .as_ref()
            .map_err(drop)
            .and_then(|r| if r.payload_len() > 100 { Ok(r) } else { Err(()) })
        {
            assert_eq!(response.payload_len(), bytes_max);
            assert_eq!(response.raw.len(), response.head_len + bytes_max);
        }
        let text = words(&outcome).replace('x', "");
        assert_eq!(text.replace("  ", " "), wanted.replace("  ", " "));
    }
}

#[test]
fn an_answer_that_is_reset_is_cut_or_none_at_all() {
    let breaks: Answer = |mut respond| {
        let mut body = respond.send_response(Response::new(()), false).unwrap();
        body.send_data(Bytes::from_static(b"begun"), false).unwrap();
        body.send_reset(h2::Reason::INTERNAL_ERROR);
    };
    let server = start(Refuses::Handshake, breaks, None);
    let outcome = run(client(&server).fetch(&request(url(&server, "/"), limits())));
    // Which of them depends on what the server had sent when it changed its mind.
    let word = words(&outcome);
    assert!(["closed", "200  Disconnect", "200 begun Disconnect"].contains(&&*word), "{word}");
}

/// A SETTINGS frame without settings: what a server may send as often as it likes.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

#[test]
fn frames_that_bring_nothing_and_bytes_that_are_no_frames_end_soon() {
    for (raw, kinds) in [
        (SETTINGS, &["header_too_big", "closed", "bad_http"][..]),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", &["bad_http", "closed"]),
    ] {
        let server = start(Refuses::Handshake, hello, Some(raw));
        let outcome = run(client(&server).fetch(&request(url(&server, "/"), limits())));
        let word = words(&outcome);
        assert!(kinds.contains(&word.as_str()), "{word}");
    }
}

#[test]
fn a_server_that_closes_and_speaks_nothing_newer_is_asked_once() {
    let server = start(Refuses::Request, hello, None);
    let tls = TlsConfig { extra_roots: Vec::new(), ..TlsConfig::default() };
    let client = Http::new(&HttpConfig { allow_private: true, tls, ..HttpConfig::default() });
    let failure = run(client.unwrap().fetch(&request(url(&server, "/"), limits()))).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Tls(_)), "{failure}");
    assert_eq!(*server.connections.lock().unwrap(), 1);
}
