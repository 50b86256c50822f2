//! Honest sites with odd habits, as they are met: each of their pages is to be had.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};

use crate::hostile::kind::{FEW, HostileKind, HostileRequest};
use crate::hostile::kinds::encoding::gzip;
use crate::hostile::script::{WireScript, document};

const ALL: &str = "every page is fetched";
const FIVE: &[&str] = &["/", "/p/0", "/p/1", "/p/2", "/p/3", "/p/4"];

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("hangsup", "closes after each answer without a word", ALL, hangs_up)
        .fetches(FIVE),
    HostileKind::new("nolength", "HTTP/1.0, a body as long as the connection", ALL, no_length)
        .fetches(FIVE),
    HostileKind::new(
        "places",
        "Location with spaces, in UTF-8, relative, with dots, without host",
        "taken as browsers take it",
        places,
    )
    .fetches(&["/a%20b", "/caf%C3%A9", "/dot/x", "/q?z=1", "/two"]),
    HostileKind::new(
        "codings",
        "content codings in capitals, unknown, untrue, and deflate of both kinds",
        "decoded as browsers do; the links of each page are followed",
        codings,
    )
    .starts(&["/c/0", "/c/1", "/c/2", "/c/3", "/c/4", "/c/5"])
    .fetches(&["/l/0", "/l/1", "/l/2", "/l/3", "/l/4", "/l/5"]),
    HostileKind::new(
        "wide",
        "UTF-16 by a byte order mark, by the header, and by neither",
        "decoded as browsers do; the links of the first two are followed",
        wide,
    )
    .starts(&["/w/0", "/w/1", "/w/2"])
    .fetches(&["/l/0", "/l/1", "/w/2"]),
    HostileKind::new(
        "bases",
        "two base elements, the second elsewhere; a base behind links; one that is no URL",
        "the first that is a URL counts, for all links",
        bases,
    )
    .starts(&["/", "/late", "/bad"])
    .fetches(&["/sub/x", "/deep/y", "/z"]),
    HostileKind::new(
        "untyped",
        "pages without a type, as a stream of bytes, with a type in capitals",
        ALL,
        untyped,
    )
    .starts(&["/t/0", "/t/1", "/t/2"])
    .fetches(&["/l/0", "/l/1", "/l/2"]),
    HostileKind::new(
        "listed",
        "a path for a sitemap, which begins with a BOM and blank lines and is called HTML",
        "what it lists is fetched",
        leaf,
    )
    .robots(|_| WireScript::text("User-agent: *\nDisallow: /private/\nSITEMAP:/sitemap-one"))
    .sitemap(odd_sitemap)
    .fetches(&["/", "/only-listed"]),
    HostileKind::new("rbbig", "robots.txt of 5 MB, another rule for us at its end", ALL, leaf)
        .robots(|_| {
            let filler = "# and so on, and so on, and so on\n".repeat(150_000);
            WireScript::text(format!(
                "User-agent: *\nDisallow: /private/\n{filler}User-agent: rhumb\nDisallow: /\n"
            ))
        })
        .fetches(&["/"]),
    HostileKind::new("rbnone", "robots.txt: 204, no content", ALL, leaf)
        .robots(|_| WireScript::head("204 No Content", &[]))
        .requests(FEW)
        .fetches(&["/"]),
];

/// A front page with five pages.
fn five(request: &HostileRequest) -> String {
    let links = (0..5).map(|n| format!("/p/{n}"));
    let links: Vec<String> = if request.path() == "/" { links.collect() } else { Vec::new() };
    document(&format!("page {} of {}", request.path(), request.host), links)
}

fn leaf(request: &HostileRequest) -> WireScript {
    let none: [&str; 0] = [];
    WireScript::page(&format!("page {} of {}", request.target, request.host), none)
}

/// A page that links to one with its number, which must then be asked for.
fn with_leaf(request: &HostileRequest) -> String {
    let title = format!("page {} of {}", request.path(), request.host);
    document(&title, [format!("/l/{}", request.number())])
}

fn hangs_up(request: &HostileRequest) -> WireScript {
    let headers = ["Content-Type: text/html", "Connection: keep-alive", "Keep-Alive: timeout=5"];
    WireScript::answer("200 OK", &headers, five(request)).close()
}

fn no_length(request: &HostileRequest) -> WireScript {
    WireScript::raw(&b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"[..])
        .send(five(request).into_bytes())
        .close()
}

fn places(request: &HostileRequest) -> WireScript {
    let host = format!("{}:{}", request.host, request.port);
    let places =
        ["/a b", "/caf\u{e9}", "../dot/./x", "q?z=1", &format!("//{host}/two")].map(str::to_owned);
    match request.path().strip_prefix("/to") {
        Some(_) => WireScript::moved(&places[request.number() as usize % places.len()]),
        None if request.path() == "/" => {
            let links = (0..places.len()).map(|n| format!("/to{n}"));
            WireScript::page("places", links)
        }
        None => leaf(request),
    }
}

fn codings(request: &HostileRequest) -> WireScript {
    if request.path().starts_with("/l/") {
        return leaf(request);
    }
    let page = with_leaf(request).into_bytes();
    // Writing to memory does not fail.
    let zlib = || {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&page).and_then(|()| packed.finish()).expect("memory takes all")
    };
    let bare = || {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&page).and_then(|()| packed.finish()).expect("memory takes all")
    };
    let (coding, body) = match request.number() {
        0 => ("GZIP", gzip(&page)),
        1 => ("UTF-8", page),
        2 => ("gzip", page),
        3 => ("deflate", zlib()),
        4 => ("deflate", bare()),
        _ => ("x-gzip", gzip(&page)),
    };
    let coding = format!("Content-Encoding: {coding}");
    WireScript::answer("200 OK", &["Content-Type: text/html", &coding], body)
}

fn wide(request: &HostileRequest) -> WireScript {
    if request.path().starts_with("/l/") {
        return leaf(request);
    }
    let page = with_leaf(request);
    let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    let little = |text: &str| units(text).into_iter().flat_map(u16::to_le_bytes).collect();
    let big = |text: &str| units(text).into_iter().flat_map(u16::to_be_bytes).collect();
    let (kind, body): (&str, Vec<u8>) = match request.number() {
        0 => ("text/html", little(&format!("\u{feff}{page}"))),
        1 => ("text/html; charset=utf-16be", big(&page)),
        _ => ("text/html", little(&page)),
    };
    WireScript::answer("200 OK", &[&format!("Content-Type: {kind}")], body)
}

fn bases(request: &HostileRequest) -> WireScript {
    WireScript::html(match request.path() {
        "/" => "<base href=/sub/><base href=http://other.test/><p>two bases</p><a href=x>x</a>",
        "/late" => "<a href=y>y</a><base href=' /deep/ '><p>a late base</p>",
        "/bad" => "<base href='http:///'><p>a base that is none</p><a href=z>z</a>",
        _ => return leaf(request),
    })
}

fn untyped(request: &HostileRequest) -> WireScript {
    if request.path().starts_with("/l/") {
        return leaf(request);
    }
    let headers: &[&str] = match request.number() {
        0 => &[],
        1 => &["Content-Type: application/octet-stream"],
        _ => &["Content-Type: TEXT/HTML ;charset=\"utf-8\";;"],
    };
    WireScript::answer("200 OK", headers, with_leaf(request))
}

fn odd_sitemap(request: &HostileRequest) -> WireScript {
    WireScript::html(format!(
        "\u{feff}\r\n\r\n<?xml version=\"1.0\"?>\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <url><loc>{}/only-listed</loc></url></urlset>",
        request.origin()
    ))
}
