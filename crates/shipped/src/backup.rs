//! A copy of a whole crawl under another name of the same store.
//!
//! The crawl is paused, and all its messages are acknowledged: partitions count what they sent each
//! other, and a copy of different moments would not add up. Every database is held at its moment
//! before the first row is copied; then rows and pieces are copied, and whole files by the store.

use crate::database::{Database, MemoryBudget, folder};
use crate::error::of_database;
use crate::objects::{Objects, Put};
use crate::pieces::{CDXJ, WARC};
use crate::rows::{self, Epoch};
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::ObjectStoreExt;
use rhumb_engine::error::{Error, ErrorKind};
use slatedb::config::{DbReaderOptions, ScanOptions};
use slatedb::{DbReader, WriteBatch};
use std::sync::Arc;
use tokio::runtime::Handle;

const ROWS_AT_ONCE: usize = 1_024;
const READ_AHEAD_BYTES: usize = 4 << 20;
/// Copies that the store makes at once.
const COPIES_MAX: usize = 8;
/// Memory for rows of the database that is written; they are written one after the other.
const BYTES: usize = 64 << 20;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    pub rows: u64,
    pub files: usize,
}

impl Objects {
    /// Copies the crawl, of so many partitions, to another name, which must not be taken.
    pub async fn back_up(&self, partitions: u32, to: &Objects) -> Result<BackedUp, Error> {
        let toml = self.crawl().await?.ok_or_else(|| {
            let what = format!("there is no crawl at {}: check its name", self.address());
            Error::new(ErrorKind::Invalid, what)
        })?;
        if !to.is_empty().await? {
            let what = format!("{} is not empty: give the copy another name", to.address());
            return Err(Error::new(ErrorKind::Invalid, what));
        }
        let mut held = Vec::new();
        for partition in 0..partitions {
            // One that nobody ever took has none.
            if !self.names(&folder(partition)).await?.is_empty() {
                held.push((partition, self.held(partition).await?));
            }
        }
        let mut done = BackedUp::default();
        for (partition, reader) in &held {
            done.rows += self.copy_rows(*partition, reader, to).await?;
        }
        for (number, order) in self.orders_after(0).await? {
            to.put_order(number, &order).await?;
        }
        let mut folders: Vec<String> =
            (0..partitions).map(|partition| format!("p/{partition:03}/warc")).collect();
        folders.extend([CDXJ, WARC].map(str::to_owned));
        for folder in folders {
            done.files += self.copy_objects(&folder, to).await?;
        }
        for (partition, reader) in held {
            reader.close().await.map_err(|e| of_database(partition, e))?;
        }
        // Last: what has no crawl.toml is no crawl.
        let toml = std::str::from_utf8(&toml).unwrap_or_default();
        match to.put_crawl(toml).await? {
            Put::New => Ok(done),
            Put::Taken => {
                let what = format!("{} was made meanwhile by somebody else", to.address());
                Err(Error::new(ErrorKind::Invalid, what))
            }
        }
    }

    /// A database as it is now, whatever its owner does.
    async fn held(&self, partition: u32) -> Result<DbReader, Error> {
        let path = self.path(&folder(partition));
        let options = DbReaderOptions::default();
        let reader = DbReader::builder(path, Arc::clone(self.store()))
            .with_options(options)
            .with_db_cache_disabled()
            .build();
        reader.await.map_err(|e| of_database(partition, e))
    }

    async fn copy_rows(&self, partition: u32, from: &DbReader, to: &Objects) -> Result<u64, Error> {
        let budget = MemoryBudget { bytes: BYTES, partitions: 1, merging: Handle::current() };
        let database = Database::open(to, partition, &budget).await?;
        let error = |e| of_database(partition, e);
        let options = ScanOptions::default().with_read_ahead_bytes(READ_AHEAD_BYTES);
        let mut scan = from.scan_with_options::<_>(.., &options).await.map_err(error)?;
        let mut count = 0;
        let mut batch = WriteBatch::new();
        while let Some(row) = scan.next().await.map_err(error)? {
            count += 1;
            match &*row.key == rows::EPOCH {
                true => batch.put(rows::EPOCH, another(&row.value)?),
                false => batch.put_bytes(row.key, row.value),
            }
            if count % ROWS_AT_ONCE as u64 == 0 {
                database.write(std::mem::take(&mut batch)).await?;
            }
        }
        database.write(batch).await?;
        database.flush().await?;
        database.close().await;
        Ok(count)
    }

    async fn copy_objects(&self, folder: &str, to: &Objects) -> Result<usize, Error> {
        let names = self.names(folder).await?;
        let copy = async |name: String| {
            let name = format!("{folder}/{name}");
            let copied = self.store().copy(&self.path(&name), &to.path(&name)).await;
            copied.map_err(|e| self.error(&name, e))
        };
        let count = names.len();
        let copies = stream::iter(names.into_iter().map(|(name, _)| copy(name)));
        copies.buffer_unordered(COPIES_MAX).try_collect::<()>().await?;
        Ok(count)
    }
}

/// The same epoch, opened by nobody who has a local store.
fn another(epoch: &[u8]) -> Result<Vec<u8>, Error> {
    let epoch: Epoch = rows::decode("the epoch", epoch)?;
    Ok(rows::encode(&Epoch { number: !epoch.number, ..epoch }))
}
