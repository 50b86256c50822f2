//! The books counted again, one by one: for tests, the simulator, and nobody in a hurry.

use super::fixed::{JUMPED, ONE, PARTS};
use super::ledger::{Ledger, SettledSums};
use super::standing::MassStanding;
use super::surfer::SURFERS;

/// What rounding may lose before it is a mistake: a billionth of the whole.
const ROUNDED_MAX: i128 = (ONE / 1_000_000_000) as i128;

pub fn audit(ledger: &Ledger) -> Result<(), String> {
    let mut sums = [0i64; MassStanding::ALL.len()];
    let mut below = [0i64; MassStanding::ALL.len()];
    for node in 0..ledger.nodes_len() as u32 {
        let (r, standing) = (ledger.residue(node), ledger.standing(node));
        sums[standing as usize] += r;
        below[standing as usize] += (-r).max(0);
    }
    let booked = ledger.sums();
    if (sums, below) != (booked.residue, booked.below) {
        return Err(format!("residues: {booked:?} booked, {sums:?} and {below:?} counted"));
    }
    let pages = ledger.pages();
    let (mut settled, mut left_by) = (SettledSums::default(), [0; SURFERS]);
    for (at, (&node, &s)) in pages.node.iter().zip(&pages.settled).enumerate() {
        let surfer = pages.surfer[at];
        settled.add(surfer, ledger.standing(node), s);
        left_by[surfer.index()] += 1;
    }
    if (settled, left_by) != (booked.settled, booked.pages) {
        return Err(format!("settled: {booked:?} booked, {settled:?} and {left_by:?} counted"));
    }
    // In parts: what was trusted and what came, less what is still there.
    let residue: i128 = sums.iter().map(|&r| i128::from(r)).sum();
    let there = i128::from(PARTS) * (residue + i128::from(booked.unnamed)) + settled.ended(|_| 1);
    let given = i128::from(JUMPED) * i128::from(booked.trusted)
        + i128::from(PARTS) * i128::from(booked.moved);
    let lost = given - there;
    if !(0..=ROUNDED_MAX * i128::from(PARTS)).contains(&lost) {
        return Err(format!("{lost} parts of 2^-60 are missing: {booked:?}"));
    }
    Ok(())
}
