//! `rhumb sim order` and `rhumb rank` as a user meets them, against counts made elsewhere.

mod binary;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rhumb(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).args(arguments).output().unwrap()
}

fn answer(arguments: &[&str]) -> Value {
    let output = rhumb(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn near(found: &Value, expected: &Value, part: f64) -> bool {
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    (found - expected).abs() <= (expected * part).max(1.0)
}

fn graph_file(name: &str) -> Option<String> {
    Some(rhumb_given::data(&format!("graphs/{name}.wg1.zst"))?.display().to_string())
}

/// Counts and curves made by other programs.
fn made_elsewhere() -> Option<Value> {
    let expected = std::fs::read(rhumb_given::data("graphs/expected.json")?).unwrap();
    // The file writes what is not a number as a bare word.
    let expected = String::from_utf8(expected).unwrap().replace("NaN", "null");
    Some(serde_json::from_str(&expected).unwrap())
}

#[test]
fn counts_agree_with_those_made_elsewhere_for_all_trust_sets() {
    let Some(expected) = made_elsewhere() else { return };
    for (name, graph) in expected["graphs"].as_object().unwrap() {
        for (set, of_set) in graph["sets"].as_object().unwrap() {
            let trust: Vec<String> =
                of_set["trust"].as_array().unwrap().iter().map(Value::to_string).collect();
            let Some(file) = graph_file(name) else { return };
            let trust = trust.join(",");
            let answer = answer(&["sim", "order", "--graph", &file, "--trust", &trust, "--json"]);
            compare(&answer, &of_set["algs"], &format!("{name} {set}"));
        }
    }
}

fn compare(answer: &Value, expected: &Value, which: &str) {
    for result in answer["results"].as_array().unwrap() {
        let theirs = match result["algorithm"].as_str().unwrap() {
            "lneighbor" => "L-Neighbor(BFS)",
            "rankmass" => "RankMass",
            "windowed5" => "Windowed-5%",
            "windowed10" => "Windowed-10%",
            "windowed20" => "Windowed-20%",
            "settled" => "Settled-a0.1",
            "opic" => "OPIC",
            "backlink" => "Backlink",
            "partialpr" => "PartialPR-1%",
            "optimal" => "Optimal",
            _ => continue,
        };
        for (at, target) in ["0.9", "0.95", "0.98", "0.99"].iter().enumerate() {
            let of = |kind: &str| (&result[kind][target], &expected[theirs][kind][at]);
            let what = format!("{which} {theirs} {target}: {result}");
            let (guaranteed, their_guaranteed) = of("guaranteed");
            if their_guaranteed.as_i64() == Some(-1) {
                assert!(guaranteed.is_null(), "{what}");
            } else if theirs.starts_with("Settled") {
                assert!(guaranteed.as_u64() <= their_guaranteed.as_u64(), "{what}");
            } else {
                assert!(near(guaranteed, their_guaranteed, 0.01), "{what}");
            }
            let (actual, their_actual) = of("actual");
            assert!(near(actual, their_actual, 0.01), "{what}");
        }
    }
}

#[test]
fn popular_pages_and_tenths_of_a_crawl_agree_with_those_made_elsewhere() {
    let Some(expected) = made_elsewhere() else { return };
    for (name, trust, set) in [("cnr-2000", "221145", "root"), ("web-NotreDame", "0", "root")] {
        let of_set = &expected["graphs"][name]["sets"][set];
        let Some(file) = graph_file(name) else { return };
        let mut arguments = vec!["sim", "order", "--graph", &file, "--trust", trust];
        arguments.extend(["--cho", "--deciles", "--json"]);
        for (ours, _) in CHO {
            arguments.extend(["--algorithm", ours]);
        }
        let answer = answer(&arguments);
        for (result, (ours, theirs)) in answer["results"].as_array().unwrap().iter().zip(CHO) {
            for popular in ["top1", "top5", "top10"] {
                let pairs = both(&result["cho"][popular], &of_set["cho"][theirs][popular]);
                // Orders that prove something stop when they have, here or there.
                assert!(pairs.len() >= 3, "{name} {ours} {popular}: {pairs:?}");
                let apart = pairs.iter().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(apart < 0.005, "{name} {ours} {popular}: {pairs:?}");
            }
        }
        let ours = |key: &str| -> Value {
            answer["deciles"].as_array().unwrap().iter().map(|tenth| tenth[key].clone()).collect()
        };
        for (key, theirs, apart_max) in [
            ("pagerank_over_mean", "avg_uniform_pr_over_mean", 1e-3),
            ("mass", "ppr_mass", 1e-4),
            ("level", "avg_level", 0.01),
        ] {
            let pairs = both(&ours(key), &of_set["najork_wiener"][theirs]);
            assert_eq!(pairs.len(), 10, "{name} {key}");
            let apart = pairs.iter().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(apart < apart_max, "{name} {key}: {pairs:?}");
        }
    }
}

/// Names here and there. Left out are those whose ties are broken otherwise there.
const CHO: [(&str, &str); 6] = [
    ("lneighbor", "BFS"),
    ("rankmass", "RankMass"),
    ("windowed10", "Windowed-10%"),
    ("opic", "OPIC"),
    ("backlink", "Backlink"),
    ("optimal", "Optimal"),
];

/// The numbers of two lists, at the places where both have one.
fn both(ours: &Value, theirs: &Value) -> Vec<(f64, f64)> {
    let places = ours.as_array().unwrap().iter().zip(theirs.as_array().unwrap());
    places.filter_map(|(one, other)| Some((one.as_f64()?, other.as_f64()?))).collect()
}

#[test]
fn a_list_of_links_is_ranked_ordered_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let graph = file(dir.path(), "g.txt", "from to\n1 2\n2 3\n3 1\n3 4\n4 4\n1 2\n");
    let ranks = answer(&["rank", "--graph", &graph, "--first", "1", "--json"]);
    let sum: f64 = ranks.as_array().unwrap().iter().map(|row| row[1].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-12 && ranks[0][0] == 3, "{ranks}");
    let plot = dir.path().join("p.svg").display().to_string();
    let answer = answer(&[
        "sim",
        "order",
        "--graph",
        &graph,
        "--first",
        "1",
        "--trust",
        "1",
        "--cho",
        "--deciles",
        "--tight",
        "--plot",
        &plot,
        "--json",
    ]);
    assert_eq!((&answer["graph"]["pages"], &answer["graph"]["links"]), (&4.into(), &4.into()));
    assert_eq!(answer["results"].as_array().unwrap().len(), 13);
    assert!(answer["results"][1]["guaranteed"]["0.9"].is_u64(), "{answer}");
    assert!(std::fs::read_to_string(&plot).unwrap().ends_with("</svg>\n"));
    assert!(!Path::new(&format!("{plot}.new")).exists());
}

#[test]
fn bad_input_is_a_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let graph = file(dir.path(), "g.txt", "0 1\n1 0\n");
    let empty = file(dir.path(), "empty.txt", "");
    let torn = file(dir.path(), "torn.wg1", "WG1\n\u{2}\0\0\0\u{1}\0\0\0\u{1}");
    let packed = file(dir.path(), "no.wg1.zst", "this is not packed");
    let words = file(dir.path(), "words.txt", "0 1\n1 much\n");
    let whole = dir.path().join("whole.graph").display().to_string();
    answer(&["rank", "--graph", &graph, "--save", &whole, "--json"]);
    let bytes = std::fs::read(&whole).unwrap();
    let cut = dir.path().join("cut.graph").display().to_string();
    std::fs::write(&cut, &bytes[..bytes.len() - 3]).unwrap();
    for (arguments, code, said) in [
        (["--graph", &graph, "--trust", "7"], 2, "page 7 does not exist: the last page is 1"),
        (["--graph", &graph, "--trust", "x"], 2, "not a list of pages"),
        (["--graph", &empty, "--trust", "0"], 2, "the graph is empty"),
        (["--graph", &empty, "--trust", "root"], 2, "nobody is trusted"),
        (["--graph", &torn, "--trust", "0"], 1, "torn.wg1: the file ends too early"),
        (["--graph", &packed, "--trust", "0"], 1, "no.wg1.zst: "),
        (["--graph", "/no/such", "--trust", "0"], 2, "/no/such: No such file"),
        (["--graph", &cut, "--trust", "0"], 1, "cut.graph: "),
        (["--graph", &words, "--trust", "0"], 1, "words.txt: "),
    ] {
        refused(&arguments, code, said);
    }
    let with = ["--graph", &graph, "--trust", "0"];
    for (more, said) in [
        (["--targets", "1"], "only all pages prove 1"),
        (["--targets", "0"], "above 0"),
        (["--targets", "1.5"], "below 1"),
        (["--algorithm", "rankmas"], "did you mean \"rankmass\"?"),
        (["--copies", "0"], "nothing would be left"),
    ] {
        refused(&[&with[..], &more].concat(), 2, said);
    }
    let dead_end = file(dir.path(), "dead.txt", "0 1\n");
    states(&["sim", "order", "--graph", &dead_end, "--trust", "1", "--json"], "of 1 trusted pages");
    let half = "1 of 2 trusted pages have no links (50.0 % of the trust); beyond them 1 pages can be \
                reached, with 35.1 % of all mass";
    states(&["sim", "order", "--graph", &dead_end, "--trust", "0,1", "--json"], half);
    let twice = file(dir.path(), "twice.txt", "0 1\n0 1\n1 1\n");
    let left_out = "left out: 1 links of pages to themselves, 1 repeated links";
    states(&["sim", "order", "--graph", &twice, "--trust", "0", "--json"], left_out);
    assert_eq!(answer(&["rank", "--graph", &empty, "--json"]), Value::Array(Vec::new()));
    states(&["rank", "--graph", &empty], "the graph has no pages");
}

/// It works, and says this beside.
fn states(arguments: &[&str], said: &str) {
    let output = rhumb(arguments);
    assert!(output.status.success(), "{arguments:?}");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(err.contains(said), "{arguments:?}: {err}");
}

fn refused(arguments: &[&str], code: i32, said: &str) {
    let output = rhumb(&[&["sim", "order"], arguments].concat());
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {err}");
    assert!(output.stdout.is_empty() && err.lines().count() == 1, "{arguments:?}: {err}");
    assert!(err.starts_with("error: ") && err.contains(said), "{arguments:?}: {err}");
}

fn file(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
