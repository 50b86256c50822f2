//! The resolver against a small name server of our own.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rhumb_fetch::dns::{DnsConfig, DnsFailureKind, Resolver};

use crate::server::{LOOPBACK, run, until};

const A: u16 = 1;
const SOA: u16 = 6;
const AAAA: u16 = 28;
const SERVFAIL: u8 = 2;
const NXDOMAIN: u8 = 3;
const REFUSED: u8 = 5;

/// What the server says of a name.
#[derive(Clone)]
enum Says {
    Addresses(Vec<IpAddr>, u32),
    /// A response code, with the zone's negative TTL if it has one.
    Code(u8, Option<u32>),
    /// An answer that breaks off in its first record.
    Nonsense,
    Silence,
}

struct NameServer {
    address: SocketAddr,
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl NameServer {
    fn start(zone: &[(&str, Says)]) -> NameServer {
        let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let asked: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let zone: HashMap<String, Says> =
            zone.iter().map(|(name, says)| (name.to_string(), says.clone())).collect();
        let counts = asked.clone();
        std::thread::spawn(move || {
            let mut query = [0; 4096];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                let (name, kind, question_end) = question(&query[..length]);
                *counts.lock().unwrap().entry(name.clone()).or_default() += 1;
                let says = zone.get(&name).cloned().unwrap_or(Says::Code(NXDOMAIN, Some(900)));
                if let Some(answer) = reply(&query[..question_end], kind, &says) {
                    let _ = socket.send_to(&answer, from);
                }
            }
        });
        NameServer { address, asked }
    }

    fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or(0)
    }

    fn resolver(&self) -> Resolver {
        self.resolver_with(|_| {})
    }

    fn resolver_with(&self, change: impl Fn(&mut DnsConfig)) -> Resolver {
        let mut config = DnsConfig { server: Some(self.address), ..DnsConfig::default() };
        config.ttl_min = Duration::ZERO;
        change(&mut config);
        Resolver::new(config).unwrap()
    }
}

fn question(query: &[u8]) -> (String, u16, usize) {
    let (mut name, mut at) = (String::new(), 12);
    while query[at] != 0 {
        let end = at + 1 + query[at] as usize;
        name.push_str(&String::from_utf8_lossy(&query[at + 1..end]));
        name.push('.');
        at = end;
    }
    let kind = u16::from_be_bytes([query[at + 1], query[at + 2]]);
    (name.trim_end_matches('.').to_ascii_lowercase(), kind, at + 5)
}

fn reply(question: &[u8], kind: u16, says: &Says) -> Option<Vec<u8>> {
    let (code, answers, authority) = match says {
        Says::Silence => return None,
        Says::Nonsense => (0, vec![vec![0xc0]], None),
        Says::Code(code, negative_ttl) => (*code, Vec::new(), *negative_ttl),
        Says::Addresses(addresses, ttl) => {
            let of_kind = addresses.iter().filter(|ip| ip.is_ipv4() == (kind == A));
            let records: Vec<Vec<u8>> = of_kind
                .map(|ip| match ip {
                    IpAddr::V4(ip) => record(A, *ttl, &ip.octets()),
                    IpAddr::V6(ip) => record(AAAA, *ttl, &ip.octets()),
                })
                .collect();
            (0, records, None)
        }
    };
    let mut bytes = question.to_vec();
    bytes[2] = 0x81;
    bytes[3] = 0x80 | code;
    bytes[6..8].copy_from_slice(&(answers.len() as u16).to_be_bytes());
    bytes[8..10].copy_from_slice(&u16::from(authority.is_some()).to_be_bytes());
    bytes[10..12].copy_from_slice(&[0, 0]);
    answers.iter().for_each(|answer| bytes.extend_from_slice(answer));
    if let Some(negative_ttl) = authority {
        let mut data = vec![0, 0];
        [1, 1, 1, 1, negative_ttl].iter().for_each(|n: &u32| data.extend(n.to_be_bytes()));
        bytes.extend_from_slice(&record(SOA, negative_ttl, &data));
    }
    Some(bytes)
}

/// A record of the name in the question.
fn record(kind: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xc0, 12];
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend(ttl.to_be_bytes());
    bytes.extend((data.len() as u16).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn addresses(list: &[&str], ttl: u32) -> Says {
    Says::Addresses(list.iter().map(|text| ip(text)).collect(), ttl)
}

#[test]
fn an_answer_is_kept_as_long_as_its_ttl_says_within_bounds() {
    let server = NameServer::start(&[
        ("day.test", addresses(&["192.0.2.1", "192.0.2.2"], 86_400)),
        ("now.test", addresses(&["192.0.2.3"], 0)),
        ("six.test", addresses(&["2001:db8::6"], 300)),
    ]);
    run(async {
        let resolver = server.resolver();
        for _ in 0..3 {
            let day = resolver.resolve("day.test").await.unwrap();
            assert_eq!(day.addresses, [ip("192.0.2.1"), ip("192.0.2.2")]);
            assert!(day.expires_in > Duration::from_secs(80_000), "{day:?}");
            assert!(day.expires_in <= Duration::from_secs(86_400), "{day:?}");
            let now = resolver.resolve("now.test").await.unwrap();
            assert_eq!((now.addresses, now.expires_in), (vec![ip("192.0.2.3")], Duration::ZERO));
        }
        assert_eq!((server.asked("day.test"), server.asked("now.test")), (2, 6), "A and AAAA");
        let six = resolver.resolve("six.test").await.unwrap();
        assert_eq!(six.addresses, [ip("2001:db8::6")]);
        assert_eq!(server.asked("six.test"), 2);

        let bounded = server.resolver_with(|config| {
            config.ttl_min = Duration::from_secs(100);
            config.ttl_max = Duration::from_secs(200);
        });
        for _ in 0..3 {
            let now = bounded.resolve("now.test").await.unwrap();
            assert!((50..=100).contains(&now.expires_in.as_secs()), "{now:?}");
            let day = bounded.resolve("day.test").await.unwrap();
            assert!((150..=200).contains(&day.expires_in.as_secs()), "{day:?}");
        }
        assert_eq!((server.asked("day.test"), server.asked("now.test")), (4, 8));
    });
}

#[test]
fn a_failure_is_kept_too_each_kind_for_its_time() {
    let server = NameServer::start(&[
        ("none.test", Says::Code(NXDOMAIN, Some(1000))),
        ("bare.test", Says::Code(NXDOMAIN, None)),
        ("empty.test", Says::Code(0, Some(500))),
        ("broken.test", Says::Code(SERVFAIL, None)),
        ("closed.test", Says::Code(REFUSED, None)),
        ("strange.test", Says::Nonsense),
        ("silent.test", Says::Silence),
    ]);
    run(async {
        let resolver = server.resolver_with(|config| {
            config.timeout = Duration::from_secs(1);
            config.attempts_max = 1;
        });
        for (name, kind, seconds) in [
            ("none.test", DnsFailureKind::NotFound, 1000),
            ("bare.test", DnsFailureKind::NotFound, 60),
            ("empty.test", DnsFailureKind::NoAddress, 500),
            ("broken.test", DnsFailureKind::Temporary, 60),
            ("closed.test", DnsFailureKind::Refused, 60),
            ("strange.test", DnsFailureKind::Temporary, 60),
            ("silent.test", DnsFailureKind::Temporary, 60),
        ] {
            let first = resolver.resolve(name).await.unwrap_err();
            assert_eq!(first.kind, kind, "{name}: {first}");
            assert!(
                (seconds / 2..=seconds).contains(&first.expires_in.as_secs()),
                "{name}: {first:?}"
            );
            let asked = server.asked(name);
            assert!(asked > 0, "{name}");
            for _ in 0..3 {
                assert_eq!(resolver.resolve(name).await.unwrap_err().kind, kind);
            }
            assert_eq!(server.asked(name), asked, "{name} was asked again");
        }
    });
}

#[test]
fn a_hundred_askers_of_one_name_make_one_question_whatever_the_answer() {
    let server = NameServer::start(&[
        ("busy.test", addresses(&["192.0.2.1"], 300)),
        ("none.test", Says::Code(NXDOMAIN, Some(300))),
    ]);
    let resolver = Arc::new(server.resolver());
    run(async {
        let mut askers = tokio::task::JoinSet::new();
        for n in 0..200 {
            let resolver = resolver.clone();
            let name = if n % 2 == 0 { "busy.test" } else { "none.test" };
            askers.spawn(async move { resolver.resolve(name).await.is_ok() });
        }
        let found = askers.join_all().await.into_iter().filter(|found| *found).count();
        assert_eq!(found, 100);
    });
    assert_eq!(server.asked("busy.test"), 2, "A and AAAA");
    assert_eq!(server.asked("none.test"), 2);
}

#[test]
fn a_name_has_its_addresses_of_both_kinds() {
    let server = NameServer::start(&[(
        "both.test",
        addresses(&["2001:db8::6", "192.0.2.1", "192.0.2.2"], 300),
    )]);
    run(async {
        let both = server.resolver().resolve("both.test").await.unwrap();
        assert_eq!(both.addresses, ["192.0.2.1", "192.0.2.2", "2001:db8::6"].map(ip));
    });
}

#[test]
fn more_names_than_may_be_asked_at_once_are_all_answered_and_the_memory_is_bounded() {
    let names: Vec<String> = (0..300).map(|n| format!("host{n}.test")).collect();
    let zone: Vec<(&str, Says)> =
        names.iter().map(|name| (name.as_str(), addresses(&["192.0.2.9"], 300))).collect();
    let server = NameServer::start(&zone);
    let resolver = Arc::new(server.resolver_with(|config| {
        config.in_flight_max = 8;
        config.answers_max = 50;
    }));
    run(async {
        let mut askers = tokio::task::JoinSet::new();
        for name in names.clone() {
            let resolver = resolver.clone();
            askers.spawn(async move { resolver.resolve(&name).await.is_ok() });
        }
        assert!(askers.join_all().await.into_iter().all(|found| found));
    });
    assert_eq!(resolver.kept(), 50);
}

#[test]
fn an_asker_who_leaves_takes_nobody_along() {
    let server = NameServer::start(&[("slow.test", Says::Silence)]);
    run(async {
        let resolver = server.resolver_with(|config| {
            config.timeout = Duration::from_millis(200);
            config.attempts_max = 1;
        });
        // One asker leaves as soon as the server has the question.
        let leaving = async {
            tokio::select! {
                answer = resolver.resolve("slow.test") => Some(answer),
                () = until(|| server.asked("slow.test") > 0) => None,
            }
        };
        let (left, stayed) = tokio::join!(leaving, resolver.resolve("slow.test"));
        assert!(left.is_none());
        assert_eq!(stayed.unwrap_err().kind, DnsFailureKind::Temporary);
    });
}

#[test]
fn an_address_needs_no_question_and_nonsense_is_no_name() {
    let server = NameServer::start(&[]);
    run(async {
        let resolver = server.resolver();
        for (host, address) in [("192.0.2.7", "192.0.2.7"), ("[2001:db8::1]", "2001:db8::1")] {
            assert_eq!(resolver.resolve(host).await.unwrap().addresses, [ip(address)]);
        }
        for nonsense in ["", "..", &"x".repeat(64), &"a.".repeat(200)] {
            let kind = resolver.resolve(nonsense).await.unwrap_err().kind;
            assert!(!matches!(kind, DnsFailureKind::Temporary), "{nonsense:?}: {kind:?}");
        }
        assert_eq!(server.asked("192.0.2.7"), 0);
    });
}

#[test]
fn the_systems_hosts_file_is_honoured_only_without_a_server_of_our_own() {
    // Not localhost: that name means loopback whatever any file says.
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let named = hosts.lines().find_map(|line| {
        let mut fields = line.split('#').next()?.split_whitespace();
        let ip: IpAddr = fields.next()?.parse().ok().filter(IpAddr::is_ipv4)?;
        Some((ip, fields.find(|name| !name.contains("localhost"))?.to_string()))
    });
    let (Some((ip, name)), Ok(system)) = (named, Resolver::new(DnsConfig::default())) else {
        rhumb_given::left_out("no name in /etc/hosts, or no /etc/resolv.conf");
        return;
    };
    let server = NameServer::start(&[]);
    run(async {
        assert!(system.resolve(&name).await.unwrap().addresses.contains(&ip), "{name}");
        let failure = server.resolver().resolve(&name).await.unwrap_err();
        assert_eq!(failure.kind, DnsFailureKind::NotFound);
    });
}

#[test]
fn a_name_with_an_underscore_is_a_name() {
    let server = NameServer::start(&[("my_site.test", addresses(&["192.0.2.7"], 60))]);
    run(async {
        let found = server.resolver().resolve("my_site.test").await.unwrap();
        assert_eq!(found.addresses, [ip("192.0.2.7")]);
    });
}
