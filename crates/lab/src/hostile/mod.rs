//! A hostile web: one site for each kind of misbehaviour, beside one that is healthy.
//!
//! Each kind is data ([`kind::HostileKind`]): what its servers do, and what must come of it. All of
//! them are linked from the front page of the healthy site, whose pages must come whatever the
//! others do. Every kind has a loopback address of its own, so that what is held for one address
//! can be seen there.
//!
//! - `kinds`: the kinds, by what they misuse. `script`: what a server does on the wire, step by
//!   step. `serve`: raw sockets that act it out. `names`: the name server. `certificates`: TLS.
//! - `ledger`: what the servers saw. `kept`: what the crawl kept. `judge`: both against what was
//!   expected. `run`: one crawl over all of it.

mod certificates;
pub mod judge;
mod kept;
pub mod kind;
pub mod kinds;
pub mod ledger;
mod names;
pub mod run;
pub mod script;
mod serve;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::net::UdpSocket;
use tokio::sync::watch;

use kind::{HostileKind, Transport};
use ledger::Ledgers;
use serve::KindServer;

/// All names end with it: each kind is a site of its own.
pub const ZONE: &str = "test";
/// The kind whose pages must all come.
pub const HEALTHY: &str = "good";
/// Only answers that are to no question of ours name it: nobody must connect to it.
pub const DECOY: Ipv4Addr = Ipv4Addr::new(127, 77, 255, 254);

/// A crawl opens no more than some hundreds at once.
const BACKLOG: i32 = 1_024;
/// Ports tried until one is free at the addresses of all kinds.
const PORTS_TRIED_MAX: usize = 20;
/// Connections that fill a backlog of one.
const FILLERS: usize = 4;

/// A hostile web that is served until this is dropped.
pub struct HostileWeb {
    pub kinds: Vec<HostileKind>,
    pub port: u16,
    /// The name server.
    pub dns: SocketAddr,
    pub ledgers: Arc<Ledgers>,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The address of the kind at this place in the list.
pub fn address_of(index: usize) -> Ipv4Addr {
    const PER_BYTE: usize = 250;
    let host = u8::try_from(index % PER_BYTE + 1).expect("less than 251");
    Ipv4Addr::new(127, 77, u8::try_from(index / PER_BYTE).expect("not so many kinds"), host)
}

/// One port at all addresses.
struct Doors {
    port: u16,
    open: Vec<(usize, TcpListener)>,
    decoy: Option<TcpListener>,
    /// Listeners that never accept, and what fills their backlogs.
    full: Vec<(TcpListener, Vec<std::net::TcpStream>)>,
}

impl HostileWeb {
    pub fn serve(kinds: Vec<HostileKind>) -> io::Result<HostileWeb> {
        kinds::prepare();
        let doors = Doors::open(&kinds)?;
        let names = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        names.set_nonblocking(true)?;
        let (port, dns) = (doors.port, names.local_addr()?);
        let ledgers = Arc::new(Ledgers::new(kinds.len()));
        let (stop, mut stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (served, seen) = (kinds.clone(), Arc::clone(&ledgers));
        let thread = std::thread::Builder::new().name("hostile".into()).spawn(move || {
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                let _full = doors.full;
                if let Some(decoy) = doors.decoy {
                    tokio::task::spawn_local(serve::watch_decoy(decoy, Arc::clone(&seen)));
                }
                start(doors.open, names, served, port, &seen);
                // The sender is dropped after it has told us.
                let _ = stopped.wait_for(|&stopped| stopped).await;
            });
        })?;
        Ok(HostileWeb { kinds, port, dns, ledgers, stop, thread: Some(thread) })
    }

    /// The first page of the healthy site.
    pub fn seed(&self) -> String {
        format!("http://{HEALTHY}.{ZONE}:{}/", self.port)
    }
}

impl Drop for HostileWeb {
    fn drop(&mut self) {
        // A thread that is gone already has nobody to tell; that is as good as stopped.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn start(
    open: Vec<(usize, TcpListener)>,
    names: std::net::UdpSocket,
    kinds: Vec<HostileKind>,
    port: u16,
    ledgers: &Arc<Ledgers>,
) {
    let others: Arc<[String]> = kinds
        .iter()
        .filter(|kind| kind.name != HEALTHY)
        .flat_map(|kind| kind.starts.iter().map(|path| kind.url(path, port)))
        .collect();
    for (index, listener) in open {
        let (ledgers, others) = (Arc::clone(ledgers), Arc::clone(&others));
        let server = Arc::new(KindServer { kind: kinds[index], index, port, ledgers, others });
        if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
            tokio::task::spawn_local(serve::accept_all(listener, server));
        }
    }
    if let Ok(socket) = UdpSocket::from_std(names) {
        let zone = names::Zone { kinds, ledgers: Arc::clone(ledgers) };
        tokio::task::spawn_local(names::answer_all(socket, zone));
    }
}

impl Doors {
    fn open(kinds: &[HostileKind]) -> io::Result<Doors> {
        let mut tried = 0;
        loop {
            match Doors::open_at_some_port(kinds) {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    tried += 1;
                    if tried == PORTS_TRIED_MAX {
                        return Err(error);
                    }
                }
                opened => return opened,
            }
        }
    }

    fn open_at_some_port(kinds: &[HostileKind]) -> io::Result<Doors> {
        let mut doors = Doors { port: 0, open: Vec::new(), full: Vec::new(), decoy: None };
        for (index, kind) in kinds.iter().enumerate() {
            let address = address_of(index);
            let backlog = match kind.transport {
                Transport::Absent => continue,
                Transport::Full => 0,
                _ => BACKLOG,
            };
            let listener = listen(SocketAddr::from((address, doors.port)), backlog)?;
            let bound = listener.local_addr()?;
            doors.port = bound.port();
            match kind.transport {
                Transport::Full => doors.full.push((listener, fill(bound))),
                _ => doors.open.push((index, listener)),
            }
        }
        doors.decoy = Some(listen(SocketAddr::from((DECOY, doors.port)), BACKLOG)?);
        Ok(doors)
    }
}

fn listen(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    use rustix::net;
    let flags = net::SocketFlags::CLOEXEC | net::SocketFlags::NONBLOCK;
    let socket = net::socket_with(net::AddressFamily::INET, net::SocketType::STREAM, flags, None)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, backlog)?;
    Ok(TcpListener::from(socket))
}

/// Connections until the kernel takes no more.
fn fill(address: SocketAddr) -> Vec<std::net::TcpStream> {
    const WAIT: std::time::Duration = std::time::Duration::from_millis(200);
    let connect = || std::net::TcpStream::connect_timeout(&address, WAIT).ok();
    (0..FILLERS).map_while(|_| connect()).collect()
}
