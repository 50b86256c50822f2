//! How a fetch can end without a response: coarse kinds to act on, a detail to read.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio_rustls::rustls::{self, CertificateError};

use super::address::Why;

/// No response. Bytes that had arrived by then are kept: a strange answer is worth a look.
#[derive(Clone, Debug)]
pub struct FetchFailure {
    pub kind: FailureKind,
    pub detail: String,
    pub raw_request: Vec<u8>,
    pub raw: Vec<u8>,
    pub address: Option<IpAddr>,
    pub took: Duration,
}

/// Kinds a caller treats differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// No scheme of ours, or one that is off.
    UnsupportedScheme,
    /// The URL has a name and the request no address for it.
    Unresolved,
    /// The address is not one we connect to.
    Refused(Why),
    /// Nobody listens, or there is no way to them.
    Connect,
    /// No TLS, or a certificate we do not trust.
    Tls(TlsFault),
    Timeout(FetchStage),
    /// The head trickled in too slowly. (A slow body is a cut response.)
    Slow,
    /// A proxy that is not there, refuses, or is none. Not the host's fault.
    Proxy,
    /// Connection lost before the head was whole.
    Closed,
    /// The answer is no HTTP/1.
    BadHttp,
    HeaderTooBig,
    /// Nothing was sent: the leave to do so was gone.
    Withheld,
    /// Our machine said no: descriptors, memory, permissions. Not the host's fault.
    Local,
}

/// What is wrong with a TLS connection, as far as its owner would do something else about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlsFault {
    /// No common version or cipher, no TLS at all, or a certificate that is wrong in another way.
    Handshake,
    /// The certificate is out of date, or not yet valid.
    Expired,
    /// The certificate is for other names.
    Name,
    /// The certificate is self-signed, or of an issuer that we do not know.
    Issuer,
}

/// How webpki words a certificate that is its own CA, as `openssl req -x509` makes them; rustls
/// has no kind for it.
const WEBPKI_OWN_CA: &str = "CaUsedAsEndEntity";

impl TlsFault {
    /// rustls reports what the peer did wrong inside an IO error.
    pub(super) fn of(error: &io::Error) -> TlsFault {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
        let Some(rustls::Error::InvalidCertificate(fault)) = cause else {
            return TlsFault::Handshake;
        };
        match fault {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => TlsFault::Expired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsFault::Name
            }
            CertificateError::UnknownIssuer => TlsFault::Issuer,
            CertificateError::Other(other) if other.to_string() == WEBPKI_OWN_CA => {
                TlsFault::Issuer
            }
            _ => TlsFault::Handshake,
        }
    }
}

/// hyper's client has no other way to tell this from the rest of what it cannot parse.
const HYPER_HEAD_TOO_LARGE: &str = "message head is too large";

/// What was being waited for when the time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchStage {
    Connect,
    FirstByte,
    Head,
}

/// Whether a server ended a TLS handshake because it speaks none of what we offered.
pub(super) fn speaks_otherwise(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let refused = rustls::AlertDescription::NoApplicationProtocol;
    matches!(cause, Some(rustls::Error::AlertReceived(alert)) if *alert == refused)
}

impl FailureKind {
    /// The name under which reports count it.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::UnsupportedScheme => "unsupported_scheme",
            FailureKind::Unresolved => "unresolved",
            FailureKind::Refused(_) => "refused_address",
            FailureKind::Connect => "connect",
            FailureKind::Tls(TlsFault::Handshake) => "tls",
            FailureKind::Tls(TlsFault::Expired) => "tls_expired",
            FailureKind::Tls(TlsFault::Name) => "tls_name",
            FailureKind::Tls(TlsFault::Issuer) => "tls_issuer",
            FailureKind::Timeout(FetchStage::Connect) => "timeout_connect",
            FailureKind::Timeout(FetchStage::FirstByte) => "timeout_first_byte",
            FailureKind::Timeout(FetchStage::Head) => "timeout_head",
            FailureKind::Slow => "slow",
            FailureKind::Proxy => "proxy",
            FailureKind::Closed => "closed",
            FailureKind::BadHttp => "bad_http",
            FailureKind::HeaderTooBig => "header_too_big",
            FailureKind::Withheld => "withheld",
            FailureKind::Local => "local",
        }
    }
}

impl FetchFailure {
    pub(super) fn new(kind: FailureKind, detail: impl Into<String>) -> FetchFailure {
        FetchFailure {
            kind,
            detail: detail.into(),
            raw_request: Vec::new(),
            raw: Vec::new(),
            address: None,
            took: Duration::ZERO,
        }
    }

    /// What a socket says while connecting.
    pub(super) fn of_connecting(error: &io::Error) -> FetchFailure {
        use io::ErrorKind::*;
        let kind = match error.kind() {
            TimedOut => FailureKind::Timeout(FetchStage::Connect),
            PermissionDenied | AddrInUse | AddrNotAvailable | OutOfMemory => FailureKind::Local,
            _ if is_out_of_descriptors(error) => FailureKind::Local,
            _ => FailureKind::Connect,
        };
        FetchFailure::new(kind, error.to_string())
    }

    /// What hyper says while the head is awaited.
    pub(super) fn of_exchange(error: &hyper::Error) -> FetchFailure {
        let kind = if error.is_parse() && error.to_string() == HYPER_HEAD_TOO_LARGE {
            FailureKind::HeaderTooBig
        } else if error.is_parse() {
            FailureKind::BadHttp
        } else if let Some(io) =
            io_cause(error).filter(|io| io.kind() == io::ErrorKind::InvalidData)
        {
            FailureKind::Tls(TlsFault::of(io))
        } else {
            FailureKind::Closed
        };
        FetchFailure::new(kind, with_cause(error))
    }
}

impl fmt::Display for FetchFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.detail)
    }
}

impl std::error::Error for FetchFailure {}

/// EMFILE or ENFILE; std has no stable kind for them.
pub(super) fn is_out_of_descriptors(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

pub(super) fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

fn with_cause(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
