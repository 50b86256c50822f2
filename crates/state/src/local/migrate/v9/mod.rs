//! Format 9: where its store lies, and what becomes of each of its rows.
//!
//! Rules of robots.txt are not carried over: they are fetched again and read as this version reads
//! them.

mod shapes;

use super::super::journal::Frame;
use super::super::table::StateTable;
use super::super::{COUNTERS, SCHEDULER};
use super::v10::shapes::Scheduler;
use super::{anew, chunk};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::refresh::scheduler;
use rhumb_engine::turn::ArchivePosition;
use rhumb_engine::{counters, host, mass, queue, record};
use shapes::{Counters, Entry, HostRecord, Lead, LinkPart, SettledRow, Twin, UrlRecord};
use xxhash_rust::xxh3::xxh3_64;

pub const FORMAT: &str = "rhumb state 9";

/// The files and directories of a store of format 9, beside its FORMAT file.
pub const FJALL_DIR: &str = "fjall";
pub const JOURNAL_DIR: &str = "journal";
pub const MARK_FILE: &str = "MARK";

/// A frame of its journal: length, number, checksum, rows. It does not say how far the archive
/// reached, and is believed.
pub fn take_frame(bytes: &[u8]) -> Option<(Frame<'_>, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let (rows, after) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let number = u64::from_le_bytes(*number);
    let checksum = xxh3_64(rows) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let is_whole = checksum == u64::from_le_bytes(*sum);
    is_whole.then_some((Frame { number, archived: ArchivePosition::default(), rows }, after))
}

/// A row as this format writes it; none if it has no such row. No key has changed.
pub fn converted(table: StateTable, key: &[u8], value: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let value = match table {
        StateTable::Url => anew::<UrlRecord, record::UrlRecord>("url", value)?,
        StateTable::Queue => anew::<Entry, queue::Entry>("queue", value)?,
        StateTable::Host => anew::<HostRecord, host::HostRecord>("host", value)?,
        StateTable::Robots => return Ok(None),
        StateTable::Outbox => chunk::<Lead>(value)?,
        StateTable::Content => anew::<Twin, record::Twin>("content", value)?,
        StateTable::Links => anew::<LinkPart, mass::LinkPart>("links", value)?,
        StateTable::Settled => anew::<SettledRow, mass::SettledRow>("settled", value)?,
        StateTable::Meta if key == COUNTERS => {
            anew::<Counters, counters::Counters>("counters", value)?
        }
        // As format 10 has it.
        StateTable::Meta if key == SCHEDULER => {
            anew::<Scheduler, scheduler::Scheduler>("scheduler", value)?
        }
        // Numbers, texts and sketches.
        StateTable::Meta | StateTable::Sleep | StateTable::Leader | StateTable::Seed => {
            value.to_vec()
        }
        StateTable::Exchange => {
            let what = "state: a store of several partitions cannot be migrated from format 9";
            return Err(Error::new(ErrorKind::Invalid, what));
        }
    };
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::super::super::codec::decode;
    use super::*;
    use rhumb_engine::discovery;
    use rhumb_engine::discovery::{Discovery, FoundAs, Lead, Origin};
    use rhumb_engine::known::KnownLinks;
    use rhumb_page::url::Url;
    use serde::Serialize;

    fn bytes(value: &impl Serialize) -> Vec<u8> {
        postcard::to_extend(value, Vec::new()).unwrap()
    }

    /// Rows of the outbox live for a moment, so the fixtures may have none: this one is written out
    /// field by field, as format 9 did it.
    #[test]
    fn links_on_their_way_are_carried_over() {
        let (link, announced) = ((1u32, ()), (5u32, 1_767_225_600u32));
        let from = Some((7u32, true));
        let one = bytes(&(0u32, ("http://a.test/1", link, 3u16, 1u8, from)));
        let two = (0u32, ("http://a.test/2", announced, 0u16, 0u8, None::<(u32, bool)>));
        let text = "http://a.test/3http://a.test/4";
        let known = (1u32, ((vec![8u32, 9], 4u16, text, vec![15u32, 30]), (7u32, false)));
        let bare = (1u32, ((vec![8u32], 4u16, "", Vec::<u32>::new()), (7u32, false)));
        let rows = [one, bytes(&two), bytes(&known), bytes(&bare)];
        let row = [&[1, rows.len() as u8][..], &rows.concat()].concat();
        let new = converted(StateTable::Outbox, &[], &row).unwrap().expect("a row");
        let chunk: discovery::Chunk = decode("outbox", &new).unwrap();
        let url = |n| Url::parse(&format!("http://a.test/{n}")).unwrap();
        let origin = |ends| Origin::of(7, ends);
        let found = |n, kind, depth, hops, from| {
            Lead::New(Discovery { url: url(n), kind, depth, hops, from })
        };
        let mut links = [KnownLinks::new(4), KnownLinks::new(4)];
        links[0].push(8, Some(&url(3)));
        links[0].push(9, Some(&url(4)));
        links[1].push(8, None);
        let [addressed, bare] =
            links.map(|links| Lead::Known { links: Box::new(links), from: origin(false) });
        let expected = [
            found(1, FoundAs::Link, 3, 1, Some(origin(true))),
            found(2, FoundAs::Announced(1_767_225_600), 0, 0, None),
            addressed,
            bare,
        ];
        assert_eq!(chunk, expected);
    }
}
