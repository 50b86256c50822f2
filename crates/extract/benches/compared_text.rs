//! By which text should pages be compared? All that is visible, a page's own text, and its main
//! content side by side: how near each comes to the text that people marked, how alike it makes
//! unlike pages of one site, and what it costs. `cargo bench -p rhumb-extract --bench
//! compared_text` needs the shared pages.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::io::{BufRead, BufReader};

use rhumb_extract::read_main;
use rhumb_page::html::{PageLimits, read, read_with_own_text, read_with_text};
use rhumb_page::url::Url;

const WORDS: usize = 4;
/// Fewer are no text to compare, as in a crawl.
const SHINGLES_MIN: usize = 24;
const NEAR: f64 = 0.8;
/// Pages whose marked texts resemble each other by less say different things.
const UNLIKE: f64 = 0.5;

struct Page {
    url: Url,
    html: String,
    marked: Shingles,
}

type Shingles = HashSet<u64>;
type TextOf = fn(&Url, &str) -> String;

fn main() {
    let Some(pages) = pages() else { return };
    println!("{} pages with {SHINGLES_MIN} shingles or more in what people marked", pages.len());
    let links = cost_us(&pages, |url, html| {
        read(html.as_bytes(), Some("utf-8"), url, &PageLimits::default()).links.len()
    });
    println!("links alone: {links:.0} µs a page");
    let kinds: [(&str, TextOf); 3] = [
        ("all visible text", |url, html| {
            read_with_text(html.as_bytes(), Some("utf-8"), url, &PageLimits::default()).1
        }),
        ("own text", |url, html| {
            read_with_own_text(html.as_bytes(), Some("utf-8"), url, &PageLimits::default()).1
        }),
        ("main content", |url, html| {
            read_main(html.as_bytes(), Some("utf-8"), url, &PageLimits::default(), None).1.text
        }),
    ];
    for (name, text_of) in kinds {
        tell(name, &pages, text_of);
    }
}

fn tell(name: &str, pages: &[Page], text_of: TextOf) {
    let cost = cost_us(pages, |url, html| text_of(url, html).len());
    let sets: Vec<Shingles> = pages.iter().map(|p| shingles(&text_of(&p.url, &p.html))).collect();
    let likeness = pages.iter().zip(&sets).map(|(page, set)| resemblance(&page.marked, set));
    let mean = likeness.sum::<f64>() / pages.len() as f64;
    let empty = sets.iter().filter(|set| set.len() < SHINGLES_MIN).count();
    println!("{name}: links and text {cost:.0} µs a page");
    println!("  resembles the marked text by {mean:.3} on average; {empty} pages have too little");
    let (mut pairs, mut fooled, mut sum) = (0, 0, 0.0);
    for (a, b) in same_site(pages) {
        if resemblance(&pages[a].marked, &pages[b].marked) < UNLIKE {
            let alike = resemblance(&sets[a], &sets[b]);
            (pairs, sum) = (pairs + 1, sum + alike);
            fooled += usize::from(alike >= NEAR);
        }
    }
    let mean = sum / f64::from(pairs.max(1));
    println!("  {pairs} pairs of one site that are unlike: {mean:.3} alike, {fooled} at {NEAR}");
    let dated =
        pages.iter().zip(&sets).filter(|(page, _)| page.html.contains(YEAR)).map(|(p, set)| {
            resemblance(set, &shingles(&text_of(&p.url, &p.html.replace(YEAR, OTHER_YEAR))))
        });
    let dated: Vec<f64> = dated.collect();
    let near = dated.iter().filter(|alike| **alike >= NEAR).count();
    println!("  {near} of {} pages are near-duplicates of themselves a year later", dated.len());
}

/// A year that many pages have, in their text and around it.
const YEAR: &str = "2023";
const OTHER_YEAR: &str = "2024";

fn same_site(pages: &[Page]) -> impl Iterator<Item = (usize, usize)> {
    let mut sites: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, page) in pages.iter().enumerate() {
        sites.entry(page.url.host_key().as_str().to_owned()).or_default().push(at);
    }
    // Pages whose address nobody knows have a made-up one.
    sites.retain(|site, _| !site.contains("fakehost") && !site.contains("page.test"));
    sites.into_values().flat_map(|site| {
        let all = site.clone();
        all.into_iter().enumerate().flat_map(move |(at, a)| {
            site[at + 1..].iter().map(move |b| (a, *b)).collect::<Vec<_>>()
        })
    })
}

fn shingles(text: &str) -> Shingles {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    let hash = |words: &[&str]| {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(WORDS).map(hash).collect()
}

fn resemblance(a: &Shingles, b: &Shingles) -> f64 {
    let both = a.intersection(b).count();
    both as f64 / (a.len() + b.len() - both).max(1) as f64
}

/// CPU time of a page, the better of two rounds.
fn cost_us(pages: &[Page], one: impl Fn(&Url, &str) -> usize) -> f64 {
    let round = |_| {
        let start = cpu_ns();
        pages.iter().for_each(|page| {
            black_box(one(&page.url, &page.html));
        });
        (cpu_ns() - start) as f64 / 1e3 / pages.len() as f64
    };
    (0..2).map(round).fold(f64::INFINITY, f64::min)
}

fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("nanoseconds")
}

fn pages() -> Option<Vec<Page>> {
    let file = std::fs::File::open(rhumb_given::data("extraction/dev.jsonl.zst")?).expect("a file");
    let lines = BufReader::new(zstd::Decoder::new(file).expect("zstd")).lines();
    let page = |line: std::io::Result<String>| {
        let row: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let url = Url::parse(&text("url")).or_else(|_| Url::parse("http://page.test/"));
        let marked = shingles(&text("truth_text"));
        Page { url: url.expect("a URL"), html: text("html"), marked }
    };
    Some(lines.map(page).filter(|page| page.marked.len() >= SHINGLES_MIN).collect())
}
