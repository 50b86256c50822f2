//! The site that the fixtures were crawled from: always the same, at a fixed address, so that a
//! crawl taken up years later finds what it left. Never change what it answers: make another.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const PORT: u16 = 28417;
/// The site itself, one with more pages than are asked for, and one that is out of scope.
pub const MAIN: Ipv4Addr = Ipv4Addr::new(127, 83, 19, 7);
pub const LARGE: Ipv4Addr = Ipv4Addr::new(127, 83, 19, 8);
pub const OUTSIDE: Ipv4Addr = Ipv4Addr::new(127, 83, 19, 9);

/// Pages of the site itself, in a tree, and those that its sitemap alone names.
pub const PAGES: usize = 60;
pub const LISTED: usize = 5;
/// Links of the large site's only page with links.
pub const LARGE_PAGES: usize = 120;
/// A chain of pages, one link each.
pub const DEEP: usize = 12;

/// Another program may have the addresses, such as this test in another directory.
const BIND_WAIT: Duration = Duration::from_millis(50);
const BIND_TIME_MAX: Duration = Duration::from_secs(120);

pub fn url(host: Ipv4Addr, path: &str) -> String {
    format!("http://{host}:{PORT}{path}")
}

/// Answers until the process ends.
pub struct Site {
    answers: Arc<AtomicUsize>,
    requested: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Pages have this version: those under /page/ change with it.
    pub fn serve(version: Arc<AtomicUsize>) -> Site {
        let site = Site { answers: Arc::default(), requested: Arc::default() };
        for host in [MAIN, LARGE] {
            let listener = bind(host);
            let (answers, requested) = (Arc::clone(&site.answers), Arc::clone(&site.requested));
            let version = Arc::clone(&version);
            std::thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let (answers, requested) = (Arc::clone(&answers), Arc::clone(&requested));
                    let version = Arc::clone(&version);
                    let note = move |path: &str| {
                        answers.fetch_add(1, Ordering::Relaxed);
                        requested.lock().unwrap().push(url(host, path));
                        version.load(Ordering::Relaxed)
                    };
                    std::thread::spawn(move || serve(stream, host, &note));
                }
            });
        }
        site
    }

    pub fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }

    /// All URLs that were asked for since the last call.
    pub fn take_requested(&self) -> Vec<String> {
        std::mem::take(&mut *self.requested.lock().unwrap())
    }
}

/// What a crawl by the settings of the fixtures must hold at its end.
pub fn pages_to_keep() -> BTreeSet<String> {
    let mut pages: BTreeSet<String> =
        (0..PAGES).map(|n| url(MAIN, &format!("/page/{n}"))).collect();
    pages.extend((0..LISTED).map(|n| url(MAIN, &format!("/listed/{n}"))));
    pages.extend(["/", "/copy", "/near", "/private/open"].map(|path| url(MAIN, path)));
    pages.insert(url(LARGE, "/"));
    pages
}

fn bind(host: Ipv4Addr) -> TcpListener {
    let began = Instant::now();
    loop {
        match TcpListener::bind((host, PORT)) {
            Ok(listener) => return listener,
            Err(e) => assert!(began.elapsed() < BIND_TIME_MAX, "{host}:{PORT}: {e}"),
        }
        std::thread::sleep(BIND_WAIT);
    }
}

fn serve(mut stream: TcpStream, host: Ipv4Addr, note: &impl Fn(&str) -> usize) {
    let Ok(copy) = stream.try_clone() else { return };
    let mut lines = BufReader::new(copy).lines().map_while(Result::ok);
    while let Some(request) = lines.next() {
        let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
        lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
        let version = note(&path);
        let (status, header, body) = match host == MAIN {
            true => main(&path, version),
            false => large(&path),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{header}\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

type Answer = (&'static str, String, String);

fn html(body: String) -> Answer {
    ("200 OK", "Content-Type: text/html".into(), body)
}

fn not_found() -> Answer {
    ("404 Not Found", "Content-Type: text/html".into(), String::new())
}

fn main(path: &str, version: usize) -> Answer {
    let (kind, number) = path.rsplit_once('/').unwrap_or_default();
    let number = number.parse::<usize>();
    match (path, kind, number) {
        ("/robots.txt", ..) => {
            let sitemap = url(MAIN, "/sitemap.xml");
            let body = format!(
                "User-agent: *\nAllow: /private/open\nDisallow: /private/\nSitemap: {sitemap}\n"
            );
            ("200 OK", "Content-Type: text/plain".into(), body)
        }
        ("/sitemap.xml", ..) => ("200 OK", "Content-Type: application/xml".into(), sitemap()),
        ("/", ..) => html(front()),
        ("/copy", ..) => html(page(3, 0)),
        ("/near", ..) => html(page(4, 0).replace("</p>", " nearly</p>")),
        ("/private/open", ..) => html(page(1_000, 0)),
        ("/moved", ..) => ("301 Moved Permanently", "Location: /page/5".into(), String::new()),
        ("/gone", ..) => ("410 Gone", "Content-Type: text/html".into(), String::new()),
        ("/error", ..) => ("500 Oh", "Content-Type: text/html".into(), String::new()),
        (_, "/hop", Ok(n)) => ("302 Found", format!("Location: /hop/{}", n + 1), String::new()),
        (_, "/deep", Ok(n)) if n < DEEP => html(format!("<a href=/deep/{}>{n}</a>", n + 1)),
        (_, "/page", Ok(n)) if n < PAGES => html(page(n, version)),
        (_, "/listed", Ok(n)) if n < LISTED => html(page(2_000 + n, 0)),
        _ => not_found(),
    }
}

/// A page whose links and text are the large site's, all of them.
fn large(path: &str) -> Answer {
    let number = path.strip_prefix("/many/").and_then(|n| n.parse::<usize>().ok());
    match (path, number) {
        ("/", _) => html((0..LARGE_PAGES).map(|n| format!("<a href=/many/{n}>{n}</a> ")).collect()),
        (_, Some(n)) if n < LARGE_PAGES => html(page(10_000 + n, 0)),
        _ => not_found(),
    }
}

fn front() -> String {
    let mut body = format!("<p>{}</p>", words(77, 40));
    let paths = [
        "/page/0",
        "/copy",
        "/near",
        "/private/a",
        "/private/open",
        "/filtered/a",
        "/moved",
        "/gone",
        "/missing",
        "/error",
        "/hop/0",
        "/deep/0",
        "/a/a/a/a/a/a/a",
        "/page/3",
    ];
    paths.iter().for_each(|path| write!(body, "<a href={path}>{path}</a> ").unwrap());
    write!(body, "<a href={}>out</a>", url(OUTSIDE, "/")).unwrap();
    body
}

/// Two links each, so that all are found.
fn page(n: usize, version: usize) -> String {
    let mut body = format!("<title>{n}</title><p>{}</p>", words(n, 80));
    if version > 0 && n.is_multiple_of(3) {
        write!(body, "<p>{}</p>", words(n + 100_000 * version, 30)).unwrap();
    }
    for next in [2 * n + 1, 2 * n + 2].into_iter().filter(|next| *next < PAGES) {
        write!(body, "<a href=/page/{next}>{next}</a> ").unwrap();
    }
    body
}

fn sitemap() -> String {
    let url = |n| {
        let at = url(MAIN, &format!("/listed/{n}"));
        format!("<url><loc>{at}</loc><lastmod>2026-01-0{}</lastmod></url>", n + 1)
    };
    let urls: String = (0..LISTED).map(url).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>")
}

/// Words that no other page has in this order.
fn words(page: usize, count: usize) -> String {
    let mut state = page as u64 + 1;
    let word = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("w{} ", (state >> 40) % 5_000)
    };
    (0..count).map(word).collect()
}
