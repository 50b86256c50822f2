//! Reads the index: a query in, pages out.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rhumb_page::url::Url;
use tantivy::collector::{Count, TopDocs};
use tantivy::directory::MmapDirectory;
use tantivy::postings::Postings;
use tantivy::query::{EnableScoring, Query as Matched};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    DocAddress, DocSet, Index as Terms, IndexReader, ReloadPolicy, Searcher, TERMINATED,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::beside::Beside;
use crate::closeness::closeness;
use crate::clusters::{resemblance, shingles};
use crate::collapse::{PER_HOST, RankedPages, ShownPage, collapse};
use crate::error::SearchError;
use crate::language;
use crate::matching::{Plan, Planner, SoughtWord, day_of_page};
use crate::page::SearchPage;
use crate::query::{Atom, Query, day_text, second_text};
use crate::ranking::{Coefficients, DEPTH, RankingFeatures, path_depth, saturated_importance};
use crate::schema::{Fields, register, schema};
use crate::shown::{Omitted, ScoreTerms, SearchAnswer, SearchOptions, Shown};
use crate::snippet::{Sought, snippet};
use crate::stemming::Stems;
use crate::tokens::words;
use crate::writer::{Payload, TERMS_DIR, check_version, payload_of};
use crate::written::url_words;

/// Languages that words of a query are stemmed in, the most frequent of the index.
const LANGUAGES_MAX: usize = 6;
/// Words of a page that others like it are looked for by.
const LIKE_WORDS: usize = 24;
/// Bytes of a page that those words are taken from.
const LIKE_BYTES_MAX: usize = 64 << 10;
/// Pages that are listed when one result is unfolded.
const UNFOLDED_MAX: usize = 100;
/// Words shown of a difference.
const DIFFERENCE_WORDS: usize = 8;

/// An index, open to be searched.
pub struct Index {
    fields: Fields,
    searcher: Searcher,
    /// Keeps what the searcher reads.
    _reader: IndexReader,
    beside: Arc<Beside>,
    payload: Payload,
    coefficients: Coefficients,
    stems: Mutex<Stems>,
    /// Members by leader, of clusters that have any.
    members: OnceLock<HashMap<u32, Vec<u32>>>,
    /// Where the pages are that were not replaced, by number.
    addresses: OnceLock<Vec<Option<DocAddress>>>,
    is_one_host: OnceLock<bool>,
}

/// A page that was found, with what orders it.
struct Found {
    address: DocAddress,
    number: u32,
    features: RankingFeatures,
    score: f32,
}

impl Index {
    /// Opens the index of a directory, or of a crawl's directory that holds one.
    pub fn open(dir: &Path) -> Result<Index, SearchError> {
        let inner = dir.join("search");
        let dir = if inner.join(crate::writer::VERSION_FILE).exists() { &inner } else { dir };
        check_version(dir)?;
        let terms = MmapDirectory::open(dir.join(TERMS_DIR));
        let terms = terms.map_err(|_| SearchError::damaged(dir, "its terms are gone"))?;
        let index = Terms::open(terms).map_err(|error| {
            SearchError::damaged(dir, &format!("its terms cannot be read ({error})"))
        })?;
        register(&index);
        let (expected, fields) = schema();
        if index.schema() != expected {
            return Err(SearchError::damaged(dir, "its fields are not those of this format"));
        }
        let payload = payload_of(&index, dir)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(|error: tantivy::TantivyError| {
            SearchError::damaged(dir, &format!("its terms cannot be read ({error})"))
        })?;
        Ok(Index {
            fields,
            searcher: reader.searcher(),
            _reader: reader,
            beside: Arc::new(Beside::open(dir, payload.lengths)?),
            payload,
            coefficients: Coefficients::default(),
            stems: Mutex::default(),
            members: OnceLock::new(),
            addresses: OnceLock::new(),
            is_one_host: OnceLock::new(),
        })
    }

    /// With other coefficients, to fit them.
    #[must_use]
    pub fn with_coefficients(mut self, coefficients: Coefficients) -> Index {
        self.coefficients = coefficients;
        self
    }

    /// Pages that can be found.
    pub fn pages(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Pages by language.
    pub fn languages(&self) -> &BTreeMap<String, u32> {
        &self.payload.languages
    }

    /// All pages that can be found, in the order they came.
    pub fn each_page(&self, mut take: impl FnMut(SearchPage)) {
        let found = self.addresses().iter().enumerate().filter(|(_, address)| address.is_some());
        found.filter_map(|(number, _)| self.beside.page(number as u32)).for_each(&mut take);
    }

    /// The page of an id or a URL.
    pub fn page(&self, name: &str) -> Option<SearchPage> {
        self.beside.page(self.number_of(name)?)
    }

    /// Answers a query. Files of terms are mapped and not summed at every opening: a damaged one
    /// may show when a query reads it, and then tantivy panics here and there.
    pub fn search(&self, text: &str, wanted: &SearchOptions) -> Result<SearchAnswer, SearchError> {
        let answered = catch_unwind(AssertUnwindSafe(|| self.answered(text, wanted)));
        answered.unwrap_or_else(|_| Err(SearchError::damaged_terms("it makes no sense")))
    }

    fn answered(&self, text: &str, wanted: &SearchOptions) -> Result<SearchAnswer, SearchError> {
        let query = Query::parse(text);
        let mut stems = self.stems.lock().unwrap_or_else(PoisonError::into_inner);
        let like = self.like(&query, &mut stems)?;
        let likeness = like.as_ref().map(|(number, _)| *number);
        let mut understood = query.understood();
        let plan = self.plan(&query, like, &mut stems)?;
        if !plan.absent.is_empty() {
            understood.push_str(&format!("; no page has {}", plan.absent.join(", ")));
        }
        let asks_for_unknown = likeness.is_none() && asks_for_like(&query).is_some();
        if asks_for_unknown {
            understood.push_str("; that page is not in the index");
        }
        let total = self.searcher.search(&*plan.matched, &Count)?;
        let found = if total == 0 { Vec::new() } else { self.ranked(&plan)? };
        let numbers: Vec<u32> = found.iter().map(|found| found.number).collect();
        let per_host =
            if query.names_a_host() || self.is_one_host() { usize::MAX } else { PER_HOST };
        let kept = if wanted.all {
            let all = |rank| ShownPage { rank, left_out: Vec::new(), crowded: 0 };
            (0..found.len().min(wanted.limit)).map(all).collect()
        } else {
            collapse(&numbers, wanted.limit, per_host, &Walked(self))
        };
        let mut results = Vec::with_capacity(kept.len());
        for kept in kept {
            let found = &found[kept.rank];
            let others = if wanted.all { Vec::new() } else { self.others(&plan, found, &kept)? };
            let mut shown = self.shown(found, &plan, wanted, &mut stems)?;
            shown.omitted = others.len();
            shown.crowded = kept.crowded;
            if let Some(number) = likeness {
                shown.similarity = Some(self.resemblance(number, found.number));
            }
            if wanted.unfold {
                let listed = others.iter().take(UNFOLDED_MAX);
                let near = listed.map(|other| self.near(found.number, *other));
                shown.near = near.collect::<Result<_, _>>()?;
            }
            results.push(shown);
        }
        Ok(SearchAnswer { query: text.to_owned(), understood, total, results })
    }

    fn plan(
        &self,
        query: &Query,
        like: Option<(u32, Vec<String>)>,
        stems: &mut Stems,
    ) -> Result<Plan, SearchError> {
        let planner = Planner {
            fields: self.fields,
            searcher: &self.searcher,
            beside: &self.beside,
            languages: self.languages_asked(query),
            stems,
        };
        Ok(planner.plan(query, like)?)
    }

    /// Languages that words are stemmed in.
    fn languages_asked(&self, query: &Query) -> Vec<&'static str> {
        let asked = query.groups.iter().flatten().find_map(|item| match &item.atom {
            Atom::Language(tag) if !item.is_excluded => Some(language::of_tag(tag)),
            _ => None,
        });
        if let Some(tag) = asked {
            return vec![tag];
        }
        let mut by_pages: Vec<(&String, &u32)> = self.payload.languages.iter().collect();
        by_pages.sort_by_key(|(tag, pages)| (u32::MAX - **pages, *tag));
        by_pages.iter().take(LANGUAGES_MAX).map(|(tag, _)| language::of_tag(tag)).collect()
    }

    /// The page that others are to be like, and the words that are its own.
    fn like(
        &self,
        query: &Query,
        stems: &mut Stems,
    ) -> Result<Option<(u32, Vec<String>)>, SearchError> {
        let Some(name) = asks_for_like(query) else { return Ok(None) };
        let Some(number) = self.number_of(name) else { return Ok(None) };
        let page = self.beside.known_page(number)?;
        let text = &page.text[..page.text.floor_char_boundary(LIKE_BYTES_MAX)];
        let mut counts: HashMap<String, f32> = HashMap::new();
        for word in words(&page.title).into_iter().chain(words(text)) {
            *counts.entry(word).or_default() += 1.0;
        }
        let language = match language::of_tag(&page.language) {
            "" => language::detect(text),
            tag => tag,
        };
        let pages = self.searcher.num_docs() as f32;
        let mut weighed = Vec::new();
        for (word, count) in counts {
            let stem = stems.stem(&word, language);
            let term = tantivy::Term::from_field_text(self.fields.words, &stem);
            let frequency = self.searcher.doc_freq(&term)? as f32;
            if frequency > 1.0 {
                let idf = (1.0 + (pages - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln();
                weighed.push((count / (count + 1.2) * idf, word));
            }
        }
        weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        weighed.truncate(LIKE_WORDS);
        Ok(Some((number, weighed.into_iter().map(|(_, word)| word).collect())))
    }

    /// The number of a page by its id, else by its URL, which need not be written as canonical.
    fn number_of(&self, name: &str) -> Option<u32> {
        let url = Url::parse(name);
        let url = url.as_ref().map_or(name, |url| url.as_str());
        let numbers = || (0..self.beside.pages()).rev();
        let by_id = |name: &str| {
            let hash = xxh3_64(name.as_bytes());
            let is_of_it =
                |number: &u32| self.beside.entry(*number).is_some_and(|e| e.id_hash == hash);
            numbers().find(is_of_it)
        };
        let by_url = || numbers().find(|number| self.beside.url(*number) == url);
        let found = by_id(name).or_else(|| by_id(url)).or_else(by_url)?;
        self.beside.entry(found).filter(|entry| !entry.is_removed).map(|_| found)
    }

    /// The best by BM25, weighed again.
    fn ranked(&self, plan: &Plan) -> Result<Vec<Found>, SearchError> {
        let top = TopDocs::with_limit(DEPTH).order_by_score();
        let top = self.searcher.search(&*plan.matched, &top)?;
        let mut found = Vec::with_capacity(top.len());
        for (bm25, address) in top {
            let segment = self.searcher.segment_reader(address.segment_ord);
            let numbers = segment.fast_fields().u64("number")?;
            let Some(number) = numbers.first(address.doc_id) else { continue };
            let features = RankingFeatures { bm25, ..RankingFeatures::default() };
            found.push(Found { address, number: number as u32, features, score: 0.0 });
        }
        self.add_closeness(&plan.words, &mut found)?;
        let weight: f32 = plan.words.iter().map(|word| word.idf).sum();
        let pages = u32::try_from(self.pages()).unwrap_or(u32::MAX);
        for found in &mut found {
            let url = self.beside.url(found.number);
            let share = self.beside.changing(found.number).importance;
            found.features.importance = saturated_importance(share, pages);
            if !url.is_empty() {
                found.features.depth = path_depth(url);
                found.features.url = in_url(url, &plan.words) / weight.max(f32::MIN_POSITIVE);
            }
            found.score = found.features.score(&self.coefficients);
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.number.cmp(&b.number)));
        Ok(found)
    }

    /// Reads where the words of the query stand in what was found.
    fn add_closeness(&self, words: &[SoughtWord], found: &mut [Found]) -> Result<(), SearchError> {
        if words.len() < 2 || self.coefficients.closeness == 0.0 {
            return Ok(());
        }
        found.sort_by_key(|found| found.address);
        let idf: Vec<f32> = words.iter().map(|word| word.idf).collect();
        let mut positions: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); words.len()]; found.len()];
        let mut at = Vec::new();
        for (n, word) in words.iter().enumerate() {
            for term in &word.terms {
                let mut open: Option<(u32, _)> = None;
                for (place, found) in found.iter().enumerate() {
                    let segment = found.address.segment_ord;
                    if open.as_ref().is_none_or(|(of, _)| *of != segment) {
                        let reader = self.searcher.segment_reader(segment);
                        let index = reader.inverted_index(self.fields.words)?;
                        let option = IndexRecordOption::WithFreqsAndPositions;
                        let read = index.read_postings(term, option);
                        let read = read.map_err(|error| SearchError::Io(error.to_string()))?;
                        open = Some((segment, read));
                    }
                    let Some((_, Some(postings))) = &mut open else { continue };
                    let document = found.address.doc_id;
                    if postings.doc() < document {
                        postings.seek(document);
                    }
                    if postings.doc() == document {
                        postings.positions(&mut at);
                        positions[place][n].extend_from_slice(&at);
                    }
                }
            }
            if word.terms.len() > 1 {
                positions.iter_mut().for_each(|positions| positions[n].sort_unstable());
            }
        }
        for (found, positions) in found.iter_mut().zip(&positions) {
            found.features.closeness = closeness(positions, &idf);
        }
        Ok(())
    }

    /// Pages that match and are left out for one that is shown.
    fn others(
        &self,
        plan: &Plan,
        found: &Found,
        kept: &ShownPage,
    ) -> Result<Vec<u32>, SearchError> {
        let leader = self.beside.changing(found.number).leader;
        let mut others = kept.left_out.clone();
        if let Some(members) = self.members().get(&leader) {
            let candidates = members.iter().copied().chain([leader]);
            let candidates = candidates.filter(|number| *number != found.number);
            others.extend(self.matching(&*plan.matched, candidates.collect())?);
        }
        others.sort_unstable();
        others.dedup();
        Ok(others)
    }

    /// Those of some pages that match.
    fn matching(&self, matched: &dyn Matched, numbers: Vec<u32>) -> Result<Vec<u32>, SearchError> {
        let addresses = self.addresses();
        let mut placed: Vec<(DocAddress, u32)> = numbers
            .into_iter()
            .filter_map(|number| Some(((*addresses.get(number as usize)?)?, number)))
            .collect();
        placed.sort_unstable();
        placed.dedup();
        let weight = matched.weight(EnableScoring::disabled_from_searcher(&self.searcher))?;
        let mut found = Vec::new();
        for chunk in placed.chunk_by(|a, b| a.0.segment_ord == b.0.segment_ord) {
            let reader = self.searcher.segment_reader(chunk[0].0.segment_ord);
            let mut scorer = weight.scorer(reader, 1.0)?;
            for (address, number) in chunk {
                if scorer.doc() < address.doc_id {
                    scorer.seek(address.doc_id);
                }
                if scorer.doc() == TERMINATED {
                    break;
                }
                if scorer.doc() == address.doc_id {
                    found.push(*number);
                }
            }
        }
        Ok(found)
    }

    fn members(&self) -> &HashMap<u32, Vec<u32>> {
        self.members.get_or_init(|| {
            let mut members: HashMap<u32, Vec<u32>> = HashMap::new();
            for number in 0..self.beside.pages() {
                let leader = self.beside.changing(number).leader;
                if leader != number {
                    members.entry(leader).or_default().push(number);
                }
            }
            members
        })
    }

    fn addresses(&self) -> &[Option<DocAddress>] {
        self.addresses.get_or_init(|| {
            let mut addresses = vec![None; self.beside.pages() as usize];
            for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
                let Ok(numbers) = segment.fast_fields().u64("number") else { continue };
                for document in segment.doc_ids_alive() {
                    let number = numbers.first(document).unwrap_or(u64::MAX);
                    if let Some(slot) = addresses.get_mut(number as usize) {
                        *slot = Some(DocAddress::new(ord as u32, document));
                    }
                }
            }
            addresses
        })
    }

    /// Whether all pages are of one host, so that crowding says nothing.
    fn is_one_host(&self) -> bool {
        *self.is_one_host.get_or_init(|| {
            let mut hosts = (0..self.beside.pages()).map(|number| host_of(self.beside.url(number)));
            let first = hosts.next().unwrap_or_default();
            hosts.all(|host| host == first)
        })
    }

    fn shown(
        &self,
        found: &Found,
        plan: &Plan,
        wanted: &SearchOptions,
        stems: &mut Stems,
    ) -> Result<Shown, SearchError> {
        let number = found.number;
        let mut shown = Shown {
            id: self.beside.id(number).to_owned(),
            url: self.beside.url(number).to_owned(),
            score: found.score,
            day: day_of_page(&self.beside, number).map(day_text),
            fetched: second_text(self.beside.changing(number).fetched),
            explain: wanted.explain.then(|| ScoreTerms::of(&found.features, &self.coefficients)),
            ..Shown::default()
        };
        if !wanted.snippets {
            return Ok(shown);
        }
        let page = self.beside.known_page(number)?;
        let sought = |word: &SoughtWord| Sought { stems: word.stems.clone(), idf: word.idf };
        let sought: Vec<Sought> = plan.words.iter().map(sought).collect();
        let tag = match language::of_tag(&page.language) {
            "" => language::detect(&page.text),
            tag => tag,
        };
        shown.snippet = snippet(&page.text, &sought, tag, stems);
        shown.title = page.title;
        shown.language = tag.to_owned();
        shown.kind = page.kind;
        Ok(shown)
    }

    fn shingles(&self, number: u32) -> Vec<u64> {
        self.beside.page(number).map(|page| shingles(&page.text)).unwrap_or_default()
    }

    fn resemblance(&self, one: u32, other: u32) -> f64 {
        resemblance(&self.shingles(one), &self.shingles(other))
    }

    /// A page that is left out, held against the one that is shown.
    fn near(&self, shown: u32, other: u32) -> Result<Omitted, SearchError> {
        let words_of = |number| self.beside.known_page(number).map(|page| words(&page.text));
        let (ours, theirs) = (words_of(shown)?, words_of(other)?);
        Ok(Omitted {
            id: self.beside.id(other).to_owned(),
            url: self.beside.url(other).to_owned(),
            similarity: self.resemblance(shown, other),
            added: only_in(&theirs, &ours),
            missing: only_in(&ours, &theirs),
        })
    }
}

/// Words of one text that the other lacks, the first few.
fn only_in(one: &[String], other: &[String]) -> Vec<String> {
    let other: std::collections::HashSet<&String> = other.iter().collect();
    let mut only: Vec<String> = Vec::new();
    for word in one.iter().filter(|word| !other.contains(word)) {
        if only.len() >= DIFFERENCE_WORDS {
            break;
        }
        if !only.contains(word) {
            only.push(word.clone());
        }
    }
    only
}

fn asks_for_like(query: &Query) -> Option<&str> {
    query.groups.iter().flatten().find_map(|item| match &item.atom {
        Atom::Similar(name) if !item.is_excluded => Some(name.as_str()),
        _ => None,
    })
}

/// The idf of those words that are in host and path.
fn in_url(url: &str, words: &[SoughtWord]) -> f32 {
    let (_, in_url) = url_words(url);
    let has = |word: &&SoughtWord| {
        in_url.contains(&word.word) || word.stems.iter().any(|s| in_url.contains(s))
    };
    words.iter().filter(has).map(|word| word.idf).sum()
}

fn host_of(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    after_scheme.split(['/', '?', '#']).next().unwrap_or_default()
}

/// What the walk asks of the index.
struct Walked<'a>(&'a Index);

impl RankedPages for Walked<'_> {
    type Set = Vec<u64>;

    fn leader(&self, page: u32) -> u32 {
        self.0.beside.changing(page).leader
    }

    fn host(&self, page: u32) -> String {
        host_of(self.0.beside.url(page)).to_owned()
    }

    fn slots(&self, page: u32) -> Option<&[u8]> {
        self.0.beside.slots(page).map(<[u8; crate::beside::SLOTS]>::as_slice)
    }

    fn shingles(&self, page: u32) -> Vec<u64> {
        self.0.shingles(page)
    }
}

/// Bytes of the index by what they are: terms with positions, and all that lies beside.
pub fn sizes(dir: &Path) -> (u64, u64) {
    let length = |dir: &Path| -> u64 {
        let files = fs::read_dir(dir).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok()).filter(fs::Metadata::is_file);
        sizes.map(|data| data.len()).sum()
    };
    (length(&dir.join(TERMS_DIR)), length(dir))
}
