//! A name server of one test, over UDP: it answers each name with the addresses that the test
//! wants.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};

const A: u16 = 1;
const AAAA: u16 = 28;
const NO_SUCH_NAME: u8 = 3;

/// What is said of a name.
pub enum Says {
    Addresses(Vec<IpAddr>),
    NoSuchName,
}

pub struct NameServer {
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl NameServer {
    /// Answers on loopback for as long as the process lives.
    pub fn start(zone: impl Fn(&str) -> Says + Send + 'static) -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut query = [0; 1_500];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                let (name, kind, end) = question(&query[..length]);
                let says = zone(&name);
                log.lock().unwrap().push(name);
                let _ = socket.send_to(&answer(&query[..end], kind, &says), from);
            }
        });
        NameServer { address, asked }
    }

    /// The names asked for so far, each once, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.asked.lock().unwrap().clone();
        names.sort();
        names.dedup();
        names
    }
}

fn question(query: &[u8]) -> (String, u16, usize) {
    let (mut labels, mut at) = (Vec::new(), 12);
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_ascii_lowercase());
        at = end;
    }
    (labels.join("."), u16::from_be_bytes([query[at + 1], query[at + 2]]), at + 5)
}

fn answer(question: &[u8], kind: u16, says: &Says) -> Vec<u8> {
    let (code, addresses): (u8, &[IpAddr]) = match says {
        Says::Addresses(addresses) => (0, addresses),
        Says::NoSuchName => (NO_SUCH_NAME, &[]),
    };
    let of_kind = |ip: &&IpAddr| kind == if ip.is_ipv4() { A } else { AAAA };
    let addresses: Vec<&IpAddr> = addresses.iter().filter(of_kind).collect();
    let mut bytes = question.to_vec();
    (bytes[2], bytes[3]) = (0x81, 0x80 | code);
    bytes[6..8].copy_from_slice(&(addresses.len() as u16).to_be_bytes());
    bytes[8..12].fill(0);
    for ip in addresses {
        let data = match ip {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        // The name of the question, the kind, class IN, ten minutes.
        bytes.extend([0xc0, 12]);
        bytes.extend(kind.to_be_bytes());
        bytes.extend([0, 1, 0, 0, 2, 88]);
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
    }
    bytes
}
