//! Names and addresses over real sockets: all addresses of a name, and stops that are stops.

use crate::name_server::{NameServer, Says};
use crate::scripted::{Asked, Scripted, answer, html, not_found};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// So long a crawl waits for the first byte of a response.
const HANG_TIME: Duration = Duration::from_secs(30);

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// A site of two pages, at a port that other addresses of loopback do not serve.
fn two_pages() -> Scripted {
    Scripted::serve(|asked| match asked.path.as_str() {
        "/" => html("<p>one</p><a href=/two>two</a>"),
        "/two" => html("<p>two</p>"),
        _ => not_found(),
    })
}

fn crawl_by_name(site: &Scripted, name: &str, dns: &NameServer, more: &[&str]) -> Command {
    let mut command = Command::new(crate::binary::rhumb());
    command
        .args(["--quiet", "crawl", "--allow-private", "--json", "--scope", "any"])
        .args(["--delay", "20ms", "--delay-factor", "0"])
        .arg("--resolver")
        .arg(dns.address.to_string())
        .arg(format!("http://{name}:{}/", site.port))
        .arg("--dir")
        .arg(site.crawl_dir())
        .args(more);
    command
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_name_whose_first_address_is_dead_is_crawled_at_its_next_one_whatever_the_family() {
    for addresses in [&["127.0.0.77", "127.0.0.1"][..], &["::1", "127.0.0.77", "127.0.0.1"]] {
        let site = two_pages();
        let given = ips(addresses);
        let dns = NameServer::start(move |_| Says::Addresses(given.clone()));
        let output = crawl_by_name(&site, "twofold.test", &dns, &[]).output().unwrap();
        let report = report(&output);
        assert_eq!((&report["pages"], &report["stopped_because"]), (&2.into(), &"finished".into()));
    }
}

/// A server that takes connections and never says a word; each first one is told of.
fn tarpit(caught: Sender<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            open.push(stream);
            let _ = caught.send(());
        }
    });
    port
}

/// A name server that never answers.
fn silent_names(caught: Sender<()>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        while socket.recv_from(&mut [0; 512]).is_ok() {
            let _ = caught.send(());
        }
    });
    address
}

/// A site whose body never comes.
fn bodiless(caught: Sender<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
            open.push(stream);
            let _ = caught.send(());
        }
    });
    port
}

/// A crawl in which all that can hang does: names, handshakes, heads and bodies.
fn hanging(dir: &Path, more: &[&str], caught: &Sender<()>) -> Child {
    let (plain, tls) = (tarpit(caught.clone()), tarpit(caught.clone()));
    let body = bodiless(caught.clone());
    Command::new(crate::binary::rhumb())
        .args(["--quiet", "crawl", "--allow-private", "--json", "--scope", "any"])
        .args(["--delay", "0s", "--delay-factor", "0", "--per-address", "9", "--resolver"])
        .arg(silent_names(caught.clone()).to_string())
        .args([format!("http://127.0.0.1:{plain}/"), format!("https://127.0.0.1:{tls}/")])
        .args([format!("http://127.0.0.1:{body}/"), "http://no-answer.test/".to_owned()])
        .arg("--dir")
        .arg(dir)
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_stop_ends_within_five_seconds_whatever_hangs_and_leaves_index_and_report() {
    for (more, code) in [(&["--max-time", "3s"][..], 1), (&[], 130)] {
        let dir = tempfile::tempdir().unwrap();
        let (caught, catches) = channel();
        let child = hanging(dir.path(), more, &caught);
        catches.iter().take(4).for_each(drop);
        let asked = Instant::now();
        if more.is_empty() {
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        // Five seconds are promised of a machine that does nothing else; requests hang for longer
        // than this.
        assert!(asked.elapsed() < HANG_TIME, "{:?}", asked.elapsed());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let stopped = report(&output)["stopped_because"].clone();
        assert_eq!(stopped, if code == 130 { "interrupted" } else { "max_time" });
        assert!(dir.path().join("index.cdxj").exists());
        let text = std::fs::read_to_string(dir.path().join("report.json")).unwrap();
        let on_disk: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(on_disk["stopped_because"], stopped);
    }
}

/// `good.test` has a page with 40 links, all else a page with 300 invented names of one site.
fn flood(asked: &Asked) -> Vec<u8> {
    let host = asked.header("host").unwrap_or_default();
    if asked.path == "/robots.txt" {
        return not_found();
    }
    if host.starts_with("good.test") {
        let links: String = (0..40).map(|n| format!("<a href=/{n}>{n}</a> ")).collect();
        let wild = format!("<a href=http://{}/>w</a>", host.replace("good.test", "wild.test"));
        return html(format!("<p>{}</p>{links}{wild}", asked.path));
    }
    let port = host.rsplit(':').next().unwrap_or("80");
    let name = |n: u32| format!("<a href=http://n{n}.wild.test:{port}/>{n}</a> ");
    html((0..300).map(name).collect::<String>())
}

#[test]
fn a_site_of_invented_names_gets_one_sites_share_and_few_connections() {
    let site = Scripted::serve(flood);
    site.also_at("127.0.0.2");
    let dns = NameServer::start(|name| match name {
        "good.test" => Says::Addresses(ips(&["127.0.0.1"])),
        name if name.ends_with("wild.test") => Says::Addresses(ips(&["127.0.0.2"])),
        _ => Says::NoSuchName,
    });
    let output = crawl_by_name(&site, "good.test", &dns, &["--max-time", "10s"]).output().unwrap();
    let report = report(&output);
    let asked: Vec<String> = dns.names();
    let names = asked.iter().filter(|name| name.starts_with('n')).count();
    // Pages that all say the same earn no further names.
    assert!(names <= 64, "{names} of 300 names were looked up");
    if names == 64 {
        assert!(asked.iter().any(|name| name.starts_with("rhumb-")), "wildcard DNS was looked for");
    }
    assert!(report["pages"].as_u64() > Some(0), "{report}");
    assert!(report["open_connections_per_address_max"].as_u64() <= Some(8), "{report}");
    assert!(report["open_connections_per_address_max"].as_u64() >= Some(1), "{report}");
}

#[test]
fn two_hosts_whose_robots_txt_send_to_each_other_hold_nobody_up() {
    let site = Scripted::serve(|asked| {
        let host = asked.header("host").unwrap_or_default();
        let port = host.rsplit(':').next().unwrap_or_default().to_owned();
        let other = if host.starts_with("one.") { "two" } else { "one" };
        let location = format!("http://{other}.test:{port}/robots.txt");
        match (host.split('.').next(), asked.path.as_str()) {
            (Some("one" | "two"), "/robots.txt") => {
                answer("301 Moved Permanently", &[("Location", &location)], "")
            }
            (_, "/") => html(format!(
                "<p>Links.<a href=http://one.test:{port}/>1</a><a href=http://two.test:{port}/>2</a>"
            )),
            _ => not_found(),
        }
    });
    let dns = NameServer::start(|_| Says::Addresses(ips(&["127.0.0.1"])));
    let config = site.dir.path().join("retry.toml");
    std::fs::write(&config, "[retry]\nwait_min = \"10ms\"\nhost_failures_max = 2\n").unwrap();
    let output =
        crawl_by_name(&site, "three.test", &dns, &["--config"]).arg(config).output().unwrap();
    let report = report(&output);
    // More than five redirects: there is no robots.txt (RFC 9309, 2.3.1.2).
    assert_eq!((&report["pages"], &report["hosts_failing"]), (&3.into(), &0.into()), "{report}");
    assert_eq!(report["stopped_because"], "finished");
}
