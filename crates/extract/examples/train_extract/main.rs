//! Trains the table of the extractor, and tells how good it is on pages it has not seen.
//!
//! `cargo run --release -p rhumb-extract --example train_extract -- DATA.jsonl.zst [OPTIONS]`
//!
//! DATA has lines `{id, source, url, html, truth_text, page_type?}`. Pages are parted into folds by
//! site, and a page is only ever scored by a model that saw no page of its site. The second look
//! learns from a first look that had not seen the page either; with `--nested` that first look has
//! not seen the pages of the fold to be scored, too, which takes five times as long and is what
//! published scores should come from.
//!
//! `--write FILE` trains on all pages and writes the table; `--ceiling` shows only what choosing
//! blocks could reach, and the plateau; `--predictions FILE` writes what was scored as JSON lines.

mod boost;
mod pages;
mod shingles;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

use boost::{Dice, Model, Rows, Settings};
use pages::Page;
use rhumb_extract::lesson::FEATURES_OF_LOOK;
use shingles::Score;

const FOLDS: usize = 5;
const THREADS: usize = 2;
const FIRST: Settings =
    Settings { trees: 150, rate: 0.12, damping: 30.0, rows_part: 0.4, features_part: 0.3 };
const SECOND: Settings =
    Settings { trees: 200, rate: 0.08, damping: 30.0, rows_part: 0.4, features_part: 0.3 };

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().any(|arg| arg == name);
    let value = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1);
    let Some(data) = args.first().filter(|arg| !arg.starts_with('-')) else {
        eprintln!("usage: train_extract DATA.jsonl.zst [--nested] [--ceiling] [--write FILE]");
        std::process::exit(2);
    };
    let mut pages = pages::read(data, FOLDS)?;
    let blocks: usize = pages.iter().map(|page| page.labels.len()).sum();
    eprintln!("{} pages, {blocks} blocks, {FEATURES_OF_LOOK:?} features", pages.len());
    if flag("--ceiling") {
        let truth = |page: &Page| page.labels.iter().map(|label| *label > 0.5).collect();
        report("the best choice of blocks", &pages, truth);
        report("the plateau", &pages, |page| {
            (0..page.labels.len()).map(|at| page.lesson.plateau().contains(&at)).collect()
        });
        return Ok(());
    }
    let scores = cross_validated(&mut pages, flag("--nested"));
    let by_id: BTreeMap<&str, &Vec<f32>> =
        pages.iter().map(|page| page.id.as_str()).zip(&scores).collect();
    let what = match flag("--nested") {
        true => "cross-validated by site, nested",
        false => "cross-validated by site, the second look's first looks not nested",
    };
    let scored = report(what, &pages, |page| page.lesson.take(by_id[page.id.as_str()]).0);
    if flag("--shifts") {
        for shift in [-0.8, -0.4, 0.4] {
            report(&format!("log-odds shifted by {shift}"), &pages, |page| {
                let scores: Vec<f32> = by_id[page.id.as_str()].iter().map(|s| s + shift).collect();
                page.lesson.take(&scores).0
            });
        }
    }
    if let Some(path) = value("--predictions") {
        write_predictions(path, &pages, &scores)?;
    }
    if let Some(path) = value("--write") {
        let origin = origin(data, &args[1..], &pages, &scored)?;
        let table = table(&mut pages);
        std::fs::write(path, origin + &table)?;
    }
    Ok(())
}

/// The second look's scores of every block, each from models that had not seen its site.
fn cross_validated(pages: &mut [Page], nested: bool) -> Vec<Vec<f32>> {
    let first = folds(|fold| train(pages, 0, |page| page.fold != fold, fold as u64));
    look_again(pages, &first);
    let second: Vec<Model> = if nested {
        (0..FOLDS).map(|fold| second_of_nested(pages, fold)).collect()
    } else {
        folds(|fold| train(pages, 1, |page| page.fold != fold, 100 + fold as u64))
    };
    look_again(pages, &first);
    let of_page = |page: &Page| scores(page, &second[page.fold]);
    pages.iter().map(of_page).collect()
}

/// The second look for one fold, learned from first looks that have seen nothing of it.
fn second_of_nested(pages: &mut [Page], outer: usize) -> Model {
    let first = folds(|inner| {
        train(pages, 0, |page| page.fold != outer && page.fold != inner, inner as u64)
    });
    look_again(pages, &first);
    train(pages, 1, |page| page.fold != outer, 100 + outer as u64)
}

fn look_again(pages: &mut [Page], first: &[Model]) {
    for page in pages {
        let scores = scores(page, &first[page.fold]);
        page.lesson.look_again(&scores);
    }
}

fn scores(page: &Page, model: &Model) -> Vec<f32> {
    (0..page.labels.len())
        .map(|block| model.score(|feature| page.lesson.feature(block, feature)))
        .collect()
}

/// One model for each fold, a few at a time.
fn folds(train: impl Fn(usize) -> Model + Sync) -> Vec<Model> {
    let next = Mutex::new(0);
    let models = Mutex::new(vec![None; FOLDS]);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let fold = {
                        let mut next = next.lock().expect("no thread panics with it");
                        *next += 1;
                        *next - 1
                    };
                    if fold >= FOLDS {
                        return;
                    }
                    let model = train(fold);
                    models.lock().expect("no thread panics with it")[fold] = Some(model);
                }
            });
        }
    });
    models.into_inner().expect("no thread panics with it").into_iter().flatten().collect()
}

fn train(pages: &[Page], look: usize, is_in: impl Fn(&Page) -> bool, seed: u64) -> Model {
    let chosen: Vec<&Page> = pages.iter().filter(|page| is_in(page)).collect();
    let features = FEATURES_OF_LOOK[look];
    let columns = (0..features).map(|feature| {
        let of_page = |page: &&Page| {
            let page = *page;
            (0..page.labels.len())
                .map(|block| page.lesson.feature(block, feature))
                .collect::<Vec<u8>>()
        };
        chosen.iter().flat_map(of_page).collect()
    });
    let rows = Rows {
        columns: columns.collect(),
        labels: chosen.iter().flat_map(|page| page.labels.iter().copied()).collect(),
        weights: chosen.iter().flat_map(|page| page.weights.iter().copied()).collect(),
    };
    boost::train(&rows, if look == 0 { &FIRST } else { &SECOND }, &mut Dice(seed))
}

/// Prints how good a choice is, and gives back what was printed.
fn report(what: &str, pages: &[Page], choose: impl Fn(&Page) -> Vec<bool>) -> String {
    let mut groups: BTreeMap<String, Vec<Score>> = BTreeMap::new();
    for page in pages {
        let score = shingles::score(&page.truth, &shingles::shingles(&words(page, &choose(page))));
        for group in [&page.group, page.group.split('/').next().unwrap_or_default(), "~ all"] {
            groups.entry(group.to_owned()).or_default().push(score);
        }
    }
    let mut text = format!("{what}\n{:<28} {:>6} {:>7} {:>7}\n", "", "pages", "F1", "pageF1");
    for (group, scores) in groups {
        let (f1, page_f1) = shingles::mean(&scores);
        let _ = writeln!(text, "{group:<28} {:>6} {f1:>7.3} {page_f1:>7.3}", scores.len());
    }
    println!("{text}");
    text
}

/// Where a table comes from: the data and its digest, the command, and how it scored.
fn origin(
    data: &str,
    arguments: &[String],
    pages: &[Page],
    scored: &str,
) -> std::io::Result<String> {
    let digest = xxhash_rust::xxh3::xxh3_128(&std::fs::read(data)?);
    let name = Path::new(data).file_name().unwrap_or_default().to_string_lossy();
    let blocks: usize = pages.iter().map(|page| page.labels.len()).sum();
    let mut text = String::from(
        "# The extractor's table, written by examples/train_extract: two looks, each a bias and\n\
         # its trees, a line each: six questions (feature>value), then the leaf for each answer.\n",
    );
    let _ = writeln!(text, "# Trained on {} pages, {blocks} blocks, of {name}", pages.len());
    let _ = writeln!(text, "# (xxhsum -H128: {digest:032x})");
    let _ = writeln!(text, "# by: train_extract {name} {}", arguments.join(" "));
    for line in scored.lines() {
        let _ = writeln!(text, "{}", format!("# {line}").trim_end());
    }
    Ok(text)
}

fn words(page: &Page, taken: &[bool]) -> Vec<String> {
    let texts = page.lesson.texts().zip(taken).filter(|(_, taken)| **taken);
    texts.flat_map(|(text, _)| shingles::words(text)).collect()
}

fn write_predictions(path: &str, pages: &[Page], scores: &[Vec<f32>]) -> std::io::Result<()> {
    let mut lines = String::new();
    for (page, scores) in pages.iter().zip(scores) {
        let taken = page.lesson.take(scores).0;
        let texts = page.lesson.texts().zip(&taken).filter(|(_, taken)| **taken);
        let text = texts.map(|(text, _)| text).collect::<Vec<_>>().join("\n");
        let _ = writeln!(lines, "{}", serde_json::json!({ "id": page.id, "text": text }));
    }
    std::fs::write(path, lines)
}

/// Both looks trained on all pages, as the extractor reads them.
fn table(pages: &mut [Page]) -> String {
    let first_of_folds = folds(|fold| train(pages, 0, |page| page.fold != fold, fold as u64));
    let first = train(pages, 0, |_| true, 0);
    look_again(pages, &first_of_folds);
    let second = train(pages, 1, |_| true, 100);
    let mut text = String::new();
    for (name, model) in [("first", first), ("second", second)] {
        let _ = writeln!(text, "look {name}\nbias {}", model.bias);
        for tree in model.trees {
            let questions = tree.questions.iter().map(|(f, t)| format!("{f}>{t}"));
            let leaves = tree.leaves.iter().map(i16::to_string);
            let words: Vec<String> = questions.chain(leaves).collect();
            let _ = writeln!(text, "{}", words.join(" "));
        }
    }
    text
}
