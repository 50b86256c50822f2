//! Following a partition's journal: what is committed here is put there.
//!
//! In this order, always: the bytes that the archive has gained, the frames that speak of them,
//! and then whoever asked is told that they are shipped. When a file of the journal is full and
//! shipped, its rows are merged and written, then the mark, and the chunks it covers are deleted.
//! The file itself goes when a chunk behind it is shipped: the last one is what an opening at home
//! compares ([`crate::taking`]).

use crate::database::Database;
use crate::pieces::Pieces;
use crate::rows::{self, ArchiveEnd, CHUNK_BYTES_MAX, ChunkHead, Epoch};
use crate::store::ShippedStore;
use crate::taking::{Copied, Taken};
use crate::whole;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::turn::ArchivePosition;
use rhumb_state::local::{Follow, JournalFile, commits_in, merged_rows};
use slatedb::WriteBatch;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// A commit is shipped so long after it at most, if the store is quick. Each round is two requests.
const SHIP_EVERY: Duration = Duration::from_secs(2);
/// When a store that is away is asked again.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// While rows are written, what the compactor has done is looked at so often.
const REFRESH_EVERY: Duration = Duration::from_secs(10);
/// Rows that are written at once: others get in between.
const BATCH_BYTES_MAX: usize = 256 << 10;

/// How far shipping has come.
#[derive(Clone, Debug, Default)]
pub struct ShippingProgress {
    /// The last commit that survives the machine.
    pub shipped: u64,
    /// Bytes of journal and archive behind that, as [`Shipping::progress`] tells them. They lie on
    /// the disk; whoever fetches bounds them.
    pub unshipped_bytes: u64,
    /// Files that have ended and are not yet whole in the store.
    pub files: usize,
    /// When the last write began that is durable by now, by the caller's clock: nobody else had the
    /// partition then. Microseconds; 0 before the first.
    pub proven_us: u64,
    /// Why the store could not be written to the last time.
    pub trouble: Option<Error>,
    /// Why nothing more will be shipped: fenced, most often.
    pub failed: Option<Error>,
}

/// A partition that is shipped as it is crawled. Dropping it stops that at once.
pub struct Shipping {
    shared: Arc<Shared>,
    progress: watch::Receiver<ShippingProgress>,
    tasks: Vec<JoinHandle<()>>,
    database: Arc<Database>,
    epoch: Epoch,
}

struct Shared {
    /// There may be something to ship.
    work: Notify,
    /// Now, not every two seconds.
    is_urgent: AtomicBool,
    /// The file that is written is to end, once all is shipped.
    is_ending: AtomicBool,
    follow: Follow,
    shipped: Mutex<Reached>,
}

/// How far the journal and the archive are shipped.
#[derive(Clone, Copy, Default)]
struct Reached {
    /// Bytes of the journal, as the follower counts them.
    journal_bytes: u64,
    archived: ArchivePosition,
}

impl Shared {
    fn unshipped_journal(&self) -> u64 {
        let shipped = self.reached().journal_bytes;
        self.follow.committed().bytes.saturating_sub(shipped)
    }

    /// Of a file that has ended meanwhile only what is in the next one.
    fn unshipped_archive(&self) -> u64 {
        let (from, to) = (self.reached().archived, self.follow.committed().archived);
        to.length - if from.file == to.file { from.length.min(to.length) } else { 0 }
    }

    fn reached(&self) -> Reached {
        *self.shipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_reached(&self, reached: Reached) {
        *self.shipped.lock().unwrap_or_else(PoisonError::into_inner) = reached;
    }
}

impl Taken {
    /// Begins to ship. `follow` is the journal of the local store that was taken. `now_us` is a
    /// clock that goes on while the machine is suspended. `told` is called on a thread of the
    /// store's whenever the progress is another.
    pub fn follow(
        self,
        store: &ShippedStore,
        follow: Follow,
        now_us: fn() -> u64,
        told: impl Fn(&ShippingProgress) + Send + Sync + 'static,
    ) -> Shipping {
        let number = self.epoch();
        let Taken { database, partition, dir, copied, epoch, .. } = self;
        let pieces = Pieces { objects: store.objects.clone(), partition };
        let (is_urgent, is_ending) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Shared {
            work: Notify::new(),
            is_urgent,
            is_ending,
            follow: follow.clone(),
            shipped: Mutex::default(),
        };
        let shared = Arc::new(shared);
        let waker = Arc::downgrade(&shared);
        follow.on_commit(move || {
            if let Some(shared) = waker.upgrade() {
                shared.work.notify_one();
            }
        });
        let progress = ShippingProgress {
            shipped: copied.last(),
            files: copied.files.len(),
            ..ShippingProgress::default()
        };
        let (tell, progress) = watch::channel(progress);
        let tell = Arc::new(Tell { tell, told: Box::new(told) });
        let (whole_in, whole) = mpsc::unbounded_channel();
        for (file, length) in &copied.files {
            // The task that takes it has not begun.
            let _ = whole_in.send((file.clone(), *length));
        }
        let finishing = whole::Finishing {
            database: Arc::clone(&database),
            pieces: pieces.clone(),
            dir: dir.clone(),
            at_once: Arc::clone(&store.whole_files),
            tell: Arc::clone(&tell),
        };
        let shipper = Shipper {
            database: Arc::clone(&database),
            shared: Arc::clone(&shared),
            pieces,
            dir,
            epoch: number,
            copied,
            at: None,
            whole: whole_in,
            tell,
            now_us,
            refreshed: Instant::now(),
        };
        let tasks =
            vec![store.handle().spawn(shipper.run()), store.handle().spawn(finishing.run(whole))];
        shared.work.notify_one();
        Shipping { shared, progress, tasks, database, epoch }
    }
}

impl Shipping {
    pub fn progress(&self) -> ShippingProgress {
        let (journal, archive) = (self.shared.unshipped_journal(), self.shared.unshipped_archive());
        ShippingProgress { unshipped_bytes: journal + archive, ..self.progress.borrow().clone() }
    }

    /// Ships without waiting for others to come.
    pub fn hurry(&self) {
        self.shared.is_urgent.store(true, Ordering::Release);
        self.shared.work.notify_one();
    }

    /// Returns when a write is durable that was made after this was called: then nobody had taken
    /// the partition over when it was called.
    pub async fn confirm(&self) -> Result<(), Error> {
        let mut batch = WriteBatch::new();
        batch.put(rows::EPOCH, rows::encode(&self.epoch));
        self.database.write(batch).await?;
        self.database.flush().await
    }

    /// Keeps these bytes beside the commits, instead of those before; returns when they are
    /// durable. Every later opening is told them.
    pub async fn keep(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut batch = WriteBatch::new();
        batch.put(rows::KEPT, bytes);
        self.database.write(batch).await?;
        self.database.flush().await
    }

    /// Ships what is committed now; how far it came within this time.
    pub async fn drain(&self, within: Duration) -> ShippingProgress {
        let last = self.shared.follow.committed().commit;
        self.hurry();
        let mut progress = self.progress.clone();
        let is_done = |at: &ShippingProgress| at.shipped >= last || at.failed.is_some();
        let _ = timeout(within, progress.wait_for(is_done)).await;
        self.progress()
    }

    /// Ships what is committed now, ends the file that is written, and waits until all files are
    /// whole: for a crawl that is over. How far it came within this time.
    pub async fn finish(&self, within: Duration) -> ShippingProgress {
        let last = self.shared.follow.committed().commit;
        self.shared.is_ending.store(true, Ordering::Release);
        self.hurry();
        let mut progress = self.progress.clone();
        let is_ending = || self.shared.is_ending.load(Ordering::Acquire);
        let is_done = |at: &ShippingProgress| {
            at.failed.is_some() || (at.shipped >= last && at.files == 0 && !is_ending())
        };
        let _ = timeout(within, progress.wait_for(is_done)).await;
        self.progress()
    }

    /// Waits until all files that have ended are whole.
    pub async fn whole(&self, within: Duration) -> ShippingProgress {
        let mut progress = self.progress.clone();
        let is_done = |at: &ShippingProgress| at.files == 0 || at.failed.is_some();
        let _ = timeout(within, progress.wait_for(is_done)).await;
        self.progress()
    }

    /// Ends it. What is not shipped stays in the local journal.
    pub async fn close(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            let _ = task.await;
        }
        self.database.close().await;
    }
}

impl Drop for Shipping {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Who is told of the progress.
pub(crate) struct Tell {
    tell: watch::Sender<ShippingProgress>,
    told: Box<dyn Fn(&ShippingProgress) + Send + Sync>,
}

impl Tell {
    pub fn tell(&self, change: impl FnOnce(&mut ShippingProgress)) {
        self.tell.send_modify(change);
        (self.told)(&self.tell.borrow());
    }
}

/// Where the next frame stands.
#[derive(Clone, Copy, Debug)]
struct At {
    file: u64,
    offset: u64,
}

struct Shipper {
    database: Arc<Database>,
    shared: Arc<Shared>,
    pieces: Pieces,
    dir: PathBuf,
    epoch: u64,
    copied: Copied,
    /// None before the first look.
    at: Option<At>,
    /// Files whose end is shipped.
    whole: mpsc::UnboundedSender<(String, u64)>,
    tell: Arc<Tell>,
    now_us: fn() -> u64,
    refreshed: Instant,
}

impl Shipper {
    async fn run(mut self) {
        let mut last = Instant::now() - SHIP_EVERY;
        loop {
            self.shared.work.notified().await;
            self.gather_until(last + SHIP_EVERY).await;
            last = Instant::now();
            while let Err(error) = self.ship().await {
                if error.kind != ErrorKind::Retry {
                    tracing::warn!(error = %error.what, "shipping ended");
                    self.tell.tell(|progress| progress.failed = Some(error));
                    return;
                }
                tracing::debug!(error = %error.what, "shipping is tried again");
                self.tell.tell(|progress| progress.trouble = Some(error));
                sleep(TRY_AGAIN_AFTER).await;
            }
        }
    }

    /// Waits until then, unless there is much, or somebody is in a hurry.
    async fn gather_until(&self, then: Instant) {
        let mut then = std::pin::pin!(sleep_until(then));
        while !self.shared.is_urgent.swap(false, Ordering::AcqRel)
            && self.shared.unshipped_journal() < CHUNK_BYTES_MAX as u64
        {
            tokio::select! {
                () = &mut then => return,
                () = self.shared.work.notified() => {}
            }
        }
    }

    /// Ships all that is committed now.
    async fn ship(&mut self) -> Result<(), Error> {
        let until = self.shared.follow.committed().commit;
        if self.at.is_none() {
            self.find_place().await?;
        }
        while self.copied.last() < until || self.next_file().is_some() {
            if self.ship_chunk().await? {
                continue;
            }
            let Some(next) = self.next_file() else { break };
            self.merge().await?;
            self.at = Some(At { file: next.number, offset: 0 });
        }
        if self.shared.is_ending.load(Ordering::Acquire) {
            self.end_file().await?;
            self.shared.is_ending.store(false, Ordering::Release);
            self.tell.tell(|_| {});
        }
        Ok(())
    }

    /// Nothing is added any more to the file that was written last.
    async fn end_file(&mut self) -> Result<(), Error> {
        let ArchiveEnd { file, length } = self.copied.archive();
        if file.is_empty() || self.copied.files.iter().any(|(ended, _)| *ended == file) {
            return Ok(());
        }
        let mut batch = WriteBatch::new();
        batch.put(rows::file_key(&file), rows::encode(&length));
        self.database.write(batch).await?;
        self.database.flush().await?;
        self.ended(vec![(file, length)]);
        Ok(())
    }

    fn ended(&mut self, files: Vec<(String, u64)>) {
        if files.is_empty() {
            return;
        }
        self.tell.tell(|progress| progress.files += files.len());
        for file in files {
            self.copied.files.push(file.clone());
            // It takes no more when all is over.
            let _ = self.whole.send(file);
        }
    }

    /// The file behind the one that is read, which is full then.
    fn next_file(&self) -> Option<JournalFile> {
        let at = self.at.expect("a place was found");
        self.shared.follow.files().into_iter().find(|file| file.number > at.file)
    }

    /// Passes over what was shipped by an earlier run.
    async fn find_place(&mut self) -> Result<(), Error> {
        let (files, shipped) = (self.shared.follow.files(), self.copied.last());
        let mut at = At { file: files.first().map_or(0, |file| file.number), offset: 0 };
        let mut passed = Reached::default();
        for file in files {
            let bytes = read(&file, 0, file.bytes).await?;
            at = At { file: file.number, offset: 0 };
            let mut commits = commits_in(&bytes).peekable();
            while let Some(commit) = commits.next_if(|commit| commit.number <= shipped) {
                at.offset += commit.bytes.len() as u64;
                passed.archived = commit.archived;
            }
            passed.journal_bytes += at.offset;
            let is_shipped = commits.peek().is_none();
            drop(commits);
            if !is_shipped || !file.is_full {
                break;
            }
            // All of it is shipped: whoever goes on from here merges it.
            if self.copied.mark < shipped {
                self.merge_file(&file, bytes).await?;
            }
        }
        self.shared.set_reached(passed);
        self.at = Some(at);
        Ok(())
    }

    /// Whether there was anything left in the file.
    async fn ship_chunk(&mut self) -> Result<bool, Error> {
        let at = self.at.expect("a place was found");
        let files = self.shared.follow.files();
        let Some(file) = files.iter().find(|file| file.number == at.file) else {
            return Ok(false);
        };
        let mut length = (file.bytes - at.offset).min(CHUNK_BYTES_MAX as u64);
        if length == 0 {
            return Ok(false);
        }
        let mut bytes = read(file, at.offset, length).await?;
        if commits_in(&bytes).next().is_none() {
            // One commit larger than that.
            length = file.bytes - at.offset;
            bytes = read(file, at.offset, length).await?;
        }
        let (mut first, mut last) = (None, None);
        let mut end = 0;
        for commit in commits_in(&bytes) {
            first.get_or_insert(commit.number);
            last = Some((commit.number, commit.archived));
            end += commit.bytes.len();
        }
        let (Some(first), Some((last, archived))) = (first, last) else {
            let what = format!("{}: no commit at byte {}", file.path.display(), at.offset);
            return Err(Error::new(ErrorKind::Corrupt, what));
        };
        bytes.truncate(end);
        self.put_chunk(first, last, archived, bytes).await?;
        self.at = Some(At { file: at.file, offset: at.offset + end as u64 });
        let journal_bytes = self.shared.reached().journal_bytes + end as u64;
        self.shared.set_reached(Reached { journal_bytes, archived });
        // Nothing before it is needed to compare.
        if let Some(before) = at.file.checked_sub(1) {
            self.shared.follow.release(before)?;
        }
        self.tell.tell(|progress| {
            progress.shipped = last;
            progress.trouble = None;
        });
        Ok(true)
    }

    async fn put_chunk(
        &mut self,
        first: u64,
        last: u64,
        archived: ArchivePosition,
        frames: Vec<u8>,
    ) -> Result<(), Error> {
        // A row never claims what the archive lacks.
        let (archive, ended) = self.put_archive(archived).await?;
        let began_us = (self.now_us)();
        let head = ChunkHead { epoch: self.epoch, first, last, archive };
        let packing = head.clone();
        let value = tokio::task::spawn_blocking(move || rows::pack_chunk(&packing, &frames)).await;
        let value = value.map_err(|e| Error::new(ErrorKind::Retry, e.to_string()))?;
        let mut batch = WriteBatch::new();
        batch.put_bytes(rows::chunk_key(first).into(), value.into());
        for (file, length) in &ended {
            batch.put(rows::file_key(file), rows::encode(length));
        }
        self.database.write(batch).await?;
        self.database.flush().await?;
        self.tell.tell(|progress| progress.proven_us = progress.proven_us.max(began_us));
        self.copied.chunks.push(head);
        self.ended(ended);
        Ok(())
    }

    /// Puts what the archive has up to there; where that is, and the files that have ended before.
    async fn put_archive(
        &self,
        to: ArchivePosition,
    ) -> Result<(ArchiveEnd, Vec<(String, u64)>), Error> {
        let before = self.copied.archive();
        let mut ended = Vec::new();
        if to == ArchivePosition::default() {
            return Ok((before, ended));
        }
        let failed = |e: rhumb_archive::ArchiveError| Error::new(ErrorKind::Retry, e.to_string());
        let files = rhumb_archive::warc_files(&self.dir).map_err(failed)?;
        let named = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
        let files: Vec<_> =
            files.into_iter().filter_map(|(n, path)| Some((n, named(&path)?, path))).collect();
        let begun = files.iter().position(|(_, name, _)| *name == before.file).unwrap_or(0);
        let mut end = before.clone();
        for (serial, name, path) in &files[begun..] {
            let from = if *name == before.file { before.length } else { 0 };
            let length = match serial.cmp(&to.file) {
                std::cmp::Ordering::Less => {
                    let meta = std::fs::metadata(path);
                    meta.map_err(|e| at_path(path, &e))?.len()
                }
                std::cmp::Ordering::Equal => to.length,
                std::cmp::Ordering::Greater => break,
            };
            self.pieces.put(path, name, from, length).await?;
            if *serial < to.file {
                ended.push((name.clone(), length));
            }
            end = ArchiveEnd { file: name.clone(), length };
        }
        Ok((end, ended))
    }

    /// Writes the rows of the file that was read to its end.
    async fn merge(&mut self) -> Result<(), Error> {
        let at = self.at.expect("a place was found");
        let files = self.shared.follow.files();
        match files.into_iter().find(|file| file.number == at.file) {
            Some(file) => {
                let bytes = read(&file, 0, file.bytes).await?;
                self.merge_file(&file, bytes).await
            }
            None => Ok(()),
        }
    }

    async fn merge_file(&mut self, file: &JournalFile, bytes: Vec<u8>) -> Result<(), Error> {
        let Some(last) = commits_in(&bytes).last().map(|commit| commit.number) else {
            return Ok(());
        };
        let mark = self.copied.mark;
        if last <= mark {
            return Ok(());
        }
        let merging = tokio::task::spawn_blocking(move || batches(&bytes, mark)).await;
        for batch in merging.map_err(|e| Error::new(ErrorKind::Retry, e.to_string()))?? {
            self.database.write(batch).await?;
            if self.refreshed.elapsed() >= REFRESH_EVERY {
                self.database.refresh().await?;
                self.refreshed = Instant::now();
            }
        }
        // Only now: a mark says that all rows before it are there.
        let mut batch = WriteBatch::new();
        batch.put(rows::MARK, rows::encode(&last));
        // The last chunk stays to be compared.
        let covered = self.copied.chunks.iter().take_while(|chunk| chunk.last <= last).count();
        let covered = covered.min(self.copied.chunks.len().saturating_sub(1));
        for chunk in &self.copied.chunks[..covered] {
            batch.delete(rows::chunk_key(chunk.first));
        }
        self.database.write(batch).await?;
        self.database.flush().await?;
        self.copied.mark = last;
        self.copied.chunks.drain(..covered);
        tracing::debug!(file = file.number, mark = last, "rows shipped");
        Ok(())
    }
}

/// What commits behind the mark have made of the rows, in batches.
fn batches(frames: &[u8], mark: u64) -> Result<Vec<WriteBatch>, Error> {
    let mut batches = vec![WriteBatch::new()];
    let mut bytes = 0;
    for (table, key, value) in merged_rows(frames, mark)? {
        if bytes >= BATCH_BYTES_MAX {
            batches.push(WriteBatch::new());
            bytes = 0;
        }
        let batch = batches.last_mut().expect("begun with one");
        bytes += key.len() + value.map_or(0, <[u8]>::len);
        match value {
            Some(value) => batch.put(rows::row_key(table, key), value),
            None => batch.delete(rows::row_key(table, key)),
        }
    }
    Ok(batches)
}

/// Bytes of a file of the journal, all of which are written.
async fn read(file: &JournalFile, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
    let (path, shown) = (file.path.clone(), file.path.clone());
    let work = move || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(&path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let read = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other);
    read.and_then(|bytes| bytes).map_err(|e| at_path(&shown, &e))
}

fn at_path(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("{}: {error}", path.display()))
}
