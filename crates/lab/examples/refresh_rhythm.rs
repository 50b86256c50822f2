//! What hours, weekdays and seasons would bring to revisiting, told the truth about them.
//!
//! `cargo run --release -p rhumb-lab --example refresh_rhythm -- SET.tsv.gz…`
//!
//! A line for each set, period and budget: how uneven changes are over the period, the freshness of
//! the policy as it is, and what is added to it by telling it when pages change, with visits
//! placed by several powers of that; last the most that is added by making all visits of each
//! period in one of its slots, whichever turns out best.

use rhumb_engine::refresh::index::Objective;
use rhumb_engine::refresh::scheduler::SchedulerSettings;
use rhumb_lab::refresh::histories::Histories;
use rhumb_lab::refresh::learned;
use rhumb_lab::refresh::rates;
use rhumb_lab::refresh::replay::Course;
use rhumb_lab::refresh::rhythm::{self, Rhythm, TokenPlacing};
use rhumb_node::settings::open_input;
use std::io::Read;
use std::path::Path;

/// A day by four hours, a week by days, a year by months, and what releases keep to: 17 weeks by
/// weeks.
const PERIODS: [(&str, f64, usize); 4] =
    [("day", 1.0, 6), ("week", 7.0, 7), ("17 weeks", 119.0, 17), ("year", 365.25, 12)];
const POWERS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
const TIMES: [f64; 3] = [0.5, 1.0, 2.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("set, period, uneven, visits a change: as it is, added by {POWERS:?} and by a slot");
    for path in std::env::args().skip(1) {
        let mut text = String::new();
        open_input(Path::new(&path))?.read_to_string(&mut text)?;
        let mut histories = Histories::default();
        histories.add(&text)?;
        let days = histories.last_change().ceil();
        let rate: f64 = (0..histories.len()).map(|p| rates::seen(histories.changes(p), days)).sum();
        for (name, period, slots) in PERIODS {
            if period * 2.0 > days {
                continue;
            }
            let rhythm = Rhythm::of(&histories, days, period, slots);
            for times in TIMES {
                let course = Course::real(&histories, days);
                let settings = SchedulerSettings::new(Objective::Harmonic, rate * times);
                let as_it_is = learned::replay(course, settings).freshness;
                let added = |placing| {
                    rhythm::replay(course, settings, &rhythm, placing).freshness - as_it_is
                };
                let dense =
                    POWERS.map(|power| format!("{:+.4}", added(TokenPlacing::Dense(power))));
                let each = (0..slots).map(|slot| added(TokenPlacing::In(slot)));
                let most = each.fold(f64::NEG_INFINITY, f64::max);
                let (uneven, dense) = (rhythm.unevenness(), dense.join(" "));
                println!("{path} {name} {uneven:.2} × {times}: {as_it_is:.4} {dense} {most:+.4}");
            }
        }
    }
    Ok(())
}
