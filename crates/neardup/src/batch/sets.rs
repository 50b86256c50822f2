//! The sets of fingerprints of all documents: in memory up to a limit, on disk beyond it.

use std::path::Path;

use super::error::BatchError;
use super::spool::PairSpool;

const BYTES: usize = size_of::<u64>();

/// Of a piece, the share that may be empty.
const SPARE: usize = 4;

/// Where a set is.
#[derive(Clone, Copy, Debug)]
pub struct SetPlace {
    /// Number of the piece, if in memory; else the offset in the spool.
    base: u64,
    /// Within the piece.
    start: u64,
    pub len: u32,
    on_disk: bool,
}

pub struct Sets {
    pieces: Vec<Vec<u64>>,
    held_bytes: usize,
    held_bytes_max: usize,
    spool: PairSpool,
}

impl Sets {
    pub fn new(dir: &Path, memory_bytes: usize) -> Sets {
        let spool = PairSpool::new(dir);
        Sets { pieces: Vec::new(), held_bytes: 0, held_bytes_max: memory_bytes, spool }
    }

    pub fn spilled_bytes(&self) -> u64 {
        self.spool.bytes()
    }

    /// Keeps many sets, one after the other in `prints`; the place of each is told.
    pub fn add(
        &mut self,
        mut prints: Vec<u64>,
        lens: impl Iterator<Item = u32>,
        places: &mut Vec<SetPlace>,
    ) -> Result<(), BatchError> {
        // To move them costs more than a little room beyond their end.
        if prints.capacity() > prints.len() + prints.len() / SPARE {
            prints.shrink_to_fit();
        }
        let bytes = prints.capacity() * BYTES;
        let on_disk = self.held_bytes + bytes > self.held_bytes_max;
        let base = if on_disk {
            self.spool.append_numbers(&prints)?
        } else {
            self.held_bytes += bytes;
            self.pieces.push(prints);
            self.pieces.len() as u64 - 1
        };
        let mut start = 0;
        for len in lens {
            places.push(SetPlace { base, start, len, on_disk });
            start += u64::from(len);
        }
        Ok(())
    }

    /// A set; `room` is where it is read to if it must be.
    pub fn get<'a>(&'a self, place: SetPlace, room: &'a mut Room) -> Result<&'a [u64], BatchError> {
        let (start, len) = (place.start as usize, place.len as usize);
        if !place.on_disk {
            return Ok(&self.pieces[place.base as usize][start..start + len]);
        }
        let at = place.base + (start * BYTES) as u64;
        self.spool.read_numbers(at, len, &mut room.prints, &mut room.piece)?;
        Ok(&room.prints)
    }

    /// Keeps of a set what `keep` says.
    pub fn retain(
        &mut self,
        place: &mut SetPlace,
        room: &mut Room,
        keep: impl Fn(u64) -> bool,
    ) -> Result<(), BatchError> {
        let (start, len) = (place.start as usize, place.len as usize);
        if place.on_disk {
            self.get(*place, room)?;
            room.prints.retain(|print| keep(*print));
            let at = place.base + (start * BYTES) as u64;
            self.spool.overwrite_numbers(at, &room.prints)?;
            place.len = room.prints.len() as u32;
            return Ok(());
        }
        let set = &mut self.pieces[place.base as usize][start..start + len];
        let mut kept = 0;
        for at in 0..len {
            set[kept] = set[at];
            kept += usize::from(keep(set[at]));
        }
        place.len = kept as u32;
        Ok(())
    }

    /// The set that [`Sets::get`] has put into this room.
    pub fn again<'a>(&'a self, place: SetPlace, room: &'a Room) -> &'a [u64] {
        let (start, len) = (place.start as usize, place.len as usize);
        if place.on_disk {
            &room.prints
        } else {
            &self.pieces[place.base as usize][start..start + len]
        }
    }
}

/// Where a set that is on disk is read to.
#[derive(Default)]
pub struct Room {
    prints: Vec<u64>,
    /// Bytes on their way there.
    piece: Vec<u8>,
}
