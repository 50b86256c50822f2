//! How far a host's word is good: ETag, Last-Modified, and the dates of sitemaps and feeds.
//!
//! Each is a count of how often it was right and how often wrong, told by the text of the page,
//! which is the truth. Servers lie in four ways. Validators stay while the text changes: a 304
//! would hide it, so such a host is asked without conditions. An ETag changes while the text does
//! not: it never earns a 304, so only the date is sent where there is one. Last-Modified is the
//! time of the request, or lies ahead: then it says nothing of when a page changed. A sitemap says
//! that all has changed: its announcements hasten visits only as far as they were right.

use crate::outcome::PageContent;
use crate::record::UrlRecord;
use crate::rng::mix;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// One request in so many is made without conditions, to catch a false 304.
const CHECK_EVERY: u64 = 50;
/// So many lies and a host's validators are believed no more, unless they are one in twenty.
const LIES_MAX: u8 = 2;
const TRUTHS_PER_LIE: u16 = 20;
/// A tag that was of no use so often is not sent.
const FICKLE_MIN: u8 = 3;
/// Dates are believed when they were right so often, and for so great a share.
const DATES_MIN: u8 = 2;
const DATES_SHARE_MIN: f64 = 0.7;
/// Clocks of servers may be ahead of ours by this much.
const CLOCKS_APART: Span = Span::secs(300);

/// How often something that was said was right, and how often wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reliability {
    pub right: u8,
    pub wrong: u8,
}

impl Reliability {
    /// Old counts fade when there are many: servers are repaired, and break.
    pub fn heard(&mut self, is_right: bool) {
        if self.right.max(self.wrong) == u8::MAX {
            (self.right, self.wrong) = (self.right / 2, self.wrong / 2);
        }
        *(if is_right { &mut self.right } else { &mut self.wrong }) += 1;
    }

    /// The chance that the next is right, having begun with one of each.
    pub fn share(self) -> f64 {
        (f64::from(self.right) + 1.0) / (f64::from(self.right) + f64::from(self.wrong) + 2.0)
    }
}

/// What is believed of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostReliability {
    /// Validators change when the text does.
    pub validators: Reliability,
    /// ETags stay when the text does.
    pub tags: Reliability,
    /// Last-Modified tells when the text changed.
    pub dates: Reliability,
    /// What sitemaps and feeds announce has changed.
    pub announcements: Reliability,
}

/// Which conditions a request may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    pub etag: bool,
    pub last_modified: bool,
}

impl HostReliability {
    /// The conditions of the next visit to a page.
    pub fn conditions(&self, record: &UrlRecord) -> Conditions {
        let may = self.believes_validators() && !is_check(record);
        let is_fickle = self.tags.wrong >= FICKLE_MIN && self.tags.share() < 0.5;
        let etag = may && !(is_fickle && record.past.last_modified.is_some());
        Conditions { etag, last_modified: may }
    }

    pub fn believes_validators(&self) -> bool {
        let Reliability { right, wrong } = self.validators;
        wrong < LIES_MAX || u16::from(wrong) * TRUTHS_PER_LIE <= u16::from(right)
    }

    pub fn believes_dates(&self) -> bool {
        self.dates.right >= DATES_MIN && self.dates.share() >= DATES_SHARE_MIN
    }

    /// Compares what a page came with, with what its text says: the same as before or another.
    pub fn hear(&mut self, before: &UrlRecord, page: &PageContent, is_same: bool, at: Time) {
        let kept = |old: &Option<Box<str>>, new: &Option<Box<str>>| match (old, new) {
            (Some(old), Some(new)) => Some(old == new),
            _ => None,
        };
        let tag = kept(&before.past.etag, &page.etag);
        if let (true, Some(tag)) = (is_same, tag) {
            self.tags.heard(tag);
        }
        // Of conditional requests only those whose validators changed come with a text.
        let unconditional = is_check(before) || !self.believes_validators();
        let stayed = tag.or(kept(&before.past.last_modified, &page.last_modified));
        if let (false, Some(stayed)) = (is_same, stayed)
            && (stayed || unconditional)
        {
            self.validators.heard(!stayed);
        }
        if let (Some(modified), Some(visited)) = (page.modified, before.past.visited) {
            let is_ahead = modified > at + CLOCKS_APART;
            self.dates.heard(!is_ahead && (modified > visited) != is_same);
        }
    }

    /// How long before `at` a changed page changed, if the server's dates are believed.
    pub fn changed_ago(&self, before: &UrlRecord, page: &PageContent, at: Time) -> Option<Span> {
        let (modified, visited) = (page.modified?, before.past.visited?);
        let is_between = modified > visited && modified <= at + CLOCKS_APART;
        (self.believes_dates() && is_between).then(|| at.since(modified))
    }
}

/// Whether this visit is one of those that check on the validators.
fn is_check(record: &UrlRecord) -> bool {
    let lot =
        mix(record.id.0.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(record.past.visits)));
    lot.is_multiple_of(CHECK_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordStatus, UrlId};

    const VISITED: Time = Time(1_000_000_000);
    const AT: Time = Time(9_000_000_000);

    fn known(etag: &str, modified: &str) -> UrlRecord {
        let mut record = UrlRecord::new(UrlId(1), RecordStatus::Fetched, 0, 0, Time(1));
        record.past.visited = Some(VISITED);
        (record.past.etag, record.past.last_modified) = (Some(etag.into()), Some(modified.into()));
        record
    }

    fn page(etag: &str, modified: &str, at: Time) -> PageContent {
        PageContent {
            etag: Some(etag.into()),
            last_modified: Some(modified.into()),
            modified: Some(at),
            ..PageContent::default()
        }
    }

    #[test]
    fn validators_that_stay_while_the_text_changes_are_sent_no_more() {
        let (before, mut trust) = (known("a", "1"), HostReliability::default());
        assert!(trust.conditions(&before).etag);
        for _ in 0..2 {
            trust.hear(&before, &page("a", "1", Time(500)), false, AT);
        }
        let none = Conditions { etag: false, last_modified: false };
        assert_eq!(trust.conditions(&before), none);
        // A host that was repaired is believed again, in time.
        for _ in 0..60 {
            trust.hear(&before, &page("b", "2", Time(5_000_000_000)), false, AT);
        }
        assert!(trust.conditions(&before).etag, "{trust:?}");
    }

    #[test]
    fn a_tag_that_changes_each_time_is_left_out_where_there_is_a_date() {
        let (before, mut trust) = (known("a", "1"), HostReliability::default());
        for _ in 0..4 {
            trust.hear(&before, &page("b", "1", Time(500)), true, AT);
        }
        let dated = Conditions { etag: false, last_modified: true };
        assert_eq!(trust.conditions(&before), dated);
        let mut undated = before;
        undated.past.last_modified = None;
        assert!(trust.conditions(&undated).etag, "better than nothing");
    }

    #[test]
    fn dates_are_believed_when_right_and_those_ahead_or_always_now_are_not() {
        let before = known("a", "1");
        let (mut honest, mut ahead, mut always) =
            (HostReliability::default(), HostReliability::default(), HostReliability::default());
        let between = Time(5_000_000_000);
        for _ in 0..4 {
            honest.hear(&before, &page("b", "2", between), false, AT);
            ahead.hear(&before, &page("b", "2", AT + Span::secs(86_400)), false, AT);
            always.hear(&before, &page("a", "9", AT), true, AT);
        }
        let changed = page("c", "3", between);
        assert_eq!(honest.changed_ago(&before, &changed, AT), Some(AT.since(between)));
        assert_eq!(ahead.changed_ago(&before, &changed, AT), None);
        assert_eq!(always.changed_ago(&before, &changed, AT), None);
        let late = page("c", "3", AT + Span::secs(86_400));
        assert_eq!(honest.changed_ago(&before, &late, AT), None, "not from the future");
    }

    #[test]
    fn one_visit_in_fifty_goes_without_conditions() {
        let mut record = known("a", "1");
        let without = (0..5_000u32).filter(|visit| {
            record.past.visits = *visit;
            !HostReliability::default().conditions(&record).last_modified
        });
        let count = without.count();
        assert!((50..200).contains(&count), "{count} of 5,000");
    }

    #[test]
    fn counts_stay_within_their_bytes_and_keep_their_proportion() {
        let mut word = Reliability::default();
        (0..10_000).for_each(|n| word.heard(n % 4 != 0));
        assert!((word.share() - 0.75).abs() < 0.02, "{word:?}");
    }
}
