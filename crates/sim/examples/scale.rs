//! Machines whose CPU is charged with what pages, and URLs and messages between nodes, cost: pages per
//! second, and what goes over the network, for so many nodes. The table of docs/lab/scale.md.
//!
//! cargo run --release -p rhumb-sim --example scale -- 4 1 4 16 64
//!
//! The first number is what a URL costs at either end, in microseconds; the others are nodes.

use rhumb_engine::config::Config;
use rhumb_engine::time::Span;
use rhumb_sim::cluster::plan::{ClusterPlan, Cost, PlannedTrouble};
use rhumb_sim::run::simulate;
use rhumb_sim::scenario::{NEVER, Scenario};
use rhumb_sim::web::WebConfig;

/// The whole of a page with WARC and near-duplicates (docs/lab/speed.md), and what shipping adds
/// (docs/decisions/0053-slatedb.md). Messages between nodes are assumed, not measured.
const COST: Cost = Cost { page: 217, url: 0, slower: 100, message: 100 };
const SITES_PER_NODE: u32 = 150;
const PAGES_PER_SITE: u32 = 40;
/// Of the crawl, and of its beginning, which does not count.
const LASTS_S: usize = 60;
const BEGINS_S: usize = 25;

fn main() {
    println!(
        "| nodes | pages/s | of so many times one | URLs sent a page | bytes of URLs a page | packets/s a node | foreign URLs a node |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut numbers = std::env::args().skip(1).filter_map(|number| number.parse::<u32>().ok());
    let url = numbers.next().expect("what a URL costs, in microseconds");
    let cost = Cost { url: u64::from(url), ..COST };
    let mut one = None;
    for nodes in numbers {
        let sites = nodes * SITES_PER_NODE;
        let base = Scenario::named("cluster", 1).expect("a scenario of this name");
        let scenario = Scenario {
            web: WebConfig {
                size_exponent_quarters: 0,
                ..WebConfig::plain(sites, sites * PAGES_PER_SITE)
            },
            config: Config { concurrency: 256, ..base.config.clone() },
            partitions: nodes,
            cluster: Some(ClusterPlan {
                nodes: nodes as usize,
                pages_max: None,
                trouble: PlannedTrouble::default(),
                cost: Some(cost),
            }),
            time_max: Some(Span::secs(LASTS_S as u64)),
            compare_every: NEVER,
            ..base
        };
        let simulated = simulate(&scenario, None);
        assert!(simulated.violations.is_empty(), "{:?}", simulated.violations);
        let tally = simulated.cluster.expect("a crawl on machines");
        let (from, to) = (BEGINS_S.min(tally.pages.len() - 1), tally.pages.len() - 1);
        let to = to.min(LASTS_S - 3);
        let rate = (tally.pages[to] - tally.pages[from]) as f64 / (to - from) as f64;
        let each = rate / f64::from(nodes);
        let share = each / *one.get_or_insert(each);
        let pages = simulated.counters.pages as f64;
        println!(
            "| {nodes} | {rate:.0} | {share:.3} | {:.1} | {:.0} | {:.0} | {:.0} |",
            tally.items as f64 / pages,
            tally.url_bytes as f64 / pages,
            tally.packets as f64 / simulated.virtual_time.as_secs_f64() / f64::from(nodes),
            tally.foreign as f64 / f64::from(nodes),
        );
    }
}
