//! Who should own which partition: weighted rendezvous hashing with a bound.
//!
//! Each node computes this for itself from the living nodes that it sees; nodes that see the same
//! agree. A node of weight w draws w hashes for each partition, and the greatest counts, so that
//! shares are proportional to weights, exactly and without floating point, which may differ between
//! machines. The best pairs come first, and every node gets its share rounded down or up: with few
//! partitions plain rendezvous is uneven by half, and a bound from above alone would leave one of
//! three nodes without any of four. (Thaler and Ravishankar, 1998; the bound is that
//! of Mirrokni, Thorup and Zadimoghaddam, 2018, without slack.)

use rhumb_engine::rng::mix;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Greater weights count as this: each costs a hash for each partition.
pub const WEIGHT_MAX: u32 = 64;

/// The node that should own each partition, of these ids with their weights; none has any if there
/// are none.
pub fn assign<'a>(partitions: u32, nodes: &[(&'a str, u32)]) -> Vec<Option<&'a str>> {
    let weight = |w: u32| w.clamp(1, WEIGHT_MAX);
    let whole: u64 = nodes.iter().map(|(_, w)| u64::from(weight(*w))).sum();
    let part = |w: u32| u64::from(partitions) * u64::from(weight(w));
    let mut rooms: Vec<u64> = nodes.iter().map(|(_, w)| part(*w) / whole).collect();
    // What is left by rounding down goes to nodes whose share is not whole, one to each.
    let mut left = u64::from(partitions) - rooms.iter().sum::<u64>();
    let mut may_have_more: Vec<bool> =
        nodes.iter().map(|(_, w)| !part(*w).is_multiple_of(whole)).collect();
    let mut pairs: Vec<(u64, u32, usize)> = (0..partitions)
        .flat_map(|p| (0..nodes.len()).map(move |n| (p, n)))
        .map(|(p, n)| (score(p, nodes[n].0, weight(nodes[n].1)), p, n))
        .collect();
    pairs.sort_unstable_by(|a, b| (b.0, a.1, nodes[a.2].0).cmp(&(a.0, b.1, nodes[b.2].0)));
    let mut owners = vec![None; partitions as usize];
    for (_, partition, node) in pairs {
        let owner = &mut owners[partition as usize];
        if owner.is_some() {
            continue;
        }
        if rooms[node] > 0 {
            rooms[node] -= 1;
        } else if left > 0 && std::mem::take(&mut may_have_more[node]) {
            left -= 1;
        } else {
            continue;
        }
        *owner = Some(nodes[node].0);
    }
    owners
}

fn score(partition: u32, id: &str, weight: u32) -> u64 {
    let draw =
        |n: u32| xxh3_64_with_seed(id.as_bytes(), mix(u64::from(partition) << 32 | n as u64));
    (0..weight).map(draw).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(owners: &[Option<&str>], id: &str) -> usize {
        owners.iter().filter(|owner| **owner == Some(id)).count()
    }

    #[test]
    fn shares_follow_weights_and_few_partitions_move_when_a_node_goes() {
        assert_eq!(assign(2, &[]), [None, None]);
        let nodes = [("a", 1), ("b", 1), ("c", 2)];
        let owners = assign(64, &nodes);
        assert_eq!([count(&owners, "a"), count(&owners, "b"), count(&owners, "c")], [16, 16, 32]);
        // The order in which nodes are seen makes no difference.
        assert_eq!(owners, assign(64, &[("c", 2), ("a", 1), ("b", 1)]));
        let without = assign(64, &[("a", 1), ("c", 2)]);
        let moved = owners.iter().zip(&without).filter(|(x, y)| x != y).count();
        assert!((16..=28).contains(&moved), "{moved} moved, 16 had to");
    }

    #[test]
    fn each_node_has_its_share_rounded_down_or_up() {
        for (partitions, count_of_nodes) in
            [4, 16].into_iter().flat_map(|p| (1..=7).map(move |n| (p, n)))
        {
            let ids: Vec<String> = (0..count_of_nodes).map(|n| format!("node-{n}")).collect();
            let nodes: Vec<(&str, u32)> = ids.iter().map(|id| (id.as_str(), 1)).collect();
            let owners = assign(partitions, &nodes);
            assert!(owners.iter().all(Option::is_some));
            let share = partitions as usize / count_of_nodes;
            for id in &ids {
                let has = count(&owners, id);
                assert!((share..=share + 1).contains(&has), "{id} of {count_of_nodes} has {has}");
            }
        }
        let names = [("one", 1), ("two", 1), ("three", 1)];
        let owners = assign(4, &names);
        assert!(names.iter().all(|(id, _)| count(&owners, id) > 0), "{owners:?}");
    }
}
