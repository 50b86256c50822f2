//! Judged collections: what is found is what people judged to be right.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use rhumb_search::ranking::Coefficients;
use rhumb_search::{Index, SearchOptions, SearchPage};
use serde::Deserialize;

use super::corpus;
use super::measure::ndcg;

#[derive(Deserialize)]
struct Document {
    id: String,
    title: String,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    id: String,
    query: String,
}

/// A collection with queries and judgements.
struct Judged {
    index: Index,
    queries: Vec<Asked>,
    grades: HashMap<String, HashMap<String, i32>>,
}

fn lines<T: for<'a> Deserialize<'a>>(text: &[u8]) -> Vec<T> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a row")).collect()
}

fn collection(name: &str, dir: &Path) -> Option<Judged> {
    let data = rhumb_given::data("search")?;
    let read = |ending: &str| fs::read(data.join(format!("{name}.{ending}"))).expect("given");
    let documents = zstd::decode_all(read("docs.jsonl.zst").as_slice()).expect("zstd");
    let pages = lines::<Document>(&documents).into_iter().map(|document| SearchPage {
        id: document.id,
        title: document.title,
        text: document.text,
        ..SearchPage::default()
    });
    let index = corpus::index(dir, pages);
    let mut grades: HashMap<String, HashMap<String, i32>> = HashMap::new();
    for line in String::from_utf8(read("qrels.tsv")).expect("text").lines() {
        let mut fields = line.split('\t');
        let mut next = || fields.next().expect("three fields").to_owned();
        let (query, id, grade) = (next(), next(), next());
        grades.entry(query).or_default().insert(id, grade.parse().expect("a grade"));
    }
    let mut queries: Vec<Asked> = lines(&read("queries.jsonl"));
    queries.retain(|asked| grades.contains_key(&asked.id));
    Some(Judged { index, queries, grades })
}

impl Judged {
    /// nDCG@10 of each query.
    fn each(&self, wanted: &SearchOptions) -> Vec<f64> {
        let of = |asked: &Asked| {
            let answer = self.index.search(&asked.query, wanted).expect("an answer");
            let ranked: Vec<String> = answer.results.into_iter().map(|shown| shown.id).collect();
            ndcg(&ranked, &self.grades[&asked.id], 10)
        };
        self.queries.iter().map(of).collect()
    }

    fn mean(&self) -> f64 {
        let wanted = SearchOptions { snippets: false, ..SearchOptions::default() };
        let each = self.each(&wanted);
        each.iter().sum::<f64>() / each.len() as f64
    }
}

fn check(name: &str, least: f64) {
    let dir = tempfile::tempdir().expect("a directory");
    let Some(judged) = collection(name, dir.path()) else { return };
    let found = judged.mean();
    println!("{name}: nDCG@10 {found:.4} over {} queries", judged.queries.len());
    assert!(found >= least, "{name}: nDCG@10 {found:.4}, less than {least}");
}

#[test]
fn scifact_is_found_as_judged() {
    check("scifact", 0.69);
}

#[test]
fn cranfield_is_found_as_judged() {
    check("cranfield", 0.385);
}

/// Fits the weight of closeness by five-fold cross-validation: run with --ignored --nocapture.
#[test]
#[ignore = "fits a coefficient; the tests above check what was chosen"]
fn closeness_is_fitted_by_cross_validation() {
    const WEIGHTS: [f32; 9] = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8];
    const FOLDS: usize = 5;
    for name in ["scifact", "cranfield"] {
        let dir = tempfile::tempdir().expect("a directory");
        let Some(mut judged) = collection(name, dir.path()) else { return };
        let mut by_weight: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (at, closeness) in WEIGHTS.into_iter().enumerate() {
            let coefficients = Coefficients { closeness, ..Coefficients::default() };
            judged.index = judged.index.with_coefficients(coefficients);
            let each = judged.each(&SearchOptions { snippets: false, ..SearchOptions::default() });
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            println!("{name}: closeness {closeness}: {mean:.4}");
            by_weight.insert(at, each);
        }
        let mut held_out = Vec::new();
        for fold in 0..FOLDS {
            let sum = |of: &[f64], inside: bool| -> f64 {
                let chosen = of.iter().enumerate().filter(|(n, _)| (n % FOLDS == fold) == inside);
                chosen.map(|(_, value)| value).sum()
            };
            let best = by_weight
                .iter()
                .max_by(|a, b| sum(a.1, false).total_cmp(&sum(b.1, false)))
                .expect("weights");
            println!("{name}: fold {fold} chooses {}", WEIGHTS[*best.0]);
            held_out.push(sum(best.1, true));
        }
        let mean = held_out.iter().sum::<f64>() / judged.queries.len() as f64;
        println!("{name}: held out {mean:.4}");
    }
}
