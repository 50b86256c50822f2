//! The archive as the loop sees it: bodies that workers hold become WARC records.

use super::held_bodies::{Bytes, Held, HeldBodies};
use super::work_times::{Work, WorkTimes};
use crate::extract::{MadeRow, RowsMark, WhileCrawling};
use rhumb_archive::{
    Capture, Original, Packed, Packer, Profile, RecordContent, Sha1Digest, WarcTruncation,
    WarcWriter, write_index,
};
use rhumb_engine::error::{Error, ErrorKind};
use rhumb_engine::event::{Keep, KeepAs, Purpose};
use rhumb_engine::marks::Marks;
use rhumb_engine::near::Near;
use rhumb_engine::record::Twin;
use rhumb_engine::turn::{Archive, ArchivePosition};
use rhumb_fetch::{Oddity, Response, Truncation as Cut};
use rhumb_page::url::{Scheme, Url};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// Memory for sorting the index.
const INDEX_BYTES: usize = 64 << 20;

pub struct NodeArchive {
    /// None with `--archive none`, and once it is closed.
    pub writer: Option<WarcWriter>,
    /// The crawl's directory.
    pub dir: PathBuf,
    /// Whether it makes the index when it is closed: others may still write into the directory.
    pub makes_index: bool,
    /// Makes the index, once nothing more will come.
    pub indexing: Option<JoinHandle<Result<(), rhumb_archive::ArchiveError>>>,
    pub packer: Packer,
    pub bodies: Arc<HeldBodies>,
    /// Takes rows once their records are kept.
    pub rows: Option<Arc<WhileCrawling>>,
    /// Where it ends.
    pub end: ArchivePosition,
    /// Where the time goes.
    pub times: Arc<WorkTimes>,
}

impl Archive for NodeArchive {
    fn append(&mut self, keeps: &mut Vec<Keep>) -> Result<ArchivePosition, Error> {
        tracing::trace!(keeps = keeps.len(), "append");
        let began = Instant::now();
        let mut rows = Vec::new();
        for keep in keeps.drain(..) {
            let held = self.bodies.take(keep.fetch);
            let (Some(writer), Some(mut held)) = (&mut self.writer, held) else { continue };
            let row = row_of(self.rows.as_deref(), &mut held, &keep.how);
            let packed = match keep.how {
                KeepAs::Drop => continue,
                KeepAs::Response => match held.packed {
                    Some(packed) => packed,
                    None => pack_response(&mut self.packer, &held),
                },
                KeepAs::Near(near) => pack_near(&mut self.packer, held, &near),
                KeepAs::Revisit(twin) => pack_revisit(&mut self.packer, &held, &twin),
                KeepAs::NotModified(twin) => pack_not_modified(&mut self.packer, &held, &twin),
                KeepAs::NotArchived => pack_without_body(&mut self.packer, &held),
            };
            let at = writer.append(&packed).map_err(archive_error)?;
            if at.file != self.end.file {
                self.end.file = at.file;
                tracing::info!(file = at.file, "WARC file begun");
            }
            rows.extend(row.map(|row| (row, RowsMark { file: at.file, offset: at.offset })));
        }
        // Rows are about to claim these records: they must outlive the process.
        if let Some(writer) = &mut self.writer {
            writer.flush().map_err(archive_error)?;
            self.end = end_of(writer);
        }
        self.write(rows)?;
        self.times.add(Work::Archive, began);
        Ok(self.end)
    }

    fn sync(&mut self) -> Result<(), Error> {
        let began = Instant::now();
        let synced = self.writer.as_mut().map_or(Ok(()), WarcWriter::sync);
        self.times.add(Work::Sync, began);
        synced.map_err(archive_error)
    }

    fn close(&mut self) -> Result<(), Error> {
        self.sync()?;
        if self.writer.take().is_none() || !self.makes_index {
            return Ok(());
        }
        let dir = self.dir.clone();
        let thread = std::thread::Builder::new().name("rhumb-index".into());
        match thread.spawn(move || write_index(&dir, INDEX_BYTES)) {
            Ok(thread) => self.indexing = Some(thread),
            Err(_) => write_index(&self.dir, INDEX_BYTES).map_err(archive_error)?,
        }
        Ok(())
    }
}

impl NodeArchive {
    /// When this returns nobody works on the archive any more; after `close` its index is whole.
    pub fn closed(&mut self) -> Result<(), Error> {
        match self.indexing.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(indexed)) => indexed.map_err(archive_error),
            Some(Err(_)) => Err(Error::new(ErrorKind::Corrupt, "archive: the index was not made")),
        }
    }

    /// Rows follow their records, and never go before them.
    fn write(&mut self, rows: Vec<(MadeRow, RowsMark)>) -> Result<(), Error> {
        let Some(to) = &self.rows else { return Ok(()) };
        let mut keep = rows.into_iter().map(|(row, mark)| to.keep(row, Some(mark)));
        keep.try_for_each(|kept| kept.map_err(row_error))
    }
}

/// What is written of a capture: what it says if its whole body is kept, and if its body is that of
/// an earlier one, that it came again.
fn row_of(rows: Option<&WhileCrawling>, held: &mut Held, how: &KeepAs) -> Option<MadeRow> {
    match how {
        KeepAs::Response | KeepAs::Near(_) => held.row.take(),
        KeepAs::Revisit(twin) | KeepAs::NotModified(twin) => {
            let fetched = u32::try_from(held.at.0 / 1_000_000).unwrap_or(u32::MAX);
            rows?.revisited(&held.url, &twin.url, fetched)
        }
        KeepAs::Drop | KeepAs::NotArchived => None,
    }
}

fn pack_response(packer: &mut Packer, held: &Held) -> Packed {
    with_capture(held, |capture| packer.capture(capture))
}

/// The response was packed before anyone knew what it resembles: only its metadata is packed anew.
fn pack_near(packer: &mut Packer, mut held: Held, near: &Near) -> Packed {
    let packed = held.packed.take();
    let mut packed = packed.unwrap_or_else(|| pack_response(packer, &held));
    let also = [
        ("nearDuplicateOf", near.url.as_str().to_owned()),
        ("resemblance", format!("{:.3}", near.resemblance())),
    ];
    with_noted_capture(&held, also, |capture| packer.note(&mut packed, capture));
    packed
}

fn pack_revisit(packer: &mut Packer, held: &Held, twin: &Twin) -> Packed {
    let original = original(twin);
    with_capture(held, |capture| packer.revisit(capture, &original, Profile::IdenticalPayload))
}

fn pack_not_modified(packer: &mut Packer, held: &Held, twin: &Twin) -> Packed {
    let original = original(twin);
    // Its head is not in the record.
    let mut also = vec![("httpStatus", "304".to_owned())];
    if let Bytes::Response(response) = &held.bytes {
        let head = response.head();
        let validators = [("etag", head.etag()), ("lastModified", head.last_modified())];
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        also.extend(validators.into_iter().filter_map(|(name, v)| Some((name, text(v?)))));
    }
    with_noted_capture(held, also, |capture| {
        packer.revisit(capture, &original, Profile::NotModified)
    })
}

fn original(twin: &Twin) -> Original<'_> {
    let payload_digest = Sha1Digest(twin.payload);
    Original { url: &twin.url, fetched_us: twin.kept.0, payload_digest }
}

/// What a page was that asks not to be kept, and that this is why it is not.
fn pack_without_body(packer: &mut Packer, held: &Held) -> Packed {
    let status = match &held.bytes {
        Bytes::Response(response) => response.status.to_string(),
        Bytes::Strange { .. } => String::new(),
    };
    let also = [("notArchived", "noarchive".to_owned()), ("httpStatus", status)];
    with_noted_capture(held, also, |capture| packer.without_body(capture))
}

fn with_capture<T>(held: &Held, then: impl FnOnce(&Capture<'_>) -> T) -> T {
    with_noted_capture(held, [], then)
}

fn with_noted_capture<T>(
    held: &Held,
    also: impl IntoIterator<Item = (&'static str, String)>,
    then: impl FnOnce(&Capture<'_>) -> T,
) -> T {
    let (request, response, address, whole): (&[u8], &[u8], _, Option<&Response>) =
        match &held.bytes {
            Bytes::Response(r) => (&r.raw_request, &r.raw, r.address, Some(r)),
            Bytes::Strange { request, response, address } => (request, response, *address, None),
        };
    let mut notes = notes(held.depth, whole, held.marks);
    notes.extend(also);
    let notes: Vec<(&'static str, &str)> =
        notes.iter().map(|(name, value)| (*name, value.as_str())).collect();
    then(&Capture {
        protocol: whole.and_then(protocol_of),
        resource_type: held.resource_type,
        url: &held.url,
        fetched_us: held.at.0,
        address,
        content: match whole {
            Some(whole) => content_of(&held.url, whole),
            None => RecordContent::Http { request, response },
        },
        truncated: whole.and_then(|r| r.truncated).map(truncation),
        notes: &notes,
    })
}

/// The fields of a metadata record.
pub fn notes(depth: u16, response: Option<&Response>, marks: Marks) -> Vec<(&'static str, String)> {
    let mut notes = Vec::with_capacity(3);
    if let Some(response) = response {
        notes.push(("fetchTimeMs", response.took.as_millis().to_string()));
        if response.oddities.contains(&Oddity::Unverified) {
            notes.push(("certificate", "not verified".to_owned()));
        }
    }
    notes.push(("hopsFromSeed", depth.to_string()));
    if marks.has(Marks::NOINDEX) {
        // A header says so, or a meta element by our name: whoever searches needs this alone.
        notes.push(("robots", "noindex".to_owned()));
    }
    notes
}

/// A response as it is archived: what came over HTTP with its head, a file as it is.
pub fn content_of<'a>(url: &Url, response: &'a Response) -> RecordContent<'a> {
    if url.scheme() != Scheme::File {
        return RecordContent::Http { request: &response.raw_request, response: &response.raw };
    }
    let mime = response.media_type.unwrap_or("application/octet-stream");
    RecordContent::Resource { mime, bytes: &response.raw[response.head_len..] }
}

/// What it was fetched for, if that is no page.
pub fn resource_type_of(purpose: Purpose) -> Option<&'static str> {
    match purpose {
        Purpose::Stylesheet => Some("stylesheet"),
        Purpose::Requisite => Some("other"),
        Purpose::Page | Purpose::Robots | Purpose::Sitemap => None,
    }
}

/// What was spoken, if the record alone would not tell.
pub fn protocol_of(response: &Response) -> Option<&'static str> {
    response.is_http2.then_some("h2")
}

pub fn truncation(cut: Cut) -> WarcTruncation {
    match cut {
        Cut::Length => WarcTruncation::Length,
        Cut::Time | Cut::Slow => WarcTruncation::Time,
        Cut::Disconnect => WarcTruncation::Disconnect,
        Cut::Malformed | Cut::NoRoom | Cut::Unwanted => WarcTruncation::Unspecified,
    }
}

/// Where an archive ends, as the loop has it: at the beginning before its first file.
pub fn end_of(writer: &WarcWriter) -> ArchivePosition {
    position(writer.position())
}

pub fn position(position: Option<rhumb_archive::AppendEnd>) -> ArchivePosition {
    position.map_or(ArchivePosition::default(), |at| ArchivePosition {
        file: at.file,
        length: at.length,
    })
}

pub fn row_error(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Retry, error.to_string())
}

pub fn archive_error(error: rhumb_archive::ArchiveError) -> Error {
    let kind = match error.kind() {
        rhumb_archive::ArchiveErrorKind::Full | rhumb_archive::ArchiveErrorKind::Io => {
            ErrorKind::Retry
        }
        rhumb_archive::ArchiveErrorKind::Corrupt => ErrorKind::Corrupt,
    };
    Error::new(kind, format!("archive: {error}"))
}
