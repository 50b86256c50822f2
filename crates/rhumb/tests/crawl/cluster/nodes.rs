//! A crawl on many machines, as tests see it: a store of files, the program as its nodes, and the
//! synthetic web that they crawl.

use crate::binary;
use crate::site::{DELAY_MS, Site};
use rhumb_lab::serve::Logged;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A node that others gave up.
const FENCED: i32 = 3;
/// So often it is started again.
const RESTARTS_MAX: usize = 5;
/// Whoever waits longer has failed: machines that test are slow, and leases last ten seconds.
const LONG: Duration = Duration::from_secs(300);

pub struct Cluster {
    pub site: Site,
    pub name: &'static str,
    store: String,
    /// What the program is told of the store by its environment.
    variables: Vec<(&'static str, String)>,
    nodes: BTreeMap<String, Child>,
    /// So often a node ended since others had given it up.
    pub given_up: u32,
}

impl Cluster {
    /// A crawl of this web that is made, and has all its seeds, in a store of files.
    pub fn of(site: Site, partitions: u32, more: &[&str]) -> Cluster {
        let store = format!("file://{}/bucket", site.dir.path().display());
        Cluster::made(site, (store, Vec::new()), partitions, more)
    }

    /// The same in an S3 server that answers on this port of this machine.
    pub fn over_s3(
        site: Site,
        (bucket, port): (&str, u16),
        partitions: u32,
        more: &[&str],
    ) -> Cluster {
        let variables = vec![
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "test".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ];
        Cluster::made(site, (format!("s3://{bucket}/crawls"), variables), partitions, more)
    }

    fn made(
        site: Site,
        (store, variables): (String, Vec<(&'static str, String)>),
        partitions: u32,
        more: &[&str],
    ) -> Cluster {
        let nodes = BTreeMap::new();
        let cluster = Cluster { site, name: "web", store, variables, nodes, given_up: 0 };
        let count = partitions.to_string();
        let (delay, resolver) = (format!("{DELAY_MS}ms"), cluster.site.served.dns.to_string());
        let settings = [
            "--partitions",
            &count,
            "--scope",
            "any",
            "--allow-private",
            "--delay",
            &delay,
            "--delay-factor",
            "0",
            "--resolver",
            &resolver,
        ];
        cluster.done("create", &[&settings[..], more].concat());
        let seeds = cluster.site.dir.path().join("seeds.txt");
        let urls = cluster.site.served.web.seeds();
        fs::write(&seeds, urls.iter().map(|url| format!("{url}\n")).collect::<String>()).unwrap();
        cluster.done("seed", &["--seeds", &seeds.display().to_string()]);
        cluster
    }

    pub fn store(&self) -> String {
        self.store.clone()
    }

    fn program(&self) -> Command {
        let mut command = Command::new(binary::rhumb());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn dir(&self, node: &str) -> PathBuf {
        self.site.dir.path().join(node)
    }

    /// `rhumb cluster VERB`, with these arguments besides.
    pub fn ask(&self, verb: &str, more: &[&str]) -> Output {
        let mut command = self.program();
        command.args(["cluster", verb, self.name, "--store", &self.store()]).args(more);
        command.output().unwrap()
    }

    /// The same, which succeeds; what it said.
    pub fn done(&self, verb: &str, more: &[&str]) -> String {
        let output = self.ask(verb, more);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cluster {verb}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn status(&self) -> Value {
        serde_json::from_str(&self.done("status", &["--json"])).unwrap()
    }

    /// Has a node join, with a directory of its name.
    pub fn start(&mut self, node: &str, more: &[&str]) {
        self.start_by(node, &[], more);
    }

    /// The same, which is told something else of the store.
    pub fn start_by(&mut self, node: &str, variables: &[(&str, String)], more: &[&str]) {
        let log = self.site.dir.path().join(format!("{node}.log"));
        let log = fs::File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.program();
        command
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .args(["node", "--store", &self.store(), "--crawl", self.name, "--id", node])
            .arg("--dir")
            .arg(self.dir(node))
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        assert!(self.nodes.insert(node.to_owned(), command.spawn().unwrap()).is_none());
    }

    pub fn pid(&self, node: &str) -> u32 {
        self.nodes[node].id()
    }

    pub fn kill(&mut self, node: &str) {
        let mut child = self.nodes.remove(node).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends a signal by the system's own command.
    pub fn signal(&self, node: &str, signal: &str) {
        let pid = self.pid(node).to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Those that were started, and not waited for.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(String::as_str)
    }

    /// A node that others gave up is started again, as its service would do.
    pub fn restart_given_up(&mut self) {
        let ended = |child: &mut Child| child.try_wait().unwrap().and_then(|status| status.code());
        let given_up: Vec<String> = self
            .nodes
            .iter_mut()
            .filter_map(|(id, child)| (ended(child) == Some(FENCED)).then(|| id.clone()))
            .collect();
        for node in given_up {
            self.nodes.remove(&node);
            self.given_up += 1;
            self.start(&node, &[]);
        }
    }

    /// Whether a node has ended, and not since others gave it up.
    pub fn has_ended(&mut self) -> bool {
        self.nodes.values_mut().any(|child| child.try_wait().unwrap().is_some())
    }

    /// Waits for a node's end; its exit code.
    pub fn end_of(&mut self, node: &str) -> Option<i32> {
        self.nodes.remove(node).unwrap().wait().unwrap().code()
    }

    /// Looks again and again until this is so.
    pub fn wait_until(&mut self, what: &str, mut is_so: impl FnMut(&mut Cluster) -> bool) {
        let until = Instant::now() + LONG;
        while !is_so(self) {
            assert!(Instant::now() < until, "not within {LONG:?}: {what}; {}", self.logs());
            std::thread::yield_now();
        }
    }

    /// Waits until all nodes have ended; each says that the crawl is over. One that others gave up,
    /// on a machine so busy that no heart-beat came for ten seconds, is started again, as its
    /// service would do.
    pub fn finish(&mut self) {
        let nodes: Vec<String> = self.nodes.keys().cloned().collect();
        for node in nodes {
            for _ in 0..RESTARTS_MAX {
                match self.end_of(&node) {
                    Some(FENCED) => {
                        self.given_up += 1;
                        self.start(&node, &[]);
                    }
                    code => {
                        assert_eq!(code, Some(0), "{node}: {}", self.logs());
                        break;
                    }
                }
            }
        }
    }

    /// No page was asked for twice, unless a node has said why: it lost a partition with what it
    /// had not shipped, or let one go with requests that a busy machine had not answered in time.
    pub fn assert_none_twice(&self) {
        let twice = asked_twice(&self.site.requests());
        println!("{} repeated, {} given up", twice.len(), self.given_up);
        let is_said = self.was_said("partition dropped") || self.was_said("are left behind");
        assert!(is_said || self.given_up > 0 || twice.is_empty(), "{twice:?} {}", self.logs());
    }

    /// Whether a node has logged this.
    pub fn was_said(&self, what: &str) -> bool {
        let entries =
            fs::read_dir(self.site.dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut logs = entries.filter(|path| path.extension().is_some_and(|end| end == "log"));
        logs.any(|path| fs::read_to_string(path).unwrap_or_default().contains(what))
    }

    /// Writes what is whole into a directory.
    pub fn export(&self) -> PathBuf {
        let dir = self.site.dir.path().join("exported");
        self.done("export", &["--dir", &dir.display().to_string()]);
        dir
    }

    /// What the export says of the crawl.
    pub fn report(&self) -> Value {
        let path = self.site.dir.path().join("exported/report.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// Partitions that a node owns, as its crawl's status has it.
    pub fn owned_by(&self, node: &str) -> usize {
        let status = self.status();
        let nodes = status["nodes"].as_array().unwrap();
        let found = nodes.iter().find(|found| found["id"] == node);
        found.map_or(0, |found| found["partitions"].as_array().unwrap().len())
    }

    /// `rhumb node`, with these arguments.
    pub fn node(arguments: &[&str]) -> Output {
        Command::new(binary::rhumb()).arg("node").args(arguments).output().unwrap()
    }

    /// What a node wrote on standard error.
    pub fn log(&self, node: &str) -> String {
        fs::read_to_string(self.site.dir.path().join(format!("{node}.log"))).unwrap()
    }

    pub fn logs(&self) -> String {
        let mut logs = String::new();
        for entry in fs::read_dir(self.site.dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "log") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let last: Vec<&str> = text.lines().rev().take(30).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                logs = format!("{logs}\n{}:\n{}", path.display(), last.join("\n"));
            }
        }
        logs
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.nodes.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Pages that were asked for more than once, with when they were first; robots.txt is read again by
/// every owner.
pub fn asked_twice(requests: &[Logged]) -> Vec<(String, String, u64)> {
    let mut first: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut sorted: Vec<&Logged> = requests.iter().collect();
    sorted.sort_by_key(|request| request.start_us);
    let mut twice = Vec::new();
    for request in sorted.into_iter().filter(|request| request.path != "/robots.txt") {
        let what = (request.host.as_str(), request.path.as_str());
        match first.get(&what) {
            Some(at) => twice.push((request.host.clone(), request.path.clone(), *at)),
            None => drop(first.insert(what, request.start_us)),
        }
    }
    twice
}
