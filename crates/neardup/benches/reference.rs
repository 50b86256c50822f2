//! The textbooks' methods beside ours: MB of text per CPU-second of one core, and how well they
//! tell pairs at 0.8. `RHUMB_TEXTS=FILE cargo bench -p rhumb-neardup --bench reference`: a file of
//! lines, one document each, of which the first 4,000 are taken.

use std::collections::BTreeSet;
use std::fs;

use rhumb_neardup::Sketch;
use rhumb_neardup::batch::{BatchError, BatchSettings, Corpus, DocumentBlock, DocumentSigner};
use rhumb_neardup::estimate::SlotBits;
use rhumb_neardup::reference::bottom_k::BottomK;
use rhumb_neardup::reference::{permutations, simhash, sort_and_count};
use rhumb_neardup::resemblance::{append_set, overlap};
use rhumb_neardup::shingle::fingerprints;

const TEXTS_MAX: usize = 4_000;
const THRESHOLD: f64 = 0.8;
/// Shingles in more texts than this are left out where the method needs it.
const COMMON: usize = 100;
/// Values of the bottom-k sketch: as many bytes as 128 values of eight.
const S: usize = 128;
/// Permutations that the bottom-k sketch is tried with.
const PERMUTATIONS_TRIED: usize = 8;

type Pairs = BTreeSet<(u32, u32)>;

fn main() {
    let Some(path) = std::env::var_os("RHUMB_TEXTS") else {
        println!("RHUMB_TEXTS names no file: nothing to compare on");
        return;
    };
    let text = fs::read_to_string(path).expect("a readable file of UTF-8");
    let texts: Vec<&str> = text.lines().take(TEXTS_MAX).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let sets: Vec<Vec<u64>> = texts.iter().map(|text| set_of(text)).collect();
    let truth = pairs_where(&sets, |a, b| overlap(&sets[a], &sets[b]).resemblance());
    println!("{} texts, {:.1} MB, {} pairs", texts.len(), bytes as f64 / 1e6, truth.len());
    let tell = |name: &str, start: f64, pairs: &Pairs| {
        let rate = bytes as f64 / 1e6 / (cpu_s() - start);
        let right = pairs.intersection(&truth).count() as f64;
        let (precision, recall) = (right / pairs.len() as f64, right / truth.len() as f64);
        println!("{name:32} {rate:7.1} MB/s  precision {precision:.4}  recall {recall:.4}");
    };

    let start = cpu_s();
    tell("ours, all of it", start, &ours(&texts));
    let start = cpu_s();
    let made: Vec<_> = texts.iter().map(|text| Sketch::of(&set_of(text))).collect();
    signed("one permutation, 128 bytes", start, bytes);
    tell(
        "  every pair estimated",
        start,
        &pairs_where(&sets, |a, b| match (&made[a], &made[b]) {
            (Some(a), Some(b)) => SlotBits::BYTES.estimate(a.agreeing(b)).resemblance,
            _ => 0.0,
        }),
    );
    let start = cpu_s();
    let made: Vec<_> = texts.iter().map(|text| permutations::min_hash(&set_of(text))).collect();
    signed("200 permutations", start, bytes);
    tell(
        "  every pair estimated",
        start,
        &pairs_where(&sets, |a, b| match (&made[a], &made[b]) {
            (Some(a), Some(b)) => permutations::resemblance(a, b),
            _ => 0.0,
        }),
    );
    let start = cpu_s();
    let made: Vec<_> = texts.iter().map(|text| BottomK::of(&set_of(text), S)).collect();
    signed("bottom-128, r'", start, bytes);
    tell(
        "  every pair estimated",
        start,
        &pairs_where(&sets, |a, b| made[a].resemblance(&made[b])),
    );
    // One permutation is one draw for all pairs of a family: what it says of them varies with it.
    for number in 0..PERMUTATIONS_TRIED {
        let permuted = |print: &u64| permutations::permuted(*print, number);
        let made = sets.iter().map(|set| set.iter().map(permuted).collect::<Vec<_>>());
        let made: Vec<_> = made.map(|set| BottomK::of(&set, S)).collect();
        let start = cpu_s();
        let name = format!("  under permutation {number}");
        tell(&name, start, &pairs_where(&sets, |a, b| made[a].resemblance(&made[b])));
    }
    let start = cpu_s();
    let made: Vec<u64> = texts.iter().map(|text| simhash::simhash(&set_of(text))).collect();
    signed("simhash", start, bytes);
    let near = |a: usize, b: usize| f64::from(simhash::distance(made[a], made[b]) <= 3);
    tell("  every pair within 3 bits", start, &pairs_where(&sets, near));
    let start = cpu_s();
    let (counts, left_out) = sort_and_count::shared(&sets, COMMON);
    let alike = counts.into_iter().filter(|((a, b), both)| {
        let all = sets[*a as usize].len() + sets[*b as usize].len();
        f64::from(*both) >= THRESHOLD * (all as f64 - f64::from(*both))
    });
    tell("sort and count, from sets", start, &alike.map(|(pair, _)| pair).collect());
    println!("  {left_out} shingles in more than {COMMON} texts were left out");
    let start = cpu_s();
    let counts = sort_and_count::gen_pairs(&sets).into_iter();
    let alike = counts.filter(|(_, count)| f64::from(*count) >= THRESHOLD * 200.0);
    tell("GENPAIRS, from sets", start, &alike.map(|(pair, _)| pair).collect());
}

fn set_of(text: &str) -> Vec<u64> {
    let (mut prints, mut set) = (Vec::new(), Vec::new());
    fingerprints(text, 4, &mut prints);
    append_set(&mut prints, &mut set, &mut Vec::new());
    set
}

fn ours(texts: &[&str]) -> Pairs {
    let settings = BatchSettings { threshold: THRESHOLD, ..BatchSettings::default() };
    let mut signer = DocumentSigner::new(settings.words);
    let mut corpus = Corpus::new(settings);
    let mut block = DocumentBlock::default();
    texts.iter().for_each(|text| signer.sign(text, &mut block));
    corpus.add(block).expect("memory");
    let matches = corpus.matches().expect("memory");
    let copies = corpus.copies();
    let mut pairs = Pairs::new();
    let mut cross = |a: &[u32], b: &[u32]| {
        let all = a.iter().flat_map(|a| b.iter().map(|b| (*a.min(b), *a.max(b))));
        pairs.extend(all.filter(|(a, b)| a != b));
    };
    (0..corpus.texts() as u32).for_each(|text| cross(copies.of_text(text), copies.of_text(text)));
    let found = matches.each(|found| {
        cross(copies.of_text(found.a), copies.of_text(found.b));
        Ok::<(), BatchError>(())
    });
    found.expect("memory");
    pairs
}

/// All pairs of texts of sizes that allow it for which this says so.
fn pairs_where(sets: &[Vec<u64>], resemblance: impl Fn(usize, usize) -> f64) -> Pairs {
    let mut pairs = Pairs::new();
    for a in 0..sets.len() {
        for b in a + 1..sets.len() {
            let [less, more] = [sets[a].len().min(sets[b].len()), sets[a].len().max(sets[b].len())];
            if less as f64 >= THRESHOLD * more as f64 && resemblance(a, b) >= THRESHOLD {
                pairs.insert((a as u32, b as u32));
            }
        }
    }
    pairs
}

fn signed(name: &str, start: f64, bytes: usize) {
    println!("{name:32} {:7.1} MB/s to sign", bytes as f64 / 1e6 / (cpu_s() - start));
}

/// CPU time of this process in seconds.
fn cpu_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split(' ').collect();
    // User and system time, in hundredths of a second.
    [12, 13].iter().map(|at| fields[*at].parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}
