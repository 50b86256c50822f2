//! What recurs on the pages of many hosts, for as many hosts as memory is given.
//!
//! Whoever reads a page while others do has a template of its own to look at, which nobody changes
//! meanwhile. The host whose last page is longest ago makes room.

use std::collections::HashMap;
use std::sync::Arc;

use rhumb_extract::HostTemplate;

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
    template: Arc<HostTemplate>,
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

    /// What is known of a host by now.
    pub fn get(&self, host: &str) -> Arc<HostTemplate> {
        self.hosts.get(host).map(|kept| Arc::clone(&kept.template)).unwrap_or_default()
    }

    /// A page of a host had these blocks.
    pub fn teach(&mut self, host: &str, blocks: &[u64]) {
        let mut template = self.take(host);
        template.learn(blocks);
        self.put(host, template);
    }

    /// What is known of a host; nothing is until it is put back.
    pub fn take(&mut self, host: &str) -> HostTemplate {
        let kept = self.hosts.remove(host);
        kept.map(|kept| Arc::unwrap_or_clone(kept.template)).unwrap_or_default()
    }

    pub fn put(&mut self, host: &str, template: HostTemplate) {
        if self.hosts.len() >= self.hosts_max && !self.hosts.contains_key(host) {
            let oldest = self.hosts.iter().min_by_key(|(_, kept)| kept.put);
            if let Some(host) = oldest.map(|(host, _)| host.clone()) {
                self.hosts.remove(&host);
            }
        }
        self.now += 1;
        let template = Arc::new(template);
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
            // Somebody reads meanwhile, and sees nothing of it.
            let before = templates.get(host);
            let share = before.share(7);
            templates.teach(host, &[7]);
            assert_eq!(before.share(7), share);
        }
        assert_eq!(templates.hosts.len(), 2);
        assert_eq!(templates.take("a.test").share(7), 1.0);
        assert_eq!(templates.take("b.test").share(7), 0.0);
        assert_eq!(templates.take("c.test").share(7), 1.0);
    }
}
