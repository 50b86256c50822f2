//! What sites ask of crawlers, in robots.txt and in their pages.

use crate::binary;
use crate::scripted::{Scripted, answer, html, not_found};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

#[test]
fn a_rule_is_obeyed_however_it_and_the_link_spell_the_path() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer(
            "200 OK",
            &[("Content-Type", "text/plain")],
            "User-agent: *\nDisallow: /%7Ejoe/\nDisallow: /%61nna\nDisallow: /my files/\n",
        ),
        "/" => html(
            "<a href='/~joe/a'>1</a><a href='/%7Ejoe/b'>2</a><a href='/%7ejoe/c'>3</a>\
             <a href='/anna'>4</a><a href='/my files/1'>5</a><a href='/~jim/'>6</a>",
        ),
        "/~jim/" => html("<p>Jim</p>"),
        _ => not_found(),
    });
    let report = site.crawl(&[]);
    assert_eq!(site.asked(), ["/", "/~jim/"]);
    assert_eq!(report["robots_denied"], 5, "{report}");
}

#[test]
fn what_a_page_asks_of_us_is_in_its_record() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<a href=/a>1</a><a href=/b>2</a><a href=/c>3</a>"),
        "/a" => html("<meta name=robots content='noindex, noarchive'><p>A</p>"),
        "/b" => html("<meta name=rhumb content=nofollow><p>B</p><a href=/not-followed>4</a>"),
        "/c" => answer("200 OK", &[("X-Robots-Tag", "none")], "C"),
        _ => not_found(),
    });
    site.crawl(&["--user-agent", "rhumb/1.0"]);
    assert_eq!(site.asked(), ["/", "/a", "/b", "/c"]);
    let marks = |path: &str| status_of(&site, path)["marks"].clone();
    assert_eq!(marks("/"), json!([]));
    assert_eq!(marks("/a"), json!(["noindex", "noarchive"]));
    assert_eq!(marks("/b"), json!(["nofollow"]));
    assert_eq!(marks("/c"), json!(["noindex", "nofollow"]));
}

#[test]
fn a_run_that_could_only_wait_for_a_hosts_hours_says_so_then_and_later() {
    let site = Scripted::serve(|_| html("<p>by night</p>"));
    // Two to three hours from now, whenever this is run.
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let hour = |ahead: u64| format!("{:02}:00", (now_s / 3600 + ahead) % 24);
    let config = site.dir.path().join("hours.toml");
    let rule = format!(
        "[[hours]]\npattern = \".*\"\nfrom = \"{}\"\nto = \"{}\"\nzone = \"UTC\"\n",
        hour(2),
        hour(3)
    );
    std::fs::write(&config, rule).unwrap();
    let config = config.to_str().unwrap();
    let output = site.command(&["--config", config, "--max-time", "1s"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let opens = format!("T{}:00.000Z", hour(2));
    let closed = "1 host is outside its hours; the next opens at ";
    let names = |text: &str| text.contains(closed) && text.contains(&opens);
    assert!(said.lines().last().is_some_and(names), "{said}");
    let status =
        Command::new(binary::rhumb()).arg("status").arg(site.crawl_dir()).output().unwrap();
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(names(&said), "{said}");
    assert_eq!(site.asked(), [""; 0], "nothing was asked for");
}

/// What `rhumb status --url` tells of a page.
pub fn status_of(site: &Scripted, path: &str) -> Value {
    let mut status = Command::new(binary::rhumb());
    status.arg("status").arg(site.crawl_dir()).args(["--json", "--url", &site.url(path)]);
    let output = status.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one JSON value")
}
