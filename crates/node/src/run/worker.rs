//! Workers: what tasks do for one URL or one name, and how the loop is told.

use super::address_turns::AddressTurns;
use super::archive::resource_type_of;
use super::clock::Clock;
use super::fetch_tasks::unharmed;
use super::held_bodies::{Bytes, Held, HeldBodies};
use super::permit::Permit;
use super::reading::{PageReader, report_failure};
use super::work_times::{Work, WorkTimes};
use crate::extract::WhileCrawling;
use rhumb_archive::{Capture, Packed, Packer};
use rhumb_engine::event::{Event, FetchOrder, Purpose, ResolvedName};
use rhumb_engine::marks::Marks;
use rhumb_engine::outcome::{FailKind, FetchReport, Outcome, of_failure};
use rhumb_engine::record::Refusal;
use rhumb_engine::screen::{HeadFacts, Screen};
use rhumb_engine::time::{Span, Time};
use rhumb_fetch::address::all_permitted;
use rhumb_fetch::dns::{DnsFailureKind, Resolver};
use rhumb_fetch::head::HeadBytes;
use rhumb_fetch::proxy::{ResolvedBy, is_localhost, stand_in};
use rhumb_fetch::{
    FailureKind, Fetch as _, FetchFailure, FetchLimits, FetchRequest, Fetcher, HeadScreen,
    RequestLeave, Response, Truncation, Validators,
};
use rhumb_page::media::{self, MediaKind, SNIFF_BYTES_MAX};
use rhumb_page::robots::ROBOTS_BYTES_MAX;
use rhumb_page::sitemap::UNPACKED_BYTES_MAX;
use rhumb_page::url::{HostKey, Scheme};
use rhumb_state::local::LocalReader;
use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;
use tokio::sync::Semaphore;

/// Bodies above this are read on a thread that may be kept busy.
const INLINE_BYTES_MAX: usize = 256 << 10;

/// A body that is not coded is read alone above this size, and one that is above a 128th of it: a
/// page of a megabyte is coded in less.
const UNFOLDED_BYTES_MIN: usize = 16 << 20;

/// A name that is left to a proxy is looked up here again after so long.
const LEFT_TO_PROXY: Span = Span::secs(600);

pub struct Workers {
    pub fetcher: Arc<Fetcher>,
    pub resolver: Arc<Resolver>,
    /// Of several partitions that share addresses.
    pub turns: Option<Arc<AddressTurns>>,
    /// Of a partition that others may take over.
    pub permit: Option<Permit>,
    pub reader: PageReader,
    /// Says which links lead to what is known, where links are followed.
    pub known: Option<LocalReader>,
    /// URLs may move up when a link to them is seen, so their addresses are wanted.
    pub follows_importance: bool,
    pub bodies: Arc<HeldBodies>,
    pub clock: Clock,
    pub limits: FetchLimits,
    /// What is wanted of pages.
    pub screen: Arc<Screen>,
    pub allow_private: bool,
    /// Compression level of the archive; none if there is no archive.
    pub level: Option<i32>,
    /// Large bodies between reading and keeping: each may unfold to its full decoded limit, and
    /// name as many URLs as a page may have.
    pub large: Arc<Semaphore>,
    /// One permit: what may unfold to tens of megabytes is read alone, so that two bombs take no
    /// more memory than one.
    pub unfolding: Arc<Semaphore>,
    pub events: Sender<Event>,
    /// Where the time goes.
    pub times: Arc<WorkTimes>,
    /// Makes rows of what pages say, if that is asked for.
    pub rows: Option<Arc<WhileCrawling>>,
}

thread_local! {
    /// A compressor is large and worth keeping.
    static PACKER: RefCell<Option<(i32, Packer)>> = const { RefCell::new(None) };
}

impl Workers {
    /// Fetches a URL; what the loop is to be told of it.
    pub async fn fetch(&self, fetch: FetchOrder) -> Event {
        let request = self.request(&fetch);
        let Some((fetched, (at, began))) = self.fetch_when_permitted(&fetch, &request).await else {
            // Nobody listens: the partition has ended here.
            let outcome = of_failure(fetch.purpose, FailKind::Internal);
            let at = self.clock.date();
            let report =
                FetchReport { outcome, status: 0, bytes: 0, at, took: Span::ZERO, held: false };
            return Event::Fetched { fetch: fetch.id, report };
        };
        let mut parses = Instant::now();
        let mut report = match fetched {
            Ok(response) if response.truncated == Some(Truncation::Unwanted) => {
                self.unwanted(&fetch, &response, at)
            }
            Ok(response) if self.is_long_work(&response) => {
                let _alone = match may_unfold(&response) {
                    true => self.unfolding.acquire().await.ok(),
                    false => None,
                };
                let turn = Arc::clone(&self.large).acquire_owned().await.ok();
                self.bodies.occupy(fetch.id, turn);
                self.times.add(Work::Large, parses);
                parses = Instant::now();
                tokio::task::block_in_place(|| self.took(&fetch, response, at))
            }
            Ok(response) => self.took(&fetch, response, at),
            Err(failure) => self.failed(&fetch, failure, at),
        };
        if let Outcome::Page(page) = &mut report.outcome {
            // On the engine's clock, as all times in records are.
            let steady = |date: Time| Time((date.0 + began.0).saturating_sub(at.0));
            page.modified = page.modified.map(steady);
            if let Some(known) = &self.known {
                known.set_known_apart(page, fetch.depth, self.follows_importance);
            }
        }
        self.times.add(Work::Parsing, parses);
        tracing::debug!(url = %fetch.url, status = report.status, bytes = report.bytes, "fetched");
        Event::Fetched { fetch: fetch.id, report }
    }

    /// Fetches in its turn, and when it may; what came of it, and when it began, as records are
    /// dated and as the engine counts. None if the time for it will never come.
    async fn fetch_when_permitted(
        &self,
        fetch: &FetchOrder,
        request: &FetchRequest,
    ) -> Option<(Result<Response, FetchFailure>, (Time, Time))> {
        loop {
            if let Some(permit) = &self.permit
                && !permit.wait().await
            {
                return None;
            }
            let waits = Instant::now();
            let turn = match &self.turns {
                Some(turns) if fetch.url.scheme() != Scheme::File => {
                    Some(turns.enter(fetch.address).await)
                }
                _ => None,
            };
            self.times.add(Work::AddressTurn, waits);
            let began = (self.clock.date(), self.clock.now());
            let under_way = Instant::now();
            let fetched = self.fetcher.fetch(request).await;
            self.times.add(Work::Network, under_way);
            drop(turn);
            if !matches!(&fetched, Err(failure) if failure.kind == FailureKind::Withheld) {
                return Some((fetched, began));
            }
        }
    }

    fn request(&self, fetch: &FetchOrder) -> FetchRequest {
        let mut limits = self.limits.clone();
        if fetch.purpose == Purpose::Robots {
            limits.body_bytes_max = limits.body_bytes_max.min(ROBOTS_BYTES_MAX);
            limits.decoded_bytes_max = limits.decoded_bytes_max.min(ROBOTS_BYTES_MAX);
        }
        if fetch.purpose == Purpose::Sitemap {
            // No larger than the protocol has them.
            limits.body_bytes_max = limits.body_bytes_max.min(UNPACKED_BYTES_MAX);
        }
        let bytes = |text: &Option<Box<str>>| text.as_ref().map(|t| t.as_bytes().to_vec());
        FetchRequest {
            url: fetch.url.clone(),
            address: (fetch.url.scheme() != Scheme::File).then_some(fetch.address),
            validators: Validators {
                etag: bytes(&fetch.etag),
                last_modified: bytes(&fetch.last_modified),
            },
            limits,
            screen: self.head_screen(fetch),
            leave: self.permit.clone().map(|permit| RequestLeave::new(move || permit.is_given())),
        }
    }

    pub fn tell(&self, event: Event) {
        // The loop has ended if nobody listens: nothing is lost that was promised.
        let _ = self.events.send(event);
    }

    /// Asked for pages, while their bodies are still to come.
    fn head_screen(&self, fetch: &FetchOrder) -> Option<HeadScreen> {
        let is_named = fetch.depth == 0;
        let screen = Arc::clone(&self.screen);
        (fetch.purpose == Purpose::Page)
            .then(|| HeadScreen::new(move |head| screens(&screen, head, is_named).is_ok()))
    }

    /// The body was not wanted: none of it was read, and nothing is kept.
    fn unwanted(&self, fetch: &FetchOrder, response: &Response, at: Time) -> FetchReport {
        let why = screens(&self.screen, response.head(), fetch.depth == 0);
        let outcome = match why {
            Err(why) => Outcome::Unwanted(why),
            Ok(()) => Outcome::Failed(FailKind::Internal),
        };
        FetchReport {
            outcome,
            status: response.status,
            bytes: response.raw.len() as u64,
            at,
            took: Span(response.took.as_micros() as u64),
            held: false,
        }
    }

    /// Reads a response, packs it if it will most likely be kept, and holds it.
    fn took(&self, fetch: &FetchOrder, response: Response, at: Time) -> FetchReport {
        let (mut report, row) = self.reader.report(fetch, &response, at, self.rows.as_deref());
        let Some(level) = self.level else {
            if let (Some(rows), Some(row)) = (&self.rows, row) {
                // A writer that has failed says why when it is put away.
                let _ = rows.keep(row, None);
            }
            return FetchReport { held: false, ..report };
        };
        let marks = match &report.outcome {
            Outcome::Page(page) => page.marks,
            _ => Marks::NONE,
        };
        let packed = match report.outcome {
            Outcome::Unchanged => None,
            _ => Some(pack(level, fetch, &response, at, marks)),
        };
        if let (Outcome::Page(page), Some(packed)) = (&mut report.outcome, &packed) {
            page.payload = packed.payload_digest.0;
        }
        if !report.held {
            return report;
        }
        let bytes = Bytes::Response(Box::new(response));
        let (url, depth) = (fetch.url.clone(), fetch.depth);
        let resource_type = resource_type_of(fetch.purpose);
        let held = Held { url, at, bytes, packed, depth, resource_type, marks, row };
        self.bodies.hold(fetch.id, held);
        report
    }

    /// Whether a response is better read on a thread that may be kept busy. A document that is
    /// read in a process of its own is waited for, however small and coded it is.
    fn is_long_work(&self, response: &Response) -> bool {
        let is_contained = || {
            let start = response.decoded_start(SNIFF_BYTES_MAX);
            media::kind(response.head().content_type().as_deref(), &start.bytes) == MediaKind::Pdf
        };
        is_large(response) || (self.rows.is_some() && is_contained())
    }

    fn failed(&self, fetch: &FetchOrder, failure: FetchFailure, at: Time) -> FetchReport {
        tracing::debug!(url = %fetch.url, kind = failure.kind.as_str(), detail = %failure.detail,
            "failed");
        let report = report_failure(fetch.purpose, &failure, at);
        if self.level.is_none() || !report.held {
            return FetchReport { held: false, ..report };
        }
        let FetchFailure { raw_request: request, raw: response, address, .. } = failure;
        let bytes = Bytes::Strange { request, response, address };
        let (url, depth) = (fetch.url.clone(), fetch.depth);
        let (packed, marks, row) = (None, Marks::NONE, None);
        let resource_type = resource_type_of(fetch.purpose);
        let held = Held { url, at, bytes, packed, depth, resource_type, marks, row };
        self.bodies.hold(fetch.id, held);
        report
    }

    pub async fn resolve(self: Arc<Self>, host: HostKey) {
        let answer = unharmed(self.address(&host)).await.unwrap_or(Err(FailKind::Internal));
        self.tell(Event::Resolved { host, answer });
    }

    async fn address(&self, host: &HostKey) -> Result<ResolvedName, FailKind> {
        if host.scheme() == Scheme::File {
            // The disk has no address; one that nothing else uses stands for it.
            let ips = vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)];
            return Ok(ResolvedName { ips, until: Time(u64::MAX) });
        }
        let by =
            host.robots_url().map_or(ResolvedBy::Us, |url| self.fetcher.http.resolved_by(&url));
        if by == ResolvedBy::Proxy {
            return self.left_to_proxy(host);
        }
        let resolved = match self.resolver.resolve(&host.host()).await {
            Ok(resolved) => resolved,
            Err(_) if by == ResolvedBy::UsOrProxy => return self.left_to_proxy(host),
            Err(failure) => {
                tracing::debug!(host = %host.as_str(), %failure, "not resolved");
                return Err(match failure.kind {
                    DnsFailureKind::NotFound | DnsFailureKind::NoAddress => FailKind::DnsNotFound,
                    DnsFailureKind::Refused | DnsFailureKind::Temporary => FailKind::DnsTemporary,
                });
            }
        };
        let ips = all_permitted(&resolved.addresses, self.allow_private).map_err(|why| {
            tracing::debug!(host = %host.as_str(), ?why, "address refused");
            FailKind::AddressRefused
        })?;
        // At least long enough for one request, however soon the name expires.
        let holds = Span(resolved.expires_in.as_micros() as u64).max(Span::secs(1));
        Ok(ResolvedName { ips, until: self.clock.now() + holds })
    }
}

impl Workers {
    /// The address of a name that only the proxy knows: one that stands for its site.
    fn left_to_proxy(&self, host: &HostKey) -> Result<ResolvedName, FailKind> {
        if is_localhost(&host.host()) && !self.allow_private {
            return Err(FailKind::AddressRefused);
        }
        let ips = vec![stand_in(host.site().as_str())];
        Ok(ResolvedName { ips, until: self.clock.now() + LEFT_TO_PROXY })
    }
}

/// What the engine's rules say of a head.
fn screens(screen: &Screen, head: HeadBytes<'_>, is_named: bool) -> Result<(), Refusal> {
    let content_type = head.content_type();
    let length = head.get("content-length").and_then(|value| str::from_utf8(value).ok());
    let facts = HeadFacts {
        status: head.status().unwrap_or(0),
        content_type: content_type.as_deref(),
        content_length: length.and_then(|value| value.trim().parse().ok()),
    };
    screen.admit(facts, is_named)
}

/// What may be long to read or full of links. A coded body is larger than it looks.
fn is_large(response: &Response) -> bool {
    let bytes_max = match response.head().content_encoding().is_empty() {
        true => INLINE_BYTES_MAX,
        false => INLINE_BYTES_MAX / 8,
    };
    response.raw.len() > bytes_max
}

/// What is, or may become when it is decoded, many times the size of a page.
fn may_unfold(response: &Response) -> bool {
    let bytes_max = match response.head().content_encoding().is_empty() {
        true => UNFOLDED_BYTES_MIN,
        false => UNFOLDED_BYTES_MIN / 128,
    };
    response.raw.len() > bytes_max
}

fn pack(level: i32, fetch: &FetchOrder, response: &Response, at: Time, marks: Marks) -> Packed {
    PACKER.with_borrow_mut(|slot| {
        let packer = match slot {
            Some((l, packer)) if *l == level => packer,
            _ => &mut slot.insert((level, Packer::new(level))).1,
        };
        let notes = super::archive::notes(fetch.depth, Some(response), marks);
        let notes: Vec<(&'static str, &str)> =
            notes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        packer.capture(&Capture {
            protocol: super::archive::protocol_of(response),
            resource_type: resource_type_of(fetch.purpose),
            url: &fetch.url,
            fetched_us: at.0,
            address: response.address,
            content: super::archive::content_of(&fetch.url, response),
            truncated: response.truncated.map(super::archive::truncation),
            notes: &notes,
        })
    })
}
