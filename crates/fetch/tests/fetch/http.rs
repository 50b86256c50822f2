//! What servers send, and what we make of it.

use std::io::Write;

use rhumb_fetch::access::AccessConfig;
use rhumb_fetch::address::Why;
use rhumb_fetch::{
    FailureKind, Fetch, FetchLimits, FetchRequest, Fetcher, Http, HttpConfig, Oddity, Validators,
};
use rhumb_page::url::Url;

use crate::server::{Act, LOOPBACK, Server, client, fetch, limits, request, run, send, words};

/// What the server does after it has sent its bytes.
#[derive(Clone, Copy)]
enum Then {
    Close,
    Hold,
}
use Then::{Close, Hold};

/// Bytes sent; then; what we make of them.
const ANSWERS: &[(&str, Then, &str)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200 OK\ncontent-LENGTH:5\n\nhello", Hold, "200 hello"),
    ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200 OK\r\n\r\nhello", Close, "200 hello"),
    ("HTTP/1.0 200 OK\r\n\r\nhello", Close, "200 hello"),
    ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", Hold, "404 "),
    ("HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", Hold, "301 "),
    ("HTTP/1.1 204 No Content\r\n\r\n", Hold, "204 "),
    ("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", Hold, "304 "),
    // chunks: extensions, trailers, capitals, a body in pieces
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
         3;a=b\r\nhel\r\n02 ; c=\"d\"\r\nlo\r\n0;e\r\nX-After: 1\r\n\r\n",
        Hold,
        "200 hello",
    ),
    (
        "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\nContent-Length: 99\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        Hold,
        "200 hello",
    ),
    // cut short
    ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Close, "200 hello Disconnect"),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo",
        Close,
        "200 hellowo Disconnect",
    ),
    // interim answers, bytes after the end, odd heads that browsers take
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        Hold,
        "200 hello Interim",
    ),
    ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No\r\n\r\n", Hold, "204  Interim"),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more",
        Hold,
        "200 hello BytesAfterEnd",
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n\
         HTTP/1.1 200 OK\r\n\r\nforged",
        Hold,
        "200 hello BytesAfterEnd",
    ),
    ("HTTP/1.1 200 OK\r\nBad Header: x\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", Hold, "200 hello"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello", Close, "200 hello"),
    ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Hold, "101 "),
    // no HTTP
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Hold, "bad_http"),
    ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", Hold, "bad_http"),
    ("ICY 200 OK\r\n\r\nmusic", Hold, "bad_http"),
    ("SSH-2.0-OpenSSH_9.2\r\n", Hold, "bad_http"),
    ("\0\u{1}\u{2}\u{3}", Hold, "bad_http"),
    ("<html>no head at all</html>", Hold, "bad_http"),
    // gone before the head was whole
    ("", Close, "closed"),
    ("HTTP/1.1 200 OK\r\nContent-Le", Close, "closed"),
];

#[test]
fn every_odd_answer_has_one_clear_outcome_and_its_bytes_are_kept_as_they_were() {
    for &(bytes, then, expected) in ANSWERS {
        let mut acts = vec![send(bytes)];
        if let Hold = then {
            acts.push(Act::Hold);
        }
        let server = Server::answering(acts);
        let outcome = fetch(&server, limits());
        assert_eq!(words(&outcome), expected, "{bytes:?}");

        let (raw, raw_request, is_cut) = match outcome {
            Ok(answer) => {
                let is_cut = answer.oddities.contains(&Oddity::BytesAfterEnd);
                let head = &answer.raw[..answer.head_len];
                assert!(head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n"), "{bytes:?}");
                (answer.raw, answer.raw_request, is_cut)
            }
            Err(failure) => (failure.raw, failure.raw_request, false),
        };
        let raw = String::from_utf8(raw).unwrap();
        assert!(if is_cut { bytes.starts_with(&raw) } else { bytes.ends_with(&raw) }, "{bytes:?}");
        let is_after_interim = expected.ends_with("Interim") || bytes.starts_with("\r\n");
        assert!(is_cut || is_after_interim || raw == bytes, "{bytes:?}");
        assert_eq!(server.requests(), [raw_request]);
    }
}

#[test]
fn a_server_that_speaks_before_it_is_asked_is_no_http_server() {
    for _ in 0..20 {
        let server = Server::start(vec![vec![send("SSH-2.0-OpenSSH_9.2\r\n"), Act::Hold]]);
        let outcome = fetch(&server, limits());
        assert_eq!(words(&outcome), "bad_http");
        assert_eq!(outcome.unwrap_err().raw, b"SSH-2.0-OpenSSH_9.2\r\n");
    }
}

#[test]
fn no_damage_to_an_answer_makes_a_fetch_panic_or_hang_or_invent_bytes() {
    const CASES: usize = 600;
    let mut random = Random(0x5eed);
    let damaged: Vec<Vec<u8>> =
        (0..CASES).map(|n| random.damage(ANSWERS[n % ANSWERS.len()].0)).collect();
    let server = Server::start(damaged.iter().map(|bytes| vec![Act::Read, send(bytes)]).collect());
    let config =
        HttpConfig { allow_private: true, idle_connections_max: 0, ..HttpConfig::default() };
    let client = Http::new(&config).unwrap();
    run(async {
        for bytes in &damaged {
            let (raw, is_within) = match client.fetch(&request(server.url("/"), limits())).await {
                Ok(answer) => {
                    let is_within = answer.payload().len() <= bytes.len();
                    drop(answer.decoded());
                    (answer.raw, is_within)
                }
                Err(failure) => (failure.raw, true),
            };
            assert!(is_within && raw.len() <= bytes.len(), "{:?}", String::from_utf8_lossy(bytes));
            let is_part = raw.is_empty() || bytes.windows(raw.len()).any(|part| part == raw);
            assert!(is_part, "{:?}", String::from_utf8_lossy(bytes));
        }
    });
}

/// A small generator with its own seed (xorshift), so that every run damages alike.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn damage(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let end = at + self.below(bytes.len() - at);
            match self.below(4) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                1 => drop(bytes.drain(at..end)),
                2 => bytes.extend_from_within(at..end),
                _ => bytes.insert(at, b"\r\n: \0\xff0;"[self.below(8)]),
            }
        }
        bytes
    }
}

#[test]
fn a_body_that_stops_making_sense_is_kept_up_to_there() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for nonsense in ["zz\r\nrest", "fffffffffffffffff\r\nrest", "5 5\r\nrest"] {
        let server = Server::answering(vec![send(head), send(nonsense), Act::Hold]);
        assert_eq!(words(&fetch(&server, limits())), "200 hello Malformed", "{nonsense:?}");
    }
}

fn packed(coding: &str, plain: &[u8]) -> Vec<u8> {
    use flate2::{Compression, write};
    let level = Compression::default();
    match coding {
        "gzip" => {
            let mut encoder = write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "zlib" => {
            let mut encoder = write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "raw deflate" => {
            let mut encoder = write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "zstd" => zstd::encode_all(plain, 3).unwrap(),
        "br" => {
            let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
            encoder.write_all(plain).unwrap();
            encoder.into_inner()
        }
        _ => unreachable!(),
    }
}

fn answer(content_encoding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {content_encoding}\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn content_codings_are_undone_alone_and_in_a_chain() {
    let twice = packed("br", &packed("gzip", b"hello"));
    let mut two_members = packed("gzip", b"hel");
    two_members.extend(packed("gzip", b"lo"));
    let gzip = packed("gzip", b"hello");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("gzip", gzip.clone(), "200 hello"),
        ("X-GZIP", gzip.clone(), "200 hello"),
        ("gzip", two_members, "200 hello"),
        ("deflate", packed("zlib", b"hello"), "200 hello"),
        ("deflate", packed("raw deflate", b"hello"), "200 hello"),
        ("br", packed("br", b"hello"), "200 hello"),
        ("zstd", packed("zstd", b"hello"), "200 hello"),
        ("gzip, br", twice, "200 hello"),
        ("identity", b"hello".to_vec(), "200 hello"),
        ("gzip", b"hello".to_vec(), "200 hello Mislabelled"),
        ("zstd", b"hello".to_vec(), "200 hello Mislabelled"),
        ("gzip", Vec::new(), "200 "),
        ("rot13", b"uryyb".to_vec(), "200 uryyb UnknownCoding(\"rot13\")"),
        ("br,br,br,br", b"x".to_vec(), "200 x UnknownCoding(\"more than 3 codings\")"),
    ];
    for (coding, body, expected) in cases {
        let bytes = answer(coding, &body);
        let server = Server::answering(vec![send(&bytes), Act::Hold]);
        let outcome = fetch(&server, limits());
        assert_eq!(words(&outcome), expected, "{coding}");
        let response = outcome.unwrap();
        assert_eq!((response.raw.as_slice(), &*response.payload()), (&bytes[..], &body[..]));
        // Enough to tell what it is, without undoing all of it.
        let whole = response.decoded().bytes;
        let start = response.decoded_start(2).bytes;
        assert_eq!(start[..start.len().min(2)], whole[..whole.len().min(2)], "{coding}");
    }
}

#[test]
fn a_coded_body_that_ends_early_is_kept_as_far_as_it_goes() {
    let plain: Vec<u8> = (0..200_000_u32).flat_map(|n| n.to_le_bytes()).collect();
    for coding in ["gzip", "zlib", "br", "zstd"] {
        let body = packed(coding, &plain);
        let name = if coding == "zlib" { "deflate" } else { coding };
        let server =
            Server::answering(vec![send(answer(name, &body[..body.len() / 2])), Act::Hold]);
        let response = fetch(&server, limits()).unwrap();
        let decoded = response.decoded();
        assert!(decoded.bytes.len() > 10_000, "{coding}: {}", decoded.bytes.len());
        assert!(plain.starts_with(&decoded.bytes), "{coding}");
        assert!(format!("{:?}", decoded.note).starts_with("Some(Damaged"), "{coding}");
    }
}

#[test]
fn a_bomb_is_cut_by_size_and_by_ratio_in_every_coding() {
    let zeros = vec![0; 8 << 20];
    for coding in ["gzip", "zlib", "br", "zstd"] {
        let name = if coding == "zlib" { "deflate" } else { coding };
        let bytes = answer(name, &packed(coding, &zeros));
        for (decoded_bytes_max, decoded_ratio_max, note) in
            [(3_000_000, usize::MAX, "Some(TooBig)"), (usize::MAX / 2, 20, "Some(TooDense)")]
        {
            let server = Server::answering(vec![send(&bytes), Act::Hold]);
            let limits = FetchLimits { decoded_bytes_max, decoded_ratio_max, ..limits() };
            let response = fetch(&server, limits).unwrap();
            let decoded = response.decoded();
            assert_eq!(format!("{:?}", decoded.note), note, "{coding}");
            assert!((1 << 20..=3_000_000).contains(&decoded.bytes.len()), "{coding}");
        }
    }
    let nested = packed("gzip", &packed("gzip", &packed("gzip", &zeros)));
    let server = Server::answering(vec![send(answer("gzip,gzip,gzip", &nested)), Act::Hold]);
    let response = fetch(&server, limits()).unwrap();
    assert!(response.decoded().bytes.len() <= 1 << 20);
}

#[test]
fn a_request_carries_what_was_configured_and_the_validators_as_received() {
    let mut access = AccessConfig::default();
    access.sites.add(&Url::parse("http://site.test/").unwrap());
    access.header("X-Who: me").unwrap();
    access.header("accept:*/*").unwrap();
    let config = HttpConfig {
        user_agent: "tester/1 (+http://example.com)".into(),
        accept_language: Some("de".into()),
        access,
        allow_private: true,
        ..HttpConfig::default()
    };
    let server = Server::answering(vec![
        send("HTTP/1.1 304 Not Modified\r\nETag: W/\"x\"\r\nLast-Modified: then\r\n\r\n"),
        Act::Hold,
    ]);
    let mut request = request(server.url("/a%20b?q=`^|[]'"), limits());
    request.validators =
        Validators { etag: Some(b"W/\"\xe9\"".to_vec()), last_modified: Some(b"once".to_vec()) };
    let client = Http::new(&config).unwrap();
    let response = run(client.fetch(&request)).unwrap();
    let port = server.port;
    let mut expected = format!(
        "GET /a%20b?q=`^|[]%27 HTTP/1.1\r\nHost: site.test:{port}\r\n\
         User-Agent: tester/1 (+http://example.com)\r\nAccept-Encoding: gzip, br, zstd\r\n\
         Accept-Language: de\r\nX-Who: me\r\nAccept: */*\r\nIf-None-Match: W/\""
    )
    .into_bytes();
    expected.extend_from_slice(b"\xe9\"\r\nIf-Modified-Since: once\r\n\r\n");
    let sent = server.requests().remove(0);
    assert_eq!(String::from_utf8_lossy(&sent), String::from_utf8_lossy(&expected));
    let sent = String::from_utf8_lossy(&sent).into_owned();
    // What is kept has no value that was given for this site alone.
    let kept = sent.replace("Who: me", "Who: REDACTED").replace(": */*", ": REDACTED");
    assert_eq!(String::from_utf8_lossy(&response.raw_request), kept);
    let again = response.validators();
    assert_eq!(again.etag.as_deref(), Some(&b"W/\"x\""[..]));
    assert_eq!(again.last_modified.as_deref(), Some(&b"then"[..]));
}

#[test]
fn no_connection_is_made_to_an_address_that_is_refused_or_missing() {
    let strict = Http::new(&HttpConfig::default()).unwrap();
    let server = Server::answering(vec![]);
    let kind_of = |client: &Http, url: &Url, address| {
        let request = FetchRequest { address, ..request(url.clone(), limits()) };
        run(client.fetch(&request)).unwrap_err().kind
    };
    let by_name = server.url("/");
    assert_eq!(kind_of(&strict, &by_name, Some(LOOPBACK)), FailureKind::Refused(Why::Loopback));
    assert_eq!(kind_of(&strict, &by_name, None), FailureKind::Unresolved);
    for literal in ["127.0.0.1", "2130706433", "[::ffff:7f00:1]", "0x7f.1"] {
        let url = Url::parse(&format!("http://{literal}:{}/", server.port)).unwrap();
        let kind = kind_of(&strict, &url, None);
        assert_eq!(kind, FailureKind::Refused(Why::Loopback), "{literal}");
    }
    let closed_port = Url::parse("http://site.test:1/").unwrap();
    assert_eq!(kind_of(&client(), &closed_port, Some(LOOPBACK)), FailureKind::Connect);
    let fetcher = Fetcher { http: strict, file: None };
    for other in ["ftp://example.com/", "file:///etc/passwd"] {
        let request = request(Url::parse(other).unwrap(), limits());
        let kind = run(fetcher.fetch(&request)).unwrap_err().kind;
        assert_eq!(kind, FailureKind::UnsupportedScheme);
    }
    assert!(server.requests().is_empty());
}
