//! What the membership machine asks for, done against the store. Each is answered by something that
//! happened, and a lost answer is a failure after a time.

use super::node::Happened;
use super::order::CrawlOrder;
use super::told::NodeObject;
use crate::run::Clock;
use rhumb_cluster::event::MemberEvent;
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_shipped::{Objects, Shipping};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// A look or a heart-beat that takes longer is worth nothing.
const ANSWERED_WITHIN: Duration = Duration::from_secs(6);
/// What is written once may take its time.
const WRITTEN_WITHIN: Duration = Duration::from_secs(30);

/// Does what is asked for, beside the loop.
pub struct Performer {
    pub objects: Objects,
    pub runtime: Handle,
    pub clock: Clock,
    pub inbox: Sender<Happened>,
}

async fn within<T>(
    time: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = || {
        let what = format!("the store did not answer within {} s", time.as_secs());
        Error::new(ErrorKind::Retry, what)
    };
    timeout(time, work).await.unwrap_or_else(|_| Err(late()))
}

impl Performer {
    fn spawn(&self, work: impl Future<Output = Happened> + Send + 'static) {
        let inbox = self.inbox.clone();
        self.runtime.spawn(async move {
            // A node that has ended listens to nothing.
            drop(inbox.send(work.await));
        });
    }

    /// Reads the objects of all nodes.
    pub fn look(&self) {
        let (objects, clock) = (self.objects.clone(), self.clock.clone());
        self.spawn(async move {
            let began = clock.now();
            let nodes = within(ANSWERED_WITHIN, objects.nodes()).await;
            let objects = nodes.map(|nodes| {
                nodes.iter().filter_map(|(_, bytes)| NodeObject::decode(bytes)).collect()
            });
            Happened::Looked { began, objects }
        });
    }

    pub fn beat(&self, object: NodeObject) {
        let (objects, clock) = (self.objects.clone(), self.clock.clone());
        let counter = object.beat.counter;
        self.spawn(async move {
            let began = clock.now();
            let put = objects.put_node(&object.beat.node.id, object.encode().into());
            Happened::Member(match within(ANSWERED_WITHIN, put).await {
                Ok(()) => MemberEvent::Beaten { counter, began },
                Err(error) => {
                    tracing::warn!(error = %error.what, "no heart-beat");
                    MemberEvent::BeatFailed { counter }
                }
            })
        });
    }

    /// Looks for orders behind this one.
    pub fn poll(&self, after: u64) {
        let (objects, clock) = (self.objects.clone(), self.clock.clone());
        self.spawn(async move {
            let began = clock.now();
            let orders = within(WRITTEN_WITHIN, objects.orders_after(after)).await;
            let decode = |(number, bytes): (u64, bytes::Bytes)| {
                CrawlOrder::decode(number, &bytes).map(|order| (number, order))
            };
            let orders = orders.and_then(|orders| orders.into_iter().map(decode).collect());
            Happened::Polled { began, orders }
        });
    }

    /// Makes a write durable, to prove that nobody else has the partition.
    pub fn prove(&self, partition: u32, epoch: u64, shipping: &Arc<Shipping>) {
        let (shipping, clock) = (Arc::clone(shipping), self.clock.clone());
        self.spawn(async move {
            let began = clock.now();
            let confirmed = within(ANSWERED_WITHIN, shipping.confirm()).await;
            drop(shipping);
            Happened::Member(match confirmed {
                Ok(()) => MemberEvent::Durable { partition, epoch, began },
                Err(error) if error.kind == ErrorKind::Fenced => MemberEvent::Fenced { partition },
                // It asks again.
                Err(_) => MemberEvent::Tick,
            })
        });
    }

    /// Writes the ledger of the limits into partition 0.
    pub fn keep(&self, ledger: Vec<u8>, shipping: &Arc<Shipping>) {
        let shipping = Arc::clone(shipping);
        self.spawn(async move {
            let kept = within(WRITTEN_WITHIN, shipping.keep(&ledger)).await;
            drop(shipping);
            Happened::LedgerWritten(kept.is_ok())
        });
    }

    /// Puts the end of the crawl as the next order, unless there is another.
    pub fn put_end(&self, number: u64, order: &CrawlOrder) {
        let (objects, bytes) = (self.objects.clone(), order.encode());
        self.spawn(async move {
            if let Err(error) = within(WRITTEN_WITHIN, objects.put_order(number, &bytes)).await {
                tracing::warn!(error = %error.what, "the end cannot be put");
            }
            Happened::EndPut
        });
    }
}
