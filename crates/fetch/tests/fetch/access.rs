//! What one site alone is told, and what is kept of it.

use rhumb_fetch::access::{AccessConfig, Login, read_cookies};
use rhumb_fetch::{Fetch, Http, HttpConfig};
use rhumb_page::url::Url;

use crate::server::{Act, Server, limits, request, run, send};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";

fn client(access: AccessConfig) -> Http {
    Http::new(&HttpConfig { allow_private: true, access, ..HttpConfig::default() }).unwrap()
}

fn answers(heads: &[&str]) -> Server {
    let script =
        |head: &&str| vec![Act::Read, send(format!("{OK}{head}Connection: close\r\n\r\n"))];
    Server::start(heads.iter().map(script).collect())
}

/// What the server was sent, header lines alone, for a GET of this URL.
fn sent(client: &Http, server: &Server, url: &str) -> (String, String) {
    let url = Url::parse(&url.replace("PORT", &server.port.to_string())).unwrap();
    let response = run(client.fetch(&request(url, limits()))).unwrap();
    let sent = String::from_utf8(server.requests().remove(0)).unwrap();
    (sent, String::from_utf8(response.raw_request).unwrap())
}

fn access() -> AccessConfig {
    let mut access = AccessConfig::default();
    access.sites.add(&Url::parse("http://site.test/").unwrap());
    access.sites.add(&Url::parse("https://secure.test/").unwrap());
    access.header("Authorization: Bearer key-of-site").unwrap();
    access.header("X-Key: second-key").unwrap();
    let host = "login.site.test".parse().unwrap();
    access.logins.push(Login::new(host, "ann".into(), "pass:word".into()).unwrap());
    access
}

#[test]
fn headers_go_to_the_seeds_sites_logins_to_their_host_and_neither_is_kept() {
    let client = client(access());
    let server = answers(&["", "", "", ""]);
    let (text, kept) = sent(&client, &server, "http://www.site.test:PORT/");
    assert!(text.contains("Authorization: Bearer key-of-site\r\nX-Key: second-key\r\n"), "{text}");
    assert!(kept.contains("Authorization: REDACTED\r\nX-Key: REDACTED\r\n"), "{kept}");
    let (text, kept) = sent(&client, &server, "http://login.site.test:PORT/robots.txt");
    assert!(text.contains("Authorization: Basic YW5uOnBhc3M6d29yZA==\r\n"), "{text}");
    assert!(!kept.contains("YW5u"), "{kept}");
    // Another site, and a site whose seed is not plain.
    for url in ["http://other.test:PORT/", "http://secure.test:PORT/"] {
        let (text, kept) = sent(&client, &server, url);
        assert!(!text.contains("Authorization") && !text.contains("X-Key"), "{text}");
        assert_eq!(text, kept);
    }
}

#[test]
fn cookies_that_a_site_sets_go_back_to_it_alone_and_survive_a_run_if_they_are_kept() {
    let keeping = || AccessConfig { keeps_cookies: true, ..AccessConfig::default() };
    let kept_by = client(keeping());
    let server = answers(&["Set-Cookie: id=secret-1; Path=/\r\nSet-Cookie: x=2; Domain=test\r\n"]);
    sent(&kept_by, &server, "http://site.test:PORT/");
    let server = answers(&["", "", ""]);
    let (text, kept) = sent(&kept_by, &server, "http://site.test:PORT/a");
    assert!(text.contains("Cookie: id=secret-1\r\n"), "{text}");
    assert!(kept.contains("Cookie: REDACTED\r\n"), "{kept}");
    let (text, _) = sent(&kept_by, &server, "http://other.test:PORT/");
    assert!(!text.contains("Cookie"), "{text}");

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cookies.txt");
    kept_by.save_cookies(&path).unwrap();
    let later = client(keeping());
    later.load_cookies(&path).unwrap();
    let (text, _) = sent(&later, &server, "http://site.test:PORT/a");
    assert!(text.contains("Cookie: id=secret-1\r\n"), "{text}");
}

#[test]
fn cookies_of_a_file_go_to_seeds_sites_alone_and_nothing_is_kept_that_nobody_asked_to_keep() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("given.txt");
    let line = |domain: &str, name: &str| format!("{domain}\tTRUE\t/\tFALSE\t0\t{name}\tv\n");
    std::fs::write(&path, line(".site.test", "a") + &line("bank.test", "b")).unwrap();
    let client = client(AccessConfig { cookies: read_cookies(&path).unwrap(), ..access() });
    let server = answers(&["Set-Cookie: new=1\r\n", "", ""]);
    let (text, kept) = sent(&client, &server, "http://www.site.test:PORT/");
    assert!(text.contains("Cookie: a=v\r\n") && kept.contains("Cookie: REDACTED\r\n"), "{text}");
    let (text, _) = sent(&client, &server, "http://www.site.test:PORT/");
    assert!(text.contains("Cookie: a=v\r\n"), "{text}");
    let (text, _) = sent(&client, &server, "http://bank.test:PORT/");
    assert!(!text.contains("Cookie"), "{text}");
    client.save_cookies(&dir.path().join("none.txt")).unwrap();
    assert!(!dir.path().join("none.txt").exists());
}

#[test]
fn headers_that_cannot_be_set_are_refused_without_their_values() {
    for (line, wanted) in [
        ("no colon secret", "a header is written"),
        ("no name: secret", "the name of a header"),
        (": secret", "the name of a header"),
        ("Host: secret", "header host: it belongs to how a page is fetched"),
        ("user-agent: secret", "header user-agent: say --user-agent"),
        ("Accept-Encoding: secret", "header accept-encoding: it belongs"),
        ("Proxy-Authorization: secret", "header proxy-authorization: name the user in --proxy"),
        ("X-Key: secret\r\nX-Other: 1", "header x-key: its value has characters"),
    ] {
        let error = AccessConfig::default().header(line).unwrap_err().0;
        assert!(error.starts_with(wanted) && !error.contains("secret"), "{error}");
    }
    let shown = format!("{:?}", access());
    assert!(!shown.contains("second") && !shown.contains("pass"), "{shown}");
}

#[test]
fn a_password_comes_from_the_first_line_of_a_file_and_no_error_names_that_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("secret-path");
    let login = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Login::from_file("a.org".parse().unwrap(), "ann".into(), &path)
    };
    assert!(login("pass\n").is_ok());
    for text in ["", "\npass", "tab\tpass", &"x".repeat(5_000)] {
        let error = login(text).unwrap_err().0;
        assert!(error.starts_with("login of a.org: ") && !error.contains("secret"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    let error = Login::from_file("a.org".parse().unwrap(), "ann".into(), &path).unwrap_err().0;
    assert!(error.contains("PASSWORD_FILE") && !error.contains("secret"), "{error}");
}
