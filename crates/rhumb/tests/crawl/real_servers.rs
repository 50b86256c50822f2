//! Real servers, as others run them: nginx with a CA of its own, a login and a session; tinyproxy
//! and microsocks in between; nghttpd, which speaks HTTP/2 alone.
//!
//! Each test has a directory and an address of loopback of its own.

use crate::binary;
use crate::name_server::{NameServer, Says};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rhumb_archive::RecordReader;
use rhumb_given::DebianServers;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

const NAME: &str = "one.test";
/// Below the ports that the system gives to others.
const PLAIN: u16 = 28_080;
const SECURE: u16 = 28_443;
const BETWEEN: u16 = 28_888;
/// For a server to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const PAGES: usize = 20;

struct Bed {
    servers: DebianServers,
    temporary: tempfile::TempDir,
    address: Ipv4Addr,
}

/// A server, ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Bed {
    /// A tree of pages, and a certificate for its address and name; none if the servers cannot be
    /// had.
    fn new() -> Option<Bed> {
        static BEDS: AtomicU8 = AtomicU8::new(1);
        let servers = rhumb_given::debian_servers(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
        let [.., high, low] = std::process::id().to_be_bytes();
        let address = Ipv4Addr::new(127, 100 + BEDS.fetch_add(1, Ordering::Relaxed), high, low);
        let bed = Bed { servers, temporary: tempfile::tempdir().unwrap(), address };
        bed.plant();
        bed.certify();
        Some(bed)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    /// The front page leads to all others; two directories are guarded.
    fn plant(&self) {
        let root = self.path("root");
        let numbered: String = (0..PAGES).map(|n| format!("<a href=/{n}.html>{n}</a>")).collect();
        let front = format!("{numbered}<a href=/closed/>c</a><a href=/members/>m</a>");
        for directory in ["closed", "members"] {
            fs::create_dir_all(root.join(directory)).unwrap();
            let page = format!("<p>{directory}</p><a href=inner.html>inner</a>");
            fs::write(root.join(directory).join("index.html"), page).unwrap();
            let inner = format!("<p>the inner page of {directory}</p>");
            fs::write(root.join(directory).join("inner.html"), inner).unwrap();
        }
        fs::write(root.join("index.html"), front).unwrap();
        for n in 0..PAGES {
            fs::write(root.join(format!("{n}.html")), format!("<p>page {n}</p>")).unwrap();
        }
    }

    fn pages(&self) -> BTreeSet<String> {
        let numbered = (0..PAGES).map(|n| format!("/{n}.html"));
        let others = ["/", "/closed/", "/closed/inner.html", "/members/", "/members/inner.html"];
        numbered.chain(others.map(str::to_owned)).collect()
    }

    fn certify(&self) {
        let mut ca = CertificateParams::default();
        ca.distinguished_name.push(DnType::CommonName, "a CA of one test");
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names = vec![NAME.to_owned(), self.address.to_string()];
        let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &ca).unwrap();
        fs::write(self.path("ca.pem"), ca.pem()).unwrap();
        fs::write(self.path("site.pem"), leaf.pem()).unwrap();
        fs::write(self.path("site.key"), key.serialize_pem()).unwrap();
    }

    /// A server that is there when it takes connections at this port.
    fn start(&self, mut command: Command, port: u16) -> Running {
        let log = File::create(self.path(&format!("{port}.log"))).unwrap();
        command.stdout(log.try_clone().unwrap()).stderr(log).current_dir(self.temporary.path());
        let mut child = Running(command.spawn().unwrap());
        let began = Instant::now();
        while TcpStream::connect((self.address, port)).is_err() {
            let ended = child.0.try_wait().unwrap();
            assert!(ended.is_none(), "{command:?} ended: {}", self.log(port));
            assert!(began.elapsed() < PATIENCE, "{command:?} does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        child
    }

    /// What a server that was started wrote.
    fn log(&self, port: u16) -> String {
        fs::read_to_string(self.path(&format!("{port}.log"))).unwrap()
    }

    /// http leads to https; one directory wants a login, another one a session.
    fn nginx(&self) -> Running {
        let Bed { address, .. } = self;
        fs::write(self.path("htpasswd"), "ann:{PLAIN}secret\n").unwrap();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {name};\n"))
            .concat();
        let config = format!(
            "daemon off; master_process off; pid nginx.pid;
            events {{}}
            http {{
                {temporary}
                access_log off;
                types {{ text/html html; }}
                gzip on; gzip_min_length 1;
                server {{
                    listen {address}:{PLAIN};
                    return 301 https://$host:{SECURE}$request_uri;
                }}
                server {{
                    listen {address}:{SECURE} ssl;
                    ssl_certificate site.pem; ssl_certificate_key site.key;
                    root root;
                    location /closed/ {{ auth_basic closed; auth_basic_user_file htpasswd; }}
                    location /members/ {{ if ($cookie_session != letmein) {{ return 403; }} }}
                }}
            }}"
        );
        fs::write(self.path("nginx.conf"), config).unwrap();
        let mut nginx = self.servers.command("nginx");
        nginx.arg("-p").arg(self.temporary.path()).args(["-e", "nginx.log", "-c", "nginx.conf"]);
        self.start(nginx, SECURE)
    }

    /// `rhumb crawl` from this URL, without waits.
    fn crawl(&self, seed: &str, arguments: &[&str]) -> Output {
        let address = self.address;
        let names = NameServer::start(move |_| Says::Addresses(vec![address.into()]));
        let config = self.path("retry.toml");
        fs::write(&config, "[retry]\nwait_min = \"10ms\"\nhost_failures_max = 2\n").unwrap();
        let ca = self.path("ca.pem");
        let trusted: &[&Path] = if arguments.contains(&"--ca-file") { &[&ca] } else { &[] };
        Command::new(binary::rhumb())
            .args(["--quiet", "crawl", seed, "--allow-private", "--json"])
            .args(["--delay", "0s", "--delay-factor", "0"])
            .args(["--resolver", &names.address.to_string()])
            .args([Path::new("--config"), &config, Path::new("--dir"), &self.path("crawl")])
            .args(arguments)
            .args(trusted)
            .output()
            .unwrap()
    }

    /// Paths whose answer is kept and was 200.
    fn kept(&self) -> BTreeSet<String> {
        let mut kept = BTreeSet::new();
        for entry in fs::read_dir(self.path("crawl/warc")).unwrap() {
            for record in RecordReader::open(&entry.unwrap().path()).unwrap() {
                let record = record.expect("a whole record");
                let is_page =
                    record.kind() == "response" && record.http_head().starts_with(b"HTTP/1.1 200");
                let target = record.target().filter(|_| is_page);
                kept.extend(
                    target.and_then(|url| url.splitn(4, '/').nth(3)).map(|p| format!("/{p}")),
                );
            }
        }
        kept
    }
}

fn report(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
    serde_json::from_slice(&output.stdout).expect("--json prints one JSON value")
}

#[test]
fn a_site_behind_a_ca_a_login_and_a_session_is_crawled_whole() {
    let Some(bed) = Bed::new() else { return };
    let _nginx = bed.nginx();
    let seed = format!("http://{NAME}:{PLAIN}/");
    let strange = bed.crawl(&seed, &[]);
    let said = String::from_utf8_lossy(&strange.stderr);
    assert_eq!(strange.status.code(), Some(1), "{said}");
    assert!(said.contains("certificate"), "{said}");

    fs::write(bed.path("password"), "secret\n").unwrap();
    let cookies = format!("{NAME}\tFALSE\t/\tFALSE\t0\tsession\tletmein\n");
    fs::write(bed.path("cookies"), cookies).unwrap();
    let auth = format!("{NAME}=ann:{}", bed.path("password").display());
    let cookies = bed.path("cookies");
    let opened = ["--auth", &auth, "--cookies", cookies.to_str().unwrap(), "--ca-file"];
    let report = report(&bed.crawl(&seed, &opened));
    assert_eq!(bed.kept(), bed.pages());
    assert_eq!((&report["unauthorized"], &report["forbidden"]), (&0.into(), &0.into()), "{report}");
}

#[test]
fn pages_come_through_an_http_proxy_by_tunnels_too() {
    let Some(bed) = Bed::new() else { return };
    let _nginx = bed.nginx();
    let Bed { address, .. } = bed;
    let config = format!("Port {BETWEEN}\nListen {address}\nTimeout 60\nLogLevel Connect\n");
    fs::write(bed.path("tinyproxy.conf"), config).unwrap();
    let mut tinyproxy = bed.servers.command("tinyproxy");
    tinyproxy.args(["-d", "-c", "tinyproxy.conf"]);
    let _tinyproxy = bed.start(tinyproxy, BETWEEN);
    // The proxy knows no name of ours.
    let proxy = format!("http://{address}:{BETWEEN}");
    let seed = format!("http://{address}:{PLAIN}/");
    report(&bed.crawl(&seed, &["--proxy", &proxy, "--exclude", "/(closed|members)/", "--ca-file"]));
    assert_eq!(bed.kept().len(), 1 + PAGES, "{:?}", bed.kept());
    let log = bed.log(BETWEEN);
    for passed in [format!("GET http://{address}:{PLAIN}/"), format!("CONNECT {address}:{SECURE}")]
    {
        assert!(log.contains(&passed), "{passed}: {log}");
    }
}

#[test]
fn pages_come_through_a_socks_proxy() {
    let Some(bed) = Bed::new() else { return };
    let _nginx = bed.nginx();
    let address = bed.address.to_string();
    let mut microsocks = bed.servers.command("microsocks");
    microsocks.args(["-i", &address, "-p", &BETWEEN.to_string()]);
    let _microsocks = bed.start(microsocks, BETWEEN);
    let proxy = format!("socks5://{address}:{BETWEEN}");
    let seed = format!("https://{NAME}:{SECURE}/");
    report(&bed.crawl(&seed, &["--proxy", &proxy, "--exclude", "/(closed|members)/", "--ca-file"]));
    assert_eq!(bed.kept().len(), 1 + PAGES, "{:?}", bed.kept());
    let log = bed.log(BETWEEN);
    assert!(log.contains(&format!(":{SECURE}")), "nothing came this way: {log}");
}

#[test]
fn a_server_that_speaks_http_2_alone_is_crawled_whole() {
    let Some(bed) = Bed::new() else { return };
    let mut nghttpd = bed.servers.command("nghttpd");
    nghttpd.args(["-a", &bed.address.to_string(), "-d", "root", "--workers=1"]);
    nghttpd.args([&SECURE.to_string(), "site.key", "site.pem"]);
    let _nghttpd = bed.start(nghttpd, SECURE);
    report(&bed.crawl(&format!("https://{NAME}:{SECURE}/"), &["--ca-file"]));
    assert_eq!(bed.kept(), bed.pages());
}
