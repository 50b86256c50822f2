//! Content codings undone, under limits.
//!
//! A few kilobytes on the wire may unfold into gigabytes, so the output is bounded twice: in bytes,
//! and in proportion to what was received. What was decoded before a limit or a damaged stream is
//! kept: half a page is a page with a note, not an error. Codings may be chained (`gzip, br`); the
//! chain is short and every stage in it is bounded, so no stage can grow behind the others.

use std::borrow::Cow;
use std::io::{self, Read};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::FetchLimits;

/// Nobody chains more codings than this for a reason.
pub const CODINGS_MAX: usize = 3;
/// A small output is never a bomb: the ratio counts above this size only.
pub const RATIO_FREE_BYTES: usize = 1 << 20;
/// The window RFC 9659 grants to zstd as a content coding: 8 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
const BROTLI_BUFFER_BYTES: usize = 8 << 10;
const STEP_BYTES: usize = 64 << 10;
/// An output that grows beyond this has all its room reserved at once.
const LARGE_BYTES: usize = 4 << 20;

/// A decoded body, with a note if it is not the whole of what the server meant.
#[derive(Debug)]
pub struct DecodedBody<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub note: Option<DecodeNote>,
}

impl DecodedBody<'_> {
    /// Whether the server meant more than this.
    pub fn is_cut(&self) -> bool {
        use DecodeNote::{Damaged, TooBig, TooDense};
        matches!(self.note, Some(TooBig | TooDense | Damaged(_)))
    }
}

/// What went wrong while decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeNote {
    /// Cut at `decoded_bytes_max`.
    TooBig,
    /// Cut at `decoded_ratio_max`.
    TooDense,
    /// The stream ended early or was damaged; what came before is kept.
    Damaged(String),
    /// The label says gzip or zstd, the bytes say otherwise: taken as they are.
    Mislabelled,
    /// A coding we did not ask for, or a chain too long: taken as it is.
    UnknownCoding(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// Undoes the codings of a Content-Encoding value, the last one named first.
pub fn decode<'a>(
    payload: &'a [u8],
    content_encoding: &str,
    limits: &FetchLimits,
) -> DecodedBody<'a> {
    let as_it_is = |note| DecodedBody { bytes: Cow::Borrowed(payload), note };
    let codings = match parse_codings(content_encoding) {
        Ok(codings) => codings,
        Err(unknown) => return as_it_is(Some(DecodeNote::UnknownCoding(unknown))),
    };
    let Some(outermost) = codings.last() else { return as_it_is(None) };
    if payload.is_empty() {
        return as_it_is(None);
    }
    if !looks_like(*outermost, payload) {
        return as_it_is(Some(DecodeNote::Mislabelled));
    }

    let by_ratio = payload.len().saturating_mul(limits.decoded_ratio_max).max(RATIO_FREE_BYTES);
    let output_max = limits.decoded_bytes_max.min(by_ratio);
    let mut stage: Box<dyn Read + 'a> = Box::new(payload);
    for (n, coding) in codings.iter().enumerate().rev() {
        // The first bytes of the whole may need more than as many of a stage before it.
        let stage_max = if n == 0 { output_max } else { output_max.max(RATIO_FREE_BYTES) };
        // One byte more than the limit tells "exactly full" from "cut".
        let bounded = match undo(*coding, stage) {
            Ok(stage) => stage.take(stage_max as u64 + 1),
            Err(error) => return as_it_is(Some(DecodeNote::Damaged(error.to_string()))),
        };
        stage = Box::new(bounded);
    }

    let mut bytes =
        Vec::with_capacity(payload.len().saturating_mul(4).min(output_max).min(1 << 20));
    let mut note = read_all(&mut stage, &mut bytes, output_max)
        .err()
        .map(|e| DecodeNote::Damaged(e.to_string()));
    if bytes.len() > output_max {
        bytes.truncate(output_max);
        let by_size = output_max == limits.decoded_bytes_max;
        note = Some(if by_size { DecodeNote::TooBig } else { DecodeNote::TooDense });
    }
    DecodedBody { bytes: Cow::Owned(bytes), note }
}

fn parse_codings(content_encoding: &str) -> Result<Vec<Coding>, String> {
    let mut codings = Vec::new();
    for name in content_encoding.split(',').map(str::trim) {
        let coding = match name.to_ascii_lowercase().as_str() {
            "" | "identity" | "none" => continue,
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => return Err(name.chars().take(40).collect()),
        };
        codings.push(coding);
        if codings.len() > CODINGS_MAX {
            return Err(format!("more than {CODINGS_MAX} codings"));
        }
    }
    Ok(codings)
}

/// Servers label plain bodies "gzip" often enough; only brotli and raw deflate have no mark.
fn looks_like(coding: Coding, payload: &[u8]) -> bool {
    match coding {
        Coding::Gzip => payload.starts_with(&[0x1f, 0x8b]) || payload == [0x1f],
        // A frame, or a skippable frame before it.
        Coding::Zstd => {
            payload.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
                || (payload.len() >= 4
                    && payload[0] & 0xf0 == 0x50
                    && payload[1..4] == [0x2a, 0x4d, 0x18])
                || payload.len() < 4
        }
        Coding::Deflate | Coding::Brotli => true,
    }
}

fn undo<'a>(coding: Coding, input: Box<dyn Read + 'a>) -> io::Result<Box<dyn Read + 'a>> {
    let mut input = io::BufReader::with_capacity(STEP_BYTES, input);
    Ok(match coding {
        Coding::Gzip => Box::new(MultiGzDecoder::new(input)),
        Coding::Deflate => match has_zlib_header(&mut input)? {
            true => Box::new(ZlibDecoder::new(input)),
            // "deflate" means zlib, but some servers send the bare stream.
            false => Box::new(DeflateDecoder::new(input)),
        },
        Coding::Brotli => {
            Box::new(brotli_decompressor::Decompressor::new(input, BROTLI_BUFFER_BYTES))
        }
        Coding::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
    })
}

fn has_zlib_header(input: &mut impl io::BufRead) -> io::Result<bool> {
    let start = input.fill_buf()?;
    Ok(match start {
        [cmf, flg, ..] => {
            cmf & 0x0f == 8 && (u16::from(*cmf) << 8 | u16::from(*flg)).is_multiple_of(31)
        }
        _ => false,
    })
}

/// Reads to the end, which is one byte beyond the limit at the latest; what was read before an
/// error stays in `bytes`.
fn read_all(input: &mut dyn Read, bytes: &mut Vec<u8>, bytes_max: usize) -> io::Result<()> {
    loop {
        let filled = bytes.len();
        if filled > LARGE_BYTES && filled == bytes.capacity() {
            // To double it again and again would hold half as much once more each time. What is
            // reserved and not written takes no memory.
            bytes.reserve_exact((bytes_max + 1).saturating_sub(filled).max(STEP_BYTES));
        }
        let left = (bytes.capacity() - filled).min(16 * STEP_BYTES);
        let step = if left == 0 || filled < LARGE_BYTES { left.max(STEP_BYTES) } else { left };
        bytes.resize(filled + step, 0);
        let read = input.read(&mut bytes[filled..]);
        bytes.truncate(filled + read.as_ref().map_or(0, |n| *n));
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
