//! The dashboard as a browser meets it: the real binary, a real crawl of a small site on loopback,
//! and requests over sockets, honest and hostile.

mod binary;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

const PAGES: [&str; 10] = [
    "/",
    "/speed",
    "/frontier",
    "/hosts",
    "/host",
    "/url",
    "/duplicates",
    "/web",
    "/freshness",
    "/what-if",
];

/// A path that would end a script and an attribute, were it not escaped.
const HOSTILE: &str = "/x?q=%3C/script%3E%22%27%3Cimg%20src=x%20onerror=alert(1)%3E";

#[test]
fn every_page_answers_with_and_without_json_and_its_figures_are_the_reports() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let report: Value =
        serde_json::from_slice(&std::fs::read(crawl.dir.join("report.json")).unwrap()).unwrap();
    for path in PAGES {
        let (status, head, body) = dashboard.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(body.contains("<h1>") && body.contains("</html>"), "{path}: {body}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        assert!(!body.contains("<style") && !body.contains(" style="), "{path}");
        let data = if path == "/" { "/index.json".to_owned() } else { format!("{path}.json") };
        if !matches!(path, "/host" | "/url") {
            let (status, head, body) = dashboard.get(&data);
            assert!(status == 200 && head.contains("application/json"), "{data}: {head} {body}");
            assert!(serde_json::from_str::<Value>(&body).unwrap().is_object(), "{data}: {body}");
        }
    }
    let overview: Value = serde_json::from_str(&dashboard.get("/index.json").2).unwrap();
    for figure in ["pages", "bytes", "known_urls", "gone", "exact_duplicates", "hosts"] {
        assert_eq!(overview[figure], report[figure], "{figure}");
    }
    let pages = report["pages"].as_u64().unwrap();
    assert!(pages >= 4, "{report}");
    let shown = format!("<dd data-live=\"pages\">{pages}</dd>");
    assert!(dashboard.get("/").2.contains(&shown), "{shown}");
}

#[test]
fn what_strangers_wrote_is_text_and_nothing_else() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let origin = &crawl.origin;
    let url = encoded(&format!("{origin}{HOSTILE}"));
    let typed = encoded("</script><script>alert(1)</script>\u{202e}");
    for path in [
        format!("/url?url={url}"),
        format!("/url?url={typed}"),
        format!("/host?key={typed}"),
        format!("/host?key={}", encoded(origin)),
        format!("/what-if?exclude={typed}"),
        "/duplicates".to_owned(),
    ] {
        let (_, _, body) = dashboard.get(&path);
        assert!(!body.contains("<img") && !body.contains("<script>"), "{path}: {body}");
    }
    let (status, _, body) = dashboard.get(&format!("/url?url={}", "a".repeat(8000)));
    assert_eq!(status, 400, "{body}");
}

#[test]
fn what_an_exclusion_would_refuse_is_counted_and_nothing_is_changed() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let before = std::fs::read(crawl.dir.join("crawl.toml")).unwrap();
    let path = format!("/what-if.json?exclude={}&delay=0.5", encoded("/copy"));
    let tried: Value = serde_json::from_str(&dashboard.get(&path).2).unwrap();
    assert_eq!(tried["fetched_matched"], 1, "{tried}");
    assert_eq!(tried["delay_s"], 0.5);
    let wrong: Value =
        serde_json::from_str(&dashboard.get(&format!("/what-if.json?exclude={}", encoded("("))).2)
            .unwrap();
    assert!(wrong["mistake"].as_str().is_some_and(|m| m.contains("unclosed")), "{wrong}");
    assert_eq!(dashboard.get("/what-if.json?delay=soon").0, 400);
    assert_eq!(before, std::fs::read(crawl.dir.join("crawl.toml")).unwrap());
}

#[test]
fn other_names_other_origins_other_methods_and_huge_requests_are_refused() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let port = dashboard.addr.port();
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let status = |request: &str| dashboard.ask(request).0;
    assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n")), 421);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")), 200);
    let foreign = "Origin: http://evil.example\r\n";
    assert_eq!(status(&format!("GET /index.json HTTP/1.1\r\n{host}{foreign}\r\n")), 403);
    let embedded = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert_eq!(status(&format!("GET /index.json HTTP/1.1\r\n{host}{embedded}\r\n")), 403);
    let followed = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_eq!(status(&format!("GET / HTTP/1.1\r\n{host}{followed}\r\n")), 200);
    assert_eq!(status(&format!("POST / HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n")), 405);
    assert_eq!(status(&format!("GET /nowhere HTTP/1.1\r\n{host}\r\n")), 404);
    let huge = format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "a".repeat(1 << 20));
    assert!(matches!(status(&huge), 431 | 0), "a head of 1 MiB is not read to its end");
    assert_eq!(dashboard.get("/").0, 200);
}

#[test]
fn another_address_asks_for_the_token_and_moves_it_into_a_cookie() {
    let crawl = Crawl::finished();
    let token = "0123456789abcdef-secret";
    let file = crawl.dir.join("token");
    std::fs::write(&file, format!("{token}\n")).unwrap();
    let file = file.to_str().unwrap();
    let dashboard =
        Dashboard::listening(&crawl.dir, &["--listen", "127.0.0.1:0", "--dashboard-token", file]);
    assert_eq!(dashboard.get("/").0, 401);
    assert_eq!(dashboard.get("/?token=0123456789abcdef-wrong0").0, 401);
    let (status, head, _) = dashboard.get(&format!("/?token={token}"));
    assert!(status == 303 && head.contains("HttpOnly; SameSite=Strict"), "{head}");
    let port = dashboard.addr.port();
    let cookie = format!("Cookie: a=b; rhumb_token={token}\r\n");
    let asked = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n");
    assert_eq!(dashboard.ask(&asked).0, 200);
    let refused = run(&["dashboard", crawl.dir.to_str().unwrap(), "--listen", "0.0.0.0:0"]);
    assert!(refused.0 == 2 && refused.1.contains("--dashboard-token"), "{refused:?}");
}

#[test]
fn a_port_in_use_and_a_directory_without_a_crawl_are_named() {
    let crawl = Crawl::finished();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let (code, error) = run(&["dashboard", crawl.dir.to_str().unwrap(), "--listen", &addr]);
    assert!(code == 1 && error.contains("is in use by another program"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let (code, error) = run(&["dashboard", empty.path().to_str().unwrap()]);
    assert!(code == 1 && error.contains("holds no crawl"), "{error}");
}

#[test]
fn events_bring_the_figures_and_a_viewer_that_reads_nothing_holds_nobody_up() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let port = dashboard.addr.port();
    let request = format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let silent: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(dashboard.addr).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut lines = BufReader::new(silent[0].try_clone().unwrap()).lines();
    let data = lines.find_map(|line| Some(line.unwrap().strip_prefix("data: ")?.to_owned()));
    let now: Value = serde_json::from_str(&data.unwrap()).unwrap();
    assert!(now["running"] == false && now["pages"].is_string(), "{now}");
    assert_eq!(dashboard.get("/speed").0, 200);
}

#[test]
fn a_running_crawl_shows_itself_and_the_address_is_gone_with_it() {
    let site = Site::serve();
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(binary::rhumb())
        .args(["crawl", &format!("{}/", site.origin), "--allow-private", "--dashboard", "auto"])
        .args(["--delay", "0", "--delay-factor", "0", "--continuous", "--dir"])
        .arg(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = lines.find_map(|line| Some(line.unwrap().strip_prefix("dashboard: ")?.to_owned()));
    let addr = address(&line.unwrap());
    thread::spawn(move || lines.for_each(drop));
    let dashboard = Dashboard { child: None, addr };
    // The store is made when the crawl begins, a moment after the address is there.
    let mut seen = Value::Null;
    while seen["pages"].as_u64().unwrap_or(0) < 4 {
        seen = serde_json::from_str(&dashboard.get("/index.json").2).unwrap_or_default();
        thread::yield_now();
    }
    assert_eq!(seen["running"], true);
    assert_eq!(dashboard.get("/frontier").0, 200);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(TcpStream::connect(addr).is_err());
}

fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(binary::rhumb()).args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Of a line that names `http://127.0.0.1:1234/…`.
fn address(line: &str) -> SocketAddr {
    let rest = line.trim().strip_prefix("http://").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

/// A directory that a crawl of the site has left.
struct Crawl {
    dir: PathBuf,
    origin: String,
    _scratch: tempfile::TempDir,
}

impl Crawl {
    fn finished() -> Crawl {
        let site = Site::serve();
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("crawl");
        let output = Command::new(binary::rhumb())
            .args(["--quiet", "crawl", &format!("{}/", site.origin), "--allow-private", "--dir"])
            .arg(&dir)
            .args(["--delay", "0", "--delay-factor", "0"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Crawl { dir, origin: site.origin, _scratch: scratch }
    }
}

/// `rhumb dashboard`, ended when dropped.
struct Dashboard {
    child: Option<Child>,
    addr: SocketAddr,
}

impl Dashboard {
    fn of(dir: &Path) -> Dashboard {
        Dashboard::listening(dir, &[])
    }

    fn listening(dir: &Path, arguments: &[&str]) -> Dashboard {
        let mut child = Command::new(binary::rhumb())
            .args(["--quiet", "dashboard"])
            .arg(dir)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Dashboard { child: Some(child), addr: address(&line) }
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        let host = format!("127.0.0.1:{}", self.addr.port());
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    /// Status, head and body of the answer; a status of 0 if the connection was closed.
    fn ask(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.addr).unwrap();
        // A server that has read enough may close while this is written.
        let closing = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        let _ = stream.write_all(closing.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (
            status,
            head.to_ascii_lowercase()
                .replace("httponly; samesite=strict", "HttpOnly; SameSite=Strict"),
            body.to_owned(),
        )
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Four pages, of which one is a copy and one has a hostile name, served until the test ends.
struct Site {
    origin: String,
}

impl Site {
    fn serve() -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || answer(stream));
            }
        });
        Site { origin }
    }
}

fn answer(mut stream: TcpStream) {
    let Ok(reading) = stream.try_clone() else { return };
    let mut lines = BufReader::new(reading).lines();
    while let Some(Ok(line)) = lines.next() {
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        for line in lines.by_ref() {
            if line.is_ok_and(|line| line.is_empty()) {
                break;
            }
        }
        let text = "The sea rises and falls twice a day, drawn by the moon.".repeat(20);
        let (status, body) = match path.as_str() {
            "/" => (
                "200 OK",
                format!("<a href='/a'>a</a><a href='/copy'>b</a><a href=\"{HOSTILE}\">c</a>"),
            ),
            "/a" | "/copy" => ("200 OK", format!("<p>{text}</p>")),
            path if path.starts_with("/x") => ("200 OK", "<title></script><b></title>x".to_owned()),
            _ => ("404 Not Found", String::new()),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n"
        );
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}
