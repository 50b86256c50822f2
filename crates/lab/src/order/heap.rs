//! A queue of pages by value, greatest first, of equal ones the lowest page, in which values may
//! grow.
//!
//! Most values grow many times before they matter, so only the greatest ones are kept in order: a
//! heap of four children a node, in which every page knows its place. Whoever grows below the least
//! of them costs one comparison. When the heap is empty, all pages are looked through for those
//! within three octaves of the greatest, and that many octaves pass before the next time. Values
//! are kept by the caller.

use rhumb_graph::PageNumber;

const CHILDREN: usize = 4;
const NOWHERE: u32 = u32::MAX;
/// The part of the greatest value from which on pages are in the heap: three octaves.
const WITHIN: f64 = 0.125;

pub(super) struct Heap {
    nodes: Vec<(f64, PageNumber)>,
    places: Vec<u32>,
    /// Pages with as much are in the heap.
    least: f64,
}

impl Heap {
    pub fn new(pages: usize) -> Heap {
        Heap { nodes: Vec::new(), places: vec![NOWHERE; pages], least: f64::INFINITY }
    }

    /// The first page, where `value` says what a page has: nothing if it is not wanted any more.
    pub fn peek(&mut self, value: impl Fn(PageNumber) -> f64) -> Option<(f64, PageNumber)> {
        if self.nodes.is_empty() {
            let pages = 0..self.places.len() as PageNumber;
            let greatest = pages.clone().map(&value).fold(0.0, f64::max);
            if greatest <= 0.0 {
                return None;
            }
            self.least = greatest * WITHIN;
            pages.for_each(|page| self.raise(page, value(page)));
        }
        self.nodes.first().copied()
    }

    pub fn pop(&mut self, value: impl Fn(PageNumber) -> f64) -> Option<(f64, PageNumber)> {
        let top = self.peek(value)?;
        let last = self.nodes.pop().expect("not empty");
        self.places[top.1 as usize] = NOWHERE;
        if !self.nodes.is_empty() {
            self.sink(last);
        }
        Some(top)
    }

    /// The value of a page has grown; the values of all others are as they were.
    #[inline]
    pub fn raise(&mut self, page: PageNumber, value: f64) {
        if value >= self.least {
            self.raise_in_heap(page, value);
        }
    }

    fn raise_in_heap(&mut self, page: PageNumber, value: f64) {
        let place = self.places[page as usize];
        let at = match place {
            NOWHERE => {
                self.nodes.push((value, page));
                self.nodes.len() - 1
            }
            at => at as usize,
        };
        debug_assert!(place == NOWHERE || self.nodes[at].0 <= value, "values only grow");
        self.rise(at, (value, page));
    }

    fn rise(&mut self, mut at: usize, node: (f64, PageNumber)) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !before(node, self.nodes[parent]) {
                break;
            }
            self.put(at, self.nodes[parent]);
            at = parent;
        }
        self.put(at, node);
    }

    fn sink(&mut self, node: (f64, PageNumber)) {
        let mut at = 0;
        loop {
            let first = at * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.nodes.len());
            let Some(best) = children.reduce(|best, child| {
                if before(self.nodes[child], self.nodes[best]) { child } else { best }
            }) else {
                break;
            };
            if !before(self.nodes[best], node) {
                break;
            }
            self.put(at, self.nodes[best]);
            at = best;
        }
        self.put(at, node);
    }

    fn put(&mut self, at: usize, node: (f64, PageNumber)) {
        self.nodes[at] = node;
        self.places[node.1 as usize] = at as u32;
    }
}

#[inline]
fn before(one: (f64, PageNumber), other: (f64, PageNumber)) -> bool {
    one.0 > other.0 || (one.0 == other.0 && one.1 < other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_out_by_value_then_by_number_whatever_grew_meanwhile() {
        let mut heap = Heap::new(500);
        let mut values = vec![0.0; 500];
        for step in 0u32..20_000 {
            let page = step.wrapping_mul(2_654_435_761) >> 23;
            let before: f64 = values[page as usize % 500];
            // From a millionth to one, so that some are below the heap.
            let value = before.mul_add(1.3, f64::from(step % 7) * 1e-6).min(1.0);
            let page = page % 500;
            values[page as usize] = value;
            heap.raise(page, value);
            if step % 3 == 2 {
                let of = |page: PageNumber| values[page as usize];
                let (most, first) = heap.pop(of).expect("somebody has something");
                let best = |page: &PageNumber| before_all(&values, *page);
                assert_eq!(Some(first), (0..500).find(best), "{most} at {step}");
                assert_eq!(most, values[first as usize]);
                values[first as usize] = 0.0;
            }
        }
    }

    fn before_all(values: &[f64], page: PageNumber) -> bool {
        let most = values.iter().copied().fold(0.0, f64::max);
        values[page as usize] == most
    }
}
