//! ZIP files as office documents use them: members by name, unpacked within bounds.
//!
//! PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", 4.3: the directory stands at the end of
//! the file, and only it is believed. Stored and deflated members are read; encrypted ones, ZIP64
//! and other methods are not, as office programs write none of them.

use std::cell::Cell;
use std::io::Read;

use flate2::read::DeflateDecoder;
use memchr::memmem;

/// Members of a file that are known; documents have some hundred.
const MEMBERS_MAX: usize = 8192;
/// Bytes of a member once unpacked; more is left off.
const MEMBER_BYTES_MAX: u64 = 32 << 20;
/// Bytes of all members together once unpacked: a file of a few kilobytes may name one member of
/// zeros hundreds of times.
const UNPACKED_BYTES_MAX: u64 = 256 << 20;

const DIRECTORY_END: &[u8] = b"PK\x05\x06";
const DIRECTORY_ENTRY: &[u8] = b"PK\x01\x02";
const MEMBER: &[u8] = b"PK\x03\x04";
/// The end of the directory, and the longest comment behind it.
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 65_535;

pub(super) struct Zip<'a> {
    body: &'a [u8],
    members: Vec<Member<'a>>,
    /// Bytes that may still be unpacked.
    left: Cell<u64>,
}

struct Member<'a> {
    name: &'a str,
    method: u16,
    packed_bytes: usize,
    offset: usize,
}

impl<'a> Zip<'a> {
    /// Reads the directory; none if there is none.
    pub(super) fn open(body: &'a [u8]) -> Option<Zip<'a>> {
        let from = body.len().saturating_sub(END_BYTES + COMMENT_BYTES_MAX);
        let end = body.get(from + memmem::rfind(&body[from..], DIRECTORY_END)?..)?;
        let mut rest = body.get(number(end, 16, 4)?..)?;
        let mut members = Vec::new();
        while rest.starts_with(DIRECTORY_ENTRY) && members.len() < MEMBERS_MAX {
            let (name, extra) = (number(rest, 28, 2)?, number(rest, 30, 2)?);
            let after = 46 + name + extra + number(rest, 32, 2)?;
            let is_encrypted = number(rest, 8, 2)? & 1 != 0;
            if let (Ok(name), false) = (std::str::from_utf8(rest.get(46..46 + name)?), is_encrypted)
            {
                members.push(Member {
                    name,
                    method: number(rest, 10, 2)? as u16,
                    packed_bytes: number(rest, 20, 4)?,
                    offset: number(rest, 42, 4)?,
                });
            }
            rest = rest.get(after..)?;
        }
        Some(Zip { body, members, left: Cell::new(UNPACKED_BYTES_MAX) })
    }

    /// A member as text; what could be unpacked of it, if it is broken.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let member = self.members.iter().find(|member| member.name == name)?;
        let head = self.body.get(member.offset..).filter(|head| head.starts_with(MEMBER))?;
        let start = 30 + number(head, 26, 2)? + number(head, 28, 2)?;
        let packed = head.get(start..)?;
        let packed = &packed[..packed.len().min(member.packed_bytes)];
        let mut plain = Vec::new();
        let bytes_max = MEMBER_BYTES_MAX.min(self.left.get());
        // What comes before an error is kept.
        let _ = match member.method {
            0 => packed.take(bytes_max).read_to_end(&mut plain),
            8 => DeflateDecoder::new(packed).take(bytes_max).read_to_end(&mut plain),
            _ => return None,
        };
        self.left.set(self.left.get() - plain.len() as u64);
        Some(rhumb_page::xml::decode(&plain, None).into_owned())
    }
}

/// A number of so many bytes, the least first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use std::io::Write;

    /// A ZIP file of deflated members.
    pub(crate) fn zip(members: &[(&str, &str)]) -> Vec<u8> {
        let (mut file, mut directory) = (Vec::new(), Vec::new());
        for (name, text) in members {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(text.as_bytes()).expect("memory");
            let packed = encoder.finish().expect("memory");
            let sizes = [(packed.len() as u32), (text.len() as u32)].map(u32::to_le_bytes).concat();
            let lengths = [name.len() as u16, 0].map(u16::to_le_bytes).concat();
            let at = (file.len() as u32).to_le_bytes();
            // Version, flags, method, time, day, checksum.
            let facts = [20, 0, 8, 0, 0, 0, 0].map(u16::to_le_bytes).concat();
            file.extend([MEMBER, &facts, &sizes, &lengths, name.as_bytes(), &packed].concat());
            let none = [0; 10];
            let entry: [&[u8]; 8] =
                [DIRECTORY_ENTRY, &[20, 0], &facts, &sizes, &lengths, &none, &at, name.as_bytes()];
            directory.extend(entry.concat());
        }
        let count = (members.len() as u16).to_le_bytes();
        let place = [directory.len() as u32, file.len() as u32].map(u32::to_le_bytes).concat();
        file.extend([&directory, DIRECTORY_END, &[0; 4], &count, &count, &place, &[0, 0]].concat());
        file
    }

    fn names<'a>(zip: &Zip<'a>) -> Vec<&'a str> {
        zip.members.iter().map(|member| member.name).collect()
    }

    #[test]
    fn a_file_that_unpacks_to_more_than_all_memory_is_unpacked_up_to_a_limit() {
        let zeros = "0".repeat(MEMBER_BYTES_MAX as usize);
        let whole = zip(&[("a.xml", &zeros)]);
        let opened = Zip::open(&whole).expect("a directory");
        let lengths: Vec<u64> =
            (0..10).filter_map(|_| opened.text("a.xml")).map(|text| text.len() as u64).collect();
        assert_eq!(lengths[0], MEMBER_BYTES_MAX);
        assert_eq!(lengths.iter().sum::<u64>(), UNPACKED_BYTES_MAX);
    }

    #[test]
    fn members_are_found_by_name_and_any_bytes_are_survived() {
        let whole = zip(&[("a.xml", "<a>one</a>"), ("b/c.xml", &"two ".repeat(1000))]);
        let opened = Zip::open(&whole).expect("a directory");
        assert_eq!(names(&opened), ["a.xml", "b/c.xml"]);
        assert_eq!(opened.text("b/c.xml").expect("there"), "two ".repeat(1000));
        assert_eq!(opened.text("no.xml"), None);
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] = bent[at].wrapping_add(101);
            for broken in [&whole[..at], &whole[at..], &bent] {
                let Some(zip) = Zip::open(broken) else { continue };
                names(&zip).iter().for_each(|name| drop(zip.text(name)));
            }
        }
    }
}
