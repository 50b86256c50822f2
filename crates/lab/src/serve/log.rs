//! Who asked what and when: the evidence for checks of politeness.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

/// Requests beyond this many are counted, not kept.
pub const LOGGED_MAX: usize = 1_000_000;

/// One request, from its last byte in to the last byte of the answer out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Host and port, as asked for.
    pub host: String,
    pub path: String,
    /// The address it came to.
    pub address: IpAddr,
    /// Microseconds since the server started.
    pub start_us: u64,
    pub end_us: u64,
    pub status: u16,
    /// Requests open to this host when this one began, itself included.
    pub open_on_host: u32,
    /// The same for its address.
    pub open_on_address: u32,
}

pub struct RequestLog {
    started: Instant,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    ended: Vec<Logged>,
    left_out: u64,
    open_on_host: HashMap<String, u32>,
    open_on_address: HashMap<IpAddr, u32>,
}

impl RequestLog {
    pub(super) fn new() -> RequestLog {
        RequestLog { started: Instant::now(), inner: Mutex::default() }
    }

    /// All requests that have ended, in the order of their ends.
    pub fn requests(&self) -> Vec<Logged> {
        self.lock().ended.clone()
    }

    /// Requests beyond [`LOGGED_MAX`].
    pub fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    pub(super) fn begin(&self, host: &str, path: &str, address: IpAddr) -> Logged {
        let start_us = self.now_us();
        let mut inner = self.lock();
        let open_on_host = inner.open_on_host.entry(host.to_owned()).or_default();
        *open_on_host += 1;
        let open_on_host = *open_on_host;
        let open_on_address = inner.open_on_address.entry(address).or_default();
        *open_on_address += 1;
        Logged {
            host: host.to_owned(),
            path: path.to_owned(),
            address,
            start_us,
            end_us: start_us,
            status: 0,
            open_on_host,
            open_on_address: *open_on_address,
        }
    }

    pub(super) fn end(&self, mut request: Logged, status: u16) {
        request.end_us = self.now_us();
        request.status = status;
        let mut inner = self.lock();
        if let Some(open) = inner.open_on_host.get_mut(&request.host) {
            *open -= 1;
        }
        if let Some(open) = inner.open_on_address.get_mut(&request.address) {
            *open -= 1;
        }
        if inner.ended.len() < LOGGED_MAX {
            inner.ended.push(request);
        } else {
            inner.left_out += 1;
        }
    }

    /// By the clock of [`Logged::start_us`].
    pub fn now_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().expect("no thread panics with the log in its hands")
    }
}
