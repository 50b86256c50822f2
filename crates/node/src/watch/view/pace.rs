//! From the ceiling to the rate that is reached: what is lost on the way, by cause, and what would
//! change it. Of the last minute of a crawl that runs.
//!
//! The engine says for each host with work what it does or waits for
//! ([`rhumb_engine::holdups`]); each waits for one thing at a time, so that the losses add up. A
//! host whose request is under way for the engine may be under way, or its answer may be being
//! parsed, or have come and wait for the loop: how many are at what, the workers say. What hosts
//! lose by waiting for the loop is told by what the loop did meanwhile.

use crate::run::Work;
use crate::settings::Settings;
use crate::watch::pace::PaceMeans;
use rhumb_engine::counters::Counters;
use rhumb_engine::holdups::{HeldUp, Holdup};
use serde::{Deserialize, Serialize};

/// A loss of less than this share of the ceiling is told with the others.
const SHARE_MIN: f64 = 1e-4;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PaceView {
    /// The means are over so many seconds.
    pub seconds: f64,
    /// If no host with work that is due waited for anything but its delay and its answers.
    pub ceiling_per_s: f64,
    pub requests_per_s: f64,
    pub pages_per_s: f64,
    /// What hosts waited for instead, the most first.
    pub lost: Vec<LostRate>,
    /// The ceiling less the losses and the requests that were made: answers took longer or shorter
    /// than the last ones, hosts ran out of work.
    pub unexplained_per_s: f64,
    /// Requests that brought no page, by what they brought.
    pub no_page: Vec<LostRate>,
    /// What each part would allow if it were alone, the least first.
    pub allowed: Vec<PartCeiling>,
    /// What the loop does, as shares of its time.
    pub of_loop: Vec<LoopShare>,
}

/// Requests a second that are lost to one cause.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LostRate {
    pub cause: String,
    /// In words.
    pub what: String,
    /// Hosts that waited for it at a time, in the mean.
    pub hosts: f64,
    pub per_s: f64,
    /// What would change it; empty if nothing would.
    pub change: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartCeiling {
    pub part: String,
    pub what: String,
    pub per_s: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoopShare {
    pub work: String,
    pub share: f64,
}

/// What the loop did, as shares of its time: of all loops, if there are several partitions.
struct LoopTime {
    engine: f64,
    archive: f64,
    commit: f64,
    sync: f64,
}

impl LoopTime {
    fn of(means: &PaceMeans, loops: f64) -> LoopTime {
        let share = |work: Work| (means.work[work as usize] / loops).clamp(0.0, 1.0);
        let [archive, commit, sync] = [Work::Archive, Work::Commit, Work::Sync].map(share);
        let engine = (1.0 - share(Work::Idle) - archive - commit - sync).max(0.0);
        LoopTime { engine, archive, commit, sync }
    }

    fn busy(&self) -> f64 {
        self.engine + self.archive + self.commit + self.sync
    }

    fn named(&self) -> [(&'static str, f64); 4] {
        [
            ("engine", self.engine),
            ("archive", self.archive),
            ("commit", self.commit),
            ("sync", self.sync),
        ]
    }
}

pub fn of(means: &PaceMeans, settings: Option<&Settings>) -> PaceView {
    let requests_per_s = means.per_s(|counters| counters.asked);
    let loops = settings.map_or(1.0, |settings| f64::from(settings.partitions));
    let time = LoopTime::of(means, loops);
    let mut lost = lost(means, &time, settings);
    lost.sort_by(|a, b| b.per_s.total_cmp(&a.per_s));
    let losses: f64 = lost.iter().map(|lost| lost.per_s).sum();
    let ceiling_per_s = means.by.iter().map(|state| state.per_s).sum::<f64>();
    lost.retain(|lost| lost.per_s > SHARE_MIN * ceiling_per_s);
    PaceView {
        seconds: means.seconds,
        ceiling_per_s,
        requests_per_s,
        pages_per_s: means.per_s(|counters| counters.pages),
        lost,
        unexplained_per_s: ceiling_per_s - losses - requests_per_s,
        no_page: no_page(means),
        allowed: allowed(means, (&time, loops), settings, ceiling_per_s),
        of_loop: time
            .named()
            .map(|(work, share)| LoopShare { work: work.to_owned(), share })
            .to_vec(),
    }
}

/// What hosts at work lose: these are no losses as the engine sees it.
fn is_at_work(holdup: Holdup) -> bool {
    matches!(holdup, Holdup::Fetching | Holdup::Delay)
}

fn lost(means: &PaceMeans, time: &LoopTime, settings: Option<&Settings>) -> Vec<LostRate> {
    let of_requests = OfRequests::of(means);
    let mut lost = Vec::new();
    let mut add = |cause: &str, HeldUp { hosts, per_s }: HeldUp| {
        if per_s > 0.0 {
            let (what, change) = words(cause, means, settings);
            lost.push(LostRate { cause: cause.to_owned(), what, hosts, per_s, change });
        }
    };
    for holdup in Holdup::ALL.into_iter().filter(|holdup| !is_at_work(*holdup)) {
        match holdup {
            Holdup::SlowAnswer => add(holdup.word(), of_requests.slow),
            Holdup::Address => {
                let (own, others) = (means.of(holdup), of_requests.turns);
                let (hosts, per_s) = (own.hosts + others.hosts, own.per_s + others.per_s);
                add(holdup.word(), HeldUp { hosts, per_s });
            }
            Holdup::Turn => {}
            _ => add(holdup.word(), means.of(holdup)),
        }
    }
    add("parsing", of_requests.parsing);
    add("large_bodies", of_requests.large);
    let turn = means.of(Holdup::Turn);
    let waits = of_requests.waits_for_loop;
    let (hosts, per_s) = (turn.hosts + waits.hosts, turn.per_s + waits.per_s);
    for (work, share) in time.named() {
        let share = if time.busy() > 0.0 { share / time.busy() } else { 0.0 };
        add(work, HeldUp { hosts: hosts * share, per_s: per_s * share });
    }
    lost
}

/// Hosts whose request is under way for the engine, by what it is at.
#[derive(Default)]
struct OfRequests {
    turns: HeldUp,
    slow: HeldUp,
    large: HeldUp,
    parsing: HeldUp,
    waits_for_loop: HeldUp,
}

impl OfRequests {
    fn of(means: &PaceMeans) -> OfRequests {
        let (usual, slow) = (means.of(Holdup::Fetching), means.of(Holdup::SlowAnswer));
        let (hosts, per_s) = (usual.hosts + slow.hosts, usual.per_s + slow.per_s);
        if hosts <= 0.0 {
            return OfRequests::default();
        }
        let at = |work: Work| means.work[work as usize];
        // Time is known when it is over, so that these may be more than there are for a moment.
        let told = at(Work::AddressTurn) + at(Work::Network) + at(Work::Large) + at(Work::Parsing);
        let part = |tasks: f64| {
            let hosts = tasks * (hosts / told.max(hosts));
            HeldUp { hosts, per_s: per_s * hosts / (usual.hosts + slow.hosts) }
        };
        let waits = (hosts - told).max(0.0);
        let (turns, large) = (part(at(Work::AddressTurn)), part(at(Work::Large)));
        let parsing = part(at(Work::Parsing));
        // Nothing is told of a request until it ends: as far as it is late, it is on its way.
        let unended = waits.min(slow.hosts);
        let waits_for_loop = part(waits - unended);
        let elsewhere = turns.per_s + large.per_s + parsing.per_s + waits_for_loop.per_s;
        let slow = HeldUp { per_s: (slow.per_s - elsewhere).max(0.0), ..slow };
        OfRequests { turns, slow, large, parsing, waits_for_loop }
    }
}

/// What requests brought that brought no page.
fn no_page(means: &PaceMeans) -> Vec<LostRate> {
    let errors = |counters: &Counters| counters.errors.iter().sum::<u64>();
    let [before, after] = means.requisites;
    let requisites = after.saturating_sub(before) as f64 / means.seconds;
    let kinds = [
        ("robots", "robots.txt", means.per_s(|c| c.robots_fetched + c.robots_absent)),
        ("moved", "redirects", means.per_s(|c| c.moved)),
        ("gone", "pages that are gone or refused (4xx)", means.per_s(|c| c.gone)),
        ("unchanged", "pages that have not changed (304)", means.per_s(|c| c.unchanged)),
        ("sitemaps", "sitemaps", means.per_s(|c| c.sitemaps)),
        ("requisites", "what pages are shown with", requisites),
        ("errors", "failures", means.per_s(errors)),
    ];
    let brought = |(cause, what, per_s): (&str, &str, f64)| LostRate {
        cause: cause.to_owned(),
        what: what.to_owned(),
        per_s,
        ..LostRate::default()
    };
    kinds.into_iter().filter(|(.., per_s)| *per_s > 0.0).map(brought).collect()
}

/// What each part would allow by itself.
fn allowed(
    means: &PaceMeans,
    (time, loops): (&LoopTime, f64),
    settings: Option<&Settings>,
    ceiling_per_s: f64,
) -> Vec<PartCeiling> {
    let requests_per_s = means.per_s(|counters| counters.asked);
    let mut allowed = Vec::new();
    let mut add = |part: &str, what: String, per_s: f64| {
        if per_s.is_finite() {
            allowed.push(PartCeiling { part: part.to_owned(), what, per_s });
        }
    };
    add("delays", "the delays of hosts".to_owned(), ceiling_per_s);
    let left = (ceiling_per_s - means.addresses_lost_per_s).max(0.0);
    add("addresses", "addresses that hosts share".to_owned(), left);
    if requests_per_s > 0.0 {
        let in_flight = means.of(Holdup::Fetching).hosts + means.of(Holdup::SlowAnswer).hosts;
        let slots = format!("{} slots (--concurrency)", means.slots);
        add("slots", slots, means.slots as f64 * requests_per_s / in_flight);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let parsing = means.work[Work::Parsing as usize] / requests_per_s;
        add("parsing", format!("parsing and packing on {cores} cores"), cores as f64 / parsing);
        let looped = requests_per_s / time.busy();
        let loops = if loops > 1.0 { format!("{loops} loops") } else { "the loop".to_owned() };
        add("loop", format!("{loops}: engine, archive and store"), looped);
    }
    if let Some(settings) = settings {
        let bytes = means.per_s(|counters| counters.bytes) / requests_per_s;
        if let Some(most) = settings.bytes_per_second {
            add("byte_rate", "--bytes-per-second".to_owned(), most as f64 / bytes);
        }
        if settings.continuous {
            let budget = settings.budget.0;
            let per_s = budget.requests as f64 / budget.period.as_secs_f64();
            add("budget", "--budget".to_owned(), per_s);
        }
    }
    allowed.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
    allowed
}

/// Causes in words, and what would change them; empty if nothing of ours would. Those that name
/// numbers are told by [`words`].
const WORDS: [(&str, &str, &str); 25] = [
    (
        "slow_answer",
        "first answers, and those that take much longer than the host's last one",
        "nothing of ours, unless our line is full: see Hosts, by slowest",
    ),
    ("backoff", "hosts that failed, or asked us to wait", ""),
    ("looking_up", "names that are being looked up", "a nearer name server: --resolver"),
    (
        "lookup_line",
        "names in line for a look-up (512 at once, 32 of one site)",
        "a faster name server: --resolver",
    ),
    (
        "first_contact",
        "new names of a site, which are contacted a delay apart",
        "hosts that are named as seeds need not wait for each other",
    ),
    ("robots_elsewhere", "a robots.txt that another host has and has not sent yet", ""),
    ("same_name", "the same name is asked by another scheme or port: it is one server", ""),
    ("site", "one site has a quarter of all slots at most", "more --concurrency"),
    (
        "doubtful",
        "slow and unproven hosts have three quarters of all slots at most",
        "more --concurrency",
    ),
    ("reading", "queues that are being read from the store", "a faster disk, more memory"),
    ("comparing", "pages that wait to be compared with what is known", "a faster disk"),
    ("byte_rate", "--bytes-per-second", "more of it"),
    ("budget", "--budget", "more of it"),
    ("limit", "--max-pages or --max-bytes is all but reached", "more of it"),
    ("held", "the partition may begin nothing: its lease or its shipping is late", ""),
    ("patience", "the order waits for better pages", "less --patience"),
    ("paused", "the owner has paused it", "rhumb resume"),
    ("stopping", "it is stopping", ""),
    (
        "parsing",
        "answers that are being decoded, parsed and packed",
        "more cores; less to do: --near-duplicates off, --compression-level 1, no --extract",
    ),
    ("large_bodies", "large answers that take turns to be parsed", "more cores"),
    ("engine", "the loop, while it decides", "more --partitions"),
    ("archive", "the loop, while it writes records", "a faster disk, --archive none"),
    ("commit", "the loop, while it commits to the store", "a faster disk"),
    ("sync", "the loop, while the disk takes what was written", "a faster disk"),
    ("asleep", "as many hosts are awake as may be", "more --hosts-awake-max, which takes memory"),
];

/// A cause in words, and what would change it.
fn words(cause: &str, means: &PaceMeans, settings: Option<&Settings>) -> (String, String) {
    match cause {
        "address" => {
            let most = settings.map_or(0, |settings| settings.per_address);
            let crowded = means.crowded.map(|at| {
                format!("; at {} alone {} hosts lose {:.1}/s", at.ip, at.hosts, at.lost_per_s)
            });
            let what = format!("hosts share an address, of which {most} are asked at once");
            let change = "more --per-address, where the owner of the address agrees";
            (what + &crowded.unwrap_or_default(), change.to_owned())
        }
        "slots" => {
            let in_flight = means.of(Holdup::Fetching).hosts + means.of(Holdup::SlowAnswer).hosts;
            let busy = means.per_s(|counters| counters.asked);
            let all = means.by.iter().map(|state| state.per_s).sum::<f64>();
            let wanted = (in_flight / busy.max(1e-9) * all).ceil();
            let what = format!("no slot is free: {} requests are under way", means.slots);
            (what, format!("--concurrency {wanted:.0} would do for all of them"))
        }
        _ => {
            let known = WORDS.iter().find(|(word, ..)| *word == cause);
            known.map_or((cause.to_owned(), String::new()), |(_, what, change)| {
                ((*what).to_owned(), (*change).to_owned())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(of: &[(Holdup, f64)], asked_per_s: u64) -> PaceMeans {
        let mut by = rhumb_engine::holdups::HeldUpBy::default();
        for (holdup, hosts) in of {
            // Each host would make two requests in a second.
            by[*holdup as usize] = HeldUp { hosts: *hosts, per_s: 2.0 * hosts };
        }
        let after = Counters { asked: 10 * asked_per_s, ..Counters::default() };
        PaceMeans {
            seconds: 10.0,
            by,
            addresses_lost_per_s: 0.0,
            crowded: None,
            slots: 8,
            counters: [Counters::default(), after],
            requisites: [0, 0],
            work: Default::default(),
        }
    }

    #[test]
    fn what_is_lost_and_what_was_made_are_the_ceiling() {
        let mut means = means(
            &[
                (Holdup::Fetching, 8.0),
                (Holdup::Delay, 20.0),
                (Holdup::Slots, 30.0),
                (Holdup::Address, 10.0),
                (Holdup::Turn, 4.0),
            ],
            50,
        );
        // Of eight requests under way two are being parsed, one waits for the loop.
        means.work[Work::Network as usize] = 5.0;
        means.work[Work::Parsing as usize] = 2.0;
        means.work[Work::Idle as usize] = 0.2;
        means.work[Work::Commit as usize] = 0.6;
        let view = of(&means, None);
        let lost = |cause: &str| view.lost.iter().find(|lost| lost.cause == cause).expect(cause);
        assert_eq!(view.lost[0].cause, "slots");
        assert_eq!((lost("slots").per_s, lost("address").per_s), (60.0, 20.0));
        assert!((lost("parsing").per_s - 4.0).abs() < 1e-9, "{view:?}");
        // Four hosts that are due and one answer wait for the loop, which commits most of the time.
        assert!((lost("commit").per_s - 7.5).abs() < 1e-9, "{view:?}");
        assert!((lost("engine").per_s - 2.5).abs() < 1e-9, "{view:?}");
        let told: f64 = view.lost.iter().map(|lost| lost.per_s).sum();
        let all = told + view.requests_per_s + view.unexplained_per_s;
        assert!((all - view.ceiling_per_s).abs() < 1e-9);
        assert!(view.unexplained_per_s.abs() < 1e-9, "{view:?}");
        let slots = view.allowed.iter().find(|part| part.part == "slots").expect("slots");
        assert_eq!(slots.per_s, 50.0, "all eight are taken");
    }

    #[test]
    fn every_cause_has_words() {
        let none = means(&[], 0);
        let parts = ["parsing", "large_bodies", "engine", "archive", "commit", "sync"];
        let own = Holdup::ALL.into_iter().filter(|h| !is_at_work(*h) && *h != Holdup::Turn);
        for cause in own.map(Holdup::word).chain(parts) {
            assert_ne!(words(cause, &none, None).0, cause);
        }
    }
}
