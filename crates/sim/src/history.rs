//! What the watch would know had a power cut taken back what it took: all that happened, in order,
//! and what of it is safe. What one partition loses, the others have still seen.

use crate::power::Left;
use crate::written::WrittenState;
use rhumb_engine::event::Row;
use rhumb_engine::outcome::FetchReport;
use rhumb_page::url::Url;
use std::collections::VecDeque;
use std::rc::Rc;

pub struct History {
    /// As of the last moment up to which all is safe.
    base: WrittenState,
    since: VecDeque<Happened>,
}

struct Happened {
    part: u32,
    what: PageChange,
    is_safe: bool,
}

pub enum PageChange {
    /// The web answered a page. Not on any disk: what the watch needs to understand the commits.
    Answered(Url, Box<FetchReport>),
    Archived(Url),
    Commit(Rc<Vec<Row>>),
    /// The process died.
    Died,
    /// The rules of this run are in force.
    Began(usize),
}

impl History {
    pub fn new(base: WrittenState) -> History {
        History { base, since: VecDeque::new() }
    }

    pub fn push(&mut self, part: u32, what: PageChange) {
        let is_safe = matches!(what, PageChange::Died | PageChange::Began(_));
        self.since.push_back(Happened { part, what, is_safe });
    }

    pub fn synced_archive(&mut self, part: u32) {
        self.make_safe(part, |what| matches!(what, PageChange::Archived(_)));
    }

    pub fn synced_state(&mut self, part: u32) {
        self.make_safe(part, |what| !matches!(what, PageChange::Archived(_)));
    }

    fn make_safe(&mut self, part: u32, is_meant: fn(&PageChange) -> bool) {
        let of_part = self.since.iter_mut().filter(|happened| happened.part == part);
        of_part.filter(|happened| is_meant(&happened.what)).for_each(|h| h.is_safe = true);
        self.move_base();
    }

    fn move_base(&mut self) {
        while self.since.front().is_some_and(|happened| happened.is_safe) {
            let happened = self.since.pop_front().expect("just seen");
            happened.apply(&mut self.base);
        }
    }

    /// The first so many of what was not safe of a partition are.
    pub fn shipped(&mut self, part: u32, mut bodies: u64, mut commits: u64) {
        for happened in self.since.iter_mut().filter(|h| h.part == part && !h.is_safe) {
            happened.is_safe = match happened.what {
                PageChange::Archived(_) => take_one(&mut bodies),
                PageChange::Commit(_) => take_one(&mut commits),
                _ => commits > 0,
            };
        }
        self.move_base();
    }

    /// Of what was not safe of a partition, so much is left, and safe; what is known then.
    pub fn cut(&mut self, part: u32, left: &Left) -> WrittenState {
        self.take_back(part, left, true)
    }

    /// Of what was not safe of a partition, so much is left; what is known then.
    pub fn take_back(&mut self, part: u32, left: &Left, is_safe: bool) -> WrittenState {
        let Left { mut bodies, mut commits } = *left;
        let mut is_lost = false;
        self.since.retain_mut(|happened| {
            if happened.part != part || happened.is_safe {
                return true;
            }
            happened.is_safe = is_safe;
            match happened.what {
                PageChange::Archived(_) => take_one(&mut bodies),
                PageChange::Commit(_) => {
                    is_lost |= !take_one(&mut commits);
                    !is_lost
                }
                PageChange::Answered(..) => !is_lost,
                PageChange::Died | PageChange::Began(_) => true,
            }
        });
        self.push(part, PageChange::Died);
        let mut written = self.base.clone();
        self.since.iter().for_each(|happened| happened.apply(&mut written));
        written
    }
}

fn take_one(left: &mut u64) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}

impl Happened {
    /// The watch has complained already, when it happened.
    fn apply(&self, written: &mut WrittenState) {
        match &self.what {
            PageChange::Answered(url, report) => written.answered(self.part, url, report),
            PageChange::Archived(url) => written.archived(url),
            PageChange::Commit(rows) => rows.iter().for_each(|row| {
                written.row(self.part, row);
            }),
            PageChange::Died => written.oracle.crashed(self.part),
            PageChange::Began(run) => written.oracle.begin_run(*run),
        }
    }
}
