//! What is refused, and what is said about it.

use super::nodes::Cluster;
use crate::killed::web;
use crate::site::Site;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Output;

fn said(output: &Output) -> String {
    assert!(!output.status.success(), "it was taken");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do_and_damages_nothing() {
    let mut cluster = Cluster::of(Site::serve(web(400)), 4, &[]);
    let two = said(&cluster.ask("create", &["--partitions", "4"]));
    assert!(two.contains("already") && two.contains("another name"), "{two}");
    let store = cluster.store();
    let node = |arguments: &[&str]| said(&Cluster::node(arguments));
    let none = node(&["--store", &store, "--crawl", "none", "--dir", "/nonexistent/x"]);
    assert!(none.contains("rhumb cluster create none"), "{none}");
    let scheme = node(&["--store", "ftp://x/y", "--crawl", "web"]);
    assert!(scheme.contains("s3://BUCKET/PREFIX"), "{scheme}");
    let open = node(&["--store", &store, "--crawl", "web", "--listen", "0.0.0.0:0"]);
    assert!(open.contains("--advertise"), "{open}");
    cluster.name = "../web";
    assert!(said(&cluster.ask("status", &[])).contains("cannot be the name"));
    cluster.name = "other";
    fs::create_dir_all(cluster.site.dir.path().join("bucket/other")).unwrap();
    fs::write(cluster.site.dir.path().join("bucket/other/mine"), "mine").unwrap();
    let holds = said(&cluster.ask("create", &[]));
    assert!(holds.contains("holds other things"), "{holds}");
    cluster.name = "one";
    assert!(said(&cluster.ask("create", &["--partitions", "1"])).contains("2 partitions"));
    assert!(said(&cluster.ask("create", &["--header", "X: y"])).contains("cannot have header"));
    cluster.name = "web";
    assert!(said(&cluster.ask("seed", &["ftp://a.test/"])).contains("ftp"));
    assert!(said(&cluster.ask("set", &[])).contains("nothing to set"));
    let going = said(&cluster.ask("backup", &["--to", "other"]));
    assert!(going.contains("not empty") || going.contains("pause"), "{going}");
    // Of another version.
    let toml = cluster.site.dir.path().join("bucket/web/crawl.toml");
    let text = fs::read_to_string(&toml).unwrap();
    fs::write(&toml, text.replace("format = 1", "format = 99")).unwrap();
    let format = said(&cluster.ask("status", &[]));
    assert!(format.contains("format 99") && format.contains("run the version"), "{format}");
    // Its rows are of a newer one.
    fs::write(&toml, text.replace("state = \"", "state = \"newer than ")).unwrap();
    let dir = cluster.dir("older").display().to_string();
    let older = node(&["--store", &store, "--crawl", "web", "--dir", &dir]);
    assert!(older.contains("newer than") && older.contains("run the version"), "{older}");
    fs::write(&toml, text).unwrap();
    cluster.start("one", &[]);
    cluster.finish();
    assert_eq!(cluster.status()["finished"], true);
}

#[test]
fn a_node_of_another_version_that_says_more_is_understood_and_its_version_told() {
    let mut cluster = Cluster::of(Site::serve(web(400)), 4, &[]);
    cluster.done("pause", &[]);
    cluster.start("one", &[]);
    cluster.wait_until("a node", |cluster| cluster.owned_by("one") == 4);
    let nodes = cluster.site.dir.path().join("bucket/web/nodes");
    let object = fs::read_to_string(nodes.join("one")).unwrap();
    let mut newer: serde_json::Value = serde_json::from_str(&object).unwrap();
    newer["beat"]["node"]["id"] = "newer".into();
    newer["beat"]["node"]["version"] = "99.0.0".into();
    newer["beat"]["owned"] = serde_json::json!({});
    newer["beat"]["is_happy"] = true.into();
    newer["told"]["weather"] = "fine".into();
    fs::write(nodes.join("newer"), newer.to_string()).unwrap();
    let status = cluster.status();
    let found = status["nodes"].as_array().unwrap();
    let found = found.iter().find(|node| node["id"] == "newer").expect("it is told of");
    assert_eq!(found["version"], "99.0.0");
    // It is waited for while it may live, and no longer.
    cluster.done("resume", &[]);
    cluster.finish();
    assert_eq!(cluster.status()["finished"], true);
}

#[test]
fn notes_without_the_token_or_of_nonsense_are_refused_and_the_node_answers_on() {
    let mut cluster = Cluster::of(Site::serve(web(400)), 4, &[]);
    cluster.done("pause", &[]);
    cluster.start("one", &[]);
    cluster.wait_until("a node", |cluster| cluster.owned_by("one") == 4);
    let address = cluster.status()["nodes"][0]["address"].as_str().unwrap().to_owned();
    let toml = fs::read_to_string(cluster.site.dir.path().join("bucket/web/crawl.toml")).unwrap();
    let token = toml.lines().find_map(|line| line.strip_prefix("token = \"")).unwrap();
    let token = token.trim_end_matches('"');
    assert!(post(&address, "wrong", b"x").starts_with("HTTP/1.1 401"));
    for body in [&b""[..], b"nonsense", &[0xff; 4_000]] {
        let answer = post(&address, token, body);
        assert!(answer.starts_with("HTTP/1.1 409"), "{answer}");
    }
    for (path, wanted) in [
        ("/healthz", "alive"),
        ("/readyz", "ready"),
        ("/metrics", "rhumb_pages_total{partition=\"3\"}"),
        ("/status", "\"parts\""),
    ] {
        // What is shown is made once a second.
        cluster.wait_until(path, |_| {
            let answer = get(&address, path);
            answer.starts_with("HTTP/1.1 200") && answer.contains(wanted)
        });
    }
    cluster.done("stop", &[]);
    cluster.finish();
    assert_eq!(cluster.status()["stopped_because"], "interrupted");
}

pub fn get(address: &str, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    talk(address, head.as_bytes())
}

fn post(address: &str, token: &str, body: &[u8]) -> String {
    let head = format!(
        "POST /notes HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    talk(address, &[head.as_bytes(), body].concat())
}

fn talk(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
