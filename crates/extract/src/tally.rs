//! Sums by key, bounded and without surprises: a small open table.
//!
//! A page chooses its keys, so a key that finds no place within a few steps goes without one. That
//! costs a page that tries it some of its features, and nobody any time.

/// Steps to look for a place.
const STEPS_MAX: usize = 16;

/// What was summed under a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub count: u32,
    pub mass: u32,
    pub link_mass: u32,
    /// The first that came under this key.
    pub first: u32,
}

pub(super) struct Tally {
    keys: Vec<u64>,
    sums: Vec<Sums>,
}

impl Tally {
    /// For about so many different keys.
    pub(super) fn new(keys: usize) -> Tally {
        let places = (keys * 2).next_power_of_two().max(STEPS_MAX);
        Tally { keys: vec![0; places], sums: vec![Sums::default(); places] }
    }

    /// The place of a key, the same every time.
    pub(super) fn place(&mut self, key: u64) -> Option<u32> {
        let key = key | 1;
        let mask = self.keys.len() - 1;
        let from = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        for at in (from..from + STEPS_MAX).map(|at| at & mask) {
            if self.keys[at] == key {
                return Some(at as u32);
            }
            if self.keys[at] == 0 {
                self.keys[at] = key;
                return Some(at as u32);
            }
        }
        None
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.keys.len()
    }

    /// The place with the most mass among those with at least so many.
    pub(super) fn largest(&self, count_min: u32) -> Option<u32> {
        let many = (0..).zip(&self.sums).filter(|(_, sums)| sums.count >= count_min);
        many.max_by_key(|(_, sums)| sums.mass).map(|(place, _)| place)
    }

    pub(super) fn at(&mut self, place: u32) -> &mut Sums {
        &mut self.sums[place as usize]
    }

    /// What stands at a place; nothing if there is none.
    pub(super) fn get(&self, place: Option<u32>) -> Sums {
        place.map_or(Sums::default(), |place| self.sums[place as usize])
    }
}
