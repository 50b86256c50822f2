//! The pages to learn from, and what is true of their blocks.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};

use rhumb_extract::lesson::Lesson;
use rhumb_page::url::Url;
use serde_json::Value;

use crate::shingles::{self, SHINGLE};

pub struct Page {
    pub id: String,
    /// Where it comes from, and what kind of page it is.
    pub group: String,
    pub fold: usize,
    pub lesson: Lesson<'static>,
    pub truth: HashMap<u64, u32>,
    /// For each block which part of it is content.
    pub labels: Vec<f32>,
    /// How much each block matters.
    pub weights: Vec<f32>,
}

/// Reads the pages; those of one site are all in one fold.
pub fn read(path: &str, folds: usize) -> std::io::Result<Vec<Page>> {
    let lines = BufReader::new(zstd::Decoder::new(std::fs::File::open(path)?)?).lines();
    let mut pages = Vec::new();
    for line in lines {
        let row: Value = serde_json::from_str(&line?)?;
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let id = text("id");
        let url = Url::parse(&text("url"))
            .unwrap_or_else(|_| Url::parse("http://page.test/").expect("a URL"));
        // The pages live as long as the program.
        let html: &'static str = Box::leak(text("html").into_boxed_str());
        let lesson = Lesson::of(html, &url);
        let truth_text = text("truth_text");
        let labels = labels(&lesson, &truth_text);
        let words = shingles::words(&truth_text);
        let weights = weights(&lesson, words.len());
        let mut hasher = DefaultHasher::new();
        site(&url, &id).hash(&mut hasher);
        let kind = row["page_type"].as_str().unwrap_or("-");
        pages.push(Page {
            group: format!("{}/{kind}", text("source")),
            fold: (hasher.finish() % folds as u64) as usize,
            truth: shingles::shingles(&words),
            id,
            lesson,
            labels,
            weights,
        });
    }
    Ok(pages)
}

/// The registrable domain; for pages whose address was withheld, their name without its number.
fn site(url: &Url, id: &str) -> String {
    if url.host() == "fakehost" || url.host() == "page.test" {
        let name = id.rsplit(['/', ':']).next().unwrap_or(id);
        return name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').to_owned();
    }
    url.site().as_str().to_owned()
}

/// A mistake counts by the words it costs, against the words there are to find; a page with little
/// to find must not count more than some pages together.
fn weights(lesson: &Lesson<'_>, truth_words: usize) -> Vec<f32> {
    const PAGE_MAX: f32 = 4.0;
    let whole = truth_words as f32 + 20.0;
    let mut weights: Vec<f32> = lesson.words().map(|words| (words as f32 + 1.0) / whole).collect();
    let sum: f32 = weights.iter().sum();
    if sum > PAGE_MAX {
        weights.iter_mut().for_each(|weight| *weight *= PAGE_MAX / sum);
    }
    weights
}

/// Which part of each block is content: the words that lie in a shingle of the truth, also across
/// blocks; and short blocks that are a line of it.
fn labels(lesson: &Lesson<'_>, truth: &str) -> Vec<f32> {
    let lower = |text: &str| shingles::words(&text.to_lowercase());
    let truth_shingles = shingles::shingles(&lower(truth));
    let mut lines: HashMap<u64, u32> = HashMap::new();
    for line in truth.lines() {
        *lines.entry(shingles::hash(&lower(line))).or_default() += 1;
    }
    let blocks: Vec<Vec<String>> = lesson.texts().map(lower).collect();
    let all: Vec<String> = blocks.iter().flatten().cloned().collect();
    let mut covered = vec![false; all.len()];
    for (at, shingle) in all.windows(SHINGLE).enumerate() {
        if truth_shingles.contains_key(&shingles::hash(shingle)) {
            covered[at..at + SHINGLE].fill(true);
        }
    }
    let mut at = 0;
    let mut labels: Vec<f32> = Vec::with_capacity(blocks.len());
    for words in &blocks {
        let inside = covered[at..at + words.len()].iter().filter(|c| **c).count();
        at += words.len();
        let part = inside as f32 / words.len().max(1) as f32;
        let is_line = words.len() < SHINGLE && lines.contains_key(&shingles::hash(words));
        labels.push(if is_line && !words.is_empty() { 1.0 } else { part });
    }
    drop_repeats(&blocks, &truth_shingles, &lines, &mut labels);
    labels
}

/// Of blocks that say the same, only as many are content as the truth has, those in the best
/// company.
fn drop_repeats(
    blocks: &[Vec<String>],
    truth: &HashMap<u64, u32>,
    lines: &HashMap<u64, u32>,
    labels: &mut [f32],
) {
    const REACH: usize = 6;
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, words) in blocks.iter().enumerate().filter(|(_, words)| !words.is_empty()) {
        alike.entry(shingles::hash(words)).or_default().push(at);
    }
    let before = labels.to_vec();
    for (hash, places) in alike.into_iter().filter(|(_, places)| places.len() > 1) {
        let words = &blocks[places[0]];
        let times = if words.len() < SHINGLE {
            lines.get(&hash).copied().unwrap_or(1)
        } else {
            let counts = words.windows(SHINGLE).map(|s| truth.get(&shingles::hash(s)));
            counts.flatten().copied().max().unwrap_or(0)
        };
        let mut company: Vec<(f32, usize)> = places
            .iter()
            .map(|&at| {
                let (from, to) = (at.saturating_sub(REACH), (at + REACH + 1).min(blocks.len()));
                let near: f32 = (from..to)
                    .filter(|near| *near != at)
                    .map(|near| before[near] * blocks[near].len() as f32)
                    .sum();
                (near, at)
            })
            .collect();
        company.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in company.into_iter().skip(times as usize) {
            labels[at] = 0.0;
        }
    }
}
