//! One capture of every kind the web gives us.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rhumb_archive::{
    Capture, Original, Packed, Packer, Profile, RecordContent, RecordReader, WarcTruncation,
    WarcWriter, Warcinfo, WriterLimits,
};
use rhumb_page::url::Url;
use tempfile::TempDir;

pub const START_US: u64 = 1_763_240_820_123_456;
const SECOND_US: u64 = 1_000_000;

/// A URL and what its server answered.
pub struct Page {
    pub url: Url,
    pub response: Vec<u8>,
    pub truncated: Option<WarcTruncation>,
}

pub fn page(url: &str, response: impl Into<Vec<u8>>) -> Page {
    Page { url: Url::parse(url).unwrap(), response: response.into(), truncated: None }
}

pub fn html(url: &str, body: &str) -> Page {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length:";
    page(url, format!("{head} {}\r\n\r\n{body}", body.len()))
}

pub fn every_kind() -> Vec<Page> {
    let binary: Vec<u8> = (0..70_000u64).map(|n| ((n * n) >> 7) as u8).collect();
    vec![
        html("http://example.com/", "<p>Hello, <a href=\"/two\">world</a>"),
        page(
            "http://example.com/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /no\n",
        ),
        page(
            "https://www.example.com/chunked?b=2&a=1",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nHello\r\n7\r\n, world\r\n0\r\n\r\n",
        ),
        page(
            "http://example.com/trailers",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n",
        ),
        page(
            "http://example.com/broken-chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nHello",
        ),
        page("http://example.com/gzip", encoded("Content-Encoding: gzip\r\n", &gzip(b"<p>packed"))),
        page(
            "http://example.com/both",
            [
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
                    .as_slice(),
                &chunked(&gzip(b"<p>both")),
            ]
            .concat(),
        ),
        page("http://example.com/empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        page("http://example.com/304", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"),
        page(
            "http://example.com/moved",
            "HTTP/1.1 301 Moved Permanently\r\nLocation: /there\r\nContent-Type: \r\n\r\nmoved",
        ),
        page(
            "http://example.com/gone",
            "HTTP/1.1 404 Not Found\r\ncontent-type:TEXT/HTML;charset=x\r\n\r\n<h1>404",
        ),
        page(
            "http://example.com/odd",
            "HTTP/1.1 200 Fine thank you\r\nx-oDD : \u{e9}\r\nCONTENT-type:\ttext/html ; a=b\r\nfolded: a\r\n b\r\nnothing\r\n\r\n\r\n\r\n",
        ),
        page(
            "http://example.com/bare-lf",
            "HTTP/1.0 200 OK\nContent-Type: text/html\n\n<p>\r\n\r\nold",
        ),
        page("http://example.com/binary", encoded("Content-Type: image/x-\u{ff}\r\n", &binary)),
        page(
            "http://example.com/%E2%82%AC?q=%22%20%5C&Z=A",
            "HTTP/1.1 200 OK\r\nContent-Type: text/\"html\"\r\n\r\n\u{20ac}",
        ),
        page("http://[::1]:8080/x", "HTTP/1.1 200 OK\r\n\r\n"),
        page("http://example.com/no-head-end", "HTTP/1.1 200 OK\r\nContent-Type: text/html"),
        page("http://example.com/not-http", "ICY\r\nno: way\r\n\r\nradio"),
        Page {
            truncated: Some(WarcTruncation::Length),
            ..html("http://example.com/long", "<p>cut he")
        },
        Page {
            truncated: Some(WarcTruncation::Disconnect),
            ..page(
                "http://example.com/lost",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHel",
            )
        },
    ]
}

/// Packs a page as fetched so many seconds after the start.
pub fn packed(page: &Page, second: u64) -> Packed {
    with_capture(page, second, |packer, capture| packer.capture(capture))
}

/// Packs a page fetched once more, unchanged since `first_second`.
pub fn revisited(page: &Page, first_second: u64, second: u64, profile: Profile) -> Packed {
    let payload_digest = packed(page, first_second).payload_digest;
    let fetched_us = START_US + first_second * SECOND_US;
    let original = Original { url: &page.url, fetched_us, payload_digest };
    with_capture(page, second, |packer, capture| packer.revisit(capture, &original, profile))
}

fn with_capture(
    page: &Page,
    second: u64,
    pack: impl Fn(&mut Packer, &Capture<'_>) -> Packed,
) -> Packed {
    let host = page.url.host();
    let target = page.url.path_and_query();
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: rhumb\r\n\r\n");
    let capture = Capture {
        protocol: None,
        resource_type: None,
        url: &page.url,
        fetched_us: START_US + second * SECOND_US,
        address: Some([192, 0, 2, 7].into()),
        content: RecordContent::Http { request: request.as_bytes(), response: &page.response },
        truncated: page.truncated,
        notes: &[("fetchTimeMs", "12"), ("oddities", "a\r\nWARC/1.1\r\nb: c")],
    };
    pack(&mut Packer::default(), &capture)
}

pub fn resource(url: &str, mime: &str, bytes: &[u8], second: u64) -> Packed {
    Packer::default().capture(&Capture {
        protocol: None,
        resource_type: None,
        url: &Url::parse(url).unwrap(),
        fetched_us: START_US + second * SECOND_US,
        address: None,
        content: RecordContent::Resource { mime, bytes },
        truncated: None,
        notes: &[],
    })
}

/// A directory in memory where the system has one: these tests sync thousands of times.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { TempDir::new_in(memory).unwrap() } else { TempDir::new().unwrap() }
}

pub fn open(dir: &Path, limits: WriterLimits) -> WarcWriter {
    let info = Warcinfo {
        id: "test".into(),
        software: "rhumb/test".into(),
        user_agent: "rhumb".into(),
        robots: "obey".into(),
        fields: vec![("description".into(), "a test".into())],
    };
    WarcWriter::open(dir, info, limits, None).unwrap()
}

pub fn warc_paths(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir.join("warc")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Offset, kind and target of every record of a file.
pub fn records(path: &Path) -> Vec<(u64, String, Option<String>)> {
    let reader = RecordReader::open(path).unwrap();
    let records = reader.map(|record| record.unwrap());
    records.map(|r| (r.offset, r.kind().to_string(), r.target().map(String::from))).collect()
}

fn encoded(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [latin1(&head).as_slice(), body].concat()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    for chunk in body.chunks(7) {
        framed.extend(format!("{:x}\r\n", chunk.len()).bytes());
        framed.extend(chunk);
        framed.extend(b"\r\n");
    }
    framed.extend(b"0\r\n\r\n");
    framed
}
