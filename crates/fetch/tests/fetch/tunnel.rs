//! Through proxies to servers that are spoken to over TLS, through proxies that are spoken to over
//! TLS, and from an address of ours.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use rhumb_fetch::proxy::Proxies;
use rhumb_fetch::{Fetch, Http, HttpConfig, TlsConfig};
use rhumb_page::url::Url;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{Act, LOOPBACK, Server, limits, request, run, send, words};
use crate::tls::{HELLO, NAME, start};

fn client(proxy: &str, extra_roots: Vec<CertificateDer<'static>>) -> Http {
    let proxies = Proxies::one(proxy.parse().unwrap(), "");
    let tls = TlsConfig { extra_roots, ..TlsConfig::default() };
    Http::new(&HttpConfig { allow_private: true, proxies, tls, ..HttpConfig::default() }).unwrap()
}

fn head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// A proxy for one connection, which it connects to this port: what it was asked for.
fn tunnel_to(port: u16) -> (u16, JoinHandle<String>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = head(&mut stream);
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        let mut server = TcpStream::connect((LOOPBACK, port)).unwrap();
        let (mut from, mut to) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        let _ = std::io::copy(&mut stream, &mut server);
        asked
    });
    (own, asked)
}

#[test]
fn an_https_server_is_reached_through_a_tunnel_that_sees_its_name_alone() {
    let server = start(HELLO, true);
    let (port, asked) = tunnel_to(server.port);
    let trusting = client(&format!("http://ann:secret@127.0.0.1:{port}"), vec![server.certificate]);
    let url = Url::parse(&format!("https://{NAME}/private?key=1")).unwrap();
    let response = run(trusting.fetch(&request(url, limits()))).unwrap();
    assert_eq!(response.raw, HELLO.as_bytes());
    let sent = String::from_utf8(response.raw_request.clone()).unwrap();
    assert!(sent.starts_with("GET /private?key=1 HTTP/1.1\r\n"), "{sent}");
    assert!(!sent.contains("Proxy-Authorization"), "the server is told nothing of it: {sent}");
    drop(trusting);
    let asked = asked.join().unwrap();
    assert!(asked.starts_with(&format!("CONNECT {NAME}:443 HTTP/1.1\r\n")), "{asked}");
    assert!(asked.contains("Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n"), "{asked}");
    assert!(!asked.contains("private"), "{asked}");
}

/// A proxy behind TLS that answers one request itself: what it was asked for, and its certificate.
fn encrypted_proxy() -> (u16, CertificateDer<'static>, JoinHandle<String>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let made = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let certificate = made.der().clone();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
        .unwrap();
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = std::thread::spawn(move || {
        let tls = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(tls, listener.accept().unwrap().0);
        let asked = head(&mut stream);
        // A client that does not believe the certificate has gone.
        let _ = stream.write_all(HELLO.as_bytes());
        let _ = stream.read(&mut [0]);
        asked
    });
    (port, certificate, asked)
}

#[test]
fn a_proxy_behind_tls_is_told_the_whole_url_and_its_certificate_counts() {
    let url = Url::parse("http://site.test:81/a").unwrap();
    let (port, certificate, asked) = encrypted_proxy();
    let trusting = client(&format!("https://127.0.0.1:{port}"), vec![certificate]);
    let response = run(trusting.fetch(&request(url.clone(), limits()))).unwrap();
    assert_eq!(response.raw, HELLO.as_bytes());
    drop(trusting);
    assert!(asked.join().unwrap().starts_with("GET http://site.test:81/a HTTP/1.1\r\n"));
    let (port, _, _) = encrypted_proxy();
    let wary = client(&format!("https://127.0.0.1:{port}"), Vec::new());
    let failure = run(wary.fetch(&request(url, limits()))).unwrap_err();
    assert_eq!(failure.kind.as_str(), "proxy", "{failure}");
}

#[test]
fn a_proxy_that_dies_within_a_body_leaves_what_came_and_says_that_it_is_not_whole() {
    let proxy = Server::answering(vec![send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")]);
    let through = client(&format!("http://127.0.0.1:{}", proxy.port), Vec::new());
    let url = Url::parse("http://site.test/").unwrap();
    let outcome = run(through.fetch(&request(url, limits())));
    assert_eq!(words(&outcome), "200 hello Disconnect");
}

#[test]
fn connections_are_made_from_the_address_that_was_chosen() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let peer = std::thread::spawn(move || {
        let (mut stream, peer) = listener.accept().unwrap();
        head(&mut stream);
        stream.write_all(HELLO.as_bytes()).unwrap();
        peer.ip()
    });
    let bind: IpAddr = [127, 0, 0, 77].into();
    let config = HttpConfig { allow_private: true, bind: Some(bind), ..HttpConfig::default() };
    let bound = Http::new(&config).unwrap();
    let url = Url::parse(&format!("http://site.test:{port}/")).unwrap();
    assert_eq!(words(&run(bound.fetch(&request(url, limits())))), "200 hello");
    assert_eq!(peer.join().unwrap(), bind);
    // What is of the other family cannot be reached from there.
    let other = Server::answering(vec![send(HELLO), Act::Hold]);
    let six: IpAddr = [0, 0, 0, 0, 0, 0, 0, 1].into();
    let request =
        rhumb_fetch::FetchRequest { address: Some(six), ..request(other.url("/"), limits()) };
    let failure = run(bound.fetch(&request)).unwrap_err();
    assert!(failure.to_string().contains("the other family"), "{failure}");
}
