//! HTTP that is framed wrongly, ambiguously, or without end.

use std::time::Duration;

use crate::hostile::kind::{HostileKind, HostileRequest};
use crate::hostile::script::{WireScript, document};

const CHUNKED: [&str; 2] = ["Content-Type: text/html", "Transfer-Encoding: chunked"];
const BAD_CHUNK: &str = "failure: bad chunk, or what came is kept and marked";
const BAD: &[&str] = &["bad_http", "closed", "slow", "timeout", "header_too_big"];
/// Room for large bodies that others hold too long is no fault of the server.
const SLOWLY: &[&str] = &["slow", "timeout"];
const AT_ONCE: Duration = Duration::ZERO;

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new(
        "clshort",
        "10 bytes announced, a second, forged response follows",
        "extra bytes are dropped with the connection, never taken for the next page",
        short_length,
    )
    .starts(&["/", "/second"])
    .fetches(&["/", "/second"])
    .lacks(&["forged response"]),
    HostileKind::new(
        "clbad",
        "Content-Length -1, +5, 0x10, '5, 6', two of them, 2^63, 2^64, 10^40",
        "refused or bounded; no overflow, no allocation by the header",
        bad_length,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"])
    .fails(BAD),
    HostileKind::new(
        "clte",
        "Content-Length with Transfer-Encoding; chunked twice; xchunked",
        "chunked wins or it is refused; the connection is not used again",
        length_and_chunks,
    )
    .starts(&["/0", "/1", "/2", "/3"])
    .may_fail(BAD)
    .lacks(&["smuggled response"]),
    HostileKind::new("endchunk", "chunked without end", "cut at the body limit", endless_chunks)
        .may_fail(SLOWLY),
    HostileKind::new("chunkover", "chunk sizes over 2^64 and of 2^63 - 1", BAD_CHUNK, chunk_over)
        .starts(&["/0", "/1", "/2"])
        .fails(BAD),
    HostileKind::new(
        "chunkbad",
        "chunk sizes that are no numbers, no line ends, negative",
        BAD_CHUNK,
        bad_chunks,
    )
    .starts(&["/0", "/1", "/2", "/3"])
    .fails(BAD),
    HostileKind::new("chunkext", "endless chunk extension, endless trailers", "bounded", extension)
        .starts(&["/0", "/1", "/2"])
        .fails(BAD),
    HostileKind::new(
        "sodd",
        "status 000, 999, 2000, abc, 304 unasked, 101, 204 with a body, 206",
        "classified; no panic",
        odd_status,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"])
    .may_fail(&["bad_http", "closed", "server_error", "timeout", "slow"]),
    HostileKind::new("continues", "100 Continue without end", "bounded", continues).fails(BAD),
    HostileKind::new("tinychunks", "chunks of one byte as fast as they go", "bounded", tiny_chunks)
        .may_fail(BAD),
    HostileKind::new("http09", "a body without a head", "failure: no HTTP", no_head).fails(BAD),
    HostileKind::new("http2", "answers in HTTP/2", "failure: no HTTP/1", http_2).fails(BAD),
    HostileKind::new("sshd", "speaks first: SSH-2.0", "failure: no HTTP", other_protocol)
        .fails(BAD),
    HostileKind::new("status", "a status line of 1 MB", "bounded", long_status).fails(BAD),
    HostileKind::new(
        "lfonly",
        "line ends of LF alone",
        "read as browsers do, or classified",
        line_feeds,
    )
    .may_fail(BAD),
    HostileKind::new(
        "trailers",
        "trailers that claim another length, place and type",
        "trailers decide nothing",
        trailers,
    )
    .fetches(&["/"])
    .may_fail(BAD),
    HostileKind::new(
        "early",
        "a response before each request",
        "never taken for the answer to the next request",
        early,
    )
    .starts(&["/", "/second"])
    .may_fail(BAD)
    .lacks(&["unasked response"]),
];

const FORGED: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 22\r\n\r\n\
                      <p>forged response</p>";

fn short_length(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Content-Length: 10"])
        .send(format!("<p>ten</p>{FORGED}").into_bytes())
}

fn bad_length(request: &HostileRequest) -> WireScript {
    let lengths: [&[&str]; 9] = [
        &["Content-Length: -1"],
        &["Content-Length: +5"],
        &["Content-Length: 0x10"],
        &["Content-Length: 5, 6"],
        &["Content-Length: 5", "Content-Length: 60"],
        &["Content-Length: 9223372036854775808"],
        &["Content-Length: 18446744073709551616"],
        &["Content-Length: 10000000000000000000000000000000000000000"],
        &["Content-Length: 9223372036854775807"],
    ];
    let lengths = lengths[request.number() as usize % lengths.len()];
    WireScript::head("200 OK", &[&["Content-Type: text/html"], lengths].concat())
        .send(&b"<p>some body</p>"[..])
        .close()
}

fn length_and_chunks(request: &HostileRequest) -> WireScript {
    let coded: &[&str] = match request.number() {
        0 => &["Content-Length: 5", "Transfer-Encoding: chunked"],
        1 => &["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        2 => &["Content-Length: 5", "Transfer-Encoding: xchunked"],
        _ => &["Transfer-Encoding: chunked, identity", "Content-Length: 5"],
    };
    let answer = WireScript::head("200 OK", &[&["Content-Type: text/html"], coded].concat())
        .send(&b"e\r\n<p>chunked</p>\r\n0\r\n\r\n"[..]);
    match request.number() {
        0 | 1 => answer.send(FORGED.replace("forged r", "smuggled r").into_bytes()),
        // A body of another coding goes on until the connection ends.
        _ => answer.close(),
    }
}

fn endless_chunks(_: &HostileRequest) -> WireScript {
    let chunk = [b"8000\r\n".to_vec(), vec![b'c'; 0x8000], b"\r\n".to_vec()].concat();
    WireScript::head("200 OK", &CHUNKED).repeat(chunk, AT_ONCE)
}

fn chunk_over(request: &HostileRequest) -> WireScript {
    let size = ["fffffffffffffffff", "7fffffffffffffff", "ffffffffffffffff"];
    WireScript::head("200 OK", &CHUNKED)
        .send(format!("{}\r\n<p>over</p>\r\n", size[request.number() as usize % 3]).into_bytes())
        .close()
}

fn bad_chunks(request: &HostileRequest) -> WireScript {
    let chunks = ["xyz\r\nbody\r\n", "-5\r\nbody\r\n", "4body4body0", "\r\n\r\n\r\n"];
    WireScript::head("200 OK", &CHUNKED)
        .send(chunks[request.number() as usize % 4].as_bytes())
        .close()
}

fn extension(request: &HostileRequest) -> WireScript {
    let head = WireScript::head("200 OK", &CHUNKED);
    match request.number() {
        0 => head.send(&b"4;x="[..]).repeat(vec![b'e'; 4_096], AT_ONCE),
        1 => {
            head.send(&b"4\r\nbody\r\n0\r\n"[..]).repeat(&b"X-Trailer: more of it\r\n"[..], AT_ONCE)
        }
        _ => head.repeat(vec![b'0'; 4_096], AT_ONCE),
    }
}

fn odd_status(request: &HostileRequest) -> WireScript {
    let body = document(&format!("odd status {}", request.target), ["/"]);
    let typed = ["Content-Type: text/html"];
    match request.number() {
        0 => WireScript::answer("000 Nothing", &typed, body),
        1 => WireScript::answer("999 Denied", &typed, body),
        2 => WireScript::answer("2000 Big", &typed, body),
        3 => WireScript::answer("abc Words", &typed, body),
        4 => WireScript::answer("304 Not Modified", &typed, ""),
        5 => WireScript::answer("101 Switching Protocols", &["Upgrade: h2c"], ""),
        6 => WireScript::answer("204 No Content", &typed, body),
        7 => WireScript::answer("206 Partial Content", &["Content-Range: bytes 5-9/100"], body),
        _ => WireScript::answer("600 Beyond", &typed, body),
    }
}

fn continues(_: &HostileRequest) -> WireScript {
    WireScript::default().repeat("HTTP/1.1 100 Continue\r\n\r\n".repeat(100).into_bytes(), AT_ONCE)
}

fn tiny_chunks(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &CHUNKED).repeat(b"1\r\nt\r\n".repeat(1_000), AT_ONCE)
}

fn no_head(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"<html><p>a page of 1991</p></html>"[..]).close()
}

fn http_2(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"[..]).close()
}

fn other_protocol(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"SSH-2.0-OpenSSH_9.9\r\n"[..]).close()
}

fn long_status(_: &HostileRequest) -> WireScript {
    WireScript::raw([b"HTTP/1.1 200 ".to_vec(), vec![b'O'; 1 << 20]].concat()).close()
}

fn line_feeds(_: &HostileRequest) -> WireScript {
    let page = "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 15\n\n<p>feeds</p>abc";
    WireScript::raw(page.as_bytes()).close()
}

fn trailers(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &[&CHUNKED[..], &["Trailer: Location, Content-Length"]].concat())
        .send(&b"f\r\n<p>trailers</p>\r\n0\r\nLocation: /wrong\r\nContent-Length: 3\r\n"[..])
        .send(&b"Content-Type: image/png\r\nContent-Encoding: gzip\r\n\r\n"[..])
}

fn early(request: &HostileRequest) -> WireScript {
    WireScript::page(&format!("early {}", request.target), ["/"])
        .pause(Duration::from_millis(20))
        .send_unasked(FORGED.replace("forged r", "unasked r").into_bytes())
}
