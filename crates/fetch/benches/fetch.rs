//! What does a page cost to fetch? CPU time per 20 kB page over keep-alive connections, beside a
//! bare tokio socket that sends the same request and throws the bytes away, in one run.
//!
//! The server runs in a process of its own (this binary, started again), so that the clock of this
//! process counts the client alone.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rhumb_fetch::{Fetch, FetchLimits, FetchRequest, Http, HttpConfig, Validators};
use rhumb_page::url::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PAGE_BYTES: usize = 20_000;
const CONNECTIONS: usize = 64;
const PAGES_PER_CONNECTION: usize = 1_000;
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn main() {
    if std::env::args().any(|argument| argument == "--serve") {
        return serve();
    }
    let (mut server, port) = start_server();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{CONNECTIONS} connections, {PAGES_PER_CONNECTION} pages of {PAGE_BYTES} bytes each");
    for _ in 0..3 {
        report("bare socket", || runtime.block_on(bare_clients(port)));
        report("fetch", || runtime.block_on(fetch_clients(port)));
    }
    runtime.block_on(idle_memory(port));
    server.kill().unwrap();
    server.wait().unwrap();
}

fn report(name: &str, run: impl FnOnce()) {
    let (cpu, wall) = (cpu_time(), Instant::now());
    run();
    let pages = (CONNECTIONS * PAGES_PER_CONNECTION) as f64;
    let (cpu, wall) = ((cpu_time() - cpu).as_secs_f64(), wall.elapsed().as_secs_f64());
    println!("{name:12} {:6.2} µs CPU per page, {:7.0} pages/s", cpu * 1e6 / pages, pages / wall);
}

/// User and system time of this thread, which runs the whole client.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

async fn bare_clients(port: u16) {
    let request = format!("GET / HTTP/1.1\r\nHost: h0.test:{port}\r\nUser-Agent: bare\r\n\r\n");
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.clone();
        clients.spawn(async move {
            let mut stream = tokio::net::TcpStream::connect((LOOPBACK, port)).await.unwrap();
            let mut buffer = vec![0; 64 << 10];
            let expected = response().len();
            for _ in 0..PAGES_PER_CONNECTION {
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut received = 0;
                while received < expected {
                    received += stream.read(&mut buffer).await.unwrap();
                }
            }
        });
    }
    clients.join_all().await;
}

async fn fetch_clients(port: u16) {
    let config = HttpConfig { allow_private: true, ..HttpConfig::default() };
    let client = std::sync::Arc::new(Http::new(&config).unwrap());
    let mut clients = tokio::task::JoinSet::new();
    for n in 0..CONNECTIONS {
        let client = client.clone();
        clients.spawn(async move {
            let request = FetchRequest {
                url: Url::parse(&format!("http://h{n}.test:{port}/")).unwrap(),
                address: Some(LOOPBACK),
                validators: Validators::default(),
                limits: FetchLimits::default(),
                screen: None,
                leave: None,
            };
            for _ in 0..PAGES_PER_CONNECTION {
                let response = client.fetch(&request).await.unwrap();
                assert_eq!(response.payload().len(), PAGE_BYTES);
            }
        });
    }
    clients.join_all().await;
    assert_eq!(client.idle_connections(), CONNECTIONS);
}

/// What an open connection keeps in memory after it has brought a page.
async fn idle_memory(port: u16) {
    const HOSTS: usize = 400;
    let config = HttpConfig { allow_private: true, ..HttpConfig::default() };
    let client = Http::new(&config).unwrap();
    let before = resident_bytes();
    for n in 0..HOSTS {
        let request = FetchRequest {
            url: Url::parse(&format!("http://h{n}.test:{port}/")).unwrap(),
            address: Some(LOOPBACK),
            validators: Validators::default(),
            limits: FetchLimits::default(),
            screen: None,
            leave: None,
        };
        client.fetch(&request).await.unwrap();
    }
    assert_eq!(client.idle_connections(), HOSTS);
    let each = resident_bytes().saturating_sub(before) / HOSTS;
    println!("{:.1} kB resident per idle connection", each as f64 / 1e3);
}

fn resident_bytes() -> usize {
    const PAGE: usize = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * PAGE
}

fn response() -> Vec<u8> {
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
         Content-Type: text/html; charset=utf-8\r\nContent-Length: {PAGE_BYTES}\r\n\r\n"
    )
    .into_bytes();
    bytes.resize(bytes.len() + PAGE_BYTES, b'x');
    bytes
}

fn start_server() -> (Child, u16) {
    let mut server = Command::new(std::env::current_exe().unwrap())
        .arg("--serve")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 6];
    server.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    (server, std::str::from_utf8(&line).unwrap().trim().parse().unwrap())
}

/// A thread per connection; every read that ends a head is answered with the page.
fn serve() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    println!("{:5}", listener.local_addr().unwrap().port());
    std::io::stdout().flush().unwrap();
    for stream in listener.incoming() {
        let mut stream: TcpStream = stream.unwrap();
        std::thread::spawn(move || {
            let (page, mut buffer) = (response(), [0; 4096]);
            while let Ok(length) = stream.read(&mut buffer) {
                let is_whole = buffer[..length].ends_with(b"\r\n\r\n");
                if length == 0 || (is_whole && stream.write_all(&page).is_err()) {
                    return;
                }
            }
        });
    }
}
