//! `rhumb sim refresh`: what revisiting buys, on paper, on the past of real pages, and by the whole
//! engine on a web that changes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{Cell, CellAlignment, Table, presets};
use rhumb_engine::refresh::index::Objective;
use rhumb_lab::refresh::cross::Set;
use rhumb_lab::refresh::histories::{Histories, Unusual};
use rhumb_lab::refresh::learning::drawn;
use rhumb_lab::refresh::made::MadeKind;
use rhumb_lab::refresh::policy::Policy;
use rhumb_lab::refresh::rates::{RateSpread, halving_hosts, rates, zipf};
use rhumb_lab::refresh::replay::{Course, ReplayContender, replay};
use rhumb_lab::refresh::table::{Caps, buy};
use rhumb_lab::refresh::whole::WholeCrawl;
use serde::Serialize;

use super::ended::{Ended, Trouble};
use super::json;
use super::sim_refresh_cross;
use super::sim_refresh_figure::{self as figure, RefreshFigure};
use rhumb_node::settings::{NamedValue, NamedValues, nearest, open_input};

/// A grid of more pages than this takes more memory than most machines have.
const PAGES_MAX: usize = 50_000_000;
/// Bytes of one file of rates or histories.
const FILE_BYTES_MAX: u64 = 2 << 30;
/// Changes of drawn histories: each takes 8 bytes.
const CHANGES_MAX: f64 = 1e8;
/// The synthetic web of `--whole`, and what a simulation of it takes in a bearable time.
const WHOLE_SITES: u32 = 40;
const WHOLE_PAGES_MAX: usize = 100_000;
const WHOLE_DAYS_MAX: f64 = 1_000.0;
/// Hosts of `--host-cap`, each with half the pages of the one before.
const HOSTS_MAX: usize = 1_000;

/// Compare refresh policies: in closed form, on histories real or drawn, or by the whole engine.
///
/// With --rates, pages change at known rates and what each policy buys is computed; with --days as
/// well, change times are drawn from the rates and policies that learn are compared over all days
/// with those that know. With --histories, the past of real pages is replayed: all pages are
/// fetched at 0 and then visited within the budget; freshness, age and delay are taken over the
/// last two thirds of the days. With --whole, the whole engine crawls a synthetic web that changes,
/// in virtual time, once for each policy, all of them learning; the budget counts its requests.
///
/// With --cross, each file of --histories is a set of its own, and sets made up by ten rules come
/// along (bursts, seasons, mass edits, dead pages, …). On each, at five budgets, the policy of
/// `crawl --continuous` is held against uniform revisiting, the other learners and two bounds: the
/// best freshness for Poisson changes if every page's rate were told, and what somebody buys who
/// knows every change ahead. Many draws of half of a set's pages say how far that is chance; each
/// given set is left out once, to be compared with the learner that is best on the others.
#[derive(Args)]
#[command(after_help = "\
Policies that know every rate: uniform, proportional, delay, freshness, age, binary, harmonic.
Policies that learn, or follow another crawler's rule (only with --days): learned, naive, cho, mle,
bayes, nutch, stormcrawler, heritrix. `learned` is what `rhumb crawl --continuous` does; `bayes` is
told how often the pages of each host change, and learns the rest.

Examples:
  rhumb sim refresh --rates lognormal --pages 100000 --budget 50000
  rhumb sim refresh --rates gamma --pages 20000 --budget 2000 --days 60 --objective freshness
  rhumb sim refresh --histories p.tsv.gz --days 365 --budget 120 --policy uniform --policy learned
  rhumb sim refresh --whole --pages 2000 --budget 3000 --days 12
  rhumb sim refresh --cross --histories a.tsv.gz b.tsv.gz c.tsv.gz --draws 40 --constants
  rhumb sim refresh --histories p.tsv.gz --days 365 --budget 120 --plot f.svg --figure intervals")]
pub struct RefreshFlags {
    /// gamma, lognormal, or a file with one rate (changes a day) a line
    #[arg(long, value_name = "gamma|lognormal|FILE")]
    #[arg(conflicts_with_all = ["histories", "whole", "cross"])]
    #[arg(required_unless_present_any = ["histories", "whole", "cross"])]
    rates: Option<String>,

    /// Crawl a synthetic web that changes with the whole engine
    #[arg(long, conflicts_with = "histories")]
    whole: bool,

    /// Compare learners on set after set, given and made up, at five budgets each
    #[arg(long, conflicts_with_all = ["whole", "policies", "plot", "budget"])]
    cross: bool,

    /// Draws of each set's pages, with --cross
    #[arg(long, value_name = "N", default_value_t = 20, requires = "cross")]
    draws: usize,

    /// Also choose the policy's constants anew on all other sets, for each given set that is left
    /// out, and judge them on it
    #[arg(long, requires = "cross")]
    constants: bool,

    /// Pages on the grid of gamma or lognormal [100000], of the synthetic web [2000], or of each
    /// set that --cross makes up [400]
    #[arg(long, value_name = "N")]
    pages: Option<usize>,

    /// What is drawn is drawn from this [1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Pages of --whole change about once in so many days
    #[arg(long, value_name = "D", default_value_t = 1.0)]
    change_days: f64,

    /// Visits a day, to all pages together
    #[arg(long, value_name = "M", required_unless_present = "cross")]
    budget: Option<f64>,

    /// Page weights: none, or falling after Zipf
    #[arg(long, value_name = "zipf", conflicts_with = "histories")]
    weights: Option<NamedValue<Weights>>,

    /// Visits a day that one host can take
    #[arg(long, value_name = "N", conflicts_with = "histories")]
    host_cap: Option<f64>,

    /// Hosts for --host-cap, each with half the pages of the one before
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "histories")]
    hosts: usize,

    /// Change histories: page, host and times in days between tabs; .gz and .zst are read as such
    #[arg(long, value_name = "FILE.tsv", num_args = 1..)]
    histories: Vec<PathBuf>,

    /// How many days to replay, draw or crawl; with --cross, to the last change of each set
    #[arg(long, value_name = "D", required_unless_present_any = ["rates", "cross"])]
    days: Option<f64>,

    /// Whom to compare; may be given more than once (all)
    #[arg(long = "policy", value_name = "P")]
    policies: Vec<String>,

    /// What `learned` is after
    #[arg(long, value_name = "harmonic|freshness|age|delay", default_value = "harmonic")]
    objective: NamedValue<Objective>,

    /// Also draw a chart
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,

    /// What to draw: freshness over the budget, freshness and age between two visits, expected
    /// age, or change intervals against the exponential
    #[arg(long, value_name = "budget|between|age|intervals", default_value = "budget")]
    #[arg(requires = "plot")]
    figure: NamedValue<RefreshFigure>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    Zipf,
}

impl NamedValues for Weights {
    const WHAT: &'static str = "weights";
    const WORDS: &'static [(&'static str, Weights)] = &[("zipf", Weights::Zipf)];
}

/// One policy's line.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyOutcome {
    pub policy: &'static str,
    pub freshness: f64,
    /// None if infinite.
    pub age_days: Option<f64>,
    pub age_days_cap60: f64,
    pub delay: Option<f64>,
    /// Of a replay, in all; otherwise a day.
    pub visits: f64,
    pub budget_used: f64,
    /// Of drawn histories: freshness as a share of what the best policy with true rates has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_oracle: Option<f64>,
}

#[derive(Serialize)]
struct Printed<'a> {
    policies: &'a [PolicyOutcome],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

/// What the policies are tried on.
pub enum RefreshStage {
    Known { rates: Vec<f64>, weights: Option<Vec<f64>>, caps: Option<(Vec<u32>, Vec<f64>)> },
    Replayed { histories: Histories, days: f64, rates: Option<Vec<f64>> },
    Crawled(WholeCrawl),
}

pub fn run(flags: &RefreshFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    if flags.cross {
        return sim_refresh_cross::run(cross(flags)?, out);
    }
    let budget = flags.budget.unwrap_or_default();
    if !(budget.is_finite() && budget >= 0.0) {
        return Err(Trouble::Usage(format!("--budget {budget} is no number of visits")));
    }
    if (flags.seed.is_some() || flags.pages.is_some()) && !flags.histories.is_empty() {
        let what = "--seed and --pages: histories are replayed as they are, but with --cross";
        return Err(Trouble::Usage(what.to_owned()));
    }
    let stage = stage(flags)?;
    let contenders = contenders(flags)?;
    let mut outcomes: Vec<PolicyOutcome> =
        contenders.iter().map(|contender| stage.try_out(*contender, budget)).collect();
    if matches!(stage, RefreshStage::Replayed { rates: Some(_), .. }) {
        let oracle = stage.try_out(ReplayContender::Known(Policy::Freshness), budget).freshness;
        outcomes.iter_mut().for_each(|o| o.of_oracle = Some(o.freshness / oracle));
    }
    if let Some(path) = &flags.plot {
        let chart =
            figure::draw(flags.figure.0, &stage, &contenders, budget).map_err(Trouble::Usage)?;
        chart.write(path).map_err(|e| Trouble::Failed(format!("{}: {e}", path.display())))?;
    }
    let notes = stage.notes(budget);
    if flags.json {
        json::print(out, &Printed { policies: &outcomes, notes: &notes })?;
    } else {
        write!(out, "{}", text(&outcomes))?;
        notes.iter().try_for_each(|note| writeln!(out, "Note: {note}"))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn stage(flags: &RefreshFlags) -> Result<RefreshStage, Trouble> {
    if let Some(days) = flags.days.filter(|days| !(days.is_finite() && *days > 0.0)) {
        return Err(Trouble::Usage(format!("--days {days} is no time to replay")));
    }
    let days = flags.days.unwrap_or_default();
    if flags.whole {
        return whole(flags, days).map(RefreshStage::Crawled);
    }
    let Some(rates_of) = &flags.rates else {
        let mut histories = Histories::default();
        for path in &flags.histories {
            add(&mut histories, path)?;
        }
        if histories.is_empty() {
            return Err(Trouble::Usage("there is no page in the histories".to_owned()));
        }
        return Ok(RefreshStage::Replayed { histories, days, rates: None });
    };
    let pages = flags.pages.unwrap_or(100_000);
    if pages == 0 || pages > PAGES_MAX {
        return Err(Trouble::Usage(format!("--pages is a number from 1 to {PAGES_MAX}")));
    }
    if flags.hosts == 0 || flags.hosts > HOSTS_MAX {
        return Err(Trouble::Usage(format!("--hosts is a number from 1 to {HOSTS_MAX}")));
    }
    let rates = match rates_of.as_str() {
        "gamma" => rates(RateSpread::Gamma, pages),
        "lognormal" => rates(RateSpread::Lognormal, pages),
        path => rates_of_file(Path::new(path))?,
    };
    if flags.days.is_some() {
        if rates.iter().sum::<f64>() * days > CHANGES_MAX {
            return Err(Trouble::Usage(format!("more than {CHANGES_MAX} changes to draw")));
        }
        let histories = drawn(&rates, days, flags.seed());
        return Ok(RefreshStage::Replayed { histories, days, rates: Some(rates) });
    }
    let weights = flags.weights.map(|NamedValue(Weights::Zipf)| zipf(rates.len()));
    let caps = flags
        .host_cap
        .map(|cap| (halving_hosts(rates.len(), flags.hosts), vec![cap.max(0.0); flags.hosts]));
    Ok(RefreshStage::Known { rates, weights, caps })
}

fn add(histories: &mut Histories, path: &Path) -> Result<(), Trouble> {
    let text = read(path)?;
    histories.add(&text).map_err(|what| Trouble::Usage(format!("{}: {what}", path.display())))
}

/// A set for each file, as long as its changes go.
fn cross(flags: &RefreshFlags) -> Result<sim_refresh_cross::CrossAsked, Trouble> {
    if flags.draws == 0 || flags.draws > sim_refresh_cross::DRAWS_MAX {
        let what = format!("--draws is a number from 1 to {}", sim_refresh_cross::DRAWS_MAX);
        return Err(Trouble::Usage(what));
    }
    if let Some(days) = flags.days.filter(|days| !(days.is_finite() && *days > 0.0)) {
        return Err(Trouble::Usage(format!("--days {days} is no time to replay")));
    }
    let (mut sets, mut notes) = (Vec::new(), Vec::new());
    for path in &flags.histories {
        let mut histories = Histories::default();
        add(&mut histories, path)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file.split('.').next().unwrap_or_default().to_owned();
        let days = flags.days.unwrap_or_else(|| histories.last_change().ceil().max(1.0));
        notes.extend(oddities(&histories, days).into_iter().map(|odd| format!("{name}: {odd}")));
        if sets.iter().any(|set: &Set| set.name == name) {
            let what = format!("{}: there is another set {name:?}", path.display());
            return Err(Trouble::Usage(what));
        }
        if !histories.is_empty() {
            sets.push(Set::given(name, days, histories));
        }
    }
    let (objective, seed) = (flags.objective.0, flags.seed());
    let pages = flags.pages.unwrap_or(sim_refresh_cross::MADE_PAGES);
    if pages == 0 || pages > PAGES_MAX {
        return Err(Trouble::Usage(format!("--pages is a number from 1 to {PAGES_MAX}")));
    }
    sets.extend(MadeKind::ALL.into_iter().map(|kind| Set::made(kind, pages, seed)));
    let RefreshFlags { draws, json, .. } = *flags;
    let constants = flags.constants;
    Ok(sim_refresh_cross::CrossAsked { sets, objective, draws, seed, constants, notes, json })
}

/// What is unusual about histories, and what is made of it.
fn oddities(histories: &Histories, days: f64) -> Vec<String> {
    let Unusual { still, repeats, beyond, twice } = histories.oddities(days);
    let mut notes = Vec::new();
    let pages = |count: usize, one: &str, many: &str| match count {
        1 => format!("one page {one}"),
        count => format!("{count} pages {many}"),
    };
    if histories.is_empty() {
        notes.push("no page: left out".to_owned());
    }
    if still > 0 {
        let who = pages(still, "never changes", "never change");
        notes.push(format!("{who} within {days} days: always fresh"));
    }
    if repeats > 0 {
        let what = "two changes at one time: both count for delay, one for all else";
        notes.push(format!("{} {what}", pages(repeats, "has", "have")));
    }
    if beyond > 0 {
        let who = pages(beyond, "changes", "change");
        notes.push(format!("{who} after the {days} days: what comes later is left out"));
    }
    if twice > 0 {
        let what = "a page and host that an earlier line has: each line is a page of its own";
        let lines = if twice == 1 { "one line names" } else { "lines name" };
        let count = if twice == 1 { String::new() } else { format!("{twice} ") };
        notes.push(format!("{count}{lines} {what}"));
    }
    if histories.len() == 1 {
        notes.push("one page alone: every policy spends the whole budget on it".to_owned());
    }
    notes
}

fn whole(flags: &RefreshFlags, days: f64) -> Result<WholeCrawl, Trouble> {
    let pages = flags.pages.unwrap_or(2_000);
    if pages < WHOLE_SITES as usize || pages > WHOLE_PAGES_MAX {
        let what =
            format!("--pages of --whole is a number from {WHOLE_SITES} to {WHOLE_PAGES_MAX}");
        return Err(Trouble::Usage(what));
    }
    if !(flags.change_days.is_finite() && flags.change_days > 0.0) {
        return Err(Trouble::Usage(format!("--change-days {} is no time", flags.change_days)));
    }
    if days.fract() != 0.0 || days > WHOLE_DAYS_MAX {
        let what = format!("--days of --whole is a whole number up to {WHOLE_DAYS_MAX}");
        return Err(Trouble::Usage(what));
    }
    Ok(WholeCrawl {
        seed: flags.seed(),
        pages: pages as u32,
        sites: WHOLE_SITES,
        change_days: flags.change_days,
        days: days as u64,
        ..WholeCrawl::default()
    })
}

fn rates_of_file(path: &Path) -> Result<Vec<f64>, Trouble> {
    let text = read(path)?;
    let rates: Result<Vec<f64>, Trouble> = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(number, line)| match line.trim().parse::<f64>() {
            Ok(rate) if rate.is_finite() && rate >= 0.0 => Ok(rate),
            _ => Err(Trouble::Usage(format!(
                "{}: line {number}: {line:?} is no rate of changes a day",
                path.display()
            ))),
        })
        .collect();
    let rates = rates?;
    if rates.is_empty() || rates.len() > PAGES_MAX {
        let what = format!("{}: {} rates, not 1 to {PAGES_MAX}", path.display(), rates.len());
        return Err(Trouble::Usage(what));
    }
    Ok(rates)
}

fn read(path: &Path) -> Result<String, Trouble> {
    let mut text = String::new();
    let size = open_input(path)
        .and_then(|input| input.take(FILE_BYTES_MAX + 1).read_to_string(&mut text))
        .map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))?;
    if size as u64 > FILE_BYTES_MAX {
        return Err(Trouble::Usage(format!("{}: larger than 2 GiB", path.display())));
    }
    Ok(text)
}

fn contenders(flags: &RefreshFlags) -> Result<Vec<ReplayContender>, Trouble> {
    if flags.whole && flags.budget.is_some_and(|budget| budget.fract() != 0.0) {
        return Err(Trouble::Usage("--budget of --whole is a whole number".to_owned()));
    }
    let is_replay = flags.days.is_some() && !flags.whole;
    let mut all: Vec<ReplayContender> = match flags.whole {
        true => Objective::ALL.into_iter().map(ReplayContender::Learned).collect(),
        false => Policy::ALL.into_iter().map(ReplayContender::Known).collect(),
    };
    let name_of = |contender: &ReplayContender| match contender {
        ReplayContender::Learned(objective) if flags.whole => objective.word(),
        other => other.word(),
    };
    let learners = [
        ReplayContender::Learned(flags.objective.0),
        ReplayContender::Naive,
        ReplayContender::Cho,
        ReplayContender::Mle,
        ReplayContender::Bayes,
        ReplayContender::Nutch,
        ReplayContender::Stormcrawler,
        ReplayContender::Heritrix,
    ];
    if is_replay {
        all.extend(learners);
    }
    if flags.policies.is_empty() {
        return Ok(all);
    }
    let named = |name: &String| {
        if let Some(found) = all.iter().find(|contender| name_of(contender) == name) {
            return Ok(*found);
        }
        if learners.iter().any(|contender| contender.word() == name) {
            let what = format!("{name} learns: it needs --histories, or --rates with --days");
            return Err(Trouble::Usage(what));
        }
        let guess = nearest::did_you_mean(name, all.iter().map(name_of));
        Err(Trouble::Usage(format!("no policy {name:?}{guess}")))
    };
    flags.policies.iter().map(named).collect()
}

impl RefreshFlags {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

impl RefreshStage {
    /// What is unusual about the pages and the budget of a replay.
    fn notes(&self, budget: f64) -> Vec<String> {
        let RefreshStage::Replayed { histories, days, rates: None } = self else {
            return Vec::new();
        };
        let mut notes = oddities(histories, *days);
        let visits = budget * days / histories.len().max(1) as f64;
        if visits < 1.0 {
            let what = "those that come late in the first round are never visited";
            notes.push(format!("{visits:.2} visits a page in {days} days: {what}"));
        }
        notes
    }

    /// How a contender is called here: of a crawl all learn, and differ in what they are after.
    pub fn try_out_name(&self, contender: ReplayContender) -> &'static str {
        match (self, contender) {
            (RefreshStage::Crawled(_), ReplayContender::Learned(objective)) => objective.word(),
            (_, other) => other.word(),
        }
    }

    pub fn try_out(&self, contender: ReplayContender, budget: f64) -> PolicyOutcome {
        let finite = |number: f64| number.is_finite().then_some(number);
        let policy = contender.word();
        match (self, contender) {
            (RefreshStage::Known { rates, weights, caps }, ReplayContender::Known(known)) => {
                let caps =
                    caps.as_ref().map(|(host_of, visits)| Caps { host_of, visits: &visits[..] });
                let bought = buy(known, rates, weights.as_deref(), budget, caps);
                PolicyOutcome {
                    policy,
                    freshness: bought.freshness,
                    age_days: finite(bought.age_days),
                    age_days_cap60: bought.age_days_cap60,
                    delay: finite(bought.delay),
                    visits: bought.visits,
                    budget_used: share(bought.visits, budget),
                    of_oracle: None,
                }
            }
            (RefreshStage::Replayed { histories, days, rates }, contender) => {
                let course = match rates {
                    Some(rates) => Course::drawn(histories, *days, rates),
                    None => Course::real(histories, *days),
                };
                let scores = replay(contender, course, budget);
                PolicyOutcome {
                    policy,
                    freshness: scores.freshness,
                    age_days: finite(scores.age_days),
                    age_days_cap60: scores.age_days_cap60,
                    delay: finite(scores.delay),
                    visits: scores.visits as f64,
                    budget_used: share(scores.visits as f64, budget * days),
                    of_oracle: None,
                }
            }
            (RefreshStage::Crawled(whole), ReplayContender::Learned(objective)) => {
                crawled(whole, objective, budget)
            }
            (RefreshStage::Crawled(_), _) => unreachable!("only the engine's own policies crawl"),
            (RefreshStage::Known { .. }, _) => {
                unreachable!("learners are asked for histories before")
            }
        }
    }
}

fn crawled(whole: &WholeCrawl, objective: Objective, budget: f64) -> PolicyOutcome {
    let whole = WholeCrawl { objective, requests_per_day: budget as u64, ..whole.clone() };
    let simulated = whole.run();
    assert!(simulated.violations.is_empty(), "{:?}", simulated.violations);
    let scores = whole.scores(&simulated);
    PolicyOutcome {
        policy: objective.word(),
        freshness: scores.freshness,
        age_days: Some(scores.age_days),
        age_days_cap60: scores.age_days,
        delay: Some(scores.delay),
        visits: scores.visits as f64,
        budget_used: share(simulated.tally.fetches as f64, budget * whole.days as f64),
        of_oracle: None,
    }
}

fn share(used: f64, budget: f64) -> f64 {
    if budget > 0.0 { used / budget } else { 0.0 }
}

fn text(outcomes: &[PolicyOutcome]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = ["policy", "freshness", "age/days", "age cap60", "delay", "visits", "budget used"];
    let is_drawn = outcomes.iter().any(|outcome| outcome.of_oracle.is_some());
    let more = is_drawn.then_some("of oracle");
    table.set_header(head.into_iter().chain(more).map(right));
    for outcome in outcomes {
        let number = |number: f64| right(&format!("{number:.4}"));
        let maybe = |value: Option<f64>| value.map_or_else(|| right("∞"), number);
        let of_oracle = outcome.of_oracle.map(|share| right(&format!("{:.2} %", share * 100.0)));
        let row = [
            right(outcome.policy),
            number(outcome.freshness),
            maybe(outcome.age_days),
            number(outcome.age_days_cap60),
            maybe(outcome.delay),
            right(&format!("{:.0}", outcome.visits)),
            right(&format!("{:.1} %", outcome.budget_used * 100.0)),
        ];
        table.add_row(row.into_iter().chain(of_oracle));
    }
    format!("{}\n", table.trim_fmt())
}
