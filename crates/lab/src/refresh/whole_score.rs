//! What the visits of a whole crawl bought: our copies beside the web as it was at each moment.
//!
//! A copy is fresh until the page changes. An answer 304 brings no copy: if it was a lie, the copy
//! stays as old as it is, which is how lies are made to count.

use rhumb_engine::time::Time;
use rhumb_sim::web::{AGE_US, Web};
use rhumb_sim::world::Visited;

const DAY_US: f64 = 86_400e6;

/// Means over the pages that were ever fetched, each from its first visit on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WholeScores {
    pub pages: u64,
    pub freshness: f64,
    pub age_days: f64,
    pub delay: f64,
    pub visits: u64,
}

/// `visits` in any order; what is before `from` and after `to` does not count.
pub fn score(web: &Web, visits: &[Visited], from: Time, to: Time) -> WholeScores {
    let mut sorted = visits.to_vec();
    sorted.sort_by_key(|visit| (visit.site, visit.n, visit.at));
    let mut sums = Sums::default();
    for page in sorted.chunk_by(|a, b| (a.site, a.n) == (b.site, b.n)) {
        sums.pages += 1;
        let mut held = None;
        for (at, visit) in page.iter().enumerate() {
            held = visit.version.or(held);
            let until = page.get(at + 1).map_or(to, |next| next.at);
            if let Some(held) = held {
                sums.book(web, visit, held, visit.at.max(from), until.min(to));
            }
        }
    }
    let mean = |sum: f64| if sums.time > 0.0 { sum / sums.time } else { 0.0 };
    WholeScores {
        pages: sums.pages,
        freshness: mean(sums.fresh),
        age_days: mean(sums.age) / DAY_US,
        delay: mean(sums.delay),
        visits: visits.len() as u64,
    }
}

#[derive(Default)]
struct Sums {
    pages: u64,
    time: f64,
    fresh: f64,
    age: f64,
    delay: f64,
}

impl Sums {
    /// A stretch of time with a copy that the web had until the change after `held`.
    fn book(&mut self, web: &Web, page: &Visited, held: u64, from: Time, to: Time) {
        if to <= from {
            return;
        }
        let (begin, end) = (from.0 as f64, to.0 as f64);
        self.time += end - begin;
        let changes = changes_after(web, page, held, to);
        let first = changes.last().map_or(end, |first| *first as f64);
        self.fresh += (first.min(end) - begin).max(0.0);
        let (young, old) = (first.max(begin) - first, end - first);
        self.age += ((old * old - young * young) / 2.0).max(0.0);
        for change in changes {
            self.delay += end - (change as f64).max(begin);
        }
    }
}

/// The changes after version `held` up to `to`, the latest first, in the time of requests.
fn changes_after(web: &Web, page: &Visited, held: u64, to: Time) -> Vec<u64> {
    let mut changes = Vec::new();
    let mut at = to.0;
    loop {
        let version = web.version(page.site, page.n, at);
        if version <= held || version <= AGE_US {
            return changes;
        }
        changes.push(version - AGE_US);
        at = version - AGE_US - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_sim::web::WebConfig;

    #[test]
    fn a_page_visited_often_is_fresh_as_the_closed_form_says_and_false_304_do_not_help() {
        let day_us = DAY_US as u64;
        let config = WebConfig { change_period_us: day_us, ..WebConfig::plain(1, 400) };
        let web = Web::new(config);
        let (from, days) = (Time(1_700_000_000_000_000), 30);
        let to = Time(from.0 + days * day_us);
        let visits = |lie: bool| -> Vec<Visited> {
            let pages = (0..400).filter(|n| web.change_period_us(0, *n) == Some(day_us));
            let of = |n: u32| {
                let web = &web;
                (0..days).map(move |day| {
                    let at = Time(from.0 + day * day_us);
                    let version = (day == 0 || !lie).then(|| web.version(0, n, at.0));
                    Visited { site: 0, n, at, version }
                })
            };
            pages.flat_map(of).collect()
        };
        let honest = score(&web, &visits(false), from, to);
        // Visited as often as it changes: (1 - e^-1).
        assert!((honest.freshness - 0.632).abs() < 0.02, "{honest:?}");
        assert!((honest.delay - 0.5).abs() < 0.05, "{honest:?}");
        let misled = score(&web, &visits(true), from, to);
        assert!(misled.freshness < 0.1 && misled.age_days > 10.0, "{misled:?}");
    }
}
