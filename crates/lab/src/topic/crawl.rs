//! A crawl of known pages by an order of the engine: its policy, its books, its link model.
//!
//! One page after the other, without hosts and their manners, the best of all that wait; else as
//! the engine does it.

use super::Setting;
use rhumb_engine::config::{Config, Focus, Order};
use rhumb_engine::event::Step;
use rhumb_engine::known::KnownLinks;
use rhumb_engine::mass::{Mass, Surfer};
use rhumb_engine::order::{self, OrderPolicy};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_page::url::Url;

/// The pages in the order of their downloads, and what was proven after so many.
pub fn run(
    setting: &Setting<'_>,
    by: Order,
    limit: usize,
    looks: &[usize],
) -> (Vec<u32>, Vec<f64>) {
    let is_biased = matches!(by, Order::Focused | Order::FocusedProven);
    let mut steering = Books::new(setting, by, is_biased);
    // An order without a bias steers by its own books; a second set says what it proves.
    let mut proving =
        (!is_biased && !looks.is_empty()).then(|| Books::new(setting, Order::FocusedProven, true));
    let mut waiting: Vec<u32> = setting.seeds.to_vec();
    let mut depth: Vec<Option<u16>> = vec![None; setting.collection.pages.len()];
    setting.seeds.iter().for_each(|seed| depth[*seed as usize] = Some(0));
    let (mut fetched, mut proven) = (Vec::new(), Vec::new());
    while fetched.len() < limit
        && let Some(at) = steering.best(&waiting, &depth)
    {
        let page = waiting.swap_remove(at);
        let next = depth[page as usize].unwrap_or(0) + 1;
        for &to in &setting.collection.pages[page as usize].links {
            if depth[to as usize].is_none() {
                depth[to as usize] = Some(next);
                waiting.push(to);
                steering.found(to);
                proving.iter_mut().for_each(|books| books.found(to));
            }
        }
        steering.fetched(setting, page);
        proving.iter_mut().for_each(|books| books.fetched(setting, page));
        fetched.push(page);
        if looks.contains(&fetched.len()) {
            proven.push(proving.as_mut().unwrap_or(&mut steering).bound());
        }
    }
    // What could be reached was fetched before the last looks.
    while proven.len() < looks.len() {
        proven.push(proving.as_mut().unwrap_or(&mut steering).bound());
    }
    (fetched, proven)
}

struct Books {
    policy: Box<dyn OrderPolicy>,
    mass: Mass,
    is_biased: bool,
    step: Step,
}

impl Books {
    fn new(setting: &Setting<'_>, order: Order, is_biased: bool) -> Books {
        let topic = is_biased.then(Focus::default);
        let policy = order::policy(&Config { order, topic, ..Config::default() });
        let mut books = Books { policy, mass: Mass::default(), is_biased, step: Step::default() };
        let url = |page: u32| Url::parse(&format!("http://known.test/{page}")).expect("a URL");
        books.mass.seeded(setting.seeds.iter().map(|seed| (url(*seed), 1.0)));
        for &seed in setting.seeds {
            books.found(seed);
            if let Some((node, share)) = books.mass.seed_is(&url(seed), id(seed)) {
                books.policy.trusted(node, share);
            }
        }
        books
    }

    fn found(&mut self, page: u32) {
        self.mass.stand(&UrlRecord::new(id(page), RecordStatus::Queued, 0, 0, Time(0)));
    }

    fn best(&self, waiting: &[u32], depth: &[Option<u16>]) -> Option<usize> {
        let place = |page: u32| {
            let depth = depth[page as usize].unwrap_or(0);
            let rank = self.policy.place(depth, id(page), &self.mass);
            (rank.class, rank.rank, page)
        };
        (0..waiting.len()).min_by_key(|at| place(waiting[*at]))
    }

    fn fetched(&mut self, setting: &Setting<'_>, page: u32) {
        self.mass.stand(&UrlRecord::new(id(page), RecordStatus::Fetched, 0, 0, Time(0)));
        let surfer = if self.is_biased { setting.surfers[page as usize] } else { Surfer::USUAL };
        let links = &setting.collection.pages[page as usize].links;
        let whole = if links.is_empty() {
            self.mass.linked_to_none(page, surfer, &mut self.step)
        } else {
            let mut known = KnownLinks::new(0);
            for (to, weight) in links.iter().zip(&setting.weights[page as usize]) {
                known.push(*to, None);
                known.weigh(*weight);
            }
            self.mass.linked_to_known(page, 0, (&known, surfer), &mut self.step)
        };
        self.policy.linked(&whole, &self.mass);
        self.mass.push_due(self.policy.pushing());
        self.policy.refitted();
        self.step.rows.clear();
    }

    /// All that these pages prove.
    fn bound(&mut self) -> f64 {
        self.mass.push_all();
        let audited = self.mass.ledger().audit();
        assert_eq!(audited, Ok(()), "the books balance");
        self.mass.topic_coverage().map_or(0.0, |coverage| coverage.bound)
    }
}

fn id(page: u32) -> UrlId {
    UrlId(u64::from(page))
}
