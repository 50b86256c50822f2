//! Back-link count: the page that most downloaded pages link to, of equal ones the first found.
//!
//! Cho, Garcia-Molina and Page, *Efficient crawling through URL ordering* (WWW 1998), metric IB'.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rhumb_graph::PageNumber;

use super::Experiment;
use super::record::Watch;

pub(super) fn run(experiment: &Experiment<'_>, watch: &mut Watch<'_>) {
    let mut links_to = vec![0u32; experiment.pages()];
    let mut found: Vec<Option<u32>> = vec![None; experiment.pages()];
    let mut downloaded = vec![false; experiment.pages()];
    // Entries whose count has grown since are stale: the page has a better one further up.
    let mut best: BinaryHeap<(u32, Reverse<u32>, PageNumber)> = BinaryHeap::new();
    let mut count = 0;
    let mut find = |page: PageNumber| {
        *found[page as usize].get_or_insert_with(|| {
            count += 1;
            count
        })
    };
    for page in experiment.trusted() {
        best.push((0, Reverse(find(page)), page));
    }
    while !watch.is_over()
        && let Some((_, _, page)) = best.pop()
    {
        if std::mem::replace(&mut downloaded[page as usize], true) {
            continue;
        }
        watch.downloaded(page);
        for target in experiment.graph.links_of(page) {
            let at = target as usize;
            links_to[at] += 1;
            if !downloaded[at] {
                best.push((links_to[at], Reverse(find(target)), target));
            }
        }
    }
}
