//! Whether a store keeps to what a crawl rests on. Some ignore the condition of a put, some let two
//! puts at once both win, some list late: a crawl there would lose pages without a word.

use crate::objects::{Objects, is_taken};
use bytes::Bytes;
use futures_util::future::join_all;
use rhumb_engine::error::{Error, ErrorKind};
use std::hash::BuildHasher;
use std::time::{SystemTime, UNIX_EPOCH};

/// Puts of one name at once, of which one may win.
const PUTS_AT_ONCE: usize = 16;
/// So often: a race is not lost every time.
const RACES: usize = 4;
const FOLDER: &str = "probe";

/// What was learnt of a store that can be used.
#[derive(Clone, Copy, Debug)]
pub struct Probed {
    /// How far the store's clock is before ours.
    pub clock_ahead_s: i64,
}

impl Objects {
    /// Puts, reads, lists and removes a few objects of its own, and refuses a store that lies.
    pub async fn probe(&self) -> Result<Probed, Error> {
        let number = std::hash::RandomState::new().hash_one(std::process::id());
        let folder = format!("{FOLDER}/{number:016x}");
        let probed = self.probe_in(&folder).await;
        // What was found out matters more than what is left lying about.
        let cleaned = self.remove_all(&folder).await;
        let probed = probed?;
        cleaned?;
        Ok(probed)
    }

    async fn probe_in(&self, folder: &str) -> Result<Probed, Error> {
        let name = format!("{folder}/one");
        let first = Bytes::from_static(b"first");
        self.create(&name, first.clone()).await.map_err(|e| self.error(&name, e))?;
        match self.create(&name, Bytes::from_static(b"second")).await {
            Ok(()) => return Err(self.lies("it puts over an object though told not to")),
            Err(e) if is_taken(&e) => {}
            Err(e) => return Err(self.error(&name, e)),
        }
        if self.get(&name).await?.as_ref() != Some(&first) {
            return Err(self.lies("an object is not what was put first"));
        }
        if !self.names(folder).await?.iter().any(|(listed, _)| listed == "one") {
            return Err(self.lies("a list lacks an object that was put before"));
        }
        for race in 0..RACES {
            self.race(&format!("{folder}/race-{race}")).await?;
        }
        Ok(Probed { clock_ahead_s: self.clock_ahead_s(&name).await? })
    }

    async fn race(&self, name: &str) -> Result<(), Error> {
        let bytes = |n: usize| Bytes::from(format!("put {n}"));
        let puts = join_all((0..PUTS_AT_ONCE).map(|n| self.create(name, bytes(n)))).await;
        let mut winners = Vec::new();
        for (n, put) in puts.into_iter().enumerate() {
            match put {
                Ok(()) => winners.push(n),
                Err(e) if is_taken(&e) => {}
                Err(e) => return Err(self.error(name, e)),
            }
        }
        let there = self.get(name).await?;
        match winners[..] {
            [winner] if there == Some(bytes(winner)) => Ok(()),
            // Answers may tell of a clash that nobody won; nothing is wrong if nothing is there.
            [] if there.is_none() => Ok(()),
            _ => {
                let what = format!("of {PUTS_AT_ONCE} puts at once {} won", winners.len());
                Err(self.lies(&what))
            }
        }
    }

    async fn clock_ahead_s(&self, name: &str) -> Result<i64, Error> {
        use object_store::ObjectStoreExt;
        let head = self.store().head(&self.path(name)).await.map_err(|e| self.error(name, e))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(head.last_modified.timestamp() - now.as_secs() as i64)
    }

    /// Removes all that is in a folder.
    pub(crate) async fn remove_all(&self, folder: &str) -> Result<(), Error> {
        for (name, _) in self.names(folder).await? {
            self.remove(&format!("{folder}/{name}")).await?;
        }
        Ok(())
    }

    fn lies(&self, how: &str) -> Error {
        let what = format!(
            "{} cannot hold a crawl: {how}; two nodes could own one partition. Use a store with \
             conditional puts (If-None-Match) that are atomic",
            self.address()
        );
        Error::new(ErrorKind::Invalid, what)
    }
}
