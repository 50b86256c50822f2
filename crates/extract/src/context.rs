//! A second look: what the first opinion of the table says about a block's surroundings.
//!
//! Z. Tu, "Auto-context and its application to high-level vision tasks" (2008): a second
//! classifier sees the features and the first one's opinion of the neighbours. It takes the place
//! of smoothing by hand: a caption between two paragraphs, a post among posts, a menu amid a page
//! that is all menus are told by what stands around them and by what is built alike.

use super::blocks::Blocks;
use super::features::{FEATURES, Matrix};
use super::forest::probability;
use super::surroundings::{LEVELS, Surroundings};

/// Features that the second look adds.
pub(super) const CONTEXT: usize = 1 + 6 + 3 + LEVELS + 3 + 4;
const NEIGHBOURS: [isize; 6] = [-3, -2, -1, 1, 2, 3];
const REACHES: [usize; 3] = [2, 6, 16];

/// Likely mass of content, and all mass.
#[derive(Clone, Copy, Default)]
struct Likely {
    content: f32,
    mass: f32,
}

impl Likely {
    fn add(&mut self, other: Likely) {
        self.content += other.content;
        self.mass += other.mass;
    }

    fn byte(self) -> u8 {
        if self.mass <= 0.0 { 0 } else { (255.0 * self.content / self.mass) as u8 }
    }
}

/// Writes the last columns of `matrix` from the first look's scores.
pub(super) fn write(page: &Blocks<'_>, around: &Surroundings, scores: &[f32], matrix: &mut Matrix) {
    let blocks = &page.blocks;
    let likely: Vec<Likely> = blocks
        .iter()
        .zip(scores)
        .map(|(block, score)| {
            let mass = block.count.mass as f32 + 1.0;
            Likely { content: probability(*score) * mass, mass }
        })
        .collect();
    let sums = Sums::of(page, around, &likely);
    let said: Vec<u8> = likely.iter().map(|likely| likely.byte()).collect();
    let worth: Vec<u8> = worth_something(&likely, &said);
    let elements = &page.outline.elements;
    for (at, block) in blocks.iter().enumerate() {
        let mut row = matrix.row(at, FEATURES);
        row.put(said[at]);
        for offset in NEIGHBOURS {
            let neighbour = at.checked_add_signed(offset).and_then(|at| said.get(at));
            row.put(neighbour.copied().unwrap_or(0));
        }
        for reach in REACHES {
            row.put(sums.within(at.saturating_sub(reach), (at + reach + 1).min(blocks.len())));
        }
        let mut level = block.element as usize;
        for _ in 0..LEVELS {
            row.put(sums.elements[level].byte());
            level = around.larger[level] as usize;
        }
        row.put(sums.of_place(&sums.paths, around.path_of[at]));
        let mut one = around.one_of[block.element as usize];
        for _ in 0..2 {
            row.put(sums.of_place(&sums.series, around.series_of[one as usize]));
            one = around.one_of[elements[one as usize].parent as usize];
        }
        row.put(sums.elements[0].byte());
        row.put(sums.share_before(at));
        row.put(sums.share_of(sums.elements[around.larger[block.element as usize] as usize]));
        row.put(best_near(at, &worth));
    }
}

struct Sums {
    before: Vec<Likely>,
    elements: Vec<Likely>,
    paths: Vec<Likely>,
    series: Vec<Likely>,
}

impl Sums {
    fn of(page: &Blocks<'_>, around: &Surroundings, likely: &[Likely]) -> Sums {
        let outline = &page.outline.elements;
        let mut elements = vec![Likely::default(); outline.len()];
        let mut paths = vec![Likely::default(); around.paths.places()];
        let mut before = Vec::with_capacity(likely.len() + 1);
        let mut sum = Likely::default();
        before.push(sum);
        for (at, (block, likely)) in page.blocks.iter().zip(likely).enumerate() {
            elements[block.element as usize].add(*likely);
            if let Some(place) = around.path_of[at] {
                paths[place as usize].add(*likely);
            }
            sum.add(*likely);
            before.push(sum);
        }
        for at in (1..elements.len()).rev() {
            let inner = elements[at];
            elements[outline[at].parent as usize].add(inner);
        }
        let mut series = vec![Likely::default(); around.series.places()];
        for (place, likely) in around.series_of.iter().zip(&elements) {
            if let Some(place) = place {
                series[*place as usize].add(*likely);
            }
        }
        Sums { before, elements, paths, series }
    }

    fn within(&self, from: usize, to: usize) -> u8 {
        let (from, to) = (self.before[from], self.before[to]);
        Likely { content: to.content - from.content, mass: to.mass - from.mass }.byte()
    }

    fn of_place(&self, sums: &[Likely], place: Option<u32>) -> u8 {
        place.map_or(0, |place| sums[place as usize].byte())
    }

    /// How much of the likely content comes before this block.
    fn share_before(&self, at: usize) -> u8 {
        let (before, all) = (self.before[at].content, self.elements[0].content);
        Likely { content: before, mass: all }.byte()
    }

    fn share_of(&self, part: Likely) -> u8 {
        Likely { content: part.content, mass: self.elements[0].content }.byte()
    }
}

/// What is said of the blocks that are worth something, 0 of the others.
fn worth_something(likely: &[Likely], said: &[u8]) -> Vec<u8> {
    const MASS_MIN: f32 = 30.0;
    let worth = |(likely, said): (&Likely, &u8)| if likely.mass > MASS_MIN { *said } else { 0 };
    likely.iter().zip(said).map(worth).collect()
}

/// The surest block nearby that is worth something.
fn best_near(at: usize, worth: &[u8]) -> u8 {
    const REACH: usize = 8;
    let near = &worth[at.saturating_sub(REACH)..(at + REACH + 1).min(worth.len())];
    near.iter().fold(0, |best, said| best.max(*said))
}
