//! Sites that do not let everyone in: what opens them reaches them, and no one else reads it.

use crate::binary;
use crate::scripted::{Scripted, answer, html, not_found};
use crate::secure::self_signed;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};

/// Wants a login, a header and a cookie; sets another cookie that it wants from then on.
fn guarded() -> Scripted {
    Scripted::serve(|asked| {
        let has =
            |name: &str, value: &str| asked.header(name).is_some_and(|given| given.contains(value));
        let is_let_in = has("authorization", "Basic YW5uOnMzY3JldC1wYXNz")
            && has("x-key", "s3cret-key")
            && has("cookie", "given=s3cret-cookie");
        match asked.path.as_str() {
            "/robots.txt" => answer("200 OK", &[("Set-Cookie", "sid=s3cret-sid; Path=/")], ""),
            _ if !is_let_in => answer("403 Forbidden", &[], ""),
            "/" => html("<p>welcome</p><a href=/inner>inner</a>"),
            "/inner" if has("cookie", "sid=s3cret-sid") => html("<p>the inner page</p>"),
            _ => answer("404 Not Found", &[], ""),
        }
    })
}

/// Every byte that a crawl left in files, WARC records unpacked.
fn all_bytes(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(all_bytes(&path));
        } else if path.to_string_lossy().ends_with(".warc.gz") {
            let mut unpacked = flate2::read::MultiGzDecoder::new(fs::File::open(&path).unwrap());
            unpacked.read_to_end(&mut all).unwrap();
        } else {
            all.extend(fs::read(&path).unwrap());
        }
    }
    all
}

fn has(all: &[u8], text: &str) -> bool {
    all.windows(text.len()).any(|window| window == text.as_bytes())
}

fn records(dir: &Path) -> String {
    String::from_utf8_lossy(&all_bytes(&dir.join("warc"))).into_owned()
}

#[test]
fn what_opens_a_site_is_sent_there_and_stands_in_no_file_and_no_output() {
    let site = guarded();
    let own = site.dir.path();
    fs::write(own.join("password"), "s3cret-pass\n").unwrap();
    let cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tgiven\ts3cret-cookie\n";
    fs::write(own.join("cookies"), cookies).unwrap();
    let auth = format!("127.0.0.1=ann:{}", own.join("password").display());
    let given = own.join("cookies");
    let arguments = ["--header", "X-Key: s3cret-key", "--auth", &auth, "--cookie-jar", "on"];
    let mut command = site.command(&arguments);
    let output = command.arg("--cookies").arg(&given).arg("-vv").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["pages"], 2, "{report}");

    let dir = site.crawl_dir();
    let is_jar = |text: &str| text.contains("s3cret-sid");
    let jar = fs::read_to_string(dir.join("cookies.txt")).unwrap();
    assert!(is_jar(&jar), "what the site set is kept for the next run: {jar}");
    fs::remove_file(dir.join("cookies.txt")).unwrap();
    let mut written = all_bytes(&dir);
    written.extend([output.stdout, output.stderr].concat());
    for secret in ["s3cret-pass", "s3cret-key", "s3cret-cookie", "YW5uOnMzY3JldC1wYXNz"] {
        assert!(!has(&written, secret), "{secret} was kept");
    }
    let records = records(&dir);
    for line in ["Authorization: REDACTED", "X-Key: REDACTED", "Cookie: REDACTED"] {
        assert!(records.contains(line), "{line} is not in the request records");
    }
    let toml = fs::read_to_string(dir.join("crawl.toml")).unwrap();
    assert!(toml.contains("header = [\"X-Key\"]") && toml.contains("=ann:/"), "{toml}");
}

fn rhumb(arguments: &[&str]) -> Output {
    let mut command = Command::new(binary::rhumb());
    command.env("https_proxy", "http://ann:s3cret@[nonsense").args(arguments).output().unwrap()
}

#[test]
fn what_cannot_be_used_is_said_in_one_line_without_the_secret_and_nothing_is_begun() {
    let dir = tempfile::tempdir().unwrap();
    let (crawl, file) = (dir.path().join("crawl"), dir.path().join("file"));
    fs::write(&file, "s3cret\n").unwrap();
    let file = file.to_str().unwrap();
    for (option, value, wanted) in [
        ("--header", "Authorization s3cret", "a header is written 'Name: value'"),
        ("--header", "Host: s3cret", "header host: it belongs to"),
        ("--auth", "a.test=ann:s3cret", "login of a.test: the file of the password"),
        ("--auth", "a.test:s3cret", "a login is written HOST=USER:PASSWORD_FILE"),
        ("--cookies", file, ":1: 1 fields instead of 7"),
        ("--ca-file", file, "no certificate in it"),
        ("--proxy", "gopher://ann:s3cret@p", "a proxy is http://HOST:PORT"),
        ("--proxy", "environment", "https_proxy: a proxy is http://HOST:PORT"),
        ("--bind", "192.0.2.7", "bind 192.0.2.7: "),
        ("--own-site", "b.test", "own_site b.test: no seed is on that host"),
        ("--insecure", "https://a.test/", "no host: write example.org"),
    ] {
        let proxy = if option == "--proxy" { &[][..] } else { &["--proxy", "none"] };
        let dir = crawl.to_str().unwrap();
        let base = ["crawl", "http://a.test/", "--dir", dir, option, value];
        let output = rhumb(&[&base, proxy].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {said}");
        assert!(said.contains(wanted) && !said.contains("s3cret"), "{option} {value}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
    }
    let seed = ["crawl", "http://ann:s3cret@a.test/", "--dir", crawl.to_str().unwrap()];
    let output = rhumb(&seed);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("--auth HOST=USER:PASSWORD_FILE") && !said.contains("s3cret"), "{said}");
    assert_eq!((output.status.code(), crawl.exists()), (Some(2), false));
}

#[test]
fn the_robots_txt_of_an_own_site_is_not_obeyed_as_long_as_it_is_named() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/robots.txt" => answer("200 OK", &[], "User-agent: *\nDisallow: /a\nDisallow: /b\n"),
        "/" => html("<p>one</p><a href=/a>a</a>"),
        _ => html("<p>another</p>"),
    });
    assert_eq!(site.crawl(&[])["robots_denied"], 1);
    let report = site.crawl(&["--own-site", "127.0.0.1"]);
    assert_eq!((&report["pages"], &report["robots_denied"]), (&2.into(), &0.into()), "{report}");
    assert_eq!(report["own_sites"], serde_json::json!(["127.0.0.1"]));
    assert!(records(&site.crawl_dir()).contains("robots-ignored-for: 127.0.0.1"));
    // Not named any more: what is new is forbidden again.
    let more = site.url("/b");
    let report = site.crawl(&["--own-site", "none", &more]);
    assert_eq!((&report["pages"], &report["robots_denied"]), (&2.into(), &1.into()), "{report}");
}

/// An HTTP proxy that goes to this port for every name.
fn proxy_to(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let (mut from, mut to) = (server.try_clone().unwrap(), stream.try_clone().unwrap());
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let mut head = [0; 4_096];
                let mut stream = stream;
                let read = stream.read(&mut head).unwrap();
                // The server under test knows paths alone.
                let text = String::from_utf8_lossy(&head[..read]).into_owned();
                let name = text.split('/').nth(2).unwrap().to_owned();
                let _ =
                    server.write_all(text.replacen(&format!("http://{name}"), "", 1).as_bytes());
                let _ = std::io::copy(&mut stream, &mut server);
            });
        }
    });
    own
}

#[test]
fn names_that_only_a_proxy_knows_are_crawled_through_it_politely() {
    let site = Scripted::serve(|asked| match asked.path.as_str() {
        "/" if asked.header("host") == Some("inner.test") => html("<p>in</p><a href=/b>b</a>"),
        "/b" => html("<p>further in</p>"),
        _ => answer("404 Not Found", &[], ""),
    });
    let proxy = format!("http://ann:s3cret@127.0.0.1:{}", proxy_to(site.port));
    let crawl = site.crawl_dir();
    // A name server that nobody runs: only the proxy can know the name.
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "http://inner.test/", "--json", "--resolver", "127.0.0.1:1"])
        .args(["--delay", "0s", "--delay-factor", "0", "--proxy", &proxy, "--dir"])
        .arg(&crawl)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["pages"], 2, "{report}");
    assert_eq!(report["open_connections_per_address_max"], 1);
    let records = records(&crawl);
    assert!(!records.contains("WARC-IP-Address"), "nobody knows the address");
    let toml = fs::read_to_string(crawl.join("crawl.toml")).unwrap();
    assert!(toml.contains("proxy = \"http://***@127.0.0.1:"), "{toml}");
    assert!(!has(&all_bytes(&crawl), "s3cret"));
}

#[test]
fn what_came_without_a_believed_certificate_is_marked_wherever_it_is_kept() {
    let port = self_signed(|path| match path {
        "/" => html("<p>one</p><a href=/b>b</a>"),
        "/b" => html("<p>another</p>"),
        _ => not_found(),
    });
    let dir = tempfile::tempdir().unwrap();
    let crawl = |insecure: &str, name: &str| {
        let output = Command::new(binary::rhumb())
            .args(["--quiet", "crawl", "--json", "--allow-private", "--proxy", "none"])
            .args(["--delay", "0s", "--delay-factor", "0", "--insecure", insecure])
            .arg(format!("https://127.0.0.1:{port}/"))
            .args(["--max-time", "20s", "--dir"])
            .arg(dir.path().join(name))
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let report = crawl("127.0.0.1", "believed");
    assert_eq!(report["pages"], 2, "{report}");
    assert_eq!(report["certificates_not_verified"], serde_json::json!(["127.0.0.1"]));
    let records = records(&dir.path().join("believed"));
    let marks = records.matches("certificate: not verified").count();
    assert!(marks >= 2, "one for each page at least: {marks}");
    let warcinfo = records.split("\r\n\r\n\r\n").next().unwrap();
    assert!(warcinfo.contains("WARC-Type: warcinfo"), "{warcinfo}");
    assert!(warcinfo.contains("certificates-not-verified: 127.0.0.1"), "{warcinfo}");
    // Another host's name opens nothing here.
    let report = crawl("other.test", "wary");
    assert_eq!(report["pages"], 0, "{report}");
}

#[test]
fn a_proxy_that_is_not_there_is_named_as_what_fails() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("retry.toml");
    fs::write(&config, "[retry]\nhost_failures_max = 1\n").unwrap();
    let output = Command::new(binary::rhumb())
        .args(["--quiet", "crawl", "http://inner.test/", "--json", "--config"])
        .arg(&config)
        .args(["--proxy", "socks5h://127.0.0.1:1", "--dir"])
        .arg(dir.path().join("crawl"))
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report["failing_hosts"][0]["kind"], "proxy", "{report}");
}
