//! What `rhumb sim order` says: tables, one JSON value, a chart.

use comfy_table::{CellAlignment, Table, presets};
use rhumb_lab::order::OrderRecord;
use rhumb_lab::order::cho::{CRAWLED_PERCENT, POPULAR_PERCENT};
use serde_json::{Map, Value, json};

use super::sim_order::{Answer, Row};
use rhumb_lab::plot::{Axis, LineChart, PlotLine, Scale, Stroke};

pub(super) fn tables(answer: &Answer) -> String {
    let mut text = format!(
        "{} pages, {} links, {} pages can be reached\n",
        answer.pages, answer.links, answer.reachable
    );
    text += &downloads(answer);
    text += &running_time(answer);
    for (at, percent) in POPULAR_PERCENT.iter().enumerate() {
        if answer.rows.iter().any(|row| row.found.is_some()) {
            text += &format!("\nShare found of the {percent} % most linked pages\n");
            text += &cho(answer, at);
        }
    }
    text + &deciles(answer)
}

/// The first table of the slides: downloads until a share is guaranteed, had, provable.
fn downloads(answer: &Answer) -> String {
    let Some(first) = answer.rows.first() else { return String::new() };
    let with_tight = first.tight.is_some();
    let mut heads = vec!["downloads".to_owned()];
    for kind in ["guaranteed", "actual", "tight"] {
        if kind != "tight" || with_tight {
            heads.extend(first.record.targets.iter().map(|target| format!("{kind}\n{target}")));
        }
    }
    let mut table = table(heads);
    for Row { record, tight, .. } in &answer.rows {
        let mut cells = vec![record.algorithm.name().to_owned()];
        cells.extend(record.guaranteed.iter().map(|m| number(m.map(|m| m.downloads))));
        cells.extend(record.actual.iter().map(|downloads| number(*downloads)));
        cells.extend(tight.iter().flatten().map(|downloads| number(*downloads)));
        table.add_row(cells);
    }
    format!("\n{}\n", aligned(table))
}

/// The second: what the proof of the last target cost.
fn running_time(answer: &Answer) -> String {
    let heads = ["work", "pushes", "edge updates", "CPU s", "pushes/s", "edge updates/s"];
    let mut table = table(heads.map(str::to_owned).to_vec());
    for Row { record, .. } in &answer.rows {
        let rate = |count: u64| match count {
            0 => "–".to_owned(),
            _ => format!("{:.1} M", count as f64 / record.cpu_s.max(1e-6) / 1e6),
        };
        table.add_row(vec![
            record.algorithm.name().to_owned(),
            record.pushes.to_string(),
            record.edge_updates.to_string(),
            format!("{:.3}", record.cpu_s),
            rate(record.pushes),
            rate(record.edge_updates),
        ]);
    }
    format!("\n{}\n", aligned(table))
}

fn cho(answer: &Answer, at: usize) -> String {
    let mut heads = vec!["crawled %".to_owned()];
    heads.extend(CRAWLED_PERCENT.map(|percent| percent.to_string()));
    let mut table = table(heads);
    for Row { record, found, .. } in &answer.rows {
        let Some(found) = found else { continue };
        let mut cells = vec![record.algorithm.name().to_owned()];
        cells.extend(found[at].map(|share| share.map_or("–".to_owned(), |x| format!("{x:.3}"))));
        table.add_row(cells);
    }
    format!("{}\n", aligned(table))
}

fn deciles(answer: &Answer) -> String {
    let Some(deciles) = answer.deciles else { return String::new() };
    let heads = ["tenth of BFS", "PageRank / mean", "mass", "level"];
    let mut table = table(heads.map(str::to_owned).to_vec());
    for (tenth, decile) in (1..).zip(deciles) {
        table.add_row(vec![
            tenth.to_string(),
            format!("{:.4}", decile.pagerank_over_mean),
            format!("{:.5}", decile.mass),
            format!("{:.2}", decile.level),
        ]);
    }
    format!("\n{}\n", aligned(table))
}

fn table(heads: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(heads);
    table
}

fn aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn number(downloads: Option<u32>) -> String {
    downloads.map_or("–".to_owned(), |downloads| downloads.to_string())
}

pub(super) fn json(answer: &Answer) -> Value {
    let results: Vec<Value> = answer.rows.iter().map(result).collect();
    let mut value = json!({
        "graph": {"pages": answer.pages, "links": answer.links},
        "reachable": answer.reachable,
        "results": results,
    });
    if let Some(deciles) = answer.deciles {
        let deciles = deciles.map(|decile| {
            json!({
                "pages": decile.pages,
                // Not a number where a tenth of the crawl is less than a page.
                "pagerank_over_mean": decile.pagerank_over_mean,
                "mass": decile.mass,
                "level": decile.level,
            })
        });
        value["deciles"] = json!(deciles);
    }
    value
}

fn result(row: &Row) -> Value {
    let record = &row.record;
    let guaranteed = record.guaranteed.iter().map(|m| json!(m.map(|m| m.downloads)));
    let mut value = json!({
        "algorithm": record.algorithm.name(),
        "guaranteed": by_target(record, guaranteed),
        "actual": by_target(record, record.actual.iter().map(|n| json!(n))),
        "pushes": record.pushes,
        "edge_updates": record.edge_updates,
        "cpu_s": record.cpu_s,
        "downloads": record.order.len(),
    });
    let of_work = |of: fn(&rhumb_lab::order::Milestone) -> Value| {
        by_target(record, record.guaranteed.iter().map(move |m| json!(m.as_ref().map(of))))
    };
    value["pushes_at"] = of_work(|m| json!(m.pushes));
    value["cpu_s_at"] = of_work(|m| json!(m.cpu_s));
    if let Some(tight) = &row.tight {
        value["tight"] = by_target(record, tight.iter().map(|n| json!(n)));
    }
    if let Some(found) = row.found {
        let shares = POPULAR_PERCENT.iter().zip(found);
        let shares = shares.map(|(percent, shares)| (format!("top{percent}"), json!(shares)));
        value["cho"] = Value::Object(shares.collect());
    }
    value
}

fn by_target(record: &OrderRecord, values: impl Iterator<Item = Value>) -> Value {
    let keys = record.targets.iter().map(ToString::to_string);
    Value::Object(keys.zip(values).collect::<Map<String, Value>>())
}

/// Guaranteed mass solid, actual mass dashed, one colour an algorithm.
pub(super) fn chart(answer: &Answer) -> LineChart {
    let mut lines = Vec::new();
    for (colour, Row { record, .. }) in answer.rows.iter().enumerate() {
        let curves = [
            ("proven", Stroke::Solid, &record.bound_curve),
            ("had", Stroke::Dashed, &record.actual_curve),
        ];
        for (kind, stroke, curve) in curves.into_iter().filter(|curve| !curve.2.is_empty()) {
            let points = curve.iter().map(|(n, share)| (f64::from(*n), *share)).collect();
            let name = format!("{} {kind}", record.algorithm.name());
            lines.push(PlotLine { name, colour, stroke, points });
        }
    }
    LineChart {
        title: "Importance mass by downloads".to_owned(),
        x: Axis::new("pages downloaded", Scale::Log),
        y: Axis::new("share of the mass", Scale::Linear).between(0.0, 1.0),
        lines,
    }
}
