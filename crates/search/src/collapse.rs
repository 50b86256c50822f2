//! One page of each cluster, and few of each host: a walk down the ranked list.
//!
//! A page is left out if a page of its cluster is shown, or one whose text resembles its own by
//! [`RESEMBLANCE_MIN`]: members of two leaders may be alike. That is verified on the sets of
//! shingles, of all pairs whose slots do not rule it out.

use std::collections::HashMap;

use crate::clusters::{RESEMBLANCE_MIN, resemblance};

/// Pages of one host that are shown, unless the query names it.
pub const PER_HOST: usize = 2;
/// Of 128 slots, texts that resemble each other by 0.8 share 102 give or take 5: below this they
/// are never compared further.
const AGREEING_MIN: usize = 76;

/// What the walk must know of pages.
pub trait RankedPages {
    type Set: AsRef<[u64]>;

    /// Number of the first page of its cluster.
    fn leader(&self, page: u32) -> u32;
    /// Its host; empty if it has none.
    fn host(&self, page: u32) -> String;
    /// Slots of its sketch; none of a page without words.
    fn slots(&self, page: u32) -> Option<&[u8]>;
    /// Shingles of its text, ascending.
    fn shingles(&self, page: u32) -> Self::Set;
}

/// A page that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPage {
    /// Its place in the ranked list.
    pub rank: usize,
    /// Pages left out for it that are of other clusters than its own.
    pub left_out: Vec<u32>,
    /// Pages of its host left out, this one being the last shown of them.
    pub crowded: usize,
}

/// Walks the list until so many are shown.
pub fn collapse<P: RankedPages>(
    ranked: &[u32],
    limit: usize,
    per_host: usize,
    pages: &P,
) -> Vec<ShownPage> {
    let mut kept: Vec<ShownPage> = Vec::new();
    let mut by_leader: HashMap<u32, usize> = HashMap::new();
    let mut by_host: HashMap<String, (usize, usize)> = HashMap::new();
    let mut sets: HashMap<u32, P::Set> = HashMap::new();
    for (rank, page) in ranked.iter().enumerate() {
        if kept.len() >= limit {
            break;
        }
        let leader = pages.leader(*page);
        if by_leader.contains_key(&leader) {
            continue;
        }
        let shown = kept.iter().map(|kept| ranked[kept.rank]).enumerate();
        let alike = shown.filter(|(_, other)| may_be_alike(pages, *page, *other));
        let alike: Vec<(usize, u32)> = alike.collect();
        let found = alike.into_iter().find(|(_, other)| {
            for page in [*page, *other] {
                sets.entry(page).or_insert_with(|| pages.shingles(page));
            }
            resemblance(sets[page].as_ref(), sets[other].as_ref()) >= RESEMBLANCE_MIN
        });
        if let Some((at, _)) = found {
            kept[at].left_out.push(*page);
            continue;
        }
        let host = pages.host(*page);
        if !host.is_empty() {
            let (count, last) = by_host.entry(host).or_default();
            if *count >= per_host {
                kept[*last].crowded += 1;
                continue;
            }
            (*count, *last) = (*count + 1, kept.len());
        }
        by_leader.insert(leader, kept.len());
        kept.push(ShownPage { rank, left_out: Vec::new(), crowded: 0 });
    }
    kept
}

fn may_be_alike(pages: &impl RankedPages, one: u32, other: u32) -> bool {
    let (Some(one), Some(other)) = (pages.slots(one), pages.slots(other)) else { return false };
    one.iter().zip(other).filter(|(one, other)| one == other).count() >= AGREEING_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages by leader, host and text.
    struct Corpus(Vec<(u32, &'static str, Vec<u64>)>);

    impl RankedPages for Corpus {
        type Set = Vec<u64>;

        fn leader(&self, page: u32) -> u32 {
            self.0[page as usize].0
        }

        fn host(&self, page: u32) -> String {
            self.0[page as usize].1.to_owned()
        }

        fn slots(&self, _: u32) -> Option<&[u8]> {
            Some(&[7; 128])
        }

        fn shingles(&self, page: u32) -> Vec<u64> {
            self.0[page as usize].2.clone()
        }
    }

    #[test]
    fn one_page_of_a_cluster_two_of_a_host_and_none_alike() {
        let text = |from: u64| (from..from + 10).collect::<Vec<u64>>();
        let corpus = Corpus(vec![
            (0, "a", text(0)),
            (0, "b", text(0)),
            (2, "a", text(100)),
            // Of another cluster, but nine of eleven shingles are those of the first.
            (3, "c", text(1)),
            (4, "a", text(200)),
            (5, "", text(300)),
            (6, "d", text(400)),
        ]);
        let kept = collapse(&[0, 1, 2, 3, 4, 5, 6], 10, 2, &corpus);
        let ranks: Vec<usize> = kept.iter().map(|kept| kept.rank).collect();
        assert_eq!(ranks, [0, 2, 5, 6]);
        assert_eq!(kept[0].left_out, [3]);
        assert_eq!(kept[1].crowded, 1);
        assert_eq!(collapse(&[0, 1, 2], 1, 2, &corpus).len(), 1);
        assert_eq!(collapse(&[0, 2, 4], 10, usize::MAX, &corpus).len(), 3);
    }
}
