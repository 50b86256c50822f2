//! What it costs to ask a model about texts and links: CPU microseconds for a kB of text and for a
//! link.
//!
//!     cargo run --release -p rhumb-topic --example topic_speed
//!
//! Texts are drawn from 50,000 words whose frequencies fall as in real ones, 6 kB each.

use rhumb_topic::features::{Feature, TextFeatures};
use rhumb_topic::link::{LinkScorer, LinkWords};
use rhumb_topic::training::learn;
use rhumb_topic::{Topic, TopicPart};
use std::fs;
use std::hint::black_box;

const WORDS: u64 = 50_000;
const TEXTS: usize = 400;
const TEXT_BYTES: usize = 6_000;
const EXAMPLES: usize = 20;
const ROUNDS: usize = 40;
const LINKS: usize = 400_000;
/// Before a link and after it.
const AROUND_BYTES: usize = 120;
/// What the kernel counts CPU time in.
const TICK_US: f64 = 10_000.0;

fn main() {
    let mut state = 7u64;
    let mut draw = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut word = move |topic: u64| {
        let rank = (WORDS as f64).powf(draw()) as u64;
        format!("w{}", rank * 2_654_435_761 % 100_003 + if draw() < 0.1 { topic * 7 } else { 0 })
    };
    let mut text = |topic: u64| {
        let mut text = String::new();
        while text.len() < TEXT_BYTES {
            text.push_str(&word(topic));
            text.push(' ');
        }
        text
    };
    let texts: Vec<String> = (0..TEXTS).map(|n| text(u64::from(n < EXAMPLES))).collect();
    let mut features = TextFeatures::default();
    let taken: Vec<_> = texts.iter().map(|text| features.of(text).to_vec()).collect();
    let (examples, others) = taken.split_at(EXAMPLES);
    let learnt = learn(&slices(examples), &slices(others)).expect("texts to learn from");
    let topic = Topic::of(TopicPart::Learnt(Box::new(learnt.model)));
    let before = cpu_us();
    for _ in 0..ROUNDS {
        for text in &texts {
            black_box(topic.score(black_box(text), &mut features));
        }
    }
    let kilobytes = ROUNDS as f64 * texts.iter().map(String::len).sum::<usize>() as f64 / 1000.0;
    println!("{:.2} µs for a kB of text", (cpu_us() - before) / kilobytes);
    let anchors: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split(' ').step_by(3))
        .filter(|a| !a.is_empty())
        .collect();
    let mut links = LinkScorer::default();
    let before = cpu_us();
    for n in 0..LINKS {
        let at = n % (anchors.len() - 2);
        let own = [anchors[at], anchors[at + 1]];
        let words = LinkWords { own: &own, around: &[] };
        black_box(links.weight(&topic, 0.3, black_box(words)));
    }
    println!("{:.3} µs for a link of two words", (cpu_us() - before) / LINKS as f64);
    let before = cpu_us();
    for n in 0..LINKS {
        let at = n % (anchors.len() - 2);
        let own = [anchors[at], anchors[at + 1]];
        let text = &texts[n % texts.len()];
        let around = [&text[..AROUND_BYTES]];
        let words = LinkWords { own: &own, around: &around };
        black_box(links.weight(&topic, 0.3, black_box(words)));
    }
    let each = (cpu_us() - before) / LINKS as f64;
    println!("{each:.3} µs with {AROUND_BYTES} bytes beside it");
}

fn slices(texts: &[Vec<Feature>]) -> Vec<&[Feature]> {
    texts.iter().map(Vec::as_slice).collect()
}

/// CPU time of this process so far.
fn cpu_us() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    // The name, in brackets, may have spaces.
    let after = stat.rsplit_once(')').expect("a name").1;
    let ticks = |n: usize| after.split_whitespace().nth(n).and_then(|t| t.parse::<f64>().ok());
    (ticks(11).expect("user time") + ticks(12).expect("system time")) * TICK_US
}
