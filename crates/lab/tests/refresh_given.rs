//! The promise of revisiting, on the past of real pages: no set of a hundred pages loses more than
//! half a per cent of freshness to uniform revisiting, at any budget.

use rhumb_engine::refresh::index::Objective;
use rhumb_lab::refresh::cross::{PROMISED_PAGES, TIMES};
use rhumb_lab::refresh::histories::Histories;
use rhumb_lab::refresh::policy::Policy;
use rhumb_lab::refresh::rates;
use rhumb_lab::refresh::replay::{Course, ReplayContender, replay};
use rhumb_node::settings::open_input;
use std::io::Read;

const LEAST: f64 = -0.005;
/// Mean over all sets and budgets.
const GAINED_MIN: f64 = 0.006;

#[test]
fn no_given_set_loses_to_uniform_revisiting_at_any_budget() {
    let (mut gained, mut lines) = (0.0, 0.0);
    for set in ["ota_contrib", "ota_france", "ota_pga", "wiki_jodie", "mdn", "k8s"] {
        let Some(file) = rhumb_given::data(&format!("freshness/{set}.open.tsv.gz")) else { return };
        let mut text = String::new();
        open_input(&file).unwrap().read_to_string(&mut text).unwrap();
        let mut histories = Histories::default();
        histories.add(&text).unwrap();
        let days = histories.last_change().ceil();
        let rate: f64 = (0..histories.len()).map(|p| rates::seen(histories.changes(p), days)).sum();
        for times in TIMES {
            let of = |contender| {
                replay(contender, Course::real(&histories, days), rate * times).freshness
            };
            let learned = of(ReplayContender::Learned(Objective::Harmonic));
            let less = learned - of(ReplayContender::Known(Policy::Uniform));
            let is_promised = histories.len() >= PROMISED_PAGES;
            assert!(less >= LEAST || !is_promised, "{set} × {times}: {less:+.4}");
            (gained, lines) = (gained + less, lines + 1.0);
        }
    }
    assert!(gained / lines > GAINED_MIN, "{}", gained / lines);
}
