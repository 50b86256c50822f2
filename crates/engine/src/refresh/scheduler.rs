//! The online scheduler: an index policy with a price that follows the budget.
//!
//! It keeps no page. Whoever holds the calendar (the engine's rows, or the wheel of the
//! laboratory) asks it how long a page may wait, and tells it what a visit found. What it holds is
//! small and the same for all pages: the price, the population that priors come from, and a sample
//! on which the price is solved. All times are days.
//!
//! The price is looked at after every 1/32 of the pages was visited: one Newton step, since
//! beliefs move slowly. What the sample misses shows as lag of the calendar, which is integrated
//! into the price. A host that politeness keeps from its share carries a surcharge of its own, by
//! its own lag: the price ν of its pages is μ times e to the surcharge (solved exactly in the
//! laboratory, `crates/lab/src/refresh/host_caps.rs`).

use super::belief::{Belief, Gamma, VisitFinding};
use super::constants::RefreshConstants;
use super::index::{Objective, Wait, due_after, is_due};
use super::population::{Population, Seasons};
use super::sample::{PageSample, SampledPage};
use super::tide::Tide;
use super::tuning::Tuning;
use super::turn::Doubt;
use crate::time::Span;
use serde::{Deserialize, Serialize};

const LOOKS_PER_ROUND: u64 = 32;
/// Not more often than this many visits, in a small collection.
const LOOK_VISITS_MIN: u64 = 16;
/// Newton steps of the first solution; later ones take a single step.
const FIRST_STEPS: usize = 40;
const STEP_MAX: f64 = 1.0;
/// How much of the lag, in rounds, goes into ln μ at each look, and how much of it at most.
const LAG_GAIN: f64 = 0.1;
const LAG_MAX: f64 = 0.5;
const CORRECTION_MAX: f64 = 2.0;
/// What is left of the correction at each look: a crawl that grows comes late with everything, and
/// what it adds to the price then must not outlive it. Half is gone after a round.
const CORRECTION_KEPT: f64 = 0.98;
/// No page waits longer than this many rounds, whatever it is believed to be.
const ROUNDS_MAX: f64 = 8.0;
/// A round takes no longer than this, however small the budget.
const ROUND_DAYS_MAX: f64 = 1e6;
/// Weights beyond this ratio are not obeyed: they would starve the rest.
const WEIGHT_RANGE: (f64, f64) = (1e-3, 1e3);
/// A visit late by this share of its wait is not late.
const HOST_LAG_FREE: f64 = 0.1;
const HOST_LAG_GAIN: f64 = 0.05;
/// e^12: a host that is asked for 160,000 times what it can give.
const SURCHARGE_MAX: f64 = 12.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchedulerSettings {
    pub objective: Objective,
    /// Visits a day, to all pages together.
    pub budget_per_day: f64,
    /// How long a day is: the period of a crawl's budget.
    pub day: Span,
    #[serde(skip)]
    pub constants: RefreshConstants,
}

impl SchedulerSettings {
    /// With days of 24 hours.
    pub fn new(objective: Objective, budget_per_day: f64) -> SchedulerSettings {
        let constants = RefreshConstants::default();
        SchedulerSettings { objective, budget_per_day, day: Span::secs(86_400), constants }
    }
}

/// What the scheduler must know of a page to say when it is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledPage {
    pub id: u64,
    pub belief: Belief,
    pub host: HostStanding,
    pub weight: f64,
    /// Its owner wants it seen at least this often.
    pub days_max: f64,
}

/// What is known of a host's pages together, and what it costs to ask it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct HostStanding {
    pub seasons: Seasons,
    /// ln(ν/μ): above 0 if politeness keeps the host from its share.
    pub surcharge: f32,
}

/// By bits: it is part of a host's record, which is compared as rows are.
impl PartialEq for HostStanding {
    fn eq(&self, other: &HostStanding) -> bool {
        let bits = |host: &HostStanding| {
            let Seasons { changes, days } = host.seasons;
            (changes.to_bits(), days.to_bits(), host.surcharge.to_bits())
        };
        bits(self) == bits(other)
    }
}

impl Eq for HostStanding {}

/// A visit as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    pub at: f64,
    /// Days since the visit before.
    pub after: f64,
    pub seen: VisitFinding,
    /// Days that it was to wait, and by how many it came later; negative if sooner.
    pub wait: f64,
    pub lag: f64,
}

/// How the collection is doing, as the sample has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CollectionEstimate {
    pub freshness: f64,
    pub age_days: f64,
    pub delay: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduler {
    settings: SchedulerSettings,
    population: Population,
    tuning: Tuning,
    /// Of a page's evidence, what is kept at a visit.
    kept: f64,
    sample: PageSample,
    /// ln μ as the sample has it, and what the lag adds.
    ln_price: f64,
    correction: f64,
    /// What follows from both.
    price: f64,
    pages: u64,
    /// Pages that are known and not yet fetched: they will want their share.
    waiting: u64,
    visits_since_look: u64,
    lag_days: f64,
    is_solved: bool,
    tide: Tide,
}

impl Scheduler {
    /// `guess_per_day` is a first guess of how often pages change.
    pub fn new(settings: SchedulerSettings, guess_per_day: f64) -> Scheduler {
        let tuning = Tuning::new(&settings.constants);
        let best = tuning.best();
        Scheduler {
            settings,
            population: Population::new(guess_per_day, best.shape),
            tuning,
            kept: best.kept,
            sample: PageSample::default(),
            ln_price: 0.0,
            correction: 0.0,
            price: 1.0,
            pages: 0,
            waiting: 0,
            visits_since_look: 0,
            lag_days: 0.0,
            is_solved: false,
            tide: Tide::default(),
        }
    }

    /// As a former format had it: what predicts best is found anew.
    pub fn carried(
        settings: SchedulerSettings,
        population: Population,
        sample: PageSample,
        pages: u64,
        ln_price: f64,
    ) -> Scheduler {
        let price = ln_price.exp();
        let is_solved = !sample.is_empty();
        let begun = Scheduler::new(settings, 1.0);
        Scheduler { population, sample, pages, ln_price, price, is_solved, ..begun }
    }

    /// The owner changed their mind: the price is found anew.
    pub fn set(&mut self, settings: SchedulerSettings) {
        if self.settings != settings {
            self.settings = settings;
            self.is_solved = false;
            self.correction = 0.0;
            self.look();
        }
    }

    pub fn settings(&self) -> &SchedulerSettings {
        &self.settings
    }

    /// What a visit must bring to be made.
    pub fn price(&self) -> f64 {
        self.price
    }

    pub fn pages(&self) -> u64 {
        self.pages
    }

    pub fn population(&self) -> &Population {
        &self.population
    }

    /// What is kept of a page's evidence at a visit.
    pub fn kept(&self) -> f64 {
        self.kept
    }

    /// The days in which the budget visits every page once.
    pub fn round_days(&self) -> f64 {
        let days = self.all().max(1) as f64 / self.settings.budget_per_day;
        if days.is_finite() { days.min(ROUND_DAYS_MAX) } else { ROUND_DAYS_MAX }
    }

    /// So many pages are known and not yet fetched. Visits are priced as if they were here
    /// already, so that a young crawl does not run in circles round its first pages.
    pub fn expect(&mut self, waiting: u64) {
        self.waiting = waiting;
    }

    fn all(&self) -> u64 {
        self.pages + self.waiting
    }

    /// A page joins the calendar, visited `at`.
    pub fn joined(&mut self, subject: &ScheduledPage, at: f64) {
        self.pages += 1;
        if let Some(entry) = self.sample.entry(subject.id) {
            entry.tell(subject, at);
        }
        // A growing collection is looked at whenever it has grown by a tenth.
        if !self.is_solved || self.visits_since_look * 10 > self.pages {
            self.look();
        }
        self.visits_since_look += 1;
    }

    /// A page that will not be visited again.
    pub fn left(&mut self, id: u64) {
        self.pages = self.pages.saturating_sub(1);
        self.sample.forget(id);
    }

    /// What a page is believed to be.
    pub fn gamma(&self, subject: &ScheduledPage) -> Gamma {
        subject.belief.with(self.population.prior(subject.host.seasons))
    }

    /// How many days after its last visit a page is due.
    pub fn wait(&self, subject: &ScheduledPage) -> f64 {
        let gamma = self.gamma(subject);
        self.settled(self.price, &subject.host, gamma, subject.weight, subject.days_max).days
    }

    /// At a price before any surcharge: a page's own wait, or its turn while that is in doubt.
    fn settled(
        &self,
        price: f64,
        host: &HostStanding,
        gamma: Gamma,
        weight: f64,
        days_max: f64,
    ) -> Wait {
        let own = self.wait_at(surcharged(price, host), gamma, weight, days_max);
        let settled = self.doubt().turn_wait(own, self.turn(price, host, weight));
        let most = self.days_max(days_max);
        if settled.days < most { settled } else { Wait { days: most, elasticity: 0.0 } }
    }

    /// The wait of a page that is visited in turn: a round, if all pages are worth the same.
    fn turn(&self, price: f64, host: &HostStanding, weight: f64) -> f64 {
        if weight == 1.0 && host.surcharge <= 0.0 {
            return self.round_days();
        }
        let usual = self.population.usual();
        self.wait_at(surcharged(price, host), usual, weight, f64::INFINITY).days
    }

    fn doubt(&self) -> Doubt {
        Doubt::after(self.population.changes(), &self.settings.constants)
    }

    /// Whether a page is due `days` after its last visit: cheaper than to ask when it is.
    pub fn is_due(&self, subject: &ScheduledPage, days: f64) -> bool {
        let (gamma, host) = (self.gamma(subject), &subject.host);
        let worth = self.worth(surcharged(self.price, host), gamma, subject.weight);
        let own = self.doubt().own_wait(days, self.turn(self.price, host, subject.weight));
        days >= self.days_max(subject.days_max)
            || is_due(self.settings.objective, gamma, worth, own)
    }

    /// How many days after an announced change a page is due, if such announcements hold with
    /// probability `trust`: its age grows by that share of each day (LambdaCrawl's complete
    /// observation; the share of changes that are worth a visit falls with the price).
    pub fn wait_announced(&self, subject: &ScheduledPage, trust: f64) -> f64 {
        let worth = surcharged(self.price, &subject.host) / bounded(subject.weight);
        (worth / trust.max(1e-3)).min(self.wait(subject))
    }

    /// Learns from a visit; the page's new belief and its host's.
    pub fn visited(&mut self, subject: &ScheduledPage, visit: Visit) -> (Belief, HostStanding) {
        let prior = self.population.prior(subject.host.seasons);
        let before = subject.belief.with(prior);
        let mut host = subject.host;
        self.population.count(&mut host.seasons, before, visit.after, visit.seen);
        host.surcharge = self.surcharge(subject.host.surcharge, visit);
        let level = self.tide.level();
        let chance = -before.ln_unchanged(visit.after).exp_m1();
        self.tide.hear(chance, visit.seen, self.pages);
        let (lived, seen) = (visit.after * level, visit.seen.stretched(level));
        let belief = subject.belief.after(prior, self.kept, lived, seen);
        if let Some(entry) = self.sample.entry(subject.id) {
            self.tuning.predicted(&mut entry.rivals, prior, lived, seen);
            entry.tell(&ScheduledPage { belief, host, ..*subject }, visit.at);
        }
        self.lag_days += visit.lag;
        self.visits_since_look += 1;
        if self.visits_since_look >= (self.pages / LOOKS_PER_ROUND).max(LOOK_VISITS_MIN) {
            self.look();
        }
        (belief, host)
    }

    /// How the collection is doing at `at`.
    pub fn estimate(&self, at: f64) -> CollectionEstimate {
        let mut sum = CollectionEstimate::default();
        let mut weights = 0.0;
        for page in self.sample.pages() {
            let gamma = page.belief.with(self.population.prior(page.host.seasons));
            let (t, weight) = ((at - page.visited).max(0.0), bounded(f64::from(page.weight)));
            sum.freshness += weight * gamma.ln_unchanged(t).exp();
            sum.age_days += weight * super::index::expected_age(gamma, t);
            sum.delay += weight * gamma.mean() * t;
            weights += weight;
        }
        let mean = |sum: f64| if weights > 0.0 { sum / weights } else { 0.0 };
        let CollectionEstimate { freshness, age_days, delay } = sum;
        CollectionEstimate {
            freshness: mean(freshness),
            age_days: mean(age_days),
            delay: mean(delay),
        }
    }

    fn wait_at(&self, price: f64, gamma: Gamma, weight: f64, days_max: f64) -> Wait {
        let worth = self.worth(price, gamma, weight);
        due_after(self.settings.objective, gamma, worth, self.days_max(days_max))
    }

    /// What V(t) must reach.
    fn worth(&self, price: f64, gamma: Gamma, weight: f64) -> f64 {
        price / (bounded(weight) * (1.0 + self.settings.constants.exploration / gamma.a))
    }

    fn days_max(&self, wanted: f64) -> f64 {
        wanted.min(self.round_days() * ROUNDS_MAX)
    }

    /// A host whose pages come late, more than others' do, is asked for more than it can give.
    fn surcharge(&self, before: f32, visit: Visit) -> f32 {
        let usual = self.lag_days / self.visits_since_look.max(1) as f64;
        let late = (visit.lag - usual) / visit.wait.max(1e-9) - HOST_LAG_FREE;
        let step = HOST_LAG_GAIN * late.clamp(-1.0, 1.0);
        (f64::from(before) + step).clamp(0.0, SURCHARGE_MAX) as f32
    }

    /// Fits the population and moves the price towards where demand equals the budget.
    fn look(&mut self) {
        self.tuning.fade();
        let best = self.tuning.best();
        (self.population.shape, self.kept) = (best.shape, best.kept);
        let lag = self.lag_days / self.visits_since_look.max(1) as f64 / self.round_days();
        let step = LAG_GAIN * lag.clamp(-LAG_MAX, LAG_MAX);
        let correction = self.correction * CORRECTION_KEPT + step;
        self.correction = correction.clamp(-CORRECTION_MAX, CORRECTION_MAX);
        (self.lag_days, self.visits_since_look) = (0.0, 0);
        let steps = if self.is_solved { 1 } else { FIRST_STEPS };
        (0..steps).for_each(|_| self.step());
        self.is_solved = !self.sample.is_empty();
        self.price = (self.ln_price + self.correction).exp();
    }

    /// One Newton step of ln μ, on the sample.
    fn step(&mut self) {
        if self.sample.is_empty() || self.settings.budget_per_day <= 0.0 {
            return;
        }
        let (mut spent, mut slope) = (0.0, 0.0);
        let price = self.ln_price.exp();
        for page in self.sample.pages() {
            let gamma = page.belief.with(self.population.prior(page.host.seasons));
            let (weight, days_max) = (f64::from(page.weight), f64::from(page.days_max));
            let wait = self.settled(price, &page.host, gamma, weight, days_max);
            spent += 1.0 / wait.days;
            slope += wait.elasticity / wait.days;
        }
        let share = self.sample.pages().len() as f64 / self.all().max(1) as f64;
        let wanted = self.settings.budget_per_day * share;
        // Where bounds decide for nearly all pages the price says little: do not leap.
        let elasticity = (slope / spent).max(0.1);
        let step = (spent / wanted).ln() / elasticity;
        if step.is_finite() {
            self.ln_price += step.clamp(-STEP_MAX, STEP_MAX);
        }
    }
}

/// What a visit to a page of this host must bring.
fn surcharged(price: f64, host: &HostStanding) -> f64 {
    if host.surcharge > 0.0 { price * f64::from(host.surcharge).exp() } else { price }
}

fn bounded(weight: f64) -> f64 {
    if weight.is_nan() { 1.0 } else { weight.clamp(WEIGHT_RANGE.0, WEIGHT_RANGE.1) }
}

impl SampledPage {
    fn tell(&mut self, subject: &ScheduledPage, at: f64) {
        self.belief = subject.belief;
        self.host = subject.host;
        self.weight = subject.weight as f32;
        self.days_max = subject.days_max as f32;
        self.visited = at;
    }
}
