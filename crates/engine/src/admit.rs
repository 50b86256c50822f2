//! Which URLs enter the crawl: scope, filters, depth, budgets and trap rules.
//!
//! All but depth and budget are pure functions of the URL, so a changed rule can be applied to
//! what was refused before by judging it again.

use crate::config::{Config, Traps};
use crate::discovery::{Discovery, FoundAs};
use crate::record::Refusal;
use rhumb_page::url::Url;
use std::collections::HashSet;

/// Deeper than any page that a person would reach: what grows for ever is cut here.
pub const DEPTH_TRAP: u16 = 500;

/// Where the crawl may go.
#[derive(Clone, Debug)]
pub struct Scope {
    reach: Reach,
    /// Hosts or sites of the seeds, by `reach`. Looked up, never iterated.
    members: HashSet<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The seeds' hosts, on any port and scheme.
    Host,
    /// The seeds' registrable domains.
    Site,
    Any,
}

impl Scope {
    pub fn any() -> Scope {
        Scope::new(Reach::Any)
    }

    pub fn new(reach: Reach) -> Scope {
        Scope { reach, members: HashSet::new() }
    }

    /// Widens the scope by a seed.
    pub fn add(&mut self, seed: &Url) {
        match self.reach {
            Reach::Host => self.members.insert(seed.host().into()),
            Reach::Site => self.members.insert(seed.site().as_str().into()),
            Reach::Any => false,
        };
    }

    pub fn admits(&self, url: &Url) -> bool {
        match self.reach {
            Reach::Host => self.members.contains(url.host()),
            Reach::Site => self.members.contains(url.site().as_str()),
            Reach::Any => true,
        }
    }
}

/// The first rule that refuses a discovery, or none. `host_admitted` is what its host's budget
/// has spent.
pub fn judge(config: &Config, discovery: &Discovery, host_admitted: u64) -> Result<(), Refusal> {
    let url = &discovery.url;
    if !config.scope.admits(url) {
        return Err(Refusal::Scope);
    }
    // The owner asked for the seeds by name: filters speak of what the crawl finds.
    if discovery.kind != FoundAs::Seed && !config.rules.admits(url) {
        return Err(Refusal::Filter);
    }
    if is_trap(&config.traps, url) || discovery.depth > DEPTH_TRAP {
        return Err(Refusal::Trap);
    }
    if discovery.hops > config.redirects_max {
        return Err(Refusal::Hops);
    }
    if config.depth_max.is_some_and(|max| discovery.depth > max) {
        return Err(Refusal::Depth);
    }
    if config.host_pages_max.is_some_and(|max| host_admitted >= max) {
        return Err(Refusal::HostBudget);
    }
    Ok(())
}

/// Whether a URL belongs to the web that the owner meant at all: what the rest is measured by.
pub fn is_inside(config: &Config, discovery: &Discovery) -> bool {
    let is_seed = discovery.kind == FoundAs::Seed;
    config.scope.admits(&discovery.url) && (is_seed || config.rules.admits(&discovery.url))
}

/// Paths that grow without end: too long, too deep, or one segment over and over.
fn is_trap(traps: &Traps, url: &Url) -> bool {
    if url.as_str().len() > traps.url_bytes_max {
        return true;
    }
    let path = url.path();
    let segments = path.bytes().filter(|&b| b == b'/').count();
    if segments <= traps.segment_repeats_max {
        return false;
    }
    if segments > traps.path_segments_max {
        return true;
    }
    let mut sorted: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).any(|run| run.len() > traps.segment_repeats_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn a_path_that_repeats_a_segment_or_grows_without_end_is_a_trap() {
        let traps = Traps::default();
        assert!(!is_trap(&traps, &url("http://a.test/x/y/x/y/x/y/z")));
        assert!(is_trap(&traps, &url("http://a.test/x/x/x/x/x/")));
        assert!(is_trap(&traps, &url(&format!("http://a.test/{}", "a1/b2/c3/".repeat(5)))));
        let deep: String = (0..40).map(|n| format!("/{n}")).collect();
        assert!(is_trap(&traps, &url(&format!("http://a.test{deep}"))));
        assert!(is_trap(&traps, &url(&format!("http://a.test/{}", "q".repeat(2_001)))));
    }

    #[test]
    fn scope_by_host_ignores_port_and_scheme_and_by_site_takes_subdomains() {
        let mut host = Scope::new(Reach::Host);
        host.add(&url("http://www.example.co.uk/"));
        assert!(host.admits(&url("https://www.example.co.uk:8443/a")));
        assert!(!host.admits(&url("http://example.co.uk/")));
        let mut site = Scope::new(Reach::Site);
        site.add(&url("http://www.example.co.uk/"));
        assert!(site.admits(&url("https://shop.example.co.uk/")));
        assert!(!site.admits(&url("https://other.co.uk/")));
    }
}
