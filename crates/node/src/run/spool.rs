//! What is ready and has to wait for its turn: in memory up to a bound, beyond it in a file without
//! a name.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that wait in memory.
const MEMORY_BYTES_MAX: usize = 64 << 20;

#[derive(Default)]
pub struct BodySpool {
    in_memory: usize,
    file: Option<File>,
    file_len: u64,
}

/// Bytes that wait; the spool has them if they are not here.
pub enum SpooledBytes {
    Here(Vec<u8>),
    There { offset: u64, len: usize },
}

impl BodySpool {
    pub fn keep(&mut self, bytes: Vec<u8>) -> io::Result<SpooledBytes> {
        if self.in_memory + bytes.len() <= MEMORY_BYTES_MAX {
            self.in_memory += bytes.len();
            return Ok(SpooledBytes::Here(bytes));
        }
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        let file = self.file.as_ref().expect("made above");
        let offset = self.file_len;
        file.write_all_at(&bytes, offset)?;
        self.file_len += bytes.len() as u64;
        Ok(SpooledBytes::There { offset, len: bytes.len() })
    }

    /// Appends what waits; it stays, since two may ask for the same.
    pub fn read(&self, kept: &SpooledBytes, to: &mut Vec<u8>) -> io::Result<()> {
        match kept {
            SpooledBytes::Here(bytes) => to.extend_from_slice(bytes),
            SpooledBytes::There { offset, len } => {
                let start = to.len();
                to.resize(start + len, 0);
                let file = self.file.as_ref().expect("it was written there");
                file.read_exact_at(&mut to[start..], *offset)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_waits_in_a_file_and_comes_back_whole() {
        let mut spool = BodySpool::default();
        let large = vec![7; MEMORY_BYTES_MAX - 1];
        let kept = [spool.keep(large), spool.keep(b"one".to_vec()), spool.keep(b"two".to_vec())];
        let [_, one, two] = kept.map(Result::unwrap);
        assert!(matches!((&one, &two), (SpooledBytes::There { .. }, SpooledBytes::There { .. })));
        let mut read = Vec::new();
        spool.read(&two, &mut read).unwrap();
        spool.read(&one, &mut read).unwrap();
        assert_eq!(read, b"twoone");
    }
}
