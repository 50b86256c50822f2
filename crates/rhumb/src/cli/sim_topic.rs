//! `rhumb sim topic`: orders of a crawl with a topic over pages whose subjects are known.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use rhumb_lab::plot::{Axis, LineChart, PlotLine, Scale, Stroke};
use rhumb_lab::topic::collection::JudgedPages;
use rhumb_lab::topic::{
    self as lab, Had, Setting, TIMES, Texts, TopicOrder, TopicOutcome, TopicTruth,
};
use rhumb_node::settings::{TopicSpec, nearest, open_input};
use rhumb_topic::Topic;
use rhumb_topic::features::TextFeatures;
use serde_json::{Value, json};

use super::ended::{Ended, Trouble};
use super::json;
use super::notice::notice;

/// Find a topic's part of a known web, in several orders, and see how much of it each can prove.
///
/// The topic is learnt from a few seeds. Recall is the share of the subject's pages that were
/// fetched after as many fetches as it has pages (N), twice and five times as many; proven is the
/// share of the topic's mass that is had for certain, true what is had indeed.
#[derive(Args)]
#[command(after_help = "\
Orders: bfs bestparent settled focused focused-proven oracle

Examples:
  rhumb sim topic --pages pages.jsonl.zst --subjects subjects.json
  rhumb sim topic --pages pages.jsonl.zst --subjects subjects.json --order focused --json
  rhumb sim topic --pages pages.jsonl.zst --subjects subjects.json --plot topic.svg
  rhumb sim topic --pages pages.jsonl.zst --topic model:quality.bin#hq")]
pub(super) struct TopicFlags {
    /// JSON lines {\"id\", \"title\", \"text\", \"links\": [ids]}; .gz and .zst are read as such
    #[arg(long, value_name = "FILE")]
    pages: PathBuf,

    /// One JSON value: {name: {\"pages\": [ids], \"seeds\": [[ids]…]}}
    #[arg(long, value_name = "FILE", required_unless_present = "topic")]
    subjects: Option<PathBuf>,

    /// Of a topic of its own (model:FILE, …) instead of subjects: the best tenth of the pages by it
    /// is wanted, from ten draws of five pages anywhere
    #[arg(long, value_name = "SPEC", conflicts_with_all = ["subjects", "subject"])]
    topic: Option<TopicSpec>,

    /// Pages that are not of the topic, for like:
    #[arg(long, value_name = "DIR|FILE")]
    topic_against: Option<PathBuf>,

    /// An order, repeatable; all if not given
    #[arg(long = "order", value_name = "O")]
    orders: Vec<String>,

    /// Only subjects whose name has this in it
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,

    /// Draw recall against fetches, in parts of N, as the mean of all subjects
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,

    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

struct Answer {
    outcomes: Vec<TopicOutcome>,
    /// Of models that were learnt; nothing can be said of a topic that says itself what is wanted.
    auc: Option<f64>,
}

pub(super) fn run(flags: &TopicFlags, out: &mut impl Write) -> Result<Ended, Trouble> {
    let orders = orders(&flags.orders)?;
    let collection = read(&flags.pages, flags.subjects.as_deref())?;
    let answer = match &flags.topic {
        Some(spec) => {
            let made =
                super::topic::made(std::slice::from_ref(spec), flags.topic_against.as_deref());
            answer_about(&collection, &orders, made?)?
        }
        None => answer(&collection, &orders, flags.subject.as_deref())?,
    };
    if let Some(path) = &flags.plot {
        let written = chart(&answer, &orders).write(path);
        written.map_err(|error| Trouble::Failed(format!("{}: {error}", path.display())))?;
    }
    if flags.json {
        json::print(out, &as_json(&answer))?;
    } else {
        write!(out, "{}", table(&answer, &orders))?;
        out.flush()?;
    }
    Ok(Ended::Done)
}

fn read(pages: &Path, subjects: Option<&Path>) -> Result<JudgedPages, Trouble> {
    let open = |path: &Path| {
        let opened = open_input(path).map(BufReader::new);
        opened.map_err(|error| Trouble::Usage(format!("{}: {error}", path.display())))
    };
    let read = match subjects {
        Some(subjects) => JudgedPages::read(open(pages)?, open(subjects)?),
        None => JudgedPages::read(open(pages)?, "{}".as_bytes()),
    };
    read.map_err(Trouble::Failed)
}

fn orders(names: &[String]) -> Result<Vec<TopicOrder>, Trouble> {
    if names.is_empty() {
        return Ok(TopicOrder::ALL.to_vec());
    }
    let known = |name: &String| {
        TopicOrder::named(name).ok_or_else(|| {
            let names = TopicOrder::ALL.map(TopicOrder::name);
            let guess = nearest::did_you_mean(name, names.into_iter());
            Trouble::Usage(format!("no order {name:?}: there are {}{guess}", names.join(", ")))
        })
    };
    names.iter().map(known).collect()
}

fn answer(
    collection: &JudgedPages,
    orders: &[TopicOrder],
    part: Option<&str>,
) -> Result<Answer, Trouble> {
    let texts = Texts::of(collection);
    let (mut outcomes, mut aucs) = (Vec::new(), Vec::new());
    let part = part.map(str::to_lowercase);
    let is_wanted =
        |name: &str| part.as_ref().is_none_or(|part| name.to_lowercase().contains(part));
    for (name, subject) in collection.subjects.iter().filter(|(name, _)| is_wanted(name)) {
        if subject.pages.is_empty() {
            notice(format_args!("warning: {name}: a subject without pages is left out"));
            continue;
        }
        for draw in 0..subject.seeds.len() {
            let Some(setting) = Setting::new(collection, &texts, subject, draw) else {
                notice(format_args!("warning: {name}: nothing could be learnt from draw {draw}"));
                continue;
            };
            aucs.push(setting.auc());
            run_orders(&setting, (name.as_str(), draw), orders, &mut outcomes);
        }
    }
    if outcomes.is_empty() {
        return Err(Trouble::Usage("no subject has pages, and seeds to begin from".to_owned()));
    }
    Ok(Answer { outcomes, auc: Some(aucs.iter().sum::<f64>() / aucs.len() as f64) })
}

/// What is wanted of a topic that is named, and how often it is looked for.
const BEST_SHARE: f64 = 0.1;
const BEST_DRAWS: usize = 10;

fn answer_about(
    collection: &JudgedPages,
    orders: &[TopicOrder],
    topic: Topic,
) -> Result<Answer, Trouble> {
    let mut features = TextFeatures::default();
    let texts = collection.pages.iter().map(|page| &page.text);
    let relevances: Vec<f32> =
        texts.map(|text| topic.score(text, &mut features).relevance).collect();
    if relevances.iter().all(|relevance| *relevance == 0.0) {
        let what = "no page has anything to do with this topic: rhumb topic test says why of one";
        return Err(Trouble::Usage(what.to_owned()));
    }
    let subject = lab::best(&relevances, BEST_SHARE, BEST_DRAWS);
    let mut outcomes = Vec::new();
    for draw in 0..subject.seeds.len() {
        let setting = Setting::about(topic.clone(), &relevances, collection, &subject, draw);
        run_orders(&setting, ("best", draw), orders, &mut outcomes);
    }
    Ok(Answer { outcomes, auc: None })
}

fn run_orders(
    setting: &Setting<'_>,
    (subject, draw): (&str, usize),
    orders: &[TopicOrder],
    outcomes: &mut Vec<TopicOutcome>,
) {
    let truth = TopicTruth::of(setting);
    for &order in orders {
        let (curve, had) = setting.run(order, &truth);
        let (subject, wanted) = (subject.to_owned(), setting.wanted);
        outcomes.push(TopicOutcome { order, subject, draw, wanted, had, curve });
    }
}

fn as_json(answer: &Answer) -> Value {
    let at = |had: &[Had; TIMES.len()], of: fn(&Had) -> Option<f64>| {
        let look = |n: usize| of(&had[n]).map_or(Value::Null, |share| json!(share));
        json!({ "N": look(0), "2N": look(1), "5N": look(2) })
    };
    let result = |o: &TopicOutcome| {
        json!({
            "order": o.order.name(),
            "subject": o.subject,
            "draw": o.draw,
            "recall": at(&o.had, |had| Some(had.recall)),
            "proven": at(&o.had, |had| had.proven),
            "true": at(&o.had, |had| had.truly),
        })
    };
    json!({ "auc": answer.auc, "results": answer.outcomes.iter().map(result).collect::<Vec<_>>() })
}

fn table(answer: &Answer, orders: &[TopicOrder]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let heads =
        ["recall\nN", "\n2N", "\n5N", "proven\nN", "\n2N", "\n5N", "true\nN", "\n2N", "\n5N"];
    table.set_header(std::iter::once("order").chain(heads));
    for &order in orders {
        let mut cells = vec![order.name().to_owned()];
        let of: [fn(&Had) -> Option<f64>; 3] = [|h| Some(h.recall), |h| h.proven, |h| h.truly];
        for of in of {
            cells.extend((0..TIMES.len()).map(|at| shown(mean(answer, order, at, of))));
        }
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let runs = answer.outcomes.len() / orders.len();
    let auc = answer.auc.map_or(String::new(), |auc| format!(", AUC of the models {auc:.4}"));
    format!("{runs} draws of seeds{auc}\n\n{table}\n")
}

fn mean(answer: &Answer, order: TopicOrder, at: usize, of: fn(&Had) -> Option<f64>) -> Option<f64> {
    let all = answer.outcomes.iter().filter(|o| o.order == order);
    let values: Vec<f64> = all.filter_map(|o| of(&o.had[at])).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn shown(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{share:.3}"))
}

/// Points of a curve for each N.
const POINTS: usize = 20;

fn chart(answer: &Answer, orders: &[TopicOrder]) -> LineChart {
    let line = |(colour, &order): (usize, &TopicOrder)| {
        let runs: Vec<&TopicOutcome> =
            answer.outcomes.iter().filter(|o| o.order == order).collect();
        let points = (1..=POINTS * TIMES[TIMES.len() - 1]).map(|point| {
            let recall = |o: &&TopicOutcome| {
                // The whole curve is five times N long, unless the web ended before.
                let at = o.wanted * point / POINTS;
                o.curve[at.clamp(1, o.curve.len()) - 1]
            };
            let sum: f64 = runs.iter().map(recall).sum();
            (point as f64 / POINTS as f64, sum / runs.len().max(1) as f64)
        });
        let points = points.collect();
        PlotLine { name: order.name().to_owned(), colour, stroke: Stroke::Solid, points }
    };
    LineChart {
        title: "Pages of the topic by fetches".to_owned(),
        x: Axis::new("fetches, in parts of the topic's pages", Scale::Linear),
        y: Axis::new("recall", Scale::Linear).between(0.0, 1.0),
        lines: orders.iter().enumerate().map(line).collect(),
    }
}
