//! MB of text per CPU-second of one core, step by step. The text is a file of lines, one document
//! each: `RHUMB_TEXTS=FILE cargo bench -p rhumb-neardup`; without it, made-up words.

use std::fs;
use std::hint::black_box;

use rhumb_neardup::batch::{BatchError, BatchSettings, Corpus, DocumentBlock, DocumentSigner};
use rhumb_neardup::resemblance::append_set;
use rhumb_neardup::shingle::{exact_hash, fingerprints};
use rhumb_neardup::sketch::{Minima, Sketch};
use rhumb_neardup::words::hash_words;

fn main() {
    let text = match std::env::var_os("RHUMB_TEXTS") {
        Some(path) => fs::read_to_string(path).expect("a readable file of UTF-8"),
        None => made_up(),
    };
    let texts: Vec<&str> = text.lines().collect();
    println!("{} texts, {:.1} MB", texts.len(), text.len() as f64 / 1e6);
    let mut prints = Vec::new();
    let (mut sets, mut ends) = (Vec::new(), Vec::new());
    measure("words", &texts, |text| {
        prints.clear();
        hash_words(text, &mut prints);
        prints.len()
    });
    measure("shingles", &texts, |text| {
        prints.clear();
        fingerprints(text, 4, &mut prints);
        prints.len()
    });
    measure("exact hash", &texts, |text| {
        prints.clear();
        fingerprints(text, 4, &mut prints);
        exact_hash(&prints) as usize
    });
    measure("signature: exact hash and minima", &texts, |text| {
        prints.clear();
        fingerprints(text, 4, &mut prints);
        Minima::of(&prints).map_or(0, |minima| minima.0[0] as usize) + exact_hash(&prints) as usize
    });
    measure("the same with the fine sketch", &texts, |text| {
        prints.clear();
        fingerprints(text, 4, &mut prints);
        Sketch::of(&prints).map_or(0, |sketch| sketch.slots[0] as usize)
            + exact_hash(&prints) as usize
    });
    measure("sorted sets", &texts, |text| {
        prints.clear();
        fingerprints(text, 4, &mut prints);
        sets.clear();
        append_set(&mut prints, &mut sets, &mut ends)
    });
    batch(&texts, text.len());
}

/// All pairs in memory, by one thread.
fn batch(texts: &[&str], bytes: usize) {
    let settings = BatchSettings { memory_bytes: 8 << 30, ..BatchSettings::default() };
    let start = cpu_s();
    let mut signer = DocumentSigner::new(settings.words);
    let mut corpus = Corpus::new(settings);
    for texts in texts.chunks(256) {
        let mut block = DocumentBlock::for_bytes(texts.iter().map(|text| text.len()).sum());
        texts.iter().for_each(|text| signer.sign(text, &mut block));
        corpus.add(block).expect("memory");
    }
    let signed = cpu_s();
    let matches = corpus.matches().expect("memory");
    let done = cpu_s();
    let compared = matches.compared;
    let mut pairs = 0;
    let counted = matches.each(|_| {
        pairs += 1;
        Ok::<(), BatchError>(())
    });
    counted.expect("memory");
    let rate = |cpu_s: f64| bytes as f64 / 1e6 / cpu_s;
    println!("batch: signed, kept                {:7.0} MB/s", rate(signed - start));
    println!("batch: pairs found, verified       {:7.0} MB/s", rate(done - signed));
    println!("batch: all                         {:7.0} MB/s", rate(done - start));
    println!("{pairs} pairs of {compared} compared");
}

fn measure(name: &str, texts: &[&str], mut each: impl FnMut(&str) -> usize) {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let best = (0..3)
        .map(|_| {
            let start = cpu_s();
            for text in texts {
                black_box(each(text));
            }
            cpu_s() - start
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:34} {:7.0} MB/s", bytes as f64 / 1e6 / best);
}

/// CPU time of this process in seconds.
fn cpu_s() -> f64 {
    // Of all threads: those that are gone count as well.
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split(' ').collect();
    // User and system time, in hundredths of a second.
    [12, 13].iter().map(|at| fields[*at].parse::<f64>().expect("a number")).sum::<f64>() / 100.0
}

fn made_up() -> String {
    let words = ["the", "Of", "archive", "page", "x86", "near-duplicate", "crawling", "a", "été"];
    let mut seed = 7u64;
    let mut text = String::new();
    for _ in 0..20_000 {
        for _ in 0..300 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            text.push_str(words[(seed >> 33) as usize % words.len()]);
            text.push_str(&(seed >> 60).to_string());
            text.push(' ');
        }
        text.push('\n');
    }
    text
}
