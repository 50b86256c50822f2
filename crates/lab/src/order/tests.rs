//! Orderings on small graphs of our own: no bound above the truth, and the cases that are odd.

use rhumb_graph::{Graph, PageNumber};

use super::*;

const TARGETS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// A web of 300 pages with hubs, dead ends, islands and long chains.
fn web(seed: u32) -> Graph {
    let lists: Vec<Vec<PageNumber>> = (0..300u32)
        .map(|page| {
            let mut draw = page.wrapping_mul(2_654_435_761) ^ seed.wrapping_mul(0x9e37_79b9);
            let count = if page % 4 == 3 { 0 } else { page % 7 };
            let target = |_| {
                draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let far = draw >> 8;
                if far.is_multiple_of(3) { far % 12 } else { (page + 1 + far % 20) % 300 }
            };
            (0..count).map(target).collect()
        })
        .collect();
    Graph::of(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn run(experiment: &Experiment<'_>, algorithm: Algorithm) -> OrderRecord {
    experiment.run(algorithm, &TARGETS, Until::Targets, &mut || 0.0)
}

#[test]
fn no_bound_is_above_the_truth_and_every_order_takes_known_pages_once() {
    for seed in 0..8 {
        let graph = web(seed);
        let trust = TrustWeights::new(&graph, &[(0, 3.0), (1, 1.0), (seed + 2, 0.5)]).unwrap();
        let experiment = Experiment::new(&graph, trust, u64::from(seed));
        for algorithm in Algorithm::ALL.into_iter().chain(Algorithm::SHIPPED) {
            let record = run(&experiment, algorithm);
            let name = algorithm.name();
            let mut known = vec![false; 300];
            experiment.trusted().for_each(|page| known[page as usize] = true);
            for page in &record.order {
                let may = algorithm == Algorithm::Optimal || known[*page as usize];
                assert!(may, "{name}: page {page} was not found before");
                graph.links_of(*page).for_each(|target| known[target as usize] = true);
            }
            let mut pages = record.order.clone();
            pages.sort_unstable();
            pages.dedup();
            assert_eq!(pages.len(), record.order.len(), "{name}: a page twice");
            let had = |downloads: u32| {
                let order = &record.order[..downloads as usize];
                order.iter().map(|page| experiment.truth[*page as usize]).sum::<f64>()
            };
            for (downloads, bound) in &record.bound_curve {
                let truth = had(*downloads);
                assert!(*bound <= truth + 1e-11, "{name}: {bound} of {truth} at {downloads}");
            }
            let provable = tight(&experiment, &record);
            for (at, target) in TARGETS.iter().enumerate() {
                let (guaranteed, actual) = (record.guaranteed[at], record.actual[at]);
                assert_eq!(guaranteed.is_some(), algorithm.has_bound(), "{name} {target}");
                let Some(guaranteed) = guaranteed else { continue };
                assert!(actual.unwrap() <= provable[at].unwrap(), "{name} {target}");
                assert!(provable[at].unwrap() <= guaranteed.downloads, "{name} {target}");
            }
        }
    }
}

#[test]
fn a_trusted_dead_end_is_all_there_is() {
    let graph = Graph::of(&[&[1], &[]]);
    let trust = TrustWeights::evenly(&graph, &[1]).unwrap();
    let experiment = Experiment::new(&graph, trust, 1);
    for algorithm in Algorithm::ALL.into_iter().chain(Algorithm::SHIPPED) {
        let record = run(&experiment, algorithm);
        assert_eq!(record.order, [1], "{}", algorithm.name());
        assert_eq!(record.actual, [Some(1); 4]);
    }
}

/// Over many graphs, so that no seed decides: a surfer finds importance sooner than chance does,
/// and the orders that ship by importance sooner than the surfer.
#[test]
fn orders_by_importance_that_ship_beat_the_walk_and_the_walk_beats_chance() {
    let sum = |algorithm: Algorithm| -> u32 {
        let downloads = (0..12).map(|seed| {
            let graph = web(seed);
            let trust = TrustWeights::evenly(&graph, &[0, 1]).unwrap();
            let experiment = Experiment::new(&graph, trust, u64::from(seed));
            run(&experiment, algorithm).actual[1].expect("nine tenths are had")
        });
        downloads.sum()
    };
    let [chance, walk] = [Algorithm::Random, Algorithm::Walk].map(sum);
    assert!(walk < chance, "{walk} downloads by a walk, {chance} by chance");
    for order in [Order::Settled, Order::RankMass, Order::Opic, Order::PartialPr] {
        let shipped = sum(Algorithm::Shipped(order));
        assert!(shipped < walk, "{shipped} downloads by {order:?}, {walk} by a walk");
    }
}

#[test]
fn trust_needs_pages_that_exist_and_weights_above_nothing() {
    let graph = web(1);
    let missing = TrustWeights::evenly(&graph, &[0, 300]).unwrap_err();
    assert_eq!(missing.to_string(), "trusted page 300 does not exist: the last page is 299");
    assert_eq!(TrustWeights::evenly(&graph, &[]), Err(TrustError::Nobody));
    assert!(
        TrustWeights::new(&graph, &[(0, f64::NAN)]).is_err()
            && TrustWeights::new(&graph, &[(0, 0.0)]).is_err()
    );
    let merged = TrustWeights::new(&graph, &[(2, 1.0), (0, 2.0), (2, 1.0)]).unwrap();
    assert_eq!(merged.weights(), [(0, 0.5), (2, 0.5)]);
}
