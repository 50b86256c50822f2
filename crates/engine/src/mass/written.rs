//! What is settled, written now and then: a row for a thousand crawled pages.
//!
//! Residues follow from what is settled and from the links (see `ledger`), whatever their ages, so
//! these rows need not agree with anything: they only save the pushes of a crawl taken up again.
//! One row is written for every so many pages that come, in turn; all of them when a crawl ends.

use super::ledger::Ledger;
use crate::event::{Row, Step};
use serde::{Deserialize, Serialize};

/// Pages in a row.
const ROW_PAGES: usize = 1_024;
/// Pages that come pay for one row: some 16 bytes of journal each.
const PAGES_PER_ROW: usize = 512;

/// A row: settled mass by the number of the page's URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledRow {
    pub settled: Vec<(u32, i64)>,
}

#[derive(Debug, Default)]
pub struct Writing {
    next: usize,
    pages: usize,
}

impl Writing {
    pub fn write(&mut self, ledger: &Ledger, step: &mut Step) {
        while ledger.pages_len() >= self.pages + PAGES_PER_ROW {
            self.pages += PAGES_PER_ROW;
            step.rows.push(row(ledger, self.next));
            self.next = (self.next + 1) % ledger.pages_len().div_ceil(ROW_PAGES);
        }
    }

    pub fn write_all(&mut self, ledger: &Ledger, step: &mut Step) {
        let rows = 0..ledger.pages_len().div_ceil(ROW_PAGES);
        step.rows.extend(rows.map(|number| row(ledger, number)));
    }
}

fn row(ledger: &Ledger, number: usize) -> Row {
    let pages = number * ROW_PAGES..(number + 1) * ROW_PAGES;
    let settled = pages.map_while(|page| ledger.page_node(page)).filter(|(_, s)| *s != 0);
    Row::Settled { number: number as u32, row: SettledRow { settled: settled.collect() } }
}
