//! Sending notes to other nodes: one connection to each, one batch after the other on it, so that
//! what is sent first comes first. What cannot be sent is dropped; whoever needs it sends it again.

use super::crawl_file::OBJECTS_FORMAT;
use super::wire::{BATCH_BYTES, Note, NoteBatch, pack};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Notes that wait for one node; more are dropped.
const WAITING_MAX: usize = 4_096;
/// Others may come meanwhile …
const GATHER: Duration = Duration::from_millis(200);
/// … unless there are so many URLs already.
const ITEMS_ENOUGH: usize = 1_000;
/// A batch that is not taken in this time is lost.
const SENT_WITHIN: Duration = Duration::from_secs(5);
/// After a batch that was lost.
const REST: Duration = Duration::from_millis(500);
/// Where batches are sent to.
pub const PATH: &str = "/notes";

/// What every batch says, and who is told of it.
pub struct Sending {
    pub crawl: String,
    pub node: String,
    pub token: String,
    pub runtime: Handle,
    /// Messages of these pairs have arrived.
    pub arrived: Box<dyn Fn(u32, u32) + Send + Sync>,
}

/// Who owns what, and the way there.
pub struct Post {
    sending: Arc<Sending>,
    inner: Mutex<Inner>,
    counts: Arc<Mutex<PostCounts>>,
}

#[derive(Default)]
struct Inner {
    /// Addresses of owners, by partition.
    routes: BTreeMap<u32, String>,
    peers: BTreeMap<String, mpsc::Sender<Note>>,
}

/// What was sent, for those who watch.
#[derive(Clone, Debug, Default)]
pub struct PostCounts {
    pub requests: u64,
    pub items: u64,
    pub bytes: u64,
    /// Dropped since nobody owns their addressee, or since too many waited.
    pub dropped: u64,
    /// Nodes that did not take the last batch, why, and since when.
    pub failing: BTreeMap<String, (String, Instant)>,
}

impl Post {
    pub fn new(sending: Sending) -> Post {
        Post { sending: Arc::new(sending), inner: Mutex::default(), counts: Arc::default() }
    }

    /// From now on these are the owners of partitions; own ones are not among them.
    pub fn route(&self, routes: BTreeMap<u32, String>) {
        let mut inner = self.lock();
        let there: BTreeSet<&String> = routes.values().collect();
        inner.peers.retain(|address, _| there.contains(address));
        self.counts().failing.retain(|address, _| there.contains(address));
        inner.routes = routes;
    }

    /// To whoever owns the addressee.
    pub fn send(&self, note: Note) {
        match note.addressee() {
            Some(partition) => self.send_to_owner(partition, note),
            None => self.counts().dropped += 1,
        }
    }

    /// To the owner of this partition.
    pub fn send_to_owner(&self, partition: u32, note: Note) {
        let address = self.lock().routes.get(&partition).cloned();
        match address {
            Some(address) => self.send_to(&address, note),
            None => self.counts().dropped += 1,
        }
    }

    pub fn send_to(&self, address: &str, note: Note) {
        let mut inner = self.lock();
        let peer = inner.peers.entry(address.to_owned()).or_insert_with(|| {
            let (notes, waiting) = mpsc::channel(WAITING_MAX);
            let (sending, counts) = (Arc::clone(&self.sending), Arc::clone(&self.counts));
            let peer = Peer { address: address.to_owned(), sending, counts, connection: None };
            self.sending.runtime.spawn(peer.run(waiting));
            notes
        });
        if peer.try_send(note).is_err() {
            self.counts().dropped += 1;
        }
    }

    pub fn told(&self) -> PostCounts {
        self.counts().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, PostCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Another node.
struct Peer {
    address: String,
    sending: Arc<Sending>,
    counts: Arc<Mutex<PostCounts>>,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Peer {
    async fn run(mut self, mut waiting: mpsc::Receiver<Note>) {
        let mut last: Option<Instant> = None;
        while let Some(first) = waiting.recv().await {
            // What comes alone need not wait.
            let gathered = last.map_or(GATHER, |at| at.elapsed());
            let notes = gather(first, &mut waiting, GATHER.saturating_sub(gathered)).await;
            last = Some(Instant::now());
            let pairs: BTreeSet<(u32, u32)> = notes.iter().filter_map(pair).collect();
            let items: usize = notes.iter().map(Note::items).sum();
            let batch = NoteBatch {
                format: OBJECTS_FORMAT,
                crawl: self.sending.crawl.clone(),
                node: self.sending.node.clone(),
                notes,
            };
            let body = pack(&batch);
            let bytes = body.len();
            let sent = match timeout(SENT_WITHIN, self.post(body.into())).await {
                Ok(sent) => sent,
                Err(_) => Err(format!("no answer within {} s", SENT_WITHIN.as_secs())),
            };
            self.count(&sent, items, bytes);
            match sent {
                Ok(()) => pairs.iter().for_each(|(from, to)| (self.sending.arrived)(*from, *to)),
                Err(why) => {
                    tracing::debug!(address = self.address, why, "notes were not taken");
                    self.connection = None;
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    fn count(&self, sent: &Result<(), String>, items: usize, bytes: usize) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.requests += 1;
        counts.items += items as u64;
        counts.bytes += bytes as u64;
        match sent {
            Ok(()) => drop(counts.failing.remove(&self.address)),
            Err(why) => {
                let failing = counts.failing.entry(self.address.clone());
                failing.or_insert_with(|| (why.clone(), Instant::now())).0.clone_from(why);
            }
        }
    }

    async fn post(&mut self, body: Bytes) -> Result<(), String> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => connect(&self.address).await?,
        };
        connection.ready().await.map_err(|error| error.to_string())?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(PATH)
            .header(HOST, &self.address)
            .header(AUTHORIZATION, format!("Bearer {}", self.sending.token))
            .body(Full::new(body))
            .map_err(|error| error.to_string())?;
        let answer = connection.send_request(request).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        let said = answer.into_body().collect().await.map_err(|error| error.to_string())?;
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&said.to_bytes()).into_owned();
            return Err(format!("{status}: {said}"));
        }
        self.connection = Some(connection);
        Ok(())
    }
}

fn pair(note: &Note) -> Option<(u32, u32)> {
    match note {
        Note::Message { from, to, .. } => Some((*from, *to)),
        _ => None,
    }
}

/// What comes within a moment, up to a batch.
async fn gather(first: Note, waiting: &mut mpsc::Receiver<Note>, within: Duration) -> Vec<Note> {
    let mut notes = vec![first];
    let mut items = notes[0].items();
    let mut bytes = estimate(&notes[0]);
    let end = tokio::time::sleep(within);
    tokio::pin!(end);
    while items < ITEMS_ENOUGH && bytes < BATCH_BYTES {
        tokio::select! {
            biased;
            note = waiting.recv() => {
                let Some(note) = note else { break };
                items += note.items();
                bytes += estimate(&note);
                notes.push(note);
            }
            () = &mut end => break,
        }
    }
    notes
}

/// Bytes of a note before it is packed, roughly.
fn estimate(note: &Note) -> usize {
    const SMALL: usize = 64;
    const REPORT: usize = 4 << 10;
    match note {
        Note::Message { message, .. } => {
            message.iter().map(|item| item.url.as_str().len() + SMALL).sum()
        }
        Note::Report { .. } => REPORT,
        _ => SMALL,
    }
}

async fn connect(address: &str) -> Result<SendRequest<Full<Bytes>>, String> {
    let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let _ = stream.set_nodelay(true);
    let (sender, connection) =
        handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        // It ends with its sender, or when the other node goes.
        let _ = connection.await;
    });
    Ok(sender)
}
