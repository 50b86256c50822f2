//! https: against a server with a certificate of our own making.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use rcgen::CertificateParams;
use rhumb_fetch::{FailureKind, Fetch, Http, HttpConfig, TlsConfig, TlsFault};
use rhumb_page::url::Url;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{LOOPBACK, limits, request, run, words};

pub const NAME: &str = "secure.test";

pub struct TlsServer {
    pub port: u16,
    pub certificate: CertificateDer<'static>,
    pem: String,
}

/// Answers every connection with these bytes after one read, then closes, cleanly or not.
pub fn start(answer: &'static str, is_clean: bool) -> TlsServer {
    start_with(answer, is_clean, CertificateParams::new(vec![NAME.to_string()]).unwrap())
}

fn start_with(answer: &'static str, is_clean: bool, params: CertificateParams) -> TlsServer {
    let signing_key = rcgen::KeyPair::generate().unwrap();
    let made = params.self_signed(&signing_key).unwrap();
    let certificate = made.der().clone();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let tls = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(tls, stream.unwrap());
            if stream.read(&mut [0; 4096]).is_ok() {
                assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
                let _ = stream.write_all(answer.as_bytes());
                if is_clean {
                    stream.conn.send_close_notify();
                }
                let _ = stream.flush();
            }
        }
    });
    TlsServer { port, certificate, pem: made.pem() }
}

fn client(extra_roots: Vec<CertificateDer<'static>>) -> Http {
    let tls = TlsConfig { extra_roots, ..TlsConfig::default() };
    Http::new(&HttpConfig { allow_private: true, tls, ..HttpConfig::default() }).unwrap()
}

fn url(host: &str, port: u16) -> Url {
    Url::parse(&format!("https://{host}:{port}/")).unwrap()
}

pub const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn a_certificate_is_believed_only_if_its_root_is_trusted_and_its_name_is_right() {
    let server = start(HELLO, true);
    let trusting = client(vec![server.certificate.clone()]);
    let response = run(trusting.fetch(&request(url(NAME, server.port), limits()))).unwrap();
    assert_eq!(response.raw, HELLO.as_bytes());
    assert!(response.raw_request.starts_with(b"GET / HTTP/1.1\r\n"));

    let failure_of = |client: &Http, host: &str| {
        run(client.fetch(&request(url(host, server.port), limits()))).unwrap_err()
    };
    let untrusting = failure_of(&client(Vec::new()), NAME);
    assert_eq!(untrusting.kind, FailureKind::Tls(TlsFault::Issuer), "{untrusting}");
    for other in ["other.test", "127.0.0.1"] {
        let failure = failure_of(&trusting, other);
        assert_eq!(failure.kind, FailureKind::Tls(TlsFault::Name), "{failure}");
    }
}

#[test]
fn the_fault_of_a_certificate_is_told() {
    let params = || CertificateParams::new(vec![NAME.to_string()]).unwrap();
    let mut expired = params();
    expired.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let mut early = params();
    early.not_before = rcgen::date_time_ymd(2999, 1, 1);
    early.not_after = rcgen::date_time_ymd(3000, 1, 1);
    let mut own_ca = params();
    own_ca.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    for (params, word) in [
        (expired, "tls_expired"),
        (early, "tls_expired"),
        (own_ca, "tls_issuer"),
        (params(), "tls_issuer"),
    ] {
        let server = start_with(HELLO, true, params);
        let failure = run(client(Vec::new()).fetch(&request(url(NAME, server.port), limits())));
        assert_eq!(words(&failure), word, "{failure:?}");
    }
}

#[test]
fn plain_text_where_tls_is_expected_is_a_failure_of_tls() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let failure = run(client(Vec::new()).fetch(&request(url(NAME, port), limits()))).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Tls(TlsFault::Handshake), "{failure}");
}

#[test]
fn a_connection_cut_without_goodbye_ends_a_body_by_its_own_framing() {
    for (answer, is_clean, expected) in [
        ("HTTP/1.1 200 OK\r\n\r\nhello", true, "200 hello"),
        ("HTTP/1.1 200 OK\r\n\r\nhello", false, "200 hello UncleanClose"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
            false,
            "200 hello Disconnect UncleanClose",
        ),
    ] {
        let server = start(answer, is_clean);
        let client = client(vec![server.certificate]);
        let outcome = run(client.fetch(&request(url(NAME, server.port), limits())));
        assert_eq!(words(&outcome), expected);
    }
}

#[test]
fn roots_are_read_from_a_pem_file_and_a_file_without_any_is_an_error() {
    let server = start(HELLO, true);
    let directory = std::env::temp_dir().join(format!("rhumb-tls-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (good, empty) = (directory.join("good.pem"), directory.join("empty.pem"));
    std::fs::write(&good, format!("a comment\n{}", server.pem)).unwrap();
    std::fs::write(&empty, "nothing").unwrap();
    let tls = TlsConfig::from_pem_file(&good).unwrap();
    assert_eq!(tls.extra_roots, [server.certificate]);
    assert!(TlsConfig::from_pem_file(&empty).is_err());
    assert!(TlsConfig::from_pem_file(&directory.join("missing.pem")).is_err());
    std::fs::remove_dir_all(&directory).unwrap();
}
