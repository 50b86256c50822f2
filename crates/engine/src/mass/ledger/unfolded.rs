//! The links of crawled pages by the numbers of pages, not of URLs: where a residue lies, without a
//! look at its node. Four bytes a link and twelve a page, while a settling lasts.

use super::{At, Ledger, MassStanding, Surfer};

/// With more links and pages they are read in every sweep instead: some 10 MB, 25 at most.
const UNFOLDED_MAX: u64 = 2 << 20;

pub struct Unfolded {
    /// Where the list of each page begins in `to`, and where the last one ends.
    begin: Vec<u32>,
    /// By page: how many links have no number, how many lead to pages, these, and the others.
    to: Vec<u32>,
}

#[derive(Default)]
pub struct List<'a> {
    pub pages: &'a [u32],
    /// Nodes without a page.
    pub others: &'a [u32],
    pub unnamed: u32,
}

impl Unfolded {
    pub fn of(ledger: &Ledger) -> Option<Unfolded> {
        let len = ledger.links_len() + ledger.pages_len() as u64;
        // Here all links of a page are alike.
        let is_biased = ledger.left_by[Surfer::USUAL.index()] < ledger.pages_len() as u64;
        if len > UNFOLDED_MAX || is_biased {
            return None;
        }
        let to = Vec::with_capacity(len as usize + ledger.pages_len());
        let mut all = Unfolded { begin: Vec::with_capacity(ledger.pages_len() + 1), to };
        let (mut ids, mut others) = (Vec::new(), Vec::new());
        all.begin.push(0);
        for &at in &ledger.pages.links {
            if at != At::NOWHERE {
                let unnamed = ledger.outlinks.get(at, &mut ids, &mut Vec::new());
                all.add(ledger, unnamed, &ids, &mut others);
            }
            all.begin.push(all.to.len() as u32);
        }
        Some(all)
    }

    fn add(&mut self, ledger: &Ledger, unnamed: u32, ids: &[u32], others: &mut Vec<u32>) {
        let count = self.to.len() + 1;
        self.to.extend([unnamed, 0]);
        for &id in ids {
            match ledger.page_of(id) {
                Some(page) => self.to.push(page as u32),
                None if ledger.standing(id) != MassStanding::Outside => others.push(id),
                None => {}
            }
        }
        self.to[count] = (self.to.len() - count - 1) as u32;
        self.to.append(others);
    }

    pub fn list(&self, page: usize) -> List<'_> {
        match &self.to[self.begin[page] as usize..self.begin[page + 1] as usize] {
            [unnamed, count, to @ ..] => {
                let (pages, others) = to.split_at(*count as usize);
                List { pages, others, unnamed: *unnamed }
            }
            _ => List::default(),
        }
    }
}
