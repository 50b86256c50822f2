//! A partition as a node runs it: a local store, an archive, and the copy that follows them.

use crate::chance::Chance;
use rhumb_archive::{
    Capture, Packer, RecordContent, RecordReader, WarcWriter, Warcinfo, WriterLimits,
};
use rhumb_engine::error::Error;
use rhumb_engine::event::Row;
use rhumb_engine::record::{RecordStatus, UrlId, UrlRecord};
use rhumb_engine::rng::Rng;
use rhumb_engine::time::Time;
use rhumb_engine::turn::{ArchivePosition, State};
use rhumb_page::url::Url;
use rhumb_shipped::{Objects, OpenedHow, ShippedStore, Shipping, ShippingProgress};
use rhumb_state::local::{Home, LocalState};
use rhumb_state::memory::MemoryState;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const SEED: u64 = 11;
/// So few that most rounds begin to flush some.
const FLUSH_BYTES: usize = 6 << 10;
/// So few that a file takes some captures only.
const FILE_BYTES: u64 = 6 << 10;
const NUMBER: u32 = 7;
/// Numbers of pages that are kept begin here.
const KEPT: u64 = 1_000;
/// Nobody waits so long: a test that does has failed.
const LONG: Duration = Duration::from_secs(120);

pub struct Partition {
    pub state: LocalState,
    pub archive: WarcWriter,
    pub shipping: Option<Shipping>,
    pub opened: OpenedHow,
    pub epoch: u64,
    pub store: ShippedStore,
    opening: String,
    rng: Rng,
}

impl Partition {
    /// Takes the partition of a crawl in this store, with a directory of the node's own.
    pub fn take(address: &str, node: &str, dir: &Path) -> Result<Partition, Error> {
        Partition::take_in(Objects::open(address, "crawl")?, node, dir)
    }

    pub fn take_in(objects: Objects, node: &str, dir: &Path) -> Result<Partition, Error> {
        let store = ShippedStore::start(objects, 4, 16 << 20)?;
        let taken = store.handle().block_on(store.take(NUMBER, node, dir))?;
        let (opened, epoch) = (taken.opened(), taken.epoch());
        let home = Home::open(&dir.join("state"))?;
        let info = Warcinfo { id: taken.file_id(), ..Warcinfo::default() };
        let limits = WriterLimits { file_bytes_max: FILE_BYTES, ..WriterLimits::default() };
        let mut archive = WarcWriter::open(dir, info, limits, None).expect("an archive");
        archive.begin_anew();
        let end = position(&archive);
        let (state, opening, follow) = LocalState::open_followed(home, SEED, end)?;
        let state = state.with_fresh_bytes(FLUSH_BYTES);
        let shipping = Some(taken.follow(&store, follow, || 0, |_| {}));
        let (opening, rng) = (format!("{opening:?}"), Rng::new(epoch));
        Ok(Partition { state, archive, shipping, opened, epoch, store, opening, rng })
    }

    /// What the engine would start from.
    pub fn opening(&self) -> &str {
        &self.opening
    }

    /// A commit of some rows, here and in the model.
    pub fn commit(&mut self, chance: &mut Chance, model: &mut MemoryState) {
        let mut rows: Vec<Row> = (0..chance.below(40)).map(|_| chance.row()).collect();
        model.commit(&mut rows.clone());
        let archived = position(&self.archive);
        self.state.commit(&mut rows, archived).expect("a commit");
        if chance.below(10) == 0 {
            self.archive.sync().expect("a sync");
            self.state.sync().expect("a sync");
        }
    }

    /// Keeps a page, and commits that it is kept.
    pub fn fetch(&mut self, n: u64, model: &mut MemoryState) {
        let url = Url::parse(&format!("http://kept.test/{n}")).expect("a URL");
        let body: String = (0..60).map(|_| format!("{:x} ", self.rng.draw())).collect();
        let response = format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes();
        let packed = Packer::default().capture(&Capture {
            protocol: None,
            resource_type: None,
            url: &url,
            fetched_us: 1_763_240_820_000_000 + n,
            address: None,
            content: RecordContent::Http {
                request: b"GET / HTTP/1.1\r\n\r\n",
                response: &response,
            },
            truncated: None,
            notes: &[],
        });
        self.archive.append(&packed).expect("kept");
        self.archive.flush().expect("flushed");
        let record = UrlRecord::new(UrlId(KEPT + n), RecordStatus::Fetched, 0, 0, Time(n));
        let archived = position(&self.archive);
        let mut rows = vec![Row::Url { key: url.key(), record }];
        model.commit(&mut rows.clone());
        self.state.commit(&mut rows, archived).expect("a commit");
        if n.is_multiple_of(5) {
            self.archive.sync().expect("a sync");
            self.state.sync().expect("a sync");
        }
    }

    /// Pages that rows say are kept: each fetch is a commit, and nothing else is.
    pub fn pages(&self) -> u64 {
        self.state.commits()
    }

    pub fn pages_shipped(&self) -> u64 {
        self.shipping().progress().shipped
    }

    /// Every page that rows say is kept is in a whole file, once those that have ended are.
    pub fn assert_archive_has_what_rows_claim(&self, dir: &Path) {
        let handle = self.store.handle();
        let ended = handle.block_on(self.shipping().finish(LONG));
        assert_eq!((ended.files, ended.failed.map(|e| e.what)), (0, None));
        handle.block_on(self.store.objects().export(dir)).expect("exported");
        let mut kept = BTreeSet::new();
        for (_, path) in rhumb_archive::warc_files(dir).expect("files") {
            for record in RecordReader::open(&path).expect("a file") {
                kept.extend(record.expect("a whole record").target().map(str::to_owned));
            }
        }
        let index = std::fs::read_to_string(dir.join("index.cdxj")).expect("an index");
        let urls: Result<Vec<_>, _> = self.state.reader().urls().collect();
        for (key, record) in urls.expect("all URLs") {
            if record.id.0 >= KEPT {
                let url = format!("http://kept.test/{}", record.id.0 - KEPT);
                assert!(kept.contains(&url), "{key:?} is claimed, and not kept");
                assert!(index.contains(&format!("\"{url}\"")), "{url} is not in the index");
            }
        }
    }

    pub fn shipping(&self) -> &Shipping {
        self.shipping.as_ref().expect("it is shipped")
    }

    /// Ships all that is committed.
    pub fn drain(&self) -> ShippingProgress {
        self.drain_within(LONG)
    }

    pub fn drain_within(&self, within: Duration) -> ShippingProgress {
        self.store.handle().block_on(self.shipping().drain(within))
    }

    /// As a kill does: nothing is said to anybody.
    pub fn kill(self) {}
}

pub fn position(archive: &WarcWriter) -> ArchivePosition {
    archive.position().map_or(ArchivePosition::default(), |at| ArchivePosition {
        file: at.file,
        length: at.length,
    })
}

/// A store of files in a directory, and where a node keeps its own.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().expect("a directory") }
    }

    pub fn address(&self) -> String {
        format!("file://{}/bucket", self.dir.path().display())
    }

    pub fn node(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}
