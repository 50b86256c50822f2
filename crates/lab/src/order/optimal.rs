//! Optimal: by true importance, which no crawler knows. What an order is measured against.

use rhumb_graph::PageNumber;

use super::Experiment;
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let truth = &experiment.truth;
    let mut pages: Vec<PageNumber> =
        (0..experiment.graph.pages()).filter(|page| truth[*page as usize] > 0.0).collect();
    pages.sort_by(|one, other| truth[*other as usize].total_cmp(&truth[*one as usize]));
    for page in pages {
        if watch.is_over() {
            return;
        }
        watch.downloaded(page);
    }
}
