//! Through proxies that do their work, that refuse, that lie and that are none.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};

use rhumb_fetch::address::Why;
use rhumb_fetch::proxy::{Proxies, stand_in};
use rhumb_fetch::{
    FailureKind, Fetch, FetchFailure, FetchLimits, FetchRequest, Http, HttpConfig, Response,
};
use rhumb_page::url::Url;

use crate::server::{Act, LOOPBACK, Server, limits, request, run, send, words};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn client(proxy: &str) -> Http {
    let proxies = Proxies::one(proxy.parse().unwrap(), "spared.test");
    Http::new(&HttpConfig { allow_private: true, proxies, ..HttpConfig::default() }).unwrap()
}

fn fetch(proxy: &str, url: &str) -> Result<Response, FetchFailure> {
    run(client(proxy).fetch(&request(Url::parse(url).unwrap(), limits())))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_proxy_is_told_the_whole_url_and_its_user_is_not_kept() {
    let proxy = Server::answering(vec![send(OK), Act::Hold]);
    let url = format!("http://ann:secret@127.0.0.1:{}", proxy.port);
    let response = fetch(&url, "http://site.test:81/a?b=c").unwrap();
    let sent = text(&proxy.requests()[0]);
    assert!(sent.starts_with("GET http://site.test:81/a?b=c HTTP/1.1\r\nHost: site.test:81\r\n"));
    assert!(sent.contains("Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n"), "{sent}");
    assert!(text(&response.raw_request).contains("Proxy-Authorization: REDACTED\r\n"));
    // Nobody knows where the proxy went.
    assert_eq!(response.address, None);
    assert_eq!(words(&Ok(response)), "200 hello");
}

#[test]
fn a_host_that_is_spared_is_asked_without_a_proxy() {
    let server = Server::answering(vec![send(OK), Act::Hold]);
    let client = client("http://127.0.0.1:1");
    let url = Url::parse(&format!("http://spared.test:{}/", server.port)).unwrap();
    let response = run(client.fetch(&request(url, limits()))).unwrap();
    assert_eq!(response.address, Some(LOOPBACK));
    assert!(text(&server.requests()[0]).starts_with("GET / HTTP/1.1\r\n"));
}

/// A SOCKS proxy for one connection, which goes to this port whatever it is asked for: what it was
/// asked for.
fn socks_to(port: u16, login: bool) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let mut take = |stream: &mut TcpStream, bytes: usize| {
            let mut taken = vec![0; bytes];
            stream.read_exact(&mut taken).unwrap();
            asked.extend_from_slice(&taken);
            taken
        };
        take(&mut stream, 3);
        stream.write_all(&[5, if login { 2 } else { 0 }]).unwrap();
        if login {
            let user = usize::from(take(&mut stream, 2)[1]);
            let password = usize::from(take(&mut stream, user + 1)[user]);
            take(&mut stream, password);
            stream.write_all(&[1, 0]).unwrap();
        }
        let goal = match take(&mut stream, 4)[3] {
            1 => 4,
            3 => usize::from(take(&mut stream, 1)[0]),
            _ => 16,
        };
        take(&mut stream, goal + 2);
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let mut server = TcpStream::connect((LOOPBACK, port)).unwrap();
        let (mut from, mut to) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let _ = std::io::copy(&mut stream, &mut server);
        asked
    });
    (own, asked)
}

#[test]
fn a_socks_proxy_is_told_the_address_that_was_judged_or_else_the_name() {
    let judged = IpAddr::from([127, 0, 0, 9]);
    for (scheme, login, address, goal) in [
        ("socks5", "", judged, &[5, 1, 0, 1, 127, 0, 0, 9, 0, 81][..]),
        ("socks5h", "", stand_in("site.test"), b"\x05\x01\x00\x03\x09site.test\x00\x51"),
        ("socks5", "ann:secret@", judged, b"\x01\x03ann\x06secret\x05\x01\x00\x01\x7f\0\0\x09\0Q"),
    ] {
        let server = Server::answering(vec![send(OK), Act::Hold]);
        let (port, asked) = socks_to(server.port, !login.is_empty());
        let client = client(&format!("{scheme}://{login}127.0.0.1:{port}"));
        let url = Url::parse("http://site.test:81/").unwrap();
        let request = FetchRequest { address: Some(address), ..request(url, limits()) };
        let response = run(client.fetch(&request)).unwrap();
        let known = (scheme == "socks5").then_some(address);
        assert_eq!(response.address, known, "an archive claims no address that nobody knows");
        assert_eq!(words(&Ok(response)), "200 hello");
        assert!(text(&server.requests()[0]).starts_with("GET / HTTP/1.1\r\nHost: site.test:81"));
        drop(client);
        let asked = asked.join().unwrap();
        assert!(asked.ends_with(goal), "{scheme}: {asked:?}");
    }
}

#[test]
fn what_a_proxy_does_wrong_is_the_proxys_fault_and_ends_soon() {
    let long = "x".repeat(20_000);
    for (scheme, url, acts, wanted) in [
        (
            "http",
            "https",
            send("HTTP/1.1 403 Forbidden\r\n\r\n"),
            "refused to connect: HTTP/1.1 403",
        ),
        ("http", "https", send("HTTP/1.1 407 Who\r\n\r\n"), "wants a user and a password"),
        ("http", "https", send("SSH-2.0\r\n\r\n"), "no HTTP proxy"),
        ("http", "https", send("HTTP/1.1 200 OK\r\n\r\nearly"), "spoke for the server before"),
        ("http", "https", send(format!("HTTP/1.1 200 OK\r\nX: {long}")), "has no end"),
        ("http", "https", send("HTTP/1.1 200"), "closed the connection before it answered"),
        ("http", "http", send("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n"), "(407)"),
        ("socks5", "http", send("HTTP/1.1 400 No\r\n\r\n"), "no SOCKS 5 proxy"),
        ("socks5", "http", send([5, 255]), "another login"),
        ("socks5", "http", send([5, 2]), "wants a user and a password"),
        ("socks5", "http", send([5, 0, 5, 2, 0, 1]), "its rules forbid it"),
        ("socks5", "http", send([5, 0, 5, 0, 0, 9]), "no SOCKS 5 proxy"),
        ("socks5", "http", send([5]), "closed the connection before it answered"),
    ] {
        let proxy = match scheme {
            "http" => Server::answering(vec![acts]),
            // One that answers whole stays to be read.
            _ if wanted.contains("closed") => Server::start(vec![vec![acts]]),
            _ => Server::start(vec![vec![acts, Act::Hold]]),
        };
        let failure = fetch(
            &format!("{scheme}://127.0.0.1:{}", proxy.port),
            &format!("{url}://site.test:81/"),
        );
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Proxy, "{failure}");
        assert!(failure.detail.contains(wanted), "{wanted:?} is not in {failure}");
    }
    let failure = fetch("http://secret:x@127.0.0.1:1", "http://site.test/").unwrap_err();
    assert_eq!(failure.kind, FailureKind::Proxy);
    assert!(failure.detail.contains("http://127.0.0.1:1 cannot be reached"), "{failure}");
}

#[test]
fn a_proxy_that_is_silent_is_not_waited_for_longer_than_a_server() {
    let proxy = Server::start(vec![vec![Act::Hold]]);
    let limits = FetchLimits { connect_time_max: std::time::Duration::from_millis(50), ..limits() };
    let client = client(&format!("socks5://127.0.0.1:{}", proxy.port));
    let url = Url::parse("http://site.test/").unwrap();
    let failure = run(client.fetch(&request(url, limits))).unwrap_err();
    assert_eq!(failure.kind.as_str(), "timeout_connect");
}

#[test]
fn addresses_are_judged_also_where_a_proxy_connects() {
    let proxies = Proxies::one("http://127.0.0.1:1".parse().unwrap(), "");
    let strict = Http::new(&HttpConfig { proxies, ..HttpConfig::default() }).unwrap();
    let kind_of = |url: &str, address: Option<IpAddr>| {
        let request = FetchRequest { address, ..request(Url::parse(url).unwrap(), limits()) };
        run(strict.fetch(&request)).unwrap_err().kind
    };
    let refused = FailureKind::Refused(Why::Loopback);
    assert_eq!(kind_of("http://site.test/", Some(LOOPBACK)), refused);
    assert_eq!(kind_of("http://127.0.0.1/", None), refused);
    // What stands for a name is no address to connect to.
    let literal = format!("http://[{}]/", stand_in("site.test"));
    assert_eq!(kind_of(&literal, None), FailureKind::Refused(Why::Reserved));
    let direct = Http::new(&HttpConfig::default()).unwrap();
    let url = Url::parse("http://site.test/").unwrap();
    let request = FetchRequest { address: Some(stand_in("site.test")), ..request(url, limits()) };
    assert_eq!(run(direct.fetch(&request)).unwrap_err().kind, FailureKind::Unresolved);
}
