//! The sites: how large, on which hosts and addresses, of which temper. All that is stored.

use std::net::Ipv4Addr;

use super::chance::{Purpose, Stream, draw, mix, scale};
use super::config::WebConfig;
use super::lexicon::Lexicon;
use super::lies::Lie;
use super::robots::RobotsKind;

/// Every page has up to this many children in its site's tree, so depth grows with the logarithm.
pub(crate) const BRANCHING: u32 = 8;

#[derive(Debug)]
pub(crate) struct Site {
    /// The registrable domain.
    pub(crate) domain: Box<str>,
    pub(crate) pages: u32,
    /// Pages below this number hang in the tree from the root; the others are orphans.
    pub(crate) rooted: u32,
    pub(crate) paths: PathStyle,
    pub(crate) charset: Charset,
    pub(crate) robots: RobotsKind,
    pub(crate) crawl_delay_s: u32,
    pub(crate) blog: bool,
    pub(crate) mirror: bool,
    pub(crate) trap: bool,
    pub(crate) sitemap: bool,
    pub(crate) gzip: bool,
    pub(crate) validators: Validators,
    pub(crate) lie: Option<Lie>,
    pub(crate) latency_us: u64,
    pub(crate) address: Ipv4Addr,
}

/// How a site spells the URLs of its pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathStyle {
    /// `/section/two-words-12.html`
    Files,
    /// `/section/two-words-12/`
    Folders,
    /// `/index.php?topic=section&id=12`
    Queries,
}

/// What a site sends along so that a later visit can ask for changes only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Validators {
    Both,
    Tag,
    Date,
    Neither,
}

/// What a site's pages are written in, and where they say so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Charset {
    Utf8,
    Latin1ByHeader,
    Latin1ByMeta,
}

impl Site {
    /// Whether a page has no children in the tree. Only leaves have traits that hide what is
    /// behind them, so that the tree stays whole.
    pub(crate) fn is_leaf(&self, n: u32) -> bool {
        n > 0 && u64::from(n) * u64::from(BRANCHING) + 1 >= u64::from(self.rooted)
    }
}

pub(crate) fn make_sites(config: &WebConfig, lexicon: &Lexicon) -> Vec<Site> {
    sizes(config)
        .into_iter()
        .enumerate()
        .map(|(i, pages)| make_site(config, lexicon, i as u32, pages))
        .collect()
}

fn make_site(config: &WebConfig, lexicon: &Lexicon, i: u32, pages: u32) -> Site {
    let odd = &config.oddities;
    let mut chance = Stream::new(draw(config.seed, Purpose::Site, u64::from(i), 0));
    let word = lexicon.word(draw(config.seed, Purpose::Name, u64::from(i), 0));
    // Site 0 is the one everything starts from: it is whole and never odd in its robots.txt.
    let plain_robots = i == 0 || !chance.per_mille(odd.odd_robots);
    let robots = if plain_robots { RobotsKind::Plain } else { RobotsKind::odd(chance.next()) };
    let mirror = pages >= 8 && chance.per_mille(odd.mirrors);
    let orphans = (u64::from(pages) * u64::from(odd.orphans) / 1000) as u32;
    let slow = if chance.per_mille(odd.slow_sites) { 40 } else { 1 };
    // Half to one and a half times the mean: hosts differ, none is at the edge.
    let latency_us = config.latency_us_mean / 2
        + u64::from(scale(chance.next(), 1 + config.latency_us_mean.min(1 << 30) as u32));
    Site {
        domain: format!("{word}-{i}.test").into(),
        pages,
        rooted: pages - orphans.min(pages - 1),
        paths: match chance.below(4) {
            0 => PathStyle::Folders,
            1 => PathStyle::Queries,
            _ => PathStyle::Files,
        },
        charset: match (chance.per_mille(odd.odd_charsets), chance.below(2)) {
            (false, _) => Charset::Utf8,
            (true, 0) => Charset::Latin1ByHeader,
            (true, _) => Charset::Latin1ByMeta,
        },
        robots,
        crawl_delay_s: if chance.per_mille(odd.crawl_delays) { 2 + chance.below(8) } else { 0 },
        // A mirror copies the www host alone, so a mirrored site has no second host to copy.
        blog: chance.per_mille(odd.blogs) && !mirror && pages >= 8,
        mirror,
        trap: chance.per_mille(odd.traps),
        sitemap: chance.per_mille(odd.sitemaps),
        gzip: chance.per_mille(odd.gzip_sites),
        validators: match chance.below(6) {
            0 => Validators::Tag,
            1 => Validators::Date,
            2 => Validators::Neither,
            _ => Validators::Both,
        },
        lie: Lie::of(config, i),
        latency_us: latency_us * slow,
        address: address_of(config, i),
    }
}

/// Most sites have an address of their own; one in five shares its neighbours'.
fn address_of(config: &WebConfig, i: u32) -> Ipv4Addr {
    let shared = scale(draw(config.seed, Purpose::Address, u64::from(i), 0), 5) == 0;
    address_number(config.network, if shared { i & !7 } else { i })
}

/// The first /16 is left to others: 127.0.0.1 and the name server live there.
pub(crate) fn address_number(network: u8, number: u32) -> Ipv4Addr {
    const HOSTS: u32 = 250 * 250 * 250;
    let n = number % HOSTS;
    let (high, middle, low) = (n / 62_500, n / 250 % 250, n % 250);
    Ipv4Addr::new(network, 1 + high as u8, middle as u8, 1 + low as u8)
}

/// Sizes by rank, at least one page each, that add up to the pages asked for.
fn sizes(config: &WebConfig) -> Vec<u32> {
    assert!(config.sites > 0 && config.pages >= config.sites, "every site has at least a root");
    let weights: Vec<f64> =
        (0..config.sites).map(|i| quarter_power(i + 1, config.size_exponent_quarters)).collect();
    let total: f64 = weights.iter().sum();
    let spare = f64::from(config.pages - config.sites);
    let mut sizes: Vec<u32> = weights.iter().map(|w| 1 + (w / total * spare) as u32).collect();
    let given: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    // Rounding down leaves less than one page a site: hand them out from the largest on.
    let left = u64::from(config.pages).saturating_sub(given) as usize;
    for size in sizes.iter_mut().take(left) {
        *size += 1;
    }
    sizes
}

/// rank^-(quarters/4) by square roots, which are exact everywhere, unlike powers.
fn quarter_power(rank: u32, quarters: u32) -> f64 {
    let root = f64::from(rank).sqrt().sqrt();
    (0..quarters).fold(1.0, |power, _| power / root)
}

/// A page's own hash for a purpose.
pub(crate) fn page_draw(seed: u64, purpose: Purpose, site: u32, n: u32) -> u64 {
    draw(seed, purpose, u64::from(site) << 32 | u64::from(n), 0)
}

/// A further hash from a page's one.
pub(crate) fn further(hash: u64, salt: u64) -> u64 {
    mix(hash ^ salt.wrapping_mul(0xd6e8_feb8_6659_fd93))
}
