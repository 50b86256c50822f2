//! What kind of web: numbers only, so that a configuration prints and compares.

/// All that decides a web. Equal configurations are equal webs, to the byte.
#[derive(Clone, Debug, PartialEq)]
pub struct WebConfig {
    pub seed: u64,
    /// Registrable domains. Each has a `www.` host; some have `blog.` or `mirror.` as well.
    pub sites: u32,
    /// Pages over all sites, copies not counted; at least one per site.
    pub pages: u32,
    /// Site sizes go as rank^-(quarters/4): 0 makes all sites equal, 4 is Zipf's law.
    pub size_exponent_quarters: u32,
    /// How many sites (the largest first) have their root page among the seeds.
    pub seeds: u32,
    /// Written in all URLs unless it is 0 or 80.
    pub port: u16,
    /// Where hosts live: the first byte of all addresses, 127 for real sockets, 10 in simulation.
    pub network: u8,
    /// About how many links a page has.
    pub links_mean: u32,
    /// Of the content links, how many lead to other sites.
    pub cross_per_mille: u32,
    /// Mean size of a rendered page; single pages have half to one and a half times as much.
    pub page_bytes_mean: u32,
    /// About how many pictures a page is shown with; 0: no page with anything at all.
    pub requisites_mean: u32,
    /// Mean time of an answer in the simulator (and in the server when it acts it out).
    pub latency_us_mean: u64,
    /// Mean time between two changes of a page of median rate; 0: nothing ever changes.
    pub change_period_us: u64,
    /// Host names linked to that lead nowhere: dead, broken, refusing and silent ones in turn.
    pub ghosts: u32,
    pub oddities: Oddities,
    pub lies: Lies,
}

/// How often the web misleads those who come again, per mille. All zero: an honest web, whose
/// sitemaps say nothing of when pages changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lies {
    // Of sites, the first of these that a site is drawn for.
    /// Last-Modified is tomorrow.
    pub future_dates: u32,
    /// The ETag is another one each time.
    pub new_tags: u32,
    /// Validators never change, so that a changed page is answered with 304.
    pub stale_answers: u32,
    // Of leaf pages.
    /// There for two days, then gone for one, and so on.
    pub vanishing: u32,
    // Of all pages.
    /// A new version differs from the first in a few words; in the simulator only.
    pub small_edits: u32,
    /// What sitemaps say of their pages' last changes; in the simulator only.
    pub lastmod: Lastmod,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lastmod {
    #[default]
    Nothing,
    True,
    /// All has just changed, whenever one asks.
    AlwaysNow,
}

/// How often the web misbehaves, per mille of sites or of pages. All zero: a web of plain pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Oddities {
    // Of sites.
    pub blogs: u32,
    pub mirrors: u32,
    pub traps: u32,
    pub slow_sites: u32,
    /// Sites whose robots.txt is anything but plain (missing, moved, failing, huge, denying all).
    pub odd_robots: u32,
    /// Sites with a Crawl-delay of some seconds.
    pub crawl_delays: u32,
    pub sitemaps: u32,
    pub odd_charsets: u32,
    pub gzip_sites: u32,
    /// Sites that are down for a while, again and again.
    pub outages: u32,
    // Of pages.
    /// Pages no other page links to; every other one of them is in the site's sitemap.
    pub orphans: u32,
    /// Pages with an exact copy linked to (print version, session parameter).
    pub copies: u32,
    /// Pages with a link to a redirect (chains up to four hops, loops, the naked domain).
    pub redirects: u32,
    /// Leaf pages under /private/, which most robots.txt files disallow.
    pub private: u32,
    /// Pages that fail at first and then work: 500, 503, 429, reset, silence, a cut body, a slow
    /// one.
    pub flaky: u32,
    /// Pages with a link that leads to 404, 410, 500 or a ghost.
    pub dead_links: u32,
    /// Leaf pages that are no HTML.
    pub media: u32,
    /// Leaf pages with noindex or nofollow, a meta refresh, or inline frames; pages with base.
    pub directives: u32,
    /// Content links with rel=nofollow.
    pub nofollow_links: u32,
}

const MINUTE_US: u64 = 60_000_000;
const DAY_US: u64 = 24 * 60 * MINUTE_US;

impl WebConfig {
    /// Plain pages only: a base for the presets and for tests that want one thing at a time.
    pub fn plain(sites: u32, pages: u32) -> WebConfig {
        WebConfig {
            seed: 1,
            sites,
            pages,
            size_exponent_quarters: 3,
            seeds: sites,
            port: 80,
            network: 10,
            links_mean: 14,
            cross_per_mille: 200,
            page_bytes_mean: 8_000,
            requisites_mean: 0,
            latency_us_mean: 80_000,
            change_period_us: 0,
            ghosts: 0,
            oddities: Oddities::default(),
            lies: Lies::default(),
        }
    }

    /// A few hundred pages with a little of everything: for tests.
    pub fn small() -> WebConfig {
        WebConfig {
            change_period_us: 30 * DAY_US,
            ghosts: 4,
            oddities: Oddities::usual(),
            ..WebConfig::plain(12, 400)
        }
    }

    /// What `rhumb demo` crawls: it changes within minutes, so that a revisit has news.
    pub fn demo() -> WebConfig {
        WebConfig {
            latency_us_mean: 4_000,
            change_period_us: 3 * MINUTE_US,
            ghosts: 8,
            network: 127,
            oddities: Oddities { slow_sites: 0, crawl_delays: 0, ..Oddities::usual() },
            ..WebConfig::plain(300, 3_000)
        }
    }

    /// Pages of 20 kB over 2,000 equal hosts; nothing fails, nothing waits.
    pub fn bench() -> WebConfig {
        WebConfig {
            size_exponent_quarters: 0,
            links_mean: 28,
            page_bytes_mean: 20_000,
            latency_us_mean: 0,
            network: 127,
            ..WebConfig::plain(2_000, 200_000)
        }
    }

    /// Everything goes wrong often.
    pub fn hostile() -> WebConfig {
        WebConfig {
            change_period_us: DAY_US,
            ghosts: 40,
            oddities: Oddities::many(),
            ..WebConfig::plain(60, 3_000)
        }
    }

    /// A million pages, for the simulator.
    pub fn million() -> WebConfig {
        WebConfig {
            change_period_us: 30 * DAY_US,
            ghosts: 400,
            links_mean: 12,
            oddities: Oddities { traps: 0, ..Oddities::usual() },
            ..WebConfig::plain(20_000, 1_000_000)
        }
    }
}

impl Oddities {
    /// About as odd as the real web.
    pub fn usual() -> Oddities {
        Oddities {
            blogs: 200,
            mirrors: 50,
            traps: 50,
            slow_sites: 30,
            odd_robots: 200,
            crawl_delays: 50,
            sitemaps: 500,
            odd_charsets: 100,
            gzip_sites: 500,
            outages: 0,
            orphans: 20,
            copies: 60,
            redirects: 60,
            private: 40,
            flaky: 20,
            dead_links: 50,
            media: 40,
            directives: 60,
            nofollow_links: 30,
        }
    }

    /// As odd as it gets.
    pub fn many() -> Oddities {
        Oddities {
            blogs: 400,
            mirrors: 250,
            traps: 500,
            slow_sites: 150,
            odd_robots: 700,
            crawl_delays: 200,
            sitemaps: 700,
            odd_charsets: 400,
            gzip_sites: 500,
            outages: 0,
            orphans: 60,
            copies: 250,
            redirects: 250,
            private: 120,
            flaky: 150,
            dead_links: 250,
            media: 120,
            directives: 200,
            nofollow_links: 100,
        }
    }
}
