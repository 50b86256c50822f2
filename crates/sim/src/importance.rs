//! The oracle of importance: what share of it the crawled pages really have, at the least.
//!
//! It watches the answers of the web and the commits, and shares no code with the books of the
//! engine: plain power iteration in floating point over the links as last fetched. Of pages that
//! are not crawled it assumes the worst that any web could hold, that they keep for ever what
//! reaches them; so a bound that this truth bears out is borne out by every web.

use crate::numbers::{Named, UrlNumbers};
use rhumb_engine::config::Config;
use rhumb_engine::outcome::{FetchReport, Outcome};
use rhumb_engine::record::{RecordStatus, Refusal, UrlId, UrlRecord};
use rhumb_page::url::{Url, UrlKey};
use rhumb_state::plain::PlainMap;
use std::collections::VecDeque;

const FOLLOWED: f64 = 0.85;
/// The change at which iteration ends: the error is at most six times as much.
const CHANGE_MIN: f64 = 1e-10;
const ITERATIONS_MAX: usize = 400;

#[derive(Clone)]
pub struct Oracle {
    /// The rules of each run, and which run it is: what is inside depends on them.
    runs: Vec<Config>,
    run: usize,
    numbers: UrlNumbers,
    nodes: Vec<Node>,
    /// Answers whose visit is not on record, by partition and node.
    answered: PlainMap<(u32, u32), Option<Linked>>,
    trusted: Vec<usize>,
    /// The last result: where the next iteration begins.
    rank: Vec<f64>,
}

/// The links of an answer, each with its weight, and how relevant it was; none for a redirect.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linked {
    pub to: Vec<(u32, u8)>,
    pub relevance: Option<u8>,
}

#[derive(Clone, Default)]
struct Node {
    /// By run, one bit each.
    inside: u64,
    /// It was fetched, or would have been if host and robots.txt had let us.
    had_turn: bool,
    is_crawled: bool,
    visits: u32,
    /// Links of visits on record whose links are not, oldest first.
    staged: VecDeque<Linked>,
    /// Links of a visit were written before the visit, in the same commit.
    is_ahead: bool,
    /// As last fetched; none if they are not known.
    links: Option<Linked>,
}

impl Node {
    fn visited(&mut self, links: Option<Linked>) {
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
    /// For at most 64 runs.
    pub fn new(runs: Vec<Config>) -> Oracle {
        Oracle {
            runs,
            run: 0,
            numbers: UrlNumbers::default(),
            nodes: Vec::new(),
            answered: PlainMap::default(),
            trusted: Vec::new(),
            rank: Vec::new(),
        }
    }

    /// The owner named these, all alike.
    pub fn trust(&mut self, seeds: &[Url]) {
        for config in &mut self.runs {
            seeds.iter().for_each(|seed| config.scope.add(seed));
        }
        self.trusted = seeds.iter().map(|seed| self.node(seed) as usize).collect();
        self.trusted.sort_unstable();
        self.trusted.dedup();
        self.trusted.iter().for_each(|&seed| self.nodes[seed].inside = u64::MAX);
    }

    /// From now on the rules of this run are in force.
    pub fn begin_run(&mut self, run: usize) {
        self.run = run;
    }

    /// The rules of all runs.
    pub fn runs(&self) -> impl Iterator<Item = &Config> {
        self.runs.iter()
    }

    pub fn rules(&self) -> &Config {
        &self.runs[self.run]
    }

    /// The number of a URL, with a node for it.
    pub fn node(&mut self, url: &Url) -> u32 {
        let node = self.numbers.of(url);
        if node as usize == self.nodes.len() {
            let admits = |config: &Config| config.scope.admits(url) && config.rules.admits(url);
            let bits = self.runs.iter().enumerate().map(|(n, run)| u64::from(admits(run)) << n);
            self.nodes.push(Node { inside: bits.sum(), ..Node::default() });
        }
        node
    }

    /// The node of a URL that was named before.
    pub fn known(&self, url: &Url) -> Option<u32> {
        self.numbers.get(url)
    }

    /// The node of the URL that a row is of.
    pub fn node_of_row(&mut self, part: u32, key: &UrlKey, id: UrlId) -> Named {
        let named = self.numbers.of_row(part, key, id);
        if named.url as usize == self.nodes.len() {
            self.node(&key.url());
        }
        named
    }

    /// The web has answered; whether the engine hears of it is another matter.
    pub fn answered(&mut self, part: u32, url: &Url, report: &FetchReport) {
        let links = match &report.outcome {
            Outcome::Page(page) => {
                let weights = page.known.weighted().map(|(_, weight)| weight);
                let known = page.known.addressed().map(|(_, text)| text.into()).zip(weights);
                let mut to: Vec<(u32, u8)> = known
                    .filter_map(|(text, weight)| Some((Url::from_canonical(text)?, weight)))
                    .map(|(url, weight)| (self.node(&url), weight))
                    .collect();
                to.extend(page.found.iter().map(|f| (self.node(&f.url), f.weight)));
                Some(Linked { to, relevance: Some(page.relevance) })
            }
            Outcome::Moved { to: Some(to) } => {
                Some(Linked { to: vec![(self.node(to), 0)], relevance: None })
            }
            Outcome::Moved { to: None } => None,
            _ => return,
        };
        let links = links.map(|mut links: Linked| {
            links.to.sort_unstable_by_key(|(to, weight)| (*to, std::cmp::Reverse(*weight)));
            links.to.dedup_by_key(|(to, _)| *to);
            links
        });
        let node = self.node(url);
        self.answered.insert((part, node), links);
    }

    /// A process died: its answers that are not on record are forgotten.
    pub fn crashed(&mut self, part: u32) {
        self.answered.retain(|(of, _), _| *of != part);
    }

    /// A row says this of a URL.
    pub fn recorded(&mut self, part: u32, node: u32, record: &UrlRecord) {
        let known = &mut self.nodes[node as usize];
        let is_visit = record.past.visits > known.visits;
        // What no link may lead to is no node of the graph.
        known.had_turn |= match record.status {
            _ if record.role.is_outside_requisite() => false,
            RecordStatus::Queued | RecordStatus::Foreign => false,
            RecordStatus::Refused(why) => why == Refusal::Robots,
            _ => true,
        };
        known.visits = record.past.visits;
        if is_visit && matches!(record.status, FETCHED | COPIED | MOVED) {
            // A page that was said to be fetched and was not has no links here.
            if let Some(links) = self.answered.remove(&(part, node)) {
                known.visited(links);
            }
        }
    }

    /// A row has the last of a page's links.
    pub fn linked(&mut self, part: u32, page: UrlId) {
        let node = self.numbers.named(part, page).expect("a row of a URL that is known");
        self.nodes[node as usize].linked();
    }

    /// The importance of all crawled pages, if all others keep what reaches them.
    pub fn covered(&mut self) -> f64 {
        // Beside the nodes, one for all that is not crawled or whose links are not known.
        let sink = self.nodes.len();
        let mut rank = std::mem::take(&mut self.rank);
        rank.resize(sink + 1, 0.0);
        let (links, ends) = self.graph();
        let trust = 1.0 / self.trusted.len().max(1) as f64;
        for _ in 0..ITERATIONS_MAX {
            let mut next = vec![0.0; sink + 1];
            let mut jumps = 1.0 - FOLLOWED;
            let mut begin = 0;
            for (&end, &mass) in ends.iter().zip(&rank) {
                let links = &links[begin..end];
                begin = end;
                if links.is_empty() {
                    jumps += FOLLOWED * mass;
                    continue;
                }
                let share = FOLLOWED * mass / links.len() as f64;
                links.iter().for_each(|&to| next[to as usize] += share);
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

    /// What is known of a page that was crawled: its links that count. None of any other.
    pub(crate) fn last_links(&self, node: usize) -> Option<Linked> {
        let node = &self.nodes[node];
        let linked = node.links.as_ref().filter(|_| node.is_crawled)?;
        let counting = linked.to.iter().copied().filter(|(to, _)| self.counts(*to));
        Some(Linked { to: counting.collect(), relevance: linked.relevance })
    }

    pub(crate) fn nodes_len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn trusted(&self) -> &[usize] {
        &self.trusted
    }

    /// Whether a link to this node counts: the rules admit it, or other ones did and it had its
    /// turn.
    fn counts(&self, node: u32) -> bool {
        let node = &self.nodes[node as usize];
        node.had_turn || node.inside >> self.run & 1 == 1
    }

    /// The links that count, of all nodes one after the other, and where those of each end. Of a
    /// page that is not crawled, or whose links nobody knows: one to the sink.
    fn graph(&self) -> (Vec<u32>, Vec<usize>) {
        let mut links = Vec::new();
        let ends = self.nodes.iter().map(|node| {
            match node.links.as_ref().filter(|_| node.is_crawled) {
                Some(of) => {
                    let to = of.to.iter().map(|(to, _)| *to);
                    links.extend(to.filter(|to| self.counts(*to)));
                }
                None => links.push(self.nodes.len() as u32),
            }
            links.len()
        });
        let ends = ends.collect();
        (links, ends)
    }
}

const FETCHED: RecordStatus = RecordStatus::Fetched;
const COPIED: RecordStatus = RecordStatus::Duplicate;
const MOVED: RecordStatus = RecordStatus::Moved;
