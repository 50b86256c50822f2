//! Announced changes: a sitemap or a feed says that a page we hold has changed since our visit.
//!
//! Its visit moves up as far as the host's announcements were right before. What is announced is
//! remembered until the visit, which tells whether it was true, so that nothing is said twice.

use crate::books::{UrlHost, UrlPosition};
use crate::discovery::{Discovery, FoundAs};
use crate::engine::Engine;
use crate::event::{Row, Step};
use crate::host::HostRecord;
use crate::queue::{Entry, Place, SleepPlace};
use crate::record::{RecordStatus, UrlRecord};
use crate::refresh::detect::LearntChange;
use crate::sifted::Batch;
use crate::time::{Span, Time};
use rhumb_page::url::HostKey;

const DAY_S: u64 = 86_400;
/// Sitemaps are read again for what changed since the last reading, and for so much before it.
const OVERLAP: Span = Span::secs(2 * DAY_S);

/// When a change that was announced came at the latest: a date without a time is a whole day.
fn latest(said_s: u32, now: Time) -> Time {
    let said_s = u64::from(said_s);
    let end_s = if said_s.is_multiple_of(DAY_S) { said_s + DAY_S - 1 } else { said_s };
    Time(end_s * 1_000_000).min(now)
}

/// What a sitemap or a feed said at its last reading already is no announcement any more.
pub(crate) fn only_news(kind: FoundAs, read_before: Option<Time>) -> FoundAs {
    let FoundAs::Announced(at_s) = kind else { return kind };
    let at = Time(u64::from(at_s) * 1_000_000) + OVERLAP;
    if read_before.is_none_or(|before| at > before) { kind } else { FoundAs::Listed }
}

impl Engine {
    /// A known page is said to have changed.
    pub(crate) fn announced(
        &mut self,
        now: Time,
        discovery: Discovery,
        mut record: UrlRecord,
        batch: &mut Batch,
        step: &mut Step,
    ) {
        let FoundAs::Announced(said_s) = discovery.kind else { return };
        let (Some(old @ Place::Later { due, .. }), Some(learnt), Some(visited)) =
            (record.place, record.past.learnt, record.past.visited)
        else {
            return;
        };
        let changed = latest(said_s, now);
        let is_news = changed > visited && said_s > learnt.announced_s;
        let is_old = self.revisiting.as_ref().is_none_or(|r| r.since_sift.contains(&record.id.0));
        if !is_news || is_old || record.status == RecordStatus::Queued {
            return;
        }
        let host = discovery.url.host_key();
        let slot = self.frontier.awake.slot_of(&host);
        if slot.is_some_and(|slot| !self.frontier.awake.at(slot).later.withdraw(old)) {
            return;
        }
        let known = match slot {
            Some(slot) => self.frontier.awake.at(slot).record.clone(),
            None => match batch.touched.remove(&host).or_else(|| batch.known.remove(&host)) {
                Some(known) => known,
                None => return,
            },
        };
        let sooner = self.due_announced(now, changed, &discovery, &record, &known);
        let place = Place::Later { due: sooner.unwrap_or(due).min(due), id: record.id.0 };
        let announced_s = (changed.0 / 1_000_000).max(u64::from(said_s)).min(now.0 / 1_000_000);
        let announced_s = u32::try_from(announced_s).unwrap_or(u32::MAX);
        let was = UrlPosition::at(old, &record);
        record.past.learnt = Some(LearntChange { announced_s, ..learnt });
        let entry = Entry { url: discovery.url, record };
        self.books.counters.announced += 1;
        match slot {
            Some(slot) => {
                let home = UrlHost::Awake(self.frontier.awake.at(slot));
                self.books.put(home, was, entry, Some(place), &mut step.rows);
                // Its row may still say that nothing waits before where it lay down.
                self.frontier.mark_dirty(slot);
                batch.slots.insert(slot);
            }
            None => {
                let mut asleep = known;
                let home = UrlHost::Asleep(&host, &mut asleep);
                self.books.put(home, was, entry, Some(place), &mut step.rows);
                self.bring_forward(now, &host, &mut asleep, place, step);
                batch.touched.insert(host, asleep);
            }
        }
    }

    /// When a page that is said to have changed is due, by its worth and the trust in who says so.
    fn due_announced(
        &self,
        now: Time,
        changed: Time,
        discovery: &Discovery,
        record: &UrlRecord,
        host: &HostRecord,
    ) -> Option<Time> {
        let revisiting = self.revisiting.as_ref()?;
        let subject = self.subject_of(&discovery.url, record, host.standing)?;
        let trust = host.trust.announcements.share();
        let wait = revisiting.scheduler.wait_announced(&subject, trust);
        Some((changed + revisiting.span(wait)).max(now))
    }

    /// A sleeping host has something due sooner than it lay down for.
    fn bring_forward(
        &mut self,
        now: Time,
        host: &HostKey,
        record: &mut HostRecord,
        work: Place,
        step: &mut Step,
    ) {
        let Place::Later { due, .. } = work else { unreachable!("a page that waits for its date") };
        if record.later_after.is_some_and(|after| work <= after) {
            record.later_after = work.before();
        }
        let due = due.max(record.not_before).max(now);
        let Some(old @ SleepPlace::Later { due: present, .. }) = record.sleep else { return };
        if due < present {
            let place = SleepPlace::Later { due, rank: self.books.counters.next_sleep };
            self.books.counters.next_sleep += 1;
            record.sleep = Some(place);
            self.frontier.sleepers.remove(old);
            self.frontier.sleepers.add(place);
            step.rows.push(Row::Sleep { host: host.clone(), place: old, asleep: false });
            step.rows.push(Row::Sleep { host: host.clone(), place, asleep: true });
        }
    }
}
