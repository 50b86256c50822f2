//! `rhumb topic train|test` and `rhumb sim topic`: models made of files, and what orders do with
//! them on pages whose subjects are known.

use crate::binary;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const TIDES: &str = "The tides rise and fall by the pull of the moon and the sun. At spring tide \
    the sea stands highest, at neap tide the range is small. Tables tell sailors the hours of high \
    and low water in each harbour.";
const BREAD: &str = "Knead flour, yeast, salt and water into a smooth dough and let it rise. Bake \
    the loaf in a hot oven until the crust is brown, and let it cool on a rack before you cut it.";
const GEZEITEN: &str = "Die Gezeiten entstehen durch die Anziehung des Mondes und der Sonne. Bei \
    Springflut steht das Meer am höchsten, bei Nippflut ist der Unterschied klein. Tafeln nennen \
    den Seeleuten die Stunden von Hochwasser und Niedrigwasser in jedem Hafen an der Küste.";

fn rhumb(arguments: &[&str]) -> Output {
    Command::new(binary::rhumb()).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

/// A folder of texts, each a little different.
fn folder(dir: &Path, name: &str, text: &str, count: usize) -> String {
    let folder = dir.join(name);
    fs::create_dir(&folder).unwrap();
    for n in 0..count {
        let own = format!("{text} Page {n} of {name}, chapter {}. {text}", n * 7);
        fs::write(folder.join(format!("{n}.txt")), own).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
fn a_model_of_examples_alone_knows_its_topic_and_says_by_which_words() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (like, bread) = (folder(dir.path(), "tides", TIDES, 5), path("bread.txt"));
    fs::write(&bread, BREAD).unwrap();
    let model = path("tides.topic");
    let trained = rhumb(&["topic", "train", "--like", &like, "-o", &model, "--json"]);
    assert!(trained.status.success(), "{}", said(&trained));
    assert!(said(&trained).contains("short texts on everyday subjects"), "{}", said(&trained));
    assert!(printed(&trained)["auc"].as_f64() > Some(0.95), "{}", printed(&trained));
    let page = format!("{like}/0.txt");
    let topic = format!("model:{model}");
    let tested = rhumb(&["topic", "test", "--topic", &topic, &page, &bread, "--json"]);
    let told = printed(&tested);
    let relevance = |at: usize| told[at]["relevance"].as_f64().unwrap();
    assert!(relevance(0) > 0.4 && relevance(1) < 0.1, "{told}");
    let words = told[0]["parts"][0]["words"].to_string();
    assert!(words.contains("tide") && !words.contains("the pull of the"), "{words}");
    // One example cannot be held out, and nobody says that it was.
    let alone = rhumb(&["topic", "train", "--like", &page, "-o", &path("one.topic"), "--json"]);
    assert_eq!(printed(&alone)["auc"], Value::Null);
}

#[test]
fn examples_that_teach_nothing_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let others = folder(dir.path(), "others", BREAD, 30);
    let model = dir.path().join("m.topic").to_str().unwrap().to_owned();
    let empty = dir.path().join("empty.txt").to_str().unwrap().to_owned();
    fs::write(&empty, " \n").unwrap();
    let german = folder(dir.path(), "german", GEZEITEN, 5);
    let tides = folder(dir.path(), "tides", TIDES, 5);
    let train = |like: &[&str]| {
        let like = like.iter().flat_map(|like| ["--like", like]).collect::<Vec<_>>();
        let more = ["--against", &others, "-o", &model];
        rhumb(&[&["topic", "train"][..], &like, &more].concat())
    };
    for (like, word) in [
        (&[&*others][..], "can hardly be told from the other texts"),
        (&[&*german], "in a language (de) that none of the other texts is in (en)"),
        (&[&*tides, &*empty], "hardly any text, left out"),
    ] {
        let trained = train(like);
        assert!(trained.status.success(), "{like:?}: {}", said(&trained));
        assert!(said(&trained).contains(word), "{like:?}: {}", said(&trained));
    }
    assert!(!said(&train(&[&tides])).contains("warning"), "{}", said(&train(&[&tides])));
    let nothing = train(&[&empty]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(said(&nothing).contains("no example has any text"), "{}", said(&nothing));
}

/// Pages of which every tenth is of the subject: these link to each other, and others to pages
/// all over.
fn collection(dir: &Path) -> [String; 2] {
    const PAGES: usize = 300;
    let mut lines = String::new();
    for id in 0..PAGES {
        let is_of_topic = id % 10 == 0;
        let text = if is_of_topic { TIDES } else { BREAD };
        let title = if is_of_topic { format!("Tide {id}") } else { format!("Loaf {id}") };
        let step = if is_of_topic { 10 } else { 7 };
        let links: Vec<usize> = (1..8).map(|n| (id + n * step + id % 3 * n) % PAGES).collect();
        let page = json!({ "id": id, "title": title, "text": format!("{text} {id} {text}"),
            "links": links });
        lines += &format!("{page}\n");
    }
    let wanted: Vec<usize> = (0..PAGES).step_by(10).collect();
    let subjects = json!({ "tides": { "pages": wanted, "seeds": [[0, 10, 20, 30, 40]] },
        "nothing": { "pages": [], "seeds": [[1]] } });
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    fs::write(path("pages.jsonl"), lines).unwrap();
    fs::write(path("subjects.json"), subjects.to_string()).unwrap();
    [path("pages.jsonl"), path("subjects.json")]
}

#[test]
fn orders_are_compared_on_known_pages_and_none_proves_more_than_is_true() {
    let dir = tempfile::tempdir().unwrap();
    let [pages, subjects] = collection(dir.path());
    let chart = dir.path().join("topic.svg").to_str().unwrap().to_owned();
    let asked = ["sim", "topic", "--pages", &pages, "--subjects", &subjects];
    let ran = rhumb(&[&asked[..], &["--json", "--plot", &chart]].concat());
    let told = printed(&ran);
    assert!(said(&ran).contains("nothing: a subject without pages is left out"), "{}", said(&ran));
    let results = told["results"].as_array().unwrap();
    let names: Vec<&str> = results.iter().map(|r| r["order"].as_str().unwrap()).collect();
    let all = ["bfs", "bestparent", "settled", "focused", "focused-proven", "oracle"];
    assert_eq!(names, all);
    let of = |order: usize, what: &str, at: &str| results[order][what][at].as_f64();
    for (order, name) in all.into_iter().enumerate() {
        assert_eq!(results[order]["subject"], "tides");
        for at in ["N", "2N", "5N"] {
            assert!((0.0..=1.0).contains(&of(order, "recall", at).unwrap()), "{name}");
            let (proven, truly) = (of(order, "proven", at), of(order, "true", at));
            let proves = matches!(name, "settled" | "focused" | "focused-proven");
            assert_eq!((proven.is_some(), truly.is_some()), (proves, proves), "{name}");
            assert!(!proves || proven.unwrap() <= truly.unwrap() + 1e-9, "{name}: {told}");
        }
    }
    assert!(of(3, "recall", "N") > of(0, "recall", "N"), "focused and bfs: {told}");
    assert!(fs::read_to_string(&chart).unwrap().contains("<svg"));
    // A topic that says itself what is wanted has no models to judge.
    let best = ["sim", "topic", "--pages", &pages, "--order", "bfs", "--json", "--topic"];
    let named = rhumb(&[&best[..], &["words:tide, moon"]].concat());
    assert_eq!(printed(&named)["auc"], Value::Null);
    let nowhere = rhumb(&[&best[..], &["words:zebra, cheese"]].concat());
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(said(&nowhere).contains("no page has anything to do"), "{}", said(&nowhere));
}
