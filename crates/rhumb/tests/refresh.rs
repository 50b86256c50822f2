//! Revisiting, held to tables that others computed and to the past of real pages.

mod binary;

use std::fs;
use std::process::{Command, Output};

use rhumb_lab::refresh::policy::Policy;
use rhumb_lab::refresh::rates::{RateSpread, halving_hosts, rates, zipf};
use rhumb_lab::refresh::table::{Bought, Caps, buy, clipped, measure};
use serde_json::Value;

/// The tables and we agree within 1 %.
const NEAR: f64 = 0.01;
const PAGES: usize = 100_000;

const NAMES: [(&str, Policy); 7] = [
    ("uniform", Policy::Uniform),
    ("proportional", Policy::Proportional),
    ("delay", Policy::Delay),
    ("freshness", Policy::Freshness),
    ("age", Policy::Age),
    ("binary_poisson", Policy::Binary),
    ("harmonic", Policy::Harmonic),
];

fn expected() -> Option<Value> {
    let text = fs::read_to_string(rhumb_given::data("freshness/expected.json")?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn near(ours: f64, theirs: &Value, what: &str) {
    match theirs.as_f64() {
        Some(theirs) => {
            let close = (ours - theirs).abs() <= NEAR * theirs.abs().max(1e-9);
            assert!(close, "{what}: {ours} for {theirs}");
        }
        None => assert!(ours.is_infinite(), "{what}: {ours} for infinity"),
    }
}

fn holds(bought: Bought, theirs: &Value, what: &str) {
    near(bought.freshness, &theirs["freshness"], &format!("{what} freshness"));
    near(bought.age_days, &theirs["age_days"], &format!("{what} age"));
    near(bought.age_days_cap60, &theirs["age_cap60"], &format!("{what} age cap60"));
    near(bought.delay, &theirs["delay"], &format!("{what} delay"));
    near(bought.delay_cap60, &theirs["delay_cap60"], &format!("{what} delay cap60"));
    let starved = theirs["starved_fraction"].as_f64().unwrap();
    assert!((bought.starved - starved).abs() < 1e-3, "{what} starved: {}", bought.starved);
}

#[test]
fn five_pages_are_visited_as_the_paper_says() {
    // The published row of the freshness-optimal policy: 1.15, 1.36, 1.35, 1.14 and 0 a day.
    let rates = [1.0, 2.0, 3.0, 4.0, 5.0];
    let bought = buy(Policy::Freshness, &rates, None, 5.0, None);
    assert!((bought.freshness - 0.373_889).abs() < 1e-5, "{bought:?}");
    let Some(expected) = expected() else { return };
    for table in ["a_five_pages", "a2_five_pages_weighted"] {
        let weights: Option<Vec<f64>> = expected[table]["w"]
            .as_array()
            .map(|weights| weights.iter().map(|w| w.as_f64().unwrap()).collect());
        for (name, policy) in NAMES {
            let bought = buy(policy, &rates, weights.as_deref(), 5.0, None);
            holds(bought, &expected[table]["policies"][name], &format!("{table} {name}"));
        }
    }
}

#[test]
fn grids_of_rates_buy_what_the_tables_say_with_and_without_weights() {
    let Some(expected) = expected() else { return };
    for (table, spread) in [("b_gamma", RateSpread::Gamma), ("b_lognormal", RateSpread::Lognormal)]
    {
        let rates = rates(spread, PAGES);
        for weighing in ["unit", "zipf"] {
            let weights = (weighing == "zipf").then(|| zipf(PAGES));
            for (budget, rows) in expected[table][weighing].as_object().unwrap() {
                let visits = budget.parse::<f64>().unwrap() * PAGES as f64;
                for (name, policy) in NAMES {
                    let bought = buy(policy, &rates, weights.as_deref(), visits, None);
                    holds(bought, &rows[name], &format!("{table} {weighing} {budget} {name}"));
                }
            }
        }
    }
}

#[test]
fn what_a_saturated_host_cannot_take_goes_to_the_others() {
    let Some(expected) = expected() else { return };
    let rates = rates(RateSpread::Lognormal, PAGES);
    let host_of = halving_hosts(PAGES, 10);
    let cap = [10_000.0; 10];
    let caps = Caps { host_of: &host_of, visits: &cap };
    for (name, policy) in NAMES.into_iter().filter(|(name, _)| !expected["d_hosts"][name].is_null())
    {
        let theirs = &expected["d_hosts"][name];
        let ours = buy(policy, &rates, None, 50_000.0, Some(caps));
        near(ours.freshness, &theirs["constrained"]["freshness"], &format!("{name} freshness"));
        near(ours.age_days_cap60, &theirs["constrained"]["age_cap60"], &format!("{name} age"));
        near(ours.price.unwrap(), &theirs["mu"], &format!("{name} price"));
        let pages = rhumb_lab::refresh::allocate::Pages::new(&rates, None);
        let free = rhumb_lab::refresh::allocate::allocate(policy, pages, 50_000.0);
        let lost = measure(pages, &clipped(free.visits, caps));
        near(lost.freshness, &theirs["clipped"]["freshness"], &format!("{name} clipped"));
    }
}

#[test]
fn learning_beats_uniform_on_real_pages_and_keeps_to_the_budget() {
    let mut sums = [0.0; 2];
    // Wikipedia's busy pages, and terms of service that rarely change.
    for (set, days, budget) in [("wiki_jodie", 31.0, 1_800.0), ("ota_contrib", 1_308.0, 16.0)] {
        let file = rhumb_given::data(&format!("freshness/{set}.open.tsv.gz"));
        let Some(file) = file else { return };
        let file = file.display().to_string();
        let ran = rhumb(&[
            "--histories",
            &file,
            "--days",
            &days.to_string(),
            "--budget",
            &budget.to_string(),
            "--policy",
            "uniform",
            "--policy",
            "learned",
            "--json",
        ]);
        assert!(ran.status.success(), "{ran:?}");
        let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += printed["policies"][at]["freshness"].as_f64().unwrap();
        }
        let used = printed["policies"][1]["budget_used"].as_f64().unwrap();
        assert!((0.98..=1.0).contains(&used), "{set}: {used} of the budget");
    }
    assert!(sums[1] > sums[0] + 0.01, "learned {} against uniform {}", sums[1], sums[0]);
}

#[test]
fn a_replay_of_our_own_has_the_numbers_one_can_count() {
    // One page, changed at 4 and 7 of 9 days, visited once a day but for its phase.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.tsv");
    fs::write(&file, "#page\thost\ttimes\na\th\t4,7\n").unwrap();
    let file = file.to_str().unwrap();
    let ran = rhumb(&[
        "--histories",
        file,
        "--days",
        "9",
        "--budget",
        "1",
        "--policy",
        "uniform",
        "--json",
    ]);
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let row = &printed["policies"][0];
    // The phase is 0.618, so visits fall at 0.382 after each day begins.
    let stale = 2.0 * 0.381_966;
    near(row["freshness"].as_f64().unwrap(), &((6.0 - stale) / 6.0).into(), "freshness");
    near(row["delay"].as_f64().unwrap(), &(stale / 6.0).into(), "delay");
    near(row["age_days"].as_f64().unwrap(), &(0.381_966f64.powi(2) / 6.0).into(), "age");
    assert_eq!(row["visits"].as_f64(), Some(9.0));
}

#[test]
fn what_makes_no_sense_is_told_in_one_line() {
    for (arguments, word) in [
        (&["--budget", "5"][..], "--rates"),
        (&["--rates", "gamma", "--budget=-1"], "budget"),
        (&["--rates", "gamma", "--budget", "5", "--policy", "harmonix"], "did you mean"),
        (&["--rates", "gamma", "--budget", "5", "--policy", "learned"], "--histories"),
        (&["--rates", "/nowhere", "--budget", "5"], "/nowhere"),
    ] {
        let ran = rhumb(arguments);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}

/// Replays histories of these lines, uniform and learned, and gives what is printed as JSON.
fn replayed(dir: &std::path::Path, lines: &str, more: &[&str]) -> (Output, Value) {
    let file = dir.join("pages.tsv");
    fs::write(&file, lines).unwrap();
    let asked = ["--histories", file.to_str().unwrap(), "--days", "10", "--json"];
    let policies = ["--policy", "uniform", "--policy", "learned"];
    let ran = rhumb(&[&asked[..], &policies, more].concat());
    let printed = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    (ran, printed)
}

#[test]
fn histories_that_cannot_be_are_named_by_line() {
    let dir = tempfile::tempdir().unwrap();
    for (lines, line, word) in [
        ("a\th\t1,2\nb\th\t5,4\n", "line 2", "4 comes after 5"),
        ("a\th\t-1,2\n", "line 1", "before day 0"),
        ("# pages\na\th\t1,soon\n", "line 2", "soon"),
        ("a 1,2\n", "line 1", "between tabs"),
        ("a\th\t1\nb\th\t2,NaN\n", "line 2", "NaN"),
        ("a\th\tinf\n", "line 1", "inf"),
    ] {
        let (ran, _) = replayed(dir.path(), lines, &["--budget", "1"]);
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{lines:?}: {said}");
        assert!(said.contains(line) && said.contains(word), "{lines:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn histories_that_are_odd_have_a_result_that_says_so() {
    let dir = tempfile::tempdir().unwrap();
    for (lines, budget, word) in [
        ("a\th\t\nb\th\t\n", "1", "2 pages never change"),
        ("a\th\t3,3,7\nb\th\t2\n", "1", "one page has two changes at one time"),
        ("a\th\t3,30\nb\th\t2\n", "1", "one page changes after the 10 days"),
        ("a\th\t3\na\th\t2\n", "1", "one line names a page and host"),
        ("a\th\t3,7\n", "1", "one page alone"),
        ("a\th\t3\nb\th\t4\nc\th\t5\n", "0.1", "0.33 visits a page"),
        ("a\th\t3\nb\th\t4\n", "0", "0.00 visits a page"),
    ] {
        let (ran, printed) = replayed(dir.path(), lines, &["--budget", budget]);
        assert!(ran.status.success(), "{lines:?}: {ran:?}");
        let notes = printed["notes"].to_string();
        assert!(notes.contains(word), "{lines:?}: {notes}");
        for policy in printed["policies"].as_array().unwrap() {
            let fresh = policy["freshness"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&fresh), "{lines:?}: {policy}");
        }
    }
}

#[test]
fn learners_are_compared_on_set_after_set_with_what_nobody_can_exceed() {
    let dir = tempfile::tempdir().unwrap();
    let page = |page: u32| {
        let every = f64::from(1 + page % 7) * 1.3;
        let times = (1..).map(|n| f64::from(n) * every).take_while(|at| *at < 60.0);
        let times: Vec<String> = times.map(|at| format!("{at:.3}")).collect();
        format!("p{page}\th{}\t{}\n", page % 3, times.join(","))
    };
    let file = |name: &str, pages: std::ops::Range<u32>| {
        let path = dir.path().join(name);
        fs::write(&path, pages.map(page).collect::<String>()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (one, other) = (file("one.tsv", 0..24), file("other.tsv", 30..60));
    let still = dir.path().join("still.tsv");
    fs::write(&still, "a\th\t\n").unwrap();
    let asked = ["--cross", "--histories", &one, &other, still.to_str().unwrap()];
    let more = ["--draws", "2", "--pages", "20", "--json"];
    let ran = rhumb(&[&asked[..], &more].concat());
    assert!(ran.status.success(), "{ran:?}");
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let lines = printed["lines"].as_array().unwrap();
    // Two sets that change and ten that are made up, at five budgets.
    assert_eq!(lines.len(), (2 + 10) * 5);
    for line in lines {
        let of = |what: &str| line[what].as_f64().unwrap();
        for policy in ["uniform", "learned", "bayes", "naive", "nutch"] {
            assert!(of(policy) <= of("clairvoyant") + 1e-6, "{policy}: {line}");
        }
        assert_eq!(line["less_uniform"]["draws"], 2, "{line}");
    }
    assert_eq!(printed["left_out"].as_array().unwrap().len(), 2);
    assert!(printed["notes"].to_string().contains("still: no page changes"), "{printed}");
    assert_eq!(
        printed,
        serde_json::from_slice::<Value>(&rhumb(&[&asked[..], &more].concat()).stdout).unwrap()
    );
}

#[test]
fn nobody_makes_more_visits_than_the_budget_has_even_below_one_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("one.tsv");
    fs::write(&file, "a\th\t3,7\n").unwrap();
    let ran = rhumb(&["--histories", file.to_str().unwrap(), "--days", "7", "--budget", "0.0714"]);
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && !said.contains("200"), "{said}");
    let asked = ["--cross", "--histories", file.to_str().unwrap(), "--draws", "1"];
    let ran = rhumb(&[&asked[..], &["--pages", "10", "--json"]].concat());
    let printed: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let lines = printed["lines"].as_array().unwrap();
    for line in lines.iter().filter(|line| line["given"] == true) {
        let of = |what: &str| line[what].as_f64().unwrap();
        for who in ["uniform", "learned", "bayes", "nutch", "stormcrawler", "heritrix"] {
            assert!(of(who) <= of("clairvoyant") + 1e-6, "{who}: {line}");
        }
    }
    assert_eq!(lines[0]["uniform"], lines[0]["learned"], "no visit for either: {}", lines[0]);
    assert!(printed["notes"].to_string().contains("one × 0.25: 0.50 visits a page"), "{printed}");
}

fn rhumb(arguments: &[&str]) -> Output {
    let mut command = Command::new(binary::rhumb());
    command.args(["sim", "refresh"]).args(arguments).output().unwrap()
}
