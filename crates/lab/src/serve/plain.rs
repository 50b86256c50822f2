//! The plain client: what this machine can do at most, against which a crawl is measured.
//!
//! It knows its URLs, keeps connections alive, reads no more of an answer than its length, and
//! throws bodies away. Each connection takes one host after the other: all its pages, then the
//! next. It finds addresses in the model; the name server is not asked.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rhumb_sim::web::{DnsAnswer, Web};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::cpu::Account;

/// Room for more than a page of the bench; one buffer serves all connections of a thread.
const READ_BUFFER_BYTES: usize = 256 << 10;
/// A longer head of an answer is an error.
const HEAD_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct PlainOptions {
    pub connections: usize,
    pub threads: usize,
    /// Pages to fetch in all; fewer if the web has fewer.
    pub pages: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainReport {
    pub pages: u64,
    pub bytes: u64,
    pub seconds: f64,
    /// CPU time of the client's threads; 0 where the kernel does not tell.
    pub cpu_us: u64,
}

impl PlainReport {
    pub fn pages_per_s(&self) -> f64 {
        self.pages as f64 / self.seconds
    }
}

/// One host: where it is, and a request for each page, ready to be sent.
struct Target {
    address: SocketAddr,
    requests: Vec<Box<[u8]>>,
}

/// Fetches the pages of a web, as many as asked for, and says how long it took.
pub fn run(web: &Web, options: &PlainOptions) -> io::Result<PlainReport> {
    fetch(targets(web, options.pages), options)
}

/// Fetches the front page of the largest site so many times, over all connections.
pub fn run_on_one_page(web: &Web, options: &PlainOptions) -> io::Result<PlainReport> {
    let first = targets(web, 1).into_iter().next().ok_or(io::ErrorKind::NotFound)?;
    let times = options.pages / options.connections.max(1);
    let requests: Vec<Box<[u8]>> = first.requests.iter().cycle().take(times).cloned().collect();
    let each = || Target { address: first.address, requests: requests.clone() };
    fetch((0..options.connections).map(|_| each()).collect(), options)
}

fn fetch(targets: Vec<Target>, options: &PlainOptions) -> io::Result<PlainReport> {
    let targets: Arc<[Target]> = targets.into();
    let next = Arc::new(AtomicUsize::new(0));
    let threads = options.threads.max(1);
    let started = Instant::now();
    let workers: Vec<_> = (0..threads)
        .map(|i| {
            let (targets, next) = (targets.clone(), next.clone());
            let connections =
                options.connections / threads + usize::from(i < options.connections % threads);
            std::thread::spawn(move || work(targets, next, connections))
        })
        .collect();
    let mut report = PlainReport::default();
    for worker in workers {
        let part = worker.join().map_err(|_| io::Error::other("a client thread panicked"))??;
        report.pages += part.pages;
        report.bytes += part.bytes;
        report.cpu_us += part.cpu_us;
    }
    report.seconds = started.elapsed().max(Duration::from_nanos(1)).as_secs_f64();
    Ok(report)
}

fn targets(web: &Web, pages: usize) -> Vec<Target> {
    let sites = web.config().sites;
    let per_site = pages.div_ceil(sites as usize);
    let mut left = pages;
    (0..sites)
        .filter_map(|site| {
            let urls: Vec<_> =
                web.pages(site).take(per_site.min(left)).map(|place| web.url(place)).collect();
            left -= urls.len();
            let first = urls.first()?;
            let DnsAnswer::Found { ip, .. } = web.address(first.host()) else { return None };
            let address = SocketAddr::new(IpAddr::V4(ip), first.port()?);
            let requests =
                urls.iter().map(|url| request(url.host(), address.port(), url.path_and_query()));
            Some(Target { address, requests: requests.collect() })
        })
        .collect()
}

fn request(host: &str, port: u16, path: &str) -> Box<[u8]> {
    format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n").into_bytes().into()
}

fn work(
    targets: Arc<[Target]>,
    next: Arc<AtomicUsize>,
    connections: usize,
) -> io::Result<PlainReport> {
    let account = Account::of_this_thread();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let local = tokio::task::LocalSet::new();
    let buffer = Rc::new(RefCell::new(vec![0; READ_BUFFER_BYTES]));
    let tasks: Vec<_> = (0..connections)
        .map(|_| local.spawn_local(fetch_hosts(targets.clone(), next.clone(), buffer.clone())))
        .collect();
    let mut report = local.block_on(&runtime, async {
        let mut sum = PlainReport::default();
        for task in tasks {
            let part = task.await.map_err(io::Error::other)??;
            sum.pages += part.pages;
            sum.bytes += part.bytes;
        }
        io::Result::Ok(sum)
    })?;
    report.cpu_us = account.map_or(0, |account| account.used_us());
    Ok(report)
}

/// One connection at a time: a host, all its pages, the next host.
async fn fetch_hosts(
    targets: Arc<[Target]>,
    next: Arc<AtomicUsize>,
    buffer: Rc<RefCell<Vec<u8>>>,
) -> io::Result<PlainReport> {
    let mut report = PlainReport::default();
    while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
        let mut stream = TcpStream::connect(target.address).await?;
        stream.set_nodelay(true)?;
        for request in &target.requests {
            send(&stream, request).await?;
            report.bytes += receive(&mut stream, &buffer).await?;
            report.pages += 1;
        }
    }
    Ok(report)
}

async fn send(stream: &TcpStream, mut request: &[u8]) -> io::Result<()> {
    while !request.is_empty() {
        match stream.try_write(request) {
            Ok(written) => request = &request[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads one answer to its end and forgets it; says how long its body was.
async fn receive(stream: &mut TcpStream, buffer: &RefCell<Vec<u8>>) -> io::Result<u64> {
    // Only a head that comes in pieces is kept.
    let mut head = Vec::new();
    let mut left = None;
    loop {
        let read = poll_fn(|context| {
            let mut buffer = buffer.borrow_mut();
            let mut room = ReadBuf::new(&mut buffer);
            let read = pin!(&mut *stream).poll_read(context, &mut room);
            read.map_ok(|()| room.filled().len())
        });
        let read = read.await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // Nobody else of this thread has run since.
        let buffer = buffer.borrow();
        let (length, rest) = match left {
            Some((length, rest)) => (length, rest),
            None => {
                let known = head.len();
                let received = if known == 0 {
                    &buffer[..read]
                } else {
                    head.extend_from_slice(&buffer[..read]);
                    &head[..]
                };
                match body_start(received)? {
                    // What was received counts from the start of the head here.
                    Some((start, length)) => (length, start as u64 + length - known as u64),
                    None if known == 0 => {
                        head.extend_from_slice(&buffer[..read]);
                        continue;
                    }
                    None => continue,
                }
            }
        };
        let rest = rest.checked_sub(read as u64).ok_or(io::ErrorKind::InvalidData)?;
        if rest == 0 {
            return Ok(length);
        }
        left = Some((length, rest));
    }
}

/// Where the body starts and how long it is; none while the head is not whole.
fn body_start(received: &[u8]) -> io::Result<Option<(usize, u64)>> {
    let Some(end) = memchr::memmem::find(received, b"\r\n\r\n") else {
        let too_long = received.len() > HEAD_BYTES_MAX;
        return if too_long { Err(io::ErrorKind::InvalidData.into()) } else { Ok(None) };
    };
    const NAME: &[u8] = b"Content-Length: ";
    let head = &received[..end];
    let at = memchr::memmem::find(head, NAME).ok_or(io::ErrorKind::InvalidData)?;
    let digits = head[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.fold(0u64, |n, digit| n.saturating_mul(10) + u64::from(digit - b'0'));
    Ok(Some((end + 4, length)))
}
