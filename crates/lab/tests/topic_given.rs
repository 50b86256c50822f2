//! A topic's part of an encyclopedia: found sooner by what is learnt, and never less of it had than
//! was proven.

use rhumb_lab::topic::collection::JudgedPages;
use rhumb_lab::topic::{Setting, Texts, TopicOrder, TopicTruth};
use rhumb_node::settings::open_input;
use std::io::BufReader;

/// Of the three subjects together; all of them have .69 and .83 (docs/topic.md).
const RECALL_MIN: f64 = 0.6;
const PROVEN_MIN: f64 = 0.78;

#[test]
fn what_is_proven_of_a_subject_is_true_and_most_of_it() {
    let Some(pages) = rhumb_given::data("topic/pages.jsonl.zst") else { return };
    let Some(subjects) = rhumb_given::data("topic/subjects.json") else { return };
    let [pages, subjects] = [pages, subjects].map(|f| BufReader::new(open_input(&f).unwrap()));
    let collection = JudgedPages::read(pages, subjects).unwrap();
    let texts = Texts::of(&collection);
    let names = [
        "subject.Mathematics",
        "subject.Science.Biology.Birds",
        "subject.Geography.African_Geography",
    ];
    let (mut recall, mut proven) = (0.0, 0.0);
    for name in names {
        let setting = Setting::new(&collection, &texts, &collection.subjects[name], 0).unwrap();
        let truth = TopicTruth::of(&setting);
        for order in [TopicOrder::Focused, TopicOrder::FocusedProven] {
            let (_, had) = setting.run(order, &truth);
            for (at, had) in had.iter().enumerate() {
                let (known, truly) = (had.proven.unwrap(), had.truly.unwrap());
                assert!(known <= truly + 1e-9, "{name} at {at}: {known} proven of {truly}");
            }
            match order {
                TopicOrder::Focused => recall += had[2].recall / names.len() as f64,
                _ => proven += had[2].proven.unwrap() / names.len() as f64,
            }
        }
    }
    assert!(recall > RECALL_MIN && proven > PROVEN_MIN, "{recall} had, {proven} proven");
}
