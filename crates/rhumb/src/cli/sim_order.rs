//! `rhumb sim order`: orderings of a known graph side by side, with what each could prove.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use rhumb_graph::rewired::rewired;
use rhumb_graph::{Graph, GraphWriter, PageNumber};
use rhumb_lab::order::cho::{Popular, PopularFound};
use rhumb_lab::order::deciles::{Decile, TENTHS, deciles};
use rhumb_lab::order::{Algorithm, Experiment, OrderRecord, Until, tight};

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;
use super::rank::{GraphFlags, trouble};
use super::sim_order_text as text;
use rhumb_lab::serve::cpu::Account;
use rhumb_node::settings::nearest;

/// Who proves something goes so far when whole orders are asked for.
const BOUND_OF_WHOLE_ORDERS: f64 = 0.999;

/// Order the pages of a known graph and see when which share of the mass is had and proven.
///
/// Guaranteed: downloads when the algorithm's own bound reaches a target; actual: the fewest that
/// truly have it; tight: the fewest of its order that could have proven it.
#[derive(Args)]
#[command(after_help = "\
Algorithms: lneighbor rankmass windowed5 windowed10 windowed20 settled octaves opic backlink
partialpr random walk optimal, as their papers have them, and crawl-ORDER for what rhumb crawl
--order ORDER does; crawl stands for all of these

Examples:
  rhumb sim order --graph cnr-2000.wg1.zst --trust 221145 --plot coverage.svg
  rhumb sim order --graph cnr-2000.wg1.zst --trust every:1000 --copies 32 --no-actual \\
    --algorithm octaves --targets .99")]
pub(super) struct OrderFlags {
    #[command(flatten)]
    graph: GraphFlags,

    /// The trusted pages, evenly; or `top1`, `top10`, `root`, `every:N`
    #[arg(long, value_name = "ID,…")]
    trust: String,

    /// An algorithm, repeatable; all of the papers' if not given
    #[arg(long = "algorithm", value_name = "A")]
    algorithms: Vec<String>,

    /// Shares of the mass to reach, above 0 and below 1
    #[arg(long, value_name = "X,…", default_value = ".9,.95,.98,.99")]
    targets: String,

    /// How soon the most linked pages are found (Cho et al. 1998)
    #[arg(long)]
    cho: bool,

    /// PageRank by tenths of a breadth-first crawl (Najork and Wiener 2001)
    #[arg(long)]
    deciles: bool,

    /// Also the fewest downloads of each order that could have proven a target
    #[arg(long)]
    tight: bool,

    /// Draw guaranteed and actual mass against downloads
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,

    /// So many copies of the graph with links between them: a large graph from a small one
    #[arg(long, value_name = "N", default_value_t = 1)]
    copies: u32,

    /// Leave out what is true: for graphs whose PageRank would take longer than the order
    #[arg(long, conflicts_with_all = ["cho", "deciles"])]
    no_actual: bool,

    /// Decides the random order and the links between copies
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

/// All that was found out.
pub(super) struct Answer {
    pub pages: u32,
    pub links: u64,
    pub reachable: u32,
    pub rows: Vec<Row>,
    pub deciles: Option<[Decile; TENTHS]>,
}

pub(super) struct Row {
    pub record: OrderRecord,
    pub tight: Option<Vec<Option<u32>>>,
    pub found: Option<PopularFound>,
}

pub(super) fn run(flags: &OrderFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let algorithms = algorithms(&flags.algorithms)?;
    let targets = targets(&flags.targets)?;
    let graph = flags.copied(flags.graph.read()?)?;
    let trust = flags.graph.trusted(&graph, &flags.trust)?;
    let experiment = match flags.no_actual {
        true => Experiment::without_truth(&graph, trust, flags.seed),
        false => Experiment::new(&graph, trust, flags.seed),
    };
    warn_of_dead_ends(&experiment);
    let answer = flags.answer(&experiment, &algorithms, &targets);
    if let Some(path) = &flags.plot {
        let written = text::chart(&answer).write(path);
        written.map_err(|error| Trouble::Failed(format!("{}: {error}", path.display())))?;
    }
    if flags.json {
        json::print(out, &text::json(&answer))?;
    } else {
        write!(out, "{}", text::tables(&answer))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

impl OrderFlags {
    fn copied(&self, graph: Graph) -> Result<Graph, Trouble> {
        match self.copies {
            0 => Err(Trouble::Usage("--copies 0: nothing would be left".to_owned())),
            1 => Ok(graph),
            copies => rewired(&graph, copies, self.seed, GraphWriter::in_memory()).map_err(trouble),
        }
    }

    fn answer(
        &self,
        experiment: &Experiment<'_>,
        algorithms: &[Algorithm],
        targets: &[f64],
    ) -> Answer {
        let account = Account::of_this_thread();
        let mut clock = || account.as_ref().map_or(0.0, |account| account.used_us() as f64 / 1e6);
        let popular = self.cho.then(|| Popular::new(experiment));
        let mut rows = Vec::new();
        for algorithm in algorithms {
            let whole = self.cho || (self.tight && !algorithm.has_bound());
            let until =
                if whole { Until::Exhausted(BOUND_OF_WHOLE_ORDERS) } else { Until::Targets };
            let record = experiment.run(*algorithm, targets, until, &mut clock);
            let tight = self.tight.then(|| tight(experiment, &record));
            let found = popular.as_ref().map(|popular| popular.found(&record.order));
            rows.push(Row { record, tight, found });
        }
        Answer {
            pages: experiment.graph.pages(),
            links: experiment.graph.links(),
            reachable: experiment.reachable,
            rows,
            deciles: self.deciles.then(|| deciles(experiment)),
        }
    }
}

fn algorithms(names: &[String]) -> Result<Vec<Algorithm>, Trouble> {
    if names.is_empty() {
        return Ok(Algorithm::ALL.to_vec());
    }
    let mut chosen = Vec::new();
    for name in names {
        if name == "crawl" {
            chosen.extend(Algorithm::SHIPPED);
            continue;
        }
        chosen.push(Algorithm::named(name).ok_or_else(|| {
            let all = Algorithm::ALL.into_iter().chain(Algorithm::SHIPPED);
            let names: Vec<&str> = all.map(Algorithm::name).collect();
            let guess = nearest::did_you_mean(name, names.iter().copied());
            Trouble::Usage(format!("no algorithm {name:?}: there are {}{guess}", names.join(", ")))
        })?);
    }
    Ok(chosen)
}

fn targets(text: &str) -> Result<Vec<f64>, Trouble> {
    let parsed = text.split(',').map(|word| {
        let target = word.trim().parse::<f64>().ok();
        target.filter(|target| *target > 0.0 && *target < 1.0).ok_or_else(|| {
            Trouble::Usage(format!(
                "--targets {word}: a share above 0 and below 1 (only all pages prove 1)"
            ))
        })
    });
    let mut targets = parsed.collect::<Result<Vec<f64>, Trouble>>()?;
    targets.sort_by(f64::total_cmp);
    targets.dedup();
    Ok(targets)
}

/// A trusted page without links keeps its mass: whoever trusts it wants to know how much is left
/// for all that can be reached beyond.
fn warn_of_dead_ends(experiment: &Experiment<'_>) {
    let weights = experiment.trust.weights();
    let is_dead = |(page, _): &&(PageNumber, f64)| experiment.graph.degree(*page) == 0;
    let (mut count, mut trust, mut mass) = (0, 0.0, 0.0);
    for (page, weight) in weights.iter().filter(is_dead) {
        count += 1;
        trust += weight;
        mass += experiment.truth.get(*page as usize).copied().unwrap_or(f64::NAN);
    }
    if count == 0 {
        return;
    }
    let beyond = experiment.reachable - count;
    let left = match 100.0 * (1.0 - mass) {
        share if share.is_finite() => format!(", with {:.1} % of all mass", share.abs()),
        _ => String::new(),
    };
    notice(format_args!(
        "warning: {count} of {} trusted pages have no links ({:.1} % of the trust); beyond them \
         {beyond} pages can be reached{left}",
        weights.len(),
        100.0 * trust
    ));
}
