//! The engine's own scheduler with a calendar in memory: what `crawl --continuous` does, without
//! the crawl. A visit falls due with every token of the budget, so none is lost.

use super::epochs::phase;
use super::histories::Histories;
use super::replay::{Course, visits_within};
use super::score::{Referee, Scores};
use super::wheel::Wheel;
use rhumb_engine::refresh::belief::{Belief, VisitFinding};
use rhumb_engine::refresh::scheduler::{
    HostStanding, ScheduledPage, Scheduler, SchedulerSettings, Visit,
};

/// Slots in the time in which every page is visited once.
const SLOTS_PER_ROUND: f64 = 2_048.0;
/// Pages looked at for one visit: those whose time has not come at today's price are filed anew.
const LOOKS_MAX: usize = 8;

/// Pages that are fetched from memory together: one after the other, each would be waited for.
const AHEAD: usize = 16;

/// Pages in memory: 16 bytes each, 4 to 8 more in the wheel.
struct Page {
    belief: Belief,
    last: f32,
    host: u32,
}

/// Replays histories with a budget of visits a day.
pub fn replay(course: Course<'_>, settings: SchedulerSettings) -> Scores {
    let Course { histories, days, from, .. } = course;
    let mut collection = ReplayedPages::new(histories, settings);
    let mut referee = Referee::new(histories, from, days);
    let visits = visits_within(settings.budget_per_day, days);
    for visit in 1..=visits {
        let now = (visit as f64 - 0.5) / settings.budget_per_day;
        collection.visit(now, |page| referee.visit(page, now));
    }
    referee.finish(settings.budget_per_day)
}

pub struct ReplayedPages {
    pages: Vec<Page>,
    hosts: Vec<HostStanding>,
    wheel: Wheel,
    scheduler: Scheduler,
    /// So many of the next pages were fetched ahead.
    ahead: usize,
}

impl ReplayedPages {
    pub fn new(histories: &Histories, settings: SchedulerSettings) -> ReplayedPages {
        let hosts = vec![HostStanding::default(); histories.hosts_len()];
        let of =
            |page| Page { belief: Belief::default(), last: 0.0, host: histories.host_of(page) };
        ReplayedPages::of(settings, hosts, (0..histories.len()).map(of).collect())
    }

    /// Pages of one host, all fetched at 0.
    pub fn fresh(pages: usize, settings: SchedulerSettings) -> ReplayedPages {
        let of = |_| Page { belief: Belief::default(), last: 0.0, host: 0 };
        ReplayedPages::of(settings, vec![HostStanding::default()], (0..pages).map(of).collect())
    }

    fn of(
        settings: SchedulerSettings,
        hosts: Vec<HostStanding>,
        pages: Vec<Page>,
    ) -> ReplayedPages {
        let round = pages.len() as f64 / settings.budget_per_day;
        // Nothing is known of these pages but that somebody found this budget fit for them.
        let scheduler = Scheduler::new(settings, 1.0 / round);
        let wheel = Wheel::new(round / SLOTS_PER_ROUND);
        let mut collection = ReplayedPages { pages, hosts, wheel, scheduler, ahead: 0 };
        for page in 0..collection.pages.len() {
            let subject = collection.subject(page);
            collection.scheduler.joined(&subject, 0.0);
        }
        for page in 0..collection.pages.len() {
            collection.wheel.file(page as u32, (1.0 - phase(page)) * round);
        }
        collection
    }

    fn subject(&self, page: usize) -> ScheduledPage {
        let Page { belief, host, .. } = self.pages[page];
        let host = self.hosts[host as usize];
        ScheduledPage { id: page as u64, belief, host, weight: 1.0, days_max: f64::INFINITY }
    }

    fn fetch_ahead(&mut self) {
        if self.ahead == 0 {
            let coming = self.wheel.coming(AHEAD);
            let read = coming.iter().map(|page| self.pages[*page as usize].last).sum::<f32>();
            std::hint::black_box(read);
            self.ahead = coming.len().max(1);
        }
        self.ahead -= 1;
    }

    /// Visits the page that is due first; `changed` tells what the visit finds.
    pub fn visit(&mut self, now: f64, changed: impl FnOnce(usize) -> bool) {
        let mut looks = 0;
        let (page, due, wait, subject) = loop {
            self.fetch_ahead();
            let Some((page, slot_end)) = self.wheel.take() else { return };
            let subject = self.subject(page as usize);
            let last = f64::from(self.pages[page as usize].last);
            looks += 1;
            // Its first visit is placed by its phase, to spread the work.
            let is_first = last == 0.0;
            let waited = slot_end - last;
            if is_first || looks >= LOOKS_MAX || self.scheduler.is_due(&subject, waited) {
                break (page, if is_first { now } else { slot_end }, waited, subject);
            }
            let wait = self.scheduler.wait(&subject);
            self.wheel.file(page, last + wait);
        };
        let t = now - f64::from(self.pages[page as usize].last);
        let seen =
            if changed(page as usize) { VisitFinding::Changed } else { VisitFinding::Unchanged };
        let host = self.pages[page as usize].host as usize;
        let visit = Visit { at: now, after: t, seen, wait, lag: now - due };
        let (belief, standing) = self.scheduler.visited(&subject, visit);
        self.hosts[host] = standing;
        let held = &mut self.pages[page as usize];
        (held.belief, held.last) = (belief, now as f32);
        let wait = self.scheduler.wait(&self.subject(page as usize));
        self.wheel.file(page, now + wait);
    }
}
