//! The index of a package: the lines of the crawl's, plain while they are few.
//!
//! Beyond [`PLAIN_INDEX_BYTES_MAX`] they are ZipNum: gzip members of [`MEMBER_LINES`] lines and a
//! second file that says with which line each begins, so that a browser reads little.

use std::collections::HashSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::zip::ZipFile;
use crate::ExportFailure;
use crate::source::{CrawlSource, IndexLine};

/// Bytes of lines that are kept as they are.
pub const PLAIN_INDEX_BYTES_MAX: u64 = 10_000_000;
const MEMBER_LINES: usize = 3_000;
const GZIP_LEVEL: u32 = 6;

/// Writes the lines of the WARC files named; how many there are.
pub(super) fn write(
    zip: &mut ZipFile,
    source: &CrawlSource,
    warcs: &HashSet<&str>,
    plain_bytes_max: u64,
) -> Result<u64, ExportFailure> {
    let is_ours = |line: &IndexLine| warcs.contains(line.entry.filename.as_str());
    let (mut lines, mut bytes) = (0, 0);
    for line in source.lines()? {
        let line = line?;
        if is_ours(&line) {
            lines += 1;
            bytes += line.text.len() as u64;
        }
    }
    let ours = || {
        let lines = source.lines()?;
        Ok::<_, ExportFailure>(lines.filter(move |line| line.as_ref().map_or(true, is_ours)))
    };
    match bytes <= plain_bytes_max {
        true => plain(zip, ours()?)?,
        false => zip_num(zip, ours()?)?,
    }
    Ok(lines)
}

fn plain(
    zip: &mut ZipFile,
    lines: impl Iterator<Item = Result<IndexLine, ExportFailure>>,
) -> Result<(), ExportFailure> {
    let mut entry = zip.begin("indexes/index.cdxj")?;
    for line in lines {
        entry.write_all(line?.text.as_bytes()).map_err(|error| entry.failure(&error))?;
    }
    entry.finish()
}

fn zip_num(
    zip: &mut ZipFile,
    lines: impl Iterator<Item = Result<IndexLine, ExportFailure>>,
) -> Result<(), ExportFailure> {
    let meta = r#"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#;
    let mut second = format!("{meta}\n");
    let mut entry = zip.begin("indexes/index.cdx.gz")?;
    let mut member = Member::default();
    for line in lines {
        let line = line?;
        if member.lines == 0 {
            member.key = format!("{} {}", line.entry.surt, line.entry.timestamp);
        }
        member.text.push_str(&line.text);
        member.lines += 1;
        if member.lines == MEMBER_LINES {
            member.write(&mut entry, &mut second).map_err(|error| entry.failure(&error))?;
        }
    }
    if member.lines > 0 {
        member.write(&mut entry, &mut second).map_err(|error| entry.failure(&error))?;
    }
    entry.finish()?;
    zip.whole("indexes/index.idx", second.as_bytes())
}

#[derive(Default)]
struct Member {
    /// Key and time of its first line.
    key: String,
    text: String,
    lines: usize,
}

impl Member {
    fn write(
        &mut self,
        entry: &mut super::zip::Writing<'_>,
        second: &mut String,
    ) -> std::io::Result<()> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
        packed.write_all(self.text.as_bytes())?;
        let packed = packed.finish()?;
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&packed));
        let (offset, length) = (entry.bytes(), packed.len());
        second.push_str(&format!(
            "{} {{\"offset\": {offset}, \"length\": {length}, \"digest\": \"sha256:{digest}\", \
             \"filename\": \"index.cdx.gz\"}}\n",
            self.key
        ));
        entry.write_all(&packed)?;
        self.text.clear();
        self.lines = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_archive::CdxjEntry;
    use std::io::Read;

    #[test]
    fn each_member_of_a_zip_num_is_found_by_its_first_line() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("zip");
        let mut zip = ZipFile::create(&path).unwrap_or_else(|error| panic!("{error}"));
        let text = |n: usize| {
            format!(
                "com,a)/{n:05} 20260101000000 {{\"url\": \"http://a.com/{n}\", \"length\": \"1\", \
                 \"offset\": \"{n}\", \"filename\": \"f\"}}\n"
            )
        };
        let line = |n: usize| {
            let text = text(n);
            let entry = CdxjEntry::parse(text.as_bytes()).expect("a line");
            Ok(IndexLine { text, entry })
        };
        zip_num(&mut zip, (0..7_000).map(line)).unwrap_or_else(|error| panic!("{error}"));
        let entries = zip.entries.clone();
        zip.finish().unwrap_or_else(|error| panic!("{error}"));
        let file = std::fs::read(&path).expect("a file");
        let bytes_of = |at: usize| {
            let start = entries[at].data_offset() as usize;
            &file[start..start + entries[at].bytes as usize]
        };
        let (members, second) = (bytes_of(0), bytes_of(1));
        let second = std::str::from_utf8(second).expect("text");
        assert!(second.starts_with("!meta 0 {\"format\": \"cdxj-gzip-1.0\""), "{second}");
        for (member, line) in second.lines().skip(1).enumerate() {
            let first = text(member * MEMBER_LINES);
            let (key, about) = line.split_at(line.find(" {").expect("an object"));
            assert!(first.starts_with(&format!("{key} ")), "{line}");
            let about: serde_json::Value = serde_json::from_str(about).expect("JSON");
            let at = |name: &str| about[name].as_u64().expect("a number") as usize;
            let packed = &members[at("offset")..at("offset") + at("length")];
            let mut plain = String::new();
            flate2::read::GzDecoder::new(packed).read_to_string(&mut plain).expect("gzip");
            assert!(plain.starts_with(&first));
            let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(packed));
            assert_eq!(about["digest"], format!("sha256:{digest}"));
        }
        assert_eq!(second.lines().count(), 1 + 3);
    }
}
