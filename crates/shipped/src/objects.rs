//! The objects of a crawl, under `PREFIX/NAME` of a store.
//!
//! | object | what | written |
//! |---|---|---|
//! | `crawl.toml` | what the crawl is | once, if absent |
//! | `orders/000007` | what its owner asks of it | if absent, in order |
//! | `nodes/ID` | a node's heart-beat | by its node, over and over |
//! | `p/017/claim` | the last epoch in which it was opened, and by whom | by every opening |
//! | `p/017/db/…` | a partition's database | by SlateDB |
//! | `p/017/warc/NAME/…` | pieces of a WARC file that is being written | if absent |
//! | `warc/…`, `cdxj/…` | whole files and their index lines | when they are whole |
//!
//! An answer may be lost after the store has written: so nothing that is put if absent is equal to
//! what somebody else would put there, and who finds their own bytes has put them.

use crate::address::{self, StoreAddress};
use crate::error::of_store;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use rhumb_engine::error::{Error, ErrorKind};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tries to put an object if absent, while the store gives answers that say nothing.
const TRIES_MAX: u32 = 6;
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Objects that are fetched at once.
const GETS_MAX: usize = 16;
/// A crawl's name is part of every object's.
const NAME_BYTES_MAX: usize = 100;

const CRAWL: &str = "crawl.toml";
const ORDERS: &str = "orders";
const NODES: &str = "nodes";
/// Begins the first line of what is put if absent by several; its number makes it unlike others.
const STAMP: &str = "# put ";

/// What became of an object that was put if absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    New,
    /// Somebody was first.
    Taken,
}

/// Where a crawl's objects are. Its methods can be awaited on any tokio runtime with IO and time.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    root: Path,
    /// As people write it, for errors.
    address: String,
    has_updates: bool,
}

impl Objects {
    /// The objects of a crawl in the store that an address like `s3://bucket/prefix` names. Keys,
    /// region and endpoint are the usual variables, `AWS_*` and the like. Nothing is asked yet.
    pub fn open(address: &str, crawl: &str) -> Result<Objects, Error> {
        let StoreAddress { store, prefix, has_updates } = address::open(address)?;
        check_name("crawl", crawl)?;
        let address = format!("{}/{crawl}", address.trim_end_matches('/'));
        Ok(Objects { store, root: prefix.join(crawl), address, has_updates })
    }

    /// The objects of a crawl in a store that the caller made: one that counts, or fails.
    /// `has_updates`: it can replace an object if that is still the same.
    pub fn over(
        store: Arc<dyn ObjectStore>,
        has_updates: bool,
        crawl: &str,
    ) -> Result<Objects, Error> {
        check_name("crawl", crawl)?;
        let address = format!("{store}/{crawl}");
        Ok(Objects { store, root: Path::from(crawl), address, has_updates })
    }

    /// The objects of another crawl in the same store.
    pub fn of_crawl(&self, crawl: &str) -> Result<Objects, Error> {
        check_name("crawl", crawl)?;
        let (prefix, _) = self.address.rsplit_once('/').expect("a crawl's name was added");
        let parts: Vec<_> = self.root.parts().collect();
        let root = parts[..parts.len() - 1].iter().cloned().collect::<Path>().join(crawl);
        let address = format!("{prefix}/{crawl}");
        Ok(Objects { store: Arc::clone(&self.store), root, address, has_updates: self.has_updates })
    }

    /// As people write it.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether there is an object of this crawl, whoever put it there.
    pub async fn is_empty(&self) -> Result<bool, Error> {
        let first = self.store.list(Some(&self.root)).next().await;
        first.transpose().map(|first| first.is_none()).map_err(|e| of_store(&self.address, e))
    }

    /// Makes the crawl: from now on its name is taken.
    pub async fn put_crawl(&self, toml: &str) -> Result<Put, Error> {
        self.put_stamped(CRAWL, toml.as_bytes()).await
    }

    /// What the crawl is; none if nobody made one of this name.
    pub async fn crawl(&self) -> Result<Option<Bytes>, Error> {
        Ok(self.get(CRAWL).await?.map(without_stamp))
    }

    /// Puts an order with the next number. If that is taken, look at what it says, and take
    /// another.
    pub async fn put_order(&self, number: u64, order: &[u8]) -> Result<Put, Error> {
        self.put_stamped(&order_name(number), order).await
    }

    /// The orders behind this number, up to the first that is not there.
    pub async fn orders_after(&self, number: u64) -> Result<Vec<(u64, Bytes)>, Error> {
        let mut orders = Vec::new();
        for number in number + 1.. {
            match self.get(&order_name(number)).await? {
                Some(order) => orders.push((number, without_stamp(order))),
                None => break,
            }
        }
        Ok(orders)
    }

    /// A node's heart-beat.
    pub async fn put_node(&self, id: &str, beat: Bytes) -> Result<(), Error> {
        check_name("node", id)?;
        self.put(&format!("{NODES}/{id}"), beat).await
    }

    /// How long ago each node's heart-beat was written, by the store's clock as against ours: for
    /// people alone.
    pub async fn node_ages_s(&self) -> Result<Vec<(String, u64)>, Error> {
        let folder = self.path(NODES);
        let listed: Vec<_> = self.store.list(Some(&folder)).try_collect().await.map_err(|e| {
            let what = format!("{}: the list of {folder}", self.address);
            of_store(&what, e)
        })?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
        let age = |meta: &object_store::ObjectMeta| {
            let name = meta.location.filename()?.to_owned();
            Some((name, (now - meta.last_modified.timestamp()).max(0) as u64))
        };
        Ok(listed.iter().filter_map(age).collect())
    }

    /// The heart-beats of all nodes.
    pub async fn nodes(&self) -> Result<Vec<(String, Bytes)>, Error> {
        let names = self.names(NODES).await?;
        let beat = async |id: String| {
            let beat = self.get(&format!("{NODES}/{id}")).await?;
            Ok::<_, Error>(beat.map(|beat| (id, beat)))
        };
        let beats = stream::iter(names.into_iter().map(|(id, _)| beat(id)));
        let beats: Vec<_> = beats.buffered(GETS_MAX).try_collect().await?;
        // One that left meanwhile has none.
        Ok(beats.into_iter().flatten().collect())
    }

    /// A node that does not come back takes its heart-beat along.
    pub async fn remove_node(&self, id: &str) -> Result<(), Error> {
        check_name("node", id)?;
        self.remove(&format!("{NODES}/{id}")).await
    }

    /// Puts an object if there is none of its name. The bytes are unlike those that anybody else
    /// would put there.
    pub(crate) async fn put_new(&self, name: &str, body: Bytes) -> Result<Put, Error> {
        let mut last = None;
        for tried in 0..TRIES_MAX {
            if tried > 0 {
                tokio::time::sleep(TRY_AGAIN_AFTER * tried).await;
            }
            let put = self.create(name, body.clone()).await;
            match put {
                Ok(()) => return Ok(Put::New),
                Err(error) if is_taken(&error) => match self.get(name).await {
                    Ok(Some(there)) if there == body => return Ok(Put::New),
                    Ok(Some(_)) => return Ok(Put::Taken),
                    // The answer was of an attempt that came to nothing.
                    Ok(None) => {}
                    Err(error) => last = Some(error),
                },
                Err(error) => {
                    let error = self.error(name, error);
                    if error.kind != ErrorKind::Retry {
                        return Err(error);
                    }
                    last = Some(error);
                }
            }
        }
        Err(last.unwrap_or_else(|| {
            let what = format!("{}/{name}: the store refuses and has nothing there", self.address);
            Error::new(ErrorKind::Retry, what)
        }))
    }

    /// One attempt.
    pub(crate) async fn create(&self, name: &str, body: Bytes) -> object_store::Result<()> {
        let options = PutOptions::from(PutMode::Create);
        self.store.put_opts(&self.path(name), body.into(), options).await.map(drop)
    }

    async fn put_stamped(&self, name: &str, body: &[u8]) -> Result<Put, Error> {
        let number = std::hash::RandomState::new().hash_one(std::process::id());
        let stamp = format!("{STAMP}{number:016x}\n");
        self.put_new(name, [stamp.as_bytes(), body].concat().into()).await
    }

    /// Puts an object, whether there is one or not.
    pub(crate) async fn put(&self, name: &str, body: Bytes) -> Result<(), Error> {
        let put = self.store.put(&self.path(name), body.into()).await;
        put.map(drop).map_err(|e| self.error(name, e))
    }

    pub(crate) async fn get(&self, name: &str) -> Result<Option<Bytes>, Error> {
        let got = match self.store.get(&self.path(name)).await {
            Ok(got) => got.bytes().await,
            Err(e) => Err(e),
        };
        match got {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(self.error(name, e)),
        }
    }

    /// Removes an object, if it is there.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Error> {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(self.error(name, e)),
        }
    }

    /// The objects in a folder: what of their names follows it, and their bytes, in order.
    pub(crate) async fn names(&self, folder: &str) -> Result<Vec<(String, u64)>, Error> {
        let folder = self.path(folder);
        let listed: Vec<_> = self.store.list(Some(&folder)).try_collect().await.map_err(|e| {
            let what = format!("{}: the list of {folder}", self.address);
            of_store(&what, e)
        })?;
        let name = |location: &Path| {
            let parts: Vec<_> = location.prefix_match(&folder)?.collect();
            let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
            Some(parts.join("/"))
        };
        let mut names: Vec<_> =
            listed.iter().filter_map(|meta| Some((name(&meta.location)?, meta.size))).collect();
        names.sort();
        Ok(names)
    }

    pub(crate) fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    pub(crate) fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    pub(crate) fn has_updates(&self) -> bool {
        self.has_updates
    }

    pub(crate) fn error(&self, name: &str, error: object_store::Error) -> Error {
        of_store(&format!("{}/{name}", self.address), error)
    }
}

/// Whether a put if absent was refused because there is something, as far as the answer goes.
pub(crate) fn is_taken(error: &object_store::Error) -> bool {
    use object_store::Error::{AlreadyExists, Precondition};
    matches!(error, AlreadyExists { .. } | Precondition { .. })
}

fn order_name(number: u64) -> String {
    format!("{ORDERS}/{number:06}")
}

fn without_stamp(body: Bytes) -> Bytes {
    match body.iter().position(|byte| *byte == b'\n') {
        Some(end) if body.starts_with(STAMP.as_bytes()) => body.slice(end + 1..),
        _ => body,
    }
}

/// Names become parts of paths, everywhere the same.
fn check_name(of: &str, name: &str) -> Result<(), Error> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = name.bytes().all(is_plain)
        && (1..=NAME_BYTES_MAX).contains(&name.len())
        && !name.starts_with('.');
    if is_name {
        return Ok(());
    }
    let what = format!(
        "{name:?} cannot be the name of a {of}: use up to {NAME_BYTES_MAX} letters, digits, \
         '-', '_' and '.', and begin with none of the last"
    );
    Err(Error::new(ErrorKind::Invalid, what))
}
