//! What became of a fetch. Whatever the web does is data; nothing here is an error of ours.

use crate::discovery::FoundUrl;
use crate::known::KnownLinks;
use crate::marks::Marks;
use crate::record::Refusal;
use crate::time::{Span, Time};
use rhumb_neardup::Sketch;
use rhumb_page::html::Requisite;
use rhumb_page::robots::{ROBOTS_BYTES_MAX, Robots, RobotsReading};
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A keyed hash of a decoded body (docs/decisions/0016-keyed-digests.md).
pub type ContentDigest = [u8; 16];
/// SHA-1 of the payload as received: what WARC revisit records compare.
pub type PayloadDigest = [u8; 20];

/// A fetch as the worker reports it. The body stays with the worker until a `Keep` names it.
#[derive(Clone, Debug)]
pub struct FetchReport {
    pub outcome: Outcome,
    /// HTTP status, 0 if there was none.
    pub status: u16,
    /// Bytes received, head and body as they came.
    pub bytes: u64,
    /// When the request was sent: the date of its record in the archive.
    pub at: Time,
    pub took: Span,
    /// Whether the worker holds bytes that can be archived.
    pub held: bool,
}

#[derive(Clone, Debug)]
pub enum Outcome {
    /// A body with status 2xx.
    Page(Box<PageContent>),
    /// 304: what we hold is still right.
    Unchanged,
    /// 3xx with a place to go, if the place was a URL at all.
    Moved {
        to: Option<Url>,
    },
    /// 404, 410 and other 4xx that will not change by asking again soon.
    Gone,
    /// 429, 503 or another 5xx: the server asks us to wait, or is ill.
    Busy {
        retry_after: Option<Span>,
        kind: FailKind,
    },
    Failed(FailKind),
    /// A page whose body ended early and that is asked for again: a failure, but for what came of
    /// it. That is kept, and its links are followed.
    Cut {
        kind: FailKind,
        content: ContentDigest,
        marks: Marks,
        found: Vec<FoundUrl>,
    },
    /// The head of a page says that its body is not wanted: it was not read.
    Unwanted(Refusal),
    /// There was no room for its body: nobody is to blame, and it is asked for again.
    Crowded,
    /// The answer to a robots.txt request.
    Robots(RobotsAnswer),
}

impl Outcome {
    /// The kind of failure, if it is one, whatever came of it all the same.
    pub fn failed_as(&self) -> Option<FailKind> {
        match self {
            Outcome::Busy { kind, .. }
            | Outcome::Failed(kind)
            | Outcome::Cut { kind, .. }
            | Outcome::Robots(RobotsAnswer::Unreachable { kind, .. }) => Some(*kind),
            Outcome::Page(page) => page.cut,
            _ => None,
        }
    }
}

/// What the worker read in a page.
#[derive(Clone, Debug, Default)]
pub struct PageContent {
    pub content: ContentDigest,
    pub payload: PayloadDigest,
    /// A fingerprint of the visible text, where there is one.
    pub text: Option<u32>,
    pub found: Vec<FoundUrl>,
    /// Links to what is known already, by ways no shorter than before.
    pub known: KnownLinks,
    /// Links beyond the bound, which are not followed.
    pub links_beyond: u64,
    /// What it is shown with, if anybody wants to know, and how many there are beyond the bound.
    pub requisites: Vec<Requisite>,
    pub requisites_beyond: u64,
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
    /// What Last-Modified says, on our clock.
    pub modified: Option<Time>,
    /// Of its text; none if it has too little, or if nobody asks for near-duplicates.
    pub sketch: Option<Arc<Sketch>>,
    /// What it asks of us in a meta element or header, and whether it came whole.
    pub marks: Marks,
    /// Why the body ended early, unless it was at a limit of ours.
    pub cut: Option<FailKind>,
    /// How much it has to do with the crawl's topic, in 255 parts; nought without one.
    pub relevance: u8,
    /// It was asked for as a sitemap and is one.
    pub is_sitemap: bool,
    /// A fingerprint of its own visible text without numbers and the words around them, if there is
    /// any.
    pub alike: Option<u32>,
    /// The URL that it names as the one to be known by, if that is another.
    pub canonical: Option<Box<Url>>,
}

#[derive(Clone, Debug)]
pub enum RobotsAnswer {
    /// 2xx: the rules for our token, and the sitemaps named.
    Rules(Box<Robots>),
    /// 4xx: no rules.
    Absent,
    /// 3xx to another place; followed by the engine up to a bound.
    Moved { to: Option<Url> },
    /// 5xx, timeouts, refusals: we must not assume permission.
    Unreachable { retry_after: Option<Span>, kind: FailKind },
}

/// Kinds of failure, as coarse as what we do about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FailKind {
    /// The name does not exist or has no address.
    DnsNotFound,
    /// The name server failed or did not answer.
    DnsTemporary,
    /// The only addresses are private, loopback, link-local or metadata ones.
    AddressRefused,
    Connect,
    /// No TLS, or a certificate with a fault that has no kind of its own.
    Tls,
    Timeout,
    /// Below the least acceptable speed.
    Slow,
    /// Closed or reset before the answer was whole.
    Closed,
    /// Not HTTP, or HTTP we must not trust.
    BadHttp,
    HeaderTooBig,
    /// Our own limit on the number of tries of an ill server: 5xx.
    ServerError,
    /// 429 or 503.
    Throttled,
    /// A scheme that is off or that we don't speak.
    Scheme,
    /// robots.txt could not be had.
    RobotsUnreachable,
    /// The host was given up. Only in states of format 9 and before: hosts are not given up.
    HostDead,
    /// The worker itself failed.
    Internal,
    /// The certificate is out of date, or not yet valid.
    TlsExpired,
    /// The certificate is for other names.
    TlsName,
    /// The certificate's issuer is unknown: it is self-signed, or the server left out a link.
    TlsIssuer,
    /// 502 or 504: a gateway without the server behind it.
    Gateway,
    /// Our own proxy is not there, or refuses.
    Proxy,
}

impl FailKind {
    pub const ALL: [FailKind; 21] = [
        FailKind::DnsNotFound,
        FailKind::DnsTemporary,
        FailKind::AddressRefused,
        FailKind::Connect,
        FailKind::Tls,
        FailKind::Timeout,
        FailKind::Slow,
        FailKind::Closed,
        FailKind::BadHttp,
        FailKind::HeaderTooBig,
        FailKind::ServerError,
        FailKind::Throttled,
        FailKind::Scheme,
        FailKind::RobotsUnreachable,
        FailKind::HostDead,
        FailKind::Internal,
        FailKind::TlsExpired,
        FailKind::TlsName,
        FailKind::TlsIssuer,
        FailKind::Gateway,
        FailKind::Proxy,
    ];

    /// The word used in reports, metrics and documentation.
    pub fn word(self) -> &'static str {
        match self {
            FailKind::DnsNotFound => "dns_not_found",
            FailKind::DnsTemporary => "dns_temporary",
            FailKind::AddressRefused => "address_refused",
            FailKind::Connect => "connect",
            FailKind::Tls => "tls",
            FailKind::Timeout => "timeout",
            FailKind::Slow => "slow",
            FailKind::Closed => "closed",
            FailKind::BadHttp => "bad_http",
            FailKind::HeaderTooBig => "header_too_big",
            FailKind::ServerError => "server_error",
            FailKind::Throttled => "throttled",
            FailKind::Scheme => "scheme",
            FailKind::RobotsUnreachable => "robots_unreachable",
            FailKind::HostDead => "host_dead",
            FailKind::Internal => "internal",
            FailKind::TlsExpired => "tls_expired",
            FailKind::TlsName => "tls_name",
            FailKind::TlsIssuer => "tls_issuer",
            FailKind::Gateway => "gateway",
            FailKind::Proxy => "proxy",
        }
    }

    /// Does it speak of the host, in doubt too, or of one page alone?
    pub fn concerns_host(self) -> bool {
        self.precedes_request()
            || self.may_be_of_page()
            || matches!(self, FailKind::RobotsUnreachable | FailKind::HostDead)
    }

    /// No request was sent: whatever failed has nothing to do with the page.
    pub fn precedes_request(self) -> bool {
        matches!(
            self,
            FailKind::DnsNotFound
                | FailKind::DnsTemporary
                | FailKind::AddressRefused
                | FailKind::Connect
                | FailKind::Tls
                | FailKind::TlsExpired
                | FailKind::TlsName
                | FailKind::TlsIssuer
                | FailKind::Proxy
        )
    }

    /// Asking again soon seldom helps.
    pub fn is_stubborn(self) -> bool {
        matches!(
            self,
            FailKind::DnsNotFound
                | FailKind::Tls
                | FailKind::TlsExpired
                | FailKind::TlsName
                | FailKind::TlsIssuer
        )
    }

    /// One page may answer so while the others of its host do not.
    pub fn may_be_of_page(self) -> bool {
        matches!(self, FailKind::Timeout | FailKind::Throttled | FailKind::Gateway)
    }

    /// Would asking again later make sense?
    pub fn is_passing(self) -> bool {
        !matches!(self, FailKind::AddressRefused | FailKind::HeaderTooBig | FailKind::Scheme)
    }

    /// Whether each new run tries such a URL again without being told to. A header that was too
    /// big will be as big again; all else may have passed, be it by other settings.
    pub fn is_tried_by_later_runs(self) -> bool {
        self != FailKind::HeaderTooBig
    }
}

/// What an answer's head says, whoever read it.
#[derive(Clone, Debug, Default)]
pub struct AnswerHead {
    pub status: u16,
    pub location: Option<Url>,
    pub retry_after: Option<Span>,
}

/// What an answer to a page request amounts to; `page` is made for 2xx alone.
pub fn of_page(head: AnswerHead, page: impl FnOnce() -> PageContent) -> Outcome {
    let AnswerHead { status, location, retry_after } = head;
    match status {
        200..=299 => Outcome::Page(Box::new(page())),
        304 => Outcome::Unchanged,
        300..=399 => Outcome::Moved { to: location },
        408 | 425 => Outcome::Busy { retry_after, kind: FailKind::ServerError },
        429 | 503 => Outcome::Busy { retry_after, kind: FailKind::Throttled },
        502 | 504 => Outcome::Busy { retry_after, kind: FailKind::Gateway },
        400..=499 => Outcome::Gone,
        500..=599 => Outcome::Busy { retry_after, kind: FailKind::ServerError },
        _ => Outcome::Failed(FailKind::BadHttp),
    }
}

/// What an answer to a robots.txt request amounts to (RFC 9309, 2.3.1).
pub fn of_robots(head: AnswerHead, rules: impl FnOnce() -> Robots) -> Outcome {
    let AnswerHead { status, location, retry_after } = head;
    Outcome::Robots(match status {
        200..=299 => RobotsAnswer::Rules(Box::new(rules())),
        300..=399 => RobotsAnswer::Moved { to: location },
        429 => RobotsAnswer::Unreachable { retry_after, kind: FailKind::Throttled },
        400..=499 => RobotsAnswer::Absent,
        _ => RobotsAnswer::Unreachable { retry_after, kind: FailKind::ServerError },
    })
}

/// The rules of a robots.txt, read as Google's parser reads it
/// (docs/decisions/0004-reading-of-robots.md).
pub fn read_robots(bytes: &[u8], token: &str) -> Robots {
    let bytes = &bytes[..bytes.len().min(ROBOTS_BYTES_MAX)];
    Robots::parse_as(bytes, token, RobotsReading::Google)
}

/// A request that brought no answer.
pub fn of_failure(purpose: crate::event::Purpose, kind: FailKind) -> Outcome {
    match purpose {
        crate::event::Purpose::Robots => {
            Outcome::Robots(RobotsAnswer::Unreachable { retry_after: None, kind })
        }
        _ => Outcome::Failed(kind),
    }
}
