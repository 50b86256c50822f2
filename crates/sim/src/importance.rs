//! The oracle of importance: what share of it the crawled pages really have, at the least.
//!
//! It watches the answers of the web and the commits, and shares no code with the books of the
//! engine: plain power iteration in floating point over the links as last fetched. Of pages that
//! are not crawled it assumes the worst that any web could hold, that they keep for ever what
//! reaches them; so a bound that this truth bears out is borne out by every web.

use rhumb_engine::config::Config;
use rhumb_engine::event::Row;
use rhumb_engine::outcome::{Outcome, Report};
use rhumb_engine::record::{Status, UrlId};
use rhumb_page::url::Url;
use std::collections::{HashMap, VecDeque};

const FOLLOWED: f64 = 0.85;
/// The change at which iteration ends.
const CHANGE_MIN: f64 = 1e-12;
const ITERATIONS_MAX: usize = 400;

pub struct Oracle {
    config: Config,
    index: HashMap<Url, usize>,
    nodes: Vec<Node>,
    /// Answers whose visit is not on record.
    answered: HashMap<(u32, Url), Option<Vec<usize>>>,
    /// By partition and number, for rows that name pages so.
    numbers: HashMap<(u32, UrlId), usize>,
    trusted: Vec<usize>,
    /// The last result: where the next iteration begins.
    rank: Vec<f64>,
}

#[derive(Default)]
struct Node {
    is_inside: bool,
    is_crawled: bool,
    visits: u32,
    /// Links of visits on record whose links are not, oldest first.
    staged: VecDeque<Vec<usize>>,
    /// Links of a visit were written before the visit, in the same commit.
    is_ahead: bool,
    /// As last fetched; none if they are not known.
    links: Option<Vec<usize>>,
}

impl Node {
    fn visited(&mut self, links: Option<Vec<usize>>) {
        self.is_crawled = true;
        self.staged.extend(links);
        if std::mem::take(&mut self.is_ahead) {
            self.linked();
        }
    }

    fn linked(&mut self) {
        match self.staged.pop_front() {
            Some(links) => self.links = Some(links),
            None => self.is_ahead = true,
        }
    }
}

impl Oracle {
    pub fn new(config: &Config) -> Oracle {
        Oracle {
            config: config.clone(),
            index: HashMap::new(),
            nodes: Vec::new(),
            answered: HashMap::new(),
            numbers: HashMap::new(),
            trusted: Vec::new(),
            rank: Vec::new(),
        }
    }

    /// The owner named these, all alike.
    pub fn trust(&mut self, seeds: &[Url]) {
        seeds.iter().for_each(|seed| self.config.scope.add(seed));
        self.trusted = seeds.iter().map(|seed| self.node(seed)).collect();
        self.trusted.sort_unstable();
        self.trusted.dedup();
        self.trusted.iter().for_each(|&seed| self.nodes[seed].is_inside = true);
    }

    fn node(&mut self, url: &Url) -> usize {
        if let Some(&node) = self.index.get(url) {
            return node;
        }
        let is_inside = self.config.scope.admits(url) && self.config.rules.admits(url);
        self.nodes.push(Node { is_inside, ..Node::default() });
        self.index.insert(url.clone(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The web has answered; whether the engine hears of it is another matter.
    pub fn answered(&mut self, part: u32, url: &Url, report: &Report) {
        let links = match &report.outcome {
            Outcome::Page(page) => Some(page.found.iter().map(|f| self.node(&f.url)).collect()),
            Outcome::Moved { to: Some(to) } => Some(vec![self.node(to)]),
            Outcome::Moved { to: None } => None,
            _ => return,
        };
        let links = links.map(|mut links: Vec<usize>| {
            links.sort_unstable();
            links.dedup();
            links
        });
        self.answered.insert((part, url.clone()), links);
    }

    /// A process died: its answers that are not on record are forgotten.
    pub fn crashed(&mut self, part: u32) {
        self.answered.retain(|(of, _), _| *of != part);
    }

    pub fn row(&mut self, part: u32, row: &Row) {
        match row {
            // Its own partition says what becomes of it.
            Row::Url { record, .. } if record.status == Status::Foreign => {}
            Row::Url { key, record } => {
                let url = key.url();
                let node = self.node(&url);
                self.numbers.insert((part, record.id), node);
                let is_visit = record.visits > self.nodes[node].visits;
                self.nodes[node].visits = record.visits;
                if is_visit && matches!(record.status, FETCHED | COPIED | MOVED) {
                    // A page that was said to be fetched and was not has no links here.
                    if let Some(links) = self.answered.remove(&(part, url)) {
                        self.nodes[node].visited(links);
                    }
                }
            }
            Row::Links { page, links, .. } if links.ends => {
                let node = *self.numbers.get(&(part, *page)).expect("a row of a URL that is known");
                self.nodes[node].linked();
            }
            _ => {}
        }
    }

    /// The importance of all crawled pages, if all others keep what reaches them.
    pub fn covered(&mut self) -> f64 {
        // Beside the nodes, one for all that is not crawled or whose links are not known.
        let sink = self.nodes.len();
        let mut rank = std::mem::take(&mut self.rank);
        rank.resize(sink + 1, 0.0);
        let graph: Vec<Option<Vec<usize>>> = self.nodes.iter().map(|n| self.links(n)).collect();
        let trust = 1.0 / self.trusted.len().max(1) as f64;
        for _ in 0..ITERATIONS_MAX {
            let mut next = vec![0.0; sink + 1];
            let mut jumps = 1.0 - FOLLOWED;
            for (links, &mass) in graph.iter().zip(&rank) {
                match links {
                    None => next[sink] += FOLLOWED * mass,
                    Some(links) if links.is_empty() => jumps += FOLLOWED * mass,
                    Some(links) => {
                        let share = FOLLOWED * mass / links.len() as f64;
                        links.iter().for_each(|&to| next[to] += share);
                    }
                }
            }
            next[sink] += FOLLOWED * rank[sink];
            // Begun from anything, the whole is one only in the end.
            let whole: f64 = next.iter().sum::<f64>() + jumps;
            jumps += 1.0 - whole;
            self.trusted.iter().for_each(|&seed| next[seed] += jumps * trust);
            let change: f64 = next.iter().zip(&rank).map(|(a, b)| (a - b).abs()).sum();
            rank = next;
            if change < CHANGE_MIN {
                break;
            }
        }
        let crawled = self.nodes.iter().zip(&rank).filter(|(node, _)| node.is_crawled);
        let covered = crawled.map(|(_, mass)| mass).sum();
        // The sink's number belongs to a node next time.
        rank.pop();
        self.rank = rank;
        covered
    }

    /// The links that count. Of a page that is not crawled, or whose links nobody knows: none.
    fn links(&self, node: &Node) -> Option<Vec<usize>> {
        let links = node.links.as_ref().filter(|_| node.is_crawled)?;
        Some(links.iter().copied().filter(|&to| self.nodes[to].is_inside).collect())
    }
}

const FETCHED: Status = Status::Fetched;
const COPIED: Status = Status::Duplicate;
const MOVED: Status = Status::Moved;
