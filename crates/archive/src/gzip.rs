//! gzip members (RFC 1952), one a record.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor, Crc};

use crate::deflate::Deflater;

/// Compression level: on made-up pages of 20 kB level 6 makes files 5 % smaller, and a capture
/// takes three times as long (docs/decisions/0017-deflate.md).
pub const LEVEL_DEFAULT: i32 = 1;

/// Identification, deflate, no flags, no time, made fast, on an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];

/// Compressors, kept from member to member.
pub(crate) struct Gzip {
    compressor: Level,
    /// For what does not compress: small records, and bodies that came compressed.
    storer: Compressor,
}

enum Level {
    /// The first: our own.
    Fast(Box<Deflater>),
    Library(Compressor),
}

impl Gzip {
    /// A level that there is not (there are 0 to 12) becomes libdeflate's default one.
    pub(crate) fn new(level: i32) -> Gzip {
        let compressor = match level {
            1 => Level::Fast(Box::default()),
            _ => Level::Library(Compressor::new(CompressionLvl::new(level).unwrap_or_default())),
        };
        let stored = CompressionLvl::new(0).expect("0 is a level");
        Gzip { compressor, storer: Compressor::new(stored) }
    }

    /// Appends a member with these bytes, compressed.
    pub(crate) fn compress(&mut self, plain: &[u8], members: &mut Vec<u8>) {
        match &mut self.compressor {
            Level::Fast(deflater) => {
                members.extend_from_slice(&HEAD);
                deflater.deflate(plain, members);
                let mut crc = Crc::new();
                crc.update(plain);
                members.extend_from_slice(&crc.sum().to_le_bytes());
                // Modulo 2^32, as the format has it.
                members.extend_from_slice(&(plain.len() as u32).to_le_bytes());
            }
            Level::Library(compressor) => by_library(compressor, plain, members),
        }
    }

    /// Appends a member with these bytes one after the other, compressed or as they are. It takes
    /// no memory but for what it appends, and more time.
    pub(crate) fn pieces(&mut self, pieces: &[&[u8]], compresses: bool, members: &mut Vec<u8>) {
        let level = if compresses { Compression::fast() } else { Compression::none() };
        let mut encoder = GzEncoder::new(members, level);
        let mut written = pieces.iter().try_for_each(|piece| encoder.write_all(piece));
        written = written.and_then(|()| encoder.try_finish());
        written.expect("a vector takes all");
    }

    /// Appends a member with these bytes as they are.
    pub(crate) fn store(&mut self, plain: &[u8], members: &mut Vec<u8>) {
        by_library(&mut self.storer, plain, members);
    }
}

fn by_library(compressor: &mut Compressor, plain: &[u8], members: &mut Vec<u8>) {
    let start = members.len();
    members.resize(start + compressor.gzip_compress_bound(plain.len()), 0);
    let length =
        compressor.gzip_compress(plain, &mut members[start..]).expect("the bound is large enough");
    members.truncate(start + length);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_member_of_any_level_holds_what_was_put_in_and_nothing_of_the_last_one() {
        let text = "All that is written here was made up by nobody in particular. ".repeat(99);
        for level in [0, 1, 2, 6, 12, 99] {
            let mut gzip = Gzip::new(level);
            for plain in [text.as_str(), "", "short", &text[..777]].map(str::as_bytes) {
                for stores in [false, true] {
                    let before = b"before".to_vec();
                    let mut members = before.clone();
                    match stores {
                        true => gzip.store(plain, &mut members),
                        false => gzip.compress(plain, &mut members),
                    }
                    let member = members.strip_prefix(before.as_slice()).unwrap();
                    let mut read = Vec::new();
                    let mut reader = flate2::bufread::GzDecoder::new(member);
                    reader.read_to_end(&mut read).unwrap();
                    assert_eq!(read, plain, "level {level}");
                    assert!(reader.into_inner().is_empty(), "level {level}");
                }
            }
        }
    }
}
