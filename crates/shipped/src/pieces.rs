//! The archive in the store: pieces of the file that is being written, and whole files.
//!
//! A piece is put before the frames that speak of it. Its name says where it begins; a file only
//! grows, so a piece that is there already has our bytes, if maybe fewer. When the end of a file is
//! known for good, a row says so ([`crate::rows`]), the whole file is put under its final name, and
//! the pieces go. Whoever has the row does that: the bytes are the same.

use crate::objects::{Objects, Put};
use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::{ObjectStoreExt, WriteMultipart};
use rhumb_engine::error::{Error, ErrorKind};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What one piece may hold, and one part of a file that is put whole.
const PIECE_BYTES_MAX: u64 = 8 << 20;
/// Parts on their way at once.
const PARTS_MAX: usize = 2;

pub const WARC: &str = "warc";
pub const CDXJ: &str = "cdxj";

/// Where the pieces of a partition's files are.
pub fn pieces(partition: u32) -> String {
    format!("p/{partition:03}/warc")
}

/// The pieces of a partition's files.
#[derive(Clone)]
pub struct Pieces {
    pub objects: Objects,
    pub partition: u32,
}

impl Pieces {
    fn folder(&self, file: &str) -> String {
        format!("{}/{file}", pieces(self.partition))
    }

    /// Puts the bytes of a file from one offset to another, if need be in several pieces.
    pub async fn put(&self, path: &Path, file: &str, from: u64, to: u64) -> Result<(), Error> {
        let mut offset = from;
        while offset < to {
            let length = (to - offset).min(PIECE_BYTES_MAX);
            let bytes = read(path, offset, length).await?;
            offset += self.put_piece(file, offset, bytes).await?;
        }
        Ok(())
    }

    /// How many of the bytes are there then.
    async fn put_piece(&self, file: &str, offset: u64, bytes: Bytes) -> Result<u64, Error> {
        let name = format!("{}/{offset:012}", self.folder(file));
        if self.objects.put_new(&name, bytes.clone()).await? == Put::New {
            return Ok(bytes.len() as u64);
        }
        // An attempt of before, whose answer was lost, or that nobody waited for.
        let there = self.objects.get(&name).await?.unwrap_or_default();
        let is_ours = there.starts_with(&bytes) || (!there.is_empty() && bytes.starts_with(&there));
        if is_ours {
            return Ok(there.len().min(bytes.len()) as u64);
        }
        let what = format!(
            "{}/{name} holds other bytes than {file} here: another process writes a file of this \
             name; give each node an --id and a --dir of its own",
            self.objects.address()
        );
        Err(Error::new(ErrorKind::Corrupt, what))
    }

    /// Writes the first bytes of a file, as many as count, from its pieces.
    pub async fn fetch(&self, file: &str, length: u64, to: &Path) -> Result<(), Error> {
        let folder = self.folder(file);
        let io = |e: std::io::Error| Error::new(ErrorKind::Retry, format!("{}: {e}", to.display()));
        let mut out = File::create(to).map_err(io)?;
        let mut end = 0;
        for (name, _) in self.objects.names(&folder).await? {
            let offset: u64 = name.parse().unwrap_or(u64::MAX);
            if end >= length || offset > end {
                break;
            }
            let piece = self.objects.get(&format!("{folder}/{name}")).await?.unwrap_or_default();
            let piece_end = (offset + piece.len() as u64).min(length);
            if piece_end > end {
                let new = (end - offset) as usize..(piece_end - offset) as usize;
                out.write_all(&piece[new]).map_err(io)?;
                end = piece_end;
            }
        }
        out.sync_all().map_err(io)?;
        if end == length {
            return Ok(());
        }
        let what = format!(
            "the pieces of {file} under {}/{folder} end at byte {end}, but rows speak of {length}: \
             somebody removed objects; restore a backup",
            self.objects.address()
        );
        Err(Error::new(ErrorKind::Corrupt, what))
    }

    pub async fn remove(&self, file: &str) -> Result<(), Error> {
        self.objects.remove_all(&self.folder(file)).await
    }
}

impl Objects {
    /// Whether a WARC file is there, whole.
    pub(crate) async fn has_file(&self, file: &str, length: u64) -> Result<bool, Error> {
        let name = format!("{WARC}/{file}");
        match self.store().head(&self.path(&name)).await {
            Ok(meta) => Ok(meta.size == length),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(e) => Err(self.error(&name, e)),
        }
    }

    /// Puts the first bytes of a file under a name, which nobody sees before all are there.
    pub(crate) async fn put_file(&self, name: &str, path: &Path, length: u64) -> Result<(), Error> {
        if length <= PIECE_BYTES_MAX {
            return self.put(name, read(path, 0, length).await?).await;
        }
        let error = |e| self.error(name, e);
        let upload = self.store().put_multipart(&self.path(name)).await.map_err(error)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PIECE_BYTES_MAX as usize);
        let mut offset = 0;
        while offset < length {
            let bytes = read(path, offset, (length - offset).min(PIECE_BYTES_MAX)).await;
            let bytes = match bytes {
                Ok(bytes) => bytes,
                Err(error) => {
                    // What was put is of no use. If this fails, too, the store forgets it by
                    // rules of its own.
                    let _ = upload.abort().await;
                    return Err(error);
                }
            };
            offset += bytes.len() as u64;
            upload.wait_for_capacity(PARTS_MAX).await.map_err(error)?;
            upload.put(bytes);
        }
        upload.finish().await.map(drop).map_err(error)
    }

    /// Writes an object into a file, which has its name when it is whole.
    pub(crate) async fn get_file(&self, name: &str, to: &Path) -> Result<(), Error> {
        let error = |e| self.error(name, e);
        let io = |e: std::io::Error| Error::new(ErrorKind::Retry, format!("{}: {e}", to.display()));
        let new = rhumb_disk::beside(to);
        let mut bytes = self.store().get(&self.path(name)).await.map_err(error)?.into_stream();
        let mut out = File::create(&new).map_err(io)?;
        while let Some(some) = bytes.try_next().await.map_err(error)? {
            out.write_all(&some).map_err(io)?;
        }
        out.sync_all().map_err(io)?;
        std::fs::rename(&new, to).map_err(io)
    }
}

/// Bytes of a file, on a thread that may wait for the disk.
async fn read(path: &Path, offset: u64, length: u64) -> Result<Bytes, Error> {
    let path = PathBuf::from(path);
    let shown = path.display().to_string();
    let work = move || -> std::io::Result<Bytes> {
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes)?;
        Ok(bytes.into())
    };
    let read = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other);
    read.and_then(|bytes| bytes)
        .map_err(|e| Error::new(ErrorKind::Retry, format!("{shown} at byte {offset}: {e}")))
}
