//! Large bodies beside each other: each comes to its end, or is to be asked for again.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use rhumb_fetch::{Fetch, FetchLimits, FetchRequest, Http, Truncation};
use tokio::task::JoinSet;

use crate::server::{Act, Server, client, limits, request, run, send};

const HONEST_BYTES: usize = 5 << 20;

/// A server with an address of its own.
fn server(n: u8, acts: &[Act]) -> (Server, IpAddr) {
    let address = IpAddr::from([127, 0, 5, n]);
    let mut script = vec![Act::Read];
    script.extend_from_slice(acts);
    (Server::start_at(address, vec![script]), address)
}

fn honest(n: u8) -> (Server, IpAddr) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {HONEST_BYTES}\r\n\r\n");
    server(n, &[send(head), send(vec![b'x'; HONEST_BYTES])])
}

/// Why each body ended early, if it did, and its length; nothing of it is held then.
async fn fetch_all(
    client: &Arc<Http>,
    servers: &[(Server, IpAddr)],
    limits: &FetchLimits,
) -> Vec<(Option<Truncation>, usize)> {
    let mut tasks = JoinSet::new();
    for (server, address) in servers {
        let client = Arc::clone(client);
        let request = request(server.url("/"), limits.clone());
        let request = FetchRequest { address: Some(*address), ..request };
        tasks.spawn(async move {
            let response = client.fetch(&request).await.unwrap();
            (response.truncated, response.payload_len())
        });
    }
    tasks.join_all().await
}

#[test]
fn honest_pages_beside_bodies_without_end_at_as_many_addresses_come_whole() {
    let endless = ["Content-Type: text/plain\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"];
    let endless = (0..8_u8).map(|n| {
        let head = format!("HTTP/1.1 200 OK\r\n{}", endless[usize::from(n % 2)]);
        let piece = format!("1000\r\n{}\r\n", "x".repeat(0x1000)).repeat(4);
        server(n, &[send(head), Act::Repeat(piece.into_bytes())])
    });
    let endless: Vec<_> = endless.collect();
    let pages: Vec<_> = (8..20).map(honest).collect();
    let limits = FetchLimits { body_bytes_max: 24 << 20, ..limits() };
    run(async {
        let client = Arc::new(client());
        let (ends, came) = tokio::join!(
            fetch_all(&client, &endless, &limits),
            fetch_all(&client, &pages, &limits)
        );
        assert_eq!(came, [(None, HONEST_BYTES); 12]);
        let is_whole =
            |end: &&(Option<Truncation>, usize)| **end == (Some(Truncation::Length), 24 << 20);
        let whole = ends.iter().filter(is_whole).count();
        let gave_way = ends.iter().filter(|end| end.0 == Some(Truncation::NoRoom)).count();
        assert!(whole >= 3 && whole + gave_way == 8, "{ends:?}");
    });
}

#[test]
fn bodies_that_trickle_give_way_to_an_honest_one() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n";
    let trickles: Vec<_> =
        (20..32).map(|n| server(n, &[send(head), send(vec![b'x'; 3 << 20]), Act::Hold])).collect();
    let pages: Vec<_> = (32..36).map(honest).collect();
    // Too slow for nobody: what ends them is that others wait.
    let window = Duration::from_secs(1);
    let limits = FetchLimits { slow_window: window, slow_bytes_per_s_min: 0, ..limits() };
    run(async {
        let client = Arc::new(client());
        let came = tokio::select! {
            biased;
            came = async {
                // Those that trickle come first.
                let mut asked = 0;
                while asked < trickles.len() {
                    let requests = trickles.iter().map(|(server, _)| server.requests().len());
                    asked += requests.sum::<usize>();
                    tokio::task::yield_now().await;
                }
                fetch_all(&client, &pages, &limits).await
            } => came,
            _ = async {
                fetch_all(&client, &trickles, &limits).await;
                std::future::pending::<()>().await;
            } => unreachable!("it never ends"),
        };
        assert_eq!(came, [(None, HONEST_BYTES); 4]);
    });
}
