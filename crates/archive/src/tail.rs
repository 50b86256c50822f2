//! A file that only grows, by whole pieces: a crash tears at most the piece being written, a full
//! disk none.
//!
//! Pieces gather in memory and are written in one call. If a write fails, the file is cut back to
//! where it was and the pieces stay in memory, so the same call succeeds once there is space.

use std::fs::File;
use std::io::{self, Write};

/// The little of a file that a tail needs; tests give it disks that fill up.
pub(crate) trait Medium: Write {
    fn cut(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The file must be open for appending, or positioned at its end.
pub(crate) struct Tail<M> {
    medium: M,
    /// Bytes in the file, all of them whole pieces.
    written: u64,
    pending: Vec<u8>,
}

impl<M: Medium> Tail<M> {
    pub fn new(medium: M, length: u64) -> Tail<M> {
        Tail { medium, written: length, pending: Vec::new() }
    }

    /// Length of the file once all is flushed.
    pub fn length(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    pub fn push(&mut self, piece: &[u8]) {
        self.pending.extend_from_slice(piece);
    }

    pub fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.medium.write_all(&self.pending) {
            self.medium.cut(self.written)?;
            return Err(error);
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.medium.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with so many bytes of room, which writes at most three of them at once.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(3).min(self.room - self.bytes.len());
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Medium for Disk {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.truncate(length as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_leaves_whole_pieces_and_loses_none() {
        let pieces: Vec<String> = (0..9).map(|n| format!("<{}>", "p".repeat(n))).collect();
        let whole = pieces.concat();
        for room in 0..whole.len() {
            let mut tail = Tail::new(Disk { bytes: Vec::new(), room }, 0);
            for piece in &pieces {
                tail.push(piece.as_bytes());
                let failed = tail.flush().is_err();
                assert_eq!(failed, tail.length() > room as u64);
                let on_disk = String::from_utf8(tail.medium.bytes.clone()).unwrap();
                assert!(whole.starts_with(&on_disk));
                assert!(on_disk.is_empty() || on_disk.ends_with('>'), "{on_disk}");
            }
            assert_eq!(tail.length(), whole.len() as u64);
            tail.medium.room = whole.len();
            tail.sync().unwrap();
            assert_eq!(tail.medium.bytes, whole.as_bytes());
        }
    }
}
