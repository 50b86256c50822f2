//! Taking a partition: opening its database, which fences whoever had it, raising its epoch, and
//! making the local store what the copy says.
//!
//! At home, where the last one to open it was this directory's node, the local store is kept if
//! the last commit that was shipped is in it, byte by byte, and what it has beyond is shipped.
//! Elsewhere it is made anew of the copy's rows, and of the frames behind them.

use crate::database::{Database, MemoryBudget, Scan};
use crate::error::format_error;
use crate::objects::Objects;
use crate::owned::Owned;
use crate::rows::{self, ArchiveEnd, ChunkHead, Epoch};
use crate::store::ShippedStore;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_state::local::{CopiedRow, FORMAT, Home, commits_in, fill};
use slatedb::bytes::Bytes;
use slatedb::{IterationOrder, WriteBatch};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// Rows that are handed over at once while a store is made.
const ROWS_AT_ONCE: usize = 1_024;
/// So often before whoever scans waits for whoever writes.
const HANDED_MAX: usize = 8;

/// Openings of a database that cannot be read, until it is believed.
const OPENINGS_MAX: u32 = 4;
const OPEN_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// How a partition was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedHow {
    /// Nothing was ever shipped.
    New,
    /// The local store was kept.
    Home,
    /// The local store was made of the copy.
    Elsewhere,
}

/// A partition whose database this node has opened. What others wrote to it before is read; what
/// they write now fails.
pub struct Taken {
    pub(crate) database: Arc<Database>,
    pub(crate) partition: u32,
    pub(crate) dir: PathBuf,
    pub(crate) copied: Copied,
    pub(crate) epoch: Epoch,
    opened: OpenedHow,
    kept: Option<Bytes>,
}

/// How far the copy reaches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copied {
    /// Rows hold all up to this commit.
    pub mark: u64,
    /// The chunks of frames that are there, in order.
    pub chunks: Vec<ChunkHead>,
    /// Files whose end is known, and which are not yet put whole.
    pub files: Vec<(String, u64)>,
}

impl Copied {
    /// The last commit that is shipped.
    pub fn last(&self) -> u64 {
        self.chunks.last().map_or(self.mark, |chunk| chunk.last)
    }

    pub fn archive(&self) -> ArchiveEnd {
        self.chunks.last().map(|chunk| chunk.archive.clone()).unwrap_or_default()
    }
}

impl Taken {
    /// Higher than that of every opening before.
    pub fn epoch(&self) -> u64 {
        self.epoch.epoch
    }

    /// What tells this opening's WARC files from all others: part of their names.
    pub fn file_id(&self) -> String {
        format!("p{:03}-e{}", self.partition, self.epoch())
    }

    pub fn opened(&self) -> OpenedHow {
        self.opened
    }

    /// The last commit that is shipped.
    pub fn shipped(&self) -> u64 {
        self.copied.last()
    }

    /// What an owner keeps beside the commits, if one does.
    pub fn kept(&self) -> Option<&[u8]> {
        self.kept.as_deref()
    }

    /// Ends it again: nobody will crawl it here.
    pub async fn close(self) {
        self.database.close().await;
    }
}

impl ShippedStore {
    /// Takes a partition over. `dir` is this node's directory for it: its local store is in
    /// `dir/state`, its archive in `dir/warc` and `dir/index`. Nobody may have them open.
    pub async fn take(&self, partition: u32, node: &str, dir: &Path) -> Result<Taken, Error> {
        let (objects, budget) = (self.objects.clone(), self.budget.clone());
        let (node, dir) = (node.to_owned(), dir.to_owned());
        // SlateDB's tasks belong to the runtime that opens it.
        let task = self.handle().spawn(async move {
            let database = open(&objects, partition, &budget).await?;
            let taking = Taking { objects, database: Arc::new(database), partition, node, dir };
            taking.take().await
        });
        let ended = |e| Error::new(ErrorKind::Retry, format!("taking partition {partition}: {e}"));
        task.await.map_err(ended)?
    }
}

impl ShippedStore {
    /// The last epoch in which another node than this one has opened a partition, as far as it said
    /// so: it may have ended long ago.
    pub async fn claimed(&self, partition: u32, node: &str) -> Result<Option<u64>, Error> {
        let Some(claim) = self.objects.get(&claim_name(partition)).await? else { return Ok(None) };
        let claim: Epoch = rows::decode("a claim", &claim)?;
        Ok(Some(claim.epoch).filter(|_| claim.node != node))
    }
}

fn claim_name(partition: u32) -> String {
    format!("p/{partition:03}/claim")
}

/// A store may answer a put that met another as it answers one that found something there, when
/// nothing is: SlateDB takes that for damage. Who looks again knows.
async fn open(objects: &Objects, partition: u32, budget: &MemoryBudget) -> Result<Database, Error> {
    let mut opened = Database::open(objects, partition, budget).await;
    for _ in 1..OPENINGS_MAX {
        if !opened.as_ref().is_err_and(|error| error.kind == ErrorKind::Corrupt) {
            break;
        }
        tokio::time::sleep(OPEN_AGAIN_AFTER).await;
        opened = Database::open(objects, partition, budget).await;
    }
    opened
}

struct Taking {
    objects: Objects,
    database: Arc<Database>,
    partition: u32,
    node: String,
    dir: PathBuf,
}

impl Taking {
    async fn take(self) -> Result<Taken, Error> {
        let taken = self.open().await;
        if taken.is_err() {
            self.database.close().await;
        }
        let (epoch, opened, copied) = taken?;
        let kept = self.database.get(rows::KEPT).await?;
        let Taking { database, partition, dir, .. } = self;
        tracing::info!(
            partition,
            epoch = epoch.epoch,
            ?opened,
            commit = copied.last(),
            "partition taken"
        );
        Ok(Taken { database, partition, dir, copied, epoch, opened, kept })
    }

    async fn open(&self) -> Result<(Epoch, OpenedHow, Copied), Error> {
        let before = self.epoch().await?;
        let mut copied = self.copied().await?;
        let opened = match &before {
            Some(before) if self.is_home(before, &copied).await? => OpenedHow::Home,
            _ if copied.last() == 0 => OpenedHow::New,
            _ => OpenedHow::Elsewhere,
        };
        if opened != OpenedHow::Home {
            let dir = self.dir.clone();
            blocking(move || Owned::clear(&dir)).await?;
        }
        let known = before.as_ref().map(|before| before.number);
        let number = Owned::about_to_open(&self.dir, known.filter(|_| opened == OpenedHow::Home))?;
        let epoch = before.map_or(1, |before| before.epoch + 1);
        let mut batch = WriteBatch::new();
        // Whoever wrote the file before is gone, and its end is what was shipped of it.
        let archive = copied.archive();
        let is_ended = opened == OpenedHow::Elsewhere && !archive.file.is_empty();
        if is_ended && !copied.files.iter().any(|(file, _)| *file == archive.file) {
            batch.put(rows::file_key(&archive.file), rows::encode(&archive.length));
            copied.files.push((archive.file, archive.length));
        }
        let format = FORMAT.to_owned();
        let row = Epoch { epoch, node: self.node.clone(), number, format };
        self.claim(&row).await;
        batch.put(rows::EPOCH, rows::encode(&row));
        self.database.write(batch).await?;
        self.database.flush().await?;
        Owned::opened(&self.dir, number)?;
        if opened == OpenedHow::Elsewhere {
            self.fill(copied.mark, copied.last()).await?;
        }
        Ok((row, opened, copied))
    }

    /// Tells those who are about to open it, too, that they would fence an owner that nobody has
    /// heard of yet. It is a courtesy: without it they do.
    async fn claim(&self, row: &Epoch) {
        let put = self.objects.put(&claim_name(self.partition), rows::encode(row).into()).await;
        if let Err(error) = put {
            tracing::warn!(partition = self.partition, error = %error.what, "no claim");
        }
    }

    async fn epoch(&self) -> Result<Option<Epoch>, Error> {
        let Some(value) = self.database.get(rows::EPOCH).await? else { return Ok(None) };
        let epoch: Epoch = rows::decode("the epoch", &value)?;
        if epoch.format != FORMAT {
            let what = format!("partition {} is of format {:?}", self.partition, epoch.format);
            return Err(format_error(&what));
        }
        Ok(Some(epoch))
    }

    async fn copied(&self) -> Result<Copied, Error> {
        let mut copied = Copied::default();
        if let Some(mark) = self.database.get(rows::MARK).await? {
            copied.mark = rows::decode("the mark", &mark)?;
        }
        let mut chunks = self.scan(rows::CHUNKS).await?;
        while let Some(chunk) = chunks.next().await? {
            copied.chunks.push(rows::chunk_head(&chunk.value)?);
        }
        let mut files = self.scan(rows::FILES).await?;
        while let Some(file) = files.next().await? {
            let name = String::from_utf8_lossy(&file.key[rows::FILES.len()..]).into_owned();
            copied.files.push((name, rows::decode("the length of a file", &file.value)?));
        }
        Ok(copied)
    }

    async fn scan(&self, prefix: &[u8]) -> Result<Scan, Error> {
        self.database.scan(prefix, IterationOrder::Ascending).await
    }

    /// Whether the local store is the copy's origin, and has all of it.
    async fn is_home(&self, before: &Epoch, copied: &Copied) -> Result<bool, Error> {
        if !Owned::is_by(&self.dir, before.number)? {
            return Ok(false);
        }
        let last = match copied.chunks.last() {
            Some(head) => {
                let value = self.database.get(&rows::chunk_key(head.first)).await?;
                let (_, frames) = rows::unpack_chunk(&value.unwrap_or_default())?;
                let last = commits_in(&frames).last().map(|commit| commit.bytes.to_vec());
                Some((head.last, last.unwrap_or_default()))
            }
            None => None,
        };
        let (dir, partition) = (self.dir.clone(), self.partition);
        // A local store that cannot be read is none: the copy can.
        let kept = blocking(move || Ok(has_commit(&dir, last))).await?;
        Ok(kept.unwrap_or_else(|error| {
            tracing::warn!(partition, error = %error.what, "local store thrown away");
            false
        }))
    }

    async fn fill(&self, mark: u64, last: u64) -> Result<(), Error> {
        let (rows_in, rows) = sync_channel::<Result<Vec<CopiedRow>, Error>>(HANDED_MAX);
        let (chunks_in, chunks) = sync_channel(HANDED_MAX);
        let dir = self.dir.join("state");
        let filling = blocking(move || {
            let rows = rows.into_iter().flat_map(|rows| match rows {
                Ok(rows) => rows.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            });
            fill(&dir, rows, mark, chunks.into_iter(), last)
        });
        let scanning = async {
            // Whoever fills has ended if nobody takes it, and says why.
            let scanned = self.scan_rows(&rows_in).await;
            if let Err(error) = scanned {
                let _ = rows_in.send(Err(error));
            }
            drop(rows_in);
            let scanned = self.scan_chunks(&chunks_in, mark).await;
            if let Err(error) = scanned {
                let _ = chunks_in.send(Err(error));
            }
            drop(chunks_in);
        };
        let (filled, ()) = tokio::join!(filling, scanning);
        filled
    }

    async fn scan_rows(&self, to: &SyncSender<Result<Vec<CopiedRow>, Error>>) -> Result<(), Error> {
        let mut scan = self.scan(rows::ROWS).await?;
        let mut rows = Vec::with_capacity(ROWS_AT_ONCE);
        while let Some(row) = scan.next().await? {
            let (table, key) = rows::row_of(&row.key)
                .ok_or_else(|| Error::new(ErrorKind::Corrupt, "a row of the copy has no table"))?;
            rows.push((table, key.to_vec(), row.value.to_vec()));
            if rows.len() == ROWS_AT_ONCE {
                let full = std::mem::replace(&mut rows, Vec::with_capacity(ROWS_AT_ONCE));
                if hand(to, Ok(full)).is_err() {
                    return Ok(());
                }
            }
        }
        let _ = hand(to, Ok(rows));
        Ok(())
    }

    async fn scan_chunks(
        &self,
        to: &SyncSender<Result<Vec<u8>, Error>>,
        mark: u64,
    ) -> Result<(), Error> {
        let mut scan = self.scan(rows::CHUNKS).await?;
        while let Some(row) = scan.next().await? {
            let (head, frames) = rows::unpack_chunk(&row.value)?;
            if head.last > mark && hand(to, Ok(frames)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Gives way to others on this thread while it waits.
fn hand<T>(to: &SyncSender<T>, what: T) -> Result<(), ()> {
    tokio::task::block_in_place(|| to.send(what)).map_err(drop)
}

/// Whether the store in a directory has this commit, the archive what it speaks of.
fn has_commit(dir: &Path, commit: Option<(u64, Vec<u8>)>) -> Result<bool, Error> {
    let home = Home::open(&dir.join("state"))?;
    let Some((number, bytes)) = commit else { return Ok(true) };
    let Some((archived, there)) = home.find_commit(number)? else { return Ok(false) };
    let synced = home.archived()?;
    let synced = synced.map(|at| rhumb_archive::AppendEnd { file: at.file, length: at.length });
    let end = rhumb_archive::repair(dir, synced);
    let end = end.map_err(|e| Error::new(ErrorKind::Corrupt, e.to_string()))?;
    let end = end.map_or((0, 0), |end| (end.file, end.length));
    let is_borne_out = number <= home.promised()? || (archived.file, archived.length) <= end;
    Ok(there == bytes && is_borne_out)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let ended = |e| Error::new(ErrorKind::Retry, format!("a thread of the store ended: {e}"));
    tokio::task::spawn_blocking(work).await.map_err(ended)?
}
