//! How soon are the popular pages found? Cho, Garcia-Molina and Page, *Efficient crawling through
//! URL ordering* (WWW 1998), section 5: the share of the pages with the most links to them that an
//! order has after a share of the crawl.

use rhumb_graph::PageNumber;

use super::Experiment;

/// Which pages are popular: the first so many percent by in-degree.
pub const POPULAR_PERCENT: [u32; 3] = [1, 5, 10];
/// When it is looked: after so many percent of the reachable pages.
pub const CRAWLED_PERCENT: [u32; 13] = [1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

/// For each of [`POPULAR_PERCENT`], the share found at each of [`CRAWLED_PERCENT`]; nothing where
/// the order was cut before.
pub type PopularFound = [[Option<f64>; CRAWLED_PERCENT.len()]; POPULAR_PERCENT.len()];

pub struct Popular {
    /// Reachable pages by in-degree, of equal ones the first.
    places: Vec<u32>,
    reachable: u32,
}

impl Popular {
    pub fn new(experiment: &Experiment<'_>) -> Popular {
        let degrees = experiment.graph.in_degrees();
        let levels = super::lneighbor::levels(experiment.graph, &experiment.trust);
        let mut pages: Vec<PageNumber> = levels.into_iter().flatten().collect();
        pages.sort_by_key(|page| (std::cmp::Reverse(degrees[*page as usize]), *page));
        let mut places = vec![u32::MAX; experiment.pages()];
        for (place, page) in (0..).zip(&pages) {
            places[*page as usize] = place;
        }
        Popular { places, reachable: experiment.reachable }
    }

    pub fn found(&self, order: &[PageNumber]) -> PopularFound {
        POPULAR_PERCENT.map(|percent| {
            let popular = self.share(percent).max(1);
            let mut found = 0u32;
            let mut seen = 0;
            CRAWLED_PERCENT.map(|percent| {
                let downloads = self.share(percent) as usize;
                let more = order.get(seen..downloads)?;
                let is_popular = |page: &&PageNumber| self.places[**page as usize] < popular;
                found += more.iter().filter(is_popular).count() as u32;
                seen = downloads;
                Some(f64::from(found) / f64::from(popular))
            })
        })
    }

    fn share(&self, percent: u32) -> u32 {
        (u64::from(self.reachable) * u64::from(percent) / 100) as u32
    }
}
