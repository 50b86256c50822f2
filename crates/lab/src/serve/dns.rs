//! The name server: UDP, one question a packet, answers straight from the web.
//!
//! Enough of RFC 1035 for a resolver: A records with their TTL, empty answers for other types,
//! NXDOMAIN with the SOA that negative caching wants (RFC 2308), SERVFAIL for the broken names.

use std::sync::Arc;

use rhumb_sim::web::{DnsAnswer, Web};
use tokio::net::UdpSocket;

/// A question is never longer; what is gets cut and then refused.
const PACKET_BYTES_MAX: usize = 1_500;
/// How long "there is no such name" may be remembered.
const NEGATIVE_TTL_S: u32 = 60;

const TYPE_A: u16 = 1;
const TYPE_SOA: u16 = 6;
const CLASS_IN: u16 = 1;
const HEADER_BYTES: usize = 12;
/// A name that points to the one in the question, right behind the header.
const SAME_NAME: u16 = 0xc000 | HEADER_BYTES as u16;

const FORMAT_ERROR: u16 = 1;
const SERVER_FAILURE: u16 = 2;
const NO_SUCH_NAME: u16 = 3;

pub(super) async fn answer_all(socket: UdpSocket, web: Arc<Web>) {
    let mut packet = [0; PACKET_BYTES_MAX];
    let mut answer = Vec::with_capacity(512);
    loop {
        // Errors on a UDP socket are those of single packets (a client gone): on to the next one.
        let Ok((length, peer)) = socket.recv_from(&mut packet).await else { continue };
        answer.clear();
        if respond(&web, &packet[..length], &mut answer) {
            let _ = socket.send_to(&answer, peer).await;
        }
    }
}

/// Writes the answer to a packet; false if it is none that deserves one.
fn respond(web: &Web, packet: &[u8], out: &mut Vec<u8>) -> bool {
    let is_query = packet.len() >= HEADER_BYTES && packet[2] & 0xf8 == 0;
    if !is_query {
        return false;
    }
    let Some(question) = Question::read(packet) else {
        write_header(packet, FORMAT_ERROR, [0, 0, 0], out);
        return true;
    };
    let (code, address) = match web.address(&question.name) {
        DnsAnswer::Found { ip, ttl_s } => (0, Some((ip, ttl_s))),
        DnsAnswer::NoSuchName => (NO_SUCH_NAME, None),
        DnsAnswer::ServerFailure => (SERVER_FAILURE, None),
    };
    let address = address.filter(|_| question.kind == TYPE_A);
    let negative = address.is_none() && code != SERVER_FAILURE;
    write_header(packet, code, [1, u16::from(address.is_some()), u16::from(negative)], out);
    out.extend_from_slice(&packet[HEADER_BYTES..question.end]);
    if let Some((ip, ttl_s)) = address {
        write_record(SAME_NAME, TYPE_A, ttl_s, &ip.octets(), out);
    }
    if negative {
        write_record(SAME_NAME, TYPE_SOA, NEGATIVE_TTL_S, &soa(), out);
    }
    true
}

struct Question {
    name: String,
    kind: u16,
    end: usize,
}

impl Question {
    /// The one question of a packet; none if it is not one plain name of the internet class.
    fn read(packet: &[u8]) -> Option<Question> {
        if packet[4..6] != [0, 1] {
            return None;
        }
        let mut name = String::new();
        let mut at = HEADER_BYTES;
        loop {
            let length = usize::from(*packet.get(at)?);
            at += 1;
            match length {
                0 => break,
                1..64 => {}
                _ => return None,
            }
            let label = std::str::from_utf8(packet.get(at..at + length)?).ok()?;
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&label.to_ascii_lowercase());
            at += length;
        }
        let fixed = packet.get(at..at + 4)?;
        let kind = u16::from_be_bytes([fixed[0], fixed[1]]);
        let class = u16::from_be_bytes([fixed[2], fixed[3]]);
        (class == CLASS_IN).then_some(Question { name, kind, end: at + 4 })
    }
}

fn write_header(
    packet: &[u8],
    code: u16,
    [questions, answers, authorities]: [u16; 3],
    out: &mut Vec<u8>,
) {
    const RESPONSE: u16 = 1 << 15;
    const AUTHORITATIVE: u16 = 1 << 10;
    const RECURSION_DESIRED: u16 = 1 << 8;
    const RECURSION_AVAILABLE: u16 = 1 << 7;
    let asked = u16::from_be_bytes([packet[2], packet[3]]) & RECURSION_DESIRED;
    let flags = RESPONSE | AUTHORITATIVE | RECURSION_AVAILABLE | asked | code;
    out.extend_from_slice(&packet[..2]);
    for field in [flags, questions, answers, authorities, 0] {
        out.extend_from_slice(&field.to_be_bytes());
    }
}

fn write_record(name: u16, kind: u16, ttl_s: u32, data: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&name.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
    out.extend_from_slice(&ttl_s.to_be_bytes());
    out.extend_from_slice(&(data.len() as u16).to_be_bytes());
    out.extend_from_slice(data);
}

/// Start of authority: root names, and the time that negative answers may be kept.
fn soa() -> Vec<u8> {
    let mut data = vec![0, 0];
    for field in [1, 3_600, 600, 86_400, NEGATIVE_TTL_S] {
        data.extend_from_slice(&field.to_be_bytes());
    }
    data
}
