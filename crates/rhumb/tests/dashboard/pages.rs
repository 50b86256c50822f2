//! Pages over sockets: what they show, to whom, and what hostile requests get.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::site::{Crawl, Dashboard, HOSTILE, PAGES, Running, encoded, run};

#[test]
fn every_page_answers_with_and_without_json_and_its_figures_are_the_reports() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let report: Value =
        serde_json::from_slice(&std::fs::read(crawl.dir.join("report.json")).unwrap()).unwrap();
    for path in PAGES {
        let (status, head, body) = dashboard.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        assert!(body.contains("<h1>") && body.contains("</html>"), "{path}: {body}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        assert!(!body.contains("<style") && !body.contains(" style="), "{path}");
        let data = if path == "/" { "/index.json".to_owned() } else { format!("{path}.json") };
        if !matches!(path, "/host" | "/url" | "/search") {
            let (status, head, body) = dashboard.get(&data);
            assert!(status == 200 && head.contains("application/json"), "{data}: {head} {body}");
            assert!(!serde_json::from_str::<Value>(&body).unwrap().is_null(), "{data}: {body}");
        }
    }
    let overview: Value = serde_json::from_str(&dashboard.get("/index.json").2).unwrap();
    for figure in ["pages", "bytes", "known_urls", "gone", "exact_duplicates", "hosts"] {
        assert_eq!(overview[figure], report[figure], "{figure}");
    }
    let pages = report["pages"].as_u64().unwrap();
    assert!(pages >= 4, "{report}");
    let page = dashboard.get("/").2;
    for (id, figure) in [("pages", "pages"), ("queued", "queued"), ("hosts", "hosts")] {
        let shown = format!("<dd data-live=\"{id}\">{}</dd>", report[figure]);
        assert!(page.contains(&shown), "{shown}");
    }
    for (name, figure) in
        [("exact copies", "exact_duplicates"), ("nearly the same", "near_duplicates")]
    {
        let shown = format!("<dt>{name}</dt><dd>{}</dd>", report[figure]);
        assert!(report[figure].as_u64() > Some(0) && page.contains(&shown), "{shown}");
    }
}

#[test]
fn what_the_viewer_mistyped_is_said_to_be_so_and_not_to_be_our_failure() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let typed = encoded("<x>");
    for path in [
        format!("/url?url={typed}"),
        format!("/url.json?url={typed}"),
        format!("/host?key={typed}"),
        format!("/host.json?key={typed}"),
        "/hosts?by=nonsense".to_owned(),
        "/?month=perhaps".to_owned(),
    ] {
        let (status, _, body) = dashboard.get(&path);
        assert_eq!(status, 400, "{path}: {body}");
        let is_ours = body.contains("That cannot be asked.") || body.starts_with("{\"error\"");
        assert!(is_ours, "{path}: {body}");
    }
    let (status, _, body) = dashboard.get("/queue.txt?key=nohost.test");
    assert!(status == 404 && body.contains("nothing is known"), "{status} {body}");
}

#[test]
fn a_crawl_of_another_version_is_not_shown_and_both_formats_are_named() {
    let crawl = Crawl::finished();
    let format = crawl.dir.join("state/FORMAT");
    let ours = std::fs::read_to_string(&format).unwrap();
    std::fs::write(&format, "999\n").unwrap();
    let (code, error) = run(&["dashboard", crawl.dir.to_str().unwrap()]);
    let names_both = error.contains("999") && error.contains(ours.trim());
    assert!(code == 1 && names_both, "{code}: {error}");
}

#[test]
fn the_history_is_there_as_data() {
    let running = Running::start("1s", &[]);
    let last = |history: &Value| {
        history["series"]["pages"].as_array().and_then(|pages| pages.last()?.as_f64())
    };
    let history = loop {
        let history = running.dashboard.json("/history.json");
        if last(&history) >= Some(4.0) {
            break history;
        }
        thread::yield_now();
    };
    let samples = history["at_s"].as_array().unwrap().len();
    let series = history["series"].as_object().unwrap();
    for name in ["pages", "moved", "errors", "revisits", "bound", "ceiling", "freshness"] {
        assert_eq!(series[name].as_array().map(Vec::len), Some(samples), "{name}");
    }
}

#[test]
fn why_it_is_not_faster_adds_up() {
    let running = Running::start("1s", &[]);
    let speed = || running.dashboard.json("/speed.json");
    // A second and a half of it is known before anything is said.
    while speed()["pace"].is_null() {
        thread::yield_now();
    }
    let view = speed();
    let pace = &view["pace"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{view}"));
    let lost: f64 = pace["lost"].as_array().unwrap().iter().map(|l| number(&l["per_s"])).sum();
    let told = number(&pace["requests_per_s"]) + lost + number(&pace["unexplained_per_s"]);
    let ceiling = number(&pace["ceiling_per_s"]);
    assert!(number(&pace["requests_per_s"]) > 0.0, "{view}");
    assert!((told - ceiling).abs() <= 0.01 * ceiling, "{told} of {ceiling}: {view}");
    let parts = ["delays", "addresses", "slots", "parsing", "loop"];
    let allowed = pace["allowed"].as_array().unwrap();
    let names: Vec<&str> = allowed.iter().filter_map(|part| part["part"].as_str()).collect();
    assert!(parts.iter().all(|part| names.contains(part)), "{view}");
    let page = running.dashboard.get("/speed").2;
    assert!(page.contains("From the ceiling to the pages"), "{page}");
}

#[test]
fn viewers_that_read_nothing_and_bodies_that_never_come_hold_nobody_up_for_long() {
    let running = Running::start("1s", &["--dashboard-control"]);
    let port = running.dashboard.addr.port();
    let head = format!("Host: 127.0.0.1:{port}\r\n");
    let asked = format!("GET /style.css HTTP/1.1\r\n{head}\r\n").repeat(2_000);
    let begun = format!(
        "POST /hands HTTP/1.1\r\n{head}Origin: http://127.0.0.1:{port}\r\nContent-Type: \
         application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
    );
    let rude: Vec<TcpStream> = (0..140)
        .map(|n| {
            let mut stream = TcpStream::connect(running.dashboard.addr).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            // What the server does not take is not written.
            let _ = stream.write_all(if n % 2 == 0 { asked.as_bytes() } else { begun.as_bytes() });
            stream
        })
        .collect();
    // Every place is taken; all of them are given back, though nobody of these goes.
    assert_eq!(running.dashboard.get("/speed").0, 200);
    let pages = || running.dashboard.json("/index.json")["pages"].as_u64().unwrap_or(0);
    let before = pages();
    while pages() <= before {
        thread::yield_now();
    }
    drop(rude);
}

#[test]
fn what_strangers_wrote_is_text_and_nothing_else() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let origin = &crawl.origin;
    let url = encoded(&format!("{origin}{HOSTILE}"));
    let typed = encoded("</script><script>alert(1)</script>\u{202e}");
    for path in [
        format!("/url?url={url}"),
        format!("/url?url={typed}"),
        format!("/host?key={typed}"),
        format!("/host?key={}", encoded(origin)),
        format!("/what-if?exclude={typed}"),
        "/duplicates".to_owned(),
    ] {
        let (_, _, body) = dashboard.get(&path);
        assert!(!body.contains("<img") && !body.contains("<script>"), "{path}: {body}");
    }
    let (status, _, body) = dashboard.get(&format!("/url?url={}", "a".repeat(8000)));
    assert_eq!(status, 400, "{body}");
}

#[test]
fn what_an_exclusion_would_refuse_is_counted_and_nothing_is_changed() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let before = std::fs::read(crawl.dir.join("crawl.toml")).unwrap();
    let path = format!("/what-if.json?exclude={}&delay=0.5", encoded("/copy"));
    let tried: Value = serde_json::from_str(&dashboard.get(&path).2).unwrap();
    assert_eq!(tried["fetched_matched"], 1, "{tried}");
    assert_eq!(tried["delay_s"], 0.5);
    let wrong: Value =
        serde_json::from_str(&dashboard.get(&format!("/what-if.json?exclude={}", encoded("("))).2)
            .unwrap();
    assert!(wrong["mistake"].as_str().is_some_and(|m| m.contains("unclosed")), "{wrong}");
    assert_eq!(dashboard.get("/what-if.json?delay=soon").0, 400);
    assert_eq!(before, std::fs::read(crawl.dir.join("crawl.toml")).unwrap());
}

#[test]
fn other_names_other_origins_other_methods_and_huge_requests_are_refused() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let port = dashboard.addr.port();
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let status = |request: &str| dashboard.ask(request).0;
    assert_eq!(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n")), 421);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")), 200);
    let foreign = "Origin: http://evil.example\r\n";
    assert_eq!(status(&format!("GET /index.json HTTP/1.1\r\n{host}{foreign}\r\n")), 403);
    let embedded = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n";
    assert_eq!(status(&format!("GET /index.json HTTP/1.1\r\n{host}{embedded}\r\n")), 403);
    let followed = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_eq!(status(&format!("GET / HTTP/1.1\r\n{host}{followed}\r\n")), 200);
    assert_eq!(status(&format!("POST / HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n")), 405);
    assert_eq!(status(&format!("GET /nowhere HTTP/1.1\r\n{host}\r\n")), 404);
    let huge = format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "a".repeat(1 << 20));
    assert!(matches!(status(&huge), 431 | 0), "a head of 1 MiB is not read to its end");
    assert_eq!(dashboard.get("/").0, 200);
    let named = Dashboard::listening(&crawl.dir, &["--dashboard-host", "crawler.example"]);
    let port = named.addr.port();
    let asked = |name: &str| format!("GET / HTTP/1.1\r\nHost: {name}:{port}\r\n\r\n");
    assert_eq!(named.ask(&asked("crawler.example")).0, 200);
    assert_eq!(named.ask(&asked("evil.example")).0, 421);
}

#[test]
fn another_address_asks_for_the_token_and_moves_it_into_a_cookie() {
    let crawl = Crawl::finished();
    let token = "0123456789abcdef-secret";
    let file = crawl.dir.join("token");
    std::fs::write(&file, format!("{token}\n")).unwrap();
    let file = file.to_str().unwrap();
    let dashboard =
        Dashboard::listening(&crawl.dir, &["--listen", "127.0.0.1:0", "--dashboard-token", file]);
    assert_eq!(dashboard.get("/").0, 401);
    assert_eq!(dashboard.get("/?token=0123456789abcdef-wrong0").0, 401);
    let (status, head, _) = dashboard.get(&format!("/?token={token}"));
    assert!(status == 303 && head.contains("HttpOnly; SameSite=Strict"), "{head}");
    let port = dashboard.addr.port();
    let cookie = format!("Cookie: a=b; rhumb_token={token}\r\n");
    let asked = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{cookie}\r\n");
    assert_eq!(dashboard.ask(&asked).0, 200);
    let refused = run(&["dashboard", crawl.dir.to_str().unwrap(), "--listen", "0.0.0.0:0"]);
    assert!(refused.0 == 2 && refused.1.contains("--dashboard-token"), "{refused:?}");
}

#[test]
fn a_port_in_use_and_a_directory_without_a_crawl_are_named() {
    let crawl = Crawl::finished();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let (code, error) = run(&["dashboard", crawl.dir.to_str().unwrap(), "--listen", &addr]);
    assert!(code == 1 && error.contains("is in use by another program"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let (code, error) = run(&["dashboard", empty.path().to_str().unwrap()]);
    assert!(code == 1 && error.contains("holds no crawl"), "{error}");
}

#[test]
fn events_bring_the_figures_and_a_viewer_that_reads_nothing_holds_nobody_up() {
    let crawl = Crawl::finished();
    let dashboard = Dashboard::of(&crawl.dir);
    let port = dashboard.addr.port();
    let request = format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let silent: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(dashboard.addr).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut lines = BufReader::new(silent[0].try_clone().unwrap()).lines();
    let data = lines.find_map(|line| Some(line.unwrap().strip_prefix("data: ")?.to_owned()));
    let now: Value = serde_json::from_str(&data.unwrap()).unwrap();
    assert!(now["running"] == false && now["pages"].is_string(), "{now}");
    assert_eq!(dashboard.get("/speed").0, 200);
}

#[test]
fn a_running_crawl_shows_itself_and_the_address_is_gone_with_it() {
    let mut running = Running::start("1s", &[]);
    assert_eq!(running.dashboard.json("/index.json")["running"], true);
    assert_eq!(running.dashboard.get("/frontier").0, 200);
    let (status, head, body) = running.dashboard.get("/metrics");
    assert!(status == 200 && head.contains("text/plain"), "{head}");
    assert!(body.contains("# TYPE rhumb_"), "{body}");
    let addr = running.dashboard.addr;
    assert_eq!(running.interrupt(), Some(130));
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn a_hundred_streams_are_bounded_and_the_crawl_goes_on() {
    let running = Running::start("1s", &[]);
    let port = running.dashboard.addr.port();
    let request = format!("GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let streams: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(running.dashboard.addr).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    let status = |stream: &TcpStream| {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    let statuses: Vec<String> = streams.iter().map(status).collect();
    let served = statuses.iter().filter(|status| *status == "200").count();
    assert_eq!((served, statuses.iter().filter(|s| *s == "503").count()), (64, 36));
    let pages = || running.dashboard.json("/index.json")["pages"].as_u64().unwrap_or(0);
    let before = pages();
    while pages() <= before {
        thread::yield_now();
    }
}
