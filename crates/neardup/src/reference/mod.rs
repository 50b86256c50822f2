//! The methods of the textbooks, as they are written there: to compare with, and to learn from.
//!
//! They take sets of fingerprints ([`crate::shingle::fingerprints`], sorted or not as each says)
//! and make no attempt to be fast.

pub mod bags;
pub mod bottom_k;
pub mod permutations;
pub mod rabin;
pub mod simhash;
pub mod sort_and_count;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::SlotBits;
    use crate::resemblance::{append_set, overlap};
    use crate::shingle::fingerprints;
    use crate::sketch::Sketch;

    /// Texts of 600 words, each with 12 words of the one before it changed.
    fn sets() -> Vec<Vec<u64>> {
        let mut words: Vec<String> = (0..600).map(|n| format!("w{n}")).collect();
        let texts = (0..12).map(|text| {
            (0..12).for_each(|n| words[(text * 97 + n * 50) % 600] = format!("t{text}n{n}"));
            let (mut prints, mut set) = (Vec::new(), Vec::new());
            fingerprints(&words.join(" "), 4, &mut prints);
            append_set(&mut prints, &mut set, &mut Vec::new());
            set
        });
        texts.collect()
    }

    #[test]
    fn every_method_estimates_what_the_sets_say() {
        let sets = sets();
        let (shared, left_out) = sort_and_count::shared(&sets, 1000);
        let in_permutations = sort_and_count::gen_pairs(&sets);
        assert_eq!(left_out, 0);
        let mut compared = 0;
        for (b, set_b) in sets.iter().enumerate() {
            for (a, set_a) in sets[..b].iter().enumerate() {
                let pair = (a as u32, b as u32);
                let truth = overlap(set_a, set_b);
                assert_eq!(shared.get(&pair).copied().unwrap_or(0), truth.both, "{pair:?}");
                let [one, two] = [set_a, set_b].map(|set| permutations::min_hash(set));
                let (one, two) = (one.expect("not empty"), two.expect("not empty"));
                let by_permutations = permutations::resemblance(&one, &two);
                let met = in_permutations.get(&pair).copied().unwrap_or(0);
                assert_eq!(f64::from(met) / 200.0, by_permutations);
                let [one, two] = [set_a, set_b].map(|set| bottom_k::BottomK::of(set, 128));
                let [x, y] = [set_a, set_b].map(|set| Sketch::of(set).expect("not empty"));
                let ours = SlotBits::BYTES.estimate(x.agreeing(&y));
                for estimate in [by_permutations, one.resemblance(&two), ours.resemblance] {
                    let error = (estimate - truth.resemblance()).abs();
                    assert!(error < 4.0 * 0.045, "{pair:?}: {estimate}, {truth:?}");
                }
                compared += 1;
            }
        }
        assert_eq!(compared, 66);
    }

    #[test]
    fn rabin_fingerprints_of_40_bits_count_the_same_shingles() {
        let words: Vec<String> = (0..300).map(|n| format!("w{}", n % 120)).collect();
        let distinct = |mut prints: Vec<u64>| {
            prints.sort_unstable();
            prints.dedup();
            prints.len()
        };
        let mut ours = Vec::new();
        fingerprints(&words.join(" "), 4, &mut ours);
        assert_eq!(distinct(rabin::shingles(&words, 4)), distinct(ours.clone()));
        assert_eq!(distinct(bags::elements(&ours)), ours.len());
    }
}
