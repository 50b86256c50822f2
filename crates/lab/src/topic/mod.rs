//! How soon is a topic's part of a known web found, and how much of it is proven? Orders side by
//! side over pages whose texts, links and subjects are known.
//!
//! The topic is learnt from five seeds, as `--topic like:` would, and pages are judged by it; who
//! is of the subject in truth only counts afterwards. Orders of the engine are driven as the engine
//! drives them, by its own books, policies and link model (`crawl`); `peers` are orders that it
//! does not have. `truth` is what the biased surfer really does, by power iteration in floating
//! point, which shares no code with the books.

pub mod collection;
mod crawl;
mod peers;
mod truth;

use collection::{JudgedPages, TopicSubject};
use rhumb_engine::config::Order;
use rhumb_engine::mass::{FIFTEENTHS, Surfer};
use rhumb_engine::rng::Rng;
use rhumb_topic::features::{Feature, TextFeatures};
use rhumb_topic::link::{LinkScorer, LinkWords};
use rhumb_topic::training::{LearntModel, learn};
use rhumb_topic::{Topic, TopicPart};

pub use truth::TopicTruth;

/// Texts that are no examples, drawn from all other pages.
const OTHERS: usize = 300;
/// Where an order is looked at: after so many times the pages of the subject.
pub const TIMES: [usize; 3] = [1, 2, 5];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicOrder {
    Bfs,
    BestParent,
    Settled,
    Focused,
    FocusedProven,
    Oracle,
}

impl TopicOrder {
    pub const ALL: [TopicOrder; 6] = [
        TopicOrder::Bfs,
        TopicOrder::BestParent,
        TopicOrder::Settled,
        TopicOrder::Focused,
        TopicOrder::FocusedProven,
        TopicOrder::Oracle,
    ];

    pub fn name(self) -> &'static str {
        match self {
            TopicOrder::Bfs => "bfs",
            TopicOrder::BestParent => "bestparent",
            TopicOrder::Settled => "settled",
            TopicOrder::Focused => "focused",
            TopicOrder::FocusedProven => "focused-proven",
            TopicOrder::Oracle => "oracle",
        }
    }

    pub fn named(name: &str) -> Option<TopicOrder> {
        TopicOrder::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// What an order had at one of [`TIMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Had {
    /// Of the subject's pages.
    pub recall: f64,
    /// Of the topic's mass: for certain, and in truth. None where the order proves nothing.
    pub proven: Option<f64>,
    pub truly: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct TopicOutcome {
    pub order: TopicOrder,
    pub subject: String,
    pub draw: usize,
    /// Pages of the subject.
    pub wanted: usize,
    pub had: [Had; TIMES.len()],
    /// Pages fetched and share of the subject had, for drawing.
    pub curve: Vec<f64>,
}

/// A draw of seeds, a topic, and what it says of all pages.
pub struct Setting<'a> {
    pub collection: &'a JudgedPages,
    pub seeds: &'a [u32],
    topic: Topic,
    /// By page: how it is left, and the weight of each of its links.
    surfers: Vec<Surfer>,
    weights: Vec<Vec<u8>>,
    is_wanted: Vec<bool>,
    pub wanted: usize,
}

/// Pages that a draw begins from.
const SEEDS: usize = 5;

/// The best of a collection by a topic, such as a model of quality, as a subject: this share of its
/// pages, and so many draws of seeds, each of five pages of the whole.
pub fn best(relevances: &[f32], share: f64, draws: usize) -> TopicSubject {
    let pages = relevances.len();
    let mut by_relevance: Vec<u32> = (0..pages as u32).collect();
    by_relevance.sort_by(|a, b| relevances[*b as usize].total_cmp(&relevances[*a as usize]));
    by_relevance.truncate((pages as f64 * share).ceil() as usize);
    let mut rng = Rng::new(pages as u64);
    let mut seeds = Vec::new();
    for _ in 0..draws {
        let mut draw: Vec<u32> = Vec::new();
        while draw.len() < SEEDS.min(pages) {
            let page = (rng.draw() % pages as u64) as u32;
            if !draw.contains(&page) {
                draw.push(page);
            }
        }
        seeds.push(draw);
    }
    TopicSubject { pages: by_relevance, seeds }
}

/// The texts of all pages, taken apart once.
pub struct Texts(Vec<Box<[Feature]>>);

impl Texts {
    pub fn of(collection: &JudgedPages) -> Texts {
        let mut features = TextFeatures::default();
        Texts(collection.pages.iter().map(|page| features.of(&page.text).into()).collect())
    }

    pub fn get(&self, page: usize) -> &[Feature] {
        &self.0[page]
    }
}

impl<'a> Setting<'a> {
    /// With the topic that these seeds make. None if nothing could be learnt from them.
    pub fn new(
        collection: &'a JudgedPages,
        texts: &Texts,
        subject: &'a TopicSubject,
        draw: usize,
    ) -> Option<Setting<'a>> {
        let seeds = &subject.seeds[draw];
        let pages = collection.pages.len();
        let mut rng = Rng::new(draw as u64 ^ seeds.iter().fold(7, |a, s| a * 31 + u64::from(*s)));
        let mut others: Vec<u32> = Vec::new();
        while others.len() < OTHERS.min(pages.saturating_sub(seeds.len())) {
            let page = (rng.draw() % pages as u64) as u32;
            if !seeds.contains(&page) && !others.contains(&page) {
                others.push(page);
            }
        }
        let of = |list: &[u32]| list.iter().map(|p| &*texts.0[*p as usize]).collect::<Vec<_>>();
        let LearntModel { model, .. } = learn(&of(seeds), &of(&others))?;
        let relevances: Vec<f32> = texts.0.iter().map(|text| model.relevance(text)).collect();
        let topic = Topic::of(TopicPart::Learnt(Box::new(model)));
        Some(Setting::about(topic, &relevances, collection, subject, draw))
    }

    /// With a topic that says this of the pages.
    pub fn about(
        topic: Topic,
        relevances: &[f32],
        collection: &'a JudgedPages,
        subject: &'a TopicSubject,
        draw: usize,
    ) -> Setting<'a> {
        let bytes: Vec<u8> = relevances.iter().map(|r| (r * 255.0).round() as u8).collect();
        let mut setting = Setting {
            collection,
            seeds: &subject.seeds[draw],
            topic,
            surfers: bytes.iter().map(|byte| Surfer::on(*byte)).collect(),
            weights: Vec::new(),
            is_wanted: vec![false; relevances.len()],
            wanted: subject.pages.len(),
        };
        subject.pages.iter().for_each(|page| setting.is_wanted[*page as usize] = true);
        setting.weigh(&bytes);
        setting
    }

    fn weigh(&mut self, relevances: &[u8]) {
        let mut links = LinkScorer::default();
        let pages = self.collection.pages.iter().zip(relevances);
        let of_page = |(page, relevance): (&collection::JudgedPage, &u8)| {
            let relevance = f32::from(*relevance) / 255.0;
            let both = page.links.iter().zip(&page.around);
            let weigh = |(to, around): (&u32, &String)| {
                let own = [&*self.collection.pages[*to as usize].title];
                let words = LinkWords { own: &own, around: &[around] };
                links.weight(&self.topic, relevance, words)
            };
            both.map(weigh).collect()
        };
        self.weights = pages.map(of_page).collect();
    }

    /// The relevance of a page, as the model sees it.
    fn relevance(&self, page: u32) -> f64 {
        f64::from(self.surfers[page as usize].relevance()) / f64::from(FIFTEENTHS)
    }

    /// The probability that a page of the subject has a higher relevance than another.
    pub fn auc(&self) -> f64 {
        let mut counts = [[0u64; FIFTEENTHS as usize + 1]; 2];
        for (surfer, is_wanted) in self.surfers.iter().zip(&self.is_wanted) {
            counts[usize::from(*is_wanted)][usize::from(surfer.relevance())] += 1;
        }
        let (mut below, mut right) = (0, 0.0);
        let [others, wanted] = counts;
        for (others, wanted) in others.into_iter().zip(wanted) {
            right += wanted as f64 * (below as f64 + others as f64 / 2.0);
            below += others;
        }
        right / (below * wanted.iter().sum::<u64>()).max(1) as f64
    }

    /// Fetches pages in this order until five times the subject was fetched, or nothing is left.
    pub fn run(&self, order: TopicOrder, truth: &TopicTruth) -> (Vec<f64>, [Had; TIMES.len()]) {
        let limit = TIMES[TIMES.len() - 1] * self.wanted;
        let looks = TIMES.map(|times| times * self.wanted);
        let (fetched, proven) = match order {
            TopicOrder::Bfs => (crawl::run(self, Order::Bfs, limit, &[]).0, Vec::new()),
            TopicOrder::Settled => crawl::run(self, Order::Settled, limit, &looks),
            TopicOrder::Focused => crawl::run(self, Order::Focused, limit, &looks),
            TopicOrder::FocusedProven => crawl::run(self, Order::FocusedProven, limit, &looks),
            TopicOrder::BestParent => (peers::best_parent(self, limit), Vec::new()),
            TopicOrder::Oracle => (peers::oracle(self, limit), Vec::new()),
        };
        let mut found = 0;
        let curve: Vec<f64> = fetched
            .iter()
            .map(|page| {
                found += usize::from(self.is_wanted[*page as usize]);
                found as f64 / self.wanted.max(1) as f64
            })
            .collect();
        let had = std::array::from_fn(|at| {
            let fetched = &fetched[..looks[at].min(fetched.len())];
            Had {
                recall: fetched.len().checked_sub(1).map_or(0.0, |last| curve[last]),
                proven: proven.get(at).copied(),
                truly: proven.get(at).map(|_| truth.share(fetched)),
            }
        });
        (curve, had)
    }
}
