//! What recurs on the pages of many hosts, for as many hosts as memory is given.
//!
//! A host's template is taken out while one of its pages is read and put back with what that page
//! taught it, so nothing is locked meanwhile. The host whose last page is longest ago makes room.

use std::collections::HashMap;

use rhumb_page::extract::HostTemplate;

/// Hosts remembered, at 33 kB each.
const HOSTS_MAX: usize = 1024;

/// Templates by host.
pub struct Templates {
    hosts: HashMap<String, Kept>,
    hosts_max: usize,
    /// Counts what was put back.
    now: u64,
}

struct Kept {
    template: HostTemplate,
    put: u64,
}

impl Default for Templates {
    fn default() -> Templates {
        Templates::with_hosts_max(HOSTS_MAX)
    }
}

impl Templates {
    fn with_hosts_max(hosts_max: usize) -> Templates {
        Templates { hosts: HashMap::new(), hosts_max, now: 0 }
    }

    /// What is known of a host; it is nobody else's until it is put back.
    pub fn take(&mut self, host: &str) -> HostTemplate {
        self.hosts.remove(host).map(|kept| kept.template).unwrap_or_default()
    }

    pub fn put(&mut self, host: &str, template: HostTemplate) {
        if self.hosts.len() >= self.hosts_max && !self.hosts.contains_key(host) {
            let oldest = self.hosts.iter().min_by_key(|(_, kept)| kept.put);
            if let Some(host) = oldest.map(|(host, _)| host.clone()) {
                self.hosts.remove(&host);
            }
        }
        self.now += 1;
        self.hosts.insert(host.to_owned(), Kept { template, put: self.now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_whose_last_page_is_longest_ago_makes_room() {
        let mut templates = Templates::with_hosts_max(2);
        for host in ["a.test", "b.test", "a.test", "c.test"] {
            let mut template = templates.take(host);
            template.learn(&[7]);
            templates.put(host, template);
        }
        assert_eq!(templates.hosts.len(), 2);
        assert_eq!(templates.take("a.test").share(7), 1.0);
        assert_eq!(templates.take("b.test").share(7), 0.0);
        assert_eq!(templates.take("c.test").share(7), 1.0);
    }
}
