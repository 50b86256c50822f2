//! A host's template: the blocks that recur on its pages.
//!
//! A menu, a footer, a notice says the same on every page of a site, which one page alone cannot
//! tell. For each host a table of fixed size counts on how many pages a block's exact text was
//! seen. Recurring is evidence, never a verdict: a forum's quotes and a shop's product names recur
//! too, so it moves a block's odds and cuts nothing.
//!
//! No clock, no allocation after the first page: pages are numbered as they come, and a block that
//! was not seen for long gives up its place.

/// Blocks remembered of a host: 4,096 places of 8 bytes.
const PLACES: usize = 4096;
/// Places that a block may stand in.
const WAYS: usize = 4;
/// Pages after which counts are halved, so that a new design is learned.
const PAGES_MAX: u16 = 256;
/// Log-odds that a block which was on the one page before loses: of the words of noise 46 % recur
/// on another page of their host, of those of content 0.6 %, and that is how much likelier noise
/// is. What was on more pages loses more, by the logarithm of how many: content hardly recurs
/// twice.
const RECURRING_LOG_ODDS: f32 = 4.3;
/// Pages that must be known before recurring means anything.
const PAGES_MIN: u16 = 1;

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The upper half of a block's hash; 0 if the place is free.
    tag: u32,
    pages: u16,
    last: u16,
}

/// The blocks that recur on a host's pages.
#[derive(Clone, Debug)]
pub struct HostTemplate {
    places: Box<[Place]>,
    pages: u16,
    /// The number of the page that came last.
    now: u16,
}

impl Default for HostTemplate {
    fn default() -> HostTemplate {
        HostTemplate::new()
    }
}

impl HostTemplate {
    /// A host of which nothing is known.
    pub fn new() -> HostTemplate {
        let places = vec![Place::default(); PLACES].into_boxed_slice();
        HostTemplate { places, pages: 0, now: 0 }
    }

    /// Bytes that a template takes, whatever it has seen.
    pub const fn bytes() -> usize {
        PLACES * size_of::<Place>() + size_of::<HostTemplate>()
    }

    /// Takes in the blocks of one more page, as [`Extracted::blocks`](super::Extracted) has them.
    pub fn learn(&mut self, blocks: &[u64]) {
        self.now = self.now.wrapping_add(1);
        self.pages += 1;
        for &block in blocks {
            self.count(block);
        }
        if self.pages >= PAGES_MAX {
            self.pages /= 2;
            self.places.iter_mut().for_each(|place| place.pages = place.pages.div_ceil(2));
        }
    }

    fn count(&mut self, block: u64) {
        let (tag, now) = (tag(block), self.now);
        let set = &mut self.places[set(block)..][..WAYS];
        if let Some(place) = set.iter_mut().find(|place| place.tag == tag) {
            if place.last != now {
                place.pages += 1;
                place.last = now;
            }
            return;
        }
        // The oldest goes, and among the old the one seen on fewest pages.
        let age = |place: &Place| now.wrapping_sub(place.last);
        let worth = |place: &Place| {
            (place.tag != 0, u32::from(place.pages) * 8 / (u32::from(age(place)) + 8), !age(place))
        };
        if let Some(place) = set.iter_mut().min_by_key(|place| worth(place)) {
            *place = Place { tag, pages: 1, last: now };
        }
    }

    /// On which part of the pages a block was seen.
    pub fn share(&self, block: u64) -> f32 {
        if self.pages < PAGES_MIN {
            return 0.0;
        }
        f32::from(self.pages_with(block)) / f32::from(self.pages)
    }

    fn pages_with(&self, block: u64) -> u16 {
        let set = &self.places[set(block)..][..WAYS];
        let pages = set.iter().find(|place| place.tag == tag(block)).map_or(0, |p| p.pages);
        pages.min(self.pages)
    }

    /// What a block's odds lose by recurring.
    pub(super) fn log_odds(&self, block: u64) -> f32 {
        let pages = f32::from(self.pages_with(block).max(1));
        -(RECURRING_LOG_ODDS + pages.ln()) * self.share(block)
    }
}

fn tag(block: u64) -> u32 {
    ((block >> 32) as u32).max(1)
}

fn set(block: u64) -> usize {
    block as usize % (PLACES / WAYS) * WAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_on_every_page_stands_out_and_the_table_never_grows() {
        let mut template = HostTemplate::new();
        let block = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (n << 7);
        for page in 0..1_000_u64 {
            // A menu of twenty blocks on every page, forty blocks of its own.
            let own = 1_000 + page * 40..1_040 + page * 40;
            let blocks: Vec<u64> = (0..20).chain(own).map(block).collect();
            template.learn(&blocks);
        }
        for menu in 0..20 {
            assert!(template.share(block(menu)) > 0.9, "{}", template.share(block(menu)));
        }
        let stale = (1_000..41_000).filter(|n| template.share(block(*n)) > 0.05).count();
        assert_eq!(stale, 0);
        assert!(HostTemplate::bytes() <= 40_000);
    }
}
