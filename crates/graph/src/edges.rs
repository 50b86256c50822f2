//! Plain lists of links: a line `page target`, separated by white space or a comma.
//!
//! Lines that begin with `#` or `%` are comments; a first line of words is a heading. Numbers may
//! begin at another number than 0 (`first`). The same shape names pages: `page url`.

use std::io::BufRead;

use crate::error::{GraphError, Result};
use crate::{Builder, PAGES_MAX, PageNumber};

/// A longer line is no link.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Adds every link of a list to a graph.
pub fn read(from: &mut dyn BufRead, first: PageNumber, builder: &mut Builder) -> Result<()> {
    rows(from, |row, line| {
        let mut fields = fields(line);
        let ends = fields.next().zip(fields.next());
        let (Some((page, target)), None) = (ends, fields.next()) else {
            return Err(GraphError::broken(format!("line {row}: not a page and a target")));
        };
        match (number(page, first), number(target, first)) {
            (Some(page), Some(target)) => builder.add(page, target),
            _ => Err(GraphError::broken(format!("line {row}: {:?} is no link", shown(line)))),
        }
    })
}

/// The URL of every page, by its number; empty where the list names none.
pub fn read_urls(from: &mut dyn BufRead, first: PageNumber) -> Result<Vec<String>> {
    let mut urls = Vec::new();
    rows(from, |row, line| {
        let mut fields = line.split_whitespace();
        let page = fields.next().and_then(|page| number(page, first));
        let (Some(page), Some(url)) = (page.filter(|page| *page < PAGES_MAX), fields.next()) else {
            return Err(GraphError::broken(format!("line {row}: not a page and a URL")));
        };
        let at = page as usize;
        // A list names its pages in some order, so memory is bounded by what was read.
        if at > 2 * row + 1_000_000 {
            return Err(GraphError::broken(format!(
                "line {row}: page {page} is far from the others"
            )));
        }
        if urls.len() <= at {
            urls.resize(at + 1, String::new());
        }
        urls[at] = url.to_owned();
        Ok(())
    })?;
    Ok(urls)
}

/// Every line that is no comment, no heading and not empty, with its number from 1.
fn rows(from: &mut dyn BufRead, mut take: impl FnMut(usize, &str) -> Result<()>) -> Result<()> {
    let mut line = Vec::new();
    let mut began = false;
    for row in 1.. {
        line.clear();
        let read = std::io::Read::take(&mut *from, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read as u64 == LINE_BYTES_MAX {
            return Err(GraphError::broken(format!(
                "line {row}: longer than {LINE_BYTES_MAX} bytes"
            )));
        }
        let text = std::str::from_utf8(&line).map_err(|_| {
            GraphError::broken(format!("line {row}: not text, and no graph format that we know"))
        })?;
        let text = text.trim();
        if text.is_empty() || text.starts_with(['#', '%']) {
            continue;
        }
        let heading = !began && fields(text).all(|word| word.starts_with(char::is_alphabetic));
        began = true;
        if !heading {
            take(row, text)?;
        }
    }
    Ok(())
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|field| !field.is_empty())
}

fn number(text: &str, first: PageNumber) -> Option<PageNumber> {
    text.parse::<PageNumber>().ok()?.checked_sub(first)
}

fn shown(line: &str) -> String {
    line.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphWriter;

    fn parsed(text: &str, first: PageNumber) -> Result<Vec<(PageNumber, Vec<PageNumber>)>> {
        let mut builder = Builder::new(1 << 10, &std::env::temp_dir());
        read(&mut text.as_bytes(), first, &mut builder)?;
        let (graph, _) = builder.finish(GraphWriter::in_memory())?;
        Ok((0..graph.pages()).map(|page| (page, graph.links_of(page).collect())).collect())
    }

    #[test]
    fn a_list_may_have_a_heading_comments_commas_and_another_first_number() {
        let expected = vec![(0, vec![1, 2]), (1, vec![]), (2, vec![0])];
        assert_eq!(parsed("# c\nstart end\n1 3\n1\t2\n\n% c\n3,1\n", 1).unwrap(), expected);
        assert_eq!(parsed("0 1\r\n0 2\r\n2 0", 0).unwrap(), expected);
        assert_eq!(parsed("", 0).unwrap(), vec![]);
    }

    #[test]
    fn a_line_that_is_no_link_is_named() {
        for (text, said) in [
            ("0 1\n0\n", "line 2: not a page"),
            ("0 1 2\n", "line 1: not a page"),
            ("0 1\na b\n", "line 2: \"a b\" is no link"),
            ("0 -1\n", "line 1: \"0 -1\" is no link"),
            ("0 4294967295\n", "the limit is"),
            ("0 99999999999\n", "is no link"),
        ] {
            let what = parsed(text, 0).unwrap_err().what;
            assert!(what.contains(said), "{text:?}: {what}");
        }
        assert!(parsed("0 1\n", 1).is_err(), "before the first number");
        let mut bytes = &b"WG\xff\xfe 1\n"[..];
        let mut builder = Builder::new(8, &std::env::temp_dir());
        assert!(read(&mut bytes, 0, &mut builder).unwrap_err().what.contains("not text"));
    }
}
