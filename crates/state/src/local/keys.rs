//! Keys as bytes, whose order is the order of service.

use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::near::LeaderId;
use rhumb_engine::queue::{Place, Section, SleepPlace};
use rhumb_engine::record::UrlId;
use rhumb_engine::time::Time;
use rhumb_page::url::HostKey;
use xxhash_rust::xxh3::xxh3_64;

const NOW: u8 = 0;
const LATER: u8 = 1;
const RESTING: u8 = 2;
/// Ends a host key within a longer one; no host key contains it.
const END: u8 = 0;
/// Of a host's hash before its queue rows.
const HASH_BYTES: usize = 4;

/// Hosts have no order of their own here, and all begin alike. Bytes of a hash before them are what
/// nearly every comparison of two queue rows ends at, and fjall's keys hold four bytes at hand.
pub fn queue_prefix(host: &HostKey, section: Section) -> Vec<u8> {
    let text = host.as_str().as_bytes();
    let hash = xxh3_64(text).to_be_bytes();
    let mut key = Vec::with_capacity(HASH_BYTES + text.len() + 2 + 17);
    key.extend_from_slice(&hash[..HASH_BYTES]);
    key.extend_from_slice(text);
    key.push(END);
    key.push(match section {
        Section::Now => NOW,
        Section::Later => LATER,
    });
    key
}

pub fn queue(host: &HostKey, place: &Place) -> Vec<u8> {
    let mut key = queue_prefix(host, place.section());
    match place {
        Place::Now { class, rank, id } => {
            key.push(*class);
            key.extend_from_slice(&rank.to_be_bytes());
            key.extend_from_slice(&id.to_be_bytes());
        }
        Place::Later { due, id } => {
            key.extend_from_slice(&due.0.to_be_bytes());
            key.extend_from_slice(&id.to_be_bytes());
        }
    }
    key
}

/// The place in a queue key, given the length of its prefix.
pub fn place(key: &[u8], prefix: usize) -> Option<Place> {
    let section = *key.get(prefix.checked_sub(1)?)?;
    let rest = key.get(prefix..)?;
    match section {
        NOW => {
            let (class, rest) = rest.split_first()?;
            Some(Place::Now { class: *class, rank: be(rest, 0)?, id: be(rest, 8)? })
        }
        LATER => Some(Place::Later { due: Time(be(rest, 0)?), id: be(rest, 8)? }),
        _ => None,
    }
}

pub fn sleep(place: &SleepPlace) -> Vec<u8> {
    let mut key = Vec::with_capacity(21);
    match place {
        SleepPlace::Ready { class, rank } => {
            key.extend_from_slice(&[NOW, *class]);
            key.extend_from_slice(&rank.to_be_bytes());
        }
        SleepPlace::Later { due, rank } => {
            key.push(LATER);
            key.extend_from_slice(&due.0.to_be_bytes());
            key.extend_from_slice(&rank.to_be_bytes());
        }
        SleepPlace::Resting { run, due, rank } => {
            key.push(RESTING);
            key.extend_from_slice(&run.to_be_bytes());
            key.extend_from_slice(&due.0.to_be_bytes());
            key.extend_from_slice(&rank.to_be_bytes());
        }
    }
    key
}

pub fn sleep_prefix_class(class: u8) -> [u8; 2] {
    [NOW, class]
}

pub const SLEEP_PREFIX_LATER: [u8; 1] = [LATER];
pub const SLEEP_PREFIX_RESTING: [u8; 1] = [RESTING];

pub fn sleep_place(key: &[u8]) -> Option<SleepPlace> {
    match *key.first()? {
        NOW => Some(SleepPlace::Ready { class: *key.get(1)?, rank: be(key, 2)? }),
        LATER => Some(SleepPlace::Later { due: Time(be(key, 1)?), rank: be(key, 9)? }),
        RESTING => {
            let (run, due) = (be_short(key, 1)?, Time(be(key, 5)?));
            Some(SleepPlace::Resting { run, due, rank: be(key, 13)? })
        }
        _ => None,
    }
}

pub fn links(page: UrlId, part: u16) -> [u8; 10] {
    let mut key = [0; 10];
    key[..8].copy_from_slice(&page.0.to_be_bytes());
    key[8..].copy_from_slice(&part.to_be_bytes());
    key
}

pub fn link_part(key: &[u8]) -> Option<(UrlId, u16)> {
    Some((UrlId(be(key, 0)?), u16::from_be_bytes(key.get(8..10)?.try_into().ok()?)))
}

pub fn leader_id(key: &[u8]) -> Result<LeaderId, Error> {
    let bytes = key.try_into();
    bytes
        .map(LeaderId::from_be_bytes)
        .map_err(|_| Error::new(ErrorKind::Corrupt, "leader key cannot be read"))
}

pub fn be_short(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub fn be(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_engine::rng::Rng;
    use rhumb_page::url::Url;

    #[test]
    fn bytes_sort_as_places_do_and_read_back_the_same() {
        let host = Url::parse("https://www.a.test/").unwrap().host_key();
        let mut rng = Rng::new(3);
        let mut some = || {
            let (a, b, c) = (rng.draw() % 3, rng.draw() % 300, rng.draw() % 3);
            match rng.draw() % 2 {
                0 => Place::Now { class: a as u8, rank: b << (8 * c), id: c },
                _ => Place::Later { due: Time(b << (8 * a)), id: c },
            }
        };
        for _ in 0..2_000 {
            let (x, y) = (some(), some());
            let (kx, ky) = (queue(&host, &x), queue(&host, &y));
            assert_eq!(x.cmp(&y), kx.cmp(&ky), "{x:?} {y:?}");
            let prefix = queue_prefix(&host, x.section()).len();
            assert_eq!(place(&kx, prefix), Some(x));
        }
        let ready = SleepPlace::Ready { class: 31, rank: u64::MAX };
        let later = SleepPlace::Later { due: Time(5), rank: 7 };
        let resting = SleepPlace::Resting { run: 3, due: Time(u64::MAX), rank: 1 };
        let rests_next = SleepPlace::Resting { run: 4, due: Time(1), rank: 0 };
        let in_order = [ready, later, resting, rests_next];
        assert!(in_order.is_sorted() && in_order.map(|place| sleep(&place)).is_sorted());
        in_order.iter().for_each(|place| assert_eq!(sleep_place(&sleep(place)), Some(*place)));
    }
}
