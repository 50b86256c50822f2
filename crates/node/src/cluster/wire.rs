//! What nodes tell each other, as bytes, and what of it is believed.
//!
//! A batch is lost or comes whole, perhaps twice; everything in it may. Whoever has the crawl's
//! token is a node of it, but of another version, or one with a damaged disk: what cannot be is
//! refused here, so that no engine ever sees it.

use super::crawl_file::OBJECTS_FORMAT;
use rhumb_cluster::allowance::{Grant, GrantRequest};
use rhumb_cluster::collection::PartitionReport;
use rhumb_engine::discovery::{CHUNK_MAX, FoundAs};
use rhumb_engine::mass::{ONE, Sums};
use rhumb_engine::outbound::Message;
use rhumb_engine::partition::Partition;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// A batch is filled up to here, and one note may exceed it.
pub const BATCH_BYTES: usize = 256 << 10;
/// The largest batch that is read, packed and unpacked.
pub const BATCH_BYTES_MAX: usize = 8 << 20;
const ZSTD_LEVEL: i32 = 1;

/// Notes of one node to another, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteBatch {
    pub format: u32,
    pub crawl: String,
    /// Who sends it.
    pub node: String,
    pub notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Note {
    /// From one partition to another.
    Message {
        from: u32,
        to: u32,
        number: u64,
        message: Message,
    },
    Acknowledgement {
        by: u32,
        to: u32,
        number: u64,
    },
    /// To the owner of partition 0, which divides the limits.
    Request(GrantRequest),
    /// From it.
    Grant(Grant),
    /// From it: another partition needs what this one does not.
    Reclaim {
        partition: u32,
    },
    /// To it: what a partition has come to, and how long ago.
    Report {
        age_us: u64,
        report: Box<PartitionReport<Sums>>,
    },
    /// To the owner of the partition that an address hashes to: so many requests in flight.
    AskSlots {
        address: IpAddr,
        wanted: u16,
        asked_us: u64,
        node: String,
        answer_to: String,
    },
    /// From it, with the time of the question by the clock of who asked.
    Slots {
        address: IpAddr,
        slots: u16,
        asked_us: u64,
    },
}

/// Why a batch is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is of another crawl, or of another version.
    Foreign(String),
    /// It says what cannot be.
    Wrong(String),
}

impl Note {
    /// The partition whose owner is to have it, if it names one.
    pub fn addressee(&self) -> Option<u32> {
        match self {
            Note::Message { to, .. } | Note::Acknowledgement { to, .. } => Some(*to),
            Note::Request(_) | Note::Report { .. } => Some(0),
            Note::Grant(grant) => Some(grant.partition),
            Note::Reclaim { partition } => Some(*partition),
            Note::AskSlots { .. } | Note::Slots { .. } => None,
        }
    }

    /// URLs in it.
    pub fn items(&self) -> usize {
        if let Note::Message { message, .. } = self { message.len() } else { 0 }
    }
}

pub fn pack(batch: &NoteBatch) -> Vec<u8> {
    let bytes = postcard::to_extend(batch, Vec::new()).expect("plain data always encodes");
    zstd::bulk::compress(&bytes, ZSTD_LEVEL).expect("memory can be compressed")
}

/// Reads a batch for a crawl of so many partitions.
pub fn unpack(bytes: &[u8], crawl: &str, partitions: u32) -> Result<NoteBatch, Refused> {
    let unreadable = |what: String| Refused::Foreign(format!("a batch cannot be read: {what}"));
    let bytes =
        zstd::bulk::decompress(bytes, BATCH_BYTES_MAX).map_err(|e| unreadable(e.to_string()))?;
    // The version first: of another one the rest may look otherwise.
    let (format, _) =
        postcard::take_from_bytes::<u32>(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if format != OBJECTS_FORMAT {
        return Err(unreadable(format!("it is of format {format}, this is {OBJECTS_FORMAT}")));
    }
    let batch: NoteBatch = postcard::from_bytes(&bytes).map_err(|e| unreadable(e.to_string()))?;
    if batch.crawl != crawl {
        return Err(Refused::Foreign(format!("of crawl {:?}, this is {crawl:?}", batch.crawl)));
    }
    batch.notes.iter().try_for_each(|note| check(note, partitions)).map_err(Refused::Wrong)?;
    Ok(batch)
}

fn check(note: &Note, partitions: u32) -> Result<(), String> {
    let is_partition = |number: u32| match number < partitions {
        true => Ok(()),
        false => Err(format!("partition {number} of {partitions}")),
    };
    match note {
        Note::Message { from, to, number, message } => {
            is_partition(*from)?;
            is_partition(*to)?;
            if from == to || *number == 0 {
                return Err(format!("message {number} from partition {from} to {to}"));
            }
            check_message(message, Partition { own: *to, count: partitions })
        }
        Note::Acknowledgement { by, to, .. } if by == to => {
            Err(format!("an acknowledgement of partition {by} to itself"))
        }
        Note::Acknowledgement { by, to, .. } => is_partition(*by).and(is_partition(*to)),
        Note::Request(request) => is_partition(request.partition),
        Note::Grant(grant) => is_partition(grant.partition),
        Note::Reclaim { partition } => is_partition(*partition),
        Note::Report { report, .. } => {
            let count = partitions as usize;
            let has_shape = report.sent.len() == count && report.taken.len() == count;
            is_partition(report.partition)?;
            if has_shape { Ok(()) } else { Err("a report of other partitions".to_owned()) }
        }
        Note::AskSlots { .. } | Note::Slots { .. } => Ok(()),
    }
}

fn check_message(message: &Message, partition: Partition) -> Result<(), String> {
    if message.is_empty() || message.len() > CHUNK_MAX {
        return Err(format!("a message of {} items", message.len()));
    }
    let mut mass = 0_u64;
    for item in message {
        if !partition.owns(&item.url) {
            return Err(format!("a URL of another partition than {}", partition.own));
        }
        if matches!(item.kind, FoundAs::Seed | FoundAs::Asked | FoundAs::Readmit) {
            return Err(format!("a URL that was found as {:?}", item.kind));
        }
        mass = mass.saturating_add(item.mass.unsigned_abs());
    }
    match mass <= ONE as u64 {
        true => Ok(()),
        false => Err("more mass than there is".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::outbound::Item;
    use rhumb_page::url::Url;

    const PARTITIONS: u32 = 4;

    fn batch(notes: Vec<Note>) -> NoteBatch {
        NoteBatch { format: OBJECTS_FORMAT, crawl: "c".into(), node: "n".into(), notes }
    }

    fn item(mass: i64) -> Item {
        let url = Url::parse("http://a.test/").unwrap();
        Item { url, kind: FoundAs::Link, depth: 1, hops: 0, mass }
    }

    fn message(from: u32, to: u32, number: u64, message: Message) -> Note {
        Note::Message { from, to, number, message }
    }

    #[test]
    fn what_cannot_be_is_refused_and_the_rest_comes_as_it_was_sent() {
        let own = Partition { own: 0, count: PARTITIONS }.owner(&item(0).url);
        let other = (own + 1) % PARTITIONS;
        let good = batch(vec![
            message(other, own, 3, vec![item(-5)]),
            Note::Acknowledgement { by: own, to: other, number: 1 },
        ]);
        assert_eq!(unpack(&pack(&good), "c", PARTITIONS), Ok(good.clone()));
        let wrong = [
            message(own, own, 3, vec![item(1)]),
            message(PARTITIONS, own, 3, vec![item(1)]),
            message(other, own, 0, vec![item(1)]),
            message(other, own, 1, Vec::new()),
            message(own, other, 1, vec![item(1)]),
            message(other, own, 1, vec![item(ONE), item(1)]),
            message(other, own, 1, vec![item(i64::MIN)]),
            message(other, own, 1, vec![Item { kind: FoundAs::Seed, ..item(1) }]),
            Note::Acknowledgement { by: 9, to: own, number: 1 },
            Note::Reclaim { partition: 9 },
        ];
        for note in wrong {
            let refused = unpack(&pack(&batch(vec![note.clone()])), "c", PARTITIONS);
            assert!(matches!(refused, Err(Refused::Wrong(_))), "{note:?}: {refused:?}");
        }
    }

    #[test]
    fn batches_of_others_are_refused() {
        let packed = pack(&batch(Vec::new()));
        assert!(matches!(unpack(&packed, "d", PARTITIONS), Err(Refused::Foreign(_))));
        let newer = pack(&NoteBatch { format: OBJECTS_FORMAT + 1, ..batch(Vec::new()) });
        assert!(matches!(unpack(&newer, "c", PARTITIONS), Err(Refused::Foreign(_))));
        for cut in 0..packed.len() {
            assert!(unpack(&packed[..cut], "c", PARTITIONS).is_err());
        }
    }
}
