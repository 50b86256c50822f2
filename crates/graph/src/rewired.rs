//! A large graph from a small one: `copies` of it side by side, one link in ten led to a copy
//! chosen by a hash of its ends.
//!
//! Out-degrees stay as they are and in-degrees nearly so; most links stay near, as on the web, but
//! no copy is an island. The same seed gives the same graph everywhere.

use crate::error::{GraphError, Result};
use crate::{Graph, GraphWriter, PAGES_MAX, PageNumber};

/// One link in so many leaves its copy.
const CROSSING: u64 = 10;

/// Page `p` of copy `c` is page `c · pages + p` of the result.
pub fn rewired(graph: &Graph, copies: u32, seed: u64, mut writer: GraphWriter) -> Result<Graph> {
    let pages = graph.pages();
    if pages.checked_mul(copies).is_none_or(|all| all > PAGES_MAX) {
        return Err(GraphError::too_large(format!("{copies} copies of {pages} pages: too many")));
    }
    let mut list: Vec<PageNumber> = Vec::new();
    for copy in 0..copies {
        for page in 0..pages {
            let of = copy * pages + page;
            list.clear();
            list.extend(graph.links_of(page).map(|target| {
                let hash = mixed(seed ^ (u64::from(of) << 32 | u64::from(target)));
                let crosses = (hash & 0xffff_ffff).is_multiple_of(CROSSING);
                // The high half, scaled: no bias worth naming.
                let other = (((hash >> 32) * u64::from(copies)) >> 32) as PageNumber;
                (if crosses { other } else { copy }) * pages + target
            }));
            list.sort_unstable();
            writer.push(&list)?;
        }
    }
    writer.finish()
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mixed(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewired_graph_keeps_degrees_and_targets_and_is_the_same_every_time() {
        let small = Graph::of(&[&[1, 2, 3], &[0], &[], &[1, 2]]);
        let make = |seed| rewired(&small, 50, seed, GraphWriter::in_memory()).unwrap();
        let (one, two, other) = (make(1), make(1), make(2));
        assert_eq!((one.pages(), one.links()), (200, 300));
        let mut crossed = 0;
        for page in 0..200 {
            assert!(one.links_of(page).eq(two.links_of(page)));
            let mut originals: Vec<PageNumber> =
                one.links_of(page).map(|target| target % 4).collect();
            originals.sort_unstable();
            assert!(small.links_of(page % 4).eq(originals));
            crossed += one.links_of(page).filter(|target| target / 4 != page / 4).count();
        }
        assert!((10..60).contains(&crossed), "one in ten leads elsewhere: {crossed} of 300");
        assert!((0..200).any(|page| !one.links_of(page).eq(other.links_of(page))));
        assert!(rewired(&small, 1 << 30, 1, GraphWriter::in_memory()).is_err());
    }
}
