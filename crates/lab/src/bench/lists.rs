//! A web for the bench of memory: few lists of very many URLs, on hosts that never answer.
//!
//! Lists are sitemaps on a few hosts 127.1.0.x, so that as many bodies are under way at once in a
//! large crawl as in a small one; what they name lies on hosts 127.2.0.x, which take a request and
//! keep silent. So a crawl comes to know millions of URLs in a short time
//! and fetches none of them. Addresses stand for names: no name server is needed.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a sitemap may hold at most.
const URLS_PER_LIST: u64 = 50_000;
/// Fewer than the requests that a crawl has in flight, so that they do not keep it from the lists.
const SILENT_HOSTS: u64 = 200;
/// Hosts with lists. A host is asked for one at a time.
const LIST_HOSTS: u64 = 4;
const HEAD_BYTES_MAX: usize = 16 << 10;

pub struct Lists {
    port: u16,
    asked: Arc<AtomicU64>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Lists {
    pub fn start() -> io::Result<Lists> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let address = (Ipv4Addr::UNSPECIFIED, 0);
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let port = listener.local_addr()?.port();
        let asked = Arc::new(AtomicU64::new(0));
        let (stop, mut stopped) = watch::channel(false);
        let counted = Arc::clone(&asked);
        let thread = std::thread::Builder::new().name("lists".into()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped.wait_for(|&stopped| stopped) => {}
                    () = accept_all(listener, counted) => {}
                }
            });
        })?;
        Ok(Lists { port, asked, stop, thread: Some(thread) })
    }

    /// The URLs of lists that name so many URLs together.
    pub fn seeds(&self, urls: u64) -> String {
        let mut text = String::new();
        for list in 0..urls.div_ceil(URLS_PER_LIST) {
            let named = (urls - list * URLS_PER_LIST).min(URLS_PER_LIST);
            let host = list % LIST_HOSTS + 1;
            // Writing to a string cannot fail.
            let _ =
                writeln!(text, "http://127.1.0.{host}:{}/sitemap-{list}-{named}.xml", self.port);
        }
        text
    }

    /// Requests that silent hosts have got so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        // A thread that is gone already has nobody to tell.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept_all(listener: TcpListener, asked: Arc<AtomicU64>) {
    loop {
        if let Ok((stream, peer)) = listener.accept().await
            && peer.ip().is_loopback()
        {
            // What a client makes of its connection is its own affair.
            let conversation = converse(stream, Arc::clone(&asked));
            tokio::spawn(async { conversation.await.unwrap_or_default() });
        }
    }
}

async fn converse(mut stream: TcpStream, asked: Arc<AtomicU64>) -> io::Result<()> {
    let local = stream.local_addr()?;
    let IpAddr::V4(ip) = local.ip() else { return Ok(()) };
    let [_, kind, ..] = ip.octets();
    let mut received = Vec::new();
    loop {
        while memchr::memmem::find(&received, b"\r\n\r\n").is_none() {
            if received.len() > HEAD_BYTES_MAX || stream.read_buf(&mut received).await? == 0 {
                return Ok(());
            }
        }
        let list = list_asked_for(&received);
        received.clear();
        match (kind, list) {
            (1, Some((list, named))) => {
                stream.write_all(&sitemap(list, named, local.port())).await?;
            }
            (1, None) => {
                stream.write_all(b"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n").await?;
            }
            _ => {
                asked.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// The number of a list, and how many URLs it is to name.
fn list_asked_for(head: &[u8]) -> Option<(u64, u64)> {
    let path = head.strip_prefix(b"GET /sitemap-")?.split(|&byte| byte == b' ').next()?;
    let name = std::str::from_utf8(path).ok()?.strip_suffix(".xml")?;
    let (list, named) = name.split_once('-')?;
    Some((list.parse().ok()?, named.parse().ok().filter(|&n| n <= URLS_PER_LIST)?))
}

fn sitemap(list: u64, named: u64, port: u16) -> Vec<u8> {
    let mut body = String::with_capacity(6 << 20);
    body.push_str("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    for at in 0..named {
        let number = list * URLS_PER_LIST + at;
        let (host, section) = (number % SILENT_HOSTS + 1, number / SILENT_HOSTS % 97);
        let _ = writeln!(
            body,
            "<url><loc>http://127.2.0.{host}:{port}/archive/section-{section}/article-{number}.html\
             </loc></url>"
        );
    }
    body.push_str("</urlset>\n");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\n\r\n"
    );
    (head + &body).into_bytes()
}
