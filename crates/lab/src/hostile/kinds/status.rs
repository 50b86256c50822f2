//! Statuses that ask for patience, and errors without end.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::hostile::kind::{HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::script::{WireScript, document};

const REST: Duration = Duration::from_secs(3);
const BUSY: &[&str] = &["throttled", "server_error", "gateway", "closed"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("s429", "429, Retry-After: 3, then pages", "rests 3 s; then fetched", once)
        .fetches(&["/"])
        .fails(BUSY),
    HostileKind::new(
        "s429date",
        "429, Retry-After as a date 4 s ahead",
        "no request before the date",
        dated,
    )
    .fails(BUSY),
    HostileKind::new(
        "s429bad",
        "429, Retry-After: soon, -5, 10^30",
        "own back-off; no panic",
        senseless,
    )
    .fails(BUSY),
    HostileKind::new(
        "s500",
        "500 for all, with fresh links",
        "failure; links of errors are not followed for ever",
        server_errors,
    )
    .fails(BUSY),
    HostileKind::new("flaky", "500, 200, closed connection in turns", "few retries", flaky)
        .requests(HOST_SHARE)
        .may_fail(BUSY),
    HostileKind::new("s503", "503, Retry-After: 30 for ever", "rests; few requests", unavailable)
        .fails(BUSY),
    HostileKind::new("s401", "401 with every challenge", "gone; nothing is sent", unauthorised)
        .starts(&["/", "/a", "/b"]),
    HostileKind::new(
        "s404",
        "404 with 100 fresh links at every path",
        "links are not followed",
        gone,
    ),
    HostileKind::new(
        "s200",
        "an error page with status 200 at every path but one",
        "limit",
        errors,
    )
    .requests(HOST_SHARE)
    .fetches(&["/"]),
    HostileKind::new("s304", "304 to requests that asked no such thing", "classified", unasked)
        .may_fail(&["bad_http"]),
    HostileKind::new("s206", "206 with a part of a page", "kept as it is, or classified", partial)
        .may_fail(&["bad_http"]),
];

fn once(request: &HostileRequest) -> WireScript {
    if request.repeated > 0 {
        return WireScript::page("patience", ["/after"]);
    }
    WireScript::answer("429 Too Many Requests", &["Retry-After: 3"], "").not_within(REST)
}

fn dated(request: &HostileRequest) -> WireScript {
    if request.repeated > 0 {
        return WireScript::page("patience until a date", ["/"]);
    }
    const AHEAD: Duration = Duration::from_secs(4);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let date = rhumb_fetch::date::format((now + AHEAD).as_secs());
    // A date has no fractions of a second.
    WireScript::answer("429 Too Many Requests", &[&format!("Retry-After: {date}")], "")
        .not_within(AHEAD - Duration::from_millis(u64::from(now.subsec_millis())))
}

fn senseless(request: &HostileRequest) -> WireScript {
    let times = ["soon", "-5", "1000000000000000000000000000000", "NaN", ""];
    let header = format!("Retry-After: {}", times[request.before as usize % times.len()]);
    WireScript::answer("429 Too Many Requests", &[&header], "")
}

fn server_errors(request: &HostileRequest) -> WireScript {
    let links = (0..20).map(|n| format!("/error/{}/{n}", request.before));
    let body = document(&format!("error {}", request.target), links);
    WireScript::answer("500 Internal Server Error", &["Content-Type: text/html"], body)
}

fn flaky(request: &HostileRequest) -> WireScript {
    match request.before % 3 {
        0 => WireScript::answer("500 Internal Server Error", &[], ""),
        1 => {
            let page = request.number();
            let links = [page + 1, page + 2].map(|n| format!("/f/{n}"));
            WireScript::page(&format!("flaky {page}"), links)
        }
        _ => WireScript::default().close(),
    }
}

fn unavailable(_: &HostileRequest) -> WireScript {
    WireScript::answer("503 Service Unavailable", &["Retry-After: 30"], "")
        .not_within(Duration::from_secs(30))
}

fn unauthorised(_: &HostileRequest) -> WireScript {
    let challenges = [
        "WWW-Authenticate: Basic realm=\"all\"",
        "WWW-Authenticate: Digest realm=\"all\", nonce=\"x\", qop=auth",
        "WWW-Authenticate: Negotiate",
    ];
    WireScript::answer("401 Unauthorized", &challenges, "")
}

fn gone(request: &HostileRequest) -> WireScript {
    let links = (0..100).map(|n| format!("/none/{}/{n}", request.before));
    let body = document(&format!("gone {}", request.target), links);
    WireScript::answer("404 Not Found", &["Content-Type: text/html"], body)
}

fn errors(request: &HostileRequest) -> WireScript {
    let links = (0..50).map(|n| format!("/broken/{}/{n}", request.number()));
    match request.path() {
        "/" => WireScript::page("the only page there is", links),
        _ => {
            let links = links.map(|link| format!("<a href=\"{link}\">again</a>\n"));
            WireScript::html(format!("<title>Error</title>{}", links.collect::<String>()))
        }
    }
}

fn unasked(_: &HostileRequest) -> WireScript {
    WireScript::head("304 Not Modified", &["ETag: \"never-seen\""])
}

fn partial(_: &HostileRequest) -> WireScript {
    let headers = ["Content-Type: text/html", "Content-Range: bytes 0-99/100000"];
    WireScript::answer("206 Partial Content", &headers, document("a part", ["/"]))
}
