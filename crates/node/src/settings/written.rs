//! What a person wrote, in flags or in TOML: the same names, the same spellings, all optional.
//!
//! `--max-pages 100` and `max_pages = 100` are one field read through two doors, so they cannot
//! come to mean different things. Whatever is left out is decided by the next layer below: flags
//! over the file of `--config` over the `crawl.toml` of an earlier run over the defaults.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use rhumb_engine::admit::Reach;
use rhumb_engine::config::{MinorChanges, NearPolicy, NoArchive, Order};
use rhumb_engine::refresh::index::Objective;
use rhumb_page::url::NamedHost;
use serde::{Deserialize, Serialize};

use super::access::{HeaderLine, LoginLine, ProxyLine};
use super::allowance::RequestsAllowed;
use super::hours::HoursSetting;
use super::quantity::{OptionalBound, Period, Size};
use super::sections::{LimitsSection, PriorityRule, RetrySection, TrapsSection};
use super::seeds::SeedLine;
use super::word::{
    ArchiveKind, CookieJar, LiftList, MediaTypes, NamedValue, StripList, TopicSpec, UrlPattern,
    UserAgent,
};

#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrittenSettings {
    /// Stay on the seeds' hosts, on their sites (registrable domains), or go anywhere; where a seed
    /// redirects within its site, or permanently to another, the scope follows [site]
    #[arg(long, value_name = "host|site|any", help_heading = "Where to go")]
    pub scope: Option<NamedValue<Reach>>,

    /// Stay below the seeds' paths: https://a.org/guide/ takes what is in that directory; with a
    /// sitemap of the host, what it lists there
    #[arg(long, value_name = "true|false", help_heading = "Where to go")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub below: Option<bool>,

    /// Fetch the seeds, and follow no link and no sitemap: for lists of pages
    #[arg(long, value_name = "true|false", help_heading = "Where to go")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub only_seeds: Option<bool>,

    /// Take only pages of these media types, by the heads of their answers: text/html, image/*,
    /// html, pdf, …, with commas; none lifts it
    #[arg(long, value_name = "LIST", help_heading = "Where to go")]
    pub types: Option<OptionalBound<MediaTypes>>,

    /// Take only URLs that one of these regular expressions matches; repeatable
    #[arg(long, value_name = "RE", help_heading = "Where to go")]
    pub include: Option<Vec<UrlPattern>>,

    /// Leave out URLs that one of these regular expressions matches; repeatable
    #[arg(long, value_name = "RE", help_heading = "Where to go")]
    pub exclude: Option<Vec<UrlPattern>>,

    /// Parameters to remove from URLs: default (utm_*, jsessionid, …), none, or names with commas
    #[arg(long, value_name = "NAMES", help_heading = "Where to go")]
    pub strip: Option<StripList>,

    /// Links from a seed to the farthest page; `none` lifts an earlier bound
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub max_depth: Option<OptionalBound<u16>>,

    /// Pages taken of one host
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub max_pages_per_host: Option<OptionalBound<u64>>,

    /// Redirects followed one after the other [10]
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub max_redirects: Option<u8>,

    /// Read the sitemaps that robots.txt names, and /sitemap.xml where it names none (unless
    /// --scope is any) [true]
    #[arg(long, value_name = "true|false", help_heading = "Where to go")]
    #[arg(hide_possible_values = true)]
    pub sitemaps: Option<bool>,

    /// Fetch what pages are shown with, too: images, stylesheets, scripts, fonts, frames, from any
    /// host; they are no pages
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    #[arg(value_name = "true|false", hide_possible_values = true, help_heading = "Where to go")]
    pub requisites: Option<bool>,

    /// Requisites taken of one page or stylesheet [1000]
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub max_requisites_per_page: Option<u32>,

    /// Do without rules against traps and junk: none, all, or names with commas (trap, pattern,
    /// wiki_view, feed, api, list_order, snapshot, login, reply, archive, names, site_budget)
    /// [none]
    #[arg(long, value_name = "RULES", help_heading = "Where to go")]
    pub lift_traps: Option<LiftList>,

    /// Sitemaps read of one host, indexes among them [1000]
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub max_sitemaps_per_host: Option<u32>,

    /// Which page first: the most important (settled, rankmass, windowed, lneighbor, opic,
    /// backlink, partialpr), by depth (bfs, dfs), any (random), or, with --topic, the likeliest
    /// (focused) or those that prove most (focused-proven) [settled; focused with --topic]
    #[arg(long, value_name = "ORDER", help_heading = "Where to go")]
    pub order: Option<NamedValue<Order>>,

    /// Pages of a topic first: words:a,b c · like:URL|FILE|DIR (examples) · model:FILE · regex:RE;
    /// repeatable, joined by "or"; the topic of a directory stays what it was at first
    #[arg(long, value_name = "SPEC", help_heading = "By topic")]
    pub topic: Option<Vec<TopicSpec>>,

    /// Pages that are not of the topic, for like: to tell examples from
    #[arg(long, value_name = "DIR|FILE", help_heading = "By topic")]
    pub topic_against: Option<PathBuf>,

    /// Do not follow links of pages whose relevance is below this, from 0 to 1 [0]
    #[arg(long, value_name = "R", help_heading = "By topic")]
    pub topic_min: Option<f64>,

    /// Leave slots idle rather than fetch pages so many octaves less important than the best that
    /// waits: fewer pages for the same coverage
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub patience: Option<OptionalBound<u8>>,

    /// Visit pages again when the last visit is so long ago; such a crawl does not end by itself
    #[arg(long, value_name = "DUR", help_heading = "Where to go")]
    pub revisit: Option<OptionalBound<Period>>,

    /// Go on for ever: learn how pages change and visit them again where it pays
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[arg(require_equals = true, hide_possible_values = true, help_heading = "Going on")]
    pub continuous: Option<bool>,

    /// Requests of any kind that --continuous may make, as in 5000/day, 200/h [10000/day]
    #[arg(long, value_name = "N/day", help_heading = "Going on")]
    pub budget: Option<RequestsAllowed>,

    /// What --continuous is after: every missed change a little (harmonic), fresh copies, young
    /// copies, or few changes unseen [harmonic]
    #[arg(long, value_name = "harmonic|freshness|age|delay", help_heading = "Going on")]
    pub objective: Option<NamedValue<Objective>>,

    /// Whether changes of a few words count as changes of a page for --continuous; they are
    /// archived either way [count]
    #[arg(long, value_name = "count|ignore", help_heading = "Going on")]
    pub minor_changes: Option<NamedValue<MinorChanges>>,

    /// For what is left to chance: the random order, and which class comes next [0]
    #[arg(long, value_name = "N", help_heading = "Where to go")]
    pub random_seed: Option<u64>,

    /// Stop after so many pages, over all runs
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub max_pages: Option<OptionalBound<u64>>,

    /// Stop after so many bytes received, over all runs
    #[arg(long, value_name = "SIZE", help_heading = "When to stop")]
    pub max_bytes: Option<OptionalBound<Size>>,

    /// Stop when the pages crawled have this share of all importance for certain, or with --topic
    /// of the topic, or cannot
    #[arg(long, value_name = "X", help_heading = "When to stop")]
    pub coverage: Option<OptionalBound<f64>>,

    /// Stop after this time, in this run
    #[arg(long, value_name = "DUR", help_heading = "When to stop")]
    pub max_time: Option<OptionalBound<Period>>,

    /// From the end of a response to the next request to that host, at least [1s]
    #[arg(long, value_name = "DUR", help_heading = "Politeness")]
    pub delay: Option<Period>,

    /// … and so many times as long as the last response took [5]
    #[arg(long, value_name = "F", help_heading = "Politeness")]
    pub delay_factor: Option<f64>,

    /// Neither the factor nor a Crawl-delay makes a host wait longer [5m]
    #[arg(long, value_name = "DUR", help_heading = "Politeness")]
    pub delay_max: Option<Period>,

    /// Requests in flight to one address [2]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub per_address: Option<u16>,

    /// From the end of a response to the next request to that address [0]
    #[arg(long, value_name = "DUR", help_heading = "Politeness")]
    pub address_delay: Option<Period>,

    /// Bytes received in a second over all hosts, at most, as in 500kB; none lifts it
    #[arg(long, value_name = "SIZE", help_heading = "Politeness")]
    pub bytes_per_second: Option<OptionalBound<Size>>,

    /// How long a robots.txt is obeyed before it is fetched again [1d]
    #[arg(long, value_name = "DUR", help_heading = "Politeness")]
    pub robots_ttl: Option<Period>,

    /// Product token and contact, as in "mybot/1.0 (+https://example.org/bot)"; robots.txt is
    /// matched by the token
    #[arg(long, value_name = "NAME", help_heading = "Politeness")]
    pub user_agent: Option<UserAgent>,

    /// Requests in flight over all hosts [256]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub concurrency: Option<usize>,

    /// Divide the crawl among so many engines in this process, each with a store of its own; a
    /// directory keeps its number [1]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub partitions: Option<u32>,

    /// Hosts with a queue in memory; the others sleep on disk [16384]
    #[arg(long, value_name = "N", help_heading = "Network")]
    pub hosts_awake_max: Option<usize>,

    /// DNS server to ask [the system's]
    #[arg(long, value_name = "IP:PORT", help_heading = "Network")]
    pub resolver: Option<OptionalBound<SocketAddr>>,

    /// Permit loopback and private addresses
    #[arg(long, value_name = "true|false", help_heading = "Network")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub allow_private: Option<bool>,

    /// Permit file: URLs below this directory
    #[arg(long, value_name = "DIR", help_heading = "Network")]
    pub allow_file: Option<OptionalBound<PathBuf>>,

    /// A header for the seeds' sites alone, 'Name: value'; its value is kept nowhere; repeatable
    #[arg(long, value_name = "HEADER", help_heading = "Access")]
    pub header: Option<Vec<OptionalBound<HeaderLine>>>,

    /// Cookies for the seeds' sites, in the file format of Netscape
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub cookies: Option<OptionalBound<PathBuf>>,

    /// Keep the cookies that sites set and send them back, each site's to it alone [off]
    #[arg(long, value_name = "on|off", help_heading = "Access")]
    pub cookie_jar: Option<NamedValue<CookieJar>>,

    /// A login for one host, HOST=USER:PASSWORD_FILE, sent as Basic; repeatable
    #[arg(long, value_name = "LOGIN", help_heading = "Access")]
    pub auth: Option<Vec<OptionalBound<LoginLine>>>,

    /// A seed's host that is your own: its robots.txt is read for sitemaps and not obeyed;
    /// repeatable
    #[arg(long, value_name = "HOST", help_heading = "Access")]
    pub own_site: Option<Vec<OptionalBound<NamedHost>>>,

    /// Trust the certificates in this PEM file, too
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub ca_file: Option<OptionalBound<PathBuf>>,

    /// Do not verify the certificate of this host, and mark what it sends; repeatable
    #[arg(long, value_name = "HOST", help_heading = "Access")]
    pub insecure: Option<Vec<OptionalBound<NamedHost>>>,

    /// Fetch through http://, https://, socks5:// or socks5h://[USER:PASSWORD@]HOST:PORT, or
    /// through none; NO_PROXY is obeyed [http_proxy, https_proxy and all_proxy]
    #[arg(long, value_name = "URL|none", help_heading = "Access")]
    pub proxy: Option<ProxyLine>,

    /// Connect from this address of ours [the system's choice]
    #[arg(long, value_name = "ADDR", help_heading = "Access")]
    pub bind: Option<OptionalBound<IpAddr>>,

    /// Serve Prometheus metrics here, as in 127.0.0.1:9090
    #[arg(long, value_name = "ADDR", help_heading = "Network")]
    pub metrics: Option<OptionalBound<SocketAddr>>,

    /// Keep WARC files, or only crawl [warc]
    #[arg(long, value_name = "warc|none", help_heading = "What to keep")]
    pub archive: Option<NamedValue<ArchiveKind>>,

    /// Begin a new WARC file at this size [1GB]
    #[arg(long, value_name = "SIZE", help_heading = "What to keep")]
    pub warc_bytes_max: Option<Size>,

    /// Level of gzip in WARC files, 1 to 12 [1]
    #[arg(long, value_name = "N", help_heading = "What to keep")]
    pub compression_level: Option<i32>,

    /// Also write main text and metadata of pages to extract.jsonl.zst
    #[arg(long, value_name = "true|false", help_heading = "What to keep")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub extract: Option<bool>,

    /// Pages that ask that no copy of them be kept: follow their links and keep a note alone, or
    /// keep them all the same, as owners of a site may [obey]
    #[arg(long, value_name = "obey|ignore", help_heading = "What to keep")]
    pub noarchive: Option<NamedValue<NoArchive>>,

    /// Keep a search index of the pages current, for rhumb search
    #[arg(long, value_name = "true|false", help_heading = "What to keep")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub index: Option<bool>,

    /// Pages with nearly the text of another: keep them, skip them in the archive (they are
    /// recorded all the same), or do not look [keep]
    #[arg(long, value_name = "keep|skip|off", help_heading = "What to keep")]
    pub near_duplicates: Option<NamedValue<NearPolicy>>,

    /// Least resemblance of near-duplicates, from 0.5 to 1 [0.8]
    #[arg(long, value_name = "X", help_heading = "What to keep")]
    pub near_threshold: Option<f64>,

    /// Follow the links of near-duplicates [true]
    #[arg(long, value_name = "true|false", help_heading = "Where to go")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true)]
    pub follow_near_duplicates: Option<bool>,

    #[arg(skip)]
    pub seeds: Option<Vec<SeedLine>>,

    #[arg(skip)]
    pub retry: RetrySection,

    #[arg(skip)]
    pub traps: TrapsSection,

    #[arg(skip)]
    pub limits: LimitsSection,

    #[arg(skip)]
    pub priority: Option<Vec<PriorityRule>>,

    #[arg(skip)]
    pub hours: Option<Vec<HoursSetting>>,
}

impl WrittenSettings {
    /// What is written here wins over `base`; seeds add up.
    pub fn over(self, base: WrittenSettings) -> WrittenSettings {
        let seeds = match (base.seeds, self.seeds) {
            (Some(mut seeds), Some(more)) => {
                seeds.extend(more);
                Some(seeds)
            }
            (seeds, more) => seeds.or(more),
        };
        macro_rules! first_of {
            ($($key:ident)*) => {
                WrittenSettings {
                    $($key: self.$key.or(base.$key),)*
                    seeds,
                    retry: self.retry.over(base.retry),
                    traps: self.traps.over(base.traps),
                    limits: self.limits.over(base.limits),
                }
            };
        }
        first_of! {
            scope include exclude strip max_depth max_pages_per_host max_redirects
            sitemaps requisites max_requisites_per_page lift_traps max_sitemaps_per_host order
            topic topic_against topic_min patience revisit
            continuous budget objective minor_changes random_seed max_pages
            max_bytes coverage max_time delay delay_factor delay_max per_address
            address_delay robots_ttl user_agent concurrency hosts_awake_max resolver
            allow_private allow_file metrics archive warc_bytes_max
            partitions compression_level extract noarchive index near_duplicates near_threshold
            follow_near_duplicates priority header cookies cookie_jar auth own_site
            ca_file insecure proxy bind below only_seeds types bytes_per_second hours
        }
    }
}
