//! What partitions exchange, in one keyspace: letters that wait to be carried, the URLs of others
//! by number, and the mass that came or went. A crawl of one part has none of it.

use super::codec::{decode, encode};
use super::ordered::Ordered;
use super::{Keyspaces, NUMBERS, keys, store_error};
use fjall::{Database, Keyspace, Readable};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::mass::Mass;
use rhumb_engine::post::{Letter, PostOpening, taken_back};

const LETTER: u8 = 0;
const FOREIGN: u8 = 1;
const MOVED: u8 = 2;

fn letter_key(to: u32, number: u64) -> Vec<u8> {
    [&[LETTER][..], &to.to_be_bytes(), &number.to_be_bytes()].concat()
}

pub fn foreign_key(node: u32) -> Vec<u8> {
    [&[FOREIGN][..], &node.to_be_bytes()].concat()
}

fn moved_key(node: u32) -> Vec<u8> {
    [&[MOVED][..], &node.to_be_bytes()].concat()
}

pub fn put_letter<'a>(
    batch: &mut Ordered<'a>,
    keyspace: &'a Keyspace,
    (to, number): (u32, u64),
    letter: Option<&Letter>,
) {
    match letter {
        Some(letter) => batch.insert(keyspace, letter_key(to, number), encode(letter)),
        None => batch.remove(keyspace, letter_key(to, number)),
    }
}

pub fn put_moved<'a>(batch: &mut Ordered<'a>, keyspace: &'a Keyspace, node: u32, mass: i64) {
    batch.insert(keyspace, moved_key(node), encode(&mass));
}

/// What the engine's post starts from.
pub fn opening(database: &Database, keyspaces: &Keyspaces) -> Result<PostOpening, Error> {
    let snapshot = database.snapshot();
    let numbers = match snapshot.get(&keyspaces.meta, NUMBERS).map_err(store_error)? {
        Some(bytes) => decode("numbers", &bytes)?,
        None => Default::default(),
    };
    let mut unacknowledged = Vec::new();
    for guard in snapshot.prefix(&keyspaces.exchange, [LETTER]) {
        let (key, value) = guard.into_inner().map_err(store_error)?;
        let letter: Letter = decode("letter", &value)?;
        unacknowledged.push((node(&key)?, taken_back(&letter)));
    }
    Ok(PostOpening { numbers, unacknowledged })
}

/// What came and went, into books that know all links.
pub fn read_moved(
    database: &Database,
    keyspaces: &Keyspaces,
    mass: &mut Mass,
) -> Result<(), Error> {
    let snapshot = database.snapshot();
    for guard in snapshot.prefix(&keyspaces.exchange, [MOVED]) {
        let (key, value) = guard.into_inner().map_err(store_error)?;
        mass.restore_moved(node(&key)?, decode("moved", &value)?);
    }
    Ok(())
}

/// The partition or the URL that a key names.
fn node(key: &[u8]) -> Result<u32, Error> {
    keys::be_short(key, 1)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "key of an exchange cannot be read"))
}
