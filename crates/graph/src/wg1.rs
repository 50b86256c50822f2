//! WG1, the format of the shared test graphs: `WG1\n`, pages and links as u32 little-endian, then
//! for each page the LEB128 numbers of its out-degree, its first target and the pages jumped over
//! between targets.

use std::io::{Read, Write};

use crate::builder::{LinksLeftOut, take};
use crate::error::{GraphError, Result};
use crate::{Graph, GraphWriter, PAGES_MAX, PageNumber, gaps};

pub(crate) const MAGIC: [u8; 4] = *b"WG1\n";

/// Reads what follows the magic. Memory grows with what is read, not with what the head claims.
pub(crate) fn read_rest(
    from: &mut dyn Read,
    mut writer: GraphWriter,
) -> Result<(Graph, LinksLeftOut)> {
    let mut from = from;
    let [pages, links] = [head(from)?, head(from)?];
    if pages > PAGES_MAX {
        return Err(GraphError::too_large(format!("{pages} pages: the limit is {PAGES_MAX}")));
    }
    let mut list: Vec<PageNumber> = Vec::new();
    let (mut read, mut left_out) = (0u64, LinksLeftOut::default());
    for page in 0..pages {
        let degree = take(&mut from)?;
        read += degree;
        if degree > u64::from(pages) || read > u64::from(links) {
            return Err(GraphError::broken(format!(
                "page {page} has more links than the head says"
            )));
        }
        list.clear();
        let mut least = 0u64;
        for _ in 0..degree {
            let target = least.saturating_add(take(&mut from)?);
            if target >= u64::from(pages) {
                return Err(GraphError::broken(format!(
                    "page {page} links to {target} of {pages}"
                )));
            }
            list.push(target as PageNumber);
            least = target + 1;
        }
        let before = list.len();
        list.retain(|target| *target != page);
        left_out.self_links += (before - list.len()) as u64;
        writer.push(&list)?;
    }
    if read != u64::from(links) {
        return Err(GraphError::broken(format!("{read} links, but the head says {links}")));
    }
    if from.read(&mut [0])? != 0 {
        return Err(GraphError::broken("more bytes than the head says"));
    }
    Ok((writer.finish()?, left_out))
}

/// Writes a graph in this format.
pub fn write(graph: &Graph, mut to: impl Write) -> Result<()> {
    let links = u32::try_from(graph.links());
    let links = links.map_err(|_| GraphError::too_large("more links than WG1 can count"))?;
    to.write_all(&MAGIC)?;
    to.write_all(&graph.pages().to_le_bytes())?;
    to.write_all(&links.to_le_bytes())?;
    let mut list = Vec::new();
    for page in 0..graph.pages() {
        list.clear();
        let mut least = 0;
        gaps::put(&mut list, u64::from(graph.degree(page)));
        for target in graph.links_of(page) {
            gaps::put(&mut list, u64::from(target - least));
            least = target + 1;
        }
        to.write_all(&list)?;
    }
    Ok(to.flush()?)
}

fn head(from: &mut dyn Read) -> Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(bytes: &[u8]) -> Result<(Graph, LinksLeftOut)> {
        read_rest(&mut &bytes[4..], GraphWriter::in_memory())
    }

    #[test]
    fn what_is_written_is_read_and_every_cut_is_noticed() {
        let mut writer = GraphWriter::in_memory();
        for list in [&[1, 300][..], &[], &[0, 1, 3]] {
            writer.push(list).unwrap();
        }
        writer.pad_to(301).unwrap();
        let graph = writer.finish().unwrap();
        let mut bytes = Vec::new();
        write(&graph, &mut bytes).unwrap();
        let (again, left_out) = parsed(&bytes).unwrap();
        assert_eq!(left_out, LinksLeftOut::default());
        for page in 0..301 {
            assert!(graph.links_of(page).eq(again.links_of(page)), "{page}");
        }
        for cut in 4..bytes.len() {
            assert!(parsed(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        bytes.push(0);
        assert!(parsed(&bytes).is_err());
    }

    #[test]
    fn heads_that_lie_are_refused_before_they_cost_memory() {
        let head = |pages: u32, links: u32, rest: &[u8]| {
            [&MAGIC[..], &pages.to_le_bytes(), &links.to_le_bytes(), rest].concat()
        };
        for (bytes, said) in [
            (head(u32::MAX, 0, &[]), "the limit is"),
            (head(PAGES_MAX, u32::MAX, &[0, 0]), "ends too early"),
            (head(2, 1, &[1, 2]), "page 0 links to 2 of 2"),
            (head(2, 1, &[2, 0, 0, 0]), "more links than the head says"),
            (head(2, 2, &[1, 1, 0]), "1 links, but the head says 2"),
            (head(1, 1, &[1, 0x80]), "ends too early"),
        ] {
            let what = parsed(&bytes).unwrap_err().what;
            assert!(what.contains(said), "{bytes:?}: {what}");
        }
        let (graph, left_out) = parsed(&head(2, 2, &[2, 0, 0, 0])).unwrap();
        assert_eq!((graph.links(), left_out.self_links), (1, 1));
        assert_eq!(parsed(&head(0, 0, &[])).unwrap().0.pages(), 0);
    }
}
