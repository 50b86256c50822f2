//! What a store must be able to read. A snapshot shows whole commits only.

use rhumb_engine::discovery::Chunk;
use rhumb_engine::error::Error;
use rhumb_engine::event::QueueRows;
use rhumb_engine::host::HostRecord;
use rhumb_engine::near::{Leader, LeaderId};
use rhumb_engine::outcome::ContentDigest;
use rhumb_engine::queue::{Place, Section, Sleeper};
use rhumb_engine::record::{Twin, UrlRecord};
use rhumb_engine::time::Time;
use rhumb_page::robots::Robots;
use rhumb_page::url::{HostKey, Url, UrlKey};

/// Some URLs, and the key behind which the next ones begin, if there may be more.
pub type UrlPage = (Vec<(UrlKey, UrlRecord)>, Option<UrlKey>);

pub trait StateSnapshot {
    fn url(&self, key: &UrlKey) -> Result<Option<UrlRecord>, Error>;
    fn has_url(&self, key: &UrlKey) -> Result<bool, Error>;
    fn host(&self, key: &HostKey) -> Result<Option<HostRecord>, Error>;
    fn robots(&self, key: &HostKey) -> Result<Option<Box<Robots>>, Error>;
    /// At most `max` rows of a host's queue in order, after `after`.
    fn queue(
        &self,
        host: &HostKey,
        section: Section,
        after: Option<&Place>,
        max: usize,
    ) -> Result<QueueRows, Error>;
    /// Hosts that sleep in a class, in order, after `after`.
    fn sleepers(
        &self,
        class: u8,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<Vec<Sleeper>, Error>;
    /// Hosts due by `until`, in order, after `after`; and when the next one beyond these is due.
    fn sleepers_due(
        &self,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error>;
    /// Hosts that rest and are due: all of runs before `run`, and of that run those due by `until`;
    /// in order, after `after`; and when the next one beyond these is due.
    fn sleepers_resting(
        &self,
        run: u32,
        until: Time,
        after: Option<&Sleeper>,
        max: usize,
    ) -> Result<(Vec<Sleeper>, Option<Time>), Error>;
    fn outbox(&self, from: u64, max: usize) -> Result<Vec<(u64, Chunk)>, Error>;
    fn twin(&self, digest: &ContentDigest) -> Result<Option<Twin>, Error>;
    /// The URL of another partition that has this number here.
    fn foreign(&self, node: u32) -> Result<Option<Url>, Error>;
    fn leader(&self, id: LeaderId) -> Result<Option<Leader>, Error>;
    /// Looks at `rows_max` URLs in the order of their keys, after `after`: those that are wanted,
    /// and the last that was looked at, unless there are no more.
    fn urls(
        &self,
        after: Option<&UrlKey>,
        rows_max: usize,
        is_wanted: impl Fn(&UrlRecord) -> bool,
    ) -> Result<UrlPage, Error>;
}
