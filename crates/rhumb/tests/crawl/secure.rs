//! A server of one test that is spoken to over TLS, with a certificate of its own making.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Answers each request for a path with these bytes and closes; its port.
pub fn self_signed(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> u16 {
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let made = rcgen::CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.der().clone()], key.into())
        .unwrap();
    let (config, answer) = (Arc::new(config), Arc::new(answer));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (tls, answer) = (ServerConnection::new(Arc::clone(&config)), Arc::clone(&answer));
            let stream = StreamOwned::new(tls.unwrap(), stream.unwrap());
            std::thread::spawn(move || converse(stream, &*answer));
        }
    });
    port
}

/// One request; a client that does not believe the certificate says none.
fn converse(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    answer: &dyn Fn(&str) -> Vec<u8>,
) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(n) if n > 0 => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let _ = stream.write_all(&answer(head.split(' ').nth(1).unwrap_or("/")));
    stream.conn.send_close_notify();
    let _ = stream.flush();
}
