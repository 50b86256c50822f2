//! What must hold for whatever a server sends: heads, framing, the copy of what came, content
//! codings. The real client reads it from a real socket.
//!
//! The targets are response and codings; `crates/fetch/tests/fetch/mutated.rs` runs the same checks
//! on seeded mutations under `cargo test`.

use rhumb_fetch::decode::{RATIO_FREE_BYTES, decode};
use rhumb_fetch::{Fetch, FetchLimits, FetchRequest, Http, HttpConfig, Validators};
use rhumb_page::url::Url;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const HEADER_BYTES_MAX: usize = 8 << 10;
const BODY_BYTES_MAX: usize = 16 << 10;
const DECODED_BYTES_MAX: usize = 2 << 20;

fn limits() -> FetchLimits {
    FetchLimits {
        header_bytes_max: HEADER_BYTES_MAX,
        headers_max: 64,
        body_bytes_max: BODY_BYTES_MAX,
        decoded_bytes_max: DECODED_BYTES_MAX,
        first_byte_time_max: Duration::from_secs(5),
        total_time_max: Duration::from_secs(10),
        ..FetchLimits::default()
    }
}

/// One server and one client, kept from input to input.
struct Pair {
    runtime: Runtime,
    listener: TcpListener,
    client: Http,
    /// Every input has an address of its own: the kernel remembers closed connections for a minute.
    number: u32,
}

impl Pair {
    fn new() -> Pair {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("0.0.0.0:0")).expect("a port");
        let config =
            HttpConfig { allow_private: true, idle_connections_max: 0, ..HttpConfig::default() };
        let client = Http::new(&config).expect("a client");
        Pair { runtime, listener, client, number: 0 }
    }
}

thread_local! {
    static PAIR: RefCell<Pair> = RefCell::new(Pair::new());
}

/// What a fetch gives was sent, in that order and nothing between; it is within its limits; and its
/// head and body can be read in every way.
pub fn response(data: &[u8]) {
    PAIR.with_borrow_mut(|pair| {
        pair.number = (pair.number + 1) % (1 << 22);
        let address = IpAddr::V4(Ipv4Addr::from_bits(0x7f00_0001 + pair.number));
        let port = pair.listener.local_addr().expect("a port").port();
        let request = FetchRequest {
            url: Url::parse(&format!("http://a.test:{port}/")).expect("a URL"),
            address: Some(address),
            validators: Validators::default(),
            limits: limits(),
            screen: None,
            leave: None,
        };
        let (served, fetched) = pair.runtime.block_on(async {
            tokio::join!(serve(&pair.listener, data), pair.client.fetch(&request))
        });
        served.expect("the loopback works");
        let raw = match fetched {
            Ok(answer) => {
                read_in_every_way(&answer);
                answer.raw
            }
            Err(failure) => failure.raw,
        };
        assert!(raw.is_empty() || data.windows(raw.len()).any(|part| part == raw));
    });
}

/// Takes a request, sends the bytes in two pieces, and closes.
async fn serve(listener: &TcpListener, data: &[u8]) -> std::io::Result<()> {
    let (mut stream, _) = listener.accept().await?;
    let mut head = [0; 4 << 10];
    let _ = stream.read(&mut head).await?;
    let (first, second) = data.split_at(data.len() / 2);
    // A client that has had enough closes, and what is sent then fails.
    let _ = stream.write_all(first).await;
    tokio::task::yield_now().await;
    let _ = stream.write_all(second).await;
    let _ = stream.shutdown().await;
    Ok(())
}

fn read_in_every_way(answer: &rhumb_fetch::Response) {
    assert!(answer.head_len <= answer.raw.len());
    assert!(answer.payload_len() <= BODY_BYTES_MAX);
    assert_eq!(answer.payload().len(), answer.payload_len());
    assert!(answer.decoded().bytes.len() <= DECODED_BYTES_MAX);
    assert!(answer.decoded_start(100).bytes.len() <= 100.max(answer.payload_len()));
    let head = answer.head();
    let _ = (head.content_type(), head.location(), head.retry_after(), head.content_encoding());
    let _ = (head.x_robots_tags().count(), head.headers().count(), answer.validators());
}

/// A body under any codings becomes at most so much, however they are nested; the first byte of the
/// input says which.
pub fn codings(data: &[u8]) {
    const NAMES: [&str; 5] = ["gzip", "deflate", "br", "zstd", "x-gzip"];
    let Some((&choice, payload)) = data.split_first() else { return };
    let choice = usize::from(choice);
    let (first, second) = (NAMES[choice % 5], NAMES[choice / 5 % 5]);
    let both = format!("{first}, {second}");
    let limits = limits();
    let ratio = limits.decoded_ratio_max;
    for encoding in [first, &both, "gzip, gzip, gzip", "identity"] {
        let decoded = decode(payload, encoding, &limits);
        let output_max = (payload.len() * ratio).clamp(RATIO_FREE_BYTES, DECODED_BYTES_MAX);
        assert!(decoded.bytes.len() <= output_max.max(payload.len()), "{encoding}");
    }
}
