//! The books counted again, one by one: for tests, the simulator, and nobody in a hurry.

use super::fixed::{JUMPED, ONE, PARTS};
use super::ledger::Ledger;
use super::standing::Standing;

/// What rounding may lose before it is a mistake: a billionth of the whole.
const ROUNDED_MAX: i128 = (ONE / 1_000_000_000) as i128;

pub fn audit(ledger: &Ledger) -> Result<(), String> {
    let mut sums = [0i64; Standing::ALL.len()];
    let mut below = [0i64; Standing::ALL.len()];
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
    let all: i64 = pages.settled.iter().sum();
    let of_dangling = |(node, s): (&u32, &i64)| {
        if ledger.standing(*node) == Standing::Dangling { *s } else { 0 }
    };
    let dangling: i64 = pages.node.iter().zip(&pages.settled).map(of_dangling).sum();
    if (all, dangling) != (booked.settled, booked.settled_dangling) {
        return Err(format!("settled: {booked:?} booked, {all} and {dangling} counted"));
    }
    // In twentieths: what was trusted and what came, less what is still there.
    let residue: i128 = sums.iter().map(|&r| i128::from(r)).sum();
    let there = i128::from(PARTS) * (residue + i128::from(booked.unnamed))
        + i128::from(JUMPED) * i128::from(all)
        + i128::from(PARTS - JUMPED) * i128::from(dangling);
    let given = i128::from(JUMPED) * i128::from(booked.trusted)
        + i128::from(PARTS) * i128::from(booked.moved);
    let lost = given - there;
    if !(0..=ROUNDED_MAX * i128::from(PARTS)).contains(&lost) {
        return Err(format!("{lost} twentieths of 2^-60 are missing: {booked:?}"));
    }
    Ok(())
}
