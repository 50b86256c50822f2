//! A heap of pages by value, greatest first, of equal ones the lowest page, in which values may
//! grow: four children a node, and every page knows its place.

use rhumb_graph::Page;

const CHILDREN: usize = 4;
const NOWHERE: u32 = u32::MAX;

pub(super) struct Heap {
    nodes: Vec<(f64, Page)>,
    places: Vec<u32>,
}

impl Heap {
    pub fn new(pages: usize) -> Heap {
        Heap { nodes: Vec::new(), places: vec![NOWHERE; pages] }
    }

    pub fn peek(&self) -> Option<(f64, Page)> {
        self.nodes.first().copied()
    }

    pub fn pop(&mut self) -> Option<(f64, Page)> {
        let top = self.peek()?;
        let last = self.nodes.pop().expect("not empty");
        self.places[top.1 as usize] = NOWHERE;
        if !self.nodes.is_empty() {
            self.sink(last);
        }
        Some(top)
    }

    /// Enters a page, or raises the value of one that is in already.
    pub fn raise(&mut self, page: Page, value: f64) {
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

    fn rise(&mut self, mut at: usize, node: (f64, Page)) {
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

    fn sink(&mut self, node: (f64, Page)) {
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

    fn put(&mut self, at: usize, node: (f64, Page)) {
        self.nodes[at] = node;
        self.places[node.1 as usize] = at as u32;
    }
}

#[inline]
fn before(one: (f64, Page), other: (f64, Page)) -> bool {
    one.0 > other.0 || (one.0 == other.0 && one.1 < other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_out_by_value_then_by_number_whatever_grew_meanwhile() {
        let mut heap = Heap::new(500);
        let mut values = vec![0.0; 500];
        for step in 0u32..4000 {
            let page = step.wrapping_mul(2_654_435_761) >> 23;
            let page = page % 500;
            values[page as usize] += f64::from(step % 7);
            heap.raise(page, values[page as usize]);
        }
        let mut expected: Vec<(f64, Page)> = values.iter().copied().zip(0..).collect();
        expected.retain(|(_, page)| heap.places[*page as usize] != NOWHERE);
        expected.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let popped: Vec<(f64, Page)> = std::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(popped, expected);
    }
}
