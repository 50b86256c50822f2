//! The hosts that fail and have work: named in the report, and at the end of a run.

use super::report::CrawlReport;
use indicatif::HumanCount;
use rhumb_engine::error::Error;
use rhumb_engine::outcome::FailKind;
use rhumb_engine::time::Time;
use rhumb_state::local::LocalReader;
use rhumb_state::snapshot::StateSnapshot as _;
use serde::{Deserialize, Serialize};

/// Hosts that are named; how many there are is counted apart.
const NAMED_MAX: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailingHost {
    pub host: String,
    /// How its last request failed.
    pub kind: String,
    /// URLs that wait there.
    pub queued: u64,
}

/// Some of the hosts that rest, those first that are tried again first.
pub fn failing_hosts(reader: &LocalReader) -> Result<Vec<FailingHost>, Error> {
    let mut hosts = Vec::new();
    for part in reader.parts() {
        let snapshot = part.snapshot();
        // To a run that is yet to come all of them are due.
        let (resting, _) = snapshot.sleepers_resting(u32::MAX, Time::ZERO, None, NAMED_MAX)?;
        for sleeper in resting {
            let Some(record) = snapshot.host(&sleeper.host)? else { continue };
            hosts.push(FailingHost {
                host: sleeper.host.origin(),
                kind: record.failing.map_or("", FailKind::word).to_owned(),
                queued: record.queued,
            });
        }
    }
    hosts.truncate(NAMED_MAX);
    Ok(hosts)
}

/// What is said of them at the end of a run; nothing if there are none.
pub fn at_end(report: &CrawlReport) -> String {
    if report.hosts_failing == 0 {
        return String::new();
    }
    let many = |n: u64, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", HumanCount(n)),
    };
    let verb = if report.hosts_failing == 1 { "fails" } else { "fail" };
    let mut text =
        format!("\n{} {verb}; what waits there is not lost:", many(report.hosts_failing, "host"));
    for host in &report.failing_hosts {
        let FailingHost { host, kind, queued } = host;
        text += &format!("\n  {host}  {kind}, {} to fetch", many(*queued, "URL"));
    }
    let more = report.hosts_failing.saturating_sub(report.failing_hosts.len() as u64);
    if more > 0 {
        text += &format!("\n  and {}", many(more, "other"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_fail_are_named_with_their_fault_and_the_rest_is_counted() {
        assert_eq!(at_end(&CrawlReport::default()), "");
        let host = |name: &str, kind: &str, queued| FailingHost {
            host: format!("http://{name}.test"),
            kind: kind.to_owned(),
            queued,
        };
        let failing_hosts = vec![host("a", "connect", 1), host("b", "dns_not_found", 12_000)];
        let report = CrawlReport { hosts_failing: 5, failing_hosts, ..CrawlReport::default() };
        let expected = "\n5 hosts fail; what waits there is not lost:\
            \n  http://a.test  connect, 1 URL to fetch\
            \n  http://b.test  dns_not_found, 12,000 URLs to fetch\
            \n  and 3 others";
        assert_eq!(at_end(&report), expected);
    }
}
