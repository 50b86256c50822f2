//! Writes a graph list by list, in memory or straight to a file.
//!
//! Only the index (two bytes a page at most) is kept in memory while a file is written, so a graph
//! may be much larger than memory. The file appears under its name when it is whole.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{GraphError, Result};
use crate::file::{self, Header};
use crate::graph::{BLOCK, Block, FAR, Graph};
use crate::mapped::Bytes;
use crate::{PAGES_MAX, PageNumber, gaps};

/// Takes the links of pages, in the order of their numbers.
pub struct GraphWriter {
    out: Out,
    scratch: Vec<u8>,
    blocks: Vec<u8>,
    block: Block,
    listed: u32,
    offsets: Vec<u8>,
    far: Vec<(PageNumber, u64)>,
    pages: u32,
    links: u64,
    lists_bytes: u64,
    target_max: Option<PageNumber>,
}

enum Out {
    Memory(Vec<u8>),
    File { file: BufWriter<File>, hash: Box<Xxh3>, part: PathBuf, path: PathBuf },
}

impl GraphWriter {
    /// The graph will lie in memory.
    pub fn in_memory() -> GraphWriter {
        GraphWriter::into(Out::Memory(Vec::new()))
    }

    /// The graph will lie in a file, which appears when it is whole, and is mapped.
    pub fn create(path: &Path) -> Result<GraphWriter> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| GraphError::from(error).of(&part))?;
        let mut file = BufWriter::new(file);
        // Its place; what belongs there is known at the end.
        file.write_all(&[0; file::HEADER_BYTES])?;
        let hash = Box::new(Xxh3::new());
        Ok(GraphWriter::into(Out::File { file, hash, part, path: path.to_owned() }))
    }

    fn into(out: Out) -> GraphWriter {
        GraphWriter {
            out,
            scratch: Vec::new(),
            blocks: Vec::new(),
            block: Block::default(),
            listed: 0,
            offsets: Vec::new(),
            far: Vec::new(),
            pages: 0,
            links: 0,
            lists_bytes: 0,
            target_max: None,
        }
    }

    /// How many pages were written so far.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// The links of the next page: strictly ascending, of pages that may still be to come.
    pub fn push(&mut self, targets: &[PageNumber]) -> Result<()> {
        let page = self.pages;
        if page >= PAGES_MAX {
            return Err(GraphError::too_large(format!("more than {PAGES_MAX} pages")));
        }
        if (page as usize).is_multiple_of(BLOCK) {
            self.end_block();
        }
        self.pages += 1;
        if targets.is_empty() {
            return Ok(());
        }
        let offset = u16::try_from(self.lists_bytes - self.block.start).unwrap_or(FAR);
        if offset == FAR {
            self.far.push((page, self.lists_bytes));
        }
        self.offsets.extend_from_slice(&offset.to_le_bytes());
        self.block.listed |= 1 << (page as usize % BLOCK);
        self.listed += 1;
        self.target_max = self.target_max.max(targets.last().copied());
        self.scratch.clear();
        gaps::put_list(&mut self.scratch, page, targets);
        match &mut self.out {
            Out::Memory(lists) => lists.extend_from_slice(&self.scratch),
            Out::File { file, hash, .. } => {
                hash.update(&self.scratch);
                file.write_all(&self.scratch)?;
            }
        }
        self.lists_bytes += self.scratch.len() as u64;
        self.links += targets.len() as u64;
        Ok(())
    }

    /// The block behind us is whole, unless it is the one before the first.
    fn end_block(&mut self) {
        if self.pages > 0 {
            self.blocks.extend_from_slice(&self.block.bytes());
        }
        self.block = Block { listed: 0, start: self.lists_bytes, before: self.listed };
    }

    /// Pages without links, until there are so many pages.
    pub fn pad_to(&mut self, pages: u32) -> Result<()> {
        while self.pages < pages {
            self.push(&[])?;
        }
        Ok(())
    }

    /// The graph, once all pages were written.
    pub fn finish(mut self) -> Result<Graph> {
        if let Some(target) = self.target_max.filter(|target| *target >= self.pages) {
            let pages = self.pages;
            return Err(GraphError::broken(format!("a link to page {target}, but {pages} pages")));
        }
        self.end_block();
        let GraphWriter { out, blocks, offsets, far, pages, listed, links, lists_bytes, .. } = self;
        let (mut file, mut hash, part, path) = match out {
            Out::Memory(lists) => {
                let [lists, blocks, offsets] = [lists, blocks, offsets].map(|mut bytes| {
                    bytes.shrink_to_fit();
                    Bytes::Memory(bytes)
                });
                return Ok(Graph { pages, links, lists, blocks, offsets, far });
            }
            Out::File { file, hash, part, path } => (file, hash, part, path),
        };
        let far_bytes = file::far_bytes(&far);
        for part in [&blocks, &offsets, &far_bytes] {
            hash.update(part);
            file.write_all(part)?;
        }
        let header = Header { pages, listed, links, lists_bytes, far: far.len() as u32 };
        let header = header.bytes(&mut hash);
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header)?;
        let file = file.into_inner().map_err(|error| GraphError::from(error.into_error()))?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        file::open(&path)
    }
}
