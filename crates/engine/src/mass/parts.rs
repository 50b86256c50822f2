//! A page's links put together as the sieve answers for them, chunk by chunk.
//!
//! The discoveries of a page stand together in the outbox, so at most one page is in parts at any
//! time. Each part becomes a row in the commit that takes its chunk out of the outbox; parts of one
//! visit carry the number of its first chunk, so that those of an earlier visit are told apart.

use super::gaps;
use super::surfer::{PushedLinks, Surfer, packed, unpack};
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
    /// Numbers of URLs, as `gaps` codes them; in a crawl with a topic the links without a number
    /// are counted by their weight.
    pub gaps: Vec<u8>,
    pub surfer: Surfer,
    /// In a crawl with a topic: of each URL, as `surfer` packs them.
    pub weights: Vec<u8>,
}

impl LinkPart {
    /// As crawls without a topic have them, and those of all formats before this one.
    pub fn without_topic(first: u64, ends: bool, gaps: Vec<u8>) -> LinkPart {
        LinkPart { first, ends, gaps, surfer: Surfer::USUAL, weights: Vec::new() }
    }
}

/// A page whose links are not all known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    pub page: u32,
    pub first: u64,
    pub parts: u16,
    /// Each with its weight.
    pub ids: Vec<(u32, u8)>,
    pub unnamed: u32,
    pub surfer: Surfer,
}

/// A page all of whose links have numbers now, sorted and distinct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedPage {
    pub page: u32,
    pub ids: Vec<u32>,
    /// As in [`PushedLinks`].
    pub weights: Vec<u8>,
    pub unnamed: u32,
    pub surfer: Surfer,
}

impl NumberedPage {
    fn of(page: u32, mut ids: Vec<(u32, u8)>, unnamed: u32, surfer: Surfer) -> NumberedPage {
        sort_distinct(&mut ids);
        let weights =
            if surfer.is_biased() { ids.iter().map(|(_, w)| *w).collect() } else { vec![] };
        NumberedPage {
            page,
            ids: ids.into_iter().map(|(id, _)| id).collect(),
            weights,
            unnamed,
            surfer,
        }
    }

    pub fn links(&self) -> PushedLinks<'_> {
        let NumberedPage { ids, weights, unnamed, surfer, .. } = self;
        PushedLinks { ids, weights, unnamed: *unnamed, surfer: *surfer }
    }

    fn row(&self, first: u64, ends: bool) -> LinkPart {
        let mut gaps = Vec::with_capacity(self.ids.len() * 2 + 4);
        gaps::encode(&self.ids, self.unnamed, &mut gaps);
        LinkPart { first, ends, gaps, surfer: self.surfer, weights: packed(&self.weights) }
    }
}

/// Of a link that is there more than once, the heaviest counts.
fn sort_distinct(ids: &mut Vec<(u32, u8)>) {
    ids.sort_unstable_by_key(|&(id, weight)| (id, std::cmp::Reverse(weight)));
    ids.dedup_by_key(|(id, _)| *id);
}

/// One page's links within a chunk, by number; copies of links to nowhere count once.
#[derive(Debug, Default)]
struct Run {
    ids: Vec<(u32, u8)>,
    unknown: Vec<(u32, u8)>,
}

impl Partial {
    pub fn is_some(&self) -> bool {
        self.parts > 0
    }

    fn take(&mut self, first: u64, part: &NumberedPage) {
        self.first = first;
        self.parts = self.parts.saturating_add(1);
        let weights = part.weights.iter().copied().chain(std::iter::repeat(0));
        self.ids.extend(part.ids.iter().copied().zip(weights));
        self.unnamed = self.unnamed.saturating_add(part.unnamed);
        self.surfer = part.surfer;
    }

    pub fn whole(self) -> NumberedPage {
        NumberedPage::of(self.page, self.ids, self.unnamed, self.surfer)
    }

    /// Takes part in what a page's rows say, as they are read at opening: parts in order.
    pub fn restore(&mut self, page: u32, number: u16, row: &LinkPart) -> Option<NumberedPage> {
        let mut part = NumberedPage { page, surfer: row.surfer, ..NumberedPage::default() };
        (part.unnamed, _) = gaps::decode(&row.gaps, &mut part.ids)?;
        if row.surfer.is_biased() {
            unpack(&row.weights, part.ids.len(), &mut part.weights);
        }
        let goes_on =
            self.is_some() && (self.page, self.parts, self.first) == (page, number, row.first);
        if number == 0 {
            *self = Partial { page, ..Partial::default() };
        } else if !goes_on {
            return None;
        }
        self.take(row.first, &part);
        row.ends.then(|| std::mem::take(self).whole())
    }
}

/// The row of a page that has no links at all, and the page.
pub fn none(page: u32, surfer: Surfer) -> (Row, NumberedPage) {
    let whole = NumberedPage { page, surfer, ..NumberedPage::default() };
    (row_of(&whole, 0), whole)
}

/// The row of a page whose links all have numbers, and the page; `first` as in [`LinkPart`].
pub fn whole(page: u32, first: u64, ids: Vec<(u32, u8)>, surfer: Surfer) -> (Row, NumberedPage) {
    let whole = NumberedPage::of(page, ids, 0, surfer);
    (row_of(&whole, first), whole)
}

fn row_of(whole: &NumberedPage, first: u64) -> Row {
    let links = whole.row(first, true);
    Row::Links { page: UrlId(u64::from(whole.page)), part: 0, links }
}

/// Turns one sifted chunk into rows, and into pages whose links are all known. `goals` are those of
/// the links that were sifted.
pub fn assemble(
    partial: &mut Partial,
    (number, chunk): (u64, &[Lead]),
    mut goals: impl Iterator<Item = Goal>,
    step: &mut Step,
    whole: &mut Vec<NumberedPage>,
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
                Lead::Known { links, .. } => run.ids.extend(links.weighted()),
                Lead::New(_) => run.take(goals.next(), origin.weight()),
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
        let part = run.part(from.page, from.surfer);
        let (first, number) = (partial.first, partial.parts);
        let links = part.row(first, ends);
        step.rows.push(Row::Links { page: UrlId(u64::from(from.page)), part: number, links });
        partial.take(first, &part);
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
    fn take(&mut self, goal: Option<Goal>, weight: u8) {
        match goal.expect("each link that was sifted leads somewhere") {
            Goal::Known(id) => self.ids.push((id, weight)),
            Goal::Unknown(which) => self.unknown.push((which, weight)),
            Goal::Outside => {}
        }
    }

    fn part(mut self, page: u32, surfer: Surfer) -> NumberedPage {
        sort_distinct(&mut self.unknown);
        let weight = |w: u8| if surfer.is_biased() { u32::from(w) + 1 } else { 1 };
        let unnamed = self.unknown.iter().map(|(_, w)| weight(*w)).sum();
        NumberedPage::of(page, self.ids, unnamed, surfer)
    }
}
