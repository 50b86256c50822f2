//! A server that plays a script, and words for what came of a fetch.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rhumb_fetch::{
    Fetch, FetchFailure, FetchLimits, FetchRequest, Http, HttpConfig, Response, Validators,
};
use rhumb_page::url::Url;

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// One step of a connection's script.
#[derive(Clone)]
pub enum Act {
    /// Wait for a whole request head.
    Read,
    Send(Vec<u8>),
    /// Send this over and over until the client has gone.
    Repeat(Vec<u8>),
    /// Keep the connection open until the client has gone.
    Hold,
}

pub fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// A server with one script per connection, in the order they come. When a script ends, its
/// connection is closed; when the last one has ended, the server is gone.
pub struct Server {
    pub port: u16,
    requests: Receiver<Vec<u8>>,
    closed: Receiver<()>,
}

impl Server {
    pub fn start(scripts: Vec<Vec<Act>>) -> Server {
        Server::start_at(LOOPBACK, scripts)
    }

    pub fn start_at(address: IpAddr, scripts: Vec<Vec<Act>>) -> Server {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = channel();
        let (close, closed) = channel();
        std::thread::spawn(move || {
            for script in scripts {
                let (mut stream, _) = listener.accept().unwrap();
                for act in script {
                    match act {
                        Act::Read => drop(sender.send(read_head(&mut stream))),
                        Act::Send(bytes) => drop(stream.write_all(&bytes)),
                        Act::Repeat(bytes) => while stream.write_all(&bytes).is_ok() {},
                        Act::Hold => while stream.read(&mut [0; 512]).is_ok_and(|n| n > 0) {},
                    }
                }
                let _ = stream.shutdown(Shutdown::Both);
                let _ = close.send(());
            }
        });
        Server { port, requests, closed }
    }

    /// One connection that reads a request and then does this.
    pub fn answering(acts: Vec<Act>) -> Server {
        let mut script = vec![Act::Read];
        script.extend(acts);
        Server::start(vec![script])
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://site.test:{}{path}", self.port)).unwrap()
    }

    /// Waits until one more connection was closed.
    pub fn wait_for_close(&self) {
        self.closed.recv().unwrap();
    }

    /// All requests read so far.
    pub fn requests(&self) -> Vec<Vec<u8>> {
        self.requests.try_iter().collect()
    }
}

fn read_head(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
        head.push(byte[0]);
    }
    head
}

/// Comes back once something has happened elsewhere, however long that takes.
pub async fn until(happened: impl Fn() -> bool) {
    while !happened() {
        tokio::task::yield_now().await;
    }
}

/// Limits that no honest answer on loopback meets.
pub fn limits() -> FetchLimits {
    let long = Duration::from_secs(60);
    FetchLimits {
        connect_time_max: long,
        first_byte_time_max: long,
        total_time_max: long,
        slow_window: long,
        ..FetchLimits::default()
    }
}

pub fn request(url: Url, limits: FetchLimits) -> FetchRequest {
    FetchRequest {
        url,
        address: Some(LOOPBACK),
        validators: Validators::default(),
        limits,
        screen: None,
        leave: None,
    }
}

pub fn client() -> Http {
    Http::new(&HttpConfig { allow_private: true, ..HttpConfig::default() }).unwrap()
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(future)
}

pub fn fetch(server: &Server, limits: FetchLimits) -> Result<Response, FetchFailure> {
    run(client().fetch(&request(server.url("/"), limits)))
}

/// A fetch in one line: status, decoded body, then whatever was not as it should be.
pub fn words(outcome: &Result<Response, FetchFailure>) -> String {
    let response = match outcome {
        Ok(response) => response,
        Err(failure) => return failure.kind.as_str().to_string(),
    };
    let decoded = response.decoded();
    let mut words = format!("{} {}", response.status, String::from_utf8_lossy(&decoded.bytes));
    if let Some(truncation) = response.truncated {
        words.push_str(&format!(" {truncation:?}"));
    }
    for oddity in &response.oddities {
        words.push_str(&format!(" {oddity:?}"));
    }
    if let Some(note) = decoded.note {
        words.push_str(&format!(" {note:?}"));
    }
    words
}
