//! What a URL is to the certified graph: outside of it, waiting, crawled, or lost and why.

use crate::queue::Place;
use crate::record::{Refusal, Status, UrlRecord};

/// Residual mass is summed by standing, so the order of the variants is that of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Standing {
    /// No URL has this number yet, as far as these books know.
    Nobody,
    /// Scope and filters leave it out: no node of the graph, and not counted among links.
    Outside,
    /// To be fetched.
    Waiting,
    /// Fetched; which links it has is not known yet, or not held.
    Fetched,
    /// Fetched, with links.
    Linked,
    /// Fetched, and seen to have none.
    Dangling,
    /// Never fetched, by cause: its links are unknown, so what reaches it is lost.
    Robots,
    Depth,
    Budget,
    Trap,
    Redirects,
    Failed,
    Gone,
    /// Of another partition: what reaches it is to be sent there.
    Foreign,
    /// It waited, and other rules than those that admitted it leave it out. It stays among the
    /// links of pages until the books are opened again, which costs nobody anything but the bound.
    LeftOut,
}

impl Standing {
    pub const ALL: [Standing; 15] = [
        Standing::Nobody,
        Standing::Outside,
        Standing::Waiting,
        Standing::Fetched,
        Standing::Linked,
        Standing::Dangling,
        Standing::Robots,
        Standing::Depth,
        Standing::Budget,
        Standing::Trap,
        Standing::Redirects,
        Standing::Failed,
        Standing::Gone,
        Standing::Foreign,
        Standing::LeftOut,
    ];

    /// Those that lose what reaches them.
    pub const LOST: [Standing; 8] = [
        Standing::Robots,
        Standing::Depth,
        Standing::Budget,
        Standing::Trap,
        Standing::Redirects,
        Standing::Failed,
        Standing::Gone,
        Standing::LeftOut,
    ];

    pub fn is_crawled(self) -> bool {
        matches!(self, Standing::Fetched | Standing::Linked | Standing::Dangling)
    }

    /// What a record says; what pages are shown with and no link may lead to is outside.
    pub fn of_url(record: &UrlRecord) -> Standing {
        match record.role.is_outside_requisite() && record.status != Status::Foreign {
            true => Standing::Outside,
            false => Standing::of(record.status),
        }
    }

    /// What a record says, of a URL that was never answered with a page.
    pub fn of(status: Status) -> Standing {
        match status {
            Status::Queued => Standing::Waiting,
            Status::Fetched | Status::Duplicate | Status::Moved => Standing::Fetched,
            Status::Gone => Standing::Gone,
            Status::Foreign => Standing::Foreign,
            Status::Failed(_) => Standing::Failed,
            Status::Refused(Refusal::Scope | Refusal::Filter) => Standing::Outside,
            Status::Refused(why) if why.is_junk() => Standing::Outside,
            Status::Refused(Refusal::Robots) => Standing::Robots,
            Status::Refused(Refusal::Depth) => Standing::Depth,
            Status::Refused(Refusal::HostBudget | Refusal::Sitemaps) => Standing::Budget,
            Status::Refused(Refusal::Trap | Refusal::Pattern) => Standing::Trap,
            Status::Refused(_) => Standing::Redirects,
        }
    }

    /// The word used in reports, metrics and documentation.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Nobody => "unknown",
            Standing::Outside => "outside",
            Standing::Waiting => "waiting",
            Standing::Fetched => "fetched",
            Standing::Linked => "linked",
            Standing::Dangling => "dangling",
            Standing::Robots => "robots",
            Standing::Depth => "depth",
            Standing::Budget => "host_budget",
            Standing::Trap => "trap",
            Standing::Redirects => "redirects",
            Standing::Failed => "failed",
            Standing::Gone => "gone",
            Standing::Foreign => "foreign",
            Standing::LeftOut => "left_out",
        }
    }
}

/// The class under which a record waits for its first visit; none if it does not.
pub fn filed_class(record: &UrlRecord) -> Option<u8> {
    match record.place {
        Some(Place::Now { class, .. }) => Some(class),
        _ => None,
    }
}
