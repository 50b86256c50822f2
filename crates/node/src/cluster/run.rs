//! A node from its start to its end.

use super::crawl_file::CrawlFile;
use super::home::NodeHome;
use super::listen::{Answering, Listener, NodeShown};
use super::node::{Happened, Node, NodeParts};
use super::order::{CrawlOrder, Mandate};
use super::partition::{Opener, PartTell};
use super::send::{Post, Sending};
use super::status::SILENT_AFTER_S;
use super::told::NodeObject;
use super::wire::Note;
use crate::run::{Carrier, Clock, Outgoing, make_network};
use rhumb_cluster::beat::Identity;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::StopReason;
use rhumb_engine::time::Span;
use rhumb_shipped::{BYTES_DEFAULT, Objects, ShippedStore};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::runtime::{Handle, Runtime};

/// Clocks that differ by more than this are worth a word.
const CLOCKS_APART_S: i64 = 60;

/// What a node is told.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    pub store: String,
    pub crawl: String,
    pub dir: PathBuf,
    pub id: Option<String>,
    pub listen: SocketAddr,
    /// Where others reach it, if not where it listens.
    pub advertise: Option<String>,
    /// Where it is, for people.
    pub region: Option<String>,
    /// When it is stopped, its partitions wait so long for it to come back.
    pub rejoin: Option<Span>,
}

/// How a node's run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEnd {
    /// The crawl is over.
    Finished(StopReason),
    /// It was told to leave.
    Left,
    /// Others had given it up, and took over what it had.
    Fenced(String),
    /// Settings have changed that an engine is opened with: it is to begin anew.
    Restart,
}

/// Asks a node to leave.
#[derive(Clone, Debug, Default)]
pub struct Leaver(Arc<AtomicBool>);

impl Leaver {
    pub fn ask(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Runs a node until the crawl is over, or it is told to leave, or cannot go on. `began` is told
/// its id and its address.
pub fn run(
    options: &NodeOptions,
    leaver: &Leaver,
    began: impl FnOnce(&str, &str),
) -> Result<NodeEnd, Error> {
    let objects = Objects::open(&options.store, &options.crawl)?;
    let listener = Listener::bind(options.listen)?;
    let address = advertised(options, listener.address())?;
    let looked = Runtime::new().map_err(no_threads)?;
    let crawl = looked.block_on(joined(&objects, options))?;
    looked.shutdown_background();
    let home =
        NodeHome::take(&options.dir, options.id.as_deref(), (&options.store, &options.crawl))?;
    tracing::info!(node = home.id, %address, crawl = objects.address(), "node begins");
    began(&home.id, &address);
    let mut is_own = home.is_own;
    let mut is_over = false;
    loop {
        let listener = listener.again()?;
        let end =
            run_once(options, &objects, &crawl, (&home, is_own), (listener, &address), leaver);
        match end? {
            NodeEnd::Restart if !leaver.is_asked() => is_own = true,
            NodeEnd::Restart => return Ok(NodeEnd::Left),
            // Once more, for what nobody had when it ended.
            NodeEnd::Finished(_) if !is_over && !leaver.is_asked() => {
                (is_own, is_over) = (true, true);
            }
            end => return Ok(end),
        }
    }
}

fn no_threads(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, format!("no threads: {error}"))
}

/// Where other nodes reach this one.
fn advertised(options: &NodeOptions, listening: SocketAddr) -> Result<String, Error> {
    match &options.advertise {
        Some(address) => Ok(address.clone()),
        None if listening.ip().is_unspecified() => {
            let what = format!(
                "other nodes cannot be told to connect to {listening}: name this machine with \
                 --advertise HOST:{}",
                listening.port()
            );
            Err(Error::new(ErrorKind::Invalid, what))
        }
        None => Ok(listening.to_string()),
    }
}

/// What the crawl is, from a store that can hold one.
async fn joined(objects: &Objects, options: &NodeOptions) -> Result<CrawlFile, Error> {
    let Some(bytes) = objects.crawl().await? else {
        let what = format!(
            "there is no crawl {} in {}: make it with `rhumb cluster create {} --store {}`",
            options.crawl, options.store, options.crawl, options.store
        );
        return Err(Error::new(ErrorKind::Invalid, what));
    };
    let crawl = CrawlFile::parse(&bytes, objects.address())?;
    let probed = objects.probe().await?;
    if probed.clock_ahead_s.abs() > CLOCKS_APART_S {
        let seconds = probed.clock_ahead_s;
        tracing::warn!(seconds, "the store's clock is ahead of this machine's: set both right");
    }
    Ok(crawl)
}

/// All orders that there are.
pub async fn mandate_of(objects: &Objects, crawl: &CrawlFile) -> Result<Mandate, Error> {
    let mut mandate = Mandate::new(&crawl.settings);
    for (number, bytes) in objects.orders_after(0).await? {
        mandate.obey(number, CrawlOrder::decode(number, &bytes)?)?;
    }
    Ok(mandate)
}

fn run_once(
    options: &NodeOptions,
    objects: &Objects,
    crawl: &CrawlFile,
    (home, is_own): (&NodeHome, bool),
    (listener, address): (Listener, &str),
    leaver: &Leaver,
) -> Result<NodeEnd, Error> {
    let runtime = Runtime::new().map_err(no_threads)?;
    let mandate = runtime.block_on(mandate_of(objects, crawl))?;
    let settings = crawl.settings(&mandate.written, home.dir.clone())?;
    let clock = Clock::start();
    let network = make_network(&settings, &runtime)?.among_others(&settings, clock.clone());
    let network = Arc::new(network);
    let store = ShippedStore::start(objects.clone(), crawl.partitions as usize, BYTES_DEFAULT)?;
    let (inbox, happened) = channel();
    let (carrier, post) = wired(options, crawl, &home.id, runtime.handle());
    let noted = inbox.clone();
    let answering = Arc::new(Answering {
        crawl: options.crawl.clone(),
        partitions: crawl.partitions,
        token: crawl.token.clone(),
        carrier: Arc::clone(&carrier),
        noted: Box::new(move |note| drop(noted.send(Happened::Noted(note)))),
        shown: Mutex::new(NodeShown::default()),
    });
    listener.serve(Arc::clone(&answering), runtime.handle());
    let opener = Opener {
        store: Arc::new(store),
        network,
        runtime: runtime.handle().clone(),
        clock: clock.clone(),
        carrier: Arc::clone(&carrier),
        crawl: crawl.clone(),
        node: home.id.clone(),
        dir: home.dir.clone(),
        tell: part_tell(inbox.clone()),
    };
    if let Some(reason) = mandate.ended {
        finish_unowned(&opener, &mandate);
        runtime.shutdown_background();
        return Ok(NodeEnd::Finished(reason));
    }
    let identity = Identity {
        id: home.id.clone(),
        run: std::hash::RandomState::new().hash_one(std::process::id()),
        address: address.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        weight: 1,
    };
    let parts = NodeParts {
        clock,
        objects: objects.clone(),
        opener: Arc::new(opener),
        carrier,
        post,
        answering,
        identity,
        has_own_disk: is_own,
        settings,
        mandate,
        rejoin: options.rejoin,
        region: options.region.clone().unwrap_or_default(),
        leaver: leaver.clone(),
    };
    let ended = Node::new(parts, inbox)?.run(&happened);
    runtime.shutdown_background();
    ended
}

/// The crawl is over. Partitions that had no owner when it ended may have pieces of files, which
/// nobody else will make whole: any node that is started does.
fn finish_unowned(opener: &Opener, mandate: &Mandate) {
    let objects = opener.store.objects();
    let left = opener.store.handle().block_on(async {
        let owned: BTreeSet<u32> = living(objects).await?.into_iter().collect();
        let mut left = Vec::new();
        for partition in (0..opener.crawl.partitions).filter(|p| !owned.contains(p)) {
            if objects.has_pieces(partition).await? {
                left.push(partition);
            }
        }
        Ok::<_, Error>(left)
    });
    let finished = left.and_then(|left| {
        left.into_iter().try_for_each(|partition| {
            tracing::info!(partition, "nobody has it: its files are made whole");
            opener.finish(partition, mandate)
        })
    });
    if let Err(error) = finished {
        tracing::warn!(error = %error.what, "not all files of the crawl are whole");
    }
}

/// The partitions that nodes own which are still there.
async fn living(objects: &Objects) -> Result<Vec<u32>, Error> {
    let ages: BTreeMap<String, u64> = objects.node_ages_s().await?.into_iter().collect();
    let nodes = objects.nodes().await?.into_iter();
    let living = nodes.filter(|(id, _)| ages.get(id).is_some_and(|age| *age <= SILENT_AFTER_S));
    let beats = living.filter_map(|(_, bytes)| Some(NodeObject::decode(&bytes)?.beat));
    Ok(beats.flat_map(|beat| beat.owned.into_keys()).collect())
}

fn part_tell(inbox: Sender<Happened>) -> PartTell {
    // A node that has ended listens to nothing.
    Arc::new(move |partition, epoch, event| {
        drop(inbox.send(Happened::Part { partition, epoch, event }))
    })
}

/// What carries messages between partitions here, and to those of other nodes.
fn wired(
    options: &NodeOptions,
    crawl: &CrawlFile,
    node: &str,
    runtime: &Handle,
) -> (Arc<Carrier>, Arc<Post>) {
    let post: Arc<OnceLock<Arc<Post>>> = Arc::new(OnceLock::new());
    let carrier: Arc<OnceLock<Arc<Carrier>>> = Arc::new(OnceLock::new());
    let (sends, tells) = (Arc::clone(&post), Arc::clone(&carrier));
    let away = move |outgoing: Outgoing| {
        let Some(post) = sends.get() else { return };
        post.send(match outgoing {
            Outgoing::Message { from, to, number, message } => {
                Note::Message { from, to, number, message: message.to_vec() }
            }
            Outgoing::Acknowledgement { by, to, number } => {
                Note::Acknowledgement { by, to, number }
            }
        });
    };
    let made = Carrier::among(crawl.partitions, Some(Box::new(away)));
    let sending = Sending {
        crawl: options.crawl.clone(),
        node: node.to_owned(),
        token: crawl.token.clone(),
        runtime: runtime.clone(),
        arrived: Box::new(move |from, to| {
            if let Some(carrier) = tells.get() {
                carrier.arrived(from, to);
            }
        }),
    };
    let made_post = Arc::new(Post::new(sending));
    let _ = (post.set(Arc::clone(&made_post)), carrier.set(Arc::clone(&made)));
    (made, made_post)
}
