//! The whole matrix of a URL's life: every status × every outcome × with and without revisits ×
//! with and without a twin or a near one × below and at the last try × never visited and visited
//! before × a copy of another page or not, held to rules rather than to a list of expected records.

use rhumb_engine::config::{Config, NearPolicy};
use rhumb_engine::marks::Marks;
use rhumb_engine::near::Near;
use rhumb_engine::outcome::{FailKind, FetchReport, Outcome, PageContent};
use rhumb_engine::queue::Place;
use rhumb_engine::record::{Next, RecordStatus, Refusal, Twin, UrlId, UrlRecord, back_off};
use rhumb_engine::time::{Span, Time};
use rhumb_page::url::Url;

const BEFORE: Time = Time(1_000_000_000);
const NOW: Time = Time(5_000_000_000);
const REVISIT: Span = Span::secs(3_600);
const OLD: [u8; 16] = [1; 16];
const NEW: [u8; 16] = [2; 16];

/// One cell of the matrix.
struct Case {
    before: UrlRecord,
    report: FetchReport,
    twin: Option<Twin>,
    near: Option<Near>,
    config: Config,
    after: UrlRecord,
    next: Next,
}

#[test]
fn every_status_meets_every_outcome_by_the_same_rules() {
    let mut cases = 0;
    for status in statuses() {
        for outcome in outcomes() {
            for cell in 0..64u8 {
                let flags = [0, 1, 2, 3, 4, 5].map(|b| cell >> b & 1 == 1);
                check(&case(status, outcome.clone(), flags));
                cases += 1;
            }
        }
    }
    assert_eq!(cases, statuses().len() * outcomes().len() * 64);
    assert!(cases > 40_000, "{cases} cases");
}

fn statuses() -> Vec<RecordStatus> {
    use RecordStatus::*;
    let refused = Refusal::ALL.map(Refused);
    let failed = FailKind::ALL.map(Failed);
    [Queued, Fetched, Duplicate, Moved, Gone].into_iter().chain(refused).chain(failed).collect()
}

fn outcomes() -> Vec<Outcome> {
    let page = |content| {
        let etag = Some("\"new\"".into());
        let marks = Marks::NOINDEX | Marks::TRUNCATED;
        Outcome::Page(Box::new(PageContent { content, etag, marks, ..PageContent::default() }))
    };
    let mut all = vec![page(OLD), page(NEW), Outcome::Unchanged, Outcome::Gone];
    all.extend([None, Some(url("http://b.test/"))].map(|to| Outcome::Moved { to }));
    for kind in FailKind::ALL {
        all.push(Outcome::Failed(kind));
        all.push(Outcome::Cut { kind, content: NEW, marks: Marks::NONE, found: Vec::new() });
        for retry_after in [None, Some(Span::secs(7)), Some(Span::secs(900_000))] {
            all.push(Outcome::Busy { retry_after, kind });
        }
    }
    all
}

fn case(status: RecordStatus, outcome: Outcome, flags: [bool; 6]) -> Case {
    let [revisits, has_twin, last_try, visited, was_copy, has_near] = flags;
    let mut config = Config { revisit_after: revisits.then_some(REVISIT), ..Config::default() };
    config.retry.tries_max = 3;
    // How often it failed before and what is skipped have nothing to do with each other.
    config.near.policy = if last_try { NearPolicy::Skip } else { NearPolicy::Keep };
    let mut before = UrlRecord::new(UrlId(9), status, 4, 1, BEFORE);
    before.class = 12;
    before.tries = if last_try { 2 } else { 0 };
    before.place = Some(Place::Later { due: NOW, id: 9 });
    if visited {
        before.past.visits = 2;
        before.past.visited = Some(BEFORE);
        before.past.changed = Some(BEFORE);
        before.past.content = Some(OLD);
        before.past.etag = Some("\"old\"".into());
        before.past.last_modified = Some("old".into());
        before.past.marks = Marks::NOFOLLOW;
    }
    if was_copy {
        before.past.duplicate_of = Some(url("http://a.test/first"));
    }
    if visited && !was_copy {
        before.past.near = Some(near("http://a.test/led"));
    }
    let near = (has_near && !has_twin).then(|| near("http://d.test/"));
    let twin =
        has_twin.then(|| Twin { url: url("http://c.test/"), kept: BEFORE, payload: [3; 20] });
    let report =
        FetchReport { outcome, status: 299, bytes: 10, at: NOW, took: Span::ZERO, held: true };
    let (after, next) = before.clone().after(&report, twin.as_ref(), near.as_ref(), NOW, &config);
    Case { before, report, twin, near, config, after, next }
}

fn check(case: &Case) {
    what_admission_gave_is_kept(case);
    match &case.report.outcome {
        Outcome::Page(page) => a_page_is_what_it_brought(case, page),
        Outcome::Unchanged | Outcome::Moved { .. } | Outcome::Gone => {
            an_answer_erases_nothing(case)
        }
        Outcome::Busy { kind, retry_after } => a_failure_erases_nothing(case, *kind, *retry_after),
        Outcome::Failed(kind) => a_failure_erases_nothing(case, *kind, None),
        Outcome::Cut { kind, .. } => what_came_of_a_page_is_noted(case, *kind),
        Outcome::Robots(_) | Outcome::Unwanted(_) | Outcome::Crowded => {
            unreachable!("not in the matrix")
        }
    }
}

fn what_admission_gave_is_kept(case: &Case) {
    let of = |r: &UrlRecord| (r.id, r.depth, r.hops, r.class, r.found);
    assert_eq!(of(&case.after), of(&case.before), "{}", show(case));
    assert_eq!(case.after.place, None, "whoever settles it gives the place: {}", show(case));
    assert_eq!(case.after.http_status, 299);
    assert!(!matches!(case.after.status, RecordStatus::Refused(_)), "{}", show(case));
}

fn a_page_is_what_it_brought(case: &Case, page: &PageContent) {
    let Case { before, after, twin, .. } = case;
    was_answered(case);
    assert_eq!((after.past.content, after.past.marks), (Some(page.content), page.marks));
    // What is not kept cannot be confirmed by a 304.
    let skipped = case.near.is_some() && case.config.near.policy == NearPolicy::Skip;
    let validators = if skipped { (&None, &None) } else { (&page.etag, &page.last_modified) };
    assert_eq!((&after.past.etag, &after.past.last_modified), validators, "{}", show(case));
    let expected = if twin.is_some() { RecordStatus::Duplicate } else { RecordStatus::Fetched };
    assert_eq!(after.status, expected, "{}", show(case));
    assert_eq!(after.past.duplicate_of.as_ref(), twin.as_ref().map(|t| &t.url), "{}", show(case));
    let changed = before.past.content != Some(page.content);
    let is_led_as_before = !changed && case.near.is_none() && twin.is_none();
    let expected = if is_led_as_before { &before.past.near } else { &case.near };
    assert_eq!(&after.past.near, expected, "{}", show(case));
    assert_eq!(
        after.past.changed,
        if changed { Some(NOW) } else { before.past.changed },
        "{}",
        show(case)
    );
}

fn an_answer_erases_nothing(case: &Case) {
    was_answered(case);
    what_was_learnt_is_kept(case);
    let expected = match case.report.outcome {
        Outcome::Moved { .. } => RecordStatus::Moved,
        Outcome::Gone => RecordStatus::Gone,
        // What a 304 confirms is a copy if it was one.
        _ if case.before.past.duplicate_of.is_some() && case.before.past.content.is_some() => {
            RecordStatus::Duplicate
        }
        _ => RecordStatus::Fetched,
    };
    assert_eq!(case.after.status, expected, "{}", show(case));
}

fn a_failure_erases_nothing(case: &Case, kind: FailKind, retry_after: Option<Span>) {
    let Case { before, after, config, next, .. } = case;
    what_was_learnt_is_kept(case);
    assert_eq!(
        (after.past.visits, after.past.visited),
        (before.past.visits, before.past.visited),
        "{}",
        show(case)
    );
    let again = kind.is_passing() && before.tries + 1 < config.retry.tries_max;
    if again {
        let wait = back_off(&config.retry, u16::from(before.tries) + 1, retry_after);
        assert_eq!((after.status, after.tries), (RecordStatus::Queued, before.tries + 1));
        assert_eq!(*next, Next::At(NOW + wait), "{}", show(case));
        let wish = retry_after.unwrap_or(Span::ZERO).min(config.retry.retry_after_max);
        assert!(wait >= wish && wait >= config.retry.wait_min, "{}", show(case));
        return;
    }
    assert_eq!((after.status, after.tries), (RecordStatus::Failed(kind), 0), "{}", show(case));
    // What we never held is not asked for again; what we hold stays on the calendar.
    let expected = if before.past.visited.is_some() { calendar(config) } else { Next::Never };
    assert_eq!(*next, expected, "{}", show(case));
}

/// The next part is compared with it; what is held whole is not exchanged for a part.
fn what_came_of_a_page_is_noted(case: &Case, kind: FailKind) {
    let mut before = case.before.clone();
    if before.past.visited.is_none() {
        before.past.content = Some(NEW);
        before.past.marks = Marks::TRUNCATED;
    }
    let Case { report, config, after, next, .. } = case;
    let (report, config) = (report.clone(), config.clone());
    let (after, next) = (after.clone(), *next);
    let noted = Case { before, report, twin: None, near: None, config, after, next };
    a_failure_erases_nothing(&noted, kind, None);
}

fn was_answered(case: &Case) {
    let Case { before, after, config, next, .. } = case;
    assert_eq!(after.past.visits, before.past.visits + 1, "{}", show(case));
    assert_eq!((after.past.visited, after.tries), (Some(NOW), 0), "{}", show(case));
    assert_eq!(*next, calendar(config), "{}", show(case));
}

fn what_was_learnt_is_kept(case: &Case) {
    let of = |r: &UrlRecord| {
        let learnt =
            (r.past.content, r.past.etag.clone(), r.past.last_modified.clone(), r.past.changed);
        (learnt, r.past.marks, r.past.duplicate_of.clone(), r.past.near.clone())
    };
    assert_eq!(of(&case.after), of(&case.before), "{}", show(case));
}

fn calendar(config: &Config) -> Next {
    config.revisit_after.map_or(Next::Never, |span| Next::At(NOW + span))
}

fn near(text: &str) -> Near {
    Near { url: url(text), permille: 940 }
}

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn show(case: &Case) -> String {
    format!(
        "before {:?}\nreport {:?}\ntwin {:?}\nafter {:?} {:?}",
        case.before, case.report.outcome, case.twin, case.after, case.next
    )
}
