//! Names without addresses, with strange ones, with too many, with answers that lie.

use std::net::Ipv4Addr;

use crate::hostile::DECOY;
use crate::hostile::kind::{FEW, HOST_SHARE, HostileKind, HostileRequest, Naming};
use crate::hostile::script::WireScript;

const SERVER_FAILURE: u16 = 2;
const NO_SUCH_NAME: u16 = 3;
const REFUSED: u16 = 5;
const NO_NAME: &[&str] = &["dns_not_found", "dns_temporary", "robots_unreachable"];
const NO_PAGE: u64 = 0;

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("nx", "no such name", "failure: dns, remembered", page)
        .naming(Naming::Code(NO_SUCH_NAME))
        .requests(NO_PAGE)
        .fails(NO_NAME),
    HostileKind::new("servfail", "SERVFAIL", "failure: dns, few retries", page)
        .naming(Naming::Code(SERVER_FAILURE))
        .requests(NO_PAGE)
        .fails(NO_NAME),
    HostileKind::new("dnsrefused", "REFUSED", "failure: dns", page)
        .naming(Naming::Code(REFUSED))
        .requests(NO_PAGE)
        .fails(NO_NAME),
    HostileKind::new(
        "dnsmany",
        "links to 200 names, all of them there",
        "one site's share, whatever its names",
        many_names,
    )
    .requests(HOST_SHARE)
    .lookups(1_000)
    .names(256),
    HostileKind::new(
        "dnshole",
        "links to 200 names without an answer",
        "lookups bounded; the healthy site is not starved",
        page,
    )
    .naming(Naming::Silent)
    .requests(NO_PAGE)
    .may_fail(NO_NAME)
    .names(0)
    .lookups(1_200),
    HostileKind::new("dnsslow", "each answer after 3 s", "fetched, once", page)
        .naming(Naming::Slow(crate::hostile::names::SLOWLY))
        .fetches(&["/"])
        .may_fail(NO_NAME),
    HostileKind::new("cnameloop", "CNAME loop", "failure: dns", page)
        .naming(Naming::CnameLoop)
        .requests(NO_PAGE)
        .fails(NO_NAME),
    HostileKind::new("cnamechain", "CNAME chain of 12 to an address", "fetched or failure", page)
        .naming(Naming::CnameChain(12))
        .lookups(200)
        .may_fail(NO_NAME),
    HostileKind::new("ttl0", "TTL 0", "fetched; queries bounded by a least TTL", chain)
        .naming(Naming::Here(0))
        .requests(HOST_SHARE)
        .fetches(&["/", "/c/1"])
        .lookups(12),
    HostileKind::new("ttlhuge", "TTL above 2^31", "capped", page)
        .naming(Naming::Here(u32::MAX))
        .fetches(&["/"]),
    HostileKind::new("badptr", "answer with a compression loop", "failure: dns; no hang", page)
        .naming(Naming::BadPointer)
        .requests(NO_PAGE)
        .may_fail(NO_NAME),
    HostileKind::new("wrongid", "answers with a wrong id and question", "never connected", page)
        .naming(Naming::Foreign(DECOY))
        .requests(NO_PAGE)
        .may_fail(NO_NAME),
    HostileKind::new("dnsjunk", "random bytes as the answer", "failure: dns", page)
        .naming(Naming::Junk)
        .requests(NO_PAGE)
        .may_fail(NO_NAME),
    HostileKind::new("mcast", "224.0.0.1 and 255.255.255.255", "refused", page)
        .naming(Naming::Addresses(&[Ipv4Addr::new(224, 0, 0, 1), Ipv4Addr::BROADCAST]))
        .requests(NO_PAGE)
        .fails(&["address_refused"]),
    HostileKind::new("unspecified", "0.0.0.0, which is this machine", "refused", page)
        .naming(Naming::Addresses(&[Ipv4Addr::UNSPECIFIED]))
        .requests(NO_PAGE)
        .fails(&["address_refused"]),
    HostileKind::new("dnsempty", "no error and no record", "failure: dns", page)
        .naming(Naming::Empty)
        .requests(NO_PAGE)
        .fails(NO_NAME),
    HostileKind::new("dnstrunc", "truncated, and TCP is refused", "failure: dns", page)
        .naming(Naming::Truncated)
        .requests(NO_PAGE)
        .may_fail(NO_NAME),
    HostileKind::new("dnsshort", "three records announced, one there", "failure: dns", page)
        .naming(Naming::Short)
        .requests(FEW)
        .may_fail(NO_NAME),
    HostileKind::new("dnsbehind", "its address behind 3 that refuse", "fetched", page)
        .naming(Naming::Behind(3))
        .may_fail(&["connect"])
        .fetches(&["/"]),
];

fn page(request: &HostileRequest) -> WireScript {
    WireScript::page(&format!("page {} of {}", request.target, request.host), ["/a", "/b"])
}

fn chain(request: &HostileRequest) -> WireScript {
    let page = request.number();
    let next = (page < 8).then(|| format!("/c/{}", page + 1));
    WireScript::page(&format!("link {page} of {}", request.host), next)
}

fn many_names(request: &HostileRequest) -> WireScript {
    let here = request.origin_of("dnsmany").split_off("http://".len());
    let hole = request.origin_of("dnshole").split_off("http://".len());
    let links =
        (0..200).flat_map(|n| [format!("http://n{n}.{here}/"), format!("http://h{n}.{hole}/")]);
    let is_first = request.host.starts_with("dnsmany.");
    let links: Vec<String> = if is_first { links.collect() } else { Vec::new() };
    WireScript::page(&format!("names {}", request.host), links)
}
