//! What survives the machine? The copy of a crawl's state and archive in an object store.
//!
//! A crawl over several machines lives under `PREFIX/NAME` of an object store ([`Objects`]). Each
//! partition has a SlateDB database there, behind its local store, which stays what answers
//! questions. A task follows the local journal ([`Shipping`]): every two seconds it puts the bytes
//! that the archive has gained as a piece, then the journal's frames as one row. A commit is
//! *shipped* when the row of its frame is durable: it survives the machine. When a file of the
//! journal is full and shipped, its rows are merged and written, and the frames that they came from
//! are deleted. An opening elsewhere reads rows, then frames ([`ShippedStore::take`]).
//!
//! Opening a database fences whoever had it: their next write fails with
//! [`ErrorKind::Fenced`](rhumb_engine::error::ErrorKind::Fenced). So what survives never depends on
//! a clock.
//!
//! This room never decides who owns a partition, and never reads what a row says.

mod address;
mod backup;
mod database;
mod error;
mod export;
mod objects;
mod owned;
mod pieces;
mod probe;
mod rows;
mod shipping;
mod store;
mod taking;
mod whole;

pub use backup::BackedUp;
pub use export::ExportedCrawl;
pub use objects::{Objects, Put};
pub use probe::Probed;
pub use shipping::{Shipping, ShippingProgress};
pub use store::{BYTES_DEFAULT, ShippedStore};
pub use taking::{OpenedHow, Taken};
