//! What surrounds a block: sums over the boxes it stands in, its likes elsewhere on the page, and
//! the page as a whole. Computed once for a page, in passes linear in its elements and blocks.

use std::ops::Range;

use super::blocks::{Block, Blocks};
use super::outline::Role;
use super::plateau::plateau;
use super::tally::Tally;

/// Sums over what an element holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub mass: u32,
    pub link_mass: u32,
    pub marks: u32,
    pub blocks: u32,
    /// The mass of its blocks that read like sentences.
    pub good: u32,
    /// The first of its blocks.
    pub first: u32,
}

/// Levels of boxes around a block that are looked at.
pub(super) const LEVELS: usize = 4;
/// Likes among siblings that make an element one of a series.
const SERIES_MIN: u32 = 3;

pub(super) struct Surroundings {
    pub held: Vec<Held>,
    /// For each element the nearest one around it that holds half as much again.
    pub larger: Vec<u32>,
    /// For each element the nearest one, itself included, that is one of a series.
    pub one_of: Vec<u32>,
    /// Blocks by the path of their element.
    pub paths: Tally,
    pub path_of: Vec<Option<u32>>,
    /// Blocks by what they say.
    pub says: Tally,
    pub says_of: Vec<Option<u32>>,
    /// Series: siblings of one kind.
    pub series: Tally,
    pub series_of: Vec<Option<u32>>,
    /// The series with the most mass that is not links, weighed by its length.
    pub largest_series: Option<u32>,
    pub plateau: Range<usize>,
    /// The smallest elements that hold half and three quarters of the text that reads like
    /// sentences: the elements they reach to, by their number.
    pub centre_half: Range<u32>,
    pub centre_most: Range<u32>,
    /// Sums of mass and link mass of the blocks before each.
    pub mass_before: Vec<u32>,
    pub link_mass_before: Vec<u32>,
    pub marks_before: Vec<u32>,
}

impl Surroundings {
    pub(super) fn of(page: &Blocks<'_>) -> Surroundings {
        let held = held(page);
        let larger = larger(page, &held);
        let mut series = Tally::new(page.outline.elements.len());
        let (series_of, one_of) = series_among(page, &held, &mut series);
        let largest_series = series.largest(SERIES_MIN);
        let (paths, path_of) =
            tallied(page, |block| page.outline.elements[block.element as usize].path);
        let (says, says_of) = tallied(page, |block| block.hash);
        let before = |of: fn(&Block) -> u32| {
            let mut sum = 0_u32;
            let mut sums = Vec::with_capacity(page.blocks.len() + 1);
            sums.push(0);
            for block in &page.blocks {
                sum = sum.saturating_add(of(block));
                sums.push(sum);
            }
            sums
        };
        Surroundings {
            centre_half: centre(page, &held, 2),
            centre_most: centre(page, &held, 3),
            plateau: plateau(&page.blocks),
            mass_before: before(|block| block.count.mass),
            link_mass_before: before(|block| block.link_mass),
            marks_before: before(|block| block.count.marks),
            held,
            larger,
            one_of,
            paths,
            path_of,
            says,
            says_of,
            series,
            series_of,
            largest_series,
        }
    }
}

/// Whether a block reads like sentences rather than labels.
fn is_good(page: &Blocks<'_>, block: &Block) -> bool {
    const MASS_MIN: u32 = 20;
    block.count.mass >= MASS_MIN
        && block.link_mass * 3 < block.count.mass
        && page.near(block, Role::Nav) == 0
        && page.near(block, Role::Footer) == 0
}

fn held(page: &Blocks<'_>) -> Vec<Held> {
    let mut held = vec![Held { first: u32::MAX, ..Held::default() }; page.outline.elements.len()];
    for (at, block) in page.blocks.iter().enumerate() {
        let sums = &mut held[block.element as usize];
        sums.mass += block.count.mass;
        sums.link_mass += block.link_mass;
        sums.marks += block.count.marks;
        sums.blocks += 1;
        sums.first = sums.first.min(at as u32);
        if is_good(page, block) {
            sums.good += block.count.mass;
        }
    }
    for at in (1..held.len()).rev() {
        let inner = held[at];
        let outer = &mut held[page.outline.elements[at].parent as usize];
        outer.mass += inner.mass;
        outer.link_mass += inner.link_mass;
        outer.marks += inner.marks;
        outer.blocks += inner.blocks;
        outer.good += inner.good;
        outer.first = outer.first.min(inner.first);
    }
    held
}

fn larger(page: &Blocks<'_>, held: &[Held]) -> Vec<u32> {
    let elements = &page.outline.elements;
    let mut larger = vec![0; elements.len()];
    for at in 1..elements.len() {
        let enough = u64::from(held[at].mass) * 3;
        let mut outer = elements[at].parent;
        while outer != 0 && u64::from(held[outer as usize].mass) * 2 < enough {
            outer = elements[outer as usize].parent;
        }
        larger[at] = outer;
    }
    larger
}

fn series_among(
    page: &Blocks<'_>,
    held: &[Held],
    series: &mut Tally,
) -> (Vec<Option<u32>>, Vec<u32>) {
    let elements = &page.outline.elements;
    let mut places = vec![None; elements.len()];
    for (at, element) in elements.iter().enumerate().skip(1) {
        if held[at].mass == 0 {
            continue;
        }
        let key = u64::from(element.parent) << 32 | u64::from(element.signature);
        places[at] = series.place(key);
        if let Some(place) = places[at] {
            let sums = series.at(place);
            sums.count += 1;
            sums.mass += held[at].mass;
            sums.link_mass += held[at].link_mass;
            if sums.count == 1 {
                sums.first = at as u32;
            }
        }
    }
    let mut one_of = vec![0; elements.len()];
    for (at, element) in elements.iter().enumerate().skip(1) {
        let is_one = series.get(places[at]).count >= SERIES_MIN;
        one_of[at] = if is_one { at as u32 } else { one_of[element.parent as usize] };
    }
    (places, one_of)
}

fn tallied(page: &Blocks<'_>, key: impl Fn(&Block) -> u64) -> (Tally, Vec<Option<u32>>) {
    let mut tally = Tally::new(page.blocks.len());
    let places = page.blocks.iter().enumerate().map(|(at, block)| {
        let place = tally.place(key(block))?;
        let sums = tally.at(place);
        if sums.count == 0 {
            sums.first = at as u32;
        }
        sums.count += 1;
        sums.mass += block.count.mass;
        sums.link_mass += block.link_mass;
        Some(place)
    });
    let places = places.collect();
    (tally, places)
}

/// The smallest element that holds all but 1/`part` of the good text, as the range of elements
/// within it.
fn centre(page: &Blocks<'_>, held: &[Held], part: u64) -> Range<u32> {
    let elements = &page.outline.elements;
    let all = u64::from(held[0].good);
    let is_enough = |at: usize| u64::from(held[at].good) * part > all * (part - 1);
    // An element with enough stands in one with enough, and the last one of the chain is smallest.
    let Some(centre) = (0..elements.len()).rev().find(|at| is_enough(*at)) else { return 0..0 };
    let depth = elements[centre].depth;
    let after = elements[centre + 1..].iter().position(|element| element.depth <= depth);
    let end = after.map_or(elements.len(), |after| centre + 1 + after);
    centre as u32..end as u32
}
