//! Which addresses we may connect to.
//!
//! A name on the open web may resolve to any address, also to our own machine, to the router of
//! our network or to the metadata service of our cloud. So every address is judged after it was
//! resolved, and the connection is made to exactly the address that was judged. An address that
//! carries another one (IPv4-mapped, NAT64, 6to4) is judged by the one it carries.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    Loopback,
    Private,
    LinkLocal,
    /// Carrier-grade NAT, 100.64.0.0/10: somebody's inside, never a public server.
    SharedSpace,
    /// The configuration service of a cloud: answers with credentials.
    Metadata,
    Documentation,
    Benchmarking,
    Reserved,
    Unspecified,
    Multicast,
    Broadcast,
}

impl Why {
    /// An address that no server can have stays refused whatever is allowed.
    fn may_be_allowed(self) -> bool {
        !matches!(self, Why::Unspecified | Why::Multicast | Why::Broadcast)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Loopback => "loopback address",
            Why::Private => "private address",
            Why::LinkLocal => "link-local address",
            Why::SharedSpace => "carrier-grade NAT address",
            Why::Metadata => "cloud metadata address",
            Why::Documentation => "documentation address",
            Why::Benchmarking => "benchmarking address",
            Why::Reserved => "reserved address",
            Why::Unspecified => "unspecified address",
            Why::Multicast => "multicast address",
            Why::Broadcast => "broadcast address",
        })
    }
}

/// May we connect to `ip`? With `allow_private`, to any address that a server can have.
pub fn permitted(ip: IpAddr, allow_private: bool) -> Result<(), Why> {
    let why = match ip {
        IpAddr::V4(ip) => why_not_v4(ip),
        IpAddr::V6(ip) => why_not_v6(ip),
    };
    match why {
        Some(why) if !(allow_private && why.may_be_allowed()) => Err(why),
        _ => Ok(()),
    }
}

/// Those of a name's addresses that we may connect to, or why not even the first one. IPv4 and IPv6
/// take turns, IPv4 first: where one of them leads nowhere, the second try is of the other.
pub fn all_permitted(addresses: &[IpAddr], allow_private: bool) -> Result<Vec<IpAddr>, Why> {
    let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = addresses
        .iter()
        .filter(|ip| permitted(**ip, allow_private).is_ok())
        .partition(|ip| ip.is_ipv4());
    let mut in_turn = Vec::with_capacity(v4.len() + v6.len());
    for n in 0..v4.len().max(v6.len()) {
        in_turn.extend(v4.get(n).into_iter().chain(v6.get(n)));
    }
    match (in_turn.is_empty(), addresses.first()) {
        (false, _) => Ok(in_turn),
        (true, Some(first)) => {
            Err(permitted(*first, allow_private).err().unwrap_or(Why::Unspecified))
        }
        (true, None) => Err(Why::Unspecified),
    }
}

fn why_not_v4(ip: Ipv4Addr) -> Option<Why> {
    Some(match ip.octets() {
        [169, 254, 169, 254] | [168, 63, 129, 16] | [100, 100, 100, 200] | [192, 0, 0, 192] => {
            Why::Metadata
        }
        [0, 0, 0, 0] => Why::Unspecified,
        [255, 255, 255, 255] => Why::Broadcast,
        [127, ..] => Why::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Why::Private,
        [169, 254, ..] => Why::LinkLocal,
        [100, 64..=127, ..] => Why::SharedSpace,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Why::Documentation,
        [198, 18..=19, ..] => Why::Benchmarking,
        [224..=239, ..] => Why::Multicast,
        [0, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => Why::Reserved,
        _ => return None,
    })
}

fn why_not_v6(ip: Ipv6Addr) -> Option<Why> {
    if let Some(carried) = carried_v4(ip) {
        return why_not_v4(carried);
    }
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Why::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Why::Loopback,
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => {
            Why::Metadata
        }
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => Why::Private,
        [0xfe80..=0xfebf, ..] => Why::LinkLocal,
        [0xff00..=0xffff, ..] => Why::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Why::Documentation,
        [0x2001, 2, 0, ..] => Why::Benchmarking,
        // Teredo (2001::/32) and the protocol assignments beside it; then all that is not global
        // unicast (2000::/3).
        [0x2001, 0..=0x1ff, ..] | [0..=0x1fff, ..] | [0x4000..=0xffff, ..] => Why::Reserved,
        _ => return None,
    })
}

/// The IPv4 address inside an IPv6 address: mapped, compatible, NAT64 (64:ff9b::/96), 6to4.
fn carried_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match ip.segments() {
        // `::` and `::1` have the compatible form but are addresses of their own.
        [0, 0, 0, 0, 0, 0, 0, 0..=1] => return None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => (high, low),
        [0, 0, 0, 0, 0xffff, 0, high, low] => (high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low),
        [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Some(Ipv4Addr::new(a, b, c, d))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&str, Option<Why>)] = &[
        ("93.184.215.14", None),
        ("1.1.1.1", None),
        ("172.15.0.1", None),
        ("172.32.0.1", None),
        ("100.63.255.255", None),
        ("100.128.0.0", None),
        ("2606:4700::1111", None),
        ("2a00:1450:4001::200e", None),
        ("127.0.0.1", Some(Why::Loopback)),
        ("127.255.0.9", Some(Why::Loopback)),
        ("::1", Some(Why::Loopback)),
        ("10.1.2.3", Some(Why::Private)),
        ("172.16.0.1", Some(Why::Private)),
        ("172.31.255.255", Some(Why::Private)),
        ("192.168.1.1", Some(Why::Private)),
        ("fd12:3456::1", Some(Why::Private)),
        ("fec0::1", Some(Why::Private)),
        ("64:ff9b:1::a00:1", Some(Why::Private)),
        ("169.254.1.1", Some(Why::LinkLocal)),
        ("fe80::1", Some(Why::LinkLocal)),
        ("100.64.0.1", Some(Why::SharedSpace)),
        ("169.254.169.254", Some(Why::Metadata)),
        ("168.63.129.16", Some(Why::Metadata)),
        ("100.100.100.200", Some(Why::Metadata)),
        ("fd00:ec2::254", Some(Why::Metadata)),
        ("192.0.2.1", Some(Why::Documentation)),
        ("203.0.113.9", Some(Why::Documentation)),
        ("2001:db8::1", Some(Why::Documentation)),
        ("3fff::1", Some(Why::Documentation)),
        ("198.19.0.1", Some(Why::Benchmarking)),
        ("2001:2::1", Some(Why::Benchmarking)),
        ("0.1.2.3", Some(Why::Reserved)),
        ("240.0.0.1", Some(Why::Reserved)),
        ("2001::1", Some(Why::Reserved)),
        ("100::1", Some(Why::Reserved)),
        ("5f00::1", Some(Why::Reserved)),
        ("0.0.0.0", Some(Why::Unspecified)),
        ("::", Some(Why::Unspecified)),
        ("224.0.0.1", Some(Why::Multicast)),
        ("ff02::1", Some(Why::Multicast)),
        ("255.255.255.255", Some(Why::Broadcast)),
        // carried addresses
        ("::ffff:93.184.215.14", None),
        ("::ffff:127.0.0.1", Some(Why::Loopback)),
        ("::ffff:169.254.169.254", Some(Why::Metadata)),
        ("::ffff:0:10.0.0.1", Some(Why::Private)),
        ("::127.0.0.1", Some(Why::Loopback)),
        ("::10.0.0.1", Some(Why::Private)),
        ("64:ff9b::93.184.215.14", None),
        ("64:ff9b::10.0.0.1", Some(Why::Private)),
        ("64:ff9b::7f00:1", Some(Why::Loopback)),
        ("2002:5db8:d70e::1", None),
        ("2002:7f00:1::1", Some(Why::Loopback)),
        ("2002:c0a8:101::", Some(Why::Private)),
    ];

    #[test]
    fn the_addresses_of_a_name_are_tried_in_turn_of_their_families() {
        let ips = |texts: &[&str]| -> Vec<IpAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let name = ips(&["2606:4700::1", "10.0.0.1", "1.1.1.1", "2606:4700::2", "1.1.1.2"]);
        let tried = ips(&["1.1.1.1", "2606:4700::1", "1.1.1.2", "2606:4700::2"]);
        assert_eq!(all_permitted(&name, false), Ok(tried));
        assert_eq!(all_permitted(&ips(&["10.0.0.1", "::1"]), false), Err(Why::Private));
    }

    #[test]
    fn every_kind_of_inside_address_is_refused_also_when_carried_by_another() {
        for &(text, why) in TABLE {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(permitted(ip, false).err(), why, "{text}");
        }
    }

    #[test]
    fn what_is_allowed_is_any_address_that_a_server_can_have() {
        for &(text, why) in TABLE {
            let ip: IpAddr = text.parse().unwrap();
            let never = why.filter(|why| !why.may_be_allowed());
            assert_eq!(permitted(ip, true).err(), never, "{text}");
        }
    }
}
