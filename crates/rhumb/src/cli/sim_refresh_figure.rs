//! The figures of the textbooks, drawn from our own numbers.

use rhumb_lab::refresh::closed;
use rhumb_lab::refresh::histories::Histories;
use rhumb_lab::refresh::replay::ReplayContender;

use super::sim_refresh::RefreshStage;
use rhumb_lab::plot::{Axis, LineChart, PlotLine, Scale, Stroke};
use rhumb_node::settings::NamedValues;

const POINTS: u32 = 200;
/// Budgets tried around the given one, for freshness over the budget.
const MULTIPLES: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// Pages with fewer changes say little about how their intervals are spread.
const CHANGES_MIN: usize = 20;
/// Intervals longer than this many means are not drawn.
const MEANS_MAX: f64 = 8.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefreshFigure {
    Budget,
    Between,
    Age,
    Intervals,
}

impl NamedValues for RefreshFigure {
    const WHAT: &'static str = "figure";
    const WORDS: &'static [(&'static str, RefreshFigure)] = &[
        ("budget", RefreshFigure::Budget),
        ("between", RefreshFigure::Between),
        ("age", RefreshFigure::Age),
        ("intervals", RefreshFigure::Intervals),
    ];
}

pub fn draw(
    figure: RefreshFigure,
    stage: &RefreshStage,
    contenders: &[ReplayContender],
    budget: f64,
) -> Result<LineChart, String> {
    match figure {
        RefreshFigure::Budget => Ok(over_budget(stage, contenders, budget)),
        RefreshFigure::Between => Ok(between_visits()),
        RefreshFigure::Age => Ok(expected_age()),
        RefreshFigure::Intervals => match stage {
            RefreshStage::Replayed { histories, .. } => intervals(histories),
            RefreshStage::Known { .. } | RefreshStage::Crawled(_) => {
                Err("--figure intervals needs --histories".to_owned())
            }
        },
    }
}

fn over_budget(stage: &RefreshStage, contenders: &[ReplayContender], budget: f64) -> LineChart {
    let lines = contenders.iter().enumerate().map(|(at, contender)| PlotLine {
        name: stage.try_out_name(*contender).to_owned(),
        colour: at,
        stroke: if at < 8 { Stroke::Solid } else { Stroke::Dashed },
        points: MULTIPLES
            .iter()
            .map(|multiple| budget * multiple)
            .map(|budget| (budget, stage.try_out(*contender, budget).freshness))
            .collect(),
    });
    LineChart {
        title: "Freshness over the budget".to_owned(),
        x: Axis::new("visits a day", Scale::Log),
        y: Axis::new("freshness", Scale::Linear),
        lines: lines.collect(),
    }
}

/// One page that changes twice between visits: what is expected of our copy, three visits long.
fn between_visits() -> LineChart {
    let rate = 2.0;
    let at = |point: u32| f64::from(point) * 3.0 / f64::from(POINTS);
    let of = |name: &str, colour, value: &dyn Fn(f64) -> f64| PlotLine {
        name: name.to_owned(),
        colour,
        stroke: Stroke::Solid,
        points: (0..POINTS).map(|p| (at(p), value(at(p).fract()))).collect(),
    };
    LineChart {
        title: "Between visits: a page that changes twice a day, visited daily".to_owned(),
        x: Axis::new("days", Scale::Linear),
        y: Axis::new("expected freshness; expected age in days", Scale::Linear),
        lines: vec![
            of("freshness", 0, &|t| (-rate * t).exp()),
            of("age", 1, &|t| closed::age_after(rate, t)),
        ],
    }
}

fn expected_age() -> LineChart {
    let lines = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0].iter().enumerate().map(|(colour, rate)| PlotLine {
        name: format!("λ = {rate} a day"),
        colour,
        stroke: Stroke::Solid,
        points: (0..=POINTS)
            .map(|point| f64::from(point) * 14.0 / f64::from(POINTS))
            .map(|t| (t, closed::age_after(*rate, t)))
            .collect(),
    });
    LineChart {
        title: "Age(λ, t): expected age of a copy".to_owned(),
        x: Axis::new("t, days since the visit", Scale::Linear),
        y: Axis::new("days", Scale::Linear),
        lines: lines.collect(),
    }
}

/// The share of change intervals longer than x times their page's mean.
fn intervals(histories: &Histories) -> Result<LineChart, String> {
    let mut ratios = Vec::new();
    for page in 0..histories.len() {
        let changes = histories.changes(page);
        if changes.len() < CHANGES_MIN {
            continue;
        }
        let mean = (changes[changes.len() - 1] - changes[0]) / (changes.len() - 1) as f64;
        if mean > 0.0 {
            ratios.extend(changes.windows(2).map(|pair| (pair[1] - pair[0]) / mean));
        }
    }
    if ratios.is_empty() {
        return Err(format!("no page changes {CHANGES_MIN} times: nothing to draw"));
    }
    ratios.sort_by(f64::total_cmp);
    let longer = |x: f64| {
        let shorter = ratios.partition_point(|ratio| *ratio <= x);
        (ratios.len() - shorter) as f64 / ratios.len() as f64
    };
    let at = |point: u32| f64::from(point) * MEANS_MAX / f64::from(POINTS);
    let of = |name: &str, colour, stroke, value: &dyn Fn(f64) -> f64| PlotLine {
        name: name.to_owned(),
        colour,
        stroke,
        points: (0..=POINTS).map(|p| (at(p), value(at(p)))).filter(|(_, y)| *y > 0.0).collect(),
    };
    Ok(LineChart {
        title: "Change intervals against the exponential".to_owned(),
        x: Axis::new("interval, in means of its page", Scale::Linear),
        y: Axis::new("share of longer intervals", Scale::Log),
        lines: vec![
            of("these pages", 0, Stroke::Solid, &longer),
            of("exponential", 1, Stroke::Dashed, &|x| (-x).exp()),
        ],
    })
}
