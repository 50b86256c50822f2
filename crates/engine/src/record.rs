//! A URL's whole life: its record, and each function that gives it another status.
//!
//! A URL is born by [`UrlRecord::new`]: queued, refused, or another partition's.
//! [`UrlRecord::after`] takes it from a visit to the next. Between visits it may be refused, tried
//! or admitted again, given to another partition, or taken down, each by a function of its own.
//! Where it waits then, and what is counted of it, the books write (`books`).

use crate::config::{Config, NearPolicy, Retry};
use crate::discovery::Origin;
use crate::marks::Marks;
use crate::near::Near;
use crate::outcome::{FailKind, FetchReport, Outcome, PageContent, PayloadDigest};
use crate::queue::Place;
use crate::refresh::past::Past;
use crate::time::{Span, Time};
use rhumb_page::url::Url;
use serde::{Deserialize, Serialize};

/// A dense number within the partition, given at admission.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct UrlId(pub u64);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlRecord {
    pub id: UrlId,
    pub status: RecordStatus,
    pub depth: u16,
    pub hops: u8,
    pub class: u8,
    /// Failed tries since the last success.
    pub tries: u8,
    pub http_status: u16,
    pub role: Role,
    pub found_on: FoundOn,
    /// Where it waits, if it waits.
    pub place: Option<Place>,
    pub found: Time,
    pub past: Past,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RecordStatus {
    /// Admitted, not yet answered.
    Queued,
    Fetched,
    /// Fetched; its bytes are those of another URL.
    Duplicate,
    Moved,
    Gone,
    Refused(Refusal),
    Failed(FailKind),
    /// Of another partition, which has its record; this one gives it a number for those that link
    /// to it.
    Foreign,
}

/// What a URL is fetched as.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Role {
    #[default]
    Page,
    /// A sitemap that a robots.txt or another sitemap names. It is no page: it comes before all
    /// pages of its host, counts for no limit on pages, and has a limit of its own.
    Sitemap,
    /// A sitemap that nobody named: `/sitemap.xml`, asked for once. That there is none is no
    /// failure.
    TriedSitemap,
    /// A sitemap beyond the scope, named by a robots.txt within.
    OutsideSitemap,
    /// What a page is shown with, and what is no page; links may lead to it.
    Requisite,
    /// The same, and a stylesheet: what it names in turn is fetched, too.
    Stylesheet,
    /// The same where no link may lead.
    OutsideRequisite,
    OutsideStylesheet,
}

impl Role {
    pub fn is_requisite(self) -> bool {
        use Role::{OutsideRequisite, OutsideStylesheet, Requisite, Stylesheet};
        matches!(self, Requisite | Stylesheet | OutsideRequisite | OutsideStylesheet)
    }

    pub fn is_stylesheet(self) -> bool {
        matches!(self, Role::Stylesheet | Role::OutsideStylesheet)
    }

    /// A requisite that is no part of the web that the owner meant.
    pub fn is_outside_requisite(self) -> bool {
        matches!(self, Role::OutsideRequisite | Role::OutsideStylesheet)
    }

    /// Counted among a host's sitemaps.
    pub fn is_sitemap(self) -> bool {
        self != Role::Page && !self.is_requisite()
    }
}

/// The page on which a URL was found by its present depth, by number. One byte in the store for
/// URLs that no page named: seeds, and sitemaps that robots.txt names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundOn(
    /// The page's number plus one, [`FoundOn::LISTED`] and [`FoundOn::STRANGE`].
    u32,
);

impl FoundOn {
    /// A sitemap or a feed names the URL: its owner vouches for it.
    const LISTED: u32 = 1 << 31;
    /// The page is of another site. Numbers of pages stay below.
    const STRANGE: u32 = 1 << 30;

    pub fn of(origin: Option<Origin>) -> FoundOn {
        let Some(origin) = origin else { return FoundOn::default() };
        let strange = if origin.is_strange() { Self::STRANGE } else { 0 };
        FoundOn(origin.page.saturating_add(1).min(Self::STRANGE - 1) | strange)
    }

    /// A stranger vouches for nothing.
    pub fn listed(self) -> FoundOn {
        if self.is_strange() { self } else { FoundOn(self.0 | Self::LISTED) }
    }

    pub fn is_strange(self) -> bool {
        self.0 & Self::STRANGE != 0
    }

    pub fn is_listed(self) -> bool {
        self.0 & Self::LISTED != 0
    }

    pub fn page(self) -> Option<UrlId> {
        (self.0 & (Self::STRANGE - 1)).checked_sub(1).map(|page| UrlId(u64::from(page)))
    }
}

/// Why we do not fetch a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Refusal {
    Scope,
    Filter,
    Depth,
    HostBudget,
    Trap,
    Hops,
    Robots,
    /// A sitemap too many: of its host, or one behind the other.
    Sitemaps,
    /// Its pattern has brought nothing new, often enough.
    Pattern,
    /// Junk by its name: `traps::junk`, and `docs/lab/traps.md`.
    WikiView,
    Feed,
    Api,
    ListOrder,
    Snapshot,
    Login,
    Reply,
    /// A collection of files, by its name or by its type.
    Archive,
    /// Its head says that it is of a type that is not wanted.
    MediaType,
    /// Its head says that its body is longer than the owner takes.
    Size,
    /// The owner had it taken down.
    Forgotten,
    /// Its site has more hosts than its pages are worth (`shares`). No URL is refused for that: its
    /// host is held back, and looked at again.
    Names,
    /// Its site has had its budget of pages or bytes (`site_budget`). No URL is refused for that,
    /// either.
    SiteBudget,
}

impl Refusal {
    pub const ALL: [Refusal; 22] = [
        Refusal::Scope,
        Refusal::Filter,
        Refusal::Depth,
        Refusal::HostBudget,
        Refusal::Trap,
        Refusal::Hops,
        Refusal::Robots,
        Refusal::Sitemaps,
        Refusal::Pattern,
        Refusal::WikiView,
        Refusal::Feed,
        Refusal::Api,
        Refusal::ListOrder,
        Refusal::Snapshot,
        Refusal::Login,
        Refusal::Reply,
        Refusal::Archive,
        Refusal::MediaType,
        Refusal::Size,
        Refusal::Forgotten,
        Refusal::Names,
        Refusal::SiteBudget,
    ];

    /// Only an answer's head tells: whether the rule still refuses it, another request must show.
    pub fn is_of_head(self) -> bool {
        matches!(self, Refusal::Archive | Refusal::MediaType | Refusal::Size)
    }

    /// A rule against traps and junk: the owner can lift it by its name.
    pub fn is_liftable(self) -> bool {
        let is_of_hosts = matches!(self, Refusal::Names | Refusal::SiteBudget);
        is_of_hosts || matches!(self, Refusal::Trap | Refusal::Pattern) || self.is_junk()
    }

    /// Junk is no part of the web that the owner meant.
    pub fn is_junk(self) -> bool {
        matches!(
            self,
            Refusal::WikiView
                | Refusal::Feed
                | Refusal::Api
                | Refusal::ListOrder
                | Refusal::Snapshot
                | Refusal::Login
                | Refusal::Reply
                | Refusal::Archive
        )
    }

    pub fn word(self) -> &'static str {
        match self {
            Refusal::Scope => "scope",
            Refusal::Filter => "filter",
            Refusal::Depth => "depth",
            Refusal::HostBudget => "host_budget",
            Refusal::Trap => "trap",
            Refusal::Hops => "redirects",
            Refusal::Robots => "robots",
            Refusal::Sitemaps => "sitemap_limit",
            Refusal::Pattern => "pattern",
            Refusal::WikiView => "wiki_view",
            Refusal::Feed => "feed",
            Refusal::Api => "api",
            Refusal::ListOrder => "list_order",
            Refusal::Snapshot => "snapshot",
            Refusal::Login => "login",
            Refusal::Reply => "reply",
            Refusal::Archive => "archive",
            Refusal::MediaType => "media_type",
            Refusal::Size => "size",
            Refusal::Forgotten => "forgotten",
            Refusal::Names => "names",
            Refusal::SiteBudget => "site_budget",
        }
    }
}

/// What is known of a page with the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    pub url: Url,
    /// When it was fetched: the date of its record.
    pub kept: Time,
    /// All zero of a page whose body is not in the archive.
    pub payload: PayloadDigest,
}

impl Twin {
    /// The archive has a record that a revisit can refer to.
    pub fn is_kept(&self) -> bool {
        self.payload != PayloadDigest::default()
    }
}

/// When to visit again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Never,
    At(Time),
}

impl UrlRecord {
    pub fn new(id: UrlId, status: RecordStatus, depth: u16, hops: u8, now: Time) -> UrlRecord {
        UrlRecord {
            id,
            status,
            depth,
            hops,
            class: 0,
            tries: 0,
            http_status: 0,
            role: Role::Page,
            found_on: FoundOn::default(),
            place: None,
            found: now,
            past: Past::default(),
        }
    }

    /// A rule leaves it out.
    pub fn refused(self, why: Refusal) -> UrlRecord {
        UrlRecord { status: RecordStatus::Refused(why), ..self }
    }

    /// It failed, or robots forbade it, and is asked for again with so many tries behind it. It
    /// left the calendar of revisits.
    pub fn tried_again(mut self, tries: u8) -> UrlRecord {
        (self.status, self.tries) = (RecordStatus::Queued, tries);
        self.past.learnt = None;
        self
    }

    /// A rule refused it, and no rule does any more, by this way.
    pub fn readmitted(self, depth: u16, hops: u8) -> UrlRecord {
        UrlRecord { status: RecordStatus::Queued, depth, hops, ..self }
    }

    /// It is another partition's; what became of it before is that one's matter.
    pub fn given_away(self) -> UrlRecord {
        UrlRecord { status: RecordStatus::Foreign, ..self }
    }

    /// The owner had it taken down: no visit is on record any more.
    pub fn taken_down(self) -> UrlRecord {
        let past = Past::default();
        UrlRecord { past, tries: 0, http_status: 0, ..self.refused(Refusal::Forgotten) }
    }

    /// The page whose bytes it has was taken down: it stands by itself.
    pub fn no_duplicate(mut self) -> UrlRecord {
        self.past.duplicate_of = None;
        if self.status == RecordStatus::Duplicate {
            self.status = RecordStatus::Fetched;
        }
        self
    }

    /// The record after a visit, and the next one. A failure or a 304 never erases what was
    /// learnt; the status tells the last outcome, the digest and validators the last success.
    pub fn after(
        mut self,
        report: &FetchReport,
        twin: Option<&Twin>,
        near: Option<&Near>,
        now: Time,
        config: &Config,
    ) -> (UrlRecord, Next) {
        self.place = None;
        self.http_status = report.status;
        let next = match &report.outcome {
            Outcome::Page(page) => self.after_page(page, (twin, near), now, config),
            Outcome::Unchanged => {
                self.answered(now);
                // A 304 to a URL we never held is a server's mistake; it is answered all the same.
                let is_copy = self.past.content.is_some() && self.past.duplicate_of.is_some();
                self.status = if is_copy { RecordStatus::Duplicate } else { RecordStatus::Fetched };
                revisit(now, config)
            }
            Outcome::Moved { .. } => {
                self.answered(now);
                self.status = RecordStatus::Moved;
                revisit(now, config)
            }
            Outcome::Gone => {
                self.answered(now);
                self.status = RecordStatus::Gone;
                revisit(now, config)
            }
            Outcome::Busy { retry_after, kind } => {
                self.after_failure(*kind, *retry_after, now, config)
            }
            Outcome::Failed(kind) => self.after_failure(*kind, None, now, config),
            Outcome::Cut { kind, content, marks, .. } => {
                if self.past.visited.is_none() {
                    self.past.content = Some(*content);
                    self.past.marks = *marks | Marks::TRUNCATED;
                }
                self.after_failure(*kind, None, now, config)
            }
            Outcome::Robots(_) => unreachable!("robots answers belong to hosts, not to URLs"),
            Outcome::Unwanted(_) => unreachable!("what is not wanted is refused, not visited"),
            Outcome::Crowded => unreachable!("what there was no room for is put back"),
        };
        (self, next)
    }

    /// What to make of an answer. A page whose body ended early is asked for again, as often as one
    /// that failed, unless it came no longer than the time before: then that is all there is, as
    /// where a server announces too much. A page that we hold whole is not exchanged for a part.
    pub fn weigh(&self, outcome: Outcome, retry: &Retry) -> Outcome {
        let Outcome::Page(page) = outcome else { return outcome };
        let Some(kind) = page.cut else { return Outcome::Page(page) };
        let holds_whole = self.past.visited.is_some() && !self.past.marks.has(Marks::TRUNCATED);
        let is_as_before = self.past.content == Some(page.content);
        let is_last = !kind.is_passing() || self.tries + 1 >= retry.tries_max;
        match !holds_whole && (is_as_before || is_last) {
            true => Outcome::Page(page),
            false => {
                let PageContent { content, marks, found, .. } = *page;
                Outcome::Cut { kind, content, marks, found }
            }
        }
    }

    fn answered(&mut self, now: Time) {
        self.past.visits = self.past.visits.saturating_add(1);
        self.past.visited = Some(now);
        self.tries = 0;
    }

    fn after_page(
        &mut self,
        page: &PageContent,
        (twin, near): (Option<&Twin>, Option<&Near>),
        now: Time,
        config: &Config,
    ) -> Next {
        self.answered(now);
        let has_changed = self.past.content != Some(page.content);
        if has_changed || self.past.changed.is_none() {
            self.past.changed = Some(now);
        }
        // The same bytes as at the last visit resemble what they resembled then.
        if has_changed || near.is_some() || twin.is_some() {
            self.past.near = near.cloned();
        }
        self.past.content = Some(page.content);
        self.past.marks = page.marks;
        self.past.etag.clone_from(&page.etag);
        self.past.last_modified.clone_from(&page.last_modified);
        let is_skipped = near.is_some() && config.near.policy == NearPolicy::Skip;
        if is_skipped || page.cut.is_some() {
            // Not kept, or not whole: were it not modified, there would be nothing to refer to, and
            // the rest would never come.
            (self.past.etag, self.past.last_modified) = (None, None);
        }
        self.past.duplicate_of = twin.map(|t| t.url.clone());
        self.status = if twin.is_some() { RecordStatus::Duplicate } else { RecordStatus::Fetched };
        revisit(now, config)
    }

    fn after_failure(
        &mut self,
        kind: FailKind,
        retry_after: Option<Span>,
        now: Time,
        config: &Config,
    ) -> Next {
        self.tries = self.tries.saturating_add(1);
        if kind.is_passing() && self.tries < config.retry.tries_max {
            self.status = RecordStatus::Queued;
            return Next::At(now + back_off(&config.retry, u16::from(self.tries), retry_after));
        }
        self.tries = 0;
        self.status = RecordStatus::Failed(kind);
        match self.past.visited {
            // A page that we hold stays on the calendar: it may come back.
            Some(_) => revisit(now, config),
            None => Next::Never,
        }
    }
}

/// Exponential in the failures so far; a server's own wish is obeyed up to a limit.
pub fn back_off(retry: &Retry, failures: u16, retry_after: Option<Span>) -> Span {
    let doubled = retry.wait_min.doubled(u32::from(failures.saturating_sub(1))).min(retry.wait_max);
    match retry_after {
        Some(wish) => doubled.max(wish.min(retry.retry_after_max)),
        None => doubled,
    }
}

fn revisit(now: Time, config: &Config) -> Next {
    match config.revisit_after {
        Some(span) => Next::At(now + span),
        None => Next::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_waits_takes_64_bytes_besides_its_address() {
        assert_eq!(size_of::<UrlRecord>(), 64);
    }
}
