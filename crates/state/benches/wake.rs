//! What it costs to wake a host whose queue has a long past: rows that were fetched are deleted
//! from the head of its queue, and a store of sorted runs keeps a mark for each until it compacts.
//! Reading begins behind them; from the beginning of the queue it took 20 ms after 100,000 rows.

use rhumb_engine::event::{Answer, Question, Row, Wake};
use rhumb_engine::host::HostRecord;
use rhumb_engine::queue::{Entry, Place};
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_page::url::Url;
use rhumb_state::local::{Home, LocalState};
use std::time::Instant;

/// Rows in one commit.
const BATCH: u64 = 500;
/// Rows that still wait after all others were fetched.
const LEFT: u64 = 100;
const WAKES: u32 = 50;

fn main() {
    for past in [0, 10_000, 100_000, 300_000] {
        let dir = std::env::temp_dir().join(format!("rhumb-bench-wake-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let (mut state, _) =
            LocalState::open(Home::open(&dir).expect("a store"), 1, ArchivePosition::default())
                .expect("a new store");
        live(&mut state, past);
        let host = url(0).host_key();
        let began = Instant::now();
        for _ in 0..WAKES {
            let named = vec![host.clone()];
            let (classes, later, resting) = (Vec::new(), (0, None), (0, None));
            let now = Time::ZERO;
            let wake = Wake { now, classes, later, resting, run: 1, named, rows_max: 16 };
            let answer = state.reader().answer(Question::Wake(wake)).expect("an answer");
            let Answer::Woken(woken) = answer else { panic!("a wake is answered as one") };
            assert_eq!(woken.hosts[0].now.rows.len(), 16);
        }
        let each = began.elapsed().as_secs_f64() * 1e6 / f64::from(WAKES);
        println!("wake, {past} rows fetched before: {each:.0} µs");
        drop(state);
        let _ = std::fs::remove_dir_all(&dir);
    }
}

/// A host that queued `past + LEFT` rows and fetched the first `past`.
fn live(state: &mut LocalState, past: u64) {
    let host = url(0).host_key();
    let all: Vec<u64> = (0..past + LEFT).collect();
    for batch in all.chunks(BATCH as usize) {
        let insert = |id: &u64| {
            let record = UrlRecord::new(UrlId(*id), RecordStatus::Queued, 0, 0, Time::ZERO);
            let entry = Some(Entry { url: url(*id), record });
            Row::Queue { host: host.clone(), place: place(*id), entry }
        };
        state
            .commit(&mut batch.iter().map(insert).collect(), ArchivePosition::default())
            .expect("a commit");
    }
    for batch in all[..past as usize].chunks(BATCH as usize) {
        let remove = |id: &u64| Row::Queue { host: host.clone(), place: place(*id), entry: None };
        state
            .commit(&mut batch.iter().map(remove).collect(), ArchivePosition::default())
            .expect("a commit");
    }
    let record = HostRecord { now_after: place(past).before(), ..HostRecord::default() };
    state
        .commit(&mut vec![Row::Host { key: host, record }], ArchivePosition::default())
        .expect("a commit");
}

fn place(id: u64) -> Place {
    Place::Now { class: 8, rank: id, id }
}

fn url(id: u64) -> Url {
    Url::parse(&format!("http://www.host.test/some/path/of/a/page/{id}")).expect("a URL")
}
