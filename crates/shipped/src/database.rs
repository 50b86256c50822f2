//! A partition's database: SlateDB, set for a copy that is written all the time and read when a
//! partition moves.

use crate::error::of_database;
use crate::objects::Objects;
use rhumb_engine::error::Error;
use slatedb::config::{
    CloseOptions, CompactionWorkerOptions, CompactorOptions, CompressionCodec, FlushOptions,
    FlushType, GarbageCollectorOptions, ScanOptions, Settings, SstBlockSize, WriteOptions,
};
use slatedb::{CompactorBuilder, Db, IterationOrder, WriteBatch};
use std::time::Duration;
use tokio::runtime::Handle;

/// How long it takes an idle database to see that it was compacted, or fenced. Whoever writes sees
/// a fence at once.
const MANIFEST_POLL: Duration = Duration::from_secs(60);
/// How often the compactor looks for work: each look is a request.
const COMPACTOR_POLL: Duration = Duration::from_secs(30);
/// Rows are packed by blocks, and read in order. Nobody asks for one row: filters would be written
/// for nothing.
const BLOCK: SstBlockSize = SstBlockSize::Block32Kib;
/// Of the local store's tables; larger ones cost memory while they are written.
const TABLE_BYTES_MAX: usize = 64 << 20;
/// What a scan reads ahead, and in how many requests: with the defaults it is six times slower.
const READ_AHEAD_BYTES: usize = 8 << 20;
const READS_AT_ONCE: usize = 4;
/// What of that a compaction may do beside a crawl.
const COMPACTION_READ_BYTES: usize = 1 << 20;
/// Memory for rows that are not in a table yet: the least that SlateDB works well with, and the
/// most that it gains from. Frames whose rows are written before that is full never reach a table.
const MEMTABLE_BYTES_MIN: usize = 1 << 20;
const MEMTABLE_BYTES_MAX: usize = 32 << 20;
/// So many memtables may wait to be written.
const MEMTABLES_MAX: usize = 3;

/// What all databases of a node share.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    /// Memory for rows that are not yet written.
    pub bytes: usize,
    /// Databases that share it.
    pub partitions: usize,
    /// Where tables are merged: threads that may wait for others.
    pub merging: Handle,
}

impl MemoryBudget {
    fn memtable_bytes(&self) -> usize {
        let each = self.bytes / self.partitions.max(1) / MEMTABLES_MAX;
        each.clamp(MEMTABLE_BYTES_MIN, MEMTABLE_BYTES_MAX)
    }
}

/// Dropping it ends its tasks.
pub struct Database {
    db: Db,
    partition: u32,
    runtime: Handle,
}

impl Drop for Database {
    fn drop(&mut self) {
        let db = self.db.clone();
        self.runtime.spawn(async move { end(&db).await });
    }
}

/// Ends a database without writing anything more: what counts was flushed.
async fn end(db: &Db) {
    let options = CloseOptions::default().with_flush_type(None);
    // One that was fenced, or ended before, is closed already.
    let _ = db.close_with_options(options).await;
}

impl Database {
    /// Opens, which fences whoever had it, and makes it if there is none.
    pub async fn open(
        objects: &Objects,
        partition: u32,
        budget: &MemoryBudget,
    ) -> Result<Database, Error> {
        let path = objects.path(&folder(partition));
        let store = || std::sync::Arc::clone(objects.store());
        let compactor = CompactorBuilder::new(path.clone(), store())
            .with_runtime(budget.merging.clone())
            .with_sst_block_size(BLOCK)
            .with_filter_policies(Vec::new())
            .with_options(compactor());
        let opened = Db::builder(path, store())
            .with_settings(settings(objects, budget))
            .with_sst_block_size(BLOCK)
            .with_filter_policies(Vec::new())
            .with_db_cache_disabled()
            .with_compactor_builder(compactor)
            .build();
        let db = opened.await.map_err(|e| of_database(partition, e))?;
        Ok(Database { db, partition, runtime: Handle::current() })
    }

    pub async fn get(&self, key: &[u8]) -> Result<Option<slatedb::bytes::Bytes>, Error> {
        self.db.get(key).await.map_err(|e| self.error(e))
    }

    /// Puts rows where others see them, which is not yet durable.
    pub async fn write(&self, batch: WriteBatch) -> Result<(), Error> {
        let written = self.db.write_with_options(batch, &WriteOptions::default()).await;
        written.map(drop).map_err(|e| self.error(e))
    }

    /// Returns when all rows that were written are durable, and nobody has fenced us before.
    pub async fn flush(&self) -> Result<(), Error> {
        let options = FlushOptions { flush_type: FlushType::Wal };
        self.db.flush_with_options(options).await.map_err(|e| self.error(e))
    }

    /// Sees what the compactor has done, so that more may be written.
    pub async fn refresh(&self) -> Result<(), Error> {
        self.db.refresh_manifest().await.map_err(|e| self.error(e))
    }

    /// The rows whose keys begin so, in order, or in the opposite order.
    pub async fn scan(&self, prefix: &[u8], order: IterationOrder) -> Result<Scan, Error> {
        let options = ScanOptions::default()
            .with_read_ahead_bytes(READ_AHEAD_BYTES)
            .with_max_fetch_tasks(READS_AT_ONCE)
            .with_order(order);
        let rows = self.db.scan_prefix_with_options(prefix, .., &options).await;
        let rows = rows.map_err(|e| self.error(e))?;
        Ok(Scan { rows, partition: self.partition })
    }

    /// Ends it without writing anything more: what counts was flushed.
    pub async fn close(&self) {
        end(&self.db).await;
    }

    fn error(&self, error: slatedb::Error) -> Error {
        of_database(self.partition, error)
    }
}

/// Rows in the order of keys.
pub struct Scan {
    rows: slatedb::DbIterator,
    partition: u32,
}

impl Scan {
    pub async fn next(&mut self) -> Result<Option<slatedb::KeyValue>, Error> {
        self.rows.next().await.map_err(|e| of_database(self.partition, e))
    }
}

pub fn folder(partition: u32) -> String {
    format!("p/{partition:03}/db")
}

fn settings(objects: &Objects, budget: &MemoryBudget) -> Settings {
    let memtable = budget.memtable_bytes();
    Settings {
        // We say when: one write for frames and rows of two seconds, none for nothing.
        flush_interval: None,
        manifest_poll_interval: MANIFEST_POLL,
        l0_sst_size_bytes: memtable,
        max_unflushed_bytes: MEMTABLES_MAX * memtable,
        l0_flush_parallelism: 1,
        compactor_options: None,
        compression_codec: Some(CompressionCodec::Zstd),
        garbage_collector_options: Some(GarbageCollectorOptions {
            // These are replaced if they are still the same.
            boundary_files_enabled: objects.has_updates(),
            ..GarbageCollectorOptions::default()
        }),
        ..Settings::default()
    }
}

fn compactor() -> CompactorOptions {
    CompactorOptions {
        poll_interval: COMPACTOR_POLL,
        max_concurrent_compactions: 1,
        worker: Some(CompactionWorkerOptions {
            max_concurrent_compactions: 1,
            compactions_poll_interval: COMPACTOR_POLL,
            max_sst_size: TABLE_BYTES_MAX,
            max_fetch_tasks: 1,
            bytes_to_fetch: COMPACTION_READ_BYTES,
            max_subcompactions: 1,
            compression_codec: Some(CompressionCodec::Zstd),
            ..CompactionWorkerOptions::default()
        }),
        ..CompactorOptions::default()
    }
}
