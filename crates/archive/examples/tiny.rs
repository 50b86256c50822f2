//! Makes an archive of five captures in the directory given, to be replayed: a page, a chunked and
//! compressed one, and revisits of them, under the same URL and under others.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rhumb_archive::{
    ArchiveError, Capture, Original, Packer, Profile, RecordContent, WarcWriter, Warcinfo,
    WriterLimits, write_index,
};
use rhumb_page::url::Url;

const FIRST_US: u64 = 1_763_240_820_000_000;
const DAY_US: u64 = 86_400_000_000;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";

fn main() {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: tiny DIR");
        std::process::exit(2);
    };
    if let Err(error) = write(Path::new(&dir)) {
        eprintln!("tiny: {error}");
        std::process::exit(1);
    }
}

fn write(dir: &Path) -> Result<(), ArchiveError> {
    let info = Warcinfo { software: "rhumb tiny example".into(), ..Warcinfo::default() };
    let mut writer = WarcWriter::open(dir, info, WriterLimits::default(), None)?;
    let mut packer = Packer::default();
    let home = Url::parse("http://example.com/").expect("a URL");
    let plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>Kept by rhumb</h1>";
    let first = packer.capture(&capture(&home, FIRST_US, plain));
    writer.append(&first)?;

    let coded_url = Url::parse("http://example.com/coded").expect("a URL");
    let coded_bytes = coded();
    let coded = packer.capture(&capture(&coded_url, FIRST_US, &coded_bytes));
    writer.append(&coded)?;

    let payload_digest = first.payload_digest;
    let original = Original { url: &home, fetched_us: FIRST_US, payload_digest };
    let again = capture(&home, FIRST_US + DAY_US, plain);
    writer.append(&packer.revisit(&again, &original, Profile::IdenticalPayload))?;
    let twin_url = Url::parse("http://example.org/twin").expect("a URL");
    let twin = capture(&twin_url, FIRST_US + DAY_US, plain);
    writer.append(&packer.revisit(&twin, &original, Profile::IdenticalPayload))?;

    let payload_digest = coded.payload_digest;
    let original = Original { url: &coded_url, fetched_us: FIRST_US, payload_digest };
    let coded_twin_url = Url::parse("http://example.org/coded-twin").expect("a URL");
    let twin = capture(&coded_twin_url, FIRST_US + DAY_US, &coded_bytes);
    writer.append(&packer.revisit(&twin, &original, Profile::IdenticalPayload))?;
    writer.sync()?;
    drop(writer);
    write_index(dir, 1 << 20)
}

fn capture<'a>(url: &'a Url, fetched_us: u64, response: &'a [u8]) -> Capture<'a> {
    let content = RecordContent::Http { request: REQUEST, response };
    Capture {
        protocol: None,
        resource_type: None,
        url,
        fetched_us,
        address: None,
        content,
        truncated: None,
        notes: &[],
    }
}

/// A body compressed, then sent in chunks.
fn coded() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"<h1>Kept in chunks</h1>").expect("writing to memory");
    let body = encoder.finish().expect("writing to memory");
    let mut response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in body.chunks(10) {
        response.extend(format!("{:x}\r\n", chunk.len()).bytes());
        response.extend(chunk);
        response.extend(b"\r\n");
    }
    response.extend(b"0\r\n\r\n");
    response
}
