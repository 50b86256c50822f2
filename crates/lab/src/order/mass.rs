//! Importance mass, page by page: what has settled, and the residual that has not.
//!
//! A push settles a page's residual x and sends d·x, in equal shares, to the pages it links to;
//! only a page that was downloaded can be pushed. Whatever the order of pushes, the settled mass
//! and the residual r of all pages keep Σ settled + Σ r / (1 − d) = 1 (less what was lost), so with
//! the residual split into that on downloaded pages (inside) and on others (outside)
//!
//! - `proven` = settled + inside is mass that the downloaded pages have for certain, and
//! - `possible` = 1 − outside / (1 − d) is the most that pushing alone can ever prove of them.
//!
//! The difference is d / (1 − d) of what is inside. A page's residual is set to nothing before its
//! shares go out, so that a link to itself is not destroyed.

use std::collections::VecDeque;

use rhumb_graph::{Graph, PageNumber};

use super::{DAMPING, Experiment};

/// What becomes of the share that a page without links would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dangling {
    /// It goes to the trusted pages, as the definition says.
    Reinjected,
    /// It is lost; all values are then too small by the same factor.
    Lost,
}

pub(super) struct Mass<'a> {
    graph: &'a Graph,
    weights: &'a [(PageNumber, f64)],
    dangling: Dangling,
    residual: Vec<f64>,
    downloaded: Vec<bool>,
    order: Vec<PageNumber>,
    settled: f64,
    inside: f64,
    outside: f64,
    /// Downloaded pages whose residual is at least this are in the queue.
    least: f64,
    queue: VecDeque<PageNumber>,
    pub pushes: u64,
    pub edge_updates: u64,
}

/// A page whose residual grew.
#[derive(Clone, Copy)]
pub(super) struct Grown {
    pub page: PageNumber,
    pub residual: f64,
    pub downloaded: bool,
}

impl<'a> Mass<'a> {
    pub fn new(experiment: &'a Experiment<'_>, dangling: Dangling) -> Mass<'a> {
        let pages = experiment.pages();
        let weights = experiment.trust.weights();
        let mut residual = vec![0.0; pages];
        for &(page, weight) in weights {
            residual[page as usize] = (1.0 - DAMPING) * weight;
        }
        Mass {
            graph: experiment.graph,
            weights,
            dangling,
            residual,
            downloaded: vec![false; pages],
            order: Vec::new(),
            settled: 0.0,
            inside: 0.0,
            outside: 1.0 - DAMPING,
            least: f64::INFINITY,
            queue: VecDeque::new(),
            pushes: 0,
            edge_updates: 0,
        }
    }

    pub fn residual(&self, page: PageNumber) -> f64 {
        self.residual[page as usize]
    }

    /// The same, of pages that were not downloaded; others have nothing.
    pub fn residual_outside(&self, page: PageNumber) -> f64 {
        if self.is_downloaded(page) { 0.0 } else { self.residual(page) }
    }

    pub fn is_downloaded(&self, page: PageNumber) -> bool {
        self.downloaded[page as usize]
    }

    pub fn settled(&self) -> f64 {
        self.settled
    }

    pub fn inside(&self) -> f64 {
        self.inside
    }

    pub fn proven(&self) -> f64 {
        self.settled + self.inside
    }

    pub fn possible(&self) -> f64 {
        1.0 - self.outside / (1.0 - DAMPING)
    }

    /// What pushing alone could still decide.
    pub fn doubt(&self) -> f64 {
        self.inside * DAMPING / (1.0 - DAMPING)
    }

    pub fn download(&mut self, page: PageNumber) {
        let at = page as usize;
        assert!(!self.downloaded[at], "a page is downloaded once");
        self.downloaded[at] = true;
        self.order.push(page);
        self.outside -= self.residual[at];
        self.inside += self.residual[at];
        if self.residual[at] >= self.least {
            self.queue.push_back(page);
        }
    }

    /// Settles what a downloaded page has and tells whose residual grew.
    pub fn push(&mut self, page: PageNumber, mut grown: impl FnMut(Grown)) {
        let x = std::mem::take(&mut self.residual[page as usize]);
        self.inside -= x;
        self.settled += x;
        self.pushes += 1;
        let graph = self.graph;
        let links = graph.links_of(page);
        if links.len() > 0 {
            self.edge_updates += links.len() as u64;
            let count = links.len();
            let share = DAMPING * x / count as f64;
            let mut inside = 0;
            for target in links {
                inside += usize::from(self.grow(target, share, &mut grown));
            }
            self.inside += share * inside as f64;
            self.outside += share * (count - inside) as f64;
        } else if self.dangling == Dangling::Reinjected {
            self.edge_updates += self.weights.len() as u64;
            for &(target, weight) in self.weights {
                let share = DAMPING * x * weight;
                if self.grow(target, share, &mut grown) {
                    self.inside += share;
                } else {
                    self.outside += share;
                }
            }
        }
    }

    /// Whether the page was downloaded. The sums are the caller's: one addition for all links.
    #[inline]
    fn grow(&mut self, page: PageNumber, share: f64, grown: &mut impl FnMut(Grown)) -> bool {
        let at = page as usize;
        let before = self.residual[at];
        let residual = before + share;
        self.residual[at] = residual;
        let downloaded = self.downloaded[at];
        if downloaded && before < self.least && residual >= self.least {
            self.queue.push_back(page);
        }
        grown(Grown { page, residual, downloaded });
        downloaded
    }

    /// Pushes every downloaded page that has at least so much, until none has or `enough` says so.
    pub fn settle(
        &mut self,
        least: f64,
        enough: impl Fn(&Mass<'_>) -> bool,
        mut grown: impl FnMut(Grown),
    ) {
        self.watch_above(least);
        while !enough(self)
            && let Some(page) = self.queue.pop_front()
        {
            self.push(page, &mut grown);
        }
    }

    /// Makes the queue anew if others belong into it.
    fn watch_above(&mut self, least: f64) {
        if least == self.least {
            return;
        }
        let (residual, order) = (&self.residual, &self.order);
        if least > self.least {
            self.queue.retain(|page| residual[*page as usize] >= least);
        } else {
            let worth = |page: &&PageNumber| residual[**page as usize] >= least;
            self.queue.clear();
            self.queue.extend(order.iter().filter(worth));
        }
        self.least = least;
    }
}
