//! What packing costs: compression by level, digests, and whole captures, on pages of 20 kB.
//! `cargo bench -p rhumb-archive`, with files to read as arguments or pages made here.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rhumb_archive::{
    Capture, LEVEL_DEFAULT, Packed, Packer, RecordContent, Sha1Digest, WarcWriter, Warcinfo,
    WriterLimits,
};
use rhumb_page::url::Url;

const PAGE_BYTES: usize = 20_000;
const PAGES: usize = 500;
const ROUNDS: usize = 7;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let pages = if files.is_empty() { made_pages() } else { pages_of(&files) };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages of {} bytes", pages.len(), bytes / pages.len());
    for level in [1, 2, 3, 4, 5, 6, 9] {
        let mut packer = Packer::new(level);
        let kept: usize = pack_all(&mut packer, &pages).iter().map(|one| one.bytes.len()).sum();
        let whole = seconds(&pages, |page| pack(&mut packer, page, 0, REQUEST, NOTES).bytes.len());
        let bare = seconds(&pages, |page| pack(&mut packer, page, 0, &[], &[]).bytes.len());
        let (each, bare) = (whole * 1e6 / PAGES as f64, bare * 1e6 / PAGES as f64);
        let (rate, ratio) = (bytes as f64 / whole / 1e6, bytes as f64 / kept as f64);
        println!(
            "level {level}: {rate:4.0} MB/s, ratio {ratio:.2}, {each:4.0} µs a capture \
             ({bare:4.0} without request and metadata)"
        );
    }
    let digests = seconds(&pages, |page| usize::from(Sha1Digest::of(page).0[0]));
    println!("SHA-1: {:.0} MB/s", bytes as f64 / digests / 1e6);
    append_all(&pack_all(&mut Packer::new(LEVEL_DEFAULT), &pages));
}

const REQUEST: &[u8] =
    b"GET /some/page?of=it HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: rhumb\r\n\r\n";
const NOTES: &[(&str, &str)] = &[("fetchTimeMs", "100")];

fn pack_all(packer: &mut Packer, pages: &[Vec<u8>]) -> Vec<Packed> {
    let numbered = pages.iter().enumerate();
    numbered.map(|(n, page)| pack(packer, page, n as u64, REQUEST, NOTES)).collect()
}

fn pack(
    packer: &mut Packer,
    response: &[u8],
    second: u64,
    request: &[u8],
    notes: &[(&'static str, &str)],
) -> Packed {
    packer.capture(&Capture {
        protocol: None,
        resource_type: None,
        url: &Url::parse("http://www.example.com/some/page?of=it").expect("a URL"),
        fetched_us: 1_763_240_820_000_000 + second * 1_000_000,
        address: Some([192, 0, 2, 1].into()),
        content: RecordContent::Http { request, response },
        truncated: None,
        notes,
    })
}

/// The time all pages take, each at its best of several rounds: on a busy machine the others'
/// work falls out.
fn seconds(pages: &[Vec<u8>], mut work: impl FnMut(&[u8]) -> usize) -> f64 {
    let mut best = |page: &Vec<u8>| {
        let mut round = || {
            let started = Instant::now();
            black_box(work(page));
            started.elapsed()
        };
        (0..ROUNDS).map(|_| round()).min().expect("there are rounds").as_secs_f64()
    };
    pages.iter().map(&mut best).sum()
}

fn append_all(packed: &[Packed]) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = open(dir.path());
    let started = Instant::now();
    for one in packed {
        writer.append(one).expect("space");
    }
    writer.flush().expect("space");
    let each = started.elapsed().as_secs_f64() * 1e6 / packed.len() as f64;
    println!("append and flush: {each:.1} µs a page");
}

fn open(dir: &Path) -> WarcWriter {
    WarcWriter::open(dir, Warcinfo::default(), WriterLimits::default(), None).expect("a directory")
}

/// Responses out of files: their bytes, 20 kB at a time.
fn pages_of(files: &[String]) -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).expect(file)).collect();
    bytes.chunks_exact(PAGE_BYTES).take(PAGES).map(response).collect::<Vec<_>>()
}

/// Markup with repeated structure and words drawn from a small vocabulary.
fn made_pages() -> Vec<Vec<u8>> {
    let mut seed = 1u64;
    let mut draw = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut made = || {
        let mut body = String::from("<!doctype html><title>a page</title><body>");
        while body.len() < PAGE_BYTES {
            let (n, length) = (draw(100_000), 5 + draw(60));
            body += &format!("<div class=\"item\"><a href=\"/page/{n}\">number {n}</a><p>");
            (0..length).for_each(|_| body += &format!("w{:x} ", draw(40) * draw(100)));
            body += "</p></div>\n";
        }
        response(&body.as_bytes()[..PAGE_BYTES])
    };
    (0..PAGES).map(|_| made()).collect()
}

fn response(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
