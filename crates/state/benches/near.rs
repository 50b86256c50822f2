//! Near-duplicates while crawling: what sketch and look-up cost a page, and how well they decide.
//!
//! `RHUMB_TEXTS=FILE cargo bench -p rhumb-state --bench near`: a file of lines, one document each;
//! without it, made-up ones. The texts arrive in the order of the file, in questions of 64. Time is
//! CPU time of this thread, for all that a page costs: words, shingles and sketch, the question to
//! the store, and the row of a new leader. Decisions are held against the exact pairs of the batch.

use rhumb_engine::event::{Answer, Question, Row};
use rhumb_engine::near::{Leader, Likeness, Nearest};
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_neardup::batch::{BatchError, BatchSettings, Corpus, DocumentBlock, DocumentSigner};
use rhumb_neardup::resemblance::{append_set, overlap};
use rhumb_neardup::{Sketch, shingle};
use rhumb_page::url::Url;
use rhumb_state::local::{Home, LocalState};
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

const THRESHOLD: f64 = 0.8;
/// Pages of one question, about what a crawl asks at once.
const BATCH: usize = 64;
/// Fewer shingles are no text to compare, as in a crawl.
const SHINGLES_MIN: usize = 24;

fn main() {
    let text = match std::env::var_os("RHUMB_TEXTS") {
        Some(path) => fs::read_to_string(path).expect("a readable file of UTF-8"),
        None => made_up(),
    };
    let texts: Vec<&str> = text.lines().collect();
    let dir = std::env::temp_dir().join(format!("rhumb-bench-near-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    let (mut state, _) =
        LocalState::open(Home::open(&dir).expect("a store"), 1, ArchivePosition::default())
            .expect("a new store");
    state.compare_texts(THRESHOLD).expect("no leaders yet");
    let found = crawl(&mut state, &texts);
    drop(state);
    let _ = fs::remove_dir_all(&dir);
    tell(&texts, &found);
}

#[derive(Default)]
struct Found {
    /// The page that each page nearly repeats.
    near: Vec<Option<usize>>,
    sketched: usize,
    leaders: usize,
    sketch_ns: u64,
    look_up_ns: u64,
    commit_ns: u64,
}

fn crawl(state: &mut LocalState, texts: &[&str]) -> Found {
    let mut found = Found::default();
    let mut prints = Vec::new();
    for (batch, texts) in texts.chunks(BATCH).enumerate() {
        let began = cpu_ns();
        let sketches: Vec<_> = texts.iter().map(|text| sketch(text, &mut prints)).collect();
        found.sketched += sketches.iter().flatten().count();
        found.sketch_ns += cpu_ns() - began;
        let first = batch * BATCH;
        let digest = |at: usize| ((first + at) as u128).to_le_bytes();
        let pages = sketches.iter().cloned().enumerate();
        let pages = pages.map(|(at, sketch)| (digest(at), sketch)).collect();
        let began = cpu_ns();
        let Ok(Answer::Twinned { pages }) = state.reader().answer(Question::Twin { pages }) else {
            panic!("no answer about leaders");
        };
        found.look_up_ns += cpu_ns() - began;
        let began = cpu_ns();
        let mut fresh: Vec<Leader> = Vec::new();
        let mut rows = Vec::new();
        for (at, (likeness, sketch)) in pages.into_iter().zip(sketches).enumerate() {
            let Some(sketch) = sketch else {
                found.near.push(None);
                continue;
            };
            let nearest = match likeness {
                Likeness::Near(nearest) => Some(nearest),
                _ => rhumb_engine::near::nearest(&sketch, &fresh, THRESHOLD),
            };
            if nearest.as_ref().is_none_or(|nearest| nearest.leads_too(THRESHOLD)) {
                let leader = Leader { url: url(first + at), sketch };
                fresh.push(leader.clone());
                rows.push(Row::Leader { id: (first + at) as u32, leader });
            }
            found.near.push(nearest.map(|Nearest { near, .. }| number(&near.url)));
        }
        found.leaders += rows.len();
        state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
        found.commit_ns += cpu_ns() - began;
    }
    found
}

fn sketch(text: &str, prints: &mut Vec<u64>) -> Option<Arc<Sketch>> {
    prints.clear();
    shingle::fingerprints(text, shingle::WORDS_DEFAULT, prints);
    if prints.len() < SHINGLES_MIN {
        return None;
    }
    Sketch::of(prints).map(Arc::new)
}

fn tell(texts: &[&str], found: &Found) {
    let pages = texts.len();
    let us = |ns: u64| ns as f64 / 1e3 / pages as f64;
    let all = found.sketch_ns + found.look_up_ns + found.commit_ns;
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    println!("{pages} pages of {} bytes, {} leaders", bytes / pages, found.leaders);
    println!("sketch {:.1} µs a page", us(found.sketch_ns));
    println!("look-up {:.1} µs a page", us(found.look_up_ns));
    println!("leaders kept {:.1} µs a page", us(found.commit_ns));
    println!("{:.0} pages a second", pages as f64 / (all as f64 / 1e9));
    let Truth { catchable, sets } = Truth::of(texts);
    let caught = catchable.iter().filter(|page| found.near[**page].is_some()).count();
    let near = found.near.iter().enumerate().filter_map(|(page, near)| Some((page, (*near)?)));
    let truly: Vec<f64> =
        near.map(|(page, near)| overlap(&sets[page], &sets[near]).resemblance()).collect();
    let below = |limit: f64| truly.iter().filter(|truly| **truly < limit).count();
    println!(
        "{caught} of {} with an earlier near-duplicate caught: {:.1} %",
        catchable.len(),
        100.0 * caught as f64 / catchable.len().max(1) as f64
    );
    println!(
        "{} said to be near-duplicates, {:.1} % of them below {THRESHOLD}, {} below .75",
        truly.len(),
        100.0 * below(THRESHOLD) as f64 / truly.len().max(1) as f64,
        below(0.75)
    );
}

struct Truth {
    /// Pages with words enough that have an earlier near-duplicate.
    catchable: BTreeSet<usize>,
    sets: Vec<Vec<u64>>,
}

impl Truth {
    fn of(texts: &[&str]) -> Truth {
        let settings = BatchSettings { threshold: THRESHOLD, ..BatchSettings::default() };
        let mut signer = DocumentSigner::new(settings.words);
        let mut corpus = Corpus::new(settings);
        let mut block = DocumentBlock::default();
        texts.iter().for_each(|text| signer.sign(text, &mut block));
        corpus.add(block).expect("memory");
        let (copies, mut catchable) = (corpus.copies(), BTreeSet::new());
        let firsts = (0..corpus.texts() as u32).map(|text| copies.of_text(text));
        firsts.for_each(|documents| catchable.extend(documents[1..].iter().map(|d| *d as usize)));
        let mut later = |a: &[u32], b: &[u32]| {
            let first = a[0].min(b[0]);
            catchable.extend([a, b].concat().iter().filter(|d| **d > first).map(|d| *d as usize));
        };
        let pairs = corpus.matches().expect("memory").each(|pair| {
            later(copies.of_text(pair.a), copies.of_text(pair.b));
            Ok::<(), BatchError>(())
        });
        pairs.expect("memory");
        let mut prints = Vec::new();
        let mut ends = Vec::new();
        let mut set_of = |text: &&str| {
            prints.clear();
            shingle::fingerprints(text, shingle::WORDS_DEFAULT, &mut prints);
            let (enough, mut set) = (prints.len() >= SHINGLES_MIN, Vec::new());
            append_set(&mut prints, &mut set, &mut ends);
            (enough, set)
        };
        let (enough, sets): (Vec<bool>, Vec<_>) = texts.iter().map(&mut set_of).unzip();
        catchable.retain(|page| enough[*page]);
        Truth { catchable, sets }
    }
}

fn url(page: usize) -> Url {
    Url::parse(&format!("http://www.host.test/{page}")).expect("a URL")
}

fn number(url: &Url) -> usize {
    url.path()[1..].parse().expect("a number")
}

/// CPU time of this thread.
fn cpu_ns() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
}

/// Texts of 300 words; every third has a word in fifty changed of an earlier one.
fn made_up() -> String {
    let mut seed = 7u64;
    let mut draw = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        seed >> 33
    };
    let mut texts: Vec<Vec<String>> = Vec::new();
    for text in 0..20_000 {
        let mut words: Vec<String> = match text % 3 {
            2 => texts[draw() as usize % texts.len()].clone(),
            _ => (0..300).map(|_| format!("w{}", draw() % 100_000)).collect(),
        };
        (0..6).for_each(|_| words[draw() as usize % 300] = format!("w{}", draw() % 100_000));
        texts.push(words);
    }
    let lines = texts.iter().map(|words| words.join(" "));
    lines.collect::<Vec<_>>().join("\n")
}
