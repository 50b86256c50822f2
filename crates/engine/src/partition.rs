//! Whose a URL is: a crawl is divided among engines by the hash of the site, and the number of
//! parts is fixed at its birth. One part, which has everything, is the usual crawl.

use rhumb_page::url::{HostKey, Url};
use xxhash_rust::xxh3::xxh3_64;

/// One engine's part of the crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    pub own: u32,
    pub count: u32,
}

impl Partition {
    pub const WHOLE: Partition = Partition { own: 0, count: 1 };

    /// There are others.
    pub fn is_divided(self) -> bool {
        self.count > 1
    }

    pub fn owner(self, url: &Url) -> u32 {
        if !self.is_divided() {
            return self.own;
        }
        self.owner_of_site(url.site().as_str())
    }

    pub fn owner_of_host(self, host: &HostKey) -> u32 {
        if !self.is_divided() {
            return self.own;
        }
        self.owner_of_site(host.site().as_str())
    }

    fn owner_of_site(self, site: &str) -> u32 {
        (xxh3_64(site.as_bytes()) % u64::from(self.count)) as u32
    }

    pub fn owns(self, url: &Url) -> bool {
        self.owner(url) == self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_in_one_part_with_all_its_hosts_and_many_sites_are_in_all() {
        let url = |text: &str| Url::parse(text).unwrap();
        let part = Partition { own: 0, count: 4 };
        let home = part.owner(&url("http://example.com/"));
        assert_eq!(part.owner(&url("https://www.example.com:8443/a?b")), home);
        let mut sites = [0; 4];
        (0..400).for_each(|n| sites[part.owner(&url(&format!("http://s{n}.test/"))) as usize] += 1);
        assert!(sites.iter().all(|&n| (60..140).contains(&n)), "{sites:?}");
        assert!(Partition::WHOLE.owns(&url("http://example.com/")));
    }
}
