//! What a URL is to the certified graph: outside of it, waiting, crawled, or lost and why.

use crate::queue::Place;
use crate::record::{RecordStatus, Refusal, UrlRecord};

/// Residual mass is summed by standing, so the order of the variants is that of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MassStanding {
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

impl MassStanding {
    pub const ALL: [MassStanding; 15] = [
        MassStanding::Nobody,
        MassStanding::Outside,
        MassStanding::Waiting,
        MassStanding::Fetched,
        MassStanding::Linked,
        MassStanding::Dangling,
        MassStanding::Robots,
        MassStanding::Depth,
        MassStanding::Budget,
        MassStanding::Trap,
        MassStanding::Redirects,
        MassStanding::Failed,
        MassStanding::Gone,
        MassStanding::Foreign,
        MassStanding::LeftOut,
    ];

    /// Those that lose what reaches them.
    pub const LOST: [MassStanding; 8] = [
        MassStanding::Robots,
        MassStanding::Depth,
        MassStanding::Budget,
        MassStanding::Trap,
        MassStanding::Redirects,
        MassStanding::Failed,
        MassStanding::Gone,
        MassStanding::LeftOut,
    ];

    pub fn is_crawled(self) -> bool {
        matches!(self, MassStanding::Fetched | MassStanding::Linked | MassStanding::Dangling)
    }

    /// What a record says; what pages are shown with and no link may lead to is outside.
    pub fn of_url(record: &UrlRecord) -> MassStanding {
        match record.role.is_outside_requisite() && record.status != RecordStatus::Foreign {
            true => MassStanding::Outside,
            false => MassStanding::of(record.status),
        }
    }

    /// What a record says, of a URL that was never answered with a page.
    pub fn of(status: RecordStatus) -> MassStanding {
        match status {
            RecordStatus::Queued => MassStanding::Waiting,
            RecordStatus::Fetched | RecordStatus::Duplicate | RecordStatus::Moved => {
                MassStanding::Fetched
            }
            RecordStatus::Gone => MassStanding::Gone,
            RecordStatus::Foreign => MassStanding::Foreign,
            RecordStatus::Failed(_) => MassStanding::Failed,
            RecordStatus::Refused(Refusal::Scope | Refusal::Filter) => MassStanding::Outside,
            RecordStatus::Refused(why) if why.is_junk() => MassStanding::Outside,
            RecordStatus::Refused(Refusal::Robots) => MassStanding::Robots,
            RecordStatus::Refused(Refusal::Depth) => MassStanding::Depth,
            RecordStatus::Refused(Refusal::HostBudget | Refusal::Sitemaps) => MassStanding::Budget,
            RecordStatus::Refused(Refusal::Trap | Refusal::Pattern) => MassStanding::Trap,
            RecordStatus::Refused(_) => MassStanding::Redirects,
        }
    }

    /// The word used in reports, metrics and documentation.
    pub fn word(self) -> &'static str {
        match self {
            MassStanding::Nobody => "unknown",
            MassStanding::Outside => "outside",
            MassStanding::Waiting => "waiting",
            MassStanding::Fetched => "fetched",
            MassStanding::Linked => "linked",
            MassStanding::Dangling => "dangling",
            MassStanding::Robots => "robots",
            MassStanding::Depth => "depth",
            MassStanding::Budget => "host_budget",
            MassStanding::Trap => "trap",
            MassStanding::Redirects => "redirects",
            MassStanding::Failed => "failed",
            MassStanding::Gone => "gone",
            MassStanding::Foreign => "foreign",
            MassStanding::LeftOut => "left_out",
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
