//! The command line as a user meets it: the real binary, its outputs and its exit codes.

mod binary;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Cases that a crawl reads otherwise than Google's parser, each with its reason.
const ROBOTS_DIFFERENCES: &str = include_str!("../../page/tests/robots_expected_differences.txt");

#[test]
fn every_help_has_an_example() {
    let mut seen = 0;
    let mut verbs: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(verb) = verbs.pop() {
        let mut arguments = verb.clone();
        arguments.push("--help".to_owned());
        let (code, help, _) = parts(&rhumb(&arguments, b""));
        assert_eq!(code, 0, "{verb:?}");
        let example = format!("\n  rhumb {}", verb.join(" "));
        assert!(help.contains("\nExample") && help.contains(&example), "{verb:?}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{verb:?}: {help}");
        seen += 1;
        for name in subcommands(&help) {
            verbs.push([verb.clone(), vec![name]].concat());
        }
    }
    assert!(seen >= 5, "only {seen} helps");
    let (code, help, _) = parts(&rhumb::<&str>(&[], b""));
    assert!(code == 0 && help.contains("Usage: rhumb"), "{help}");
}

/// The verbs that a help lists, but `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    listed
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let (_, help, _) = parts(&rhumb(&["--help"], b""));
    let verbs = subcommands(&help);
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = parts(&rhumb(&["completions", shell], b""));
        assert_eq!(code, 0, "{shell}");
        for verb in &verbs {
            assert!(script.contains(verb.as_str()), "{shell} does not complete {verb}");
        }
    }
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("man1");
    let (code, _, error) = parts(&rhumb(&["man", "--out", dir.to_str().unwrap()], b""));
    assert_eq!(code, 0, "{error}");
    for verb in &verbs {
        let page = std::fs::read_to_string(dir.join(format!("rhumb-{verb}.1"))).expect(verb);
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Example"), "{verb}: {page}");
    }
    let (code, _, error) = parts(&rhumb(&["man", "--out", "/dev/null/man1"], b""));
    assert!(code == 1 && error.contains("cannot write /dev/null/man1"), "{code} {error}");
}

#[test]
fn wrong_usage_exits_2_with_one_clear_line() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let bad_seeds = file(dir, "seeds.txt", "http://a.test/\nnot a url\n");
    let fresh = dir.join("fresh").display().to_string();
    for (arguments, said) in [
        (&["crwal"][..], "unrecognized subcommand 'crwal'"),
        (&["robots", "--agent", "b", "/x"], "--file <FILE>"),
        (&["robots", "--agent", "b", "--file", "/no/such", "/x"], "/no/such: No such file"),
        (&["robots", "--batch", "--reading", "rcf"], "did you mean \"rfc\"?"),
        (&["sim", "run", "--seed", "x"], "invalid value 'x' for '--seed <N>'"),
        (&["sim", "run", "--seed", "1", "--scenario", "hostil"], "did you mean \"hostile\"?"),
        (&["status"], "<DIR>"),
        (&["urls", ".", "--state", "lost"], "fetched, queued, refused, failed, gone, moved or"),
        (&["urls", ".", "--state", "gone,moves"], "did you mean \"moved\"?"),
        (&["urls", ".", "--host", "a b"], "is no host"),
        (&["crawl", "--dir", &fresh], "no seeds: name a URL or --seeds FILE"),
        (&["crawl", "--dir", &fresh, "http://"], "\"http://\" is no seed: "),
        (&["crawl", "--dir", &fresh, "gopher://a.test/"], "scheme \"gopher\" is not one of"),
        (&["crawl", "--dir", &fresh, "--seeds", &bad_seeds], "seeds.txt:2: "),
        (&["crawl", "--dir", &fresh, "--seeds", "/no/such"], "/no/such: No such file"),
        (&["crawl", "--dir", &fresh, "a.test", "--delay", "5"], "no unit of time"),
        (&["crawl", "--dir", &fresh, "a.test", "--order", "opik"], "did you mean \"opic\"?"),
        (&["crawl", "--dir", &fresh, "a.test", "--include", "("], "unclosed group"),
        (&["crawl", "--dir", &fresh, "a.test", "--max-page", "1"], "'--max-pages'"),
        (&["crawl", "--dir", &fresh, "a.test", "--events", "-", "--json"], "name a file for one"),
    ] {
        let (code, out, err) = parts(&rhumb(arguments, b""));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(said), "{arguments:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{arguments:?}: {err}");
    }
    assert!(!dir.join("fresh").exists(), "wrong usage leaves nothing behind");
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_known_one() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    let config = file(dir, "c.toml", "delay = \"2s\"\n[limits]\nbody_byte_max = \"1MB\"\n");
    let crawl = dir.join("crawl").display().to_string();
    let (code, _, err) =
        parts(&rhumb(&["crawl", "a.test", "--dir", &crawl, "--config", &config], b""));
    assert_eq!(code, 2);
    let lines: Vec<&str> = err.lines().collect();
    assert!(lines[0].starts_with("error: ") && lines[0].contains("c.toml:3: "), "{err}");
    assert!(lines[0].ends_with("\"body_byte_max\"; did you mean \"body_bytes_max\"?"), "{err}");
    assert_eq!(lines[2..], [" 3 | body_byte_max = \"1MB\"", "   | ^^^^^^^^^^^^^"]);
}

#[test]
fn a_second_run_takes_the_settings_of_the_first_and_flags_win_over_them() {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    for n in 1..=5 {
        let text = format!("page {n} <a href=p{}.html>next</a>", n % 5 + 1);
        file(dir, &format!("p{n}.html"), &text);
    }
    let crawl = dir.join("crawl").display().to_string();
    let root = dir.display().to_string();
    let seed = format!("file://{root}/p1.html");
    let first = ["crawl", "--dir", &crawl, "--allow-file", &root, "--delay", "0", "--json", "-q"];
    let first = [&first[..], &["--delay-factor", "0", "--max-pages", "2", &seed]].concat();
    assert_eq!(pages_and_reason(&rhumb(&first, b"")), (2, "max_pages".to_owned()));
    // Pages count over all runs; a run without a limit goes on to the end.
    let again = ["crawl", "--dir", &crawl, "--json", "-q"];
    let limited = [&again[..], &["--max-pages", "3"]].concat();
    assert_eq!(pages_and_reason(&rhumb(&limited, b"")), (3, "max_pages".to_owned()));
    assert_eq!(pages_and_reason(&rhumb(&again, b"")), (5, "finished".to_owned()));
    let (code, status, _) = parts(&rhumb(&["status", &crawl, "--json"], b""));
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((code, &status["pages"], &status["running"]), (0, &json!(5), &json!(false)));
}

fn pages_and_reason(output: &Output) -> (u64, String) {
    let (code, out, err) = parts(output);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).expect("one JSON value");
    let reason = report["stopped_because"].as_str().expect("a reason");
    (report["pages"].as_u64().expect("a count"), reason.to_owned())
}

#[test]
fn robots_names_the_line_that_decides() {
    let file = b"# ours\r\nUser-agent: mybot\r\nDisallow: /a  # private\r\nAllow: /a/b\r\n";
    let urls = ["http://x.test/a/c", "/a/b", "https://x.test/z"];
    let arguments = [&["robots", "--agent", "MyBot/2", "--file", "-"][..], &urls].concat();
    let (code, out, _) = parts(&rhumb(&arguments, file));
    let wanted = "denied   http://x.test/a/c  (line 3: Disallow: /a  # private)\n\
                  allowed  /a/b  (line 4: Allow: /a/b)\n\
                  allowed  https://x.test/z  (no rule matches)\n";
    assert_eq!((code, out.as_str()), (0, wanted));
    let (code, out, _) = parts(&rhumb(&[&arguments[..], &["--json"]].concat(), file));
    let wanted = json!([
        {"url": urls[0], "allowed": false, "line": {"number": 3, "text": "Disallow: /a  # private"}},
        {"url": urls[1], "allowed": true, "line": {"number": 4, "text": "Allow: /a/b"}},
        {"url": urls[2], "allowed": true, "line": null},
    ]);
    assert_eq!((code, serde_json::from_str::<Value>(&out).unwrap()), (0, wanted));
}

#[test]
fn robots_batch_answers_every_public_case_as_googles_parser_does() {
    let Some(cases) = rhumb_given::data("robots/cases.json") else { return };
    let text = std::fs::read_to_string(cases).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(cases.len(), 859);
    let questions: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let (code, out, err) = parts(&rhumb(&["robots", "--batch"], questions.as_bytes()));
    assert_eq!(code, 0, "{err}");
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let differs = |case: &&Value| {
        let number = format!("{} ", case["id"]);
        ROBOTS_DIFFERENCES.lines().any(|line| line.starts_with(&number))
    };
    assert_eq!(cases.iter().filter(differs).count(), 4);
    let wanted: Vec<Value> = cases
        .iter()
        .map(|case| {
            let by_google = case["google_reference_allowed"].as_bool().unwrap();
            json!({"allowed": by_google != differs(&case)})
        })
        .collect();
    assert_eq!(answers, wanted);
}

#[test]
fn a_broken_question_keeps_its_place_and_the_batch_exits_1() {
    let questions = b"{\"robots\":\"\",\"agent\":\"b\",\"url\":\"/\"}\nnonsense\n\
                      {\"robots\":\"user-agent:*\\ndisallow:/\",\"agent\":\"b\",\"url\":\"/\"}\n";
    let (code, out, _) = parts(&rhumb(&["robots", "--batch"], questions));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((code, lines.len()), (1, 3), "{out}");
    assert_eq!((lines[0], lines[2]), ("{\"allowed\":true}", "{\"allowed\":false}"));
    assert!(lines[1].starts_with("{\"error\":\""), "{out}");
}

#[test]
fn a_simulation_prints_the_same_bytes_for_the_same_seed() {
    for flags in [&["--faults"][..], &["--json"]] {
        let arguments = [&["sim", "run", "--seed", "11"][..], flags].concat();
        let (code, first, _) = parts(&rhumb(&arguments, b""));
        let (_, second, _) = parts(&rhumb(&arguments, b""));
        assert_eq!(code, 0, "{first}");
        assert!(!first.is_empty() && first == second, "{first}\n{second}");
        let other = [&["sim", "run", "--seed", "12"][..], flags].concat();
        assert_ne!(first, parts(&rhumb(&other, b"")).1);
    }
    let (_, text, _) = parts(&rhumb(&["sim", "run", "--seed", "11", "--faults"], b""));
    assert_eq!(text.matches('✓').count(), 8, "{text}");
}

fn rhumb<S: AsRef<std::ffi::OsStr>>(arguments: &[S], input: &[u8]) -> Output {
    let mut child = Command::new(binary::rhumb())
        .args(arguments)
        .env_remove("RHUMB_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("it has an input");
    let input = input.to_owned();
    // A writer of its own: neither side waits for the other with full pipes. A verb that does
    // not read its input closes it, which is no failure.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    let _ = writer.join().expect("the writer does not panic");
    output
}

fn parts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (output.status.code().expect("an exit"), text(&output.stdout), text(&output.stderr))
}

/// A file in a directory of our own; its path.
fn file(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("a file to test with");
    path.display().to_string()
}
