//! What fetches taught about the patterns of a host: how much that is new each of them brings.
//!
//! A pattern is the URLs of one host with one [`Shape`]. A fetch of it is *fresh* if it brought
//! content that nobody had, *barren* if it did not: the bytes or nearly the text of another page,
//! the same visible text as its neighbours but for numbers and dates, a 4xx, a redirect to what our
//! rules refuse. A pattern may have [`BARREN_MIN`] barren fetches, and [`BARREN_PER_FRESH`] more
//! for each fresh one: so one that is worth anything is never held back, and one that is worth
//! nothing costs a bounded number of requests. Before that, as soon as its yield looks low, what
//! waits of it comes last.
//!
//! Two more things make a pattern come last, and nothing else: its URLs redirect, as short links
//! do; or the site's own sitemap lists pages of other patterns and none of this one, as it does
//! with a blog's archives by day.
//!
//! A host has a bounded number of patterns. Those for which there is no room share one place. URLs
//! of plain words are a pattern by their depth, with more room than others, for honest trees have
//! such names.

use super::shape::Shape;
use serde::{Deserialize, Serialize};

/// Barren fetches that a pattern may have whatever it brings.
pub const BARREN_MIN: u32 = 48;
/// … and so many more for each fetch that brought something: above a yield of one in 17 nothing is
/// ever held back.
pub const BARREN_PER_FRESH: u32 = 16;
/// After so many fetches a pattern may be found to bring little: …
const LOOKED_AT: u32 = 8;
/// … less than one fresh page in so many.
const LITTLE: u32 = 4;
/// Pages with patterns that a sitemap lists: where there are so few it may list anything.
const LISTED_MIN: u32 = 16;
/// Patterns of one host; hosts that are no trap have seldom more than a few dozen.
pub const PATTERNS_MAX: usize = 48;
/// Where those go for which there is no room. No pattern's own, but by a chance of one in 2^32.
const OTHERS: Shape = Shape(0);
/// All other patterns of a host together are given the room of so many.
const OTHERS_COUNT: u32 = 8;
/// A pattern of plain words is given the room of so many.
const WORDS_COUNT: u32 = 4;
/// Patterns of plain words that a host has beside the others.
const WORDS_MAX: usize = 6;
/// The last texts of a pattern, to know the same one again.
const TEXTS: usize = 3;

/// What a fetch brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    Fresh,
    Barren,
    /// It led elsewhere: that may be new, but the way to it is one request more.
    Detour,
    /// It says nothing of the pattern: a failure, or a copy of another host's page.
    Nothing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternYield {
    pub fresh: u32,
    pub barren: u32,
    texts: [u32; TEXTS],
    pub detours: u32,
    /// Pages that a sitemap lists; they are not among those above.
    pub listed: u32,
}

impl PatternYield {
    fn is_spent(&self, share: u32) -> bool {
        let allowed = BARREN_MIN.saturating_mul(share);
        self.barren >= allowed.saturating_add(BARREN_PER_FRESH.saturating_mul(self.fresh))
    }

    fn all(&self) -> u32 {
        self.fresh.saturating_add(self.barren).saturating_add(self.detours)
    }

    fn is_low(&self) -> bool {
        self.all() >= LOOKED_AT && self.fresh.saturating_mul(LITTLE) < self.all()
    }
}

/// The patterns of a host, in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patterns(Vec<(Shape, PatternYield)>);

impl Patterns {
    /// An upper bound on the heap that the patterns of one host take.
    pub const HEAP_BYTES_MAX: usize =
        2 * (PATTERNS_MAX + 1 + WORDS_MAX) * size_of::<(Shape, PatternYield)>();

    pub fn heap_bytes(&self) -> usize {
        self.0.capacity() * size_of::<(Shape, PatternYield)>()
    }

    /// What is known of a pattern, or of all those together that it is among.
    pub fn of(&self, shape: Shape) -> Option<&PatternYield> {
        self.place(shape).map(|at| &self.0[at].1)
    }

    fn place(&self, shape: Shape) -> Option<usize> {
        let at = |wanted: Shape| self.0.iter().position(|(shape, _)| *shape == wanted);
        let shared = || if self.is_full() { at(OTHERS) } else { None };
        at(shape).or_else(|| if shape.is_of_words() { None } else { shared() })
    }

    /// Whether there is no room for another pattern of its own. Those of words never fill it.
    fn is_full(&self) -> bool {
        let words = || self.0.iter().filter(|(shape, _)| shape.is_of_words()).count();
        self.0.len() >= PATTERNS_MAX && self.0.len() - words() >= PATTERNS_MAX
    }

    /// Nothing more of this pattern is worth a request.
    pub fn is_spent(&self, shape: Shape) -> bool {
        let Some(at) = self.place(shape) else { return false };
        let (of, brought) = &self.0[at];
        brought.is_spent(match *of {
            OTHERS => OTHERS_COUNT,
            shape if shape.is_of_words() => WORDS_COUNT,
            _ => 1,
        })
    }

    /// It brings so little that it comes last, or the site does not list it among its pages.
    pub fn is_low(&self, shape: Shape) -> bool {
        self.of(shape).is_some_and(|brought| brought.is_low() || self.leaves_out(brought))
    }

    fn leaves_out(&self, brought: &PatternYield) -> bool {
        let looks_so = brought.listed == 0 && brought.all() >= LOOKED_AT;
        let listed = || self.0.iter().map(|(_, brought)| brought.listed);
        looks_so && listed().fold(0, u32::saturating_add) >= LISTED_MIN
    }

    /// Whether a page of this pattern has the visible text of one of the last: remembers it if not.
    pub fn knows_text(&mut self, shape: Shape, text: u32) -> bool {
        let texts = &mut self.entry(shape).texts;
        if texts.contains(&text) {
            return true;
        }
        texts.rotate_right(1);
        texts[0] = text;
        false
    }

    pub fn learn(&mut self, shape: Shape, brought: Brought) {
        if brought == Brought::Nothing {
            return;
        }
        let entry = self.entry(shape);
        let count = match brought {
            Brought::Fresh => &mut entry.fresh,
            Brought::Detour => &mut entry.detours,
            Brought::Barren | Brought::Nothing => &mut entry.barren,
        };
        *count = count.saturating_add(1);
    }

    /// A sitemap or a feed lists a page of this pattern.
    pub fn lists(&mut self, shape: Option<Shape>) {
        if let Some(shape) = shape {
            let entry = self.entry(shape);
            entry.listed = entry.listed.saturating_add(1);
        }
    }

    fn entry(&mut self, shape: Shape) -> &mut PatternYield {
        let at = match self.place(shape) {
            Some(at) => at,
            None => {
                let has_room = shape.is_of_words() || !self.is_full();
                let shape = if has_room { shape } else { OTHERS };
                self.0.push((shape, PatternYield::default()));
                self.0.len() - 1
            }
        };
        &mut self.0[at].1
    }

    /// All patterns, for those who want to see them.
    pub fn iter(&self) -> impl Iterator<Item = (Shape, &PatternYield)> {
        self.0.iter().map(|(shape, brought)| (*shape, brought))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_brings_nothing_is_spent_and_one_that_brings_a_little_never() {
        let mut patterns = Patterns::default();
        let (dull, poor) = (Shape(101), Shape(102));
        let fetched = (0..).take_while(|_| {
            let goes_on = !patterns.is_spent(dull);
            patterns.learn(dull, Brought::Barren);
            goes_on
        });
        assert_eq!(fetched.count() as u32, BARREN_MIN);
        assert!(patterns.is_low(dull));
        for n in 0..10_000 {
            assert!(!patterns.is_spent(poor), "after {n}");
            let is_fresh = n % BARREN_PER_FRESH == 0;
            patterns.learn(poor, if is_fresh { Brought::Fresh } else { Brought::Barren });
        }
    }

    #[test]
    fn what_only_redirects_and_what_a_sitemap_leaves_out_comes_last_and_is_never_spent() {
        let mut patterns = Patterns::default();
        let (short, archive, post) = (Shape(101), Shape(102), Shape(103));
        let learn = |patterns: &mut Patterns, shape, brought, times| {
            (0..times).for_each(|_| patterns.learn(shape, brought));
        };
        learn(&mut patterns, short, Brought::Detour, 1_000);
        assert!(patterns.is_low(short) && !patterns.is_spent(short));
        learn(&mut patterns, archive, Brought::Fresh, 1_000);
        (1..LISTED_MIN).for_each(|_| patterns.lists(Some(post)));
        assert!(!patterns.is_low(archive));
        patterns.lists(Some(post));
        assert!(patterns.is_low(archive) && !patterns.is_spent(archive));
        assert!(!patterns.is_low(post));
        patterns.lists(Some(archive));
        assert!(!patterns.is_low(archive), "one of its pages is listed");
    }

    #[test]
    fn shapes_without_end_share_one_place_and_its_end() {
        let mut patterns = Patterns::default();
        let fetched = (101..100_000).take_while(|n| {
            patterns.learn(Shape(*n), Brought::Barren);
            !patterns.is_spent(Shape(n + 1))
        });
        let most = BARREN_MIN * OTHERS_COUNT + PATTERNS_MAX as u32;
        assert!(fetched.count() as u32 <= most);
        assert!(patterns.heap_bytes() <= Patterns::HEAP_BYTES_MAX);
        let mut texts = Patterns::default();
        assert!(!texts.knows_text(Shape(101), 5) && texts.knows_text(Shape(101), 5));
        assert!(!texts.knows_text(Shape(102), 5), "another pattern's text");
    }

    #[test]
    fn plain_words_have_a_place_of_their_own_however_many_patterns_there_are() {
        let (mut patterns, words) = (Patterns::default(), Shape(3));
        for n in 0..1_000 {
            patterns.learn(Shape(101 + n), Brought::Barren);
        }
        assert!(patterns.is_spent(Shape(5_000)), "all others share one place");
        let fetched = (0..).take_while(|_| {
            let goes_on = !patterns.is_spent(words);
            patterns.learn(words, Brought::Barren);
            goes_on
        });
        assert_eq!(fetched.count() as u32, BARREN_MIN * WORDS_COUNT);
        assert!(!patterns.is_spent(Shape(2)), "of another depth");
        assert!(patterns.heap_bytes() <= Patterns::HEAP_BYTES_MAX);
    }
}
