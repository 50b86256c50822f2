//! The served web against the model: names, pages and faults over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use hickory_resolver::Resolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use rhumb_page::url::Url;
use rhumb_sim::web::{
    DnsAnswer, Face, Fault, Ghost, Oddities, ReachScope, WebBody, WebConfig, WebPlace, What,
};

use super::plain::{self, PlainOptions};
use super::*;

/// A web with everything odd in it, that does not change while it is looked at.
fn served() -> Served {
    let config = WebConfig {
        port: 0,
        change_period_us: 0,
        latency_us_mean: 0,
        sites: 30,
        pages: 600,
        ..WebConfig::hostile()
    };
    let options = ServeOptions { log: true, latency: false, threads: 2, ..ServeOptions::default() };
    Served::start(config, &options).expect("a free port")
}

#[test]
fn every_page_is_served_as_it_is_rendered() {
    let served = served();
    let web = &served.web;
    let reached = web.reachable(&web.seeds(), ReachScope::Any);
    let all = [reached.documents, reached.redirects, reached.dead].concat();
    let mut read = 0;
    for place in all.into_iter().filter(|place| !matches!(place.face, Face::Ghost(_))) {
        let url = web.url(place);
        let expected = web.respond(&url, 0, 9);
        if web.respond(&url, 0, 0) != expected {
            continue;
        }
        let (head, body) = answer(&get(&served, &url, ""));
        assert!(head.starts_with(&format!("HTTP/1.1 {} ", expected.status)), "{url}: {head}");
        if let Some(to) = &expected.location {
            assert_eq!(field(&head, "Location"), Some(to.as_str()));
        }
        let mut rendered = Vec::new();
        web.render(&expected.body, &mut rendered);
        assert!(body == rendered, "{url} has other bytes");
        read += 1;
    }
    assert!(read > 500, "{read} answers read");
    let requests = served.log().expect("a log was asked for").requests();
    assert_eq!(requests.len(), read);
    assert!(requests.iter().all(|r| r.open_on_host == 1 && r.end_us >= r.start_us));
}

#[test]
fn faults_are_acted_out_and_flaky_pages_recover() {
    let served = served();
    let web = &served.web;
    let mut seen = Vec::new();
    for place in (0..web.config().sites).flat_map(|site| web.pages(site)) {
        let url = web.url(place);
        let fault = web.respond(&url, 0, 0).fault;
        if seen.contains(&fault) || matches!(fault, Fault::None | Fault::Drip(_)) {
            continue;
        }
        seen.push(fault);
        let received = get(&served, &url, "");
        match fault {
            Fault::Cut(_) => {
                let (head, body) = answer(&received);
                let length: usize = field(&head, "Content-Length").unwrap().parse().unwrap();
                assert!(body.len() < length, "{} of {length} bytes", body.len());
            }
            _ => assert!(received.is_empty(), "{fault:?} {}", String::from_utf8_lossy(&received)),
        }
        let recovered = (0..2).any(|_| get(&served, &url, "").starts_with(b"HTTP/1.1 200"));
        assert!(recovered, "{url}");
    }
    assert_eq!(seen.len(), 3, "cut, reset and silent: {seen:?}");
}

#[test]
fn an_unchanged_page_is_answered_without_a_body() {
    let served = served();
    let web = &served.web;
    let tagged = (0..web.config().sites).find_map(|site| {
        let url = web.url(WebPlace { site, face: Face::Www, what: What::Page(0) });
        web.respond(&url, 0, 0).etag.map(|tag| (url, tag))
    });
    let (url, tag) = tagged.expect("some site has tags");
    let (head, body) = answer(&get(&served, &url, &format!("If-None-Match: {tag}\r\n")));
    assert!(head.starts_with("HTTP/1.1 304"), "{head}");
    assert!(body.is_empty());
    let (head, body) = answer(&get(&served, &url, "If-None-Match: \"other\"\r\n"));
    assert!(head.starts_with("HTTP/1.1 200") && !body.is_empty(), "{head}");
}

#[test]
fn hosts_that_compress_send_the_same_page_in_a_chunk() {
    let served = served();
    let web = &served.web;
    let url = web.seeds().into_iter().find(|url| web.compresses(url.host())).expect("half do");
    let (head, body) = answer(&get(&served, &url, "Accept-Encoding: gzip, br\r\n"));
    assert_eq!(field(&head, "Content-Encoding"), Some("gzip"));
    assert_eq!(field(&head, "Transfer-Encoding"), Some("chunked"));
    let mut plain = Vec::new();
    web.render(&web.respond(&url, 0, 9).body, &mut plain);
    let packed = rhumb_sim::web::gzip(&plain);
    let chunk = [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    assert!(body == chunk);
}

#[test]
fn nonsense_is_refused_and_the_server_lives_on() {
    let served = served();
    for nonsense in ["GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\n\r\n"] {
        let received = exchange(served.http, nonsense.as_bytes());
        assert!(received.starts_with(b"HTTP/1.1 400"), "{nonsense:?}");
    }
    assert!(exchange(served.http, &[b'x'; 100_000]).is_empty());
    assert!(get(&served, &served.web.seeds()[0], "").starts_with(b"HTTP/1.1 200"));
}

#[test]
fn names_are_answered_as_the_web_says() {
    let served = served();
    let web = &served.web;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut connection = ConnectionConfig::udp();
    connection.port = served.dns.port();
    let server = NameServerConfig::new(served.dns.ip(), true, vec![connection]);
    let config = ResolverConfig::from_parts(None, vec![], vec![server]);
    runtime.block_on(async {
        let resolver = Resolver::builder_with_config(config, TokioRuntimeProvider::default())
            .build()
            .expect("a resolver");
        for url in web.seeds() {
            let DnsAnswer::Found { ip, .. } = web.address(url.host()) else { panic!("{url}") };
            let found = resolver.lookup_ip(format!("{}.", url.host())).await.expect("an address");
            assert_eq!(found.iter().collect::<Vec<_>>(), [std::net::IpAddr::from(ip)]);
        }
        for (number, kind) in [(0, Ghost::Lost), (1, Ghost::Faulty)] {
            let ghost = WebPlace { site: number, face: Face::Ghost(kind), what: What::Page(0) };
            let name = format!("{}.", web.url(ghost).host());
            let error = resolver.lookup_ip(name).await.expect_err("no address");
            assert_eq!(error.is_nx_domain(), kind == Ghost::Lost, "{error}");
        }
    });
}

#[test]
fn the_plain_client_fetches_every_page_once() {
    let config = WebConfig { port: 0, latency_us_mean: 0, ..WebConfig::plain(10, 200) };
    assert_eq!(config.oddities, Oddities::default());
    let options = ServeOptions { log: true, ..ServeOptions::default() };
    let served = Served::start(config, &options).expect("a free port");
    let web = &served.web;
    // The largest sites have more than their share: without a limit per host all are fetched.
    let options = PlainOptions { connections: 4, threads: 2, pages: 200 * 10 };
    let report = plain::run(web, &options).expect("all pages are there");
    let mut bytes = 0;
    for place in (0..10).flat_map(|site| web.pages(site)) {
        let mut out = Vec::new();
        let reply = web.respond(&web.url(place), 0, 0);
        assert!(matches!(reply.body, WebBody::Html(_)));
        web.render(&reply.body, &mut out);
        bytes += out.len() as u64;
    }
    assert_eq!((report.pages, report.bytes), (200, bytes));
    // The server notes an answer after its last byte is out: the client may be here before.
    let log = served.log().expect("a log");
    while log.requests().len() < 200 {
        std::thread::yield_now();
    }
    assert_eq!(log.requests().len(), 200);
}

/// Sends one request to a host of the web, on a connection of its own, and reads to the end.
fn get(served: &Served, url: &Url, fields: &str) -> Vec<u8> {
    let DnsAnswer::Found { ip, .. } = served.web.address(url.host()) else { return Vec::new() };
    let (path, host, port) = (url.path_and_query(), url.host(), served.http.port());
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n{fields}\r\n");
    exchange(SocketAddr::from((ip, port)), request.as_bytes())
}

/// Ends its own side after the request, so that a silent server knows that nobody waits.
fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let mut received = Vec::new();
    // A server that has heard enough closes before it has read all.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    // A reset is an answer, too.
    let _ = stream.read_to_end(&mut received);
    received
}

fn answer(received: &[u8]) -> (String, Vec<u8>) {
    let end = request::head_end(received).expect("a whole head");
    let head = String::from_utf8(received[..end].to_vec()).expect("heads are ASCII");
    (head, received[end..].to_vec())
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().filter_map(|line| line.split_once(": ")).find(|(n, _)| *n == name).map(|(_, v)| v)
}
