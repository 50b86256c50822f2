//! The synthetic web: sites, pages, links and mischief, as a pure function of a configuration.
//!
//! Nothing is stored but one small record per site; every page is made from hashes when it is asked
//! for. So a web of a million pages costs a few megabytes, the same seed gives the same bytes on
//! any machine, and the truth about any URL can be asked ([`Web::truth`], [`Web::reachable`]).
//!
//! The story of one request, file by file:
//!
//! - `config`: what kind of web; the presets.
//! - `site`: sizes by a power law, hosts, addresses, temper of each site.
//! - `place`: a URL means a [`WebPlace`], a place has one URL.
//! - `manner`: what is unusual about a page. `links`: where it links to.
//! - `robots`, `faults`, `outages`, `change`, `lies`: what forbids, breaks and alters it, and what
//!   misleads.
//! - `respond`: all that together, an answer ([`WebReply`]) without bytes: for the simulator.
//! - `render`, `listing`, `lexicon`: the bytes of the answer: for real sockets. Reading the bytes
//!   gives exactly the links of the answer.
//! - `truth`, `reach`: what a crawler should have made of it.
//!
//! Links do not change with time, only texts do: what is reachable is the same at any time.

mod chance;
mod change;
mod config;
mod faults;
mod lexicon;
mod lies;
mod links;
mod listing;
mod manner;
mod outages;
mod place;
mod reach;
#[cfg(test)]
mod reading;
mod render;
mod reply;
mod requisites;
mod respond;
mod robots;
mod site;
#[cfg(test)]
mod tests;
mod truth;

use std::net::Ipv4Addr;

use rhumb_page::url::Url;

pub use change::AGE_US;
pub use config::{Lastmod, Lies, Oddities, WebConfig};
pub use faults::Fault;
pub use links::{WebLink, WebLinkKind};
pub use outages::Outage;
pub use place::{Face, Ghost, WebPlace, What};
pub use reach::{ReachScope, Reached};
pub use render::gzip;
pub use reply::{EPOCH_S, PageRef, WebBody, WebReply};
pub use robots::{HUGE_ROBOTS_BYTES, RobotsKind};
pub use truth::UrlTruth;

use lexicon::Lexicon;
use site::{Site, address_number, make_sites};

/// How long an address may be kept.
const TTL_S: u32 = 300;

/// A whole web.
pub struct Web {
    config: WebConfig,
    sites: Vec<Site>,
    lexicon: Lexicon,
}

/// What the name server of this web says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsAnswer {
    Found { ip: Ipv4Addr, ttl_s: u32 },
    NoSuchName,
    ServerFailure,
}

impl Web {
    pub fn new(config: WebConfig) -> Web {
        let lexicon = Lexicon::new(config.seed);
        let sites = make_sites(&config, &lexicon);
        Web { config, sites, lexicon }
    }

    pub fn config(&self) -> &WebConfig {
        &self.config
    }

    /// The root pages of the largest sites, as many as configured.
    pub fn seeds(&self) -> Vec<Url> {
        (0..self.config.seeds.min(self.config.sites))
            .map(|i| self.url(self.page_place(i, 0)))
            .collect()
    }

    /// All pages of a site, orphans included, copies not.
    pub fn pages(&self, site: u32) -> impl Iterator<Item = WebPlace> {
        (0..self.sites[site as usize].pages).map(move |n| self.page_place(site, n))
    }

    /// What the name server says at a moment: not always what it says when all is well.
    pub fn address_at(&self, host: &str, now_us: u64) -> DnsAnswer {
        let site = self.face(host).filter(|(_, face)| !matches!(face, Face::Ghost(_)));
        match site.and_then(|(site, _)| self.outage(site, now_us)) {
            Some(Outage::NoName) => DnsAnswer::NoSuchName,
            Some(Outage::NoNameServer) => DnsAnswer::ServerFailure,
            _ => self.address(host),
        }
    }

    pub fn address(&self, host: &str) -> DnsAnswer {
        match self.face(host) {
            None | Some((_, Face::Ghost(Ghost::Lost))) => DnsAnswer::NoSuchName,
            Some((_, Face::Ghost(Ghost::Faulty))) => DnsAnswer::ServerFailure,
            Some((number, Face::Ghost(_))) => {
                // Behind the addresses of all sites.
                let ip = address_number(self.config.network, self.config.sites + number);
                DnsAnswer::Found { ip, ttl_s: TTL_S }
            }
            Some((site, _)) => {
                DnsAnswer::Found { ip: self.sites[site as usize].address, ttl_s: TTL_S }
            }
        }
    }

    /// Whether a host compresses its pages for those who accept it.
    pub fn compresses(&self, host: &str) -> bool {
        match self.face(host) {
            Some((_, Face::Ghost(_))) | None => false,
            Some((site, _)) => self.sites[site as usize].gzip,
        }
    }
}
