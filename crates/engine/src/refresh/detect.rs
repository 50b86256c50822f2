//! Has a page changed? Cheapest evidence first: 304, then bytes, then the text that a reader sees.
//!
//! Pages flap: an alternating banner, two servers behind one name. Of real terms pages 18 to 54 %
//! of all recorded changes go back to the version before the last. So the last two texts are
//! remembered, and what returns to the older one has not changed.
//!
//! What servers say of their pages is held against the text: see [`super::trust`].

use super::belief::{Belief, VisitFinding};
use crate::outcome::{Outcome, PageContent};
use crate::record::{RecordStatus, UrlRecord};
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// What is remembered of a page for its next visits: 24 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntChange {
    pub belief: Belief,
    /// Fingerprints of the last two texts, the present one first.
    pub texts: [u32; 2],
    pub recent: Recent,
    /// The last change that a sitemap or a feed announced, in seconds since 1970; 0 if none.
    pub announced_s: u32,
}

impl LearntChange {
    pub fn announced(&self) -> Option<Time> {
        (self.announced_s > 0).then(|| Time(u64::from(self.announced_s) * 1_000_000))
    }
}

/// What the last visits found, one bit each, the latest lowest; a bit marks where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent(u32);

impl Default for Recent {
    fn default() -> Recent {
        Recent(1)
    }
}

impl Recent {
    pub fn with(self, changed: bool) -> Recent {
        // The mark stays at the top once it is there.
        let full = self.0 & 1 << 31;
        Recent(self.0 << 1 | u32::from(changed) | full)
    }

    /// Whether each found a change, the earliest first; 31 at most.
    pub fn visits(self) -> impl Iterator<Item = bool> {
        let count = 31 - self.0.max(1).leading_zeros();
        (0..count).rev().map(move |bit| self.0 >> bit & 1 == 1)
    }
}

/// What a visit found, and what to remember of its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detected {
    pub seen: VisitFinding,
    pub texts: [u32; 2],
    /// A text that is the same as before, or one that was not seen lately; none if neither.
    pub is_same: Option<bool>,
}

impl Detected {
    /// The owner does not care: what the text is now is remembered all the same.
    pub fn as_unchanged(self) -> Detected {
        Detected { seen: VisitFinding::Unchanged, ..self }
    }
}

/// Compares a visit with what was known before; none if it tells nothing of the page.
pub fn detect(before: &UrlRecord, outcome: &Outcome) -> Option<Detected> {
    let texts = before.past.learnt.map_or([0; 2], |learnt| learnt.texts);
    let unchanged = Detected { seen: VisitFinding::Unchanged, texts, is_same: None };
    let was_there = matches!(before.status, RecordStatus::Fetched | RecordStatus::Duplicate);
    match outcome {
        Outcome::Unchanged => Some(unchanged),
        Outcome::Page(page) => Some(of_page(before, page, texts, was_there)),
        // To vanish or to move is a change, to stay away is none.
        Outcome::Gone => Some(match before.status {
            RecordStatus::Gone => unchanged,
            _ => Detected { seen: VisitFinding::Changed, ..unchanged },
        }),
        Outcome::Moved { .. } => Some(match before.status {
            RecordStatus::Moved => unchanged,
            _ => Detected { seen: VisitFinding::Changed, ..unchanged },
        }),
        // An error tells nothing and takes nothing away.
        Outcome::Busy { .. }
        | Outcome::Failed(_)
        | Outcome::Cut { .. }
        | Outcome::Unwanted(_)
        | Outcome::Crowded
        | Outcome::Robots(_) => None,
    }
}

fn of_page(before: &UrlRecord, page: &PageContent, texts: [u32; 2], was_there: bool) -> Detected {
    let text = fingerprint(page);
    if before.past.content == Some(page.content) || text == texts[0] {
        // A page that was gone and is back is news, whatever it says.
        let failed_before = matches!(before.status, RecordStatus::Failed(_) | RecordStatus::Queued);
        let seen = if was_there || failed_before {
            VisitFinding::Unchanged
        } else {
            VisitFinding::Changed
        };
        return Detected { seen, texts: [text, texts[1]], is_same: Some(true) };
    }
    if text == texts[1] {
        return Detected { seen: VisitFinding::Unchanged, texts: [text, texts[0]], is_same: None };
    }
    let is_same = before.past.content.is_some().then_some(false);
    Detected { seen: VisitFinding::Changed, texts: [text, texts[0]], is_same }
}

/// Of the visible text, or of the bytes where there is none. Never 0, which is no text at all.
fn fingerprint(page: &PageContent) -> u32 {
    let [a, b, c, d, ..] = page.content;
    page.text.unwrap_or(u32::from_le_bytes([a, b, c, d])).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailKind;
    use crate::record::UrlId;
    use crate::time::Time;

    fn page(content: u8, text: u32, etag: &str) -> Outcome {
        let etag = (!etag.is_empty()).then(|| etag.into());
        Outcome::Page(Box::new(PageContent {
            content: [content; 16],
            text: Some(text),
            etag,
            ..PageContent::default()
        }))
    }

    /// The record of a page that was last seen with these bytes, texts and ETag.
    fn known(content: u8, texts: [u32; 2], etag: &str) -> UrlRecord {
        let mut record = UrlRecord::new(UrlId(1), RecordStatus::Fetched, 0, 0, Time(1));
        record.past.content = Some([content; 16]);
        record.past.etag = (!etag.is_empty()).then(|| etag.into());
        record.past.learnt = Some(LearntChange { texts, ..LearntChange::default() });
        record
    }

    fn seen(before: &UrlRecord, outcome: &Outcome) -> VisitFinding {
        detect(before, outcome).expect("an answer that tells something").seen
    }

    #[test]
    fn other_bytes_with_the_same_text_and_a_return_to_the_older_text_are_no_change() {
        let before = known(1, [10, 20], "");
        assert_eq!(seen(&before, &page(1, 10, "")), VisitFinding::Unchanged, "the same bytes");
        assert_eq!(
            seen(&before, &page(2, 10, "")),
            VisitFinding::Unchanged,
            "another advertisement"
        );
        let flapped = detect(&before, &page(2, 20, "")).unwrap();
        assert_eq!((flapped.seen, flapped.texts), (VisitFinding::Unchanged, [20, 10]), "A, B, A");
        let changed = detect(&before, &page(2, 30, "")).unwrap();
        assert_eq!((changed.seen, changed.texts), (VisitFinding::Changed, [30, 10]));
    }

    #[test]
    fn an_etag_that_changes_alone_is_no_change() {
        let before = known(1, [10, 20], "\"a\"");
        let each_time = detect(&before, &page(1, 10, "\"c\"")).unwrap();
        assert_eq!((each_time.seen, each_time.is_same), (VisitFinding::Unchanged, Some(true)));
    }

    #[test]
    fn the_last_31_visits_are_remembered_in_order() {
        let mut recent = Recent::default();
        assert_eq!(recent.visits().count(), 0);
        let found = |n: u32| n.is_multiple_of(3) || n > 90;
        for n in 0..100 {
            recent = recent.with(found(n));
            let first = (n + 1).saturating_sub(31);
            let expected: Vec<bool> = (first..=n).map(found).collect();
            assert_eq!(recent.visits().collect::<Vec<_>>(), expected, "after {n}");
        }
    }

    #[test]
    fn errors_tell_nothing_and_a_page_that_vanishes_and_returns_changes_twice() {
        let before = known(1, [10, 20], "");
        for error in [Outcome::Failed(FailKind::Timeout), Outcome::Failed(FailKind::Connect)] {
            assert_eq!(detect(&before, &error), None);
        }
        assert_eq!(seen(&before, &Outcome::Gone), VisitFinding::Changed);
        let gone = UrlRecord { status: RecordStatus::Gone, ..before };
        assert_eq!(seen(&gone, &Outcome::Gone), VisitFinding::Unchanged);
        assert_eq!(seen(&gone, &page(1, 10, "")), VisitFinding::Changed);
    }
}
