//! What must hold for whatever a name server answers: the resolver of crawls asks a real socket.
//!
//! The target is dns; `crates/fetch/tests/fetch/mutated.rs` runs the same check on seeded mutations
//! under `cargo test`.

use rhumb_fetch::dns::{ADDRESSES_MAX, DnsConfig, Resolver};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::runtime::{Builder, Runtime};

const ID_BYTES: usize = 2;
const QUESTION_BYTES_MAX: usize = 512;
const TTL_MIN: Duration = Duration::from_secs(60);
const TTL_MAX: Duration = Duration::from_secs(86_400);

/// A name server and who asks it, kept from input to input.
struct Asking {
    runtime: Runtime,
    socket: UdpSocket,
    resolver: Resolver,
    number: u64,
}

impl Asking {
    fn new() -> Asking {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).expect("a port");
        let server: SocketAddr = socket.local_addr().expect("an address");
        let config = DnsConfig {
            server: Some(server),
            answers_max: 16,
            // An answer that is none is waited out.
            timeout: Duration::from_millis(200),
            attempts_max: 1,
            ttl_min: TTL_MIN,
            ttl_max: TTL_MAX,
            ..DnsConfig::default()
        };
        let resolver = Resolver::new(config).expect("a resolver");
        Asking { runtime, socket, resolver, number: 0 }
    }
}

thread_local! {
    static ASKING: RefCell<Asking> = RefCell::new(Asking::new());
}

/// Whatever stands behind the number of the question: addresses, no more than so many of each kind
/// and for no longer than the bounds say, or a failure.
pub fn dns(data: &[u8]) {
    ASKING.with_borrow_mut(|asking| {
        asking.number += 1;
        let name = format!("n{}.test", asking.number);
        let resolved = asking.runtime.block_on(async {
            tokio::select! {
                resolved = asking.resolver.resolve(&name) => resolved,
                () = answer(&asking.socket, data) => unreachable!("it answers for ever"),
            }
        });
        if let Ok(resolved) = resolved {
            assert!(!resolved.addresses.is_empty());
            assert!(resolved.addresses.len() <= 2 * ADDRESSES_MAX);
            assert!(resolved.expires_in <= TTL_MAX);
        }
        assert!(asking.resolver.kept() <= 16);
    });
}

/// Answers each question with the bytes, behind its number and, if they begin so, with the question
/// itself; and then that the server failed, so that nobody waits.
async fn answer(socket: &UdpSocket, data: &[u8]) {
    const FAILED: [u8; 10] = [0x81, 0x82, 0, 1, 0, 0, 0, 0, 0, 0];
    let mut packet = [0; QUESTION_BYTES_MAX];
    loop {
        let Ok((length, peer)) = socket.recv_from(&mut packet).await else { continue };
        let (id, question) = (&packet[..ID_BYTES], &packet[12.min(length)..length]);
        let head = data.get(..10).unwrap_or(&FAILED);
        let rest = data.get(10..).unwrap_or_default();
        let said = [id, head, question, rest].concat();
        let failed = [id, &FAILED, question].concat();
        for bytes in [said, failed] {
            // Who asked may have gone.
            let _ = socket.send_to(&bytes, peer).await;
        }
    }
}
