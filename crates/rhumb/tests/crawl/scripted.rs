//! A web server of one test: it answers each path with exactly the bytes that the test wants.

use crate::binary;
use crate::site::report_of;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

/// A request as it came.
pub struct Asked {
    /// Path and query.
    pub path: String,
    pub head: String,
}

impl Asked {
    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut named = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim())
    }
}

pub struct Scripted {
    pub port: u16,
    pub dir: tempfile::TempDir,
    asked: Arc<Mutex<Vec<String>>>,
    answer: Arc<Answer>,
}

type Answer = dyn Fn(&Asked) -> Vec<u8> + Send + Sync;

impl Scripted {
    /// Answers each request with what `answer` gives, then closes the connection.
    pub fn serve(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, answer): (_, Arc<Answer>) = (Arc::default(), Arc::new(answer));
        let site = Scripted { port, dir: tempfile::tempdir().unwrap(), asked, answer };
        site.listen(listener);
        site
    }

    /// Answers at another address of loopback too; the URL of its first page.
    pub fn also_at(&self, ip: &str) -> String {
        self.listen(TcpListener::bind((ip, self.port)).unwrap());
        format!("http://{ip}:{}/", self.port)
    }

    fn listen(&self, listener: TcpListener) {
        let (answer, log) = (Arc::clone(&self.answer), Arc::clone(&self.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || converse(stream.unwrap(), &*answer, &log));
            }
        });
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn crawl_dir(&self) -> PathBuf {
        self.dir.path().join("crawl")
    }

    /// Crawls from the first page to the end; the report.
    pub fn crawl(&self, arguments: &[&str]) -> Value {
        report_of(self.command(arguments).spawn().unwrap())
    }

    /// `rhumb crawl` from the first page, without waits.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary::rhumb());
        command
            .args(["--quiet", "crawl", "--allow-private", "--json"])
            .args(["--delay", "0s", "--delay-factor", "0"])
            .arg(self.url("/"))
            .arg("--dir")
            .arg(self.crawl_dir())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The paths asked for so far, sorted, robots.txt left out, and the sitemap that is tried at
    /// every site.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.retain(|path| path != "/robots.txt" && path != "/sitemap.xml");
        asked.sort();
        asked
    }
}

fn converse(mut stream: TcpStream, answer: &Answer, log: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let Some(path) = head.split(' ').nth(1).map(str::to_owned) else { return };
    log.lock().unwrap().push(path.clone());
    let _ = stream.write_all(&answer(&Asked { path, head }));
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new());
}

/// A whole answer: status line, these headers, the length, the body.
pub fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = head(status, headers);
    bytes.truncate(bytes.len() - 2);
    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Status line and headers, with the empty line that ends them.
pub fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

pub fn html(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", &[("Content-Type", "text/html")], body)
}

pub fn not_found() -> Vec<u8> {
    answer("404 Not Found", &[("Content-Type", "text/plain")], "not here")
}
