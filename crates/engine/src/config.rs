//! What the crawl's owner decided, parsed and checked before it comes here.

use crate::admit::{Forgotten, Scope};
use crate::hours::Hours;
use crate::partition::Partition;
use crate::record::Refusal;
use crate::refresh::budget::RequestBudget;
use crate::refresh::index::Objective;
use crate::screen::Screen;
use crate::time::Span;
use regex::Regex;
use rhumb_page::robots::Agent;
use rhumb_page::url::{HostKey, NamedHost, Rules};

/// A stop waits so long for requests under way: most answers take less, and a stop must not take
/// long whatever hangs.
const STOP_GRACE: Span = Span::secs(3);

/// The number of front queues. Class 0 is the most urgent.
pub const CLASSES: usize = 32;

#[derive(Clone, Debug)]
pub struct Config {
    /// For the biased selector and the random order: the engine has no other randomness.
    pub seed: u64,
    /// The part of the crawl that this engine has.
    pub partition: Partition,
    /// Whom robots.txt files know us as.
    pub agent: Agent,
    pub scope: Scope,
    pub rules: Rules,
    pub priorities: Vec<Priority>,
    pub order: Order,
    pub selection: Selection,
    /// The crawl has a topic: the books are those of the biased surfer.
    pub topic: Option<Focus>,
    /// Stop when the crawled pages have this share of all importance, or of the topic, for certain,
    /// or cannot.
    pub coverage: Option<f64>,
    pub depth_max: Option<u16>,
    pub host_pages_max: Option<u64>,
    pub pages_max: Option<u64>,
    pub bytes_max: Option<u64>,
    pub redirects_max: u8,
    /// Requests in flight over all hosts.
    pub concurrency: usize,
    /// The bound on hosts that have a back queue in memory.
    pub hosts_awake_max: usize,
    pub polite: Polite,
    pub retry: Retry,
    /// A stop waits so long for requests under way.
    pub stop_grace: Span,
    /// All that failed in earlier runs is tried again, whatever the kind, and with all its tries.
    pub retry_failed: bool,
    /// What happens is logged.
    pub logs: bool,
    pub traps: Traps,
    /// Pages are visited again after this time; never, if none.
    pub revisit_after: Option<Span>,
    /// Pages are visited again for ever, where it pays; wins over `revisit_after`.
    pub continuous: Option<Continuous>,
    pub sitemaps: Sitemaps,
    /// What pages are shown with is fetched, too: so many of one page or stylesheet.
    pub requisites_max: Option<u32>,
    pub near: NearDuplicates,
    pub noarchive: NoArchive,
    /// Hosts of the owner's own: what their robots.txt forbids is fetched all the same.
    pub own_sites: Vec<NamedHost>,
    /// When hosts and URLs may be asked for.
    pub hours: Hours,
    /// Bytes received over all hosts, at most.
    pub bytes_per_s: Option<u64>,
    /// What is wanted of pages, by their heads.
    pub screen: Screen,
    /// Links of pages are followed; with none, a list of pages is fetched and nothing else.
    pub follows_links: bool,
    /// What was taken down.
    pub forgotten: Forgotten,
}

/// Pages that may be in flight or being compared, per request in flight: while some wait to hear
/// whether they were seen before, others are fetched.
const HELD_PER_FETCH: usize = 2;
/// With so few requests in flight it is the order that counts, not the rate: the next page is
/// chosen when the last one is put to admission.
const FEW_FETCHES: usize = 64;

impl Config {
    /// Whether a host is one of the owner's own.
    pub fn is_own(&self, host: &HostKey) -> bool {
        !self.own_sites.is_empty()
            && self.own_sites.iter().any(|own| own.is(&host.host(), host.port()))
    }

    /// For whom the robots.txt of a host is read.
    pub fn agent_at(&self, host: &HostKey) -> Agent {
        if self.is_own(host) { Agent::OWNER } else { self.agent }
    }

    /// For whom all of them are.
    pub fn agents(&self) -> Agent {
        self.own_sites.iter().fold(self.agent, |agent, own| agent.with(&own.to_string()))
    }

    /// Pages held at once: in flight, or arrived and not yet compared.
    pub fn held_max(&self) -> usize {
        Config::held_max_of(self.concurrency)
    }

    /// The same of so many slots.
    pub fn held_max_of(slots: usize) -> usize {
        match slots {
            0..=FEW_FETCHES => slots,
            many => many * HELD_PER_FETCH,
        }
    }
}

/// Which sitemaps are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sitemaps {
    /// Those that a robots.txt names.
    pub named: bool,
    /// `/sitemap.xml` of a host whose robots.txt names none, unless the crawl may go anywhere:
    /// there it would be a request more to every host of the web.
    pub tried: bool,
    /// Sitemaps of one host, indexes among them.
    pub per_host_max: u32,
}

impl Default for Sitemaps {
    fn default() -> Sitemaps {
        Sitemaps { named: true, tried: true, per_host_max: 1_000 }
    }
}

/// What becomes of pages whose text is nearly that of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearDuplicates {
    pub policy: NearPolicy,
    /// The least resemblance, above 0 and at most 1.
    pub threshold: f64,
    /// Their links are followed.
    pub follow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearPolicy {
    /// Found, told, and kept like any other page.
    Keep,
    /// Found and told, but not archived.
    Skip,
    /// Not looked for.
    Off,
}

/// What becomes of pages that ask that no copy of them be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoArchive {
    /// Their links are followed, their bodies are not kept, and a metadata record says so.
    Obey,
    /// Kept like any other page: for owners of what they crawl.
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Settled,
    RankMass,
    Windowed,
    LNeighbor,
    Opic,
    Backlink,
    PartialPr,
    Bfs,
    Dfs,
    Random,
    /// By the learnt link model and what lies on URLs, for a crawl with a topic; or by the latter.
    Focused,
    FocusedProven,
}

/// How a crawl keeps to its topic. Which topic that is, only those know who read pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Links of pages below this relevance, in 255 parts, are not followed, but for those of seeds.
    pub relevance_min: u8,
}

/// Which of the hosts that are due comes next, by the class of its best URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// As the order wants it: the best for those that follow importance, else by chance.
    ByOrder,
    /// Mercator's: each class gets half of the turns that the classes above leave.
    Biased,
    /// Always of the best class that there is.
    Best,
    /// The best, and none so many octaves below the heaviest URL that waits while a request is in
    /// flight: fewer pages for the same importance, and idle slots.
    Patient { octaves: u8 },
}

/// `[[priority]]`: a rule on URLs, first match wins.
#[derive(Clone, Debug)]
pub struct Priority {
    pub pattern: Regex,
    pub class: Option<u8>,
    /// Doubling the weight moves a URL up by one class.
    pub weight: Option<f64>,
    /// A page is seen at least this often, as far as the budget goes.
    pub interval_max: Option<Span>,
}

/// How a crawl goes on for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuous {
    pub objective: Objective,
    /// Requests of any kind.
    pub budget: RequestBudget,
    /// No page waits longer, as far as the budget goes.
    pub interval_max: Span,
    /// Pages weigh by their importance.
    pub by_importance: bool,
    pub minor_changes: MinorChanges,
}

/// How the learning of change rates counts a change of a few words. A change is minor if the
/// resemblance to the text at the last major change is above (threshold of near-duplicates + 1) /
/// 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MinorChanges {
    /// A change like any other.
    #[default]
    Count,
    /// No change: such a page is visited as if it had stayed the same.
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polite {
    pub delay: Span,
    pub delay_factor: f64,
    /// Neither `delay_factor` nor Crawl-delay makes us wait longer than this.
    pub delay_max: Span,
    pub per_address: u16,
    /// From the end of a response to the next request to the same address.
    pub address_delay: Span,
    pub robots_ttl: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The first wait; each further one is twice as long.
    pub wait_min: Span,
    pub wait_max: Span,
    /// Tries of one URL, the first included.
    pub tries_max: u8,
    /// Failures of robots.txt in a row before its host counts as failing.
    pub robots_tries_max: u8,
    /// Failures in a row before a host counts as failing: it goes on being tried, and no longer
    /// keeps a run alive.
    pub host_failures_max: u16,
    /// The longest Retry-After that is obeyed as it stands.
    pub retry_after_max: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traps {
    pub path_segments_max: usize,
    /// How often one path segment may recur in a path.
    pub segment_repeats_max: usize,
    pub url_bytes_max: usize,
    /// Links from a seed: farther than any page of an honest site.
    pub depth_max: u16,
    pub lifted: Lifted,
}

/// The rules against traps and junk that the owner does without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifted(u32);

impl Lifted {
    pub fn with(self, rule: Refusal) -> Lifted {
        Lifted(self.0 | 1 << rule as u32)
    }

    pub fn has(self, rule: Refusal) -> bool {
        self.0 & 1 << rule as u32 != 0
    }

    /// In the order of their numbers.
    pub fn rules(self) -> impl Iterator<Item = Refusal> {
        Refusal::ALL.into_iter().filter(move |rule| self.has(*rule))
    }

    pub fn bits(self) -> u32 {
        self.0
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            seed: 0,
            partition: Partition::WHOLE,
            agent: Agent::of("rhumb"),
            scope: Scope::any(),
            rules: Rules::default(),
            priorities: Vec::new(),
            order: Order::Settled,
            selection: Selection::ByOrder,
            topic: None,
            coverage: None,
            depth_max: None,
            host_pages_max: None,
            pages_max: None,
            bytes_max: None,
            redirects_max: 10,
            concurrency: 256,
            hosts_awake_max: 16_384,
            polite: Polite::default(),
            retry: Retry::default(),
            stop_grace: STOP_GRACE,
            retry_failed: false,
            logs: false,
            traps: Traps::default(),
            revisit_after: None,
            continuous: None,
            sitemaps: Sitemaps::default(),
            requisites_max: None,
            near: NearDuplicates::default(),
            noarchive: NoArchive::Obey,
            own_sites: Vec::new(),
            hours: Hours::default(),
            bytes_per_s: None,
            screen: Screen::default(),
            follows_links: true,
            forgotten: Forgotten::default(),
        }
    }
}

impl Default for NearDuplicates {
    fn default() -> NearDuplicates {
        NearDuplicates { policy: NearPolicy::Keep, threshold: 0.8, follow: true }
    }
}

impl Default for Polite {
    fn default() -> Polite {
        Polite {
            delay: Span::secs(1),
            delay_factor: 5.0,
            delay_max: Span::secs(300),
            per_address: 2,
            address_delay: Span::ZERO,
            robots_ttl: Span::secs(24 * 3600),
        }
    }
}

impl Default for Retry {
    fn default() -> Retry {
        Retry {
            wait_min: Span::secs(15),
            wait_max: Span::secs(3600),
            tries_max: 4,
            robots_tries_max: 6,
            host_failures_max: 6,
            retry_after_max: Span::secs(24 * 3600),
        }
    }
}

impl Default for Traps {
    fn default() -> Traps {
        Traps {
            path_segments_max: 32,
            segment_repeats_max: 4,
            url_bytes_max: 2_000,
            depth_max: 10_000,
            lifted: Lifted::default(),
        }
    }
}
