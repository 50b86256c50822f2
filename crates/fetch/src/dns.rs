//! Names to addresses: many questions at once, each asked only once while its answer holds.
//!
//! hickory speaks DNS; what it lacks for a crawler is here. Every answer is kept as long as its TTL
//! says (within bounds), failures too: names that do not exist as long as their zone says, servers
//! that fail for a short while. Whoever asks while a question is under way waits for its answer.
//! The questions under way and the answers kept are both bounded. A name is asked for IPv4 and IPv6
//! addresses at once; where there are IPv4 ones, the others are not waited for long. Which may be
//! connected to is not decided here (`address`).

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
use tokio::sync::{Notify, OnceCell, Semaphore};

use super::ConfigError;

/// A name with more addresses than this is cut: the first ones do.
pub const ADDRESSES_MAX: usize = 16;
/// Once there are IPv4 addresses, those of IPv6 are waited for so long.
const SECOND_KIND_WAIT: Duration = Duration::from_millis(100);

type Lookup = Result<LookupIp, NetError>;

#[derive(Clone, Debug)]
pub struct DnsConfig {
    /// The server to ask; `None` is the system's configuration, with its hosts file.
    pub server: Option<SocketAddr>,
    pub in_flight_max: usize,
    pub answers_max: usize,
    /// For one attempt at all servers.
    pub timeout: Duration,
    pub attempts_max: usize,
    /// Some zones say 0 or 5 seconds; asking before every page would serve nobody.
    pub ttl_min: Duration,
    pub ttl_max: Duration,
    /// "There is no such name" is believed within these, whatever its zone says.
    pub negative_ttl_min: Duration,
    pub negative_ttl_max: Duration,
    /// How long a server's failure stands before it is asked again.
    pub failure_ttl: Duration,
}

impl Default for DnsConfig {
    fn default() -> DnsConfig {
        DnsConfig {
            server: None,
            in_flight_max: 256,
            answers_max: 100_000,
            timeout: Duration::from_secs(5),
            attempts_max: 2,
            ttl_min: Duration::from_secs(60),
            ttl_max: Duration::from_secs(86_400),
            negative_ttl_min: Duration::from_secs(60),
            negative_ttl_max: Duration::from_secs(3 * 3600),
            failure_ttl: Duration::from_secs(60),
        }
    }
}

/// The addresses of a name, and how much longer they hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    pub addresses: Vec<IpAddr>,
    pub expires_in: Duration,
}

/// Why there are none, and when it is worth asking again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsFailure {
    pub kind: DnsFailureKind,
    pub detail: String,
    pub expires_in: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DnsFailureKind {
    /// There is no such name.
    NotFound,
    /// The name exists and has no address.
    NoAddress,
    /// The server does not answer such questions from us.
    Refused,
    /// No answer, or a failure of the server: later may be better.
    Temporary,
}

impl DnsFailureKind {
    pub fn as_str(self) -> &'static str {
        match self {
            DnsFailureKind::NotFound => "dns_not_found",
            DnsFailureKind::NoAddress => "dns_no_address",
            DnsFailureKind::Refused => "dns_refused",
            DnsFailureKind::Temporary => "dns_temporary",
        }
    }
}

impl fmt::Display for DnsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.detail)
    }
}

impl std::error::Error for DnsFailure {}

pub struct Resolver {
    v4: TokioResolver,
    v6: TokioResolver,
    in_flight: Semaphore,
    answers: Mutex<Answers>,
    config: DnsConfig,
}

impl Resolver {
    pub fn new(config: DnsConfig) -> Result<Resolver, ConfigError> {
        let hickory = |strategy| {
            hickory(&config, strategy)
                .map_err(|error| ConfigError(format!("name resolution: {error}")))
        };
        Ok(Resolver {
            v4: hickory(LookupIpStrategy::Ipv4Only)?,
            v6: hickory(LookupIpStrategy::Ipv6Only)?,
            in_flight: Semaphore::new(config.in_flight_max),
            answers: Mutex::new(Answers::new(config.answers_max)),
            config,
        })
    }

    /// The addresses of a host as it stands in a URL; one that is an address needs no question.
    pub async fn resolve(&self, host: &str) -> Result<Resolved, DnsFailure> {
        if let Some(ip) = ip_literal(host) {
            return Ok(Resolved { addresses: vec![ip], expires_in: self.config.ttl_max });
        }
        let cell = self.lock().cell(host, Instant::now());
        let answer = cell.get_or_init(|| self.ask(host)).await;
        let left = answer.until.saturating_duration_since(Instant::now());
        match &answer.outcome {
            Ok(addresses) => Ok(Resolved { addresses: addresses.clone(), expires_in: left }),
            Err((kind, detail)) => {
                Err(DnsFailure { kind: *kind, detail: detail.clone(), expires_in: left })
            }
        }
    }

    /// Answers kept, good and bad.
    pub fn kept(&self) -> usize {
        self.lock().cells.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Answers> {
        self.answers.lock().expect("no code panics while it holds the answers")
    }

    async fn ask(&self, host: &str) -> Answer {
        let _permit = self.in_flight.acquire().await.expect("the semaphore is never closed");
        // With the dot the name is whole: no search list of the system is tried. It is ASCII as it
        // stands in a URL, and may have an underscore, which no rule on other scripts allows.
        let name = match Name::from_ascii(format!("{}.", host.trim_end_matches('.'))) {
            Ok(name) => name,
            // A name that cannot be asked for cannot exist either.
            Err(error) => {
                let kind = DnsFailureKind::NotFound;
                return self.failed(kind, error.to_string(), None, Instant::now());
            }
        };
        let (v4, v6) = self.look_up(name).await;
        let now = Instant::now();
        let found: Vec<&LookupIp> = [Some(&v4), v6.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|lookup| lookup.as_ref().ok())
            .collect();
        let addresses: Vec<IpAddr> =
            found.iter().flat_map(|found| found.iter().take(ADDRESSES_MAX)).collect();
        if let (false, Some(until)) =
            (addresses.is_empty(), found.iter().map(|found| found.valid_until()).min())
        {
            let ttl = until.saturating_duration_since(now);
            let ttl = ttl.clamp(self.config.ttl_min, self.config.ttl_max);
            return Answer { outcome: Ok(addresses), until: now + ttl };
        }
        let errors = [v4.err(), v6.and_then(|lookup| lookup.err())];
        // That there is none of one kind says less than how the other question failed.
        let judged = errors.into_iter().flatten().map(|error| (judge(&error), error.to_string()));
        let worst = judged.min_by_key(|((kind, _), _)| *kind == DnsFailureKind::NoAddress);
        match worst {
            Some(((kind, negative_ttl), detail)) => self.failed(kind, detail, negative_ttl, now),
            None => self.failed(DnsFailureKind::NoAddress, "empty answer".into(), None, now),
        }
    }

    /// Both kinds of addresses; none of IPv6 if they take much longer than those of IPv4.
    async fn look_up(&self, name: Name) -> (Lookup, Option<Lookup>) {
        let has_v4 = Notify::new();
        let v4 = async {
            let found = self.v4.lookup_ip(name.clone()).await;
            if found.is_ok() {
                has_v4.notify_one();
            }
            found
        };
        let v6 = async {
            let late = async {
                has_v4.notified().await;
                tokio::time::sleep(SECOND_KIND_WAIT).await;
            };
            tokio::select! {
                found = self.v6.lookup_ip(name.clone()) => Some(found),
                () = late => None,
            }
        };
        tokio::join!(v4, v6)
    }

    fn failed(
        &self,
        kind: DnsFailureKind,
        detail: String,
        negative_ttl: Option<u32>,
        now: Instant,
    ) -> Answer {
        let config = &self.config;
        let ttl = match kind {
            DnsFailureKind::NotFound | DnsFailureKind::NoAddress => {
                Duration::from_secs(negative_ttl.unwrap_or(0).into())
                    .clamp(config.negative_ttl_min, config.negative_ttl_max)
            }
            DnsFailureKind::Refused | DnsFailureKind::Temporary => config.failure_ttl,
        };
        Answer { outcome: Err((kind, detail)), until: now + ttl }
    }
}

/// One question's answer; empty while the question is under way.
type Cell = Arc<OnceCell<Answer>>;

struct Answer {
    outcome: Result<Vec<IpAddr>, (DnsFailureKind, String)>,
    until: Instant,
}

/// Answers by name, the first one asked for leaves first when there are too many.
struct Answers {
    cells: HashMap<Arc<str>, Cell>,
    order: VecDeque<Arc<str>>,
    answers_max: usize,
}

impl Answers {
    fn new(answers_max: usize) -> Answers {
        Answers { cells: HashMap::new(), order: VecDeque::new(), answers_max }
    }

    /// The name's cell: one with an answer that holds, or one whose answer is on its way.
    fn cell(&mut self, host: &str, now: Instant) -> Cell {
        if let Some(cell) = self.cells.get_mut(host) {
            if cell.get().is_some_and(|answer| answer.until <= now) {
                *cell = Cell::default();
            }
            return cell.clone();
        }
        let (name, cell): (Arc<str>, Cell) = (host.into(), Cell::default());
        self.cells.insert(name.clone(), cell.clone());
        self.order.push_back(name);
        if self.order.len() > self.answers_max
            && let Some(first) = self.order.pop_front()
        {
            self.cells.remove(&first);
        }
        assert_eq!(self.cells.len(), self.order.len(), "every name has one place in the order");
        cell
    }
}

fn ip_literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

fn judge(error: &NetError) -> (DnsFailureKind, Option<u32>) {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => (DnsFailureKind::NotFound, none.negative_ttl),
            ResponseCode::NoError => (DnsFailureKind::NoAddress, none.negative_ttl),
            _ => (DnsFailureKind::Temporary, None),
        },
        NetError::Dns(DnsError::ResponseCode(ResponseCode::Refused)) => {
            (DnsFailureKind::Refused, None)
        }
        _ => (DnsFailureKind::Temporary, None),
    }
}

fn hickory(config: &DnsConfig, strategy: LookupIpStrategy) -> Result<TokioResolver, NetError> {
    let mut builder = match config.server {
        None => TokioResolver::builder_tokio()?,
        Some(server) => {
            let mut name_server = NameServerConfig::udp_and_tcp(server.ip());
            for connection in &mut name_server.connections {
                connection.port = server.port();
            }
            let servers = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
            let provider = TokioRuntimeProvider::default();
            TokioResolver::builder_with_config(servers, provider)
        }
    };
    let options: &mut ResolverOpts = builder.options_mut();
    options.use_hosts_file = match config.server {
        None => ResolveHosts::Always,
        Some(_) => ResolveHosts::Never,
    };
    options.ip_strategy = strategy;
    options.timeout = config.timeout;
    options.attempts = config.attempts_max;
    // Answers are kept here, failures and all: a second cache would only hold them twice.
    options.cache_size = 0;
    // hickory answers "busy" beyond this; our own limit makes askers wait instead.
    options.max_active_requests = config.in_flight_max;
    builder.build()
}
