//! The engine weighs what comes up by what its pattern has brought, and learns from what comes.

use super::learnt::Brought;
use super::shape::Shape;
use crate::admit::{self, AdmissionCandidate};
use crate::books::{UrlHost, UrlPosition};
use crate::engine::Engine;
use crate::event::Step;
use crate::host::STRANGERS_PART;
use crate::order::CLASS_LAST;
use crate::outcome::{FetchReport, Outcome, PageContent};
use crate::queue::{Entry, Place};
use crate::record::{Refusal, Role, UrlRecord};
use rhumb_page::url::{HostKey, Url};

/// What is to become of a URL that comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    Now,
    /// When nothing better waits.
    Last,
    Never,
}

/// Parameters by which a long list is told in pieces: a piece is no copy of the first, whatever its
/// canonical link says.
const PAGES: [&str; 8] = ["page", "p", "pg", "paged", "start", "offset", "from", "skip"];

impl Engine {
    /// `had_turns`: how much of its host's budget is spent.
    pub(crate) fn worth(
        &mut self,
        slot: u32,
        place: Place,
        entry: &Entry,
        had_turns: u64,
    ) -> Worth {
        if self.is_strangers_turn_over(place, entry, had_turns) {
            return Worth::Last;
        }
        if self.config.traps.lifted.has(Refusal::Pattern) {
            return Worth::Now;
        }
        let is_listed = entry.record.found_on.is_listed();
        let Some(shape) = shape(entry).filter(|_| !is_listed) else { return Worth::Now };
        let patterns = &self.frontier.awake.at(slot).record.patterns;
        match place {
            _ if patterns.is_spent(shape) => Worth::Never,
            Place::Now { class, .. } if class < CLASS_LAST && patterns.is_low(shape) => Worth::Last,
            _ => Worth::Now,
        }
    }

    /// Whether what other sites name of the host has had its part of the host's budget: whoever
    /// invents URLs of a host takes no page from it.
    fn is_strangers_turn_over(&self, place: Place, entry: &Entry, had_turns: u64) -> bool {
        let Some(max) = self.config.host_pages_max else { return false };
        let is_before_last = matches!(place, Place::Now { class, .. } if class < CLASS_LAST);
        let is_strange = entry.record.found_on.is_strange() && entry.record.role == Role::Page;
        is_before_last && is_strange && had_turns >= max / STRANGERS_PART
    }

    /// Files a URL that came up behind all others.
    pub(crate) fn put_last(&mut self, slot: u32, old: Place, entry: Entry, step: &mut Step) {
        let id = entry.record.id.0;
        let place = Place::Now { class: CLASS_LAST, rank: id, id };
        let was = UrlPosition::at(old, &entry.record);
        let host = UrlHost::Awake(self.frontier.awake.at(slot));
        self.books.put(host, was, entry, Some(place), &mut step.rows);
        self.frontier.mark_dirty(slot);
    }

    /// Learns what a fetch brought to its pattern. `copied`: the page whose bytes or text it has.
    pub(crate) fn learn_pattern(
        &mut self,
        slot: u32,
        entry: &Entry,
        report: &FetchReport,
        copied: Option<&Url>,
    ) {
        let Some(shape) = shape(entry) else { return };
        let brought = match &report.outcome {
            _ if entry.record.found_on.is_listed() => Brought::Nothing,
            Outcome::Page(page) => self.brought(slot, (shape, entry), page, copied),
            // A dead link has no links: it makes no paths, and the owner wants to hear of it.
            Outcome::Gone if shape.is_of_words() => Brought::Nothing,
            Outcome::Gone => Brought::Barren,
            Outcome::Moved { .. } if shape.is_of_words() => Brought::Nothing,
            Outcome::Moved { to: Some(to) } => self.brought_redirect(slot, &entry.url, to),
            _ => Brought::Nothing,
        };
        self.frontier.awake.at(slot).record.patterns.learn(shape, brought);
    }

    fn brought(
        &mut self,
        slot: u32,
        (shape, entry): (Shape, &Entry),
        page: &PageContent,
        copied: Option<&Url>,
    ) -> Brought {
        let own = entry.url.host_key();
        match copied {
            Some(of) if of.host_key() == own => return Brought::Barren,
            // Another host may have copied from this one: that is nothing against it.
            Some(_) => return Brought::Nothing,
            None => {}
        }
        if page.canonical.as_ref().is_some_and(|other| drops_parameters(&entry.url, other)) {
            return Brought::Barren;
        }
        let patterns = &mut self.frontier.awake.at(slot).record.patterns;
        match page.alike {
            Some(text) if patterns.knows_text(shape, text) => Brought::Barren,
            _ => Brought::Fresh,
        }
    }

    /// A redirect to what is refused as a trap or junk leads nowhere; to anything else it may.
    fn brought_redirect(&mut self, slot: u32, from: &Url, to: &Url) -> Brought {
        let found = AdmissionCandidate {
            url: to,
            is_seed: false,
            role: Role::Page,
            depth: 0,
            hops: 0,
            host_spent: 0,
        };
        if admit::admit(&self.config, found).is_err_and(Refusal::is_liftable) {
            return Brought::Barren;
        }
        let own: HostKey = from.host_key();
        let patterns = &self.frontier.awake.at(slot).record.patterns;
        let is_dull = |shape: Shape| patterns.is_spent(shape);
        match Shape::of(to).filter(|_| to.host_key() == own).is_some_and(is_dull) {
            true => Brought::Barren,
            false => Brought::Detour,
        }
    }
}

/// The shape of a page that a sitemap or a feed lists.
pub(crate) fn listed(url: &Url, record: &UrlRecord) -> Option<Shape> {
    let is_listed = record.role == Role::Page && record.found_on.is_listed();
    if is_listed { Shape::of(url) } else { None }
}

/// The shape of a URL that says something of its pattern: a page that was never seen, and that no
/// person named. Those that a sitemap or a feed lists are not weighed themselves: a bodies's
/// products may differ in a number and a price alone.
fn shape(entry: &Entry) -> Option<Shape> {
    let record = &entry.record;
    let is_seed = record.depth == 0 && record.hops == 0 && !record.found_on.is_listed();
    let is_first = record.past.visited.is_none();
    let is_weighed = record.role == Role::Page && is_first && !is_seed;
    if !is_weighed {
        return None;
    }
    Shape::of(&entry.url).or_else(|| Shape::of_words(&entry.url))
}

/// Whether a page names itself without some of its parameters as the one to be known by.
fn drops_parameters(url: &Url, canonical: &Url) -> bool {
    let Some(query) = url.query() else { return false };
    if url.host_key() != canonical.host_key() || url.path() != canonical.path() {
        return false;
    }
    let kept: Vec<&str> = canonical.query().unwrap_or_default().split('&').collect();
    let mut dropped = query.split('&').filter(|pair| !kept.contains(pair)).peekable();
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_owned();
    dropped.peek().is_some() && dropped.all(|pair| !PAGES.contains(&name(pair).as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canonical_link_without_parameters_says_that_a_page_is_a_copy_but_not_of_the_next_piece() {
        let drops = |url: &str, canonical: &str| {
            let parse = |path: &str| Url::parse(&format!("http://a.test{path}")).unwrap();
            drops_parameters(&parse(url), &parse(canonical))
        };
        assert!(drops("/list?sort=price", "/list"));
        assert!(drops("/list?sort=price&page=2", "/list?page=2"));
        assert!(!drops("/list?page=2", "/list"));
        assert!(!drops("/list?sort=price", "/list?sort=price"));
        assert!(!drops("/list", "/"));
    }
}
