//! Certificates with flaws, and servers that have no TLS to speak of.

use crate::hostile::kind::{CertificateFlaw, HostileKind, HostileRequest, Transport};
use crate::hostile::script::WireScript;

const BY_CERTIFICATE: &[&str] =
    &["tls", "tls_expired", "tls_name", "tls_issuer", "robots_unreachable"];
const GOOD: &str = "failure: tls, or kept with the defect marked";
const NO_TLS: &[&str] = &["tls", "closed", "robots_unreachable"];
const NO_PAGE: u64 = 0;

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("expired", "expired certificate", GOOD, page)
        .transport(Transport::Tls(CertificateFlaw::Expired))
        .requests(NO_PAGE)
        .fails(BY_CERTIFICATE),
    HostileKind::new("early-cert", "certificate that is not yet valid", GOOD, page)
        .transport(Transport::Tls(CertificateFlaw::NotYetValid))
        .requests(NO_PAGE)
        .fails(BY_CERTIFICATE),
    HostileKind::new("wrongname", "certificate of another name", GOOD, page)
        .transport(Transport::Tls(CertificateFlaw::OtherName))
        .requests(NO_PAGE)
        .fails(BY_CERTIFICATE),
    HostileKind::new("selfsigned", "self-signed", GOOD, page)
        .transport(Transport::Tls(CertificateFlaw::SelfSigned))
        .requests(NO_PAGE)
        .fails(BY_CERTIFICATE),
    HostileKind::new(
        "tlsslow",
        "handshake record of 16 KB at 1 byte/s",
        "time limit over the whole handshake",
        page,
    )
    .transport(Transport::SlowTls)
    .requests(NO_PAGE)
    .may_fail(&["connect", "timeout", "tls", "robots_unreachable"]),
    HostileKind::new("notls", "HTTP where the URL says https", "failure: tls", page)
        .transport(Transport::NoTls)
        .requests(NO_PAGE)
        .fails(NO_TLS),
    HostileKind::new("tlsgone", "closes at the client's hello", "failure: tls or closed", page)
        .transport(Transport::HangUpTls)
        .requests(NO_PAGE)
        .fails(NO_TLS),
];

fn page(_: &HostileRequest) -> WireScript {
    WireScript::page("nobody should see this", ["/"])
}
