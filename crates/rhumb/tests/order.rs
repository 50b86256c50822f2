//! `rhumb sim order` and `rhumb rank` as a user meets them, against counts made elsewhere.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const GRAPHS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/graphs");

fn rhumb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rhumb")).args(arguments).output().unwrap()
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

#[test]
fn counts_agree_with_those_made_elsewhere_for_all_trust_sets() {
    let Ok(expected) = std::fs::read(format!("{GRAPHS}/expected.json")) else {
        println!("SKIPPED: ../shared/data/graphs/expected.json is not here");
        return;
    };
    // The file writes what is not a number as a bare word.
    let expected = String::from_utf8(expected).unwrap().replace("NaN", "null");
    let expected: Value = serde_json::from_str(&expected).unwrap();
    for (name, graph) in expected["graphs"].as_object().unwrap() {
        for (set, of_set) in graph["sets"].as_object().unwrap() {
            let trust: Vec<String> =
                of_set["trust"].as_array().unwrap().iter().map(Value::to_string).collect();
            let file = format!("{GRAPHS}/{name}.wg1.zst");
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
    assert_eq!(answer["results"].as_array().unwrap().len(), 12);
    assert!(answer["results"][1]["guaranteed"]["0.9"].is_u64(), "{answer}");
    assert!(std::fs::read_to_string(&plot).unwrap().ends_with("</svg>\n"));
    assert!(!Path::new(&format!("{plot}.part")).exists());
}

#[test]
fn bad_input_is_a_clear_line() {
    let dir = tempfile::tempdir().unwrap();
    let graph = file(dir.path(), "g.txt", "0 1\n1 0\n");
    let empty = file(dir.path(), "empty.txt", "");
    let torn = file(dir.path(), "torn.wg1", "WG1\n\u{2}\0\0\0\u{1}\0\0\0\u{1}");
    let packed = file(dir.path(), "no.wg1.zst", "this is not packed");
    for (arguments, code, said) in [
        (["--graph", &graph, "--trust", "7"], 2, "page 7 does not exist: the last page is 1"),
        (["--graph", &graph, "--trust", "x"], 2, "not a list of pages"),
        (["--graph", &empty, "--trust", "0"], 2, "the graph is empty"),
        (["--graph", &empty, "--trust", "root"], 2, "nobody is trusted"),
        (["--graph", &torn, "--trust", "0"], 1, "torn.wg1: the file ends too early"),
        (["--graph", &packed, "--trust", "0"], 1, "no.wg1.zst: "),
        (["--graph", "/no/such", "--trust", "0"], 2, "/no/such: No such file"),
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
    let output = rhumb(&["sim", "order", "--graph", &dead_end, "--trust", "1", "--json"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 of 1 trusted pages have no links"));
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
