//! Reads a graph from a file of any known format: our own is mapped; WG1 and lists of links are
//! read, also compressed (`.zst`, `.gz`) and from standard input (`-`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::builder::LinksLeftOut;
use crate::error::{GraphError, Result};
use crate::{Builder, Graph, GraphWriter, PageNumber, edges, file, wg1};

/// Memory of the builder for a list of links; more of them are sorted on disk.
pub const BUILDER_BYTES: usize = 256 << 20;

/// What a file of links turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFileFormat {
    /// Ours, mapped.
    Rlg,
    /// The exchange format of [`crate::wg1`].
    Wg1,
    /// A plain list of links ([`crate::edges`]).
    Edges,
}

/// A graph that was read, and what it was read from.
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// The format that was recognised.
    pub format: LinkFileFormat,
    /// Links that were not taken.
    pub left_out: LinksLeftOut,
}

/// Reads a graph. `first` is the number of the first page in a list of links; `into` says where
/// the graph is to be: in memory, or in a file that is then mapped.
pub fn read(path: &Path, first: PageNumber, into: Option<&Path>) -> Result<Loaded> {
    if path != Path::new("-") && is_ours(path)? {
        let graph = file::open(path)?;
        return Ok(Loaded {
            graph,
            format: LinkFileFormat::Rlg,
            left_out: LinksLeftOut::default(),
        });
    }
    let writer = || into.map_or_else(|| Ok(GraphWriter::in_memory()), GraphWriter::create);
    read_stream(&mut *open(path)?, first, writer()?).map_err(|error| error.of(path))
}

/// The bytes of a file, unpacked if its name says that it is packed.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let opened = File::open(path).map_err(|error| GraphError::from(error).of(path))?;
    let ending = path.extension().and_then(|ending| ending.to_str());
    Ok(match ending {
        Some("zst") => {
            let unpacked = zstd::Decoder::new(opened).map_err(|e| GraphError::from(e).of(path))?;
            Box::new(BufReader::new(unpacked))
        }
        Some("gz") => Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(opened))),
        _ => Box::new(BufReader::new(opened)),
    })
}

fn is_ours(path: &Path) -> Result<bool> {
    let mut magic = Vec::new();
    let file = File::open(path).map_err(|error| GraphError::from(error).of(path))?;
    file.take(4).read_to_end(&mut magic).map_err(|error| GraphError::from(error).of(path))?;
    Ok(magic == file::MAGIC)
}

fn read_stream(from: &mut dyn BufRead, first: PageNumber, writer: GraphWriter) -> Result<Loaded> {
    let mut magic = Vec::new();
    from.take(4).read_to_end(&mut magic)?;
    if magic == wg1::MAGIC {
        let (graph, left_out) = wg1::read_rest(from, writer)?;
        return Ok(Loaded { graph, format: LinkFileFormat::Wg1, left_out });
    }
    if magic == file::MAGIC {
        return Err(GraphError::broken("a mapped graph cannot be packed: unpack it first"));
    }
    let mut builder = Builder::new(BUILDER_BYTES, &std::env::temp_dir());
    edges::read(&mut magic.as_slice().chain(from), first, &mut builder)?;
    let (graph, left_out) = builder.finish(writer)?;
    Ok(Loaded { graph, format: LinkFileFormat::Edges, left_out })
}
