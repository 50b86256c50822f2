//! Near-duplicates are omitted, counted and unfolded.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};

use rhumb_search::clusters::{resemblance, shingles};
use rhumb_search::{SearchOptions, SearchPage};
use serde::Deserialize;

use super::corpus::{answer, ids, index, page};

/// A text of so many words of its own, on a subject.
fn text(subject: &str, own: usize) -> String {
    let shared = (0..100).map(|n| format!("{subject}word{n}"));
    let own = (0..own).map(|n| format!("own{own}word{n}"));
    shared.chain(own).collect::<Vec<_>>().join(" ")
}

#[test]
fn one_of_a_cluster_is_shown_with_the_count_of_the_others() {
    let dir = tempfile::tempdir().expect("a directory");
    let near = (0..15).map(|n| page(&format!("https://h{n}.org/a"), "Tides", &text("tide", n)));
    let other = page("https://other.org/", "Moon", &text("moon", 3));
    let index = index(dir.path(), near.chain([other]));
    let answer = answer(&index, "tides");
    assert_eq!(answer.total, 15);
    assert_eq!(answer.results.len(), 1, "{:?}", answer.results);
    assert_eq!(answer.results[0].omitted, 14);
    assert_eq!(ids(&index, "tideword1 OR moonword1").len(), 2);
    let all = SearchOptions { all: true, limit: 100, ..SearchOptions::default() };
    assert_eq!(index.search("tides", &all).expect("an answer").results.len(), 15);
}

#[test]
fn a_result_unfolds_with_similarity_and_difference() {
    let dir = tempfile::tempdir().expect("a directory");
    let pages = [("https://a.org/", 2), ("https://b.org/", 4)];
    let index = index(dir.path(), pages.map(|(url, own)| page(url, "Tides", &text("tide", own))));
    let wanted = SearchOptions { unfold: true, ..SearchOptions::default() };
    let answer = index.search("tides", &wanted).expect("an answer");
    let shown = &answer.results[0];
    let near = &shown.near[0];
    let of = |url: &str| shingles(&index.page(url).expect("a page").text);
    assert_eq!(near.similarity, resemblance(&of(&shown.id), &of(&near.id)));
    assert!(near.similarity >= 0.8 && near.similarity < 1.0);
    assert_eq!(
        (near.added.len(), near.missing.len()),
        if shown.id == "https://a.org/" { (4, 2) } else { (2, 4) }
    );
}

#[test]
fn a_count_is_of_those_that_match_the_query() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut pages: Vec<SearchPage> =
        (0..4).map(|n| page(&format!("https://h{n}.org/"), "Tides", &text("tide", 1))).collect();
    pages[2].text.push_str(" rare");
    pages[3].text.push_str(" rare");
    let index = index(dir.path(), pages);
    assert_eq!(answer(&index, "tides").results[0].omitted, 3);
    assert_eq!(answer(&index, "rare").results[0].omitted, 1);
    assert_eq!(answer(&index, "tides -rare").results[0].omitted, 1);
}

#[test]
fn two_of_a_host_are_shown_and_more_where_the_host_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let pages = (0..6).map(|n| {
        let subject = format!("tide{n}");
        page(&format!("https://one.org/{n}"), "Tides", &text(&subject, 0))
    });
    let other = page("https://two.org/", "Tides", &text("other", 0));
    let index = index(dir.path(), pages.chain([other]));
    let answer = answer(&index, "tides");
    assert_eq!(answer.results.len(), 3);
    assert_eq!(answer.results.iter().map(|shown| shown.crowded).sum::<usize>(), 4);
    assert_eq!(ids(&index, "tides site:one.org").len(), 6);
}

#[derive(Deserialize)]
struct Given {
    id: serde_json::Value,
    #[serde(default)]
    url: String,
    text: String,
}

/// Documents of the given corpus with pairs that are known.
const DOCUMENTS: usize = 6000;

/// Resemblances of pairs of the given corpus, as they were computed from all pairs of texts.
struct Truth(HashMap<u32, HashMap<u32, f64>>);

impl Truth {
    fn given() -> Option<Truth> {
        let file = std::fs::File::open(rhumb_given::data("neardup/d1_truth.tsv.zst")?);
        let lines = BufReader::new(zstd::Decoder::new(file.expect("given")).expect("zstd")).lines();
        let mut like: HashMap<u32, HashMap<u32, f64>> = HashMap::new();
        for line in lines {
            let line = line.expect("a line");
            let fields: Vec<&str> = line.split('\t').collect();
            let [one, other, alike] = fields[..] else { panic!("a pair: {line}") };
            let [one, other] = [one, other].map(|id| id.parse::<u32>().expect("an id"));
            if one.max(other) < DOCUMENTS as u32 {
                let alike = alike.parse().expect("a number");
                like.entry(one).or_default().insert(other, alike);
                like.entry(other).or_default().insert(one, alike);
            }
        }
        Some(Truth(like))
    }

    fn of(&self, one: &str, other: &str) -> Option<f64> {
        let [one, other] = [one, other].map(|id| id.parse::<u32>().expect("an id"));
        self.0.get(&one)?.get(&other).copied()
    }

    fn are_alike(&self, one: &str, other: &str) -> bool {
        self.of(one, other).is_some_and(|alike| alike >= 0.8)
    }

    /// Whether both are like a third: a cluster's members are like its leader.
    fn share_a_leader(&self, one: &str, other: &str) -> bool {
        let of_one = self.0.get(&one.parse::<u32>().expect("an id")).into_iter().flatten();
        let mut near = of_one.filter(|(_, alike)| **alike >= 0.8);
        near.any(|(third, _)| self.are_alike(other, &third.to_string()))
    }
}

#[test]
fn what_is_shown_and_what_is_left_out_of_a_corpus_are_as_its_known_pairs_say() {
    let Some(corpus) = rhumb_given::data("neardup/d1.jsonl.zst") else { return };
    let Some(truth) = Truth::given() else { return };
    assert!(truth.0.len() > 1_000, "{} documents have pairs", truth.0.len());
    let file = std::fs::File::open(corpus).expect("given");
    let mut decoder = zstd::Decoder::new(file).expect("zstd");
    decoder.window_log_max(27).expect("a window");
    let mut pages = Vec::new();
    let mut words: HashMap<String, usize> = HashMap::new();
    for line in BufReader::new(decoder).lines().take(DOCUMENTS) {
        let given: Given = serde_json::from_str(&line.expect("a line")).expect("a row");
        let id = given.id.as_str().map_or_else(|| given.id.to_string(), str::to_owned);
        for word in given.text.split_whitespace().take(40).collect::<HashSet<_>>() {
            *words.entry(word.to_lowercase()).or_default() += 1;
        }
        pages.push(SearchPage { id, url: given.url, text: given.text, ..SearchPage::default() });
    }
    let dir = tempfile::tempdir().expect("a directory");
    let index = index(dir.path(), pages);
    let mut asked: Vec<(&String, &usize)> =
        words.iter().filter(|(word, count)| word.len() > 3 && **count > 20).collect();
    asked.sort();
    let (mut shown, mut omitted, mut pairs) = (0, 0, 0);
    for (word, _) in asked.iter().step_by(asked.len() / 60 + 1) {
        let wanted = SearchOptions { unfold: true, ..SearchOptions::default() };
        let answer = index.search(word, &wanted).expect("an answer");
        let texts: Vec<Vec<u64>> = answer
            .results
            .iter()
            .map(|shown| shingles(&index.page(&shown.id).expect("a page").text))
            .collect();
        for (n, one) in texts.iter().enumerate() {
            for (m, other) in texts.iter().enumerate().skip(n + 1) {
                let ids = [&answer.results[n].id, &answer.results[m].id];
                assert!(resemblance(one, other) < 0.8, "{word}: two results are alike");
                assert!(!truth.are_alike(ids[0], ids[1]), "{word}: {ids:?}");
            }
        }
        for result in &answer.results {
            for near in &result.near {
                match truth.of(&result.id, &near.id) {
                    Some(alike) => assert!((near.similarity - alike).abs() < 1e-5, "{near:?}"),
                    None => assert!(near.similarity < 0.8, "{near:?}"),
                }
                let is_like = truth.are_alike(&result.id, &near.id);
                assert!(is_like || truth.share_a_leader(&result.id, &near.id), "{near:?}");
                pairs += 1;
            }
            assert!(result.near.len() == result.omitted || result.near.len() == 100);
        }
        shown += answer.results.len();
        omitted += answer.results.iter().map(|shown| shown.omitted).sum::<usize>();
    }
    assert!(shown > 100 && omitted > 100 && pairs > 100, "{shown} shown, {omitted} omitted");
}
