//! A kind of misbehaviour as data: what its servers do, and what must come of it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use super::script::WireScript;

/// Page requests of one run that a kind without pages of its own may get.
pub const FEW: u64 = 40;
/// The same for a kind that has pages: as many as `--max-pages-per-host` of the run.
pub const HOST_SHARE: u64 = 300;

/// One hostile site: a name, the names below it, and an address.
#[derive(Clone, Copy, Debug)]
pub struct HostileKind {
    /// The first label of its name.
    pub name: &'static str,
    /// What it does.
    pub does: &'static str,
    /// What a good crawler makes of it.
    pub good: &'static str,
    pub answer: fn(&HostileRequest) -> WireScript,
    /// None for the usual one: `Disallow: /private/`.
    pub robots: Option<fn(&HostileRequest) -> WireScript>,
    /// None if it has no sitemaps: 404.
    pub sitemap: Option<fn(&HostileRequest) -> WireScript>,
    pub naming: Naming,
    pub transport: Transport,
    /// Its paths that the healthy front page links to.
    pub starts: &'static [&'static str],
    pub expected: Expected,
}

/// What its name server says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The address of the kind, which may be kept so many seconds.
    Here(u32),
    /// A response code without records.
    Code(u16),
    Silent,
    /// The address, so much later.
    Slow(Duration),
    /// These addresses.
    Addresses(&'static [Ipv4Addr]),
    /// The address of the kind behind so many others at which nobody listens.
    Behind(u16),
    /// A CNAME to itself.
    CnameLoop,
    /// So many CNAMEs, one after the other, then the address.
    CnameChain(u8),
    /// No records, and no error.
    Empty,
    /// A name that points at itself.
    BadPointer,
    /// An answer with another id and one to another question, both with an address that must not
    /// be connected to; then nothing.
    Foreign(Ipv4Addr),
    /// Bytes that are no message.
    Junk,
    /// Truncated, and nobody listens on TCP.
    Truncated,
    /// Three records announced, one there.
    Short,
}

/// How its connections begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Http,
    /// Nobody listens.
    Absent,
    /// Its backlog is full: connects are never completed.
    Full,
    /// TLS with a certificate that has this flaw.
    Tls(CertificateFlaw),
    /// The URL says https, the server speaks HTTP.
    NoTls,
    /// A handshake record of 16 KB at a byte a second.
    SlowTls,
    /// Closes when the client has said hello.
    HangUpTls,
}

impl Transport {
    pub fn scheme(self) -> &'static str {
        match self {
            Transport::Http | Transport::Absent | Transport::Full => "http",
            _ => "https",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CertificateFlaw {
    Expired,
    NotYetValid,
    OtherName,
    SelfSigned,
}

/// What must come of a kind, beside what is held for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Page requests, robots.txt and sitemaps apart.
    pub requests_max: u64,
    /// Paths without which the crawl has lost something: each has a response or revisit record.
    pub fetched: &'static [&'static str],
    /// Kinds of failure that may be reported of it.
    pub failures: &'static [&'static str],
    /// At least one of them must be.
    pub must_fail: bool,
    /// Beginnings of paths that are never requested.
    pub forbidden: &'static [&'static str],
    /// Some record of it has these bytes in its block.
    pub holds: &'static [&'static str],
    /// No record of the whole archive has these bytes in its block.
    pub lacks: &'static [&'static str],
    /// Questions to the name server.
    pub lookups_max: u64,
    pub names_max: usize,
}

/// Lookups of a kind that does nothing with names: again after each TTL, and both of A and AAAA.
const LOOKUPS: u64 = 24;
const TTL_S: u32 = 300;

impl HostileKind {
    pub const fn new(
        name: &'static str,
        does: &'static str,
        good: &'static str,
        answer: fn(&HostileRequest) -> WireScript,
    ) -> HostileKind {
        HostileKind {
            name,
            does,
            good,
            answer,
            robots: None,
            sitemap: None,
            naming: Naming::Here(TTL_S),
            transport: Transport::Http,
            starts: &["/"],
            expected: Expected {
                requests_max: FEW,
                fetched: &[],
                failures: &[],
                must_fail: false,
                forbidden: &[],
                holds: &[],
                lacks: &[],
                lookups_max: LOOKUPS,
                names_max: 1,
            },
        }
    }

    /// One of its URLs, by the path.
    pub fn url(&self, path: &str, port: u16) -> String {
        format!("{}://{}.{}:{port}{path}", self.transport.scheme(), self.name, super::ZONE)
    }

    pub const fn robots(mut self, robots: fn(&HostileRequest) -> WireScript) -> HostileKind {
        self.robots = Some(robots);
        self
    }

    pub const fn sitemap(mut self, sitemap: fn(&HostileRequest) -> WireScript) -> HostileKind {
        self.sitemap = Some(sitemap);
        self
    }

    pub const fn naming(mut self, naming: Naming) -> HostileKind {
        self.naming = naming;
        self
    }

    pub const fn transport(mut self, transport: Transport) -> HostileKind {
        self.transport = transport;
        self
    }

    pub const fn starts(mut self, paths: &'static [&'static str]) -> HostileKind {
        self.starts = paths;
        self
    }

    pub const fn requests(mut self, max: u64) -> HostileKind {
        self.expected.requests_max = max;
        self
    }

    pub const fn fetches(mut self, paths: &'static [&'static str]) -> HostileKind {
        self.expected.fetched = paths;
        self
    }

    /// It fails, as one of these kinds, within the time of the run.
    pub const fn fails(mut self, kinds: &'static [&'static str]) -> HostileKind {
        self.expected.failures = kinds;
        self.expected.must_fail = true;
        self
    }

    /// If it fails within the time of the run, it is as one of these kinds.
    pub const fn may_fail(mut self, kinds: &'static [&'static str]) -> HostileKind {
        self.expected.failures = kinds;
        self
    }

    pub const fn forbids(mut self, prefixes: &'static [&'static str]) -> HostileKind {
        self.expected.forbidden = prefixes;
        self
    }

    pub const fn holds(mut self, texts: &'static [&'static str]) -> HostileKind {
        self.expected.holds = texts;
        self
    }

    pub const fn lacks(mut self, texts: &'static [&'static str]) -> HostileKind {
        self.expected.lacks = texts;
        self
    }

    pub const fn lookups(mut self, max: u64) -> HostileKind {
        self.expected.lookups_max = max;
        self
    }

    /// Names of it that may be asked for anything.
    pub const fn names(mut self, max: usize) -> HostileKind {
        self.expected.names_max = max;
        self
    }
}

/// A request as a kind sees it.
#[derive(Clone, Debug)]
pub struct HostileRequest {
    /// The host that was asked for, without port.
    pub host: String,
    /// As sent: path and query.
    pub target: String,
    /// The whole head as sent.
    pub head: String,
    /// Requests to this kind before this one, robots.txt included.
    pub before: u64,
    /// Requests for this very target before this one.
    pub repeated: u64,
    /// The port at which the whole web is served.
    pub port: u16,
    /// The first pages of all other kinds.
    pub others: Arc<[String]>,
}

impl HostileRequest {
    pub fn path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }

    /// Scheme, host and port of the same host.
    pub fn origin(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }

    /// Scheme, host and port of another kind.
    pub fn origin_of(&self, name: &str) -> String {
        format!("http://{name}.{}:{}", super::ZONE, self.port)
    }

    /// The number at the end of the path, 0 if there is none.
    pub fn number(&self) -> u64 {
        let path = self.path();
        let digits = path.len() - path.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        path[path.len() - digits..].parse().unwrap_or(0)
    }
}
