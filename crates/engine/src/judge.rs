//! What becomes of a URL once its bytes are here: is it a twin of another page, what is kept,
//! what is found in it, and when it is due again.

use crate::discovery::{Discovery, Found, FoundAs, Origin};
use crate::engine::{DISCOVERY_BYTES, Engine};
use crate::event::{FetchId, Keep, KeepAs, Question, Row, Step};
use crate::mass;
use crate::outcome::{ContentDigest, FailKind, Outcome, Page, Report};
use crate::queue::{Entry, Place};
use crate::record::{Next, Refusal, Status, Twin, UrlRecord};
use crate::time::Time;
use std::collections::HashMap;

/// Pages that wait to hear whether their bytes were seen before. One question at a time: each is
/// answered from a snapshot that shows all earlier ones' rows.
#[derive(Debug, Default)]
pub(crate) struct Judging {
    waiting: Vec<Judgement>,
    asked: Vec<Judgement>,
}

#[derive(Debug)]
pub(crate) struct Judgement {
    pub slot: u32,
    pub fetch: FetchId,
    pub place: Place,
    pub entry: Entry,
    pub report: Report,
}

impl Judging {
    pub fn len(&self) -> usize {
        self.waiting.len() + self.asked.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn ask(&mut self) -> Option<Question> {
        if self.waiting.is_empty() || !self.asked.is_empty() {
            return None;
        }
        self.asked = std::mem::take(&mut self.waiting);
        let digests = self.asked.iter().map(|j| j.content()).collect();
        Some(Question::Twin { digests })
    }

    pub fn heap_bytes(&self) -> usize {
        let all = self.waiting.iter().chain(&self.asked);
        all.map(|j| match &j.report.outcome {
            Outcome::Page(page) => size_of::<Judgement>() + page.found.len() * DISCOVERY_BYTES,
            _ => size_of::<Judgement>(),
        })
        .sum()
    }
}

impl Judgement {
    fn content(&self) -> ContentDigest {
        match &self.report.outcome {
            Outcome::Page(page) => page.content,
            _ => unreachable!("only pages are asked about"),
        }
    }
}

impl Engine {
    /// A page waits for its twin; anything else is judged at once.
    pub(crate) fn begin_judgement(&mut self, now: Time, judgement: Judgement, step: &mut Step) {
        match judgement.report.outcome {
            Outcome::Page(_) => self.judging.waiting.push(judgement),
            _ => self.judge(now, judgement, None, step),
        }
    }

    pub(crate) fn twinned(&mut self, now: Time, twins: Vec<Option<Twin>>, step: &mut Step) {
        let asked = std::mem::take(&mut self.judging.asked);
        assert_eq!(asked.len(), twins.len(), "one answer a question");
        // Two pages with the same bytes in one batch: the first is the twin of the rest.
        let mut batch: HashMap<ContentDigest, Twin> = HashMap::new();
        for (judgement, twin) in asked.into_iter().zip(twins) {
            let content = judgement.content();
            let twin = twin.or_else(|| batch.get(&content).cloned());
            if twin.is_none() {
                batch.insert(content, judgement.as_twin());
            }
            self.judge(now, judgement, twin, step);
        }
    }

    fn judge(&mut self, now: Time, judgement: Judgement, twin: Option<Twin>, step: &mut Step) {
        let Judgement { slot, fetch, place, entry, report } = judgement;
        let other = twin.as_ref().filter(|t| t.url != entry.url);
        let how = keep_as(&entry, &report, twin.as_ref());
        if let (Outcome::Page(page), None) = (&report.outcome, &twin) {
            let twin = Twin { url: entry.url.clone(), kept: report.at, payload: page.payload };
            step.rows.push(Row::Content { digest: page.content, twin });
        }
        self.count(&entry, &report, other.is_some());
        let is_copy = other.is_some();
        let host = self.awake.at(slot);
        host.record.pages += u64::from(matches!(report.outcome, Outcome::Page(_)));
        let (mut record, next) = entry.record.clone().after(&report, other, now, &self.config);
        let next = self.learn(now, (slot, place), &entry, &report, (&mut record, next));
        self.mass.stand(&record);
        self.send_found(&entry, report.outcome, is_copy, step);
        step.keeps.push(Keep { fetch, how });
        self.settle(slot, place, Entry { url: entry.url, record }, next, step);
        self.advance(now, slot, step);
    }

    /// Takes a URL out of its place and writes what became of it.
    pub(crate) fn settle(
        &mut self,
        slot: u32,
        place: Place,
        mut entry: Entry,
        next: Next,
        step: &mut Step,
    ) {
        let host = self.awake.at(slot);
        let key = host.key.clone();
        host.queue(place.section()).settled(place);
        step.rows.push(Row::Queue { host: key.clone(), place, entry: None });
        entry.record.place = match next {
            Next::Never => None,
            Next::At(due) => Some(Place::Later { due, id: entry.record.id.0 }),
        };
        self.mass.stand(&entry.record);
        step.rows.push(Row::Url { key: entry.url.key(), record: entry.record.clone() });
        match entry.record.place {
            Some(later) => {
                step.rows.push(Row::Queue { host: key, place: later, entry: Some(entry.clone()) });
                host.later.insert(later, entry);
            }
            None => {
                host.record.queued -= 1;
                self.counters.queued -= 1;
            }
        }
        self.mark_dirty(slot);
    }

    /// Settles a URL without asking the web: robots say no, or its host was given up.
    pub(crate) fn dismiss(
        &mut self,
        slot: u32,
        (place, entry): (Place, Entry),
        status: Status,
        step: &mut Step,
    ) {
        match status {
            Status::Refused(why) => *self.counters.refused_as(why) += 1,
            Status::Failed(kind) => *self.counters.failed_as(kind) += 1,
            _ => unreachable!("only refused and failed URLs are dismissed"),
        }
        self.leave_calendar(&entry.record);
        let record = UrlRecord { status, ..entry.record };
        self.settle(slot, place, Entry { url: entry.url, record }, Next::Never, step);
    }

    pub(crate) fn refuse_by_robots(&mut self, slot: u32, row: (Place, Entry), step: &mut Step) {
        self.dismiss(slot, row, Status::Refused(Refusal::Robots), step);
    }

    fn count(&mut self, entry: &Entry, report: &Report, is_copy: bool) {
        let failed_for_good = |kind: FailKind| {
            !kind.is_passing() || entry.record.tries + 1 >= self.config.retry.tries_max
        };
        match &report.outcome {
            Outcome::Page(_) => {
                self.counters.pages += 1;
                self.counters.duplicates += u64::from(is_copy);
                self.counters.revisits += u64::from(entry.record.visited.is_some());
            }
            Outcome::Unchanged => self.counters.unchanged += 1,
            Outcome::Moved { .. } => self.counters.moved += 1,
            Outcome::Gone => self.counters.gone += 1,
            Outcome::Busy { kind, .. } | Outcome::Failed(kind) => {
                if failed_for_good(*kind) {
                    *self.counters.failed_as(*kind) += 1;
                } else {
                    self.counters.retries += 1;
                }
            }
            Outcome::Robots(_) => {}
        }
    }

    /// Sends on what a page links to. The links of a copy count for its mass and are not followed.
    fn send_found(&mut self, entry: &Entry, outcome: Outcome, is_copy: bool, step: &mut Step) {
        let UrlRecord { id, depth, hops, .. } = entry.record;
        let origin = |ends| mass::node(id).map(|page| Origin { page, ends });
        match outcome {
            Outcome::Page(Page { found, .. }) => {
                let mut left = found.len();
                if found.is_empty() {
                    self.mass.linked_to_none(id, step);
                }
                self.counters.discoveries += if is_copy { 0 } else { left as u64 };
                for Found { url, kind } in found {
                    left -= 1;
                    // A sitemap named by a sitemap index is as near to the seed as the index.
                    let depth = depth.saturating_add(u16::from(kind != FoundAs::Sitemap));
                    let kind = if is_copy { FoundAs::Copied } else { kind };
                    let from = origin(left == 0);
                    self.outbox.push(Discovery { url, kind, depth, hops: 0, from });
                }
            }
            Outcome::Moved { to: Some(url) } => {
                let (hops, from) = (hops.saturating_add(1), origin(true));
                self.counters.discoveries += 1;
                self.outbox.push(Discovery { url, kind: FoundAs::Redirect, depth, hops, from });
            }
            _ => {}
        }
    }
}

impl Judgement {
    fn as_twin(&self) -> Twin {
        match &self.report.outcome {
            Outcome::Page(page) => {
                Twin { url: self.entry.url.clone(), kept: self.report.at, payload: page.payload }
            }
            _ => unreachable!("only pages have twins"),
        }
    }
}

/// Every answer is kept; a payload that is kept already becomes a revisit record.
fn keep_as(entry: &Entry, report: &Report, twin: Option<&Twin>) -> KeepAs {
    match (&report.outcome, twin) {
        _ if !report.held => KeepAs::Drop,
        (Outcome::Page(page), Some(twin)) if twin.payload == page.payload => {
            KeepAs::Revisit(twin.clone())
        }
        (Outcome::Unchanged, _) => KeepAs::NotModified { since: entry.record.visited },
        _ => KeepAs::Response,
    }
}
