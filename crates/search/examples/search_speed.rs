//! How fast is it? Indexes the given corpus, or synthetic pages, and asks queries of one to five
//! words; prints MB of text a CPU second, sizes, and times of queries with snippets.
//!
//!     cargo run --release -p rhumb-search --example search_speed -- corpus 35198
//!     cargo run --release -p rhumb-search --example search_speed -- synthetic 1000000
//!
//! Synthetic pages are of 150 words drawn at random from the running text of the corpus, so words
//! are as frequent as there, and no page is like another. Times are of this thread's CPU, since the
//! machine may be busy.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use rhumb_search::{Index, IndexMark, Indexer, SearchOptions, SearchPage, sizes};
use serde::Deserialize;

const WORDS_OF_PAGE: usize = 150;
const QUERIES: usize = 200;
/// Words that queries and synthetic pages are drawn from.
const RUNNING_WORDS: usize = 4_000_000;

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    url: String,
    text: String,
}

fn rows() -> impl Iterator<Item = Row> {
    let path = rhumb_given::data("neardup/d1.jsonl.zst").expect("the corpus beside the workspace");
    let mut decoder = zstd::Decoder::new(File::open(path).expect("readable")).expect("zstd");
    decoder.window_log_max(27).expect("a window");
    let lines = BufReader::new(decoder).lines();
    lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("a row"))
}

/// xorshift64*, so that every run has the same pages.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

/// CPU seconds of the process, and of this thread.
fn cpu() -> (f64, f64) {
    let of = |path: &str, tick: f64| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let after = text.rsplit(')').next().unwrap_or_default().to_owned();
        let fields: Vec<f64> = after.split(' ').filter_map(|field| field.parse().ok()).collect();
        // utime and stime, after the state, which is a letter.
        fields.get(10).copied().unwrap_or(0.0) * tick
            + fields.get(11).copied().unwrap_or(0.0) * tick
    };
    let thread = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = thread.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    (of("/proc/self/stat", 0.01), nanoseconds.unwrap_or(0.0) / 1e9)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "corpus".to_owned());
    let pages: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(35_198);
    let dir = arguments.next().unwrap_or_else(|| "/tmp/rhumb-search-speed".to_owned());
    let dir = Path::new(&dir);
    let mut running: Vec<String> = Vec::new();
    for row in rows() {
        running.extend(row.text.split_whitespace().map(str::to_owned));
        if running.len() >= RUNNING_WORDS {
            break;
        }
    }
    let mut dice = Dice(88_172_645_463_325_252);
    if !dir.join("version").exists() {
        build(dir, &kind, pages, &running, &mut dice);
    }
    ask(dir, &running, &mut dice);
}

fn build(dir: &Path, kind: &str, pages: usize, running: &[String], dice: &mut Dice) {
    let mut indexer = Indexer::open(dir).expect("opened");
    let (before, mut text_bytes, mut making) = (cpu().0, 0, 0.0);
    let mut corpus = rows();
    for n in 0..pages {
        let began = cpu().1;
        let page = if kind == "corpus" {
            let Some(row) = corpus.next() else { break };
            SearchPage { id: n.to_string(), url: row.url, text: row.text, ..SearchPage::default() }
        } else {
            let words = (0..WORDS_OF_PAGE).map(|_| running[dice.below(running.len())].as_str());
            let text = words.collect::<Vec<_>>().join(" ");
            let url = format!("https://h{}.example/{n}", n % 5000);
            SearchPage { id: n.to_string(), url, text, ..SearchPage::default() }
        };
        text_bytes += page.text.len();
        making += cpu().1 - began;
        indexer.add(page).expect("taken");
        if indexer.uncommitted() >= 5_000 {
            indexer.commit(IndexMark::default()).expect("committed");
        }
    }
    let counts = indexer.finish(IndexMark::default()).expect("finished");
    let seconds = cpu().0 - before - making;
    let megabytes = text_bytes as f64 / 1e6;
    let (terms, beside) = sizes(dir);
    println!("{counts:?}");
    println!("{megabytes:.1} MB in {seconds:.1} CPU s: {:.1} MB/s", megabytes / seconds);
    let share = |bytes: u64| bytes as f64 / text_bytes as f64;
    println!("terms {:.3} of the text, pages beside {:.3}", share(terms), share(beside));
}

fn ask(dir: &Path, running: &[String], dice: &mut Dice) {
    let began = Instant::now();
    let index = Index::open(dir).expect("an index");
    println!("{} pages, opened in {:.1} ms", index.pages(), began.elapsed().as_secs_f64() * 1e3);
    let mut queries = Vec::new();
    for n in 0..QUERIES {
        let words = (0..=n % 5).map(|_| running[dice.below(running.len())].as_str());
        queries.push(words.collect::<Vec<_>>().join(" "));
    }
    for (what, all) in [("first time", false), ("with snippets", false), ("all", true)] {
        let options = SearchOptions { all, ..SearchOptions::default() };
        let mut times = Vec::new();
        let mut wall = Vec::new();
        for query in &queries {
            let (began, at) = (cpu().1, Instant::now());
            index.search(query, &options).expect("an answer");
            times.push((cpu().1 - began) * 1e3);
            wall.push(at.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        wall.sort_by(f64::total_cmp);
        let at = |times: &[f64], share: f64| times[(times.len() as f64 * share) as usize];
        println!(
            "{what}: CPU p50 {:.2} ms, p95 {:.2} ms, most {:.2} ms; wall p50 {:.2} ms, p95 {:.2} ms",
            at(&times, 0.5),
            at(&times, 0.95),
            times[times.len() - 1],
            at(&wall, 0.5),
            at(&wall, 0.95)
        );
    }
}
