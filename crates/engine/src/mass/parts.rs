//! A page's links put together as the sieve answers for them, chunk by chunk.
//!
//! The discoveries of a page stand together in the outbox, so at most one page is in parts at any
//! time. Each part becomes a row in the commit that takes its chunk out of the outbox; parts of one
//! visit carry the number of its first chunk, so that those of an earlier visit are told apart.

use super::gaps;
use crate::discovery::Lead;
use crate::event::{Row, Step};
use crate::record::UrlId;
use serde::{Deserialize, Serialize};

/// A row: some of a page's links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkPart {
    /// The outbox chunk with the first of this visit's links.
    pub first: u64,
    /// There are no more.
    pub ends: bool,
    /// Numbers of URLs, as `gaps` codes them.
    pub gaps: Vec<u8>,
}

/// A page whose links are not all known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    pub page: u32,
    pub first: u64,
    pub parts: u16,
    pub ids: Vec<u32>,
    pub unnamed: u32,
}

/// A page all of whose links have numbers now, sorted and distinct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    pub page: u32,
    pub ids: Vec<u32>,
    pub unnamed: u32,
}

/// One page's links within a chunk, by number; copies of links to nowhere count once.
#[derive(Debug, Default)]
struct Run {
    ids: Vec<u32>,
    unknown: Vec<u32>,
}

impl Partial {
    pub fn is_some(&self) -> bool {
        self.parts > 0
    }

    fn take(&mut self, first: u64, unnamed: u32, ids: &[u32]) {
        self.first = first;
        self.parts = self.parts.saturating_add(1);
        self.ids.extend_from_slice(ids);
        self.unnamed = self.unnamed.saturating_add(unnamed);
    }

    pub fn whole(self) -> Whole {
        let Partial { page, mut ids, unnamed, .. } = self;
        ids.sort_unstable();
        ids.dedup();
        Whole { page, ids, unnamed }
    }

    /// Takes part in what a page's rows say, as they are read at opening: parts in order.
    pub fn restore(&mut self, page: u32, number: u16, part: &LinkPart) -> Option<Whole> {
        let mut ids = Vec::new();
        let (unnamed, _) = gaps::decode(&part.gaps, &mut ids)?;
        let goes_on =
            self.is_some() && (self.page, self.parts, self.first) == (page, number, part.first);
        if number == 0 {
            *self = Partial { page, ..Partial::default() };
        } else if !goes_on {
            return None;
        }
        self.take(part.first, unnamed, &ids);
        part.ends.then(|| std::mem::take(self).whole())
    }
}

/// The row of a page that has no links at all.
pub fn none(page: UrlId) -> Row {
    let mut gaps = Vec::new();
    gaps::encode(&[], 0, &mut gaps);
    Row::Links { page, part: 0, links: LinkPart { first: 0, ends: true, gaps } }
}

/// The row of a page whose links all have numbers, and the page; `first` as in [`LinkPart`].
pub fn whole(page: u32, first: u64, mut ids: Vec<u32>) -> (Row, Whole) {
    ids.sort_unstable();
    ids.dedup();
    let mut gaps = Vec::with_capacity(ids.len() * 2 + 4);
    gaps::encode(&ids, 0, &mut gaps);
    let links = LinkPart { first, ends: true, gaps };
    let row = Row::Links { page: UrlId(u64::from(page)), part: 0, links };
    (row, Whole { page, ids, unnamed: 0 })
}

/// Turns one sifted chunk into rows, and into pages whose links are all known. `goals` are those of
/// the links that were sifted.
pub fn assemble(
    partial: &mut Partial,
    (number, chunk): (u64, &[Lead]),
    mut goals: impl Iterator<Item = Goal>,
    step: &mut Step,
    whole: &mut Vec<Whole>,
) {
    let mut at = 0;
    while at < chunk.len() {
        let Some(from) = chunk[at].from() else {
            at += 1;
            goals.next();
            continue;
        };
        let mut run = Run::default();
        let mut ends = false;
        while let Some(origin) = chunk.get(at).and_then(Lead::from).filter(|o| o.page == from.page)
        {
            match &chunk[at] {
                Lead::Known { links, .. } => run.ids.extend_from_slice(links.ids()),
                Lead::New(_) => run.take(goals.next()),
            }
            at += 1;
            ends = origin.ends;
            if ends {
                break;
            }
        }
        if partial.page != from.page || !partial.is_some() {
            *partial = Partial { page: from.page, first: number, ..Partial::default() };
        }
        let (part, unnamed, ids) = run.part(partial.first, ends);
        let (first, number) = (part.first, partial.parts);
        step.rows.push(Row::Links { page: UrlId(u64::from(from.page)), part: number, links: part });
        partial.take(first, unnamed, &ids);
        if ends {
            whole.push(std::mem::take(partial).whole());
        }
    }
}

/// What a link of a page leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Known(u32),
    /// A URL that is not followed and has no number; which one, within this answer.
    Unknown(u32),
    /// Scope or filters leave it out.
    Outside,
}

impl Run {
    fn take(&mut self, goal: Option<Goal>) {
        match goal.expect("each link that was sifted leads somewhere") {
            Goal::Known(id) => self.ids.push(id),
            Goal::Unknown(which) => self.unknown.push(which),
            Goal::Outside => {}
        }
    }

    fn part(mut self, first: u64, ends: bool) -> (LinkPart, u32, Vec<u32>) {
        for list in [&mut self.ids, &mut self.unknown] {
            list.sort_unstable();
            list.dedup();
        }
        let unnamed = self.unknown.len() as u32;
        let mut gaps = Vec::with_capacity(self.ids.len() * 2 + 4);
        gaps::encode(&self.ids, unnamed, &mut gaps);
        (LinkPart { first, ends, gaps }, unnamed, self.ids)
    }
}
