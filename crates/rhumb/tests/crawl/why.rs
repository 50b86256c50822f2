//! A crawl says why: what it could not do, and what to do about it.

use crate::binary;
use crate::scripted::{Asked, Scripted, answer, html, not_found};
use crate::secure::self_signed;
use crate::site::Site;
use rhumb_sim::web::WebConfig;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// What fails is tried again at once.
const IMPATIENT: &str = "[retry]\nwait_min = \"1ms\"\nwait_max = \"1ms\"\n";

/// A site without end.
fn endless() -> Scripted {
    Scripted::serve(|asked| {
        let number: u64 = asked.path[1..].parse().unwrap_or(0);
        html(format!("<p>page {number}</p> <a href=/{}>next</a>", number + 1))
    })
}

/// `rhumb crawl` as people run it, without waits.
fn start(site: &Scripted, arguments: &[&str]) -> Child {
    Command::new(binary::rhumb())
        .args(["crawl", "--allow-private", "--delay", "0s", "--delay-factor", "0"])
        .arg(site.url("/"))
        .arg("--dir")
        .arg(site.crawl_dir())
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_crawl_that_stops_at_a_limit_says_how_to_go_on() {
    let site = endless();
    let output = start(&site, &["--max-pages", "2"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let dir = site.crawl_dir().display().to_string();
    let wanted = format!("stopped at --max-pages; to go on: rhumb crawl --dir {dir}");
    assert_eq!(last_line(&output), wanted);
}

#[test]
fn a_crawl_that_is_interrupted_says_how_to_go_on() {
    let site = endless();
    let child = start(&site, &[]);
    while site.asked().is_empty() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let dir = site.crawl_dir().display().to_string();
    let wanted = format!("interrupted, nothing is lost; to go on: rhumb crawl --dir {dir}");
    assert_eq!(last_line(&output), wanted);
}

/// Crawls a seed, on any network and without waits, into a directory of its own.
fn crawl(dir: &Path, seed: &str, arguments: &[&str]) -> Output {
    let config = dir.join("impatient.toml");
    fs::write(&config, IMPATIENT).unwrap();
    Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "--json", "--delay", "0s", "--delay-factor", "0", seed])
        .arg("--dir")
        .arg(dir.join("crawl"))
        .arg("--config")
        .arg(config)
        .args(arguments)
        .output()
        .unwrap()
}

/// The crawl fetched no page, exits 1, and its last line says so and why.
fn assert_no_page(output: &Output, why: &str) {
    let line = last_line(output);
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.starts_with("error: no page was fetched: "), "{line}");
    assert!(line.contains(why), "{why:?} is not in {line:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["hint"].as_str().is_some_and(|hint| hint.contains(why)), "{report}");
    assert_ne!(report["coverage"]["bound"], 1.0, "{report}");
}

/// A site that answers all but robots.txt in one way.
fn answering(all: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Scripted {
    Scripted::serve(move |asked| match asked.path.as_str() {
        "/robots.txt" => not_found(),
        _ => all(asked),
    })
}

#[test]
fn a_site_that_robots_forbid_is_named_with_the_line() {
    let site = Scripted::serve(|_| answer("200 OK", &[], "User-agent: *\nDisallow: /\n"));
    let output = crawl(site.dir.path(), &site.url("/"), &["--allow-private"]);
    assert_no_page(&output, "line 2 of its robots.txt forbids it: Disallow: /; only its owner");
}

#[test]
fn a_site_that_wants_a_login_or_forbids_all_is_named_with_its_status() {
    for (status, why) in [
        ("401 Unauthorized", "the server wants a login (401); give a login with --auth"),
        ("403 Forbidden", "the server forbids it (403); it may turn crawlers away"),
        ("404 Not Found", "the server says that it is not there (404); check the URL"),
    ] {
        let site = answering(move |_| answer(status, &[], ""));
        let output = crawl(site.dir.path(), &site.url("/"), &["--allow-private"]);
        assert_no_page(&output, why);
    }
}

#[test]
fn a_seed_that_redirects_out_of_the_scope_is_named_with_its_target() {
    let away = [("Location", "http://elsewhere.example/start")];
    let site = answering(move |_| answer("302 Found", &away, ""));
    let output = crawl(site.dir.path(), &site.url("/"), &["--allow-private"]);
    assert_no_page(&output, "redirects to http://elsewhere.example/start: outside --scope site");
}

#[test]
fn a_page_that_asks_not_to_have_its_links_followed_is_named_and_covers_nothing_for_certain() {
    let page = "<meta name=robots content='noindex,nofollow'><p>words</p><a href=/a>a</a>";
    let site = answering(move |_| html(page));
    let output = start(&site, &["--json"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let hint = "the page asks not to have its links followed (nofollow); only its owner";
    assert!(last_line(&output).starts_with("hint: "), "{}", last_line(&output));
    assert!(last_line(&output).contains(hint), "{}", last_line(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["coverage"].is_null(), "{report}");
    assert_eq!((&report["nofollow"], &report["noindex"]), (&1.into(), &1.into()), "{report}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("covered for certain"), "{text}");
}

#[test]
fn a_page_that_is_made_by_its_scripts_is_named() {
    let page = "<html><body><div id=app></div><SCRIPT src=/app.js></script></body></html>";
    let site = answering(move |_| html(page));
    for arguments in [&[][..], &["--near-duplicates", "off"]] {
        let output = start(&site, arguments).wait_with_output().unwrap();
        let line = last_line(&output);
        assert!(line.contains("next to no text without its scripts"), "{line}");
    }
}

#[test]
fn a_name_that_does_not_exist_is_named() {
    let site = Site::serve(WebConfig::plain(1, 1));
    let dns = site.served.dns.to_string();
    let seed = "http://no-such-name.test/";
    let output = crawl(site.dir.path(), seed, &["--resolver", &dns]);
    assert_no_page(&output, "the name does not exist; check the spelling, or name another server");
}

#[test]
fn a_port_on_which_nobody_listens_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let output = crawl(dir.path(), &format!("http://{free}/"), &["--allow-private"]);
    assert_no_page(&output, "no connection; check that the server runs, and its port");
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_named_and_told_while_it_is_tried() {
    let port = self_signed(|_| not_found());
    let dir = tempfile::tempdir().unwrap();
    let output = crawl(dir.path(), &format!("https://127.0.0.1:{port}/"), &["--allow-private"]);
    assert_no_page(&output, "name the file of its CA with --ca-file");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["errors"]["tls_issuer"].as_u64() >= Some(1), "{report}");
}

#[test]
fn status_names_the_rule_that_decided_on_a_url() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /private\n"),
        "/" => html(
            "<a href=/private/a>1</a><a href=/b.zip>2</a><a href=/x/x/x/x/x/>3</a><a href=/deep>4</a>\
             <a href=http://elsewhere.example/>5</a><a href=/login>6</a><a href=/no>7</a>",
        ),
        "/deep" => html("<meta name=robots content=noindex><p>words</p><a href=/deeper>1</a>"),
        "/login" => answer("401 Unauthorized", &[], ""),
        _ => answer("403 Forbidden", &[], ""),
    });
    let report = site.crawl(&["--exclude", "zip$", "--max-depth", "1"]);
    assert_eq!((&report["unauthorized"], &report["forbidden"]), (&1.into(), &1.into()), "{report}");
    for (url, meaning) in [
        (site.url("/private/a"), "line 2 of its robots.txt forbids it: Disallow: /private"),
        (site.url("/b.zip"), "--exclude zip$ matches it"),
        (site.url("/x/x/x/x/x/"), "a segment of its path, or a parameter, comes more than 4 times"),
        (site.url("/deep"), "fetched; asks not to be indexed (noindex)"),
        (site.url("/deeper"), "2 links from a seed, --max-depth is 1"),
        (site.url("/login"), "the server wants a login (401)"),
        (site.url("/no"), "the server forbids it (403)"),
        ("http://elsewhere.example/".to_owned(), "outside --scope site: no seed is of"),
    ] {
        let mut status = Command::new(binary::rhumb());
        let status = status.arg("status").arg(site.crawl_dir()).args(["--url", &url]);
        let text = String::from_utf8(status.output().unwrap().stdout).unwrap();
        assert!(text.contains(meaning), "{meaning:?} is not in {text}");
    }
}
