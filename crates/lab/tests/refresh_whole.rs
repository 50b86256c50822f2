//! The whole engine on a web that changes: it keeps its budget, and stands what clocks, servers and
//! pages do to a crawler that comes again.

use rhumb_engine::config::MinorChanges;
use rhumb_engine::event::StopReason;
use rhumb_engine::time::Span;
use rhumb_lab::refresh::whole::WholeCrawl;
use rhumb_lab::refresh::whole_score::WholeScores;
use rhumb_sim::run::Simulated;
use rhumb_sim::scenario::Faults;
use rhumb_sim::web::{Lastmod, Lies};

fn holds(simulated: &Simulated) {
    assert_eq!(simulated.violations, [], "{:?}", simulated.counters);
    assert_eq!(simulated.stopped, Some(StopReason::Time));
}

#[test]
fn a_crawl_that_goes_on_spends_its_budget_within_two_per_cent_also_through_crashes() {
    for faults in [Faults::default(), Faults::usual()] {
        let whole = WholeCrawl { faults, ..WholeCrawl::default() };
        let simulated = whole.run();
        holds(&simulated);
        let used = simulated.tally.fetches as f64 / (whole.days * whole.requests_per_day) as f64;
        println!("{used:.4} of the budget, {:?}", simulated.counters);
        assert!((0.98..=1.02).contains(&used), "{used}: {:?}", simulated.counters);
        assert!(simulated.counters.changes_seen > 0);
    }
}

#[test]
fn no_budget_is_no_request_and_no_end() {
    let simulated = WholeCrawl { requests_per_day: 0, days: 1, ..WholeCrawl::default() }.run();
    holds(&simulated);
    assert_eq!(simulated.tally.fetches, 0);
}

#[test]
fn hosts_that_cannot_take_their_share_do_not_keep_the_others_from_theirs() {
    // Two sites with most of the pages, each at most one request in ten minutes.
    let slow = WholeCrawl { sites: 3, delay: Span::secs(600), ..WholeCrawl::default() };
    let simulated = slow.run();
    holds(&simulated);
    let most = slow.days * 86_400 / 600 * 3 + 10;
    assert!(simulated.tally.fetches <= most, "{} of {most}", simulated.tally.fetches);
    assert!(simulated.tally.fetches as f64 > most as f64 * 0.8, "{}", simulated.tally.fetches);
}

#[test]
fn the_same_seed_does_the_same() {
    let whole = WholeCrawl { days: 2, faults: Faults::usual(), ..WholeCrawl::default() };
    assert_eq!(whole.run().digest, whole.run().digest);
}

/// A run and what it bought.
fn bought(whole: &WholeCrawl) -> (Simulated, WholeScores) {
    let simulated = whole.run();
    holds(&simulated);
    let scores = whole.scores(&simulated);
    println!("{scores:?}");
    (simulated, scores)
}

#[test]
fn a_clock_set_back_or_ahead_between_two_runs_stops_nothing_and_floods_nobody() {
    let steady =
        WholeCrawl { faults: Faults { crashes: 2, ..Faults::default() }, ..WholeCrawl::default() };
    let (_, before) = bought(&steady);
    for clock_jump_s in [-40 * 86_400, 40 * 86_400] {
        let faults = Faults { clock_jump_s, ..steady.faults };
        let jumping = WholeCrawl { faults, ..steady.clone() };
        let (simulated, scores) = bought(&jumping);
        let most = (jumping.days * jumping.requests_per_day) as f64;
        let used = simulated.tally.fetches as f64 / most;
        assert!((0.97..=1.03).contains(&used), "{used} of the budget after {clock_jump_s} s");
        assert!(
            scores.freshness > before.freshness - 0.05,
            "{scores:?} after {clock_jump_s} s, {before:?} without"
        );
    }
}

#[test]
fn servers_that_lie_about_change_are_seen_through() {
    let (_, honest) = bought(&WholeCrawl::default());
    let future = Lies { future_dates: 1_000, ..Lies::default() };
    let (_, scores) = bought(&WholeCrawl { lies: future, ..WholeCrawl::default() });
    assert!(scores.freshness > honest.freshness - 0.03, "dates ahead: {scores:?}, {honest:?}");
    // A tag that is new each time: the date alone earns a 304 where there is one.
    let tags = Lies { new_tags: 1_000, ..Lies::default() };
    let (simulated, scores) = bought(&WholeCrawl { lies: tags, ..WholeCrawl::default() });
    assert!(scores.freshness > honest.freshness - 0.03, "new tags: {scores:?}, {honest:?}");
    assert!(simulated.counters.unchanged > 100, "{:?}", simulated.counters);
    // 304 for changed pages: caught by the requests without conditions, one in fifty.
    let stale = Lies { stale_answers: 1_000, ..Lies::default() };
    let whole = WholeCrawl { lies: stale, days: 12, ..WholeCrawl::default() };
    let (simulated, scores) = bought(&whole);
    assert!(scores.freshness > honest.freshness - 0.1, "stale: {scores:?}, {honest:?}");
    assert!(simulated.counters.unchanged > 0, "they were believed at first");
}

#[test]
fn pages_that_vanish_and_return_are_neither_deleted_nor_forgotten() {
    let lies = Lies { vanishing: 500, ..Lies::default() };
    let whole = WholeCrawl { lies, days: 8, ..WholeCrawl::default() };
    let (simulated, scores) = bought(&whole);
    assert!(simulated.counters.gone > 50, "{:?}", simulated.counters);
    let late = simulated
        .visits
        .iter()
        .filter(|visit| visit.at.since(rhumb_sim::run::BEGINNING) > Span::secs(6 * 86_400));
    let pages: std::collections::BTreeSet<_> = late.map(|visit| (visit.site, visit.n)).collect();
    let (seen, all) = (pages.len() as u64, scores.pages);
    assert!(seen * 100 >= all * 90, "{seen} of {all} pages were seen in the last two days");
}

#[test]
fn changes_of_a_few_words_are_none_if_the_owner_says_so_and_others_still_are() {
    let seen = |minor_changes, small_edits| {
        let lies = Lies { small_edits, ..Lies::default() };
        let (simulated, _) = bought(&WholeCrawl { minor_changes, lies, ..WholeCrawl::default() });
        simulated.counters.changes_seen
    };
    let (count, ignore) = (MinorChanges::Count, MinorChanges::Ignore);
    let (all, few) = (seen(count, 1_000), seen(ignore, 1_000));
    // Pages with too little text to compare, or nearly that of another, change as before.
    assert!(all > 500 && few * 2 < all, "{few} of {all}");
    let (whole, still) = (seen(count, 0), seen(ignore, 0));
    assert!(still * 10 >= whole * 9, "{still} of {whole} that change altogether");
}

#[test]
fn announced_changes_are_heard_and_neither_true_nor_false_ones_do_harm() {
    let told = |lastmod| WholeCrawl {
        lies: Lies { lastmod, ..Lies::default() },
        sitemaps: 1_000,
        requests_per_day: 500,
        days: 8,
        ..WholeCrawl::default()
    };
    let (_, silent) = bought(&told(Lastmod::Nothing));
    let (simulated, helped) = bought(&told(Lastmod::True));
    assert!(simulated.counters.announced > 100, "{:?}", simulated.counters);
    assert!(helped.freshness > silent.freshness - 0.02, "{helped:?}, {silent:?}");
    let (_, misled) = bought(&told(Lastmod::AlwaysNow));
    assert!(misled.freshness > silent.freshness - 0.05, "{misled:?}, {silent:?}");
}
