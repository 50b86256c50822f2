//! Without `--allow-private` no private address is connected to, however it comes: as a link, a
//! redirect, a robots.txt that moved, a sitemap, or the answer of a name server.
//!
//! A public address is needed to begin with. The test makes one, and private ones, in a network of
//! its own (`unshare`); where that is not permitted it is left out.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::binary;

const PUBLIC: Ipv4Addr = Ipv4Addr::new(44, 77, 0, 1);
/// Public, and nobody listens there: what comes behind it in an answer is tried next.
const NOBODY: Ipv4Addr = Ipv4Addr::new(44, 77, 0, 2);
const NETWORK: &str = "ip link set lo up \
    && for a in 44.77.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1; do \
       ip addr add $a/32 dev lo || exit 1; done; \
    ip -6 addr add fd00::1/128 dev lo 2>/dev/null; \
    exec \"$0\" --exact private::in_a_network_of_its_own --ignored --nocapture";

/// Private addresses, as an author of pages may spell them.
const SPELLINGS: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "127.0.0.1.",
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "127\u{3002}0\u{3002}0\u{3002}1",
    "127.0.0.1%2e",
    "%31%32%37.0.0.1",
    "user:word@127.0.0.1",
    "0.0.0.0",
    "0",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fd00::1]",
    "10.0.0.1",
    "167772161",
    "172.16.0.1",
    "192.168.1.1",
    "192.168.257",
    "169.254.169.254",
    "2852039166",
    "100.64.0.1",
    "localhost",
    "LOCALHOST",
    "www.localhost",
    "loop.test",
    "ten.test",
    "metadata.test",
    "six.test",
    "mapped.test",
    "mixed.test",
    "behind.test",
    "rebinding.test",
];

#[test]
fn no_private_address_is_connected_to_in_whatever_way_it_comes() {
    let program = std::env::current_exe().unwrap();
    let output = Command::new("unshare")
        .args(["-Urn", "--", "sh", "-c", NETWORK])
        .arg(program)
        .env("RHUMB_TEST_BIN", binary::rhumb())
        .output();
    let Ok(output) = output else {
        return rhumb_given::left_out("unshare is not installed");
    };
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !stdout.contains("running 1 test") {
        return rhumb_given::left_out(&format!("no network of its own: {}", stderr.trim()));
    }
    assert!(output.status.success(), "{stdout}{stderr}");
}

/// What the servers saw.
#[derive(Default)]
struct Seen {
    /// Addresses that were connected to.
    connected: BTreeSet<IpAddr>,
    paths: BTreeSet<String>,
}

#[test]
#[ignore = "runs in a network of its own, started by the test above"]
fn in_a_network_of_its_own() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    // All addresses of both families.
    let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            std::thread::spawn(move || serve(stream, port, &served));
        }
    });
    let names = UdpSocket::bind("127.0.0.1:0").unwrap();
    let resolver = names.local_addr().unwrap();
    std::thread::spawn(move || answer_names(&names));
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", &format!("http://public.test:{port}/"), "--scope", "any"])
        .args(["--delay", "1ms", "--delay-factor", "0", "--max-time", "60s"])
        .args(["--config".as_ref(), config(dir.path()).as_os_str()])
        .args(["--resolver", &resolver.to_string()])
        .args(["--dir".as_ref(), dir.path().join("crawl").as_os_str()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = seen.lock().unwrap();
    let redirects = (0..SPELLINGS.len()).map(|n| format!("/to/{n}"));
    let missing: Vec<String> = redirects.filter(|path| !seen.paths.contains(path)).collect();
    assert!(missing.is_empty(), "these redirects were not even asked for: {missing:?}");
    assert_eq!(seen.connected, BTreeSet::from([IpAddr::V4(PUBLIC)]), "{:?}", seen.paths);
}

/// Hosts that fail are tried twice and then left.
fn config(dir: &std::path::Path) -> std::path::PathBuf {
    let path = dir.join("retry.toml");
    let retry = "[retry]\nwait_min = \"10ms\"\nwait_max = \"10ms\"\nhost_failures_max = 2\n";
    std::fs::write(&path, retry).unwrap();
    path
}

fn serve(mut stream: TcpStream, port: u16, seen: &Mutex<Seen>) {
    let local = stream.local_addr().unwrap().ip().to_canonical();
    seen.lock().unwrap().connected.insert(local);
    let Ok(copy) = stream.try_clone() else { return };
    let mut lines = BufReader::new(copy).lines().map_while(Result::ok);
    while let Some(request) = lines.next() {
        let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let host = head.iter().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
        seen.lock().unwrap().paths.insert(path.clone());
        if stream.write_all(answer(host, &path, port).as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(host: &str, path: &str, port: u16) -> String {
    let to = |spelling: &str| format!("http://{spelling}:{port}/secret");
    if path == "/robots.txt" && host.starts_with("moved.test") {
        return moved(&format!("http://127.0.0.1:{port}/robots.txt"));
    }
    if path == "/robots.txt" {
        let sitemaps =
            SPELLINGS.iter().map(|at| format!("Sitemap: http://{at}:{port}/sitemap.xml\n"));
        return whole(
            "text/plain",
            &format!("User-agent: *\nDisallow:\n{}", sitemaps.collect::<String>()),
        );
    }
    if let Some(spelling) =
        path.strip_prefix("/to/").and_then(|n| SPELLINGS.get(n.parse::<usize>().ok()?))
    {
        return moved(&to(spelling));
    }
    let links = SPELLINGS.iter().enumerate().flat_map(|(n, spelling)| {
        [
            to(spelling),
            format!("//{spelling}:{port}/x"),
            format!("/to/{n}"),
            format!("https://{spelling}/"),
        ]
    });
    let links: String = links.map(|link| format!("<a href=\"{link}\">l</a>\n")).collect();
    whole("text/html", &format!("<p>{path}</p>{links}<a href=\"http://moved.test:{port}/\">m</a>"))
}

fn moved(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

fn whole(content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// The addresses of a name; `asked` says how often it was asked for before.
fn addresses(name: &str, asked: usize) -> Vec<IpAddr> {
    let v4 = |ip: Ipv4Addr| vec![IpAddr::V4(ip)];
    match name {
        "public.test" | "moved.test" => v4(PUBLIC),
        "ten.test" => v4(Ipv4Addr::new(10, 0, 0, 1)),
        "metadata.test" => v4(Ipv4Addr::new(169, 254, 169, 254)),
        "six.test" => vec![IpAddr::V6(Ipv6Addr::LOCALHOST)],
        "mapped.test" => vec![IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped())],
        "mixed.test" => vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(PUBLIC)],
        "behind.test" => vec![IpAddr::V4(NOBODY), IpAddr::V4(Ipv4Addr::LOCALHOST)],
        "rebinding.test" if asked == 0 => v4(PUBLIC),
        _ => v4(Ipv4Addr::LOCALHOST),
    }
}

fn answer_names(socket: &UdpSocket) {
    const TYPE_AAAA: u8 = 28;
    let mut asked = std::collections::BTreeMap::new();
    let mut packet = [0; 1_500];
    while let Ok((length, peer)) = socket.recv_from(&mut packet) {
        let Some((name, end)) = question(&packet[..length]) else { continue };
        let wants_v6 = packet[end - 3] == TYPE_AAAA;
        let times: &mut usize = asked.entry(name.clone()).or_default();
        let fitting = addresses(&name, *times).into_iter().filter(|ip| ip.is_ipv6() == wants_v6);
        let records: Vec<Vec<u8>> = fitting.map(record).collect();
        *times += usize::from(!wants_v6);
        let mut answer =
            [&packet[..2], &[0x81, 0x80, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]].concat();
        answer.extend_from_slice(&packet[12..end]);
        answer.extend(records.concat());
        let peer: SocketAddr = peer;
        let _ = socket.send_to(&answer, peer);
    }
}

/// The name in the question, and where the question ends.
fn question(packet: &[u8]) -> Option<(String, usize)> {
    let (mut labels, mut at) = (Vec::new(), 12);
    while let Some(length) = packet.get(at).map(|length| usize::from(*length)).filter(|n| *n > 0) {
        labels.push(
            String::from_utf8_lossy(packet.get(at + 1..at + 1 + length)?).to_ascii_lowercase(),
        );
        at += 1 + length;
    }
    (packet.len() >= at + 5).then(|| (labels.join("."), at + 5))
}

/// With a TTL of 0, so that it is asked again as soon as may be.
fn record(ip: IpAddr) -> Vec<u8> {
    let (kind, data) = match ip {
        IpAddr::V4(ip) => (1, ip.octets().to_vec()),
        IpAddr::V6(ip) => (28, ip.octets().to_vec()),
    };
    [&[0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, data.len() as u8], &data[..]].concat()
}
