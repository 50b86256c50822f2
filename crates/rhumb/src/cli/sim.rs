//! `rhumb sim run`: the engine over a synthetic web in virtual time, with a watch.
//!
//! Standard output depends on the arguments alone: same seed, same bytes. How long it took is for
//! standard error.

use std::io::Write;
use std::time::Instant;

use clap::{Args, Subcommand};
use rhumb_engine::event::StopReason;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::record::Refusal;
use rhumb_sim::cluster::plan::ClusterTally;
use rhumb_sim::run::{Simulated, simulate};
use rhumb_sim::scenario::{Faults, NAMES, Scenario};
use serde_json::{Value, json};

use super::ended::{Ended, Trouble};
use super::notice::notice;
use super::{json, sim_refresh};
use rhumb_node::settings::nearest;

/// What the watch looks at, by number; the words of the architecture.
const INVARIANTS: [&str; 8] = [
    "one fetch per host at a time, few per address, never sooner than the delay",
    "no fetch against robots.txt, or before it is known",
    "a URL is admitted once, and not fetched again unless it is due",
    "every admitted URL is fetched, refused or due; all that can be reached is found",
    "the books balance: counters equal a recount of the rows",
    "same seed, same actions",
    "no row claims what the archive lacks; a crash repeats only what was in flight",
    "the engine's memory stays under its bound",
];

/// The invariant that one run cannot show.
const SAME_ACTIONS: usize = 6;

/// A larger crawl is not run a second time: whoever has the patience compares the digests.
const PAGES_TWICE_MAX: u64 = 100_000;

/// Run the engine over a synthetic web in virtual time.
#[derive(Args)]
#[command(after_help = "Example:\n  rhumb sim run --seed 7 --scenario hostile --faults")]
#[command(arg_required_else_help = true)]
pub struct SimFlags {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Run(RunFlags),
    Order(super::sim_order::OrderFlags),
    Refresh(sim_refresh::RefreshFlags),
    Topic(super::sim_topic::TopicFlags),
}

/// Crawl a synthetic web from its seeds to the end and check the invariants.
///
/// The same engine and the same loop as in a real crawl; only time, web and disk are simulated.
/// Same seed, same bytes of output. The exit code is 1 if an invariant was broken.
#[derive(Args)]
#[command(after_help = scenarios())]
struct RunFlags {
    /// Decides the web, its faults and everything left to chance
    #[arg(long, value_name = "N")]
    seed: u64,

    /// Which web, and which settings
    #[arg(long, value_name = "NAME", default_value = NAMES[0])]
    scenario: String,

    /// Lose and slow down requests, let the process die and cut its power between any two lines of
    /// its loop; of a scenario on many machines, also lose, stop and cut off machines
    #[arg(long)]
    faults: bool,

    /// Machines at the beginning, of a scenario on many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    nodes: Option<u8>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

fn scenarios() -> String {
    let mut text = "Scenarios:\n".to_owned();
    for scenario in NAMES.iter().filter_map(|name| Scenario::named(name, 0)) {
        text += &format!("  {:<9} {}\n", scenario.name, scenario.what);
    }
    text + "\nExample:\n  rhumb sim run --seed 7 --scenario hostile --faults"
}

pub fn run(flags: &SimFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    match &flags.what {
        What::Run(flags) => run_scenario(flags, out),
        What::Order(flags) => super::sim_order::run(flags, out),
        What::Refresh(flags) => sim_refresh::run(flags, out),
        What::Topic(flags) => super::sim_topic::run(flags, out),
    }
}

fn run_scenario(flags: &RunFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let Some(scenario) = Scenario::named(&flags.scenario, flags.seed) else {
        let guess = nearest::did_you_mean(&flags.scenario, NAMES.into_iter());
        let names = NAMES.join(", ");
        return Err(Trouble::Usage(format!(
            "no scenario {:?}: there are {names}{guess}",
            flags.scenario
        )));
    };
    let faults = if flags.faults { Faults::usual() } else { Faults::default() };
    let mut scenario = scenario.with_faults(faults);
    if let Some(nodes) = flags.nodes {
        let Some(plan) = &mut scenario.cluster else {
            let name = scenario.name;
            return Err(Trouble::Usage(format!("scenario {name:?} is on one machine: no --nodes")));
        };
        plan.nodes = usize::from(nodes);
    }
    let began = Instant::now();
    let simulated = simulate(&scenario, None);
    let seconds = began.elapsed().as_secs_f64();
    let pages_per_s = simulated.counters.pages as f64 / seconds.max(1e-9);
    notice(format_args!("{seconds:.1} s of real time, {pages_per_s:.0} pages/s"));
    let again = (simulated.counters.pages <= PAGES_TWICE_MAX)
        .then(|| simulate(&scenario, None).digest == simulated.digest);
    let outcome = Outcome { flags, scenario, simulated, again };
    if flags.json {
        json::print(out, &outcome.json())?;
    } else {
        write!(out, "{}", outcome.text())?;
        out.flush()?;
    }
    Ok(if outcome.holds() { Ended::Done } else { Ended::Failed })
}

struct Outcome<'a> {
    flags: &'a RunFlags,
    scenario: Scenario,
    simulated: Simulated,
    /// Whether a second run did the same; unknown if there was none.
    again: Option<bool>,
}

impl Outcome<'_> {
    fn holds(&self) -> bool {
        (1..=INVARIANTS.len()).all(|number| self.verdict(number) != Some(false))
            && self.simulated.stopped.is_some()
    }

    /// Whether an invariant held; unknown if nobody looked.
    fn verdict(&self, number: usize) -> Option<bool> {
        let broken = self.broken(number).next().is_some();
        match number {
            SAME_ACTIONS if !broken => self.again,
            _ => Some(!broken),
        }
    }

    fn broken(&self, number: usize) -> impl Iterator<Item = &str> {
        let of_number = move |v: &&rhumb_sim::check::Violation| usize::from(v.invariant) == number;
        self.simulated.violations.iter().filter(of_number).map(|v| v.what.as_str())
    }

    fn ended(&self) -> &'static str {
        self.simulated.stopped.map_or("broke off", StopReason::word)
    }

    fn text(&self) -> String {
        let Simulated { counters: c, tally, .. } = &self.simulated;
        let faults = self.scenario.faults;
        let mut text = format!("{}: {}\n", self.scenario.name, self.scenario.what);
        let mut say = |what: &str, how: String| text += &format!("  {what:<12}{how}\n");
        say("seed", self.flags.seed.to_string());
        if self.flags.faults {
            say(
                "faults",
                format!(
                    "{} of 1,000 requests lost, {} slow; the process died {} times, {} of power \
                     cuts",
                    faults.lost_per_mille, faults.slow_per_mille, tally.crashes, tally.power_cuts
                ),
            );
        }
        say("ended", format!("{} after {}", self.ended(), virtual_time(&self.simulated)));
        say(
            "requests",
            format!(
                "{}, of them {} for robots.txt; {} in flight when the process died",
                grouped(tally.fetches),
                grouped(tally.robots_fetches),
                grouped(tally.repeated)
            ),
        );
        say(
            "pages",
            format!(
                "{} on {} hosts, {} of them duplicates",
                grouped(c.pages),
                grouped(c.hosts),
                grouped(c.duplicates)
            ),
        );
        say(
            "URLs",
            format!(
                "{} known of {} found, {} admitted, {} still queued",
                grouped(c.known),
                grouped(c.discoveries),
                grouped(c.admitted),
                grouped(c.queued)
            ),
        );
        say(
            "answers",
            format!(
                "{} moved, {} gone, {} unchanged, {} retries",
                grouped(c.moved),
                grouped(c.gone),
                grouped(c.unchanged),
                grouped(c.retries)
            ),
        );
        say("refused", by_word(Refusal::ALL.map(Refusal::word), &c.refused));
        say("failed", by_word(FailKind::ALL.map(FailKind::word), &c.failed));
        say(
            "memory",
            format!(
                "{} kB of engine at most, {} kB are the bound",
                grouped(self.simulated.heap_bytes_peak as u64 / 1000),
                grouped(self.simulated.heap_bytes_bound as u64 / 1000)
            ),
        );
        self.simulated.cluster.iter().for_each(|tally| cluster_lines(tally, &mut say));
        say("digest", format!("{:016x}", self.simulated.digest));
        text + &self.invariants_text()
    }

    fn invariants_text(&self) -> String {
        let mut text = "invariants\n".to_owned();
        for (number, what) in (1..).zip(INVARIANTS) {
            let mark = match self.verdict(number) {
                Some(true) => "✓",
                Some(false) => "✗",
                None => "–",
            };
            let untried = match self.verdict(number) {
                None => " (too large to run twice: compare digests)",
                Some(_) => "",
            };
            text += &format!("  {mark} {number}  {what}{untried}\n");
            for broken in self.broken(number) {
                text += &format!("       {broken}\n");
            }
        }
        text
    }

    fn json(&self) -> Value {
        let Simulated { counters, tally, .. } = &self.simulated;
        let invariants = (1..).zip(INVARIANTS).map(|(number, what)| {
            json!({
                "number": number,
                "what": what,
                "holds": self.verdict(number),
                "violations": self.broken(number).collect::<Vec<_>>(),
            })
        });
        json!({
            "scenario": self.scenario.name,
            "seed": self.flags.seed,
            "faults": self.flags.faults,
            "holds": self.holds(),
            "ended": self.ended(),
            "virtual_seconds": self.simulated.virtual_time.as_secs_f64(),
            "requests": tally.fetches,
            "robots_requests": tally.robots_fetches,
            "crashes": tally.crashes,
            "power_cuts": tally.power_cuts,
            "in_flight_at_crashes": tally.repeated,
            "counters": counters,
            "engine_bytes_peak": self.simulated.heap_bytes_peak,
            "engine_bytes_bound": self.simulated.heap_bytes_bound,
            "machines": self.simulated.cluster.as_ref().map(cluster_json),
            "digest": format!("{:016x}", self.simulated.digest),
            "invariants": invariants.collect::<Vec<_>>(),
        })
    }
}

fn cluster_json(tally: &ClusterTally) -> Value {
    json!({
        "lost": tally.machines_lost,
        "restarts": tally.restarts,
        "stops": tally.stops,
        "cut_offs": tally.cut_offs,
        "leaves": tally.leaves,
        "store_away": tally.store_away,
        "openings": tally.openings,
        "elsewhere": tally.elsewhere,
        "fenced": tally.fenced,
        "commits_lost": tally.commits_lost,
        "lost_age_max_s": tally.lost_age_max.as_secs_f64(),
        "packets": tally.packets,
        "urls_sent": tally.items,
        "operations": tally.operations,
    })
}

/// What happened to the machines of a crawl on many.
fn cluster_lines(tally: &ClusterTally, say: &mut impl FnMut(&str, String)) {
    say(
        "machines",
        format!(
            "{} lost for ever, {} processes died, {} stood still, {} cut off, {} left; the bucket \
             was away {} times",
            tally.machines_lost,
            tally.restarts,
            tally.stops,
            tally.cut_offs,
            tally.leaves,
            tally.store_away
        ),
    );
    say(
        "partitions",
        format!(
            "opened {} times, {} of them on another machine; {} puts fenced",
            tally.openings, tally.elsewhere, tally.fenced
        ),
    );
    say(
        "lost",
        format!(
            "{} commits with their machines, the oldest {:.1} s old",
            grouped(tally.commits_lost),
            tally.lost_age_max.as_secs_f64()
        ),
    );
    say(
        "exchange",
        format!(
            "{} packets with {} URLs between nodes, {} operations on the bucket",
            grouped(tally.packets),
            grouped(tally.items),
            grouped(tally.operations)
        ),
    );
}

fn virtual_time(simulated: &Simulated) -> String {
    let seconds = simulated.virtual_time.0 / 1_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours}:{minutes:02}:{seconds:02} of virtual time")
}

fn by_word<const N: usize>(words: [&str; N], counts: &[u64; N]) -> String {
    let counted = words.iter().zip(counts).filter(|(_, count)| **count > 0);
    let parts: Vec<String> =
        counted.map(|(word, count)| format!("{} {word}", grouped(*count))).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
