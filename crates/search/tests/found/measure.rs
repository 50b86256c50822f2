//! nDCG, as trec_eval computes it.
//!
//! K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002: each
//! result gains its grade, discounted by the logarithm of its rank plus one; divided by what the
//! best order would gain. `the_measure_is_that_of_trec_eval` has values of PyPI's
//! pytrec-eval-terrier.

use std::collections::HashMap;

/// nDCG of a ranked list at a depth; grades of those not judged are 0.
pub fn ndcg(ranked: &[String], grades: &HashMap<String, i32>, depth: usize) -> f64 {
    let gain = |grades: &mut dyn Iterator<Item = i32>| -> f64 {
        let discounted = grades
            .take(depth)
            .enumerate()
            .map(|(rank, grade)| f64::from(grade.max(0)) / (rank as f64 + 2.0).log2());
        discounted.sum()
    };
    let mut best: Vec<i32> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = gain(&mut best.into_iter());
    let found = gain(&mut ranked.iter().map(|id| grades.get(id).copied().unwrap_or(0)));
    if ideal == 0.0 { 0.0 } else { found / ideal }
}

#[test]
fn the_measure_is_that_of_trec_eval() {
    let grades = [("a", 3), ("b", 1), ("c", 2), ("d", 0), ("e", 1)];
    let grades = grades.map(|(id, grade)| (id.to_owned(), grade)).into_iter().collect();
    let of = |ranked: &str, depth| {
        let ranked: Vec<String> = ranked.chars().map(String::from).collect();
        ndcg(&ranked, &grades, depth)
    };
    let check = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    check(of("bxcad", 10), BXCAD_10);
    check(of("bxcad", 3), BXCAD_3);
    check(of("acbe", 10), 1.0);
    check(of("xyz", 10), 0.0);
}

const BXCAD_10: f64 = 0.633_992_644_995_394_6;
const BXCAD_3: f64 = 0.420_003_991_507_928_16;
