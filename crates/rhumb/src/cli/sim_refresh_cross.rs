//! `rhumb sim refresh --cross`: the engine's own policy on set after set, beside uniform
//! revisiting, every other learner, and the bounds.

use std::io::Write;

use comfy_table::{Cell, CellAlignment, Table, presets};
use rhumb_engine::refresh::constants::RefreshConstants;
use rhumb_engine::refresh::index::Objective;
use rhumb_lab::refresh::cross::constants::{self, ConstantsLeftOut};
use rhumb_lab::refresh::cross::spread::FigureSpread;
use rhumb_lab::refresh::cross::{
    CrossLine, LEAST, PROMISED_PAGES, RIVALS, Set, SetLeftOut, best_rival, broken, left_out, lines,
    mean,
};
use serde::Serialize;

use super::ended::{Ended, Trouble};
use super::json;

/// Draws of one set: each is replayed three times at each of five budgets.
pub const DRAWS_MAX: usize = 10_000;
/// Pages of each set that is made up.
pub const MADE_PAGES: usize = 400;

/// What is compared, and how often.
pub struct CrossAsked {
    pub sets: Vec<Set>,
    pub objective: Objective,
    pub draws: usize,
    pub seed: u64,
    /// Choose the policy's constants anew without each given set.
    pub constants: bool,
    /// What was odd about the files.
    pub notes: Vec<String>,
    pub json: bool,
}

#[derive(Serialize)]
struct Printed {
    lines: Vec<LineRow>,
    left_out: Vec<LeftOutRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constants_left_out: Vec<ConstantsRow>,
    summary: Summary,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct LineRow {
    set: String,
    given: bool,
    pages: usize,
    days: f64,
    times: f64,
    budget: f64,
    uniform: f64,
    learned: f64,
    naive: f64,
    cho: f64,
    mle: f64,
    bayes: f64,
    nutch: f64,
    stormcrawler: f64,
    heritrix: f64,
    rates_told: f64,
    clairvoyant: f64,
    drawn_pages: usize,
    less_uniform: SpreadRow,
    less_bayes: SpreadRow,
}

#[derive(Serialize)]
struct SpreadRow {
    draws: usize,
    mean: f64,
    low_95: f64,
    high_95: f64,
    worst: f64,
    /// With 95 % confidence this share of all such draws is no worse.
    no_worse: f64,
}

#[derive(Serialize)]
struct ConstantsRow {
    set: String,
    pages: usize,
    doubt_first: f64,
    changes_halving: f64,
    shape_first: f64,
    exploration: f64,
    by_chosen: f64,
    by_shipped: f64,
    by_uniform: f64,
    worst: f64,
}

#[derive(Serialize)]
struct LeftOutRow {
    set: String,
    rival: &'static str,
    learned: f64,
    by_rival: f64,
    by_uniform: f64,
}

/// Over all lines of given sets.
#[derive(Serialize)]
struct Summary {
    learned: f64,
    uniform: f64,
    best_rival: &'static str,
    by_best_rival: f64,
    /// The policy less uniform, a figure for each set: its mean over the budgets.
    less_uniform_by_set: SpreadRow,
    less_best_rival_by_set: SpreadRow,
    /// Sets of enough pages that lose more to uniform than the promise has it, with the budget.
    broken: Vec<String>,
}

pub fn run(mut asked: CrossAsked, out: &mut impl Write) -> Result<Ended, Trouble> {
    let mut all = Vec::new();
    let chosen = match asked.constants {
        true => constants::left_out(&asked.sets, asked.objective, &constants::grid()),
        false => Vec::new(),
    };
    for set in asked.sets.drain(..) {
        match lines(&set, asked.objective, asked.draws, asked.seed) {
            Some(more) => {
                asked.notes.extend(more.iter().filter_map(below_a_visit));
                all.extend(more);
            }
            None => {
                let days = set.days;
                let what = format!("{}: no page changes within {days} days: left out", set.name);
                asked.notes.push(what);
            }
        }
    }
    if asked.json {
        let left_out = left_out(&all).iter().map(LeftOutRow::of).collect();
        let summary = Summary::of(&all);
        let lines = all.iter().map(LineRow::of).collect();
        let constants_left_out = chosen.iter().map(ConstantsRow::of).collect();
        let notes = asked.notes;
        json::print(out, &Printed { lines, left_out, constants_left_out, summary, notes })?;
    } else {
        write!(out, "{}", text(&all, &chosen, &asked.notes))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

/// Of a given set, a budget that is below one visit a page.
fn below_a_visit(line: &CrossLine) -> Option<String> {
    let CrossLine { set, times, budget, days, pages, .. } = line;
    let visits = budget * days / *pages as f64;
    (line.is_given && visits < 1.0).then(|| {
        let what = "those that come late in the first round are never visited";
        format!("{set} × {times}: {visits:.2} visits a page in {days} days: {what}")
    })
}

impl LineRow {
    fn of(line: &CrossLine) -> LineRow {
        let rival = |at: usize| line.rivals[at];
        LineRow {
            set: line.set.clone(),
            given: line.is_given,
            pages: line.pages,
            days: line.days,
            times: line.times,
            budget: line.budget,
            uniform: line.uniform,
            learned: line.learned,
            naive: rival(0),
            cho: rival(1),
            mle: rival(2),
            bayes: rival(3),
            nutch: rival(4),
            stormcrawler: rival(5),
            heritrix: rival(6),
            rates_told: line.told,
            clairvoyant: line.clairvoyant,
            drawn_pages: line.drawn_pages,
            less_uniform: SpreadRow::of(line.less_uniform),
            less_bayes: SpreadRow::of(line.less_bayes),
        }
    }
}

impl SpreadRow {
    fn of(spread: FigureSpread) -> SpreadRow {
        let FigureSpread { count, mean, low, high, worst, no_worse } = spread;
        SpreadRow { draws: count, mean, low_95: low, high_95: high, worst, no_worse }
    }
}

impl ConstantsRow {
    fn of(out: &ConstantsLeftOut) -> ConstantsRow {
        let RefreshConstants { doubt_first, changes_halving, shape_first, exploration } =
            out.chosen;
        ConstantsRow {
            set: out.set.clone(),
            pages: out.pages,
            doubt_first,
            changes_halving,
            shape_first,
            exploration,
            by_chosen: out.by_chosen,
            by_shipped: out.by_shipped,
            by_uniform: out.by_uniform,
            worst: out.worst,
        }
    }
}

impl LeftOutRow {
    fn of(out: &SetLeftOut) -> LeftOutRow {
        LeftOutRow {
            set: out.set.clone(),
            rival: out.rival.word(),
            learned: out.learned,
            by_rival: out.by_rival,
            by_uniform: out.by_uniform,
        }
    }
}

impl Summary {
    fn of(all: &[CrossLine]) -> Summary {
        let given: Vec<&CrossLine> = all.iter().filter(|line| line.is_given).collect();
        let best = best_rival(&given);
        let by_set = |value: &dyn Fn(&CrossLine) -> f64| {
            let sets = given.chunk_by(|one, other| one.set == other.set);
            let figures: Vec<f64> = sets.map(|lines| mean(lines, value)).collect();
            SpreadRow::of(FigureSpread::of(&figures))
        };
        let named = |line: &&CrossLine| {
            let lost = line.uniform - line.learned;
            format!("{} × {}: {lost:.4} below uniform", line.set, line.times)
        };
        Summary {
            learned: mean(&given, |line| line.learned),
            uniform: mean(&given, |line| line.uniform),
            best_rival: RIVALS[best].word(),
            by_best_rival: mean(&given, |line| line.rivals[best]),
            less_uniform_by_set: by_set(&|line| line.learned - line.uniform),
            less_best_rival_by_set: by_set(&|line| line.learned - line.rivals[best]),
            broken: broken(all).iter().map(named).collect(),
        }
    }
}

fn text(all: &[CrossLine], chosen: &[ConstantsLeftOut], notes: &[String]) -> String {
    let mut said = format!("{}\n", table(all).trim_fmt());
    let summary = Summary::of(all);
    let signed = |spread: &SpreadRow| {
        let SpreadRow { mean, low_95, high_95, worst, .. } = spread;
        format!("{mean:+.4} ({low_95:+.4} to {high_95:+.4} with 95 %, worst {worst:+.4})")
    };
    if summary.less_uniform_by_set.draws > 0 {
        let Summary { learned, uniform, best_rival, by_best_rival, .. } = &summary;
        said += &format!(
            "\nGiven sets, mean of all lines: learned {learned:.4}, uniform {uniform:.4}, \
             {best_rival} {by_best_rival:.4} (the best single other learner)\n\
             learned less uniform, by set: {}\nlearned less {best_rival}, by set: {}\n",
            signed(&summary.less_uniform_by_set),
            signed(&summary.less_best_rival_by_set),
        );
    }
    for SetLeftOut { set, rival, learned, by_rival, by_uniform } in left_out(all) {
        let rival = rival.word();
        said += &format!(
            "{set} left out: {rival} is the best of the others on the other sets; \
             learned {learned:.4}, {rival} {by_rival:.4}, uniform {by_uniform:.4}\n"
        );
    }
    chosen.iter().for_each(|out| said += &chosen_without(out));
    said += &match &summary.broken[..] {
        [] => format!("No given set of {PROMISED_PAGES} pages loses more than {:.3}.\n", -LEAST),
        broken => format!("Loses more than {:.3}: {}\n", -LEAST, broken.join("; ")),
    };
    said += &worst_draws(all).unwrap_or_default();
    notes.iter().for_each(|note| said += &format!("Note: {note}\n"));
    said
}

fn chosen_without(out: &ConstantsLeftOut) -> String {
    let ConstantsLeftOut { set, by_chosen, by_shipped, by_uniform, worst, .. } = out;
    let RefreshConstants { doubt_first, changes_halving, shape_first, exploration } = out.chosen;
    format!(
        "{set} left out: constants chosen on the other sets are doubt {doubt_first}, halved after \
         {changes_halving} changes, shape {shape_first}, bonus {exploration}; with them \
         {by_chosen:.4}, with those of crawls {by_shipped:.4}, uniform {by_uniform:.4}, least \
         {worst:+.4} from it\n"
    )
}

/// The given set and budget whose draws do worst against uniform on average, of those promised.
fn worst_draws(all: &[CrossLine]) -> Option<String> {
    let is_covered = |line: &&CrossLine| line.is_given && line.pages >= PROMISED_PAGES;
    let drawn = all.iter().filter(is_covered).filter(|line| line.less_uniform.count > 0);
    let line = drawn.min_by(|a, b| a.less_uniform.mean.total_cmp(&b.less_uniform.mean))?;
    let FigureSpread { count, mean, low, high, worst, no_worse } = line.less_uniform;
    Some(format!(
        "Worst on draws of those sets: {} × {}, {mean:+.4} ({low:+.4} to {high:+.4} with 95 %); \
         the worst of {count} draws is {worst:+.4}, and with 95 % confidence at least {:.0} % of \
         such draws are no worse than the worst.\n",
        line.set,
        line.times,
        no_worse * 100.0
    ))
}

fn table(all: &[CrossLine]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |text: &str| Cell::new(text).set_alignment(CellAlignment::Right);
    let head = [
        "pages",
        "visits a change",
        "uniform",
        "learned",
        "best other",
        "",
        "rates told",
        "clairvoyant",
        "less uniform",
        "of draws",
        "95 %",
        "worst",
        "less bayes",
    ];
    table.set_header(std::iter::once(Cell::new("set")).chain(head.into_iter().map(right)));
    for line in all {
        let best = best_rival(&[line]);
        let number = |number: f64| right(&format!("{number:.4}"));
        let signed = |number: f64| right(&format!("{number:+.4}"));
        let FigureSpread { mean, low, high, worst, .. } = line.less_uniform;
        table.add_row([
            Cell::new(&line.set),
            right(&line.pages.to_string()),
            right(&line.times.to_string()),
            number(line.uniform),
            number(line.learned),
            number(line.rivals[best]),
            right(RIVALS[best].word()),
            number(line.told),
            number(line.clairvoyant),
            signed(line.learned - line.uniform),
            signed(mean),
            right(&format!("{low:+.4} {high:+.4}")),
            signed(worst),
            signed(line.less_bayes.mean),
        ]);
    }
    table
}
