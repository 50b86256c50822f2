//! Redirects that lead nowhere, in circles, or where nobody may go.

use crate::hostile::kind::{HostileKind, HostileRequest};
use crate::hostile::script::WireScript;

const PRIVATE_OR_NOTHING: &[&str] = &[
    "address_refused",
    "connect",
    "timeout",
    "scheme",
    "robots_unreachable",
    "bad_http",
    "closed",
];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new(
        "rcookie",
        "redirects to itself until a cookie comes back",
        "a loop, or a cookie that is kept for this host alone",
        until_cookie,
    ),
    HostileKind::new(
        "rfile",
        "redirects to file:, gopher:, ftp:, data: and javascript:",
        "the scheme is refused; nothing of the machine is in the archive",
        other_schemes,
    )
    .starts(&["/0", "/1", "/2", "/3", "/4", "/5", "/6"])
    .lacks(&["root:x:0:0"]),
    HostileKind::new(
        "rssh",
        "redirects to ports of this machine that are no web servers",
        "port refused or connection failed, classified",
        other_ports,
    )
    .starts(&["/0", "/1", "/2", "/3"])
    .may_fail(PRIVATE_OR_NOTHING),
    HostileKind::new(
        "rprivate",
        "redirects to private and metadata addresses",
        "refused without --allow-private, else classified",
        private,
    )
    .starts(&["/0", "/1", "/2"])
    .may_fail(PRIVATE_OR_NOTHING),
    HostileKind::new("rlong", "Location of 1 MB", "header or URL too long, classified", long)
        .fails(&["header_too_big"]),
    HostileKind::new("rself", "every page redirects to itself", "one or two requests", to_itself),
    HostileKind::new("rpair", "two pages redirect to each other", "a few requests", pair),
    HostileKind::new("rchain", "each redirect leads to the next, for ever", "few hops", chain),
    HostileKind::new(
        "rodd",
        "Location empty, missing, twice, with spaces, or no URL at all",
        "taken as browsers take it, or nothing is followed",
        odd,
    )
    .starts(&["/empty", "/missing", "/twice", "/spaces", "/nourl", "/schemeless", "/port"])
    .may_fail(&["bad_http", "connect", "robots_unreachable", "address_refused"]),
    HostileKind::new(
        "ruser",
        "redirects with a name and password in the URL",
        "they are neither sent nor kept",
        user,
    )
    .lacks(&["c2VjcmV0OnBhc3N3b3Jk"]),
    HostileKind::new(
        "rhuge",
        "redirects whose bodies are pages of 300 KB that link on",
        "the redirect counts; bounded",
        with_body,
    ),
];

fn until_cookie(request: &HostileRequest) -> WireScript {
    if request.head.to_ascii_lowercase().contains("\r\ncookie: from=rcookie") {
        return WireScript::page("behind the cookie", ["/"]);
    }
    WireScript::answer("302 Found", &["Location: /", "Set-Cookie: from=rcookie; Path=/"], "")
}

fn other_schemes(request: &HostileRequest) -> WireScript {
    let places = [
        "file:///etc/passwd",
        "file://localhost/etc/passwd",
        "gopher://127.0.0.1:70/1",
        "ftp://127.0.0.1/etc/passwd",
        "data:text/html,<a href=/x>x</a>",
        "javascript:location='/x'",
        "view-source:file:///etc/passwd",
    ];
    WireScript::moved(places[request.number() as usize % places.len()])
}

fn other_ports(request: &HostileRequest) -> WireScript {
    let ports = [22, 25, 6_379, 11_211];
    WireScript::moved(&format!("http://127.0.0.1:{}/", ports[request.number() as usize % 4]))
}

fn private(request: &HostileRequest) -> WireScript {
    let places = ["http://127.0.0.9:9/", "http://[::1]:9/", "http://[::ffff:7f00:9]:9/latest/"];
    WireScript::moved(places[request.number() as usize % 3])
}

fn long(_: &HostileRequest) -> WireScript {
    WireScript::moved(&format!("/{}", "long".repeat(256 << 10)))
}

fn to_itself(request: &HostileRequest) -> WireScript {
    WireScript::moved(&request.target)
}

fn pair(request: &HostileRequest) -> WireScript {
    WireScript::moved(if request.path() == "/" { "/other" } else { "/" })
}

fn chain(request: &HostileRequest) -> WireScript {
    WireScript::moved(&format!("/hop/{}", request.number() + 1))
}

fn odd(request: &HostileRequest) -> WireScript {
    let moved = |headers: &[&str]| WireScript::answer("301 Moved Permanently", headers, "");
    match request.path() {
        "/empty" => moved(&["Location:"]),
        "/missing" => moved(&[]),
        "/twice" => moved(&["Location: /a", "Location: /b"]),
        "/spaces" => moved(&["Location:   /a b c  "]),
        "/nourl" => moved(&["Location: http://[::not an address]:x/"]),
        "/schemeless" => moved(&["Location: //"]),
        "/port" => moved(&["Location: http://127.0.0.1:0/"]),
        _ => WireScript::page(&format!("odd {}", request.target), ["/empty"]),
    }
}

fn user(request: &HostileRequest) -> WireScript {
    match request.path() {
        "/in" => WireScript::page("let in", ["/"]),
        _ => {
            let authority = request.origin().split_off("http://".len());
            WireScript::moved(&format!("http://secret:password@{authority}/in"))
        }
    }
}

fn with_body(request: &HostileRequest) -> WireScript {
    let number = request.number();
    let links: String =
        (0..2_000).map(|n| format!("<a href=\"/body/{number}/{n}\">on</a>\n")).collect();
    let filler = "words that fill a page ".repeat(10_000);
    let location = format!("Location: /next/{}", number + 1);
    WireScript::answer("302 Found", &["Content-Type: text/html", &location], links + &filler)
}
