//! What a learner is worth on histories it never saw: set by set, draw by draw, beside the bounds.
//!
//! A [`Set`] is given or made up by a known rule ([`super::made`]). On each, at each budget of
//! [`TIMES`], every contender is replayed on all its pages, and the engine's own policy, uniform
//! revisiting and the textbook's Bayes once more on many draws: pages drawn without replacement
//! of a given set, or another set of the same rule. Nothing in the policy is fitted to a set, so
//! leaving one out leaves out a choice: [`left_out`] picks the best rival on the other sets and
//! holds the policy against it on the one that was left out. [`bound`] says what nobody exceeds,
//! [`constants`] what the policy's constants are worth on sets they were not chosen on.

pub mod bound;
pub mod constants;
pub mod spread;

use super::histories::Histories;
use super::made::{self, MadeKind};
use super::rates;
use super::replay::{Course, ReplayContender, replay};
use crate::refresh::policy::Policy;
use bound::{clairvoyant, told};
use rhumb_engine::refresh::index::Objective;
use rhumb_engine::rng::Rng;
use spread::FigureSpread;

/// Budgets, in visits for each change.
pub const TIMES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Whom the policy is held against. Bayes is told the mean rates of hosts.
pub const RIVALS: [ReplayContender; 7] = [
    ReplayContender::Naive,
    ReplayContender::Cho,
    ReplayContender::Mle,
    ReplayContender::Bayes,
    ReplayContender::Nutch,
    ReplayContender::Stormcrawler,
    ReplayContender::Heritrix,
];
const UNIFORM: ReplayContender = ReplayContender::Known(Policy::Uniform);
/// A draw has half of a set's pages, but not more than this.
const DRAWN_MAX: usize = 400;
/// Sets of fewer pages are reported, and promise nothing: one page is more than a per cent.
pub const PROMISED_PAGES: usize = 100;
/// What the policy may lose to uniform on a set that the promise covers.
pub const LEAST: f64 = -0.005;

/// Histories that go together.
pub struct Set {
    pub name: String,
    pub days: f64,
    pub histories: Histories,
    /// The rule of a set that is made up.
    pub kind: Option<MadeKind>,
}

impl Set {
    pub fn given(name: String, days: f64, histories: Histories) -> Set {
        Set { name, days, histories, kind: None }
    }

    pub fn made(kind: MadeKind, pages: usize, seed: u64) -> Set {
        let histories = made::made(kind, pages, seed);
        Set { name: kind.word().to_owned(), days: made::DAYS, histories, kind: Some(kind) }
    }

    /// Another like it.
    fn drawn(&self, seed: u64) -> Histories {
        if let Some(kind) = self.kind {
            return made::made(kind, self.histories.len(), seed);
        }
        let mut rng = Rng::new(seed);
        let mut pages: Vec<usize> = (0..self.histories.len()).collect();
        let count = pages.len().div_ceil(2).min(DRAWN_MAX);
        for at in 0..count {
            let other = at + (rng.draw() % (pages.len() - at) as u64) as usize;
            pages.swap(at, other);
        }
        pages.truncate(count);
        pages.sort_unstable();
        self.histories.only(&pages)
    }
}

/// A set at one budget.
pub struct CrossLine {
    pub set: String,
    pub is_given: bool,
    pub pages: usize,
    pub days: f64,
    /// Visits for each change, and a day.
    pub times: f64,
    pub budget: f64,
    pub uniform: f64,
    pub learned: f64,
    /// As in [`RIVALS`].
    pub rivals: Vec<f64>,
    /// The best anybody could buy if changes were Poisson and every page's rate were told.
    pub told: f64,
    /// The best anybody could buy who knows every change ahead.
    pub clairvoyant: f64,
    pub drawn_pages: usize,
    /// The policy less uniform, and less Bayes, over the draws.
    pub less_uniform: FigureSpread,
    pub less_bayes: FigureSpread,
}

/// Compares on one set, at every budget; none if no page changes.
pub fn lines(set: &Set, objective: Objective, draws: usize, seed: u64) -> Option<Vec<CrossLine>> {
    let rate = rate(&set.histories, set.days);
    if rate <= 0.0 {
        return None;
    }
    // The draws are the same at every budget.
    let drawn: Vec<Histories> = (0..draws).map(|draw| set.drawn(seed + 1 + draw as u64)).collect();
    Some(TIMES.iter().map(|times| line(set, objective, *times, rate, &drawn)).collect())
}

fn line(set: &Set, objective: Objective, times: f64, rate: f64, drawn: &[Histories]) -> CrossLine {
    let Set { histories, days, .. } = set;
    let learned = ReplayContender::Learned(objective);
    let of = |contender, histories: &Histories, budget| {
        replay(contender, Course::real(histories, *days), budget).freshness
    };
    let budget = rate * times;
    let whole = |contender| of(contender, histories, budget);
    let less = |other: ReplayContender| -> Vec<f64> {
        let each = drawn.iter().map(|drawn| {
            let budget = self::rate(drawn, *days) * times;
            of(learned, drawn, budget) - of(other, drawn, budget)
        });
        each.collect()
    };
    CrossLine {
        set: set.name.clone(),
        is_given: set.kind.is_none(),
        pages: histories.len(),
        days: *days,
        times,
        budget,
        uniform: whole(UNIFORM),
        learned: whole(learned),
        rivals: RIVALS.iter().map(|rival| whole(*rival)).collect(),
        told: told(histories, *days, budget),
        clairvoyant: clairvoyant(Course::real(histories, *days), budget),
        drawn_pages: drawn.first().map_or(0, Histories::len),
        less_uniform: FigureSpread::of(&less(UNIFORM)),
        less_bayes: FigureSpread::of(&less(ReplayContender::Bayes)),
    }
}

/// Changes a day within the days, of all pages together.
fn rate(histories: &Histories, days: f64) -> f64 {
    (0..histories.len()).map(|page| rates::seen(histories.changes(page), days)).sum()
}

/// A set held against the rival that is best on the others.
pub struct SetLeftOut {
    pub set: String,
    pub rival: ReplayContender,
    pub learned: f64,
    pub by_rival: f64,
    pub by_uniform: f64,
}

/// Leaves out each given set in turn; nothing if there are fewer than two.
pub fn left_out(lines: &[CrossLine]) -> Vec<SetLeftOut> {
    let given: Vec<&CrossLine> = lines.iter().filter(|line| line.is_given).collect();
    let mut names: Vec<&str> = given.iter().map(|line| &line.set[..]).collect();
    names.dedup();
    if names.len() < 2 {
        return Vec::new();
    }
    let of = |name: &str| {
        let (out, rest): (Vec<&CrossLine>, Vec<&CrossLine>) =
            given.iter().copied().partition(|line| line.set == name);
        let best = best_rival(&rest);
        SetLeftOut {
            set: name.to_owned(),
            rival: RIVALS[best],
            learned: mean(&out, |line| line.learned),
            by_rival: mean(&out, |line| line.rivals[best]),
            by_uniform: mean(&out, |line| line.uniform),
        }
    };
    names.into_iter().map(of).collect()
}

/// The single rival that is best over all these lines.
pub fn best_rival(lines: &[&CrossLine]) -> usize {
    let of = |rival: usize| mean(lines, |line| line.rivals[rival]);
    (0..RIVALS.len()).max_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap_or_default()
}

pub fn mean(lines: &[&CrossLine], value: impl Fn(&CrossLine) -> f64) -> f64 {
    lines.iter().map(|line| value(line)).sum::<f64>() / lines.len().max(1) as f64
}

/// Lines of given sets that the promise covers and that broke it.
pub fn broken(lines: &[CrossLine]) -> Vec<&CrossLine> {
    let is_covered = |line: &&CrossLine| line.is_given && line.pages >= PROMISED_PAGES;
    lines.iter().filter(is_covered).filter(|l| l.learned - l.uniform < LEAST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_within_the_promise_of_uniform_on_every_kind_and_wins_where_pages_differ() {
        const DRAWS: u64 = 3;
        const PAGES: usize = 400;
        let days = made::DAYS;
        for kind in MadeKind::ALL {
            let (mut gain, mut count) = (0.0, 0.0);
            for (seed, times) in (1..=DRAWS).flat_map(|seed| [(seed, 0.5), (seed, 1.0)]) {
                let set = made::made(kind, PAGES, seed);
                let (course, budget) = (Course::real(&set, days), rate(&set, days) * times);
                let of = |contender| replay(contender, course, budget).freshness;
                let (ours, theirs) =
                    (of(ReplayContender::Learned(Objective::Harmonic)), of(UNIFORM));
                let most = clairvoyant(course, budget);
                assert!(ours.max(theirs) <= most + 1e-6, "{kind:?}: {ours}, {theirs} of {most}");
                (gain, count) = (gain + ours - theirs, count + 1.0);
            }
            // A single draw of 400 pages moves by as much as the promise.
            let least = match kind {
                MadeKind::Spread => 0.01,
                MadeKind::Dead => 0.03,
                MadeKind::Bursts => 0.0,
                _ => -0.005,
            };
            assert!(gain / count > least, "{kind:?}: {}", gain / count);
        }
    }

    #[test]
    fn a_set_left_out_is_held_against_the_best_of_the_others() {
        let line = |set: &str, learned: f64, rivals: [f64; 2]| {
            let few = Set::made(MadeKind::Alike, 20, 1);
            let mut line = lines(&few, Objective::Harmonic, 1, 1).unwrap().swap_remove(0);
            (line.set, line.is_given, line.learned) = (set.to_owned(), true, learned);
            line.rivals = vec![0.0; RIVALS.len()];
            line.rivals[..2].copy_from_slice(&rivals);
            line
        };
        let given = [line("a", 0.5, [0.9, 0.1]), line("b", 0.6, [0.2, 0.3])];
        let out = left_out(&given);
        // Rival 0 is best on a, rival 1 on b: each is chosen where it was not seen.
        assert_eq!((out[0].rival, out[0].by_rival), (RIVALS[1], 0.1));
        assert_eq!((out[1].rival, out[1].by_rival), (RIVALS[0], 0.2));
        assert!(left_out(&given[..1]).is_empty());
    }
}
