//! The sets of fingerprints of all documents: in memory up to a limit, on disk beyond it.

use std::path::Path;

use super::error::Error;
use super::spool::Spool;

const BYTES: usize = size_of::<u64>();

/// Where a set is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number of the piece, if in memory; else the offset in the spool.
    base: u64,
    /// Within the piece.
    start: u32,
    pub len: u32,
    on_disk: bool,
}

pub struct Sets {
    pieces: Vec<Vec<u64>>,
    held_bytes: usize,
    held_bytes_max: usize,
    spool: Spool,
}

impl Sets {
    pub fn new(dir: &Path, memory_bytes: usize) -> Sets {
        let spool = Spool::new(dir);
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
        places: &mut Vec<Place>,
    ) -> Result<(), Error> {
        let bytes = prints.len() * BYTES;
        let on_disk = self.held_bytes + bytes > self.held_bytes_max;
        let base = if on_disk {
            let mut raw = Vec::with_capacity(bytes);
            prints.iter().for_each(|print| raw.extend_from_slice(&print.to_le_bytes()));
            self.spool.append(&raw)?
        } else {
            self.held_bytes += bytes;
            prints.shrink_to_fit();
            self.pieces.push(prints);
            self.pieces.len() as u64 - 1
        };
        let mut start = 0;
        for len in lens {
            places.push(Place { base, start, len, on_disk });
            start += len;
        }
        Ok(())
    }

    /// A set; `room` is where it is read to if it must be.
    pub fn get<'a>(&'a self, place: Place, room: &'a mut Room) -> Result<&'a [u64], Error> {
        let (start, len) = (place.start as usize, place.len as usize);
        if !place.on_disk {
            return Ok(&self.pieces[place.base as usize][start..start + len]);
        }
        room.raw.resize(len * BYTES, 0);
        self.spool.read(place.base + (start * BYTES) as u64, &mut room.raw)?;
        let (numbers, _) = room.raw.as_chunks::<BYTES>();
        room.prints.clear();
        room.prints.extend(numbers.iter().map(|raw| u64::from_le_bytes(*raw)));
        Ok(&room.prints)
    }

    /// Keeps of a set what `keep` says.
    pub fn retain(
        &mut self,
        place: &mut Place,
        room: &mut Room,
        keep: impl Fn(u64) -> bool,
    ) -> Result<(), Error> {
        let (start, len) = (place.start as usize, place.len as usize);
        if place.on_disk {
            self.get(*place, room)?;
            room.prints.retain(|print| keep(*print));
            room.raw.clear();
            room.prints.iter().for_each(|print| room.raw.extend_from_slice(&print.to_le_bytes()));
            self.spool.overwrite(place.base + (start * BYTES) as u64, &room.raw)?;
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
    pub fn again<'a>(&'a self, place: Place, room: &'a Room) -> &'a [u64] {
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
    raw: Vec<u8>,
    prints: Vec<u64>,
}
