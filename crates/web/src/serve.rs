//! The server: a thread of its own, a bounded number of connections, requests of a bounded size and
//! time, heads and bodies. A viewer that reads nothing holds one connection, for a while.

use crate::guard::{self, ViewerAccess};
use crate::patient::{Patient, WRITE_TIME_MAX};
use crate::{copy, routes, source::DashboardSource};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};

const CONNECTIONS_MAX: usize = 128;
const SECRET_BYTES: usize = 16;
/// Of a request's head.
const REQUEST_BYTES_MAX: usize = 16 << 10;
pub const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// After a failed accept, so that a lack of descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// A scan that is under way at the end is left to itself after this time.
const STOP_TIME_MAX: Duration = Duration::from_millis(500);
/// Threads for questions to the store, which take turns.
const BLOCKING_THREADS_MAX: usize = 4;

/// A port that is ours: taken before a crawl begins, so that a port in use is told at once.
#[derive(Debug)]
pub struct DashboardPort {
    listener: TcpListener,
    addr: SocketAddr,
    /// Copies of strangers' pages have an origin of their own.
    copies: TcpListener,
}

/// Who may look, and whether viewers may change anything.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Names besides the address and localhost.
    pub names: Vec<String>,
    pub token: Option<String>,
    pub may_control: bool,
}

#[derive(Debug)]
pub struct DashboardBindError {
    addr: SocketAddr,
    why: io::Error,
}

impl fmt::Display for DashboardBindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DashboardBindError { addr, why } = self;
        match why.kind() {
            io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "dashboard: {addr} is in use by another program: say auto, or another port"
                )
            }
            _ => write!(f, "dashboard: cannot listen on {addr}: {why}"),
        }
    }
}

impl std::error::Error for DashboardBindError {}

pub fn bind(addr: SocketAddr) -> Result<DashboardPort, DashboardBindError> {
    let bound = || -> io::Result<DashboardPort> {
        let listener = TcpListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let copies = beside(addr)?;
        Ok(DashboardPort { listener, addr, copies })
    };
    bound().map_err(|why| DashboardBindError { addr, why })
}

/// The port after that of the dashboard, or any if it is taken.
fn beside(addr: SocketAddr) -> io::Result<TcpListener> {
    let next = addr.port().checked_add(1).unwrap_or(0);
    let bound = TcpListener::bind(SocketAddr::new(addr.ip(), next));
    let listener = bound.or_else(|_| TcpListener::bind(SocketAddr::new(addr.ip(), 0)))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// What no stranger can guess.
fn secret() -> io::Result<String> {
    use std::fmt::Write;
    use std::io::Read;
    let mut bytes = [0; SECRET_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

impl DashboardPort {
    /// The port that was given, if 0 was asked for.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves the dashboard of the crawl in `dir` until the value is dropped.
    pub fn serve(self, dir: &Path, rights: Rights) -> io::Result<Serving> {
        let Rights { names, token, may_control } = rights;
        let copies_addr = self.copies.local_addr()?;
        let form = may_control.then(secret).transpose()?;
        let access = |addr, policy| ViewerAccess {
            addr,
            names: names.clone(),
            token: token.clone(),
            form: form.clone(),
            policy,
        };
        let own = Arc::new(access(self.addr, guard::POLICY));
        let app = routes::router(Arc::new(DashboardSource::new(dir)), own, copies_addr.port());
        let theirs = Arc::new(access(copies_addr, copy::POLICY));
        let copies = copy::router(dir.to_owned(), self.addr.port(), theirs);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread =
            thread::Builder::new().name("rhumb-dashboard".to_owned()).spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = accept(self.listener, app) => {}
                        () = accept(self.copies, copies) => {}
                        _ = stopped => {}
                    }
                });
                runtime.shutdown_timeout(STOP_TIME_MAX);
            })?;
        Ok(Serving { stop: Some(stop), thread: Some(thread) })
    }
}

/// A dashboard that is being served.
pub struct Serving {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Serves until the process ends.
    pub fn wait(mut self) {
        // Closing the channel would be the message to stop.
        let stop = self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        drop(stop);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, app: axum::Router) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "the dashboard cannot be served");
            return;
        }
    };
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let app = app.clone();
                tokio::spawn(async move {
                    if let Err(error) = converse(stream, app).await {
                        tracing::debug!(%error, "a viewer's connection was lost");
                    }
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a viewer's connection was lost");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn converse(stream: TcpStream, app: axum::Router) -> hyper::Result<()> {
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIME_MAX)
        .max_buf_size(REQUEST_BYTES_MAX)
        .serve_connection(
            TokioIo::new(Patient::new(stream, WRITE_TIME_MAX)),
            TowerToHyperService::new(app),
        )
        .await
}
