//! http and https of one name are one server to be polite to, whatever their ports: its delay runs
//! between requests of either.

use crate::binary;
use crate::name_server::{NameServer, Says};
use crate::scripted::{Scripted, html};
use crate::secure::self_signed;
use crate::site::report_of;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(100);
const PAGES: usize = 10;

#[test]
fn http_and_https_of_one_name_share_one_delay() {
    // When each request had come whole, before its answer began.
    let requests: Arc<Mutex<Vec<(Instant, &str)>>> = Arc::default();
    let note = |scheme: &'static str| {
        let requests = Arc::clone(&requests);
        move || {
            requests.lock().unwrap().push((Instant::now(), scheme));
            let links = (0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>"));
            html(links.chain([scheme.to_owned()]).collect::<String>())
        }
    };
    let (plain, secure) = (note("http"), note("https"));
    let site = Scripted::serve(move |_| plain());
    let secure_port = self_signed(move |_| secure());
    let names = NameServer::start(|_| Says::Addresses(vec!["127.0.0.1".parse().unwrap()]));
    let mut command = Command::new(binary::rhumb());
    command
        .args(["--quiet", "crawl", "--json"])
        .arg(format!("http://one.test:{}/", site.port))
        .arg(format!("https://one.test:{secure_port}/"))
        .args(["--allow-private", "--insecure", "one.test", "--sitemaps", "false"])
        .args(["--delay", &format!("{}ms", DELAY.as_millis()), "--delay-factor", "0"])
        .args(["--resolver", &names.address.to_string(), "--dir"])
        .arg(site.crawl_dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let report = report_of(command.spawn().unwrap());
    assert_eq!(report["stopped_because"], "finished", "{report}");
    let requests = requests.lock().unwrap();
    for scheme in ["http", "https"] {
        let count = requests.iter().filter(|(_, of)| *of == scheme).count();
        assert!(count > PAGES, "{count} requests by {scheme}");
    }
    for pair in requests.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        assert!(gap >= DELAY, "{gap:?} between {} and {}", pair[0].1, pair[1].1);
    }
}
