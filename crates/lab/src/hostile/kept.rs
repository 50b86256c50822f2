//! What a crawl kept: its records and its index, read back and compared with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use memchr::memmem;
use rhumb_archive::{Record, RecordReader};
use rhumb_page::url::Url;

use super::ZONE;
use super::kind::HostileKind;
use super::kinds::FORGED_HOST;

/// What was found in the archive.
#[derive(Debug, Default)]
pub(super) struct KeptPages {
    /// By kind: paths with a response of status 2xx or a revisit.
    pub paths: BTreeMap<&'static str, BTreeSet<String>>,
    /// By kind: texts that some record of it holds.
    pub holds: BTreeMap<&'static str, BTreeSet<&'static str>>,
    /// By kind: texts that no record may hold, and the record that does.
    pub wrongly: BTreeMap<&'static str, Vec<String>>,
    /// Response and revisit records.
    pub captures: u64,
    /// What is wrong with the archive itself.
    pub faults: Vec<String>,
}

pub(super) fn read(dir: &Path, kinds: &[HostileKind]) -> io::Result<KeptPages> {
    let mut kept = KeptPages::default();
    let mut files: Vec<_> = fs::read_dir(dir.join("warc"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    let mut places = BTreeSet::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let records = RecordReader::open(&path).map_err(io::Error::other)?;
        for record in records {
            match record {
                Ok(record) => {
                    if kept.take(&record, kinds) {
                        places.insert((name.clone(), record.offset));
                    }
                }
                Err(error) => kept.faults.push(error.to_string()),
            }
        }
    }
    kept.captures = places.len() as u64;
    check_index(&dir.join("index.cdxj"), places, &mut kept.faults)?;
    Ok(kept)
}

impl KeptPages {
    /// Whether the record belongs into the index.
    fn take(&mut self, record: &Record, kinds: &[HostileKind]) -> bool {
        const KNOWN: [&str; 5] = ["warcinfo", "request", "response", "revisit", "metadata"];
        let target = record.target().unwrap_or_default();
        if !KNOWN.contains(&record.kind()) || target.starts_with(&format!("http://{FORGED_HOST}")) {
            self.faults.push(format!("forged record: {} {target}", record.kind()));
        }
        let url = Url::parse(target).ok();
        let host = url.as_ref().map(|url| url.host().to_string()).unwrap_or_default();
        let label = host.strip_suffix(ZONE).and_then(|host| host.strip_suffix('.'));
        let label = label.and_then(|labels| labels.rsplit('.').next());
        let kind = label.and_then(|label| kinds.iter().find(|kind| kind.name == label));
        let is_capture = matches!(record.kind(), "response" | "revisit");
        for other in kinds {
            for text in other.expected.lacks {
                if memmem::find(&record.block, text.as_bytes()).is_some() {
                    let what = format!("{text:?} is in a {} of {target}", record.kind());
                    self.wrongly.entry(other.name).or_default().push(what);
                }
            }
        }
        let (Some(kind), Some(url)) = (kind, url) else { return is_capture };
        for text in kind.expected.holds {
            if is_capture && memmem::find(&record.block, text.as_bytes()).is_some() {
                self.holds.entry(kind.name).or_default().insert(text);
            }
        }
        if is_capture && (record.kind() == "revisit" || is_success(record.http_head())) {
            let paths = self.paths.entry(kind.name).or_default();
            paths.insert(url.path_and_query().to_owned());
        }
        is_capture
    }
}

fn is_success(head: &[u8]) -> bool {
    head.split(|byte| *byte == b' ').nth(1).is_some_and(|status| status.starts_with(b"2"))
}

/// The index is sorted, and has a line for each capture and no other.
fn check_index(
    path: &Path,
    mut places: BTreeSet<(String, u64)>,
    faults: &mut Vec<String>,
) -> io::Result<()> {
    let mut last = String::new();
    for line in BufReader::new(fs::File::open(path)?).lines() {
        let line = line?;
        if line < last {
            faults.push(format!("the index is not sorted at {line}"));
        }
        let place = line.split_once('{').and_then(|(_, json)| {
            let json: serde_json::Value = serde_json::from_str(&format!("{{{json}")).ok()?;
            let offset = json["offset"].as_str()?.parse().ok()?;
            Some((json["filename"].as_str()?.to_owned(), offset))
        });
        if !place.is_some_and(|place| places.remove(&place)) {
            faults.push(format!("a line of the index without a record: {line}"));
        }
        if line.starts_with("test,forged") {
            faults.push(format!("a forged line in the index: {line}"));
        }
        last = line;
    }
    if !places.is_empty() {
        faults.push(format!("{} captures are not in the index", places.len()));
    }
    Ok(())
}
