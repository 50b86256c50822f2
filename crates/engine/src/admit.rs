//! Which URLs enter the crawl: scope, filters, depth, budgets and trap rules.
//!
//! What a host's patterns have brought is weighed later, when a URL comes up (`traps`).
//!
//! All but depth and budget are pure functions of the URL, so a changed rule can be applied to
//! what was refused before by comparing it again (`review`).

use crate::config::{Config, Traps};
use crate::discovery::Discovery;
use crate::queue::Entry;
use crate::record::{Refusal, Role, UrlRecord};
use crate::requisites;
use crate::traps::grown::trap_rule;
use crate::traps::junk;
use rhumb_page::url::{Scheme, Url};
use std::collections::HashSet;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Sitemaps and redirects one behind the other, from the robots.txt that names the first. The
/// protocol allows an index and its sitemaps.
pub const SITEMAP_HOPS_MAX: u8 = 5;

/// Where the crawl may go.
#[derive(Clone, Debug)]
pub struct Scope {
    reach: Reach,
    /// Hosts or sites of the seeds, by `reach`. Looked up, never iterated.
    members: HashSet<Box<str>>,
    /// The seeds themselves, by their hash, where they matter. Looked up, never iterated.
    seeds: HashSet<u64>,
    /// The sum of the members' hashes: it does not depend on their order.
    fingerprint: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The seeds' hosts, on any port and scheme.
    Host,
    /// The seeds' registrable domains.
    Site,
    Any,
    /// What lies below the seeds' paths on their hosts.
    Below,
}

impl Scope {
    pub fn any() -> Scope {
        Scope::new(Reach::Any)
    }

    pub fn new(reach: Reach) -> Scope {
        Scope { reach, members: HashSet::new(), seeds: HashSet::new(), fingerprint: 0 }
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Widens the scope by a seed.
    pub fn add(&mut self, seed: &Url) {
        let (site, below);
        let member = match self.reach {
            Reach::Host => seed.host(),
            Reach::Site => {
                site = seed.site();
                site.as_str()
            }
            Reach::Below => {
                self.add_member(seed.host());
                below = format!("{}{}", seed.host(), directory(seed.path()));
                &below
            }
            Reach::Any => return,
        };
        self.seeds.insert(xxh3_64(seed.as_str().as_bytes()));
        self.add_member(member);
    }

    fn add_member(&mut self, member: &str) {
        if self.members.insert(member.into()) {
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_64(member.as_bytes()));
        }
    }

    /// Whether the scope was made from this URL; never where all is within it.
    pub fn is_seed(&self, url: &Url) -> bool {
        self.seeds.contains(&xxh3_64(url.as_str().as_bytes()))
    }

    /// Of the hosts or sites that it has.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub fn admits(&self, url: &Url) -> bool {
        match self.reach {
            Reach::Host => self.members.contains(url.host()),
            Reach::Site => self.members.contains(url.site().as_str()),
            Reach::Below => is_below(url.host(), url.path(), &self.members),
            Reach::Any => true,
        }
    }

    /// Whether sitemaps are taken from there: they lie where their host has them.
    pub fn admits_sitemap(&self, url: &Url) -> bool {
        match self.reach {
            Reach::Below => self.members.contains(url.host()),
            _ => self.admits(url),
        }
    }
}

/// What a path is a page of, or the directory of: `/guide/` of `/guide/`, `/guide/index.html` and
/// `/guide`.
fn directory(path: &str) -> String {
    let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
    match last {
        "" => format!("{before}/"),
        file if file.contains('.') => format!("{before}/"),
        _ => format!("{path}/"),
    }
}

/// Whether one of the directories that a path lies in, or is, is among the members.
fn is_below(host: &str, path: &str, members: &HashSet<Box<str>>) -> bool {
    let mut whole = format!("{host}{path}");
    if !whole.ends_with('/') {
        whole.push('/');
    }
    let ends = whole.match_indices('/').map(|(at, _)| at + 1);
    let mut ends = ends.filter(|end| *end > host.len());
    ends.any(|end| members.contains(&whole[..end]))
}

/// What the owner had taken down: URLs, and hosts with all that they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Names of hosts, whatever the scheme and port. Looked up, never iterated.
    hosts: HashSet<Box<str>>,
    /// Looked up, never iterated.
    urls: HashSet<Box<str>>,
    /// The sum of their hashes: it does not depend on their order.
    fingerprint: u64,
}

impl Forgotten {
    pub fn add_host(&mut self, host: &str) {
        if self.hosts.insert(host.into()) {
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_64(host.as_bytes()));
        }
    }

    pub fn add_url(&mut self, url: &Url) {
        if self.urls.insert(url.as_str().into()) {
            self.fingerprint = self.fingerprint.wrapping_add(xxh3_64(url.as_str().as_bytes()));
        }
    }

    pub fn has(&self, url: &Url) -> bool {
        !self.is_empty() && (self.hosts.contains(url.host()) || self.urls.contains(url.as_str()))
    }

    pub fn has_host(&self, name: &str) -> bool {
        self.hosts.contains(name)
    }

    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.urls.is_empty()
    }
}

/// What admission depends on besides the rules.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionCandidate<'a> {
    pub url: &'a Url,
    /// The owner asked for it by name: filters speak of what the crawl finds.
    pub is_seed: bool,
    pub role: Role,
    pub depth: u16,
    pub hops: u8,
    /// What its host's budget has spent on others: sitemaps, if it is one, else pages.
    pub host_spent: u64,
}

impl<'a> AdmissionCandidate<'a> {
    pub fn found(discovery: &'a Discovery, role: Role, host_spent: u64) -> AdmissionCandidate<'a> {
        let Discovery { url, kind, depth, hops, .. } = discovery;
        let (is_seed, depth, hops) = (kind.is_named(), *depth, *hops);
        AdmissionCandidate { url, is_seed, role, depth, hops, host_spent }
    }

    /// A URL that waits. Of those that no link leads to, the owner named most.
    pub fn waiting(entry: &'a Entry, host_spent: u64) -> AdmissionCandidate<'a> {
        let UrlRecord { depth, hops, role, .. } = entry.record;
        let is_seed = depth == 0 && hops == 0;
        AdmissionCandidate { url: &entry.url, is_seed, role, depth, hops, host_spent }
    }
}

/// The first rule that refuses a URL, or none.
pub fn admit(config: &Config, candidate: AdmissionCandidate<'_>) -> Result<(), Refusal> {
    let AdmissionCandidate { url, is_seed, role, depth, hops, host_spent } = candidate;
    if config.forgotten.has(url) {
        return Err(Refusal::Forgotten);
    }
    if role.is_requisite() {
        return admit_requisite(config, candidate);
    }
    if role != Role::Page {
        return admit_sitemap(config, candidate);
    }
    if !config.scope.admits(url) {
        return Err(Refusal::Scope);
    }
    if !is_seed && !config.rules.admits(url) {
        return Err(Refusal::Filter);
    }
    let lifted = config.traps.lifted;
    if !lifted.has(Refusal::Trap) && trap_rule(&config.traps, url, depth).is_some() {
        return Err(Refusal::Trap);
    }
    if let (false, Some(why)) = (is_seed, junk_rule(config, url)) {
        return Err(why);
    }
    if hops > config.redirects_max {
        return Err(Refusal::Hops);
    }
    if config.depth_max.is_some_and(|max| depth > max) {
        return Err(Refusal::Depth);
    }
    if config.host_pages_max.is_some_and(|max| host_spent >= max) {
        return Err(Refusal::HostBudget);
    }
    Ok(())
}

/// The rule by which a URL is junk, unless the owner lifted it.
pub fn junk_rule(config: &Config, url: &Url) -> Option<Refusal> {
    let rule = junk::rule(url, config.continuous.is_some());
    rule.filter(|why| !config.traps.lifted.has(*why))
}

/// The same of a sitemap: it is no page, so `--include` does not speak of it.
fn admit_sitemap(config: &Config, candidate: AdmissionCandidate<'_>) -> Result<(), Refusal> {
    let AdmissionCandidate { url, role, hops, host_spent, .. } = candidate;
    if role != Role::OutsideSitemap && !config.scope.admits_sitemap(url) {
        return Err(Refusal::Scope);
    }
    if config.rules.excluding(url).is_some() {
        return Err(Refusal::Filter);
    }
    if url.as_str().len() > config.traps.url_bytes_max {
        return Err(Refusal::Trap);
    }
    if hops > SITEMAP_HOPS_MAX || host_spent >= u64::from(config.sitemaps.per_host_max) {
        return Err(Refusal::Sitemaps);
    }
    Ok(())
}

/// The same of a requisite: of whatever host, and `--include` does not speak of it. A file is read
/// within the scope alone.
fn admit_requisite(config: &Config, candidate: AdmissionCandidate<'_>) -> Result<(), Refusal> {
    let AdmissionCandidate { url, hops, .. } = candidate;
    let is_web = matches!(url.scheme(), Scheme::Http | Scheme::Https);
    if !is_web && !config.scope.admits(url) {
        return Err(Refusal::Scope);
    }
    if config.requisites_max.is_none() || config.rules.excluding(url).is_some() {
        return Err(Refusal::Filter);
    }
    if url.as_str().len() > config.traps.url_bytes_max {
        return Err(Refusal::Trap);
    }
    if hops > requisites::HOPS_MAX {
        return Err(Refusal::Hops);
    }
    Ok(())
}

/// Of all rules that [`admit`] applies, but for the members of the scope. It hashes text and
/// numbers, so it does not change with the compiler.
pub fn fingerprint(config: &Config) -> u64 {
    let Traps { path_segments_max, segment_repeats_max, url_bytes_max, depth_max, lifted } =
        config.traps;
    let numbers = [
        config.scope.reach as u64,
        config.depth_max.map_or(u64::MAX, u64::from),
        config.host_pages_max.unwrap_or(u64::MAX),
        u64::from(config.redirects_max),
        path_segments_max as u64,
        segment_repeats_max as u64,
        url_bytes_max as u64,
        u64::from(config.sitemaps.per_host_max),
        u64::from(depth_max),
        u64::from(lifted.bits()),
        u64::from(config.continuous.is_some()),
        config.forgotten.fingerprint,
    ];
    let mut hash = Xxh3::new();
    config.screen.hash_into(&mut hash);
    numbers.iter().for_each(|number| hash.update(&number.to_le_bytes()));
    for patterns in config.rules.patterns() {
        hash.update(&(patterns.len() as u64).to_le_bytes());
        for pattern in patterns {
            hash.update(&(pattern.len() as u64).to_le_bytes());
            hash.update(pattern.as_bytes());
        }
    }
    // Crawls without it have the fingerprint that they always had.
    if config.requisites_max.is_some() {
        hash.update(b"requisites");
    }
    hash.digest()
}

/// Whether a URL belongs to the web that the owner meant at all: what the rest is measured by.
pub fn is_inside(config: &Config, discovery: &Discovery) -> bool {
    let is_seed = discovery.kind.is_named();
    match discovery.kind.role() {
        role if role == Role::Page || role.is_requisite() => {}
        Role::OutsideSitemap => return config.rules.excluding(&discovery.url).is_none(),
        _ => {
            return config.scope.admits_sitemap(&discovery.url)
                && config.rules.excluding(&discovery.url).is_none();
        }
    }
    let is_wanted = |url| config.rules.admits(url) && junk_rule(config, url).is_none();
    config.scope.admits(&discovery.url) && (is_seed || is_wanted(&discovery.url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Lifted;
    use crate::screen::Screen;
    use rhumb_page::media_list::MediaList;
    use rhumb_page::url::Rules;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn each_rule_has_its_part_in_the_fingerprint_and_the_order_of_seeds_has_none() {
        let rules = |include: &[&str], exclude: &[&str]| {
            let texts = |list: &[&str]| list.iter().map(|text| text.to_string()).collect();
            let (include, exclude): (Vec<String>, Vec<String>) = (texts(include), texts(exclude));
            Config { rules: Rules::new(&include, &exclude).unwrap(), ..Config::default() }
        };
        let traps = |traps: Traps| Config { traps, ..Config::default() };
        let types = MediaList::parse("html").unwrap();
        let typed = Screen { types, ..Screen::default() };
        let short = Screen { body_bytes_max: Some(9), ..Screen::default() };
        let mut forgotten = Forgotten::default();
        forgotten.add_host("a.test");
        let all = [
            Config::default(),
            Config { scope: Scope::new(Reach::Site), ..Config::default() },
            Config { depth_max: Some(3), ..Config::default() },
            Config { host_pages_max: Some(3), ..Config::default() },
            Config { redirects_max: 3, ..Config::default() },
            traps(Traps { path_segments_max: 3, ..Traps::default() }),
            traps(Traps { segment_repeats_max: 3, ..Traps::default() }),
            traps(Traps { url_bytes_max: 3, ..Traps::default() }),
            traps(Traps { depth_max: 3, ..Traps::default() }),
            traps(Traps { lifted: Lifted::default().with(Refusal::Feed), ..Traps::default() }),
            rules(&["a"], &[]),
            rules(&[], &["a"]),
            rules(&["a", "b"], &[]),
            rules(&["ab"], &[]),
            Config { screen: typed, ..Config::default() },
            Config { screen: short, ..Config::default() },
            Config { forgotten, ..Config::default() },
        ];
        let prints: HashSet<u64> = all.iter().map(fingerprint).collect();
        assert_eq!(prints.len(), all.len());
        let scope = |seeds: [&str; 3]| {
            let mut scope = Scope::new(Reach::Host);
            seeds.iter().for_each(|seed| scope.add(&url(seed)));
            scope.fingerprint()
        };
        let [a, b, c] = ["http://a.test/1", "http://b.test/", "http://a.test/2"];
        assert_eq!(scope([a, b, c]), scope([b, c, a]));
        assert_ne!(scope([a, c, c]), scope([a, b, c]));
    }

    #[test]
    fn below_a_path_are_its_directory_and_all_that_is_in_it() {
        let mut below = Scope::new(Reach::Below);
        below.add(&url("https://a.test/guide/intro.html?x=1"));
        below.add(&url("https://b.test/docs"));
        for inside in ["/guide/", "/guide/x", "/guide/x/y.html", "/guide?page=2"] {
            assert!(below.admits(&url(&format!("http://a.test:81{inside}"))), "{inside}");
        }
        for outside in ["/", "/guides", "/guide.html", "/x/guide/", "/docs/"] {
            assert!(!below.admits(&url(&format!("https://a.test{outside}"))), "{outside}");
        }
        assert!(
            below.admits(&url("https://b.test/docs/a"))
                && below.admits(&url("https://b.test/docs"))
        );
        assert!(
            !below.admits(&url("https://b.test/")) && !below.admits(&url("https://c.test/guide/"))
        );
        assert!(below.admits_sitemap(&url("https://b.test/sitemap.xml")));
    }

    #[test]
    fn scope_by_host_ignores_port_and_scheme_and_by_site_takes_subdomains() {
        let mut host = Scope::new(Reach::Host);
        host.add(&url("http://www.example.co.uk/"));
        assert!(host.admits(&url("https://www.example.co.uk:8443/a")));
        assert!(!host.admits(&url("http://example.co.uk/")));
        let mut site = Scope::new(Reach::Site);
        site.add(&url("http://www.example.co.uk/"));
        assert!(site.admits(&url("https://bodies.example.co.uk/")));
        assert!(!site.admits(&url("https://other.co.uk/")));
    }
}
