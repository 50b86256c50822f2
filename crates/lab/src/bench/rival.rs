//! Other programs over the same web: GNU wget2 as a crawler, wrk as a load generator.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rhumb_engine::error::Error;

use super::process::{self, Ran};
use super::{failed, trouble};
use crate::serve::Served;

const WGET2_THREADS: &str = "64";
const WRK_SECONDS: Duration = Duration::from_secs(3);

/// Whether a program is there and runs.
pub fn is_installed(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Crawls from all seeds, robots.txt obeyed, nothing kept. It takes the server for a proxy, since
/// it can be told no name server; it connects for each host all the same. Version 1.99 does not
/// undo `&amp;` in addresses: it finds about 99 of 100 pages, and asks for some that are not there,
/// which do not count as pages.
pub fn wget2(served: &Served, seeds: &Path, dir: &Path) -> Result<Ran, Error> {
    let mut command = Command::new("wget2");
    command
        .args(["--quiet", "--no-config", "--recursive", "--level=inf", "--span-hosts"])
        .args(["--output-document=/dev/null", "--max-threads", WGET2_THREADS])
        .arg(format!("--http-proxy=http://{}", served.http))
        .args(["--input-file".as_ref(), seeds.as_os_str()])
        // It writes down in its home what it learnt of servers.
        .env("HOME", dir)
        .current_dir(dir);
    process::run(&mut command).map_err(|e| trouble("wget2", &e))
}

/// Pages per second of wrk on one page over many connections.
pub fn wrk(served: &Served, connections: usize) -> Result<f64, Error> {
    let seeds = served.web.seeds();
    let url = seeds.first().ok_or_else(|| failed("a web without seeds"))?;
    let mut command = Command::new("wrk");
    command
        .args(["-t1", &format!("-c{connections}"), &format!("-d{}s", WRK_SECONDS.as_secs())])
        .arg(format!("-HHost: {}:{}", url.host(), served.http.port()))
        .arg(format!("http://{}{}", served.http, url.path_and_query()));
    let ran = process::run(&mut command).map_err(|e| trouble("wrk", &e))?;
    let text = String::from_utf8_lossy(&ran.output.stdout);
    let rate = text.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok())
        .ok_or_else(|| trouble("wrk", &io::Error::other(format!("no rate in {text:?}"))))
}
