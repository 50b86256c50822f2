//! Heads: too long, too many lines, bytes that no head has, values that make no sense.

use crate::hostile::kind::{HOST_SHARE, HostileKind, HostileRequest};
use crate::hostile::script::{Noise, WireScript, document};

/// No record and no line of the index may be of this host.
pub const FORGED_HOST: &str = "forged.test";

const TOO_BIG: &[&str] = &["header_too_big", "bad_http"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("headlong", "one header line of 1 MB", "limit on header bytes", long_line)
        .fails(TOO_BIG),
    HostileKind::new(
        "head10k",
        "10,000 small headers, many of them Link",
        "limit on their number",
        many,
    )
    .requests(HOST_SHARE)
    .fails(TOO_BIG),
    HostileKind::new("headend", "header lines without end", "limit on header bytes", endless)
        .fails(TOO_BIG),
    HostileKind::new(
        "headnul",
        "NUL, controls, bare LF, folding, no colon, Latin-1",
        "tolerated or refused; never raw in the archive's own headers",
        odd_bytes,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5", "/6"])
    .may_fail(&["bad_http", "closed"]),
    HostileKind::new(
        "dates",
        "dates in year 99999 and -1, ETag of 60 KB, odd Cache-Control",
        "ignored where senseless",
        dates,
    )
    .starts(&["/0", "/1", "/2", "/3"])
    .fetches(&["/0", "/1", "/3"])
    .may_fail(TOO_BIG),
    HostileKind::new(
        "mime",
        "no type, type of 10 KB, HTML as image, image as HTML, PDF of garbage",
        "sniffed within bounds; no panic",
        types,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5"])
    .fetches(&["/0", "/1", "/2", "/3", "/4", "/5"]),
    HostileKind::new(
        "warcsmug",
        "WARC headers in reason, header, URL (%0d%0a) and body",
        "no record is forged in the archive, no line in the index",
        forges_records,
    )
    .starts(&["/", "/a%0d%0aWARC-Target-URI:%20http://forged.test/", "/body", "/gz", "/cr"])
    .fetches(&["/", "/body", "/gz"])
    .may_fail(&["bad_http"]),
    HostileKind::new(
        "traverse",
        "../../etc/cron.d in URLs and Content-Disposition",
        "nothing is written outside the crawl's directory",
        traverses,
    )
    .starts(&["/", "/../../../../tmp/hostile-out", "/%2e%2e/%2e%2e/tmp/hostile-out"]),
    HostileKind::new(
        "cookies",
        "sets 200 cookies for every domain there is",
        "none of them reaches another host",
        sets_cookies,
    )
    .starts(&["/", "/more"])
    .fetches(&["/", "/more"]),
    HostileKind::new(
        "links",
        "Link headers to 200 pages and to what robots.txt forbids",
        "forbidden ones are not requested; limit per host",
        link_headers,
    )
    .requests(HOST_SHARE),
    HostileKind::new(
        "refreshes",
        "Refresh header to itself and onwards for ever",
        "as links or hops; limit per host",
        refreshes,
    )
    .requests(HOST_SHARE),
    HostileKind::new("names1k", "a header name of 30 KB", "tolerated or refused", long_name)
        .may_fail(TOO_BIG),
];

const HTML: &str = "Content-Type: text/html";

fn long_line(_: &HostileRequest) -> WireScript {
    WireScript::answer("200 OK", &[&format!("X-Long: {}", "y".repeat(1 << 20))], "<p>long</p>")
}

fn many(_: &HostileRequest) -> WireScript {
    let lines: Vec<String> = (0..10_000).map(|n| format!("Link: </l/{n}>; rel=next")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    WireScript::answer("200 OK", &lines, "<p>many</p>")
}

fn endless(_: &HostileRequest) -> WireScript {
    WireScript::raw(&b"HTTP/1.1 200 OK\r\n"[..])
        .repeat("X-More: and more\r\n".repeat(100).into_bytes(), std::time::Duration::ZERO)
}

fn odd_bytes(request: &HostileRequest) -> WireScript {
    let line: &[u8] = match request.number() {
        0 => b"X-Nul: a\0b",
        1 => b"X-Control: \x01\x02\x1b[31mred\x7f",
        2 => b"X-Feed: a\nX-Other: b",
        3 => b"X-Fold: a\r\n  folded",
        4 => b"no colon at all",
        5 => b"X-Latin: caf\xe9",
        _ => b" : nothing before the colon",
    };
    let body = document(&format!("odd bytes {}", request.target), ["/0"]);
    let length = format!("\r\nContent-Length: {}\r\n\r\n", body.len());
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    WireScript::raw([&head[..], line, length.as_bytes(), body.as_bytes()].concat())
}

fn dates(request: &HostileRequest) -> WireScript {
    let etag = format!("ETag: \"{}\"", "e".repeat(60_000));
    let headers: &[&str] = match request.number() {
        0 => {
            &["Date: Sat, 01 Jan 99999 00:00:00 GMT", "Last-Modified: Fri, 31 Dec -1 23:59:59 GMT"]
        }
        1 => &["Expires: never", "Cache-Control: max-age=99999999999999999999, max-age=-1, =,,"],
        2 => &[&etag],
        _ => &["Last-Modified: 31 Feb 2024 25:61:61", "Age: -5", "ETag: W/\"\x01"],
    };
    let body = document(&format!("dates {}", request.target), ["/0"]);
    WireScript::answer("200 OK", &[&[HTML], headers].concat(), body)
}

fn types(request: &HostileRequest) -> WireScript {
    let page = document(&format!("types {}", request.target), ["/0"]);
    let long = format!("Content-Type: text/html; charset={}", "x".repeat(10_000));
    let image = [b"\x89PNG\r\n\x1a\n".to_vec(), Noise::of("image").bytes(20_000)].concat();
    let pdf = [b"%PDF-1.7\n".to_vec(), Noise::of("pdf").bytes(100_000)].concat();
    match request.number() {
        0 => WireScript::answer("200 OK", &[], page),
        1 => WireScript::answer("200 OK", &[&long], page),
        2 => WireScript::answer("200 OK", &["Content-Type: image/png"], page),
        3 => WireScript::answer("200 OK", &[HTML], image),
        4 => WireScript::answer("200 OK", &["Content-Type: application/pdf"], pdf),
        _ => WireScript::answer("200 OK", &["Content-Type: ;;/=\"", "Content-Type: a/b"], page),
    }
}

/// A record as it would look in a WARC file.
fn record() -> String {
    format!(
        "\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://{FORGED_HOST}/\r\n\
         WARC-Date: 2020-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-\
         000000000000>\r\nContent-Type: application/http; msgtype=response\r\n\
         Content-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"
    )
}

fn forges_records(request: &HostileRequest) -> WireScript {
    match request.path() {
        "/body" => WireScript::answer("200 OK", &["Content-Type: text/plain"], record()),
        "/gz" => {
            let body = super::encoding::gzip(record().trim_start().as_bytes());
            WireScript::answer("200 OK", &["Content-Type: application/octet-stream"], body)
        }
        _ => {
            let reason = format!("200 OK WARC-Target-URI: http://{FORGED_HOST}/");
            let headers = [
                HTML,
                "WARC-Type: response",
                "WARC-Target-URI: http://forged.test/",
                if request.path() == "/cr" { "X-A: a\rWARC-Type: response" } else { "X-A: a" },
                "Location: /x%0d%0aWARC-Type:%20response%0d%0a",
            ];
            let links = ["/b%0aWARC-Type:%20response", "/c\u{2028}WARC-Type", "/d\tWARC-Type: e"];
            let body = document(&format!("forges {}", request.target), links);
            WireScript::answer(&reason, &headers, body)
        }
    }
}

fn traverses(request: &HostileRequest) -> WireScript {
    let disposition = "Content-Disposition: attachment; filename=\"../../../../tmp/hostile-out\"";
    let links =
        ["/..%2f..%2f..%2ftmp%2fhostile-out", "/a/%2e%2e/%2e%2e/b", "/c:\\windows\\d", "/con"];
    let body = document(&format!("traverses {}", request.target), links);
    WireScript::answer("200 OK", &[HTML, disposition], body)
}

fn sets_cookies(request: &HostileRequest) -> WireScript {
    let domains = ["test", "cookies.test", ".cookies.test", "good.test", "com", ""];
    let lines: Vec<String> = (0..200)
        .map(|n| format!("Set-Cookie: c{n}=from=cookies; Domain={}; Path=/", domains[n % 6]))
        .collect();
    let mut headers = vec![HTML];
    headers.extend(lines.iter().map(String::as_str));
    WireScript::answer("200 OK", &headers, document(&request.target, ["/"]))
}

fn link_headers(request: &HostileRequest) -> WireScript {
    let number = request.number();
    let lines: Vec<String> = (1..200)
        .map(|n| match n % 4 {
            0 => format!("Link: </private/{n}>; rel=\"next\""),
            1 => format!("Link: </page/{}>; rel=next", number + n),
            2 => format!("Link: <,;\">; rel=, </page/{n}>; rel=\"alternate stylesheet"),
            _ => "Link: <<<<>>>>;;;;,,,,".to_owned(),
        })
        .collect();
    let mut headers = vec![HTML];
    headers.extend(lines.iter().map(String::as_str));
    WireScript::answer("200 OK", &headers, document(&request.target, ["/"]))
}

fn refreshes(request: &HostileRequest) -> WireScript {
    let refresh = format!("Refresh: 0; url=/n/{}", request.number() + 1);
    WireScript::answer("200 OK", &[HTML, &refresh], document(&request.target, ["/"]))
}

fn long_name(_: &HostileRequest) -> WireScript {
    WireScript::answer("200 OK", &[HTML, &format!("{}: x", "N".repeat(30_000))], "<p>name</p>")
}
