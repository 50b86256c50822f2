//! A bucket behind a proxy of our own: moto's S3 server, made honest, and made to fail.
//!
//! The proxy lets one conditional put of a name through at a time, as S3 does. It can lose answers
//! after the store has written, answer 409 or 503 itself, be slow, be gone, and lie.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

pub const BUCKET: &str = "crawls";
/// Until moto listens; Python takes its time.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// Longer than most requests take, and much shorter than a lease.
const SLOW: Duration = Duration::from_millis(800);

/// What the proxy does besides passing on.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Connections are cut before anything is passed on.
    pub is_away: bool,
    /// The same of those at the side entrance.
    pub is_side_away: bool,
    /// The answer of the put with this number is lost, after it was made; counted from 0.
    pub lost_answer: Option<u64>,
    /// Of each so many puts the answer of this one is lost.
    pub lost_of_each: Option<(u64, u64)>,
    /// Of each so many puts one meets trouble, in turn: its answer is lost, it is refused, it is
    /// slow.
    pub trouble_each: Option<u64>,
    /// The put with this number is answered so, and not passed on.
    pub answered: Option<(u64, StatusCode)>,
    /// Before every request is passed on.
    pub delay: Duration,
    /// Conditions of puts are not passed on.
    pub ignores_conditions: bool,
    /// Objects are passed on in lists only when they have been asked for by name: never.
    pub lists_nothing: bool,
    /// Every request is refused.
    pub forbids: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum PutTrouble {
    LostAnswer,
    Refused,
    Slow,
}

impl Faults {
    fn trouble_of(&self, put: u64) -> Option<PutTrouble> {
        if self.lost_of_each.is_some_and(|(each, this)| put % each == this) {
            return Some(PutTrouble::LostAnswer);
        }
        let each = self.trouble_each.filter(|each| put.is_multiple_of(*each))?;
        Some(
            [PutTrouble::LostAnswer, PutTrouble::Refused, PutTrouble::Slow]
                [(put / each % 3) as usize],
        )
    }
}

/// What came to the proxy.
#[derive(Clone, Copy, Debug, Default)]
pub struct BucketTraffic {
    pub requests: u64,
    /// Of bodies of puts: what belongs to WARC files, in pieces and whole, and all else.
    pub warc_bytes: u64,
    pub other_bytes: u64,
}

#[derive(Default)]
struct Shared {
    traffic: Mutex<BucketTraffic>,
    faults: Mutex<Faults>,
    puts: Mutex<u64>,
    /// One conditional put of a name at a time.
    names: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Shared {
    fn count(&self, head: &Parts, bytes: u64) {
        let mut traffic = self.traffic.lock().expect("no panic");
        traffic.requests += 1;
        match head.uri.path().contains("/warc/") {
            true => traffic.warc_bytes += bytes,
            false => traffic.other_bytes += bytes,
        }
    }
}

pub struct Bucket {
    server: Child,
    /// Of the server, and of the proxy.
    upstream: u16,
    port: u16,
    side_port: u16,
    shared: Arc<Shared>,
    runtime: Runtime,
}

impl Bucket {
    /// None where the server cannot be installed, which is said.
    pub fn start() -> Option<Bucket> {
        let (server, upstream) = moto()?;
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        let runtime = threads.worker_threads(1).enable_all().build();
        let runtime = runtime.expect("threads for the proxy");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let port = listener.local_addr().expect("its port").port();
        let shared = Arc::new(Shared::default());
        let side = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let side_port = side.local_addr().expect("its port").port();
        runtime.spawn(serve(listener, (upstream, false), Arc::clone(&shared)));
        runtime.spawn(serve(side, (upstream, true), Arc::clone(&shared)));
        let bucket = Bucket { server, upstream, port, side_port, shared, runtime };
        bucket.create();
        Some(bucket)
    }

    fn create(&self) {
        let request = Request::put(format!("/{BUCKET}")).body(Full::new(Bytes::new()));
        let upstream = self.port;
        let made = self.runtime.block_on(pass_on(upstream, request.expect("a request")));
        assert_eq!(made.expect("an answer").status(), StatusCode::OK);
    }

    pub fn set(&self, faults: Faults) {
        *self.shared.faults.lock().expect("no panic") = faults;
        *self.shared.puts.lock().expect("no panic") = 0;
    }

    /// Where it answers, on this machine.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Another port of the same: who comes there can be cut off alone.
    pub fn side_port(&self) -> u16 {
        self.side_port
    }

    /// Removes all that is there.
    pub fn forget(&self) {
        let request = Request::post("/moto-api/reset").body(Full::new(Bytes::new()));
        let done = self.runtime.block_on(pass_on(self.upstream, request.expect("a request")));
        assert_eq!(done.expect("an answer").status(), StatusCode::OK);
        self.create();
    }

    pub fn traffic(&self) -> BucketTraffic {
        *self.shared.traffic.lock().expect("no panic")
    }

    /// Puts since the faults were set.
    pub fn puts(&self) -> u64 {
        *self.shared.puts.lock().expect("no panic")
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn moto() -> Option<(Child, u16)> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let made = Command::new("sh").arg(root.join("scripts/python-env")).output();
    match made {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            rhumb_given::left_out(String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Err(error) => {
            rhumb_given::left_out(&format!("sh: {error}"));
            return None;
        }
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let number = port.local_addr().expect("its port").port();
    drop(port);
    let server = Command::new(root.join(".venv/bin/python"))
        .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &number.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("moto was installed");
    let begun = std::time::Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", number)).is_err() {
        assert!(begun.elapsed() < STARTS_WITHIN, "moto does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some((server, number))
}

async fn serve(listener: TcpListener, upstream: (u16, bool), shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| proxied(request, upstream, Arc::clone(&shared)));
            let http = hyper::server::conn::http1::Builder::new();
            // A connection that is cut is what the test asked for.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// No answer: the connection is cut.
type Answer = Result<Response<Full<Bytes>>, std::io::Error>;

async fn proxied(
    request: Request<Incoming>,
    (upstream, is_side): (u16, bool),
    shared: Arc<Shared>,
) -> Answer {
    let cut = || Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    let faults = shared.faults.lock().expect("no panic").clone();
    let (mut head, body) = request.into_parts();
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    if faults.is_away || (is_side && faults.is_side_away) {
        return cut();
    }
    if faults.forbids {
        return Ok(answer(StatusCode::FORBIDDEN));
    }
    let is_put = head.method == Method::PUT;
    shared.count(&head, body.len() as u64);
    let number = is_put.then(|| {
        let mut puts = shared.puts.lock().expect("no panic");
        *puts += 1;
        *puts - 1
    });
    if let Some((_, status)) = faults.answered.filter(|(n, _)| Some(*n) == number) {
        return Ok(answer(status));
    }
    let trouble = number.and_then(|number| faults.trouble_of(number));
    match trouble {
        Some(PutTrouble::Refused) => return Ok(answer(StatusCode::SERVICE_UNAVAILABLE)),
        Some(PutTrouble::Slow) => tokio::time::sleep(SLOW).await,
        Some(PutTrouble::LostAnswer) | None => tokio::time::sleep(faults.delay).await,
    }
    let is_conditional =
        ["if-none-match", "if-match"].iter().any(|h| head.headers.contains_key(*h));
    if faults.ignores_conditions {
        ["if-none-match", "if-match"].iter().for_each(|h| drop(head.headers.remove(*h)));
    }
    let is_list =
        head.method == Method::GET && head.uri.query().is_some_and(|q| q.contains("list-type"));
    let name = head.uri.path().to_owned();
    let request = Request::from_parts(head, Full::new(body));
    let passed = match is_put && is_conditional {
        true => {
            let one = Arc::clone(shared.names.lock().expect("no panic").entry(name).or_default());
            let _one = one.lock().await;
            pass_on(upstream, request).await
        }
        false => pass_on(upstream, request).await,
    };
    let is_lost = number.is_some() && faults.lost_answer == number;
    if is_lost || trouble == Some(PutTrouble::LostAnswer) {
        return cut();
    }
    if faults.lists_nothing && is_list {
        let empty = "<?xml version=\"1.0\"?><ListBucketResult><Name>crawls</Name>\
                     <IsTruncated>false</IsTruncated></ListBucketResult>";
        return Ok(Response::new(Full::new(empty.into())));
    }
    passed
}

fn answer(status: StatusCode) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from_static(b"<Error/>")));
    *answer.status_mut() = status;
    answer
}

async fn pass_on(to: u16, request: Request<Full<Bytes>>) -> Answer {
    let stream = TcpStream::connect(("127.0.0.1", to)).await?;
    let other = std::io::Error::other;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(other)?;
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await.map_err(other)?.into_parts();
    let body = body.collect().await.map_err(other)?.to_bytes();
    Ok(Response::from_parts(head, Full::new(body)))
}
