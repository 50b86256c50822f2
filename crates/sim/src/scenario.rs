//! Named scenarios: a web, a configuration, and what goes wrong.

use crate::cluster::plan::{ClusterPlan, PlannedTrouble};
use crate::web::{Oddities, WebConfig};
use regex::Regex;
use rhumb_engine::admit::{Reach, Scope};
use rhumb_engine::config::{Config, Focus, Order, Polite, Traps};
use rhumb_engine::hours::{Daily, Hours, HoursRule, Zone};
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::Rules;

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub what: &'static str,
    pub web: WebConfig,
    pub config: Config,
    /// Among so many engines, each with a store of its own, the crawl is divided.
    pub partitions: u32,
    /// On many machines; none if all is on one.
    pub cluster: Option<ClusterPlan>,
    /// Crawled first, one after the other, each to its end: with other limits or rules. What they
    /// refused is put to admission again by the next, if its rules are others.
    pub before: Vec<Config>,
    pub faults: Faults,
    /// Stop after this much virtual time; a crawl that revisits never ends by itself.
    pub time_max: Option<Span>,
    /// Turns between two comparisons of the proven coverage with the true one.
    pub compare_every: u64,
}

/// The truth takes longer to compute than a turn.
const COMPARE_EVERY: u64 = 48;

/// In place of that: nothing is compared, as it would take longer than the crawl.
pub const NEVER: u64 = u64::MAX;

/// What goes wrong beside what the web itself does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Of 1,000 requests, how many are never answered.
    pub lost_per_mille: u32,
    /// Of 1,000 requests, how many take a hundred times as long.
    pub slow_per_mille: u32,
    /// Of 1,000 answers of the store, how many take seconds.
    pub late_per_mille: u32,
    /// Of 1,000 answers of the name server, how many are good for a moment only.
    pub brief_per_mille: u32,
    /// Of 1,024 names, how many have a first address where nobody answers.
    pub dead_addresses_per_mille: u32,
    /// Of 1,000 messages between partitions, how many are delivered twice, and how many come so
    /// late that they were sent again before.
    pub twice_per_mille: u32,
    /// How often each process dies, between any two lines of the loop.
    pub crashes: u32,
    /// How often the power of each is cut, between any two lines as well.
    pub power_cuts: u32,
    /// By how much the crawler's clock jumps at each crash, ahead or back.
    pub clock_jump_s: i64,
}

impl Faults {
    pub fn usual() -> Faults {
        Faults {
            lost_per_mille: 20,
            slow_per_mille: 20,
            late_per_mille: 50,
            brief_per_mille: 300,
            dead_addresses_per_mille: 100,
            twice_per_mille: 200,
            crashes: 4,
            power_cuts: 2,
            clock_jump_s: 0,
        }
    }
}

pub const NAMES: [&str; 22] = [
    "small",
    "hostile",
    "recovering",
    "crowded",
    "slow",
    "timed",
    "narrow",
    "limited",
    "widened",
    "narrowed",
    "revisit",
    "parted",
    "shifting",
    "topical",
    "turning",
    "shown",
    "cluster",
    "lost",
    "allowed",
    "lossy",
    "moving",
    "million",
];

impl Scenario {
    pub fn named(name: &str, seed: u64) -> Option<Scenario> {
        let scenario = match name {
            "small" => Scenario {
                name: "small",
                what: "a few hundred pages with a little of everything",
                web: WebConfig { seed, ..WebConfig::small() },
                ..Scenario::base(seed)
            },
            "crowded" => Scenario {
                name: "crowded",
                what: "far more hosts than may be awake, many on few addresses",
                web: WebConfig { seed, ..WebConfig::plain(400, 4_000) },
                config: Config {
                    concurrency: 8,
                    hosts_awake_max: 32,
                    ..Scenario::base(seed).config
                },
                ..Scenario::base(seed)
            },
            "revisit" => Scenario {
                name: "revisit",
                what: "pages that change, visited again every six hours for two days",
                web: WebConfig { seed, change_period_us: 3_600_000_000 * 12, ..WebConfig::small() },
                config: Config {
                    revisit_after: Some(Span::secs(6 * 3600)),
                    ..Scenario::base(seed).config
                },
                time_max: Some(Span::secs(48 * 3600)),
                ..Scenario::base(seed)
            },
            "million" => Scenario {
                name: "million",
                what: "a million pages over 20,000 sites",
                web: WebConfig { seed, ..WebConfig::million() },
                config: Config { concurrency: 1_000, ..Scenario::base(seed).config },
                ..Scenario::base(seed)
            },
            _ => return Scenario::of_trouble(name, seed),
        };
        Some(scenario)
    }

    /// Those about hosts that are ill.
    fn of_trouble(name: &str, seed: u64) -> Option<Scenario> {
        let scenario = match name {
            "hostile" => Scenario {
                name: "hostile",
                what: "everything goes wrong often",
                web: Scenario::hostile_web(seed),
                ..Scenario::base(seed)
            },
            "recovering" => Scenario {
                name: "recovering",
                what: "most hosts are down for minutes or hours, again and again, and come back",
                web: WebConfig {
                    seed,
                    ghosts: 4,
                    oddities: Oddities {
                        outages: 700,
                        flaky: 20,
                        dead_links: 20,
                        ..Oddities::default()
                    },
                    ..WebConfig::plain(40, 2_000)
                },
                ..Scenario::base(seed)
            },
            "slow" => Scenario {
                name: "slow",
                what: "slow sites beside quick ones, with long delays",
                web: WebConfig {
                    seed,
                    oddities: Oddities {
                        slow_sites: 300,
                        crawl_delays: 300,
                        ..Oddities::default()
                    },
                    ..WebConfig::plain(30, 1_500)
                },
                ..Scenario::base(seed)
            },
            _ => return Scenario::of_limits(name, seed),
        };
        Some(scenario)
    }

    /// Those about what the owner, rather than the web, puts in the way.
    fn of_limits(name: &str, seed: u64) -> Option<Scenario> {
        let scenario = match name {
            "narrow" => Scenario {
                name: "narrow",
                what: "delays longer than a nap, one request per address, few hosts awake",
                web: WebConfig { seed, seeds: 20, ..WebConfig::plain(60, 900) },
                config: Config {
                    order: Order::Random,
                    concurrency: 3,
                    hosts_awake_max: 6,
                    polite: Polite {
                        delay: Span::secs(40),
                        per_address: 1,
                        address_delay: Span::secs(1),
                        ..Polite::default()
                    },
                    ..Scenario::base(seed).config
                },
                ..Scenario::base(seed)
            },
            "limited" => Scenario {
                name: "limited",
                what: "stopped at a number of pages three times, and taken up again",
                web: WebConfig { seed, ..WebConfig::small() },
                before: [40, 41, 150]
                    .map(|max| Config { pages_max: Some(max), ..Scenario::base(seed).config })
                    .into(),
                ..Scenario::base(seed)
            },
            "widened" => Scenario {
                name: "widened",
                what: "crawled to a depth, then within a budget, then without either, and the \
                       first run without either is stopped as soon as it begins",
                web: WebConfig { seed, ..WebConfig::small() },
                before: vec![
                    Config { depth_max: Some(2), ..Scenario::base(seed).config },
                    Config { host_pages_max: Some(5), ..Scenario::base(seed).config },
                    Config { bytes_max: Some(1), ..Scenario::base(seed).config },
                ],
                ..Scenario::base(seed)
            },
            "narrowed" => Scenario {
                name: "narrowed",
                what: "stopped while far more waits than the next run's scope admits",
                web: WebConfig { seed, seeds: 4, ..WebConfig::small() },
                before: vec![Config { pages_max: Some(120), ..Scenario::base(seed).config }],
                config: Config { scope: Scope::new(Reach::Site), ..Scenario::base(seed).config },
                ..Scenario::base(seed)
            },
            "parted" => Scenario {
                name: "parted",
                what: "a hostile web divided among three engines that write each other messages",
                web: Scenario::hostile_web(seed),
                partitions: 3,
                ..Scenario::base(seed)
            },
            "shifting" => Scenario {
                name: "shifting",
                what: "divided among four, and links change between the visits of two days",
                partitions: 4,
                ..Scenario::named("revisit", seed)?
            },
            _ => return Scenario::with_topic(name, seed),
        };
        Some(scenario)
    }

    /// Those with a topic, or with hours.
    fn with_topic(name: &str, seed: u64) -> Option<Scenario> {
        let scenario = match name {
            "timed" => Scenario {
                name: "timed",
                what: "half of the hosts by night alone, some in hours that clocks skip, and few \
                       bytes a second",
                web: WebConfig { seed, ..WebConfig::small() },
                config: Config {
                    hours: Scenario::hours(),
                    bytes_per_s: Some(500),
                    concurrency: 8,
                    ..Scenario::base(seed).config
                },
                ..Scenario::base(seed)
            },
            "topical" => Scenario {
                name: "topical",
                what: "a crawl with a topic: relevant pages and likely links first",
                web: WebConfig { seed, ..WebConfig::small() },
                config: Config {
                    topic: Some(Focus::default()),
                    order: Order::Focused,
                    ..Scenario::base(seed).config
                },
                ..Scenario::base(seed)
            },
            "turning" => {
                let shifting = Scenario::named("shifting", seed)?;
                let topic = Some(Focus::default());
                let config = Config { topic, order: Order::FocusedProven, ..shifting.config };
                Scenario {
                    name: "turning",
                    what: "a topic, and links and relevance that change, divided among four",
                    config,
                    ..shifting
                }
            }
            "shown" => Scenario {
                name: "shown",
                what: "what the pages of some hosts are shown with, from any host, and a stop at \
                       a number of pages",
                web: WebConfig { seed, seeds: 4, requisites_mean: 6, ..WebConfig::small() },
                before: vec![Config { pages_max: Some(60), ..Scenario::with_requisites(seed) }],
                config: Scenario::with_requisites(seed),
                ..Scenario::base(seed)
            },
            _ => return Scenario::on_machines(name, seed),
        };
        Some(scenario)
    }

    /// Those on many machines.
    fn on_machines(name: &str, seed: u64) -> Option<Scenario> {
        let trouble = PlannedTrouble::default();
        let plan = ClusterPlan { nodes: 3, pages_max: None, trouble, cost: None };
        let base = Scenario {
            web: WebConfig { seed, ..WebConfig::small() },
            partitions: 6,
            cluster: Some(plan),
            ..Scenario::base(seed)
        };
        let trouble =
            PlannedTrouble { lasts: Span::secs(120), machine_lost: 1, ..PlannedTrouble::default() };
        let scenario = match name {
            "cluster" => Scenario {
                name: "cluster",
                what: "three nodes and a bucket; with faults machines are lost, cut off, stopped \
                       and started again, and the bucket is away",
                ..base
            },
            "lost" => Scenario {
                name: "lost",
                what: "of three nodes one after the other is lost for ever, and others come",
                cluster: Some(ClusterPlan { trouble, ..plan }),
                ..base
            },
            "allowed" => Scenario {
                name: "allowed",
                what: "three nodes that may fetch so many pages together and no more, of which \
                       one after the other is lost",
                cluster: Some(ClusterPlan { pages_max: Some(150), trouble, ..plan }),
                ..base
            },
            "lossy" => Scenario {
                name: "lossy",
                what: "three nodes between which every tenth packet is lost, doubled or late, and \
                       a web whose links lead to other sites",
                web: WebConfig {
                    seed,
                    seeds: 1,
                    cross_per_mille: 900,
                    ..WebConfig::plain(40, 400)
                },
                cluster: Some(ClusterPlan { trouble: PlannedTrouble::of_network(), ..plan }),
                ..base
            },
            "moving" => Scenario {
                name: "moving",
                what: "the same network, and links that change between visits",
                web: WebConfig { seed, change_period_us: 1_200_000_000, ..WebConfig::small() },
                config: Config { revisit_after: Some(Span::secs(600)), ..base.config.clone() },
                time_max: Some(Span::secs(3_600)),
                cluster: Some(ClusterPlan { trouble: PlannedTrouble::of_network(), ..plan }),
                ..base
            },
            _ => return None,
        };
        Some(scenario)
    }

    /// By night, in two zones; one of them sets its clocks again and again.
    fn hours() -> Hours {
        let rule = |pattern: &str, (from, to): (u16, u16), zone: Zone| HoursRule {
            pattern: Regex::new(pattern).expect("a good pattern"),
            daily: Daily::new(from * 60, to * 60).expect("hours that open"),
            zone,
        };
        let day = |n: u64| Time(n * 86_400_000_000);
        let shifts = (0..40_000).map(|n| (day(n), if n % 2 == 0 { 3_600 } else { 7_200 }));
        let restless = Zone::new(3_600, shifts.collect());
        Hours {
            rules: vec![
                rule(r"[048]\.test[:/]", (22, 6), Zone::fixed(0)),
                rule(r"[26]\.test[:/]", (2, 3), restless),
            ],
        }
    }

    fn with_requisites(seed: u64) -> Config {
        let scope = Scope::new(Reach::Site);
        Config { scope, requisites_max: Some(1_000), ..Scenario::base(seed).config }
    }

    fn hostile_web(seed: u64) -> WebConfig {
        let oddities = Oddities { outages: 200, ..Oddities::many() };
        WebConfig { seed, oddities, ..WebConfig::hostile() }
    }

    fn base(seed: u64) -> Scenario {
        Scenario {
            name: "",
            what: "",
            web: WebConfig { seed, ..WebConfig::small() },
            config: Config {
                seed,
                polite: Polite::default(),
                traps: Traps { path_segments_max: 12, ..Traps::default() },
                // As an owner would who has seen the report: a section that makes three new
                // addresses out of each has no end at any depth.
                rules: Rules::new(&[], &[r"/visit\?".to_owned()]).expect("a good pattern"),
                depth_max: Some(60),
                ..Config::default()
            },
            partitions: 1,
            cluster: None,
            before: Vec::new(),
            faults: Faults::default(),
            time_max: None,
            compare_every: COMPARE_EVERY,
        }
    }

    /// The rules of each run.
    pub fn runs(&self) -> impl Iterator<Item = &Config> {
        self.before.iter().chain([&self.config])
    }

    pub fn with_faults(mut self, faults: Faults) -> Scenario {
        self.faults = faults;
        if let Some(plan) = self.cluster.as_mut().filter(|_| faults != Faults::default()) {
            plan.trouble = PlannedTrouble::all();
        }
        self
    }
}
