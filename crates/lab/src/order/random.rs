//! Random: any known page, each as likely as the others. What an order must beat to be worth
//! anything; [`super::walk`] is the other baseline.

use rhumb_engine::rng::Rng;
use rhumb_graph::PageNumber;

use super::Experiment;
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut rng = Rng::new(experiment.seed);
    let mut known = vec![false; experiment.pages()];
    let mut frontier: Vec<PageNumber> = experiment.trusted().collect();
    frontier.iter().for_each(|page| known[*page as usize] = true);
    while !watch.is_over() && !frontier.is_empty() {
        let at = (rng.draw() % frontier.len() as u64) as usize;
        let page = frontier.swap_remove(at);
        watch.downloaded(page);
        for target in experiment.graph.links_of(page) {
            if !std::mem::replace(&mut known[target as usize], true) {
                frontier.push(target);
            }
        }
    }
}
