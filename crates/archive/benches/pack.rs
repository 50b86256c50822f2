//! What packing costs: compression by level, digests, and whole captures, on pages of 20 kB.
//! `cargo bench -p rhumb-archive`, with files to read as arguments or pages made here.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rhumb_archive::{
    Capture, Content, LEVEL_DEFAULT, Limits, Packed, Packer, PayloadDigest, Warcinfo, Writer,
};
use rhumb_page::url::Url;

const PAGE_BYTES: usize = 20_000;
const PAGES: usize = 500;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let pages = if files.is_empty() { made_pages() } else { pages_of(&files) };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages of {} bytes", pages.len(), bytes / pages.len());
    for level in [1, 2, 3, 4, 5, 6, 9] {
        let (seconds, packed) = best_of_three(|| pack_all(&mut Packer::new(level), &pages));
        let kept: usize = packed.iter().map(|packed| packed.bytes.len()).sum();
        let (rate, ratio) = (bytes as f64 / seconds / 1e6, bytes as f64 / kept as f64);
        let each = seconds * 1e6 / pages.len() as f64;
        println!("capture, level {level}: {rate:6.0} MB/s, {each:5.0} µs a page, ratio {ratio:.2}");
    }
    let (seconds, _) = best_of_three(|| {
        pages.iter().for_each(|page| {
            black_box(PayloadDigest::of(page));
        });
    });
    println!("SHA-1: {:.0} MB/s", bytes as f64 / seconds / 1e6);
    append_all(&pack_all(&mut Packer::new(LEVEL_DEFAULT), &pages));
}

fn pack_all(packer: &mut Packer, pages: &[Vec<u8>]) -> Vec<Packed> {
    let url = Url::parse("http://www.example.com/some/page?of=it").expect("a URL");
    let request =
        b"GET /some/page?of=it HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: rhumb\r\n\r\n";
    let pack = |(second, response): (usize, &Vec<u8>)| {
        packer.capture(&Capture {
            url: &url,
            fetched_us: 1_763_240_820_000_000 + second as u64 * 1_000_000,
            address: Some([192, 0, 2, 1].into()),
            content: Content::Http { request, response },
            truncated: None,
            notes: &[("fetchTimeMs", "100")],
        })
    };
    pages.iter().enumerate().map(pack).collect()
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

fn open(dir: &Path) -> Writer {
    Writer::open(dir, Warcinfo::default(), Limits::default()).expect("a directory")
}

fn best_of_three<T>(work: impl Fn() -> T) -> (f64, T) {
    let run = |_| {
        let started = Instant::now();
        let result = work();
        (started.elapsed().as_secs_f64(), result)
    };
    (0..3).map(run).min_by(|a, b| a.0.total_cmp(&b.0)).expect("three runs")
}

/// Responses out of files: their bytes, 20 kB at a time.
fn pages_of(files: &[String]) -> Vec<Vec<u8>> {
    let bytes: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).expect(file)).collect();
    bytes.chunks_exact(PAGE_BYTES).take(PAGES).map(response).collect()
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
