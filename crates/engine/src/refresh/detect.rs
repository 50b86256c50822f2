//! Has a page changed? Cheapest evidence first: 304, then bytes, then the text that a reader sees.
//!
//! Pages flap: an alternating banner, two servers behind one name. Of real terms pages 18 to 54 %
//! of all recorded changes go back to the version before the last. So the last two texts are
//! remembered, and what returns to the older one has not changed.
//!
//! Servers lie. A page whose text changed while its validators did not would have been a 304: its
//! host is caught, and after a few such lies its pages are asked for without conditions. Since
//! nobody is caught who is never asked, one request in fifty goes without conditions anyway.

use super::belief::{Belief, Seen};
use crate::outcome::{Outcome, Page};
use crate::record::{Status, UrlRecord};
use crate::rng::mix;
use serde::{Deserialize, Serialize};

/// One request in so many is made without conditions, to catch a false 304.
const CHECK_EVERY: u64 = 50;
/// So many lies and a host's validators are believed no more.
pub const LIES_MAX: u8 = 2;

/// What is remembered of a page for its next visits: 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learnt {
    pub belief: Belief,
    /// Fingerprints of the last two texts, the present one first.
    pub texts: [u32; 2],
}

/// What a visit found, and what to remember of its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detected {
    pub seen: Seen,
    pub texts: [u32; 2],
    /// The validators say that nothing changed, and it did.
    pub lied: bool,
}

/// Compares a visit with what was known before; none if it tells nothing of the page.
pub fn detect(before: &UrlRecord, outcome: &Outcome) -> Option<Detected> {
    let texts = before.learnt.map_or([0; 2], |learnt| learnt.texts);
    let unchanged = Detected { seen: Seen::Unchanged, texts, lied: false };
    let was_there = matches!(before.status, Status::Fetched | Status::Duplicate);
    match outcome {
        Outcome::Unchanged => Some(unchanged),
        Outcome::Page(page) => Some(of_page(before, page, texts, was_there)),
        // To vanish or to move is a change, to stay away is none.
        Outcome::Gone => Some(match before.status {
            Status::Gone => unchanged,
            _ => Detected { seen: Seen::Changed, ..unchanged },
        }),
        Outcome::Moved { .. } => Some(match before.status {
            Status::Moved => unchanged,
            _ => Detected { seen: Seen::Changed, ..unchanged },
        }),
        // An error tells nothing and takes nothing away.
        Outcome::Busy { .. } | Outcome::Failed(_) | Outcome::Robots(_) => None,
    }
}

fn of_page(before: &UrlRecord, page: &Page, texts: [u32; 2], was_there: bool) -> Detected {
    let text = fingerprint(page);
    if before.content == Some(page.content) || text == texts[0] {
        // A page that was gone and is back is news, whatever it says.
        let failed_before = matches!(before.status, Status::Failed(_) | Status::Queued);
        let seen = if was_there || failed_before { Seen::Unchanged } else { Seen::Changed };
        return Detected { seen, texts: [text, texts[1]], lied: false };
    }
    if text == texts[1] {
        return Detected { seen: Seen::Unchanged, texts: [text, texts[0]], lied: false };
    }
    let same = |old: &Option<Box<str>>, new: &Option<Box<str>>| old.is_some() && old == new;
    let lied = match (&before.etag, &page.etag) {
        (Some(_), Some(_)) => same(&before.etag, &page.etag),
        _ => same(&before.last_modified, &page.last_modified),
    };
    Detected { seen: Seen::Changed, texts: [text, texts[0]], lied }
}

/// Of the visible text, or of the bytes where there is none. Never 0, which is no text at all.
fn fingerprint(page: &Page) -> u32 {
    let [a, b, c, d, ..] = page.content;
    page.text.unwrap_or(u32::from_le_bytes([a, b, c, d])).max(1)
}

/// Whether this visit may be made conditional.
pub fn may_condition(record: &UrlRecord, lies: u8) -> bool {
    let lot = mix(record.id.0.wrapping_mul(0x9e37_79b9).wrapping_add(u64::from(record.visits)));
    lies < LIES_MAX && !lot.is_multiple_of(CHECK_EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailKind;
    use crate::record::UrlId;
    use crate::time::Time;

    fn page(content: u8, text: u32, etag: &str) -> Outcome {
        let etag = (!etag.is_empty()).then(|| etag.into());
        Outcome::Page(Page { content: [content; 16], text: Some(text), etag, ..Page::default() })
    }

    /// The record of a page that was last seen with these bytes, texts and ETag.
    fn known(content: u8, texts: [u32; 2], etag: &str) -> UrlRecord {
        let mut record = UrlRecord::new(UrlId(1), Status::Fetched, 0, 0, Time(1));
        record.content = Some([content; 16]);
        record.etag = (!etag.is_empty()).then(|| etag.into());
        record.learnt = Some(Learnt { texts, ..Learnt::default() });
        record
    }

    fn seen(before: &UrlRecord, outcome: &Outcome) -> Seen {
        detect(before, outcome).expect("an answer that tells something").seen
    }

    #[test]
    fn other_bytes_with_the_same_text_and_a_return_to_the_older_text_are_no_change() {
        let before = known(1, [10, 20], "");
        assert_eq!(seen(&before, &page(1, 10, "")), Seen::Unchanged, "the same bytes");
        assert_eq!(seen(&before, &page(2, 10, "")), Seen::Unchanged, "another advertisement");
        let flapped = detect(&before, &page(2, 20, "")).unwrap();
        assert_eq!((flapped.seen, flapped.texts), (Seen::Unchanged, [20, 10]), "A, B, A");
        let changed = detect(&before, &page(2, 30, "")).unwrap();
        assert_eq!((changed.seen, changed.texts), (Seen::Changed, [30, 10]));
    }

    #[test]
    fn validators_that_stay_while_the_text_changes_are_a_lie_and_a_new_etag_alone_is_nothing() {
        let before = known(1, [10, 20], "\"a\"");
        assert!(detect(&before, &page(2, 30, "\"a\"")).unwrap().lied);
        assert!(!detect(&before, &page(2, 30, "\"b\"")).unwrap().lied);
        let each_time = detect(&before, &page(1, 10, "\"c\"")).unwrap();
        assert_eq!((each_time.seen, each_time.lied), (Seen::Unchanged, false));
        assert!(!may_condition(&before, LIES_MAX));
    }

    #[test]
    fn errors_tell_nothing_and_a_page_that_vanishes_and_returns_changes_twice() {
        let before = known(1, [10, 20], "");
        for error in [Outcome::Failed(FailKind::Timeout), Outcome::Failed(FailKind::Connect)] {
            assert_eq!(detect(&before, &error), None);
        }
        assert_eq!(seen(&before, &Outcome::Gone), Seen::Changed);
        let gone = UrlRecord { status: Status::Gone, ..before };
        assert_eq!(seen(&gone, &Outcome::Gone), Seen::Unchanged);
        assert_eq!(seen(&gone, &page(1, 10, "")), Seen::Changed);
    }

    #[test]
    fn one_visit_in_fifty_goes_without_conditions() {
        let mut record = known(1, [10, 20], "\"a\"");
        let without = (0..5_000u32).filter(|visit| {
            record.visits = *visit;
            !may_condition(&record, 0)
        });
        let count = without.count();
        assert!((50..200).contains(&count), "{count} of 5,000");
    }
}
