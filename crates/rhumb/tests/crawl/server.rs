//! A plain HTTP server for tests: one function answers every path.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub const HTML: &str = "text/html; charset=utf-8";

/// By path.
pub type Pages = BTreeMap<String, String>;

pub struct Answer {
    pub status: &'static str,
    /// Header lines besides Content-Length, without line ends.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn ok(content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
        let headers = vec![format!("Content-Type: {content_type}")];
        Answer { status: "200 OK", headers, body: body.into() }
    }

    pub fn moved_to(location: &str) -> Answer {
        let headers = vec![format!("Location: {location}")];
        Answer { status: "301 Moved Permanently", headers, body: Vec::new() }
    }

    pub fn not_found() -> Answer {
        Answer { status: "404 Not Found", headers: Vec::new(), body: Vec::new() }
    }

    fn bytes(self) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|line| format!("{line}\r\n")).collect();
        let length = self.body.len();
        let head = format!("HTTP/1.1 {}\r\n{headers}Content-Length: {length}\r\n\r\n", self.status);
        [head.into_bytes(), self.body].concat()
    }
}

/// Answers on loopback for as long as the process lives.
pub struct Server {
    pub address: SocketAddr,
    requested: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// The function gets the path with its query, as it was sent.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&requested));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                std::thread::spawn(move || serve(stream, &*answer, &log));
            }
        });
        Server { address, requested }
    }

    /// HTML pages; a path without one is a 404.
    pub fn of(pages: Pages) -> Server {
        Server::start(move |path| match pages.get(path) {
            Some(body) => Answer::ok(HTML, body.as_bytes()),
            None => Answer::not_found(),
        })
    }

    /// Paths in the order in which they were requested, but for a `/sitemap.xml` that is not there:
    /// it is tried at every site.
    pub fn requested(&self) -> Vec<String> {
        self.requested.lock().unwrap().clone()
    }
}

/// Requests of one connection, until the client has no more.
fn serve(mut stream: TcpStream, answer: &impl Fn(&str) -> Answer, log: &Mutex<Vec<String>>) {
    let Ok(copy) = stream.try_clone() else { return };
    let mut lines = BufReader::new(copy).lines().map_while(Result::ok);
    while let Some(request) = lines.next() {
        let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
        lines.by_ref().take_while(|line| !line.is_empty()).for_each(drop);
        let answer = answer(&path);
        let is_sitemap = answer.headers.iter().any(|header| header.contains("xml"));
        if path != "/sitemap.xml" || is_sitemap {
            log.lock().unwrap().push(path);
        }
        if stream.write_all(&answer.bytes()).is_err() {
            return;
        }
    }
}
