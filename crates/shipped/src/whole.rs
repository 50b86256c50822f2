//! Whole WARC files under their final names, with their index lines: one after the other, beside
//! the crawl.

use crate::database::Database;
use crate::pieces::{CDXJ, Pieces, WARC};
use crate::rows;
use crate::shipping::Tell;
use rhumb_engine::error::{Error, ErrorKind};
use slatedb::WriteBatch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Where a file of a node that is gone is put together.
const FOLDER: &str = "finishing";

pub struct Finishing {
    pub database: Arc<Database>,
    pub pieces: Pieces,
    /// Of the partition.
    pub dir: PathBuf,
    /// Whole files that the node puts at once.
    pub at_once: Arc<Semaphore>,
    pub tell: Arc<Tell>,
}

impl Finishing {
    pub async fn run(self, mut files: mpsc::UnboundedReceiver<(String, u64)>) {
        while let Some((file, length)) = files.recv().await {
            if !self.finish_at_last(&file, length).await {
                return;
            }
        }
    }

    /// Tries until it is done, or cannot be; false if nothing more can be.
    async fn finish_at_last(&self, file: &str, length: u64) -> bool {
        while let Err(error) = self.finish(file, length).await {
            let partition = self.pieces.partition;
            match error.kind {
                ErrorKind::Fenced => return false,
                ErrorKind::Corrupt => {
                    // Its row stays: who puts back what is missing has it made whole.
                    tracing::error!(partition, file, error = %error.what, "file cannot be whole");
                    return true;
                }
                _ => tracing::warn!(partition, file, error = %error.what, "file is not yet whole"),
            }
            tokio::time::sleep(TRY_AGAIN_AFTER).await;
        }
        self.tell.tell(|progress| progress.files -= 1);
        true
    }

    async fn finish(&self, file: &str, length: u64) -> Result<(), Error> {
        let _one = self.at_once.acquire().await;
        let objects = &self.pieces.objects;
        if !objects.has_file(file, length).await? {
            match self.put(file, length).await {
                // The owner before may have been at it, too, and have removed the pieces.
                Err(_) if objects.has_file(file, length).await? => {}
                put => put?,
            }
        }
        self.pieces.remove(file).await?;
        let mut batch = WriteBatch::new();
        batch.delete(rows::file_key(file));
        self.database.write(batch).await?;
        self.remove_local(file);
        tracing::debug!(file, length, "file is whole in the store");
        Ok(())
    }

    /// Here it is of no use any more. The last file stays: by its number the next one is named, and
    /// an opening at home compares where it ends.
    fn remove_local(&self, file: &str) {
        let files = rhumb_archive::warc_files(&self.dir).unwrap_or_default();
        let is_it = |(_, path): &&(u32, PathBuf)| path.file_name().is_some_and(|name| name == file);
        let last = files.iter().map(|(number, _)| *number).max();
        if let Some((_, path)) = files.iter().find(is_it).filter(|(n, _)| Some(*n) < last)
            && let Err(error) = std::fs::remove_file(path)
        {
            tracing::warn!(path = %path.display(), %error, "cannot be removed");
        }
    }

    async fn put(&self, file: &str, length: u64) -> Result<(), Error> {
        let objects = &self.pieces.objects;
        let (path, is_local) = self.at_hand(file, length).await?;
        let lines = lines_of(&self.dir, &path, is_local).await?;
        let name = file.trim_end_matches(".warc.gz");
        objects.put(&format!("{CDXJ}/{name}.cdxj"), lines.into()).await?;
        objects.put_file(&format!("{WARC}/{file}"), &path, length).await?;
        if !is_local {
            // Put together again if it is needed again.
            let _ = std::fs::remove_file(&path);
        }
        Ok(())
    }

    /// The file here, if there is all of it, or else put together of its pieces.
    async fn at_hand(&self, file: &str, length: u64) -> Result<(PathBuf, bool), Error> {
        let local = self.dir.join("warc").join(file);
        if std::fs::metadata(&local).is_ok_and(|meta| meta.len() == length) {
            return Ok((local, true));
        }
        let folder = self.dir.join(FOLDER);
        std::fs::create_dir_all(&folder).map_err(|e| at(&folder, &e))?;
        let path = folder.join(file);
        self.pieces.fetch(file, length, &path).await?;
        Ok((path, false))
    }
}

/// The index lines of a WARC file, sorted.
async fn lines_of(dir: &Path, path: &Path, is_local: bool) -> Result<Vec<u8>, Error> {
    let (dir, path) = (dir.to_owned(), path.to_owned());
    let work = move || rhumb_archive::lines_of(is_local.then_some(dir.as_path()), &path);
    let lines = tokio::task::spawn_blocking(work).await;
    let lines = lines.map_err(|e| Error::new(ErrorKind::Retry, e.to_string()))?;
    lines.map_err(|e| Error::new(ErrorKind::Retry, e.to_string()))
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
