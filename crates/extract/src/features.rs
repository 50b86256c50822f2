//! Features: what the table knows a block by, each a number of one byte.
//!
//! Counts are on a scale that is exact up to 15 and logarithmic beyond, shares are in 255ths, and
//! signs tell how near they are. Bytes need no thresholds to be looked up at run time, and trees
//! compare many of them at once. Nothing here depends on a language.

use super::blocks::{Block, Blocks};
use super::outline::SIGNS;
use super::surroundings::{LEVELS, Surroundings};
use super::titles::Titles;
use rhumb_page::html::Tag;

/// Blocks whose features stand together, so that a tree reads them side by side.
pub(super) const LANES: usize = 32;

/// Features of a block that do not depend on what the table said of others.
pub(super) const FEATURES: usize = SIGNS + OWN + LEVEL * LEVELS + LIKES + NEIGHBOURS + PAGE;
const OWN: usize = 18;
const LEVEL: usize = 6;
const LIKES: usize = 15;
const NEIGHBOURS: usize = 29;
const PAGE: usize = 24;

/// The features of all blocks: groups of [`LANES`] blocks, in each the columns one after another.
pub(super) struct Matrix {
    pub columns: usize,
    pub rows: usize,
    data: Vec<[u8; LANES]>,
}

impl Matrix {
    pub(super) fn new(rows: usize, columns: usize) -> Matrix {
        Matrix { columns, rows, data: vec![[0; LANES]; rows.div_ceil(LANES) * columns] }
    }

    /// A group's column.
    #[inline]
    pub(super) fn column(&self, group: usize, column: usize) -> &[u8; LANES] {
        &self.data[group * self.columns + column]
    }

    pub(super) fn groups(&self) -> usize {
        self.rows.div_ceil(LANES)
    }

    /// A row, to be written from a column on.
    pub(super) fn row(&mut self, row: usize, from: usize) -> Row<'_> {
        let group = row / LANES * self.columns;
        let columns = self.data[group + from..group + self.columns].iter_mut();
        Row { columns, lane: row % LANES }
    }

    /// Gives a column the same value in all rows.
    fn fill(&mut self, column: usize, value: u8) {
        for group in self.data.chunks_exact_mut(self.columns) {
            group[column].fill(value);
        }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> u8 {
        self.column(row / LANES, column)[row % LANES]
    }
}

/// A row being written, column by column.
pub(super) struct Row<'m> {
    /// Those that are not written yet.
    columns: std::slice::IterMut<'m, [u8; LANES]>,
    lane: usize,
}

impl Row<'_> {
    #[inline]
    pub(super) fn put(&mut self, value: u8) {
        let column = self.columns.next().expect("a row has as many values as there are columns");
        column[self.lane % LANES] = value;
    }

    #[inline]
    fn count(&mut self, count: u32) {
        self.put(scale(count));
    }

    #[inline]
    fn share(&mut self, part: u32, whole: u32) {
        self.put(share(part, whole));
    }
}

/// Exact up to 15, then eight steps for each doubling.
#[inline]
pub(super) fn scale(count: u32) -> u8 {
    if count < 16 {
        return count as u8;
    }
    let log = 31 - count.leading_zeros();
    (log * 8 + ((count >> (log - 3)) & 7) - 16) as u8
}

/// A part of a whole in 255ths.
#[inline]
pub(super) fn share(part: u32, whole: u32) -> u8 {
    // Most parts are nothing or little, and a division of few bits is cheaper.
    const SMALL: u32 = 1 << 24;
    match part {
        _ if part == 0 || whole == 0 => 0,
        _ if part >= whole => 255,
        _ if part < SMALL => (part * 255 / whole) as u8,
        _ => (u64::from(part) * 255 / u64::from(whole)) as u8,
    }
}

/// Writes the features of every block into the first columns of `matrix`.
pub(super) fn write(
    page: &Blocks<'_>,
    around: &Surroundings,
    titles: &Titles,
    facts: &[u8],
    matrix: &mut Matrix,
) {
    for (column, value) in (FEATURES - PAGE..).zip(page_features(page, around, titles, facts)) {
        matrix.fill(column, value);
    }
    let looks: Vec<Look> = page.blocks.iter().map(Look::of).collect();
    let mut levels = Levels { of_elements: vec![None; around.held.len()] };
    for (at, block) in page.blocks.iter().enumerate() {
        let mut row = matrix.row(at, 0);
        let element = &page.outline.elements[block.element as usize];
        element.near.iter().for_each(|sign| row.put(*sign));
        own(&mut row, block, looks[at], element.tag);
        row.put(titles.overlap[at]);
        row.put(titles.described[at]);
        levels.write(&mut row, block, around);
        likes(&mut row, at, block, page, around);
        neighbours(&mut row, at, page, &looks, around, titles);
    }
}

/// What a block shows its neighbours.
#[derive(Clone, Copy, Default)]
struct Look {
    mass: u8,
    link_share: u8,
}

impl Look {
    fn of(block: &Block) -> Look {
        let mass = block.count.mass;
        Look { mass: scale(mass), link_share: share(block.link_mass, mass) }
    }
}

fn own(row: &mut Row<'_>, block: &Block, look: Look, tag: Tag) {
    let count = &block.count;
    row.put(look.mass);
    row.put(look.link_share);
    row.count(u32::from(block.links));
    row.share(count.marks * 4, count.mass);
    row.count(count.marks);
    row.share(count.digits, count.letters);
    row.put(u8::from(count.ends_sentence));
    row.count(u32::from(block.tags_before));
    row.count(u32::from(block.images_before));
    row.count(u32::from(block.tags_within));
    row.count(u32::from(block.breaks));
    row.put(u8::from(block.has_price));
    row.put(kind_of(tag));
    row.put(heading_level(tag));
    row.count(count.mass.saturating_sub(block.link_mass));
    row.share(count.mass, count.mass + 2 * u32::from(block.tags_before));
}

/// Elements in an order of their kind, so that a split of the order parts the kinds.
fn kind_of(tag: Tag) -> u8 {
    use Tag::*;
    match tag {
        Button | Label | Legend => 0,
        Th => 1,
        Td => 2,
        Dt => 3,
        Dd => 4,
        Li => 5,
        Div => 6,
        Section | Article | Main | Body => 7,
        Figcaption | Caption => 8,
        Blockquote => 9,
        P => 10,
        Pre => 11,
        H6 | H5 | H4 => 12,
        H3 => 13,
        H2 => 14,
        H1 => 15,
        _ => 6,
    }
}

pub(super) fn heading_level(tag: Tag) -> u8 {
    match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 => 5,
        Tag::H6 => 6,
        _ => 0,
    }
}

/// What is said of the boxes around a block, once for each box: most stand around many blocks.
struct Levels {
    of_elements: Vec<Option<[u8; LEVEL]>>,
}

impl Levels {
    fn write(&mut self, row: &mut Row<'_>, block: &Block, around: &Surroundings) {
        let mut at = block.element as usize;
        for _ in 0..LEVELS {
            let said = self.of_elements[at].get_or_insert_with(|| level(at, around));
            said.iter().for_each(|value| row.put(*value));
            at = around.larger[at] as usize;
        }
    }
}

fn level(element: usize, around: &Surroundings) -> [u8; LEVEL] {
    let (held, all) = (around.held[element], around.held[0]);
    [
        scale(held.mass),
        share(held.link_mass, held.mass),
        share(held.marks * 4, held.mass),
        scale(held.blocks),
        share(held.mass, all.mass),
        share(held.good, all.good),
    ]
}

fn likes(row: &mut Row<'_>, at: usize, block: &Block, page: &Blocks<'_>, around: &Surroundings) {
    let all = around.held[0];
    let path = around.paths.get(around.path_of[at]);
    row.count(path.count);
    row.share(path.mass, all.mass);
    row.share(path.link_mass, path.mass);
    row.count(path.mass / path.count.max(1));
    let says = around.says.get(around.says_of[at]);
    row.count(says.count);
    row.put(u8::from(says.first as usize == at));
    let mut one = around.one_of[block.element as usize];
    let own = around.series_of[one as usize];
    row.put(u8::from(own.is_some() && own == around.largest_series));
    for _ in 0..2 {
        let series = around.series.get(around.series_of[one as usize]);
        row.count(series.count);
        row.count(series.mass / series.count.max(1));
        row.share(series.link_mass, series.mass);
        row.share(series.mass, all.mass);
        one = around.one_of[page.outline.elements[one as usize].parent as usize];
    }
}

fn neighbours(
    row: &mut Row<'_>,
    at: usize,
    page: &Blocks<'_>,
    looks: &[Look],
    around: &Surroundings,
    titles: &Titles,
) {
    let blocks = &page.blocks;
    for offset in [-2, -1, 1, 2] {
        let neighbour = at.checked_add_signed(offset).and_then(|at| looks.get(at));
        let look = neighbour.copied().unwrap_or_default();
        row.put(look.mass);
        row.put(look.link_share);
    }
    let next = blocks.get(at + 1);
    let next_tag = next.map(|block| page.outline.elements[block.element as usize].tag);
    row.put(next_tag.map_or(0, kind_of));
    row.count(next.map_or(0, |block| u32::from(block.tags_before)));
    for reach in [3, 10] {
        let (from, to) = (at.saturating_sub(reach), (at + reach + 1).min(blocks.len()));
        let mass = around.mass_before[to] - around.mass_before[from];
        row.count(mass);
        row.share(around.link_mass_before[to] - around.link_mass_before[from], mass);
        row.share((around.marks_before[to] - around.marks_before[from]) * 4, mass);
    }
    let all = around.held[0];
    row.share(at as u32, blocks.len() as u32);
    row.share(around.mass_before[at], all.mass);
    row.put(u8::from(around.plateau.contains(&at)));
    let element = blocks[at].element;
    row.put(u8::from(around.centre_half.contains(&element)));
    row.put(u8::from(around.centre_most.contains(&element)));
    row.put(titles.heading[at].0);
    row.count(u32::from(titles.heading[at].1));
    row.put(titles.after_title(at));
    row.put(titles.tops[at]);
    row.put(titles.articles[at]);
    let title_at = titles.title_at.unwrap_or(0);
    row.put(titles.tops[at].saturating_sub(titles.tops[title_at]));
    row.put(titles.articles[at].saturating_sub(titles.articles[title_at]));
    row.count(u32::from(titles.since_long[at]));
}

fn page_features(
    page: &Blocks<'_>,
    around: &Surroundings,
    titles: &Titles,
    facts: &[u8],
) -> [u8; PAGE] {
    let mut values = [0; PAGE];
    let all = around.held[0];
    let blocks = page.blocks.len() as u32;
    let plateau = &around.plateau;
    let flat = around.mass_before[plateau.end] - around.mass_before[plateau.start];
    let series = around.series.get(around.largest_series);
    let own = [
        scale(all.mass),
        share(all.link_mass, all.mass),
        share(all.good, all.mass),
        scale(blocks),
        scale(all.mass / blocks.max(1)),
        share(flat, all.mass),
        titles.title_at.map_or(0, |at| share(at as u32, blocks).max(1)),
        scale(page.blocks.iter().filter(|block| block.has_price).count() as u32),
        scale(series.count),
        share(series.mass, all.mass),
        share(series.link_mass, series.mass),
        titles.tops.last().copied().unwrap_or(0),
        titles.articles.last().copied().unwrap_or(0),
    ];
    values.iter_mut().zip(own.iter().chain(facts)).for_each(|(to, from)| *to = *from);
    values
}
