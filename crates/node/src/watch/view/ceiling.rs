//! Why not faster: the rate that politeness allows, which delay decides it at which hosts, and
//! which hosts hold the rest up.

use super::{PaceView, each_host};
use crate::watch::counted;
use rhumb_engine::config::Polite;
use rhumb_engine::error::Error;
use rhumb_engine::host::HostRecord;
use rhumb_engine::polite;
use rhumb_engine::queue::SleepPlace;
use rhumb_engine::time::{Span, Time};
use rhumb_state::local::LocalReader;
use serde::{Deserialize, Serialize};

/// Hosts in the list of those that take longest.
const HOLDING_MAX: usize = 20;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SpeedView {
    /// Hosts that have work that is due and do not rest, and the URLs that wait at them.
    pub hosts_with_work: u64,
    pub queued: u64,
    /// The sum over these hosts of one request for each delay and response time.
    pub ceiling_per_s: f64,
    /// The least time in which the queue can be worked off: the slowest host's.
    pub needs_s: f64,
    /// Hosts that fail and rest, and what waits there.
    pub resting_hosts: u64,
    pub resting_queued: u64,
    /// Hosts whose hours have not begun, or whose sites have had their share of names.
    #[serde(default)]
    pub held_hosts: u64,
    #[serde(default)]
    pub held_queued: u64,
    /// Hosts with nothing but retries and revisits that are not due.
    #[serde(default)]
    pub later_hosts: u64,
    #[serde(default)]
    pub later_queued: u64,
    pub causes: Vec<DelayCause>,
    /// The hosts that need longest, longest first.
    pub holding: Vec<HoldingHost>,
    /// What would change it, in sentences.
    pub advice: Vec<String>,
    /// The number of hosts read, if there were more.
    pub of_first: Option<u64>,
    /// What was lost on the way to the rate that is reached; none of a crawl at rest.
    #[serde(default)]
    pub pace: Option<PaceView>,
}

/// What decides the delay of hosts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DelayCause {
    /// `delay`, `delay_factor` or `crawl_delay`.
    pub cause: String,
    pub hosts: u64,
    pub queued: u64,
    pub pages_per_s: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HoldingHost {
    pub host: String,
    pub queued: u64,
    pub delay_s: f64,
    pub cause: String,
    pub needs_s: f64,
    /// Of all that waits.
    pub share: f64,
}

/// From the start of a request to the start of the next.
pub fn period(polite: &Polite, host: &HostRecord) -> Span {
    Span(polite::delay(polite, host).0.saturating_add(host.last_took.0))
}

/// Which of the three delays is the greatest.
pub fn cause(polite: &Polite, host: &HostRecord) -> &'static str {
    let decided = polite::delay(polite, host);
    if decided == polite.delay {
        "delay"
    } else if host.crawl_delay.is_some_and(|asked| asked.min(polite.delay_max) == decided) {
        "crawl_delay"
    } else {
        "delay_factor"
    }
}

/// Whether a host with URLs that wait may be asked for them, its delay apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkStanding {
    Works,
    /// It fails, and is left alone.
    Fails,
    /// It rests for another reason: its hours, or its site's share of names.
    Held,
    /// Nothing of it is due: retries and revisits.
    Later,
}

pub fn standing(record: &HostRecord, now: Time) -> WorkStanding {
    match record.sleep {
        Some(SleepPlace::Resting { .. }) if record.failing.is_some() => WorkStanding::Fails,
        Some(SleepPlace::Resting { due, .. }) if due > now => WorkStanding::Held,
        // One that sleeps out a long delay is due when that is over.
        Some(SleepPlace::Later { due, .. }) if due > now.max(record.not_before) => {
            WorkStanding::Later
        }
        _ => WorkStanding::Works,
    }
}

pub fn read(reader: &LocalReader, polite: &Polite, now: Time) -> Result<SpeedView, Error> {
    let mut view = SpeedView::default();
    let mut causes: Vec<DelayCause> = Vec::new();
    view.of_first = each_host(reader, |key, record| {
        if record.queued == 0 {
            return;
        }
        let apart = match standing(record, now) {
            WorkStanding::Works => None,
            WorkStanding::Fails => Some((&mut view.resting_hosts, &mut view.resting_queued)),
            WorkStanding::Held => Some((&mut view.held_hosts, &mut view.held_queued)),
            WorkStanding::Later => Some((&mut view.later_hosts, &mut view.later_queued)),
        };
        if let Some((hosts, queued)) = apart {
            (*hosts, *queued) = (*hosts + 1, *queued + record.queued);
            return;
        }
        let seconds = period(polite, record).as_secs_f64().max(1e-6);
        let why = cause(polite, record);
        view.hosts_with_work += 1;
        view.queued += record.queued;
        view.ceiling_per_s += 1.0 / seconds;
        let at = causes.iter().position(|cause| cause.cause == why).unwrap_or_else(|| {
            causes.push(DelayCause { cause: why.to_owned(), ..DelayCause::default() });
            causes.len() - 1
        });
        causes[at].hosts += 1;
        causes[at].queued += record.queued;
        causes[at].pages_per_s += 1.0 / seconds;
        let wait = record.not_before.since(now).as_secs_f64();
        let needs_s = wait + record.queued as f64 * seconds;
        if view.holding.len() < HOLDING_MAX
            || view.holding.last().is_some_and(|l| l.needs_s < needs_s)
        {
            let place = view.holding.partition_point(|other| other.needs_s >= needs_s);
            let holding = HoldingHost {
                host: key.origin(),
                queued: record.queued,
                delay_s: polite::delay(polite, record).as_secs_f64(),
                cause: why.to_owned(),
                needs_s,
                share: 0.0,
            };
            view.holding.insert(place, holding);
            view.holding.truncate(HOLDING_MAX);
        }
    })?;
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.queued));
    view.causes = causes;
    view.needs_s = view.holding.first().map_or(0.0, |slowest| slowest.needs_s);
    for host in &mut view.holding {
        host.share = host.queued as f64 / view.queued.max(1) as f64;
    }
    view.advice = advice(&view, polite);
    Ok(view)
}

/// What an owner could do, and what it would buy.
fn advice(view: &SpeedView, polite: &Polite) -> Vec<String> {
    let mut advice = Vec::new();
    let of = |cause: &str| view.causes.iter().find(|known| known.cause == cause);
    if view.hosts_with_work == 0 {
        if view.resting_hosts > 0 {
            advice.push(format!(
                "only hosts that fail have work: {} at {} of them; the next run tries them at once",
                counted(view.resting_queued, "URL waits", "URLs wait"),
                view.resting_hosts
            ));
        }
        return advice;
    }
    if let Some(held) = of("delay").filter(|_| polite.delay > Span::ZERO) {
        advice.push(format!(
            "half of --delay {} s would allow {:.1} pages/s more at {} hosts: only where the owner \
             agrees",
            polite.delay.as_secs_f64(),
            held.pages_per_s,
            held.hosts
        ));
    }
    if let Some(held) = of("delay_factor") {
        advice.push(format!(
            "{} hosts answer slowly: --delay-factor {} holds {} URLs to {:.2} pages/s",
            held.hosts, polite.delay_factor, held.queued, held.pages_per_s
        ));
    }
    if let Some(held) = of("crawl_delay") {
        advice.push(format!(
            "{} hosts ask for a longer delay in robots.txt (Crawl-delay): {} URLs at {:.2} pages/s",
            held.hosts, held.queued, held.pages_per_s
        ));
    }
    if let Some(slowest) = view.holding.first().filter(|host| host.share > 0.5) {
        advice.push(format!(
            "{} holds {:.0} % of the queue: other seeds would be fetched beside it at no cost",
            slowest.host,
            100.0 * slowest.share
        ));
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_that_decides_is_named() {
        let polite = Polite::default();
        let host = |took_ms, crawl_delay| HostRecord {
            last_took: Span::millis(took_ms),
            crawl_delay,
            ..HostRecord::default()
        };
        assert_eq!(cause(&polite, &host(10, None)), "delay");
        assert_eq!(cause(&polite, &host(900, None)), "delay_factor");
        assert_eq!(cause(&polite, &host(10, Some(Span::secs(30)))), "crawl_delay");
        assert_eq!(period(&polite, &host(10, None)), Span::millis(1010));
    }
}
