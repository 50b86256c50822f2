//! `NO_PROXY`: the hosts that are asked without a proxy, in the forms that curl and Go read.

use std::net::IpAddr;

use rhumb_page::url::Url;

/// A longer list is cut: nobody writes one.
const ENTRIES_MAX: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct Except(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    All,
    /// A name and all below it, on any port or one.
    Name(String, Option<u16>),
    /// So many leading bits of an address.
    Network(IpAddr, u8),
}

impl Except {
    /// What cannot be read matches nothing, as elsewhere.
    pub fn read(text: &str) -> Except {
        let entries = text.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
        Except(entries.take(ENTRIES_MAX).map(entry).collect())
    }

    pub fn has(&self, url: &Url, address: Option<IpAddr>) -> bool {
        let address = url.ip().or(address);
        self.0.iter().any(|entry| match entry {
            Entry::All => true,
            Entry::Name(name, port) => {
                super::super::access::is_within(url.host(), name)
                    && port.is_none_or(|port| url.port() == Some(port))
            }
            Entry::Network(network, bits) => {
                address.is_some_and(|address| is_in(address, *network, *bits))
            }
        })
    }
}

fn entry(text: &str) -> Entry {
    if text == "*" {
        return Entry::All;
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Entry::Network(ip, if ip.is_ipv4() { 32 } else { 128 });
    }
    if let Some((ip, bits)) = text.split_once('/')
        && let (Ok(ip), Ok(bits)) = (ip.parse::<IpAddr>(), bits.parse())
    {
        return Entry::Network(ip, bits);
    }
    let (name, port) = match text.rsplit_once(':').map(|(name, port)| (name, port.parse())) {
        Some((name, Ok(port))) => (name, Some(port)),
        _ => (text, None),
    };
    let name = name.trim_start_matches('*').trim_start_matches('.').trim_end_matches('.');
    Entry::Name(name.to_ascii_lowercase(), port)
}

fn is_in(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let same = |a: u128, b: u128, width: u32| {
        let shift = width.saturating_sub(u32::from(bits));
        shift >= width || a >> shift == b >> shift
    };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_spared_by_name_by_address_and_by_network() {
        let has = |list: &str, url: &str, address: Option<&str>| {
            let address = address.map(|text| text.parse().unwrap());
            Except::read(list).has(&Url::parse(url).unwrap(), address)
        };
        for (list, url, address, wanted) in [
            ("example.org", "http://example.org/", None, true),
            ("example.org", "http://www.example.org/", None, true),
            (".Example.org", "http://www.example.org/", None, true),
            ("*.example.org", "http://www.example.org/", None, true),
            ("example.org", "http://notexample.org/", None, false),
            ("a.org, b.org", "http://b.org/", None, true),
            ("a.org b.org", "http://b.org/", None, true),
            ("a.org:8080", "http://a.org/", None, false),
            ("a.org:8080", "http://a.org:8080/", None, true),
            ("10.0.0.0/8", "http://a.org/", Some("10.9.8.7"), true),
            ("10.0.0.0/8", "http://a.org/", Some("11.9.8.7"), false),
            ("10.1.1.1", "http://10.1.1.1/", None, true),
            ("fd00::/8", "http://[fd12::1]/", None, true),
            ("::1", "http://[::1]/", None, true),
            ("0.0.0.0/0", "http://10.1.1.1/", None, true),
            ("*", "http://a.org/", None, true),
            ("", "http://a.org/", None, false),
            ("/, :, 10.0.0.0/999", "http://a.org/", None, false),
        ] {
            assert_eq!(has(list, url, address), wanted, "{list:?} {url}");
        }
    }
}
