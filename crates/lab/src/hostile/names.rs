//! A name server that misbehaves as the kinds ask it to: UDP, one question a packet.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UdpSocket;

use super::kind::{HostileKind, Naming};
use super::ledger::Ledgers;
use super::script::Noise;

const PACKET_BYTES_MAX: usize = 1_500;
const HEADER_BYTES: usize = 12;
const TYPE_A: u16 = 1;
const TYPE_CNAME: u16 = 5;
const NO_SUCH_NAME: u16 = 3;
const TTL_S: u32 = 300;
/// The name in the question, right behind the header.
const SAME_NAME: [u8; 2] = [0xc0, HEADER_BYTES as u8];

/// What the name server answers from.
pub(super) struct Zone {
    pub kinds: Vec<HostileKind>,
    pub ledgers: Arc<Ledgers>,
}

pub(super) async fn answer_all(socket: UdpSocket, zone: Zone) {
    let (socket, zone) = (Rc::new(socket), Rc::new(zone));
    let mut packet = [0; PACKET_BYTES_MAX];
    loop {
        // Errors on a UDP socket are those of single packets (a client gone): on to the next one.
        let Ok((length, peer)) = socket.recv_from(&mut packet).await else { continue };
        let Some(question) = NameQuestion::read(&packet[..length]) else { continue };
        let (socket, zone) = (Rc::clone(&socket), Rc::clone(&zone));
        tokio::task::spawn_local(async move { zone.answer(&socket, peer, &question).await });
    }
}

struct NameQuestion {
    id: [u8; 2],
    name: String,
    kind: u16,
    /// As sent, without the header.
    bytes: Vec<u8>,
}

impl NameQuestion {
    fn read(packet: &[u8]) -> Option<NameQuestion> {
        let is_query = packet.len() >= HEADER_BYTES && packet[2] & 0x80 == 0;
        if !is_query || packet[4..6] != [0, 1] {
            return None;
        }
        let (mut labels, mut at) = (Vec::new(), HEADER_BYTES);
        loop {
            let length = usize::from(*packet.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            let label = packet.get(at..at + length)?;
            labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
            at += length;
        }
        let kind = u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]);
        let bytes = packet.get(HEADER_BYTES..at + 4)?.to_vec();
        Some(NameQuestion { id: [packet[0], packet[1]], name: labels.join("."), kind, bytes })
    }
}

impl Zone {
    async fn answer(&self, socket: &UdpSocket, peer: SocketAddr, question: &NameQuestion) {
        let Some(index) = self.kind_of(&question.name) else {
            let _ = socket.send_to(&message(question, NO_SUCH_NAME, 0, &[]), peer).await;
            return;
        };
        self.ledgers.lock(index).lookups += 1;
        let naming = self.kinds[index].naming;
        if let Naming::Slow(time) = naming {
            tokio::time::sleep(time).await;
        }
        for packet in answers(naming, super::address_of(index), question) {
            // A resolver that has given up meanwhile misses nothing.
            let _ = socket.send_to(&packet, peer).await;
        }
    }

    fn kind_of(&self, name: &str) -> Option<usize> {
        let within = name.strip_suffix(super::ZONE)?.strip_suffix('.')?;
        let label = within.rsplit('.').next()?;
        self.kinds.iter().position(|kind| kind.name == label)
    }
}

fn answers(naming: Naming, address: Ipv4Addr, question: &NameQuestion) -> Vec<Vec<u8>> {
    let addresses = |addresses: &[Ipv4Addr], ttl_s| {
        if question.kind != TYPE_A {
            return vec![message(question, 0, 0, &[])];
        }
        let records: Vec<Vec<u8>> =
            addresses.iter().map(|ip| record(&SAME_NAME, TYPE_A, ttl_s, &ip.octets())).collect();
        vec![message(question, 0, 0, &records)]
    };
    match naming {
        Naming::Here(ttl_s) => addresses(&[address], ttl_s),
        Naming::Slow(_) => addresses(&[address], TTL_S),
        Naming::Addresses(list) => addresses(list, TTL_S),
        Naming::Behind(others) => {
            let other = |n: u16| Ipv4Addr::new(127, 78, (n >> 8) as u8, n as u8);
            let list: Vec<Ipv4Addr> = (1..=others).map(other).chain([address]).collect();
            addresses(&list, TTL_S)
        }
        Naming::Code(code) => vec![message(question, code, 0, &[])],
        Naming::Empty => vec![message(question, 0, 0, &[])],
        Naming::Silent => Vec::new(),
        Naming::CnameLoop => {
            let to_itself = record(&SAME_NAME, TYPE_CNAME, TTL_S, &SAME_NAME);
            vec![message(question, 0, 0, &[to_itself])]
        }
        Naming::CnameChain(count) => vec![chain(question, count, address)],
        Naming::BadPointer => {
            // The owner of the record is a pointer to itself.
            let at = HEADER_BYTES + question.bytes.len();
            let owner = [0xc0, at as u8];
            vec![message(question, 0, 0, &[record(&owner, TYPE_A, TTL_S, &address.octets())])]
        }
        Naming::Foreign(decoy) => foreign(question, decoy),
        Naming::Junk => vec![junk(question)],
        Naming::Truncated => vec![message(question, 0, 0x0200, &[])],
        Naming::Short => {
            let one = record(&SAME_NAME, TYPE_A, TTL_S, &address.octets());
            let mut packet = message(question, 0, 0, &[one]);
            packet[7] = 3;
            vec![packet]
        }
    }
}

/// So many CNAMEs from name to name, then the address; of a question for another type, no address.
fn chain(question: &NameQuestion, count: u8, address: Ipv4Addr) -> Vec<u8> {
    let name = |n: u8| -> Vec<u8> {
        let label = format!("link-{n}");
        let mut bytes = vec![label.len() as u8];
        bytes.extend_from_slice(label.as_bytes());
        bytes.extend_from_slice(&SAME_NAME);
        bytes
    };
    let mut records = Vec::new();
    let mut owner = SAME_NAME.to_vec();
    for n in 0..count {
        records.push(record(&owner, TYPE_CNAME, TTL_S, &name(n)));
        owner = name(n);
    }
    if question.kind == TYPE_A {
        records.push(record(&owner, TYPE_A, TTL_S, &address.octets()));
    }
    message(question, 0, 0, &records)
}

/// Answers that are not to this question: another id, then another name.
fn foreign(question: &NameQuestion, decoy: Ipv4Addr) -> Vec<Vec<u8>> {
    let decoy = [record(&SAME_NAME, TYPE_A, TTL_S, &decoy.octets())];
    let mut other_id = message(question, 0, 0, &decoy);
    other_id[0] ^= 0x55;
    let mut other_name = message(question, 0, 0, &decoy);
    // The last letter of the first label.
    let first = usize::from(question.bytes[0]);
    other_name[HEADER_BYTES + first] ^= 1;
    vec![other_id, other_name]
}

fn junk(question: &NameQuestion) -> Vec<u8> {
    let mut packet = Noise::of(&question.name).bytes(300);
    packet[..2].copy_from_slice(&question.id);
    // A response: else it would not even be looked at.
    packet[2] |= 0x80;
    packet
}

fn message(question: &NameQuestion, code: u16, flags: u16, records: &[Vec<u8>]) -> Vec<u8> {
    /// A response, recursion desired and available.
    const RESPONSE: u16 = 0x8180;
    let mut packet = question.id.to_vec();
    for field in [RESPONSE | flags | code, 1, records.len() as u16, 0, 0] {
        packet.extend_from_slice(&field.to_be_bytes());
    }
    packet.extend_from_slice(&question.bytes);
    for record in records {
        packet.extend_from_slice(record);
    }
    packet
}

fn record(owner: &[u8], kind: u16, ttl_s: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = owner.to_vec();
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&1u16.to_be_bytes());
    bytes.extend_from_slice(&ttl_s.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u16).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// How long a slow name server takes.
pub(super) const SLOWLY: Duration = Duration::from_secs(3);
