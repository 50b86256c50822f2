//! OPIC: cash that is handed on once, when a page is downloaded.
//!
//! Abiteboul, Preda and Cobena, *Adaptive on-line page importance computation* (WWW 2003), used to
//! order a crawl: the page with the most cash comes next, of equal ones the first, and splits its
//! cash among its links. Cash that reaches a downloaded page stays there. It proves nothing.

use super::Experiment;
use super::heap::Heap;
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut cash = vec![0.0; experiment.pages()];
    let mut downloaded = vec![false; experiment.pages()];
    let mut heap = Heap::new(experiment.pages());
    for &(page, weight) in experiment.trust.weights() {
        cash[page as usize] = weight;
    }
    let (mut pushes, mut edge_updates) = (0, 0);
    while !watch.is_over()
        && let Some((worth, page)) =
            heap.pop(|page| if downloaded[page as usize] { 0.0 } else { cash[page as usize] })
    {
        downloaded[page as usize] = true;
        watch.downloaded(page);
        let links = experiment.graph.links_of(page);
        pushes += 1;
        edge_updates += links.len() as u64;
        let share = worth / links.len().max(1) as f64;
        for target in links {
            let at = target as usize;
            cash[at] += share;
            if !downloaded[at] {
                heap.raise(target, cash[at]);
            }
        }
        watch.proven(0.0, pushes, edge_updates);
    }
}
