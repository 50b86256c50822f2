//! Servers that take their time: with the head, with the body, with the connection.

use std::time::Duration;

use crate::hostile::kind::{HostileKind, HostileRequest, Transport};
use crate::hostile::script::WireScript;

const SECOND: Duration = Duration::from_secs(1);
const SLOWLY: &[&str] = &["slow", "timeout", "closed"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new(
        "slowbody",
        "body at 1 byte/s, Content-Length 1,000,000",
        "least rate or total time limit",
        slow_body,
    )
    .may_fail(SLOWLY),
    HostileKind::new(
        "slowchunk",
        "chunks of 1 byte each second, for ever",
        "least rate or total time limit",
        slow_chunks,
    )
    .may_fail(SLOWLY),
    HostileKind::new(
        "radio",
        "audio stream: 16 KB/s for ever",
        "type refused or total limits",
        radio,
    )
    .may_fail(SLOWLY),
    HostileKind::new("synhole", "connects are never completed", "connect time limit", nothing)
        .transport(Transport::Full)
        .may_fail(&["timeout", "connect", "robots_unreachable"]),
    HostileKind::new("slowhead", "head at 1 byte/s", "least rate or time limit", slow_head)
        .may_fail(SLOWLY),
    HostileKind::new(
        "silent",
        "accepts and never answers",
        "time limit to the first byte",
        nothing,
    )
    .may_fail(SLOWLY),
    HostileKind::new(
        "pausemid",
        "half a body, then nothing",
        "least rate or time limit; what came is kept",
        pause_in_mid_body,
    )
    .may_fail(SLOWLY),
    HostileKind::new(
        "justfast",
        "150 bytes/s, just above the least rate, for ever",
        "total time limit; the slot costs nobody else",
        just_fast,
    )
    .may_fail(SLOWLY),
    HostileKind::new(
        "slowlarge",
        "6 bodies of 60 MB at 200 KB/s",
        "room for large bodies is not held against honest ones",
        slow_large,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5"])
    .may_fail(&["slow", "timeout"]),
    HostileKind::new(
        "lingers",
        "keeps every connection open for ever and never reads again",
        "connections are bounded and closed",
        lingers,
    )
    .may_fail(SLOWLY),
];

fn nothing(_: &HostileRequest) -> WireScript {
    WireScript::silence()
}

fn slow_body(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Content-Length: 1000000"])
        .repeat(&b"x"[..], SECOND)
}

fn slow_chunks(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Transfer-Encoding: chunked"])
        .repeat(&b"1\r\nx\r\n"[..], SECOND)
}

fn radio(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: audio/mpeg", "icy-name: Radio"])
        .repeat(vec![0xff; 1_600], Duration::from_millis(100))
}

fn slow_head(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"HTTP/1.1 200 OK\r\nX-Slow: "[..]).repeat(&b"x"[..], SECOND)
}

fn pause_in_mid_body(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Content-Length: 100000"])
        .send(b"<title>Half</title><p>half of a page </p>".repeat(1_000))
        .hold()
}

fn just_fast(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html"])
        .repeat(&b"words, and then "[..], Duration::from_millis(100))
}

fn slow_large(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/plain", "Content-Length: 60000000"])
        .repeat(vec![b'l'; 20_000], Duration::from_millis(100))
}

fn lingers(request: &HostileRequest) -> WireScript {
    let links = (0..5).map(|n| format!("/page/{n}"));
    match request.number() {
        0 => WireScript::page("lingers", links),
        _ => WireScript::page(&format!("lingers {}", request.target), ["/"]).hold(),
    }
}
