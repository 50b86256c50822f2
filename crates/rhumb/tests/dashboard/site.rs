//! A small site on loopback, crawls of it, and dashboards of these.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::binary;

/// Every page of the menu, and one host.
pub const PAGES: [&str; 12] = [
    "/",
    "/speed",
    "/frontier",
    "/hosts",
    "/host",
    "/url",
    "/duplicates",
    "/web",
    "/freshness",
    "/search",
    "/what-if",
    "/hands",
];

/// A path that would end a script and an attribute, were it not escaped.
pub const HOSTILE: &str = "/x?q=%3C/script%3E%22%27%3Cimg%20src=x%20onerror=alert(1)%3E";

pub fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(binary::rhumb()).args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

pub fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Of a line that names `http://127.0.0.1:1234/…`.
fn address(line: &str) -> SocketAddr {
    let rest = line.trim().strip_prefix("http://").unwrap();
    rest.split('/').next().unwrap().parse().unwrap()
}

/// A directory that a crawl of the site has left.
pub struct Crawl {
    pub dir: PathBuf,
    pub origin: String,
    _scratch: tempfile::TempDir,
}

impl Crawl {
    pub fn finished() -> Crawl {
        Crawl::finished_with(&[])
    }

    pub fn finished_with(arguments: &[&str]) -> Crawl {
        let site = Site::serve();
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("crawl");
        let output = Command::new(binary::rhumb())
            .args(["--quiet", "crawl", &format!("{}/", site.origin), "--allow-private", "--dir"])
            .arg(&dir)
            .args(["--delay", "0", "--delay-factor", "0"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Crawl { dir, origin: site.origin, _scratch: scratch }
    }
}

/// `rhumb dashboard`, ended when dropped.
pub struct Dashboard {
    child: Option<Child>,
    pub addr: SocketAddr,
}

impl Dashboard {
    /// One that is served already, at the beginning of a URL.
    pub fn at(url: &str) -> Dashboard {
        Dashboard { child: None, addr: address(url) }
    }

    pub fn of(dir: &Path) -> Dashboard {
        Dashboard::listening(dir, &[])
    }

    pub fn listening(dir: &Path, arguments: &[&str]) -> Dashboard {
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

    pub fn get(&self, path: &str) -> (u16, String, String) {
        let host = format!("127.0.0.1:{}", self.addr.port());
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path).2).unwrap_or_default()
    }

    /// What a form that is sent is answered, from an origin.
    pub fn post(&self, origin: &str, body: &str) -> (u16, String, String) {
        let port = self.addr.port();
        self.ask(&format!(
            "POST /hands HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Content-Type: \
             application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// What its forms carry that no other has.
    pub fn secret(&self) -> String {
        let page = self.get("/hands").2;
        let rest = page.split("name=\"form\" value=\"").nth(1).expect("a form");
        rest.split('"').next().unwrap().to_owned()
    }

    /// Status, head and body of the answer; a status of 0 if the connection was closed.
    pub fn ask(&self, request: &str) -> (u16, String, String) {
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

/// A few pages: one is a copy, one nearly; one has a hostile name and title, one scripts.
pub struct Site {
    pub origin: String,
}

impl Site {
    pub fn serve() -> Site {
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

/// Whatever of it ran would say so.
const SCRIPTED: &str = "<title>Script</title><body onload=say()><p>Here is a page.<p id=p>quiet\
    <script>function say(){document.getElementById('p').textContent='a script ran'};say()</script>\
    <img src=/missing.png onerror=say()><iframe srcdoc='<script>parent.say()</script>'></iframe>";

/// Two hundred words of which no four follow each other twice.
fn text() -> String {
    let words = (0..60).map(|n| format!("The sea of place{n} is drawn by the moon of day{n}."));
    words.collect::<Vec<_>>().join(" ")
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
        let text = text();
        let (status, body) = match path.as_str() {
            "/" => (
                "200 OK",
                format!(
                    "<a href='/a'>a</a><a href='/copy'>b</a><a href='/near'>n</a>\
                     <a href='/script'>s</a><a href=\"{HOSTILE}\">c</a>"
                ),
            ),
            "/near" => ("200 OK", format!("<title>Near</title><p>{text} A few words more.</p>")),
            "/script" => ("200 OK", SCRIPTED.to_owned()),
            path if path.starts_with("/a") || path == "/copy" => {
                ("200 OK", format!("<title>Tides</title><p>{text}</p>"))
            }
            path if path.starts_with("/x") => {
                let title = format!("</script>\u{202e}<b>{}", "hostile ".repeat(8_000));
                ("200 OK", format!("<title>{title}</title><h1>{title}</h1><p>A hostile page."))
            }
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

/// A crawl of the site that goes on for ever, with its dashboard.
pub struct Running {
    pub dashboard: Dashboard,
    pub dir: PathBuf,
    pub origin: String,
    child: Child,
    _scratch: tempfile::TempDir,
}

impl Running {
    pub fn start(revisit: &str, arguments: &[&str]) -> Running {
        let site = Site::serve();
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("crawl");
        let mut child = Command::new(binary::rhumb())
            .args(["crawl", &format!("{}/", site.origin), "--allow-private", "--dashboard", "auto"])
            .args(["--delay", "20ms", "--delay-factor", "0", "--revisit", revisit])
            .args(arguments)
            .arg("--dir")
            .arg(&dir)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let told = |line: std::io::Result<String>| {
            Some(line.unwrap().strip_prefix("dashboard: ")?.to_owned())
        };
        let addr = address(&lines.find_map(told).unwrap());
        thread::spawn(move || lines.for_each(drop));
        let dashboard = Dashboard { child: None, addr };
        // The store is made when the crawl begins, a moment after the address is there.
        while dashboard.json("/index.json")["pages"].as_u64().unwrap_or(0) < 4 {
            thread::yield_now();
        }
        Running { dashboard, dir, origin: site.origin, child, _scratch: scratch }
    }

    pub fn interrupt(&mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }

    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
