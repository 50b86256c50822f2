//! The best bound that the links of a downloaded set allow, whatever order found it.
//!
//! All residual inside is settled while pages outside absorb; what they have absorbed, A, is all
//! that cannot be proven: 1 − A / (1 − d). So there is a certificate for any crawl, breadth first
//! or chosen by hand. It grows with every download, so the fewest downloads that can be certified
//! are found on the way, and pushes are spent only where a proof is in reach.

use super::mass::{Dangling, Mass};
use super::record::OrderRecord;
use super::{DAMPING, Experiment};

/// Doubt that is left, as mass.
const DOUBT: f64 = 1e-9;
const FINER: f64 = 0.5;

/// For each target of a record, the fewest downloads of its order that could have proven it.
pub fn tight(experiment: &Experiment<'_>, record: &OrderRecord) -> Vec<Option<u32>> {
    let mut mass = Mass::new(experiment, Dangling::Reinjected);
    let mut fewest = vec![None; record.targets.len()];
    let mut open = 0;
    let mut least = 1.0 - DAMPING;
    for (downloads, page) in (1..).zip(&record.order) {
        mass.download(*page);
        while let Some(&target) = record.targets.get(open) {
            let doubtful = |mass: &Mass<'_>| {
                let doubt = mass.possible() - mass.proven();
                mass.possible() >= target && mass.proven() < target && doubt > DOUBT
            };
            // The queue of the last round goes on where it stopped; finer when it is empty.
            mass.settle(least, |mass| !doubtful(mass), |_| ());
            if doubtful(&mass) {
                least *= FINER;
            } else if mass.possible() >= target {
                fewest[open] = Some(downloads);
                open += 1;
                least = 1.0 - DAMPING;
            } else {
                break;
            }
        }
        if open == record.targets.len() {
            break;
        }
    }
    fewest
}
