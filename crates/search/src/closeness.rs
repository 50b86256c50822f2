//! How near the words of a query stand to each other in a page.
//!
//! S. Büttcher, C. Clarke, B. Lushman, "Term Proximity Scoring for Ad-Hoc Retrieval on Very Large
//! Text Collections", SIGIR 2006: each pair of neighbouring words counts by 1 / distance², weighed
//! by the rarer word's idf and saturated as BM25 does. Deviations: pairs are of words that follow
//! each other in the query, not in the page, and farther than [`DISTANCE_MAX`] counts nothing.

/// Words farther apart have nothing to do with each other.
pub const DISTANCE_MAX: u32 = 8;
/// Saturation, as k1 of BM25.
const K1: f32 = 1.2;

/// Closeness of words by their positions in a page, each ascending.
pub fn closeness(positions: &[Vec<u32>], idf: &[f32]) -> f32 {
    let pairs = positions.windows(2).zip(idf.windows(2));
    pairs.map(|(at, idf)| saturated(near(&at[0], &at[1])) * idf[0].min(idf[1])).sum()
}

fn saturated(sum: f32) -> f32 {
    sum * (K1 + 1.0) / (sum + K1)
}

/// Sum of 1 / distance² over the places of one word, each to the nearest place of the other.
fn near(one: &[u32], other: &[u32]) -> f32 {
    let mut sum = 0.0;
    let mut at = 0;
    for place in one {
        while at + 1 < other.len() && other[at + 1] <= *place {
            at += 1;
        }
        let nearest = other[at..].iter().take(2).map(|other| other.abs_diff(*place)).min();
        if let Some(distance) = nearest.filter(|distance| (1..=DISTANCE_MAX).contains(distance)) {
            sum += 1.0 / (distance * distance) as f32;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_words_count_more_and_far_ones_nothing() {
        let of =
            |one: &[u32], other: &[u32]| closeness(&[one.to_vec(), other.to_vec()], &[2.0, 3.0]);
        assert_eq!(of(&[5], &[6]), 2.0 * saturated(1.0));
        assert_eq!(of(&[5], &[4]), of(&[5], &[6]));
        assert!(of(&[5], &[7]) < of(&[5], &[6]));
        assert!(of(&[5, 50], &[6, 51]) > of(&[5], &[6]));
        assert_eq!(of(&[5], &[90]), 0.0);
        assert_eq!(of(&[], &[6]), 0.0);
        assert_eq!(of(&[1, 2, 3], &[]), 0.0);
    }
}
