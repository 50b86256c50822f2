//! The synthetic web over real sockets: what `demo`, `bench` and the end-to-end tests crawl.
//!
//! [`Served::start`] takes a configuration, finds a free port, and answers on it for every host of
//! the web, beside a name server that knows them all. Every host has an address in 127.0.0.0/8; one
//! listener gets them all, and who does not come from this machine is turned away at the door.
//!
//! - `request`: the few lines of HTTP that a client sends. `http`: connections, and faults acted
//!   out for real. `answer`: a reply of the model as bytes on the wire.
//! - `dns`: the name server. `log`: who asked what and when, for checks of politeness.
//! - `plain`: the opposite end: a client that knows its URLs and throws bodies away, to measure
//!   what this machine can do at most.
//!
//! A server is a few threads of its own, each with a listener on the same port; they end when the
//! [`Served`] is dropped. Nothing is cached: a page is rendered again each time, which takes less
//! time than to miss a cache of the same size.

mod answer;
pub mod cpu;
mod dns;
mod http;
mod log;
pub mod plain;
mod request;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::JoinHandle;

use rhumb_sim::web::{Web, WebConfig};
use tokio::net::{TcpListener, TcpSocket, UdpSocket};
use tokio::sync::watch;

pub use log::{Logged, RequestLog};

/// Connections that may wait to be accepted; a crawl opens hundreds at once.
const BACKLOG: u32 = 4_096;
/// Room for a whole page of the bench in the socket, so that one system call sends it.
const SEND_BUFFER_BYTES: u32 = 256 << 10;
/// The first bytes of all addresses: real sockets live on loopback.
const NETWORK: u8 = 127;

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Threads that answer.
    pub threads: usize,
    /// Whether to keep a record of every request.
    pub log: bool,
    /// Seconds of the web's time in a second of ours: pages change that much faster.
    pub time_scale: u32,
    /// Whether answers take as long as the model says.
    pub latency: bool,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions { threads: 1, log: false, time_scale: 1, latency: true }
    }
}

/// A web that is being served, until this is dropped.
pub struct Served {
    /// The web, whose URLs carry the port below.
    pub web: Arc<Web>,
    /// Where HTTP is answered; all hosts resolve to loopback addresses and this port.
    pub http: SocketAddr,
    /// The name server.
    pub dns: SocketAddr,
    log: Option<Arc<RequestLog>>,
    service: Arc<http::Service>,
    threads: Vec<ServerThread>,
    stop: watch::Sender<bool>,
}

struct ServerThread {
    handle: Option<JoinHandle<()>>,
    /// Where the kernel keeps its account; none if it does not tell.
    account: Option<cpu::Account>,
}

impl Served {
    /// Serves a web on the port of its configuration, or on any free one if that is 0.
    pub fn start(config: WebConfig, options: &ServeOptions) -> io::Result<Served> {
        let first = bind(config.port)?;
        let http = SocketAddr::from((Ipv4Addr::LOCALHOST, first.local_addr()?.port()));
        let web = Arc::new(Web::new(WebConfig { port: http.port(), network: NETWORK, ..config }));
        let log = options.log.then(|| Arc::new(RequestLog::new()));
        let service = Arc::new(http::Service::new(web.clone(), log.clone(), options));
        let names = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        names.set_nonblocking(true)?;
        let dns = names.local_addr()?;
        let mut sockets = vec![first];
        for _ in 1..options.threads.max(1) {
            sockets.push(bind(http.port())?);
        }
        let (stop, stopped) = watch::channel(false);
        let mut names = Some(names);
        let mut served = Served { web, http, dns, log, service, threads: Vec::new(), stop };
        for socket in sockets {
            let service = served.service.clone();
            let thread = start_thread(socket, names.take(), service, stopped.clone())?;
            served.threads.push(thread);
        }
        Ok(served)
    }

    /// The record of requests, if it was asked for.
    pub fn log(&self) -> Option<&RequestLog> {
        self.log.as_deref()
    }

    /// Requests answered so far, robots.txt included.
    pub fn answers(&self) -> u64 {
        self.service.answers.load(Ordering::Relaxed)
    }

    /// Pages among them: status 200, robots.txt not counted.
    pub fn pages(&self) -> u64 {
        self.service.pages.load(Ordering::Relaxed)
    }

    /// CPU time that the server has used, in microseconds; 0 where the kernel does not tell.
    pub fn cpu_us(&self) -> u64 {
        self.threads.iter().filter_map(|thread| thread.account.as_ref()).map(|a| a.used_us()).sum()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A thread that is gone already has nobody to tell; that is as good as stopped.
        let _ = self.stop.send(true);
        for thread in &mut self.threads {
            if let Some(handle) = thread.handle.take() {
                let _ = handle.join();
            }
        }
    }
}

/// A socket for all loopback addresses, beside others of ours on the same port.
fn bind(port: u16) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    // Not for a port that someone else has: that stays an error.
    socket.set_reuseport(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
    Ok(socket)
}

struct Work {
    listener: TcpListener,
    names: Option<std::net::UdpSocket>,
    service: Arc<http::Service>,
}

fn start_thread(
    socket: TcpSocket,
    names: Option<std::net::UdpSocket>,
    service: Arc<http::Service>,
    stopped: watch::Receiver<bool>,
) -> io::Result<ServerThread> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    // Listening before the thread runs: nobody is refused who comes early.
    let work = Work { listener: socket.listen(BACKLOG)?, names, service };
    drop(entered);
    let (tell, told) = mpsc::channel();
    let handle = std::thread::Builder::new().name("serve".into()).spawn(move || {
        // The receiver waits for this very message.
        let _ = tell.send(cpu::Account::of_this_thread());
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, serve(work, stopped));
    })?;
    let account = told.recv().ok().flatten();
    Ok(ServerThread { handle: Some(handle), account })
}

async fn serve(work: Work, mut stopped: watch::Receiver<bool>) {
    if let Some(Ok(socket)) = work.names.map(UdpSocket::from_std) {
        tokio::task::spawn_local(dns::answer_all(socket, work.service.web.clone()));
    }
    tokio::select! {
        _ = stopped.wait_for(|&stopped| stopped) => {}
        () = http::accept_all(work.listener, work.service) => {}
    }
}
