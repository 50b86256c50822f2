//! Connections that end too early, or never begin.

use crate::hostile::kind::{HostileKind, HostileRequest, Transport};
use crate::hostile::script::WireScript;

const FEW_RETRIES: &str = "failure, few retries with back-off";

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("closer", "closes when the request is there", FEW_RETRIES, closes)
        .fails(&["closed"]),
    HostileKind::new("rst0", "resets every connection before an answer", FEW_RETRIES, resets)
        .fails(&["closed"]),
    HostileKind::new(
        "rstmid",
        "resets in mid-body",
        "failure, or kept as truncated and marked",
        resets_in_body,
    )
    .fails(&["closed"]),
    HostileKind::new("closehead", "closes in mid-head", FEW_RETRIES, closes_in_head)
        .fails(&["closed", "bad_http"]),
    HostileKind::new(
        "closechunk",
        "closes in the middle of a chunk",
        "kept as truncated, marked",
        closes_in_chunk,
    )
    .fails(&["closed"])
    .holds(&["the first half of it"]),
    HostileKind::new(
        "closeshort",
        "announces 10,000 bytes and sends 100",
        "kept as truncated, marked; asked for again at most once",
        closes_short,
    )
    .fails(&["closed"])
    .holds(&["a hundred bytes"]),
    HostileKind::new("refused", "nobody listens", "failure: connection refused", closes)
        .transport(Transport::Absent)
        .fails(&["connect", "robots_unreachable"]),
];

fn closes(_: &HostileRequest) -> WireScript {
    WireScript::default().close()
}

fn resets(_: &HostileRequest) -> WireScript {
    WireScript::default().reset()
}

fn resets_in_body(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Content-Length: 100000"])
        .send(&b"<p>the beginning</p>"[..])
        .reset()
}

fn closes_in_head(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"HTTP/1.1 200 OK\r\nContent-Type: text/ht"[..]).close()
}

fn closes_in_chunk(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Transfer-Encoding: chunked"])
        .send(&b"1000\r\n<p>the first half of it</p>"[..])
        .close()
}

fn closes_short(_: &HostileRequest) -> WireScript {
    WireScript::head("200 OK", &["Content-Type: text/html", "Content-Length: 10000"])
        .send(&b"<p>a hundred bytes</p>"[..])
        .close()
}
