//! Writes the index: pages in, commits that a killed process goes on from.
//!
//! A commit carries, in its payload, the mark of the last record that is in it and the lengths of
//! the files beside. What came after is not there when the index is opened again, in none of them,
//! and whoever writes it goes on behind that mark.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index as Terms, IndexSettings, IndexWriter, TantivyDocument, Term};
use xxhash_rust::xxh3::xxh3_64;

use crate::anchors::IncomingAnchors;
use crate::beside::{Beside, BesideWriter, Changing, KnownPage, Lengths, SLOTS, day_of};
use crate::clusters::TextClusters;
use crate::error::SearchError;
use crate::language::{self, LanguageTag};
use crate::page::SearchPage;
use crate::schema::{Fields, VERSION, register, schema};
use crate::stemming::Stems;
use crate::written::{IndexedText, says_more, written};

/// Memory for terms before they become a segment.
const MEMORY_BYTES: usize = 64 << 20;
/// The directory of tantivy's files, and the file that tells the version.
pub const TERMS_DIR: &str = "terms";
pub const VERSION_FILE: &str = "version";

/// A record of an archive: its file's serial number, and where in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IndexMark {
    pub file: u32,
    pub offset: u64,
}

/// What a commit says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Payload {
    pub lengths: Lengths,
    pub mark: IndexMark,
    /// Names the archive that the pages come from, or what else; none if that has no name.
    #[serde(default)]
    pub origin: Option<String>,
    /// Pages by language.
    pub languages: BTreeMap<String, u32>,
    /// Pages that took the place of an earlier version.
    pub replaced: u32,
}

/// What an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WriterCounts {
    pub pages: u32,
    /// Pages whose id was there before.
    pub replaced: u32,
    /// Pages that nearly repeat another.
    pub near_duplicates: u32,
}

/// Writes an index; there is one writer at a time.
pub struct Indexer {
    fields: Fields,
    terms: IndexWriter,
    beside: BesideWriter,
    clusters: TextClusters,
    stems: Stems,
    /// Pages by hash of their id.
    numbers: HashMap<u64, u32, RandomState>,
    payload: Payload,
    anchors: IncomingAnchors,
    /// Pages by hash of their id that have got texts of links since they were indexed.
    renamed: HashSet<u64, RandomState>,
    /// Cluster and hash of the id of each page, by number.
    known: Vec<(u32, u64)>,
    uncommitted: u32,
}

impl Indexer {
    /// Opens the index of a directory, or begins one.
    pub fn open(dir: &Path) -> Result<Indexer, SearchError> {
        fs::create_dir_all(dir.join(TERMS_DIR)).map_err(|error| SearchError::at(dir, &error))?;
        let terms = open_terms(dir)?;
        let payload = payload_of(&terms, dir)?;
        let (_, fields) = schema();
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(MEMORY_BYTES)
            .build();
        let terms = terms.writer_with_options(options)?;
        let beside = BesideWriter::open(dir, payload.lengths)?;
        let mut writer = Indexer {
            fields,
            terms,
            beside,
            clusters: TextClusters::default(),
            stems: Stems::default(),
            numbers: HashMap::default(),
            anchors: IncomingAnchors::default(),
            renamed: HashSet::default(),
            known: Vec::new(),
            uncommitted: 0,
            payload,
        };
        writer.remember(dir)?;
        Ok(writer)
    }

    /// Reads what must be known of pages that are there.
    fn remember(&mut self, dir: &Path) -> Result<(), SearchError> {
        if !self.anchors.read(&self.beside.anchors()?) {
            return Err(SearchError::damaged(&dir.join("anchors"), "cannot be read"));
        }
        let beside = Beside::open(dir, self.payload.lengths)?;
        for number in 0..beside.pages() {
            let place = beside.entry(number).unwrap_or_default();
            let leader = beside.changing(number).leader;
            self.known.push((leader, place.id_hash));
            if place.is_removed {
                self.numbers.remove(&place.id_hash);
                self.renamed.remove(&place.id_hash);
                continue;
            }
            self.numbers.insert(place.id_hash, number);
            if self.anchors.count(place.id_hash) == usize::from(place.anchors) {
                self.renamed.remove(&place.id_hash);
            } else {
                self.renamed.insert(place.id_hash);
            }
            if leader == number
                && let Some(slots) = beside.slots(number)
            {
                self.clusters.lead(number, slots);
            }
        }
        Ok(())
    }

    /// The record that the last committed page came from.
    pub fn mark(&self) -> IndexMark {
        self.payload.mark
    }

    /// The archive that the pages come from, if it was named.
    pub fn origin(&self) -> Option<&str> {
        self.payload.origin.as_deref()
    }

    /// Names the archive that the pages come from; the next commit says so.
    pub fn set_origin(&mut self, origin: String) {
        self.payload.origin = Some(origin);
    }

    /// Whether no page was ever taken.
    pub fn is_empty(&self) -> bool {
        self.beside.lengths().pages == 0
    }

    pub fn counts(&self) -> WriterCounts {
        let is_near = |number: &&u32| {
            let (leader, id_hash) = self.known[**number as usize];
            self.known[leader as usize].1 != id_hash
        };
        WriterCounts {
            pages: self.numbers.len() as u32,
            replaced: self.payload.replaced,
            near_duplicates: self.numbers.values().filter(is_near).count() as u32,
        }
    }

    /// Pages taken since the last commit.
    pub fn uncommitted(&self) -> u32 {
        self.uncommitted
    }

    /// Takes a page. One whose id is there takes the place of the earlier version.
    pub fn add(&mut self, page: SearchPage) -> Result<(), SearchError> {
        let tag = self.language_of(&page);
        *self.payload.languages.entry(tag.to_owned()).or_default() += 1;
        if self.write(page, tag)? {
            self.payload.replaced += 1;
        }
        Ok(())
    }

    /// Writes a page with the texts that lead to it; whether there was an earlier version.
    fn write(&mut self, mut page: SearchPage, tag: LanguageTag) -> Result<bool, SearchError> {
        let id_hash = xxh3_64(page.id.as_bytes());
        if page.anchors.is_empty() {
            page.anchors = self.anchors.of(id_hash);
        }
        let page = page.within_limits();
        let IndexedText { words, exact, tags } = written(&page, tag, &mut self.stems);
        let place = self
            .clusters
            .place(&page.text, |leader| self.beside.page(leader).map(|page| page.text))?;
        let number = self.beside.lengths().pages;
        let leader = place.leader.unwrap_or(number);
        // Until it is weighed again it is as important as its earlier version, which may have been
        // fetched again after this text was.
        let before = self.numbers.get(&id_hash).copied();
        let earlier = before.map(|number| self.beside.changing(number)).transpose()?;
        let Changing { fetched, importance, .. } = earlier.unwrap_or_default();
        let changing = Changing { leader, fetched: fetched.max(page.fetched), importance };
        let known = KnownPage { id_hash, day: day_of(&page.day), is_removed: false };
        self.beside.append(&page, known, changing, &place.slots)?;
        self.known.push((leader, id_hash));
        if leader == number {
            self.clusters.lead(number, &place.slots);
        }
        self.renamed.remove(&id_hash);
        self.numbers.insert(id_hash, number);
        self.forget(before);
        let mut document = TantivyDocument::new();
        document.add_text(self.fields.words, words);
        document.add_text(self.fields.exact, exact);
        tags.iter().for_each(|tag| document.add_text(self.fields.tag, format!("{tag}\n")));
        document.add_u64(self.fields.number, number.into());
        self.terms.add_document(document)?;
        self.uncommitted += 1;
        Ok(before.is_some())
    }

    /// A version is not to be found any more.
    fn forget(&mut self, number: Option<u32>) {
        if let Some(number) = number {
            self.terms.delete_term(Term::from_field_u64(self.fields.number, number.into()));
        }
    }

    /// A page is not to be found any more. False if it is not there.
    pub fn remove(&mut self, id: &str) -> Result<bool, SearchError> {
        let id_hash = xxh3_64(id.as_bytes());
        let Some(before) = self.numbers.remove(&id_hash) else { return Ok(false) };
        let number = self.beside.lengths().pages;
        let known = KnownPage { id_hash, day: 0, is_removed: true };
        let changing = Changing { leader: number, ..Changing::default() };
        let page = SearchPage { id: id.to_owned(), ..SearchPage::default() };
        self.beside.append(&page, known, changing, &[0; SLOTS])?;
        self.known.push((number, id_hash));
        self.renamed.remove(&id_hash);
        self.forget(Some(before));
        self.uncommitted += 1;
        Ok(true)
    }

    /// Takes what a link says of the page that it leads to, there already or not.
    pub fn anchor(&mut self, target: &str, text: &str) -> Result<(), SearchError> {
        let target = xxh3_64(target.as_bytes());
        if let Some(record) = self.anchors.take(target, text) {
            self.beside.append_anchor(&record)?;
            if self.numbers.contains_key(&target) {
                self.renamed.insert(target);
            }
        }
        Ok(())
    }

    /// Indexes those pages again of which links have since said a word that their title, headings,
    /// address and earlier names lack. A page's menu entry is mostly its title: to write a page
    /// again for that cost as much as the first time.
    pub fn rename(&mut self) -> Result<(), SearchError> {
        let renamed = std::mem::take(&mut self.renamed);
        let numbers = renamed.iter().filter_map(|id_hash| self.numbers.get(id_hash));
        let mut numbers: Vec<u32> = numbers.copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let page = self.beside.page(number)?;
            if !says_more(&page, &self.anchors.of(xxh3_64(page.id.as_bytes()))) {
                continue;
            }
            let page = SearchPage { anchors: Vec::new(), ..page };
            let tag = self.language_of(&page);
            self.write(page, tag)?;
        }
        Ok(())
    }

    /// What a page is written in: as declared, detected, or as most pages before it.
    fn language_of(&self, page: &SearchPage) -> LanguageTag {
        let declared = language::of_tag(&page.language);
        let found = if declared.is_empty() { language::detect(&page.text) } else { declared };
        if !found.is_empty() {
            return found;
        }
        let most = self.payload.languages.iter().max_by_key(|(tag, pages)| (**pages, *tag));
        most.map_or("", |(tag, _)| language::of_tag(tag))
    }

    /// A page was fetched again, unchanged. False if it is not there.
    pub fn fetched_again(&mut self, id: &str, fetched: u32) -> Result<bool, SearchError> {
        let Some(number) = self.numbers.get(&xxh3_64(id.as_bytes())) else { return Ok(false) };
        self.beside.change(*number, |changing| changing.fetched = fetched)?;
        Ok(true)
    }

    /// Writes what is known of a page's importance. False if the page is not there.
    pub fn weigh(&mut self, id: &str, importance: f32) -> Result<bool, SearchError> {
        let Some(number) = self.numbers.get(&xxh3_64(id.as_bytes())) else { return Ok(false) };
        self.beside.change(*number, |changing| changing.importance = importance)?;
        Ok(true)
    }

    /// The page of an id, as it was taken last.
    pub fn page(&self, id: &str) -> Result<Option<SearchPage>, SearchError> {
        let number = self.numbers.get(&xxh3_64(id.as_bytes()));
        number.map(|number| self.beside.page(*number)).transpose()
    }

    /// Makes all pages so far findable and durable; `mark` is that of the last record.
    pub fn commit(&mut self, mark: IndexMark) -> Result<(), SearchError> {
        self.beside.sync()?;
        self.payload.mark = mark;
        self.payload.lengths = self.beside.lengths();
        let payload = serde_json::to_string(&self.payload);
        let mut prepared = self.terms.prepare_commit()?;
        prepared.set_payload(&payload.map_err(|error| SearchError::Io(error.to_string()))?);
        prepared.commit()?;
        self.uncommitted = 0;
        Ok(())
    }

    /// Commits, and waits until segments that are being merged are.
    pub fn finish(mut self, mark: IndexMark) -> Result<WriterCounts, SearchError> {
        self.commit(mark)?;
        let counts = self.counts();
        self.terms.wait_merging_threads()?;
        Ok(counts)
    }
}

/// The terms of a directory's index; begun if there is none.
fn open_terms(dir: &Path) -> Result<Terms, SearchError> {
    let version: PathBuf = dir.join(VERSION_FILE);
    let terms = MmapDirectory::open(dir.join(TERMS_DIR));
    let terms = terms.map_err(|error| SearchError::Io(error.to_string()))?;
    let exists = Terms::exists(&terms).map_err(|error| SearchError::Io(error.to_string()))?;
    if exists {
        check_version(dir)?;
    } else {
        fs::write(&version, format!("{VERSION}\n"))
            .map_err(|error| SearchError::at(&version, &error))?;
    }
    let (schema, _) = schema();
    let settings = IndexSettings::default();
    let index = Terms::builder().schema(schema).settings(settings).open_or_create(terms)?;
    register(&index);
    Ok(index)
}

/// Whether this format is the one that an index was made in.
pub fn check_version(dir: &Path) -> Result<(), SearchError> {
    let path = dir.join(VERSION_FILE);
    let Ok(text) = fs::read_to_string(&path) else {
        let dir = dir.display();
        return Err(SearchError::Absent(format!(
            "{dir}: no search index; make one with \"rhumb index\""
        )));
    };
    match text.trim().parse::<u32>() {
        Ok(VERSION) => Ok(()),
        Ok(other) => Err(SearchError::Version(format!(
            "{}: the index was made by format {other}, this is format {VERSION}; delete it and \
             run \"rhumb index\" again",
            dir.display()
        ))),
        Err(_) => Err(SearchError::damaged(&path, "no version of an index")),
    }
}

/// What the last commit says.
pub fn payload_of(terms: &Terms, dir: &Path) -> Result<Payload, SearchError> {
    let meta = terms.load_metas()?;
    let Some(payload) = meta.payload else { return Ok(Payload::default()) };
    serde_json::from_str(&payload)
        .map_err(|_| SearchError::damaged(dir, "its last commit is unreadable"))
}
