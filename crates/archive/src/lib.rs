//! What did we keep? WARC files, the ground truth of a crawl, and the CDXJ index over them.
//!
//! A worker *packs* a fetched page into whole gzip members ([`Packer`]: pure, all the CPU work);
//! the loop thread *appends* those bytes ([`WarcWriter`]: sequential, cheap). Everything but the
//! WARC files can be deleted and is rebuilt from them ([`rebuild`]). In a crawl's directory:
//!
//! - `warc/*.warc.gz`: WARC 1.1, one gzip member a record; a torn record may only end a file;
//! - `index/*.part`: index lines of one WARC file, unsorted, as captures were appended;
//! - `index/*.sorted`: the lines of WARC files that this run has finished, sorted;
//! - `index.cdxj`: all lines, byte-sorted, whole at the end of a run.
//!
//! This room never decides what to keep, reads no clock (times are arguments, in microseconds
//! since the Unix epoch), and is never read by the engine.

mod cdxj;
mod date;
mod deflate;
mod digest;
mod error;
mod gzip;
mod http;
mod index;
mod pack;
mod read;
mod repair;
mod segments;
mod sha1_pair;
mod sort;
mod tail;
pub mod takedown;
mod warcinfo;
mod writer;

pub use cdxj::{CdxjEntry, lookup};
pub use date::warc_date;
pub use digest::Sha1Digest;
pub use error::{ArchiveError, ArchiveErrorKind};
pub use gzip::LEVEL_DEFAULT;
pub use http::{each_chunk, head_len, is_chunked};
pub use index::{SERIES_FILES, lines_of, rebuild, warc_files, write_index};
pub use pack::{
    BLOCK_BYTES_MAX, Capture, Original, Packed, PackedRecord, Packer, Profile, RecordContent,
    RecordKind, WarcTruncation,
};
pub use read::{Record, RecordReader};
pub use repair::{repair, repair_series};
pub use warcinfo::Warcinfo;
pub use writer::{AppendEnd, Location, WarcWriter, WriterLimits};
