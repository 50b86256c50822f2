//! What shipping costs: CPU, bytes and requests a page, with rows of the kinds and sizes that a
//! crawl writes, merged as it merges them.
//!
//!     cargo bench -p rhumb-shipped --bench ship -- [PARTITIONS] [PAGES]
//!
//! The same commits are made once without a copy and once with one in a store of files; what is
//! between the two is the price. Then the databases idle, and one partition is opened elsewhere.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result as ObjectResult, UploadPart,
};
use rhumb_engine::event::Row;
use rhumb_engine::host::HostRecord;
use rhumb_engine::mass::SettledRow;
use rhumb_engine::near::Leader;
use rhumb_engine::queue::{Entry, Place};
use rhumb_engine::record::{RecordStatus, Twin, UrlId, UrlRecord};
use rhumb_engine::rng::{Rng, mix};
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_neardup::Sketch;
use rhumb_page::url::Url;
use rhumb_shipped::{Objects, ShippedStore, Shipping};
use rhumb_state::local::{Home, LocalState};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const PAGES_A_COMMIT: u64 = 23;
const NEW_URLS_A_PAGE: u64 = 3;
const PAGES_A_HOST: u64 = 400;

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let partitions = numbers.first().copied().unwrap_or(4) as u32;
    let pages = numbers.get(1).copied().unwrap_or(100_000);
    let dir = tempfile::tempdir().expect("a directory");
    let each = pages / u64::from(partitions);
    let alone = {
        let begun = cpu_s();
        for n in 0..partitions {
            let home = Home::open(&dir.path().join(format!("alone-{n}"))).expect("a store");
            let (mut state, _) =
                LocalState::open(home, 1, ArchivePosition::default()).expect("opened");
            crawl(&mut state, u64::from(n), each, None);
        }
        cpu_s() - begun
    };
    println!("alone: {:.1} us CPU a page", alone * 1e6 / pages as f64);
    shipped(dir.path(), partitions, each, alone);
}

fn shipped(dir: &Path, partitions: u32, each: u64, alone: f64) {
    let pages = each * u64::from(partitions);
    let counted = Arc::new(Counted::over(dir));
    let store: Arc<dyn ObjectStore> = Arc::clone(&counted) as Arc<dyn ObjectStore>;
    let objects = Objects::over(store, false, "crawl").expect("a store");
    let store = ShippedStore::start(objects, partitions as usize, 96 << 20).expect("threads");
    let take = |n: u32, node: &str| {
        let at = dir.join(format!("{node}-{n}"));
        let taken = store.handle().block_on(store.take(n, node, &at)).expect("taken");
        let home = Home::open(&at.join("state")).expect("a store");
        let opened = LocalState::open_followed(home, 1, ArchivePosition::default());
        let (state, _, follow) = opened.expect("opened");
        (state, taken.follow(&store, follow, || 0, |_| {}))
    };
    let begun = cpu_s();
    let mut open: Vec<(LocalState, Shipping)> = (0..partitions).map(|n| take(n, "a")).collect();
    let started = Instant::now();
    for (n, (state, shipping)) in open.iter_mut().enumerate() {
        crawl(state, n as u64, each, Some(shipping));
        store.handle().block_on(shipping.drain(Duration::from_secs(600)));
    }
    let written = cpu_s() - begun;
    let at_end = counted.numbers();
    println!(
        "shipped: {:.1} us CPU a page more, {:.0} pages/s, {} bytes a page, {}",
        (written - alone) * 1e6 / pages as f64,
        pages as f64 / started.elapsed().as_secs_f64(),
        counted.bytes.load(Relaxed) / pages,
        counted.by_kind(at_end, [0; 4], 1.0),
    );
    std::thread::sleep(Duration::from_secs(60));
    let merged = cpu_s() - begun;
    println!(
        "after a minute: {:.1} us CPU a page more, {} bytes a page, {}",
        (merged - alone) * 1e6 / pages as f64,
        counted.bytes.load(Relaxed) / pages,
        counted.by_kind(counted.numbers(), at_end, 60.0),
    );
    let (last, shipping) = open.swap_remove(0);
    drop((last, shipping));
    let begun = Instant::now();
    let (state, _shipping) = take(0, "b");
    let rows = state.reader().urls().count();
    println!("opened elsewhere: {:.2} s, {rows} URLs", begun.elapsed().as_secs_f64());
}

/// Commits of pages, each with its new URLs, and what is known of its host.
fn crawl(state: &mut LocalState, partition: u64, pages: u64, shipping: Option<&Shipping>) {
    let mut rng = Rng::new(partition);
    let mut rows = Vec::new();
    for page in 0..pages {
        rows_of(page, partition, &mut rng, &mut rows);
        if page % PAGES_A_COMMIT == 0 {
            state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
            if state.wants_sync() {
                state.sync().expect("a sync");
            }
            // As no fetch begins at the bound.
            while shipping.is_some_and(|shipping| shipping.progress().unshipped_bytes > 32 << 20) {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
    state.commit(&mut rows, ArchivePosition::default()).expect("a commit");
    state.sync().expect("a sync");
}

fn rows_of(page: u64, partition: u64, rng: &mut Rng, rows: &mut Vec<Row>) {
    let host = page / PAGES_A_HOST;
    let url = |n: u64| {
        let host = n / PAGES_A_HOST / (1 + NEW_URLS_A_PAGE);
        let text = format!("https://www.site-{host}-{partition}.example/section/page-{n:08}.html");
        Url::parse(&text).expect("a URL")
    };
    let queued = |n: u64| {
        let record = UrlRecord::new(UrlId(n), RecordStatus::Queued, 3, 0, Time(n));
        let place = Place::Now { class: 9, rank: n << 20, id: n };
        (url(n), record, place)
    };
    let (own, record, place) = queued(page);
    let key = own.host_key();
    rows.push(Row::Queue { host: key.clone(), place, entry: None });
    let mut fetched = UrlRecord { status: RecordStatus::Fetched, ..record };
    fetched.past.content = Some([page as u8; 16]);
    fetched.past.etag = Some(format!("\"{:016x}\"", rng.draw()).into());
    rows.push(Row::Url { key: own.key(), record: fetched });
    for n in 0..NEW_URLS_A_PAGE {
        let (url, record, place) = queued(1_000_000 + page * NEW_URLS_A_PAGE + n);
        let (key, host) = (url.key(), url.host_key());
        rows.push(Row::Url { key, record: record.clone() });
        rows.push(Row::Queue { host, place, entry: Some(Entry { url, record }) });
    }
    rows.push(Row::Host { key, record: HostRecord { admitted: host, ..HostRecord::default() } });
    let digest = u128::from(rng.draw()).to_le_bytes();
    rows.push(Row::Content {
        digest,
        twin: Twin { url: own.clone(), kept: Time(page), payload: [7; 20] },
    });
    // One page in three leads: the rest resembles another.
    if page.is_multiple_of(3) {
        let prints: Vec<u64> = (0..200).map(|n| mix(page << 16 | n)).collect();
        let sketch = Arc::new(Sketch::of(&prints).expect("shingles"));
        rows.push(Row::Leader { id: page as u32, leader: Leader { url: own, sketch } });
    }
    if page.is_multiple_of(100) {
        let settled = (0..64).map(|n| ((page + n) as u32, rng.draw() as i64 >> 20)).collect();
        let number = (page / 100) as u32;
        rows.push(Row::Settled { number, row: SettledRow { settled } });
    }
}

fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let after = text.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 = after.split(' ').skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

/// A store of files that counts what is asked of it.
#[derive(Debug)]
struct Counted {
    files: object_store::local::LocalFileSystem,
    bytes: Arc<AtomicU64>,
    puts: AtomicU64,
    gets: AtomicU64,
    lists: AtomicU64,
    deletes: AtomicU64,
}

impl Counted {
    fn over(dir: &Path) -> Counted {
        let dir = dir.join("bucket");
        std::fs::create_dir(&dir).expect("a directory");
        let files = object_store::local::LocalFileSystem::new_with_prefix(dir).expect("files");
        let zero = || AtomicU64::new(0);
        Counted {
            files,
            bytes: Arc::default(),
            puts: zero(),
            gets: zero(),
            lists: zero(),
            deletes: zero(),
        }
    }

    fn numbers(&self) -> [u64; 4] {
        [&self.puts, &self.gets, &self.lists, &self.deletes].map(|n| n.load(Relaxed))
    }

    fn by_kind(&self, now: [u64; 4], before: [u64; 4], seconds: f64) -> String {
        let names = ["puts", "gets", "lists", "deletes"];
        let each = names.iter().zip(now.iter().zip(before));
        let each = each
            .map(|(name, (now, before))| format!("{:.1} {name}", (now - before) as f64 / seconds));
        each.collect::<Vec<_>>().join(", ")
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.files.fmt(f)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counted {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        options: PutOptions,
    ) -> ObjectResult<PutResult> {
        self.puts.fetch_add(1, Relaxed);
        self.bytes.fetch_add(payload.content_length() as u64, Relaxed);
        self.files.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        options: PutMultipartOptions,
    ) -> ObjectResult<Box<dyn MultipartUpload>> {
        self.puts.fetch_add(1, Relaxed);
        let upload = self.files.put_multipart_opts(location, options).await?;
        Ok(Box::new(CountedUpload { upload, bytes: Arc::clone(&self.bytes) }))
    }

    async fn get_opts(
        &self,
        location: &ObjectPath,
        options: GetOptions,
    ) -> ObjectResult<GetResult> {
        self.gets.fetch_add(1, Relaxed);
        self.files.get_opts(location, options).await
    }

    async fn get_ranges(
        &self,
        location: &ObjectPath,
        ranges: &[Range<u64>],
    ) -> ObjectResult<Vec<Bytes>> {
        self.gets.fetch_add(ranges.len() as u64, Relaxed);
        self.files.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, ObjectResult<ObjectPath>>,
    ) -> BoxStream<'static, ObjectResult<ObjectPath>> {
        self.deletes.fetch_add(1, Relaxed);
        self.files.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, ObjectResult<ObjectMeta>> {
        self.lists.fetch_add(1, Relaxed);
        self.files.list(prefix)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&ObjectPath>,
        offset: &ObjectPath,
    ) -> BoxStream<'static, ObjectResult<ObjectMeta>> {
        self.lists.fetch_add(1, Relaxed);
        self.files.list_with_offset(prefix, offset)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> ObjectResult<ListResult> {
        self.lists.fetch_add(1, Relaxed);
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> ObjectResult<()> {
        self.files.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct CountedUpload {
    upload: Box<dyn MultipartUpload>,
    bytes: Arc<AtomicU64>,
}

#[async_trait::async_trait]
impl MultipartUpload for CountedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.bytes.fetch_add(data.content_length() as u64, Relaxed);
        self.upload.put_part(data)
    }

    async fn complete(&mut self) -> ObjectResult<PutResult> {
        self.upload.complete().await
    }

    async fn abort(&mut self) -> ObjectResult<()> {
        self.upload.abort().await
    }
}
