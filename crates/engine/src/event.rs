//! What comes into the engine and what goes out of it.

use crate::allowance::Allowance;
use crate::ceilings::Ceilings;
use crate::counters::Counters;
use crate::discovery::{Chunk, Discovery};
use crate::hands::{Hand, HandLine};
use crate::host::HostRecord;
use crate::log::LogEntry;
use crate::mass::{LinkPart, SettledRow};
use crate::near::{Leader, LeaderId, Likeness, Near};
use crate::order::LinkModel;
use crate::outbound::{Message, SequenceNumbers};
use crate::outcome::{ContentDigest, FailKind, FetchReport};
use crate::queue::{Entry, Place, Section, SleepPlace, Sleeper};
use crate::record::{Twin, UrlId, UrlRecord};
use crate::refresh::scheduler::Scheduler;
use crate::requisites::RequisiteCounters;
use crate::review::{ReviewWanted, RulesFingerprint};
use crate::time::Time;
use rhumb_neardup::Sketch;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url, UrlKey};
use std::net::IpAddr;
use std::sync::Arc;

/// Names one fetch of this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchId(pub u64);

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The owner named seeds, each with the weight of the owner's trust in it.
    Seeded {
        seeds: Vec<(Discovery, f64)>,
    },
    Fetched {
        fetch: FetchId,
        report: FetchReport,
    },
    Resolved {
        host: HostKey,
        answer: Result<ResolvedName, FailKind>,
    },
    Answered(Answer),
    /// Another partition sent this, perhaps not for the first time.
    Delivered {
        from: u32,
        number: u64,
        message: Arc<Message>,
    },
    /// Another partition has all our messages up to this one on record.
    Acknowledged {
        by: u32,
        number: u64,
    },
    /// One of several may use so much of the crawl's limits.
    Allowed(Allowance),
    /// The owner asked for something.
    Told(Hand),
    /// How far this partition may go from now on.
    Bounded(Ceilings),
    /// Finish what is in flight and begin nothing more.
    Stopped(StopReason),
    /// Time has passed.
    Tick,
}

/// The addresses of a name, those to be tried first at the front, and how long they are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedName {
    pub ips: Vec<IpAddr>,
    pub until: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    Finished,
    /// Only hosts that fail have work.
    HostsFailing,
    Pages,
    Bytes,
    Time,
    /// The proven coverage is what the owner asked for.
    Coverage,
    /// Too much is lost for the coverage that the owner asked for.
    CoverageOutOfReach,
    Interrupted,
}

impl StopReason {
    pub fn word(self) -> &'static str {
        match self {
            StopReason::Finished => "finished",
            StopReason::HostsFailing => "hosts_failing",
            StopReason::Pages => "max_pages",
            StopReason::Bytes => "max_bytes",
            StopReason::Time => "max_time",
            StopReason::Coverage => "coverage",
            StopReason::CoverageOutOfReach => "coverage_out_of_reach",
            StopReason::Interrupted => "interrupted",
        }
    }
}

/// What to do, once all that it rests on is safe.
#[derive(Clone, Debug)]
pub enum Action {
    Fetch(FetchOrder),
    Resolve {
        host: HostKey,
    },
    /// A question to the state, answered from a snapshot no older than this turn's commit.
    Ask(Question),
    /// Tell another partition that its messages up to this one are on record.
    Acknowledge {
        to: u32,
        number: u64,
    },
    /// Tell whoever watches what happened.
    Log(Box<LogEntry>),
}

#[derive(Clone, Debug)]
pub struct FetchOrder {
    pub id: FetchId,
    pub url: Url,
    /// On whose behalf: another host than the URL's if a redirected robots.txt is asked for.
    pub host: HostKey,
    pub address: IpAddr,
    pub purpose: Purpose,
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
    /// Links from a seed: for the archive's metadata.
    pub depth: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Page,
    Robots,
    /// A page that is to be read as a sitemap, whatever it says that it is.
    Sitemap,
    /// What a page is shown with.
    Requisite,
    /// The same, to be read as a stylesheet.
    Stylesheet,
}

/// What the archive is to do with the bytes that a worker holds.
#[derive(Clone, Debug)]
pub struct Keep {
    pub fetch: FetchId,
    pub how: KeepAs,
}

#[derive(Clone, Debug)]
pub enum KeepAs {
    Response,
    /// As a response, with a note of what it nearly repeats.
    Near(Near),
    /// The payload is kept already, under this URL and time.
    Revisit(Twin),
    /// 304: the payload is the one kept under this URL and time.
    NotModified(Twin),
    /// The page asks that no copy be kept: a metadata record says so.
    NotArchived,
    /// Nothing worth keeping: let go of the bytes.
    Drop,
}

/// Questions are answered in batches by whoever holds the state.
#[derive(Clone, Debug)]
pub enum Question {
    /// Which of these are new?
    Sift { candidates: Vec<Discovery> },
    /// Which of these pages have been kept before, by their bytes, or else nearly by their text?
    Twin { pages: Vec<(ContentDigest, Option<Arc<Sketch>>)> },
    /// The best sleeping hosts of these classes, after these places.
    Wake(Wake),
    /// The next rows of these hosts' queues.
    Refill { hosts: Vec<Refill> },
    /// The next outbox rows from this number on.
    Receive { from: u64, chunks_max: usize },
    /// The URLs of other partitions that have these numbers.
    Addresses { nodes: Vec<u32> },
    /// Which of the next `rows_max` URLs, in the order of their keys, are wanted?
    Review { wanted: ReviewWanted, after: Option<UrlKey>, rows_max: usize },
}

#[derive(Clone, Debug)]
pub struct Wake {
    pub now: Time,
    /// (class, how many, after which place).
    pub classes: Vec<(u8, usize, Option<Sleeper>)>,
    /// Sleepers whose due time has come: how many, after which place.
    pub later: (usize, Option<Sleeper>),
    /// Hosts that rest and are due, all of runs before `run` among them: how many at most together
    /// with those of `later`, after which place.
    pub resting: (usize, Option<Sleeper>),
    pub run: u32,
    /// Hosts to wake by name, whether known or not.
    pub named: Vec<HostKey>,
    pub rows_max: usize,
}

#[derive(Clone, Debug)]
pub struct Refill {
    pub host: HostKey,
    pub section: Section,
    pub after: Option<Place>,
    pub rows_max: usize,
}

#[derive(Clone, Debug)]
pub enum Answer {
    Sifted(Sifted),
    Twinned {
        pages: Vec<Likeness>,
    },
    Woken(Woken),
    Refilled {
        hosts: Vec<Refilled>,
    },
    Received {
        chunks: Vec<(u64, Chunk)>,
    },
    Addressed {
        urls: Vec<(u32, Url)>,
    },
    /// As discoveries, and the key behind which the next ones begin, if there may be more.
    Reviewed {
        found: Vec<Discovery>,
        next: Option<UrlKey>,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Sifted {
    /// Only what the engine must admit: new ones, and known ones that may rise.
    pub to_admit: Vec<ToAdmit>,
    /// The rows of their hosts, where there are any.
    pub hosts: Vec<(HostKey, HostRecord)>,
    /// How many were known and of no further interest.
    pub known: u64,
    /// What became of each candidate, in their order.
    pub targets: Vec<SiftTarget>,
}

/// What the sieve makes of one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiftTarget {
    /// The number of a URL that is known.
    Known(u32),
    /// To be to_admit: its place in the list.
    ToAdmit(u32),
    /// Not known, and not to be: a link that is not followed. Equal for equal URLs.
    Unknown(u32),
}

#[derive(Clone, Debug)]
pub struct ToAdmit {
    pub discovery: Discovery,
    pub record: Option<UrlRecord>,
}

#[derive(Clone, Debug, Default)]
pub struct Woken {
    pub hosts: Vec<WokenHost>,
    /// When the next sleeper is due, and the next of those that rest.
    pub later_next: Option<Time>,
    pub resting_next: Option<Time>,
}

#[derive(Clone, Debug)]
pub struct WokenHost {
    pub host: HostKey,
    /// How it was found; none if by name.
    pub sleeper: Option<Sleeper>,
    /// None if a host that was named is not known.
    pub record: Option<HostRecord>,
    pub robots: Option<Box<Robots>>,
    pub now: QueueRows,
    pub later: QueueRows,
}

/// Rows of one queue, in order.
#[derive(Clone, Debug, Default)]
pub struct QueueRows {
    pub rows: Vec<(Place, Entry)>,
    /// There are no more behind these.
    pub all: bool,
}

#[derive(Clone, Debug)]
pub struct Refilled {
    pub host: HostKey,
    pub section: Section,
    pub rows: QueueRows,
}

/// A change of one row; a batch of them is committed whole or not at all.
#[derive(Clone, Debug)]
pub enum Row {
    Url {
        key: UrlKey,
        record: UrlRecord,
    },
    Queue {
        host: HostKey,
        place: Place,
        entry: Option<Entry>,
    },
    Host {
        key: HostKey,
        record: HostRecord,
    },
    Robots {
        host: HostKey,
        robots: Box<Robots>,
    },
    Sleep {
        host: HostKey,
        place: SleepPlace,
        asleep: bool,
    },
    Outbox {
        number: u64,
        chunk: Option<Arc<Chunk>>,
    },
    Content {
        digest: ContentDigest,
        twin: Twin,
    },
    /// Nothing is compared with these bytes any more: their page was taken down.
    ContentGone {
        digest: ContentDigest,
    },
    /// The text of a page that resembles no other's.
    Leader {
        id: LeaderId,
        leader: Leader,
    },
    /// It leads no more: it was taken down.
    LeaderGone {
        id: LeaderId,
    },
    /// A URL that the owner named: what the scope is made of, and how far it is trusted.
    Seed {
        url: Url,
        weight: f64,
    },
    /// Some of a page's links, by number.
    Links {
        page: UrlId,
        part: u16,
        links: LinkPart,
    },
    /// Settled mass of some crawled pages.
    Settled {
        number: u32,
        row: SettledRow,
    },
    /// To another partition; none when it is known to have arrived. Whoever carries messages reads
    /// these rows, and delivers each at least once.
    Message {
        to: u32,
        number: u64,
        message: Option<Arc<Message>>,
    },
    /// How far messages have come, either way.
    SequenceNumbers(Box<SequenceNumbers>),
    /// The URL of another partition that has this number here.
    Foreign {
        node: u32,
        url: Url,
    },
    /// All mass that ever came from other partitions to a URL, or, below zero, went to it there.
    Moved {
        node: u32,
        mass: i64,
    },
    /// By what all that is refused was admitted.
    Rules(RulesFingerprint),
    /// What all pages of a crawl that goes on share.
    Refresh(Box<Scheduler>),
    /// The log of hands, the latest last.
    Hands(Vec<HandLine>),
    Requisites(RequisiteCounters),
    /// How likely links lead to the crawl's topic, as learnt so far.
    LinkModel(Box<LinkModel>),
    Counters(Box<Counters>),
}

/// What a turn of the engine asks for. Cleared and used again from turn to turn.
#[derive(Debug, Default)]
pub struct Step {
    pub keeps: Vec<Keep>,
    pub rows: Vec<Row>,
    pub actions: Vec<Action>,
}
